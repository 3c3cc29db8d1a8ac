"""Which unassigned records may be isolated, and which of those is nearest to a group.

V-MDAV lets the record nearest to a group join only if no other unassigned record is near that record. To look for such
a record among all is far more work than among those that may be isolated at all. So a few near records of each record
are kept: its distance to the first of them that is unassigned is an upper bound of its isolation, the distance to its
nearest unassigned record. With the greatest bound below each node, most of the tree is passed over.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels import running
from microagg.kernels.grouping.groups import Groups, take
from microagg.kernels.neighbors.brute_force import squared_distance
from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree, TreePool, leaf_of
from microagg.kernels.neighbors.knn_graph import fill_row, fill_rows
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    measure_leaf,
    put_on_stack,
    uppermost,
)
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: How many near records of each record are kept.
NEAR_RECORDS = 4

# The search for near records goes on only where the squared distance is less than this share of that of the last one
# found. They need not be the nearest; with 1 they would be, which takes ten times as long.
_NEAR_ENOUGH = 0.1

# Records for which a thread looks for near ones between two checkpoints.
_RECORDS_AT_A_TIME = 1_000


class IsolationBounds(NamedTuple):
    """For each unassigned record an upper bound of its isolation; made by :func:`make_isolation_bounds`."""

    neighbors: IntArray  # shape (n, NEAR_RECORDS): records near each record, nearest first, -1 where there were fewer
    # shape (n,): the squared distance of each record from the first of these that is unassigned, infinity if none is
    bounds: FloatArray
    first_dependent: IntArray  # shape (n,): a record whose bound is its distance from this one, -1 if there is none
    # shape (n,): another record whose bound is a distance from the same record, -1 if there is no further one
    next_dependent: IntArray
    # shape (nodes,): the greatest of ``bounds`` below each node of the tree; -1 if nothing is left
    greatest: FloatArray


@njit(cache=True, nogil=True)
def _set_bound(pool: TreePool, isolation: IsolationBounds, record: int) -> bool:
    """Set the bound of ``record`` by the first of its near records that is unassigned; return whether there is one."""
    for other in isolation.neighbors[record]:
        if other >= 0 and pool.tree.slots[other] >= 0:
            isolation.bounds[record] = squared_distance(pool.X[record], pool.X[other])
            isolation.next_dependent[record] = isolation.first_dependent[other]
            isolation.first_dependent[other] = record
            return True
    isolation.bounds[record] = np.inf
    return False


@njit(cache=True, nogil=True)
def _set_greatest(tree: Tree, isolation: IsolationBounds, leaf: int) -> None:
    """Set the greatest bound below a leaf, and below all nodes above it."""
    start, greatest = tree.ends[leaf, 0], -1.0
    for record in tree.records[start : start + tree.left[leaf]]:
        greatest = max(greatest, isolation.bounds[record])
    node = leaf
    while node >= 1 and isolation.greatest[node] != greatest:
        isolation.greatest[node] = greatest
        if node > 1:
            greatest = max(greatest, isolation.greatest[node ^ 1])
        node >>= 1


@njit(cache=True, nogil=True)
def _bounds_by(pool: TreePool, neighbors: IntArray) -> IsolationBounds:
    n, nodes = len(neighbors), len(pool.tree.ends)
    isolation = IsolationBounds(neighbors, np.empty(n), np.full(n, -1), np.full(n, -1), np.full(nodes, -1.0))
    for record in range(n):
        _set_bound(pool, isolation, record)
    for leaf in range(nodes // 2, nodes):
        _set_greatest(pool.tree, isolation, leaf)
    return isolation


def make_isolation_bounds(pool: TreePool) -> IsolationBounds:
    """Return bounds for all records of ``pool``, none of which may have left."""
    n = len(pool.X)
    neighbors = np.empty((n, NEAR_RECORDS), dtype=np.int64)
    stretch = _RECORDS_AT_A_TIME * running.THREADS
    with ThreadPoolExecutor(running.THREADS) as executor:
        for first in range(0, n, stretch):
            checkpoint("finding near records")
            running.in_parts(
                executor,
                lambda start, stop: fill_rows(pool, neighbors, _NEAR_ENOUGH, start, stop),
                first,
                min(first + stretch, n),
                running.THREADS,
            )
    return _bounds_by(pool, neighbors)


@njit(cache=True, nogil=True)
def _renew_bound(pool: TreePool, isolation: IsolationBounds, record: int, query: NeighborQuery) -> None:
    """Set the bound of ``record`` anew; if none of its near records is left, find others."""
    before = isolation.bounds[record]
    if not _set_bound(pool, isolation, record):
        fill_row(pool, isolation.neighbors, record, _NEAR_ENOUGH, query)
        _set_bound(pool, isolation, record)
    leaf = leaf_of(pool.tree, pool.tree.slots[record])
    if before == isolation.greatest[leaf] or isolation.bounds[record] > isolation.greatest[leaf]:
        _set_greatest(pool.tree, isolation, leaf)


@njit(cache=True, nogil=True)
def take_and_renew(
    groups: Groups, pool: TreePool, isolation: IsolationBounds, group: int, record: int, query: NeighborQuery
) -> None:
    """Move ``record`` into ``group``, and renew the bounds that were distances from it."""
    leaf = leaf_of(pool.tree, pool.tree.slots[record])
    take(groups, pool, group, record)
    if isolation.bounds[record] == isolation.greatest[leaf]:
        _set_greatest(pool.tree, isolation, leaf)
    dependent = isolation.first_dependent[record]
    while dependent >= 0:
        following = isolation.next_dependent[dependent]
        if pool.tree.slots[dependent] >= 0:
            _renew_bound(pool, isolation, dependent, query)
        dependent = following


@njit(cache=True, nogil=True)
def _put_isolated(
    tree: Tree,
    isolation: IsolationBounds,
    first: int,
    count: int,
    gamma: float,
    least: float,
    passed: float,
    top: int,
    query: NeighborQuery,
) -> tuple[int, float]:
    """Put those of ``count`` nodes from ``first`` that may hold an isolated record on the stack, the nearest on top.

    Only those no farther than ``least`` count; their squared distances are in ``query.gaps[0]``. Return the height of
    the stack, which was ``top``, and ``passed`` or the least distance of a node that was left out, if that is less.
    """
    bottom = top
    for node in range(first, first + count):
        bound = query.gaps[0, node & FAN - 1]
        if bound > least:
            continue
        if not bound < gamma * isolation.greatest[node]:
            passed = min(passed, bound)
            continue
        top = put_on_stack(query, bottom, top, node, bound, tree.lowest)
    return top, passed


@njit(cache=True, nogil=True)
def nearest_isolated(
    tree: Tree, isolation: IsolationBounds, points: FloatArray, gamma: float, query: NeighborQuery
) -> tuple[int, float, float]:
    """Find the nearest to any of ``points`` of those records that are nearer than ``gamma`` times their bound.

    Return it, or NO_INDEX if there is none, and its least squared distance from ``points``, shape (m, d); and a
    distance than which none of the other records that were passed over is nearer.
    """
    best, least, passed, leaves = NO_INDEX, np.inf, np.inf, len(tree.coordinates)
    first = uppermost(leaves)
    for point in points:
        distances_to_boxes(tree.boxes, first >> LEVELS, point, query.gaps[0])
        top, passed = _put_isolated(tree, isolation, first, first, gamma, least, passed, 0, query)
        while top > 0:
            top -= 1
            node = query.nodes[top]
            if query.bounds[top] > least:
                continue
            if node < leaves:
                distances_to_boxes(tree.boxes, node, point, query.gaps[0])
                top, passed = _put_isolated(tree, isolation, node << LEVELS, FAN, gamma, least, passed, top, query)
                continue
            measure_leaf(tree, node, point, query.distances[0])
            start = tree.ends[node, 0]
            for i in range(tree.left[node]):
                value = query.distances[0, i]
                if value > least:
                    continue
                record = tree.records[start + i]
                if value == least and record >= best:
                    continue
                if value < gamma * isolation.bounds[record]:
                    best, least = record, value
                else:
                    passed = min(passed, value)
    return best, least, passed
