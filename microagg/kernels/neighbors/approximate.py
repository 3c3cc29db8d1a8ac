"""Records about as near to a point as any, from the k-d tree: found in a tenth of the time that the nearest take."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, Tree
from microagg.kernels.neighbors.tree_pool import TreePool
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
