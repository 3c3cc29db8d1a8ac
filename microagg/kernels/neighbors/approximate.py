"""Records about as near to a point as any, from the k-d tree: found in a tenth of the time that the nearest take."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import Tree
from microagg.kernels.neighbors.tree_pool import TreePool
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distance_to_box,
    insert,
    is_better,
    make_query,
    measure_leaf,
)
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def roughly_nearest(tree: Tree, point: FloatArray, most: int, excluded: int, share: float, query: NeighborQuery) -> int:
    """Find ``most`` records about as near to ``point``, shape (d,), as any, except ``excluded``; return how many.

    Once ``most`` are found, a node is visited only if the squared distance to its box is less than ``share`` (at most
    1) times that of the last of them. Fewer are found only if there are no more. The answer is where
    :func:`microagg.kernels.neighbors.tree_queries.nearest` leaves it.
    """
    filled, top = 0, 1
    enough = np.inf
    query.nodes[0], query.bounds[0] = 1, 0.0
    while top > 0:
        top -= 1
        node, bound = query.nodes[top], query.bounds[top]
        if not bound < enough:
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound, other = distance_to_box(tree.boxes, near, point), distance_to_box(tree.boxes, far, point)
            if other < bound:
                near, far = far, near
                bound, other = other, bound
            if other < enough:
                query.nodes[top], query.bounds[top] = far, other
                top += 1
            node = near
        if not bound < enough:
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = query.distances[i], tree.records[start + i]
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
