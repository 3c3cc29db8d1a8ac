"""Records about as near to a point as any, from the k-d tree: found in a tenth of the time that the nearest take."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from microagg.kernels import running
from microagg.kernels.neighbors import lookahead
from microagg.kernels.neighbors.brute_force import nearest, squared_distances
from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, Tree, TreePool
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    insert,
    is_better,
    make_query,
    measure_leaf,
    put_better,
    uppermost,
)
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def roughly_nearest(tree: Tree, point: FloatArray, most: int, excluded: int, share: float, query: NeighborQuery) -> int:
    """Find ``most`` records about as near to ``point``, shape (d,), as any, except ``excluded``; return how many.

    Once ``most`` are found, a node is visited only if the squared distance to its box is less than ``share`` (at most
    1) times that of the last of them. Fewer are found only if there are no more. The answer is where
    :func:`microagg.kernels.neighbors.tree_queries.nearest` leaves it.
    """
    filled, leaves = 0, len(tree.coordinates)
    enough = np.inf
    first = uppermost(leaves)
    distances_to_boxes(tree.boxes, first >> LEVELS, point, query.gaps[0])
    top = put_better(tree, first, first, enough, -1, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if not query.bounds[top] < enough:
            continue
        if node < leaves:
            distances_to_boxes(tree.boxes, node, point, query.gaps[0])
            top = put_better(tree, node << LEVELS, FAN, enough, -1, top, query)
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances[0])
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = query.distances[0, i], tree.records[start + i]
            if record != excluded and (
                filled < most or is_better(value, record, query.values[most - 1], query.found[most - 1])
            ):
                filled = insert(query, filled, most, value, record)
        if filled == most:
            enough = share * query.values[most - 1]
    return filled


@njit(cache=True, nogil=True)
def fill_row(pool: TreePool, neighbors: IntArray, record: int, share: float, query: NeighborQuery) -> None:
    """Fill the row of ``record`` in ``neighbors``, shape (n, most), with near records; -1 where there are fewer."""
    count = roughly_nearest(pool.tree, pool.X[record], neighbors.shape[1], record, share, query)
    for i in range(neighbors.shape[1]):
        neighbors[record, i] = query.found[i] if i < count else -1


@njit(cache=True, nogil=True)
def fill_rows(pool: TreePool, neighbors: IntArray, share: float, start: int, stop: int) -> None:
    """Do as :func:`fill_row` for the records in the slots of the tree from ``start`` to ``stop``."""
    query = make_query(neighbors.shape[1])
    for record in pool.tree.records[start:stop]:
        fill_row(pool, neighbors, record, share, query)


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


@njit(cache=True, nogil=True)
def neighbors_by_passes(columns: FloatArray, neighbors: IntArray, start: int, stop: int) -> None:
    """Fill the rows from ``start`` to ``stop`` of ``neighbors`` with the nearest records, nearest first."""
    n = columns.shape[1]
    distances = np.empty(n)
    for record in range(start, stop):
        squared_distances(columns, 0, n, columns[:, record].copy(), distances)
        distances[record] = np.nan
        neighbors[record] = nearest(distances, n, neighbors.shape[1])


def find_neighbors(X: FloatArray, k: int) -> IntArray:
    """Return the records nearest to each of ``X``, shape (n, d), itself aside: about 2k for each, nearest first.

    Among many records they are about the nearest, see :func:`microagg.kernels.neighbors.knn_graph.roughly_nearest`.
    """
    n, d = X.shape
    least, most = _NEIGHBORS
    neighbors = np.empty((n, min(max(2 * k, least), most, n - 1)), dtype=np.int64)
    if neighbors.size == 0:
        return neighbors
    if (pool := lookahead.tree_if_faster(X, neighbors.shape[1], _LEAST)) is not None:
        share = 1.0 if n <= _MOST_EXACT else _NEAR_ENOUGH

        def fill(start: int, stop: int) -> None:
            fill_rows(pool, neighbors, share, start, stop)

        at_a_time = _RECORDS_AT_A_TIME
    else:
        columns = X.T.copy()

        def fill(start: int, stop: int) -> None:
            neighbors_by_passes(columns, neighbors, start, stop)

        at_a_time = max(1, _TERMS_AT_A_TIME // (n * d))
    with ThreadPoolExecutor(running.THREADS) as executor:
        stretch = at_a_time * running.THREADS
        for start in range(0, n, stretch):
            checkpoint("finding neighbors", start / n)
            running.in_parts(executor, fill, start, min(start + stretch, n), running.THREADS)
    return neighbors
