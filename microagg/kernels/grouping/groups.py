"""Groups under construction: how records form and join them, out of a pool or a tree pool, and what they then lose."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors import brute_force, kd_tree, neighbor_lists
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.kernels.neighbors.kd_tree import TreePool
from microagg.kernels.neighbors.kd_tree import remove as remove_from_tree
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


class Groups(NamedTuple):
    """Groups under construction; made by :func:`make_groups`."""

    labels: IntArray  # shape (n,): the group of each record, -1 while unassigned
    sums: FloatArray  # shape (n // k, d): the coordinate sums of each group, added in the order in which records joined
    sizes: IntArray  # shape (n // k,)
    number: IntArray  # shape (1,): how many groups there are


def make_groups(n: int, d: int, k: int) -> Groups:
    """Return no groups yet, with room for as many as ``n`` records can form."""
    most = n // k
    return Groups(
        np.full(n, -1, dtype=np.int64),
        np.zeros((most, d)),
        np.zeros(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@borrows
def join(groups: Groups, pool: Pool, group: int, position: int) -> None:
    """Move the record at ``position`` of the pool into ``group``."""
    for j in range(groups.sums.shape[1]):
        groups.sums[group, j] += pool.columns[j, position]
    groups.sizes[group] += 1
    groups.labels[pool.records[position]] = group
    brute_force.remove(pool, position)


@borrows
def form(groups: Groups, pool: Pool, members: IntArray) -> int:
    """Move the records at the positions ``members`` into a new group, in that order, and return its number."""
    group = groups.number[0]
    groups.number[0] += 1
    for position in members:
        join(groups, pool, group, position)
    return group


@borrows
def form_from_rest(groups: Groups, pool: Pool) -> None:
    """Make all records left in the pool one new group."""
    group = groups.number[0]
    groups.number[0] += 1
    for position in range(pool.counts[EXTENT]):
        if not np.isnan(pool.columns[0, position]):
            join(groups, pool, group, position)


@kernel
def rest_to_nearest_centroid(groups: Groups, pool: Pool, moving: bool) -> None:
    """Let each record left, by index, join the group with the nearest centroid, which stays, or moves if ``moving``."""
    if pool.counts[ALIVE] == 0:
        return
    number, d = groups.number[0], groups.sums.shape[1]
    centroids = np.empty((number, d))
    for group in range(number):
        for j in range(d):
            centroids[group, j] = groups.sums[group, j] / groups.sizes[group]
    for position in range(pool.counts[EXTENT]):
        if np.isnan(pool.columns[0, position]):
            continue
        best = -1
        least = np.inf
        for group in range(number):
            distance = 0.0
            for j in range(d):
                difference = pool.columns[j, position] - centroids[group, j]
                distance += difference * difference
            if distance < least:
                least = distance
                best = group
        join(groups, pool, best, position)
        if moving:
            for j in range(d):
                centroids[best, j] = groups.sums[best, j] / groups.sizes[best]


def assign_rest(groups: Groups, pool: Pool, k: int, moving: bool) -> None:
    """Make one new group of the records left if there are k or more; let fewer join the nearest centroid."""
    if pool.counts[ALIVE] >= k:
        form_from_rest(groups, pool)
    rest_to_nearest_centroid(groups, pool, moving)


@borrows
def growth(groups: Groups, group: int, point: FloatArray) -> float:
    """Return by how much the SSE of ``group`` grows by ``point``, shape (d,): N / (N + 1) · ‖point - centroid‖²."""
    size = groups.sizes[group]
    distance = 0.0
    for j in range(len(point)):
        difference = point[j] - groups.sums[group, j] / size
        distance += difference * difference
    return size / (size + 1) * distance


@borrows
def least_growth(groups: Groups, point: FloatArray) -> tuple[int, float]:
    """Return the group whose SSE grows least if the record ``point``, shape (d,), joins it, and that growth."""
    best = -1
    least = np.inf
    for group in range(groups.number[0]):
        grows = growth(groups, group, point)
        if grows < least:
            least = grows
            best = group
    return best, least


@kernel
def members_by_group(labels: IntArray, number: int) -> tuple[IntArray, IntArray]:
    """Return the records group by group, by index, and where each of ``number`` groups begins, and the end."""
    begins = np.zeros(number + 1, dtype=np.int64)
    for label in labels:
        begins[label + 1] += 1
    begins = np.cumsum(begins)
    filled = begins.copy()
    members = np.empty(len(labels), dtype=np.int64)
    for record in range(len(labels)):
        members[filled[labels[record]]] = record
        filled[labels[record]] += 1
    return members, begins


@kernel
def sse_of(X: FloatArray, members: IntArray) -> float:
    """Return the SSE that the records ``members`` of ``X``, shape (n, d), would have as a group."""
    d = X.shape[1]
    center = np.zeros(d)
    for record in members:
        for j in range(d):
            center[j] += X[record, j]
    center /= len(members)
    sse = 0.0
    for record in members:
        sse += brute_force.squared_distance(X[record], center)
    return sse


@borrows
def take(groups: Groups, pool: TreePool, group: int, record: int) -> None:
    """Move ``record`` of a tree pool into ``group``."""
    for j in range(pool.X.shape[1]):
        groups.sums[group, j] += pool.X[record, j]
        brute_force.add_exactly(pool.totals, j, -pool.X[record, j])
    groups.sizes[group] += 1
    groups.labels[record] = group
    remove_from_tree(pool.tree, record)


@borrows
def form_in_tree(groups: Groups, pool: TreePool, seed: int, others: IntArray) -> int:
    """Move ``seed`` and then ``others`` of a tree pool into a new group; return its number."""
    group = groups.number[0]
    groups.number[0] += 1
    take(groups, pool, group, seed)
    for record in others:
        take(groups, pool, group, record)
    return group


@kernel
def grow(groups: Groups, pool: Pool, group: int, k: int) -> None:
    """Let ``group`` take in what is nearest to its moving centroid, where its SSE grows least, until it has ``k``."""
    while groups.sizes[group] < k:
        brute_force.measure_from(pool, groups.sums[group] / groups.sizes[group])
        join(groups, pool, group, brute_force.nearest(pool.distances, pool.counts[EXTENT], 1)[0])


# The main loop of MDAV+, V-MDAV and MDAV*. The mean of all data is computed once, so the order in which records are to
# be seeds is known from the beginning: the nearest records of many seeds are looked up at a time, on all cores.

#: The share of the unassigned records that are looked up as seeds at a time, and how many they are at least. With more,
#: more of what is looked up is outdated before it is used.
SHARE_OF_SEEDS = 1 / 128
FEWEST_SEEDS = 64


def group_from_outside(
    X: FloatArray,
    k: int,
    least: int,
    make_step: Callable[[Groups, TreePool], Callable[..., None]],
    step_by_passes: Callable[[Groups, Pool, IntArray], None],
    passes: int,
    second: bool = False,
) -> tuple[Groups, Pool]:
    """Take the records of ``X``, shape (n, d), n >= k, into groups around seeds while k or more are unassigned.

    While many are, by the step that ``make_step(groups, pool)`` returns, a function of lists of nearest records, seeds,
    and the number of unassigned records at which to stop; if ``second``, the records nearest to the seeds have lists,
    too. Then, and if fewer than ``least`` records are too few for a tree (see :func:`.neighbor_lists.tree_if_faster`),
    by a step that makes about ``passes`` passes for each seed. Return the groups and the unassigned records.
    """
    n, d = X.shape
    groups = make_groups(n, d, k)
    pool = neighbor_lists.tree_if_faster(X, k, least)
    if pool is None:
        rest = brute_force.make_pool(X)
        order = brute_force.farthest_from_mean_first(rest)
    else:
        # A step that needs the second lists also looks for the best of all groups, and passes over them take long.
        until = k if second else max(k, neighbor_lists.FEWEST)
        width = k - 1 + neighbor_lists.SPARE
        step = make_step(groups, pool)
        order, cache = kd_tree.farthest_from_mean_first(pool), neighbor_lists.empty_cache(n)
        with ThreadPoolExecutor(running.THREADS) as executor:
            while (left := kd_tree.number_left(pool)) >= until:
                checkpoint("forming groups", 1.0 - left / n)
                order = order[pool.tree.slots[order] >= 0]
                seeds = order[: max(FEWEST_SEEDS, int(left * SHARE_OF_SEEDS))]
                # Lists of seeds must be whole, or their first record may be gone.
                cache = neighbor_lists.renew_cache(cache, pool, seeds, width, width, executor)
                if second:
                    both = np.union1d(seeds, cache.lists[:, 0][cache.lists[:, 0] >= 0])
                    cache = neighbor_lists.renew_cache(cache, pool, both, width, k, executor)
                step(cache, seeds, until)
        rest = brute_force.pool_of(X, np.flatnonzero(groups.labels < 0))
        order = order[groups.labels[order] < 0]
    start = 0
    while start < len(order) and (left := int(rest.counts[ALIVE])) >= k:
        checkpoint("forming groups", 1.0 - left / n)
        stop = start + brute_force.passes_at_a_time(left, passes * d)
        step_by_passes(groups, rest, order[start:stop])
        start = stop
    return groups, rest
