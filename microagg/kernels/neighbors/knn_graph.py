"""The records nearest to every record of a table, exactly or approximately, and the sums of the distances to them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel, kernel_with
from microagg.kernels.neighbors import lookahead
from microagg.kernels.neighbors.brute_force import TERMS_AT_A_TIME, nearest, sort_few, squared_distances
from microagg.kernels.neighbors.kd_tree import FAN, LEAF, LEVELS, Tree, TreePool
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


def fill_rows(pool: TreePool, neighbors: IntArray, share: float, start: int, stop: int) -> None:
    """Fill the rows of ``neighbors``, shape (n, most), of the records in the slots of the tree ``start`` to ``stop``.

    They get near records, the nearest first, -1 where there are fewer; ``share`` says how near, see
    :func:`.lookahead.list_records`.
    """
    records = pool.tree.records[start:stop]
    lists = np.full((len(records), neighbors.shape[1]), -1)
    lookahead.list_records(pool, records, lists, False, share)
    neighbors[records] = lists


# The records nearest to each record, found on all cores: by passes or in a k-d tree, and among many approximately.

# How many nearest records are found for each record: twice k, within these limits.
_NEIGHBORS = (10, 48)

# Among more records than this, those found need not be the nearest: the search goes on only where the squared distance
# is less than this share of that of the last one found.
_MOST_EXACT = 20_000
_NEAR_ENOUGH = 0.3

# From how many records on a tree pays, at best.
_LEAST = 10_000

# Terms of squared distances that a thread adds between two checkpoints, and records for which it asks the tree.
_TERMS_AT_A_TIME = 20_000_000
_RECORDS_AT_A_TIME = 4_000


@kernel
def neighbors_by_passes(columns: FloatArray, neighbors: IntArray, start: int, stop: int) -> None:
    """Fill the rows from ``start`` to ``stop`` of ``neighbors`` with the nearest records, nearest first."""
    n = columns.shape[1]
    distances = np.empty(n)
    for record in range(start, stop):
        squared_distances(columns, 0, n, columns[:, record].copy(), distances)
        distances[record] = np.nan
        neighbors[record] = nearest(distances, n, neighbors.shape[1])


def find_neighbors(X: FloatArray, k: int) -> IntArray:
    """Return about 2k records nearest to each of ``X``, shape (n, d), nearest first; roughly so among many records."""
    n, d = X.shape
    least, most = _NEIGHBORS
    neighbors = np.empty((n, min(max(2 * k, least), most, n - 1)), dtype=np.int64)
    if neighbors.size == 0:
        return neighbors
    if (pool := lookahead.tree_if_faster(X, neighbors.shape[1], _LEAST)) is not None:
        share = 1.0 if n <= _MOST_EXACT else _NEAR_ENOUGH
        fill, at_a_time = partial(fill_rows, pool, neighbors, share), _RECORDS_AT_A_TIME
    else:
        fill, at_a_time = partial(neighbors_by_passes, X.T.copy(), neighbors), max(1, _TERMS_AT_A_TIME // (n * d))
    with ThreadPoolExecutor(running.THREADS) as executor:
        stretch = at_a_time * running.THREADS
        for start in range(0, n, stretch):
            checkpoint("finding neighbors", start / n)
            running.in_parts(executor, fill, start, min(start + stretch, n), running.THREADS)
    return neighbors


# Which records of a k-d tree are nearest to each, and how far, exactly. The records of a leaf walk through the tree
# together, so that the bounds of a node and the distances to the records of another leaf are measured in passes that
# use the processor's vector units. A node is passed over once no record of the leaf can have one of its nearest in it;
# see :mod:`.tree_queries` why that needs no tolerance. Source: Friedman, Bentley & Finkel 1977.

# Up to how many attributes leaves are small, and the most records of a large one: measured on normal, uniform and
# lognormal data with 2 to 10 attributes.
_FEW_ATTRIBUTES = 4
_LARGE_LEAF = 256

# The stack holds at most one node for each level of the tree, and one more.
_DEPTH = 64


def leaf_size(n: int, d: int) -> int:
    """Return how many of ``n`` records with ``d`` attributes a leaf is best to hold at most.

    With many attributes most nodes are near to some record of any leaf, and to measure boxes takes the time: the fewer
    and larger, the better, as long as a leaf takes some tenths of a second at most.
    """
    return LEAF if d <= _FEW_ATTRIBUTES else max(LEAF, min(_LARGE_LEAF, TERMS_AT_A_TIME // (n * d)))


@kernel
def sums_of_nearest(tree: Tree, most: int, start: int, stop: int) -> FloatArray:
    """Return how far the nearest records are from those of the leaves from ``start`` to ``stop``, counted from 0.

    Column j of row i, shape (stop - start, most), is the sum over the records of leaf start + i of the squared
    distances to their j + 1st nearest other; infinity if there are fewer. Nothing has been removed from ``tree``.
    """
    first, size = len(tree.coordinates), tree.coordinates.shape[2]
    sums = np.zeros((stop - start, most))
    least, greatest, gaps = np.empty((size, most)), np.empty(size), np.empty((_DEPTH, size))
    for leaf in range(start, stop):
        count = tree.ends[first + leaf, 1] - tree.ends[first + leaf, 0]
        _find_least(tree, first + leaf, least[:count], greatest[:count], gaps)
        for i in range(count):
            sort_few(least[i])
            for j in range(most):
                sums[leaf - start, j] += least[i, j]
    return sums


@kernel
def _find_least(tree: Tree, leaf: int, least: FloatArray, greatest: FloatArray, gaps: FloatArray) -> None:
    """Write the least squared distances of each record of ``leaf`` into its row of ``least``, shape (count, most).

    Each row is a heap with its greatest value first; ``greatest``, shape (count,), holds these values.
    ``gaps``, shape (_DEPTH, size), is work space.
    """
    leaves = len(tree.coordinates)
    leaf_points = tree.coordinates[leaf - leaves]
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
            # The nearer child goes on top.
            nodes[top], nodes[top + 1] = 2 * node, 2 * node + 1
            near_all = _measure_gaps(tree, 2 * node, leaf_points, gaps[top], count)
            if near_all < _measure_gaps(tree, 2 * node + 1, leaf_points, gaps[top + 1], count):
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
        _visit(others, end - begin, leaf_points, node == leaf, near[:needed], distances, least, greatest)


@borrows
def _number_below(values: FloatArray, limits: FloatArray) -> int:
    """Return how many of ``values`` are less than their limits."""
    number = 0
    for i in range(len(values)):
        number += values[i] < limits[i]
    return number


@borrows
def _measure_gaps(tree: Tree, node: int, points: FloatArray, gaps: FloatArray, count: int) -> float:
    """Write the squared distances of ``points``, shape (d, room), to a node's box; return the sum of ``count``."""
    gaps[:] = 0.0
    box = tree.boxes[node >> LEVELS, :, :, node & FAN - 1]
    for j in range(len(points)):
        low, high, column = box[0, j], box[1, j], points[j]
        for i in range(len(gaps)):
            gap = max(max(low - column[i], column[i] - high), 0.0)
            gaps[i] += gap * gap
    return _total(gaps[:count])


@kernel_with(fastmath={"reassoc"})
def _total(values: FloatArray) -> float:
    """Return the sum of ``values``, added in any order, which is faster."""
    total = 0.0
    for value in values:
        total += value
    return total


@borrows
def _visit(
    others: FloatArray, count: int, points: FloatArray, same: bool, near: IntArray, distances: FloatArray,
    least: FloatArray, greatest: FloatArray,
) -> None:  # fmt: skip
    """Insert the squared distances of ``points[:, near]`` to ``others`` into the heaps of the points.

    Both arrays have shape (d, room). The first ``count`` of ``others`` are records.
    ``same`` is true if both arrays are the same leaf. A call for each record would take longer than its work.
    """
    most = least.shape[1]
    out = distances[:count]
    for i in near:
        limit = greatest[i]
        distances[:] = 0.0
        for j in range(len(others)):
            column, coordinate = others[j], points[j, i]
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
                least[i, at] = least[i, child]
                at, child = child, 2 * child + 1
            least[i, at] = value
            limit = least[i, 0]
        greatest[i] = limit
