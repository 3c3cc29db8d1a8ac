"""Which records of a k-d tree are nearest to each, and how far, added up: exactly, all records of a leaf at once.

The records of a leaf walk through the tree together, so that the bounds of a node and the distances to the records of
another leaf are measured in passes that use the processor's vector units. A node is passed over once no record of the
leaf can have one of its nearest in it. Distances are bitwise those of :mod:`.brute_force`; see :mod:`.tree_queries` why
passing over nodes needs no tolerance.

Source: Friedman, Bentley & Finkel 1977.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.kernels.neighbors.brute_force import TERMS_AT_A_TIME
from microagg.kernels.neighbors.kd_tree import FAN, LEAF, LEVELS, Tree
from microagg.validation import FloatArray, IntArray

# Up to how many attributes leaves are small, and the most records of a large one: measured on normal, uniform and
# lognormal data with 2 to 10 attributes.
_FEW_ATTRIBUTES = 4
_LARGE_LEAF = 256

# The stack holds at most one node for each level of the tree, and one more.
_DEPTH = 64


def leaf_size(n: int, d: int) -> int:
    """Return how many of ``n`` records with ``d`` attributes a leaf is best to hold at most.

    With few attributes small leaves leave out more of the distances. With many, most nodes are near to some record of
    any leaf, and what takes the time is to measure boxes: the fewer and larger, the better, as long as a leaf takes
    some tenths of a second at most.
    """
    return LEAF if d <= _FEW_ATTRIBUTES else max(LEAF, min(_LARGE_LEAF, TERMS_AT_A_TIME // (n * d)))


@njit(cache=True, nogil=True)
def sums_of_nearest(tree: Tree, most: int, start: int, stop: int) -> FloatArray:
    """Return how far the nearest records are from those of the leaves from ``start`` to ``stop``, counted from 0.

    Column j of row i, shape (stop - start, most), is the sum, over the records of leaf start + i, of the squared
    distance to the record that is j + 1st nearest, the record itself aside; infinity if there are fewer. Nothing has
    been removed from ``tree``.
    """
    first, size = len(tree.coordinates), tree.coordinates.shape[2]
    sums = np.zeros((stop - start, most))
    least, slots, greatest = np.empty((size, most)), np.empty((size, most), dtype=np.int64), np.empty(size)
    gaps = np.empty((_DEPTH, size))
    for leaf in range(start, stop):
        count = tree.ends[first + leaf, 1] - tree.ends[first + leaf, 0]
        _find_least(tree, first + leaf, least[:count], slots[:count], greatest[:count], gaps)
        for i in range(count):
            least[i].sort()
            for j in range(most):
                sums[leaf - start, j] += least[i, j]
    return sums


@njit(cache=True, nogil=True)
def list_nearest(tree: Tree, start: int, stop: int, near: NDArray[np.int32]) -> None:
    """Write which records are nearest to those of the leaves from ``start`` to ``stop`` into their rows of ``near``.

    A row, of shape (n, most), has the record nearest to its own first, itself aside; of some that are equally far, any.
    There are at least ``most`` others, and nothing has been removed from ``tree``.
    """
    most = near.shape[1]
    first, size = len(tree.coordinates), tree.coordinates.shape[2]
    least, slots, greatest = np.empty((size, most)), np.empty((size, most), dtype=np.int64), np.empty(size)
    gaps = np.empty((_DEPTH, size))
    for leaf in range(first + start, first + stop):
        begin, end = tree.ends[leaf]
        count = end - begin
        _find_least(tree, leaf, least[:count], slots[:count], greatest[:count], gaps)
        for i in range(count):
            order = np.argsort(least[i])
            for j in range(most):
                near[tree.records[begin + i], j] = tree.records[slots[i, order[j]]]


@njit(cache=True, nogil=True)
def _find_least(
    tree: Tree, leaf: int, least: FloatArray, slots: IntArray, greatest: FloatArray, gaps: FloatArray
) -> None:
    """Write the least squared distances of each record of ``leaf`` into its row of ``least``, shape (count, most).

    Each row is a heap, its greatest first, which ``greatest``, shape (count,), repeats. ``slots``, of the same shape as
    ``least``, receives the slots of the records so far; ``gaps``, shape (_DEPTH, size), is room to work in.
    """
    leaves = len(tree.coordinates)
    own = tree.coordinates[leaf - leaves]
    count = len(least)
    distances, near = np.empty(gaps.shape[1]), np.empty(count, dtype=np.int64)
    nodes = np.empty(_DEPTH, dtype=np.int64)
    least[:], greatest[:] = np.inf, np.inf
    nodes[0], top = 1, 1
    gaps[0] = 0.0
    while top > 0:
        top -= 1
        node = nodes[top]
        if _number_below(gaps[top, :count], greatest) == 0:
            continue
        if node < leaves:
            # The nearer child is put on top.
            nodes[top], nodes[top + 1] = 2 * node, 2 * node + 1
            near_all = _measure_gaps(tree, 2 * node, own, gaps[top], count)
            if near_all < _measure_gaps(tree, 2 * node + 1, own, gaps[top + 1], count):
                nodes[top], nodes[top + 1] = 2 * node + 1, 2 * node
                for i in range(count):
                    gaps[top, i], gaps[top + 1, i] = gaps[top + 1, i], gaps[top, i]
            top += 2
            continue
        needed = 0
        for i in range(count):
            near[needed] = i
            needed += gaps[top, i] < greatest[i]
        begin, end = tree.ends[node]
        others = tree.coordinates[node - leaves]
        _visit(others, end - begin, own, node == leaf, near[:needed], begin, distances, least, slots, greatest)


@njit(cache=True, nogil=True)
def _number_below(values: FloatArray, limits: FloatArray) -> int:
    """Return how many of ``values`` are less than their limits."""
    number = 0
    for i in range(len(values)):
        number += values[i] < limits[i]
    return number


@njit(cache=True, nogil=True)
def _measure_gaps(tree: Tree, node: int, own: FloatArray, gaps: FloatArray, count: int) -> float:
    """Write the squared distances of ``own``, shape (d, room), to the box of a node; return about their sum.

    The first ``count`` of ``own`` are records.
    """
    gaps[:] = 0.0
    box = tree.boxes[node >> LEVELS, :, :, node & FAN - 1]
    for j in range(len(own)):
        low, high, column = box[0, j], box[1, j], own[j]
        for i in range(len(gaps)):
            gap = max(max(low - column[i], column[i] - high), 0.0)
            gaps[i] += gap * gap
    return _total(gaps[:count])


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _total(values: FloatArray) -> float:
    """Return the sum of ``values``, added in any order, which is faster."""
    total = 0.0
    for value in values:
        total += value
    return total


@njit(cache=True, nogil=True)
def _visit(
    others: FloatArray,
    count: int,
    own: FloatArray,
    same: bool,
    near: IntArray,
    begin: int,
    distances: FloatArray,
    least: FloatArray,
    slots: IntArray,
    greatest: FloatArray,
) -> None:
    """Take the least squared distances of some of ``own`` to ``others``, each of shape (d, room), into their heaps.

    ``near`` are the positions of these some; the first ``count`` of ``others`` are records, the first of them in slot
    ``begin``; ``same`` says that both are the same leaf. The loops stand in one function, as a call for each record
    would take longer than what it does.
    """
    most = least.shape[1]
    out = distances[:count]
    for i in near:
        limit = greatest[i]
        distances[:] = 0.0
        for j in range(len(others)):
            column, coordinate = others[j], own[j, i]
            for t in range(len(distances)):
                difference = column[t] - coordinate
                distances[t] += difference * difference
        below = 0
        for t in range(len(out)):
            below += out[t] < limit
        if below == 0:
            continue
        for t in range(len(out)):
            value = out[t]
            if not value < limit or (same and t == i):
                continue
            at, child = 0, 1
            while child < most:
                if child + 1 < most and least[i, child + 1] > least[i, child]:
                    child += 1
                if not least[i, child] > value:
                    break
                least[i, at], slots[i, at] = least[i, child], slots[i, child]
                at, child = child, 2 * child + 1
            least[i, at], slots[i, at] = value, begin + t
            limit = least[i, 0]
        greatest[i] = limit
