"""How far the nearest records are from those of a k-d tree, added up: exactly, and all records of a leaf at once.

The records of a leaf walk through the tree together, so that the bounds of a node and the distances to the records of
another leaf are measured in passes that use the processor's vector units. A node is passed over once no record of the
leaf can have one of its nearest in it. Distances are bitwise those of :mod:`.brute_force`; see :mod:`.tree_queries` why
passing over nodes needs no tolerance.

Source: Friedman, Bentley & Finkel 1977.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import LEAF, Tree
from microagg.validation import FloatArray

# The stack holds at most one node for each level of the tree, and one more.
_DEPTH = 64


@njit(cache=True, nogil=True)
def sums_of_nearest(tree: Tree, most: int, start: int, stop: int) -> FloatArray:
    """Return how far the nearest records are from those of the leaves from ``start`` to ``stop``, counted from 0.

    Column j of row i, shape (stop - start, most), is the sum, over the records of leaf start + i, of the squared
    distance to the record that is j + 1st nearest, the record itself aside; infinity if there are fewer. Nothing has
    been removed from ``tree``.
    """
    first = len(tree.ends) // 2
    sums = np.zeros((stop - start, most))
    least = np.empty((LEAF, most))
    gaps = np.empty((_DEPTH, LEAF))
    for leaf in range(start, stop):
        count = tree.ends[first + leaf, 1] - tree.ends[first + leaf, 0]
        _find_least(tree, first + leaf, least[:count], gaps)
        for i in range(count):
            least[i].sort()
            for j in range(most):
                sums[leaf - start, j] += least[i, j]
    return sums


@njit(cache=True, nogil=True)
def _find_least(tree: Tree, leaf: int, least: FloatArray, gaps: FloatArray) -> None:
    """Write the least squared distances of each record of ``leaf`` into its row of ``least``, shape (count, most).

    Each row is a heap, its greatest first. ``gaps``, shape (_DEPTH, LEAF), is room to work in.
    """
    own = _columns(tree, leaf)
    distances = np.empty(LEAF)
    nodes = np.empty(_DEPTH, dtype=np.int64)
    least[:] = np.inf
    nodes[0], top = 1, 1
    gaps[0] = 0.0
    while top > 0:
        top -= 1
        node = nodes[top]
        if not _is_needed(gaps[top], least):
            continue
        if 2 * node < len(tree.ends):
            # The nearer child is put on top.
            nodes[top], nodes[top + 1] = 2 * node, 2 * node + 1
            if _measure_gaps(tree, 2 * node, own, gaps[top]) < _measure_gaps(tree, 2 * node + 1, own, gaps[top + 1]):
                nodes[top], nodes[top + 1] = 2 * node + 1, 2 * node
                for i in range(len(least)):
                    gaps[top, i], gaps[top + 1, i] = gaps[top + 1, i], gaps[top, i]
            top += 2
            continue
        _visit(_columns(tree, node), own, node == leaf, gaps[top], distances, least)


@njit(cache=True, nogil=True)
def _columns(tree: Tree, leaf: int) -> FloatArray:
    """Return the records of a leaf, shape (d, count)."""
    start, stop = tree.ends[leaf]
    d = tree.boxes.shape[2]
    return tree.coordinates[start * d : stop * d].reshape(d, stop - start)


@njit(cache=True, nogil=True)
def _is_needed(gaps: FloatArray, least: FloatArray) -> bool:
    """Return whether any record can have one of its nearest within its gap."""
    needed = False
    for i in range(len(least)):
        needed = needed or gaps[i] < least[i, 0]
    return needed


@njit(cache=True, nogil=True)
def _measure_gaps(tree: Tree, node: int, own: FloatArray, gaps: FloatArray) -> float:
    """Write the squared distances of ``own``, shape (d, count), to the box of a node; return their sum."""
    out = gaps[: own.shape[1]]
    out[:] = 0.0
    for j in range(len(own)):
        low, high = tree.boxes[node, 0, j], tree.boxes[node, 1, j]
        for i in range(len(out)):
            gap = max(max(low - own[j, i], own[j, i] - high), 0.0)
            out[i] += gap * gap
    total = 0.0
    for gap in out:
        total += gap
    return total


@njit(cache=True, nogil=True)
def _visit(
    others: FloatArray, own: FloatArray, same: bool, gaps: FloatArray, distances: FloatArray, least: FloatArray
) -> None:
    """Take the least squared distances of ``own`` to ``others``, each of shape (d, count), into their heaps.

    ``same`` says that they are the same leaf. Both loops stand in one function, as a call for each record would take
    longer than what it does.
    """
    most = least.shape[1]
    out = distances[: others.shape[1]]
    for i in range(len(least)):
        greatest = least[i, 0]
        if not gaps[i] < greatest:
            continue
        out[:] = 0.0
        for j in range(len(others)):
            column, coordinate = others[j], own[j, i]
            for t in range(len(out)):
                difference = column[t] - coordinate
                out[t] += difference * difference
        for t in range(len(out)):
            value = out[t]
            if not value < greatest or (same and t == i):
                continue
            at, child = 0, 1
            while child < most:
                if child + 1 < most and least[i, child + 1] > least[i, child]:
                    child += 1
                if not least[i, child] > value:
                    break
                least[i, at] = least[i, child]
                at, child = child, 2 * child + 1
            least[i, at] = value
            greatest = least[i, 0]
