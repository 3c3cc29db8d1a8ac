"""The main loop of MDAV+, V-MDAV and MDAV* for many records: seeds in the order of their distance from the fixed mean.

The mean of all data is computed once, so the order in which records are to be seeds is known from the beginning. The
nearest records of the next seeds are looked up on all cores, many seeds at a time (see
:mod:`microagg.kernels.neighbors.lookahead`); a compiled step of the algorithm then takes the seeds into groups, one
after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.groups import Groups, make_groups, take
from microagg.kernels.neighbors import brute_force, kd_tree, lookahead
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, make_pool, passes_at_a_time, pool_of, squared_distance
from microagg.kernels.neighbors.kd_tree import (
    FAN,
    LEVELS,
    NO_INDEX,
    Tree,
    TreePool,
    leaf_of,
    next_unassigned,
    number_left,
)
from microagg.kernels.neighbors.knn_graph import fill_rows
from microagg.kernels.neighbors.lookahead import NeighborCache, empty_cache, fill_cache
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    measure_leaf,
    put_on_stack,
    roughly_nearest,
    uppermost,
)
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: The share of the unassigned records that are looked up as seeds at a time, and how many they are at least. With more,
#: more of what is looked up is outdated before it is used.
SHARE_OF_SEEDS = 1 / 128
FEWEST_SEEDS = 64

#: Called with a cache of the nearest records, seeds, the number of unassigned records at which to stop, and threads;
#: returns the cache, renewed if the step has looked up more.
Step = Callable[[NeighborCache, IntArray, int, ThreadPoolExecutor], NeighborCache]


def group_while_many(
    X: FloatArray, k: int, least: int, make_step: Callable[[Groups, TreePool], Step]
) -> tuple[Groups, Pool, IntArray]:
    """Take the records of ``X``, shape (n, d), n >= k, into groups as long as many are unassigned.

    Return the groups as far as they are formed, the unassigned records, and those that may still be seeds, in their
    order. From ``least`` records on a tree pays, see :func:`.lookahead.tree_if_faster`; where it does not, nothing is
    formed.
    """
    n, d = X.shape
    groups = make_groups(n, d, k)
    pool = lookahead.tree_if_faster(X, k, least)
    if pool is None:
        all_records = make_pool(X)
        return groups, all_records, brute_force.farthest_from_mean_first(all_records)
    until = max(k, lookahead.FEWEST)
    step = make_step(groups, pool)
    order, start, cache = kd_tree.farthest_from_mean_first(pool), 0, empty_cache(n)
    with ThreadPoolExecutor(running.THREADS) as executor:
        while (left := number_left(pool)) >= until:
            checkpoint("forming groups", 1.0 - left / n)
            seeds, start = next_unassigned(pool, order, start, max(FEWEST_SEEDS, int(left * SHARE_OF_SEEDS)))
            cache, _ = fill_cache(cache, pool, seeds, k - 1 + lookahead.SPARE, executor)
            cache = step(cache, seeds, until, executor)
    unassigned = groups.labels < 0
    return groups, pool_of(X, np.flatnonzero(unassigned)), order[unassigned[order]]


def in_stretches(pool: Pool, order: IntArray, k: int, passes: int) -> Iterator[IntArray]:
    """Yield the seeds ``order``, shape (m,), in stretches, with a checkpoint before each, while ``k`` are unassigned.

    Whoever asks groups those of them that are unassigned, with about ``passes`` passes over the ``pool`` for each.
    """
    n, d = len(pool.positions), len(pool.columns)
    start = 0
    while start < len(order) and (left := int(pool.counts[ALIVE])) >= k:
        checkpoint("forming groups", 1.0 - left / n)
        stop = start + passes_at_a_time(left, passes * d)
        yield order[start:stop]
        start = stop


# Which unassigned records may be isolated, and which of those is nearest to a group, for V-MDAV, which lets the record
# nearest to a group join only if no other is near that record: far fewer need be looked at than if all might. So a few
# near records of each are kept. The distance to the first of them that is unassigned is an upper bound of the
# isolation, the distance to the nearest unassigned record. With the greatest bound below each node, most of the tree is
# passed over.

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


@borrows
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


@borrows
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


@kernel
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


@borrows
def _renew_bound(pool: TreePool, isolation: IsolationBounds, record: int, query: NeighborQuery) -> None:
    """Set the bound of ``record`` anew; if none of its near records is left, find others."""
    before = isolation.bounds[record]
    if not _set_bound(pool, isolation, record):
        near = isolation.neighbors[record]
        count = roughly_nearest(pool.tree, pool.X[record], len(near), record, _NEAR_ENOUGH, query)
        for i in range(len(near)):
            near[i] = query.found[i] if i < count else -1
        _set_bound(pool, isolation, record)
    leaf = leaf_of(pool.tree, pool.tree.slots[record])
    if before == isolation.greatest[leaf] or isolation.bounds[record] > isolation.greatest[leaf]:
        _set_greatest(pool.tree, isolation, leaf)


@borrows
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


@borrows
def _put_isolated(
    tree: Tree, isolation: IsolationBounds, first: int, count: int, gamma: float, least: float, passed: float, top: int,
    query: NeighborQuery,
) -> tuple[int, float]:  # fmt: skip
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


@borrows
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
            measure_leaf(tree, node, point, query.distances)
            start = tree.ends[node, 0]
            for i in range(tree.left[node]):
                value = query.distances[i]
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
