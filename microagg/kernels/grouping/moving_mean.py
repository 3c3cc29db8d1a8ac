"""The main loop of MDAV and of CBFS: groups around the records farthest from the mean of those still unassigned.

r is the unassigned record farthest from the centroid of the unassigned, and forms a group with its k-1 nearest; in MDAV
so does s, the one then farthest from r. Few records are grouped by passes over them all.

Many records are grouped in a k-d tree. As the centroid hardly moves from one group to the next, the next r are most
likely the records farthest from where it is now. These are predicted, and their nearest and farthest records are looked
up on all cores (see :mod:`.neighbor_lists`), and so are the nearest of the farthest ones, the next s. Then groups are
formed one after the other until an r comes up that was not predicted. Predictions only save time: what was not looked
up is found in the tree.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.groups import Groups, form, form_in_tree, make_groups
from microagg.kernels.neighbors import brute_force, kd_tree, neighbor_lists, tree_queries
from microagg.kernels.neighbors.brute_force import ALIVE, Pool
from microagg.kernels.neighbors.kd_tree import LEAF, TreePool, number_left
from microagg.kernels.neighbors.neighbor_lists import NeighborCache, farthest_from, nearest_to
from microagg.kernels.neighbors.tree_queries import NeighborQuery, make_query
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: From how many records on a tree pays, at best: so many, and so many more for each that a group has; see
#: :mod:`microagg.kernels.neighbors.neighbor_lists`. Measured on two cores, k = 3 to 50, uniform data, EIA and Census.
LEAST_IN_PAIRS = 11_000, 400
LEAST_SINGLY = 6_500, 400

#: How many r are predicted, at first and at most. With more, what was looked up for the last ones is often outdated.
PREDICTED_AT_FIRST = 8
PREDICTED_AT_MOST = 128

#: How many records farthest from an r are looked up: s, and another one in case s is taken before.
FARTHEST_LISTED = 2

# How many passes over the unassigned records a round makes, at most.
_PASSES = 3


@kernel
def _form_by_passes(groups: Groups, pool: Pool, k: int, until: int, in_pairs: bool) -> None:
    """Form a group of k, or two, in each round while at least ``until`` (k, or 2k, or more) records are unassigned."""
    while pool.counts[ALIVE] >= until:
        brute_force.tidy(pool)
        brute_force.measure_from(pool, brute_force.centroid(pool))
        r = brute_force.farthest(pool)
        brute_force.measure_from(pool, brute_force.point_at(pool, r))
        s_record = pool.records[brute_force.farthest(pool, r)] if in_pairs else -1
        form(groups, pool, brute_force.nearest_to_seed(pool, r, k))
        if in_pairs:
            s = pool.positions[s_record]
            if s < 0:
                s = brute_force.farthest(pool)  # s joined the group of r; the distances in the pool are still from r
            form(groups, pool, brute_force.members_around(pool, s, k))


def form_group(groups: Groups, pool: Pool, k: int) -> None:
    """Form one group: the unassigned record farthest from the centroid of the unassigned, and its k-1 nearest."""
    _form_by_passes(groups, pool, k, pool.counts[ALIVE], False)


def form_groups(X: FloatArray, k: int, until: int, in_pairs: bool) -> tuple[Groups, Pool]:
    """Form groups of k of ``X``, shape (n, d), in pairs or singly, while ``until`` or more records are unassigned."""
    groups, pool = _group_while_many(X, k, until, in_pairs)
    n, d = X.shape
    taken = 2 * k if in_pairs else k
    while (left := int(pool.counts[ALIVE])) >= until:
        checkpoint("forming groups", 1.0 - left / n)
        rounds = brute_force.passes_at_a_time(left, _PASSES * d)
        _form_by_passes(groups, pool, k, max(until, left - rounds * taken + 1), in_pairs)
    return groups, pool


def _group_while_many(X: FloatArray, k: int, until: int, in_pairs: bool) -> tuple[Groups, Pool]:
    """Like :func:`form_groups`, but only while many records are unassigned; no groups where passes are faster."""
    n, d = X.shape
    groups = make_groups(n, d, k)
    least, for_each_k = LEAST_IN_PAIRS if in_pairs else LEAST_SINGLY
    pool = neighbor_lists.tree_if_faster(X, k, least + for_each_k * k)
    if pool is None:
        return groups, brute_force.make_pool(X)
    until = max(until, neighbor_lists.FEWEST)
    near, far = neighbor_lists.empty_cache(n), neighbor_lists.empty_cache(n)
    outermost = make_farthest_list(pool)
    most, marked = PREDICTED_AT_FIRST, np.inf
    with ThreadPoolExecutor(running.THREADS) as executor:
        while (left := number_left(pool)) >= until:
            checkpoint("forming groups", 1.0 - left / n)
            outermost = make_farthest_list(pool) if is_used_up(pool, outermost) else without_assigned(pool, outermost)
            if in_pairs and left < _RENEWED[len(pool.tree.landmarks) > 1] * marked:
                tree = kd_tree.with_landmarks(pool.tree, landmarks_among(pool, outermost), executor)
                pool, marked = pool._replace(tree=tree), left
            seeds = farthest_of_list(pool, outermost, min(most, left // k))
            near, far = _look_ahead(pool, near, far, seeds, k, in_pairs, executor)
            looked_up = far.rows if in_pairs else near.rows
            # The fewer are predicted at a time, the more that were not are let pass.
            unpredicted = PREDICTED_AT_MOST // most - 1
            predicted = _form(groups, pool, outermost, near, far, looked_up, k, until, in_pairs, unpredicted)
            # Where predictions fail, fewer are made, and more is left to the tree.
            if 8 * predicted < len(seeds) or predicted == 0:
                most = max(most // 2, 1)
            elif 2 * predicted >= most:
                most = min(2 * most, PREDICTED_AT_MOST)
    rest = brute_force.pool_of(X, np.flatnonzero(pool.tree.slots >= 0))
    # The sums of the rest alone might differ in the last bit from those that the removals have left.
    rest.totals[:] = pool.totals
    return groups, rest


def _look_ahead(
    pool: TreePool, near: NeighborCache, far: NeighborCache, seeds: IntArray, k: int, in_pairs: bool,
    executor: ThreadPoolExecutor,
) -> tuple[NeighborCache, NeighborCache]:  # fmt: skip
    """Look up what ``seeds`` as r will need: their farthest records, and the nearest of both."""
    if in_pairs:
        far = neighbor_lists.renew_cache(far, pool, seeds, FARTHEST_LISTED, 1, executor, far=True)
        opposite = far.lists[far.rows[seeds], 0]
        seeds = np.union1d(seeds, opposite[(opposite >= 0) & (pool.tree.slots[opposite] >= 0)])
    return neighbor_lists.renew_cache(near, pool, seeds, k - 1 + neighbor_lists.SPARE, k - 1, executor), far


@kernel
def _form(
    groups: Groups, pool: TreePool, outermost: FarthestList, near: NeighborCache, far: NeighborCache,
    looked_up: IntArray, k: int, until: int, in_pairs: bool, unpredicted: int,
) -> int:  # fmt: skip
    """Form groups, or pairs of them, until the next r was not predicted, but let the first ``unpredicted`` pass.

    Predicted are the records that are not -1 in ``looked_up``, shape (n,). It also ends when fewer than ``until``
    records are unassigned or the list of the farthest is used up. Return around how many predicted r groups were
    formed.
    """
    query = make_query(k + 1)
    predicted = 0
    while number_left(pool) >= until:
        r = farthest_from_mean(pool, outermost, query)
        if r < 0:
            break
        if looked_up[r] >= 0:
            predicted += 1
        elif unpredicted > 0:
            unpredicted -= 1
        else:
            break
        count = nearest_to(pool, near, r, k - 1, query)
        form_in_tree(groups, pool, r, query.records[:count])
        if in_pairs:
            # s is looked for after r's group has been formed. Had it been chosen before, it would be the same record
            # or, if that went with r, the record now farthest from r would take its place.
            s = farthest_from(pool, far, r, query)
            count = nearest_to(pool, near, s, k - 1, query)
            form_in_tree(groups, pool, s, query.records[:count])
    return predicted


# The record farthest from the centroid of the unassigned records, while that centroid moves. Those farthest from where
# it once was are listed in the order of that distance. No record can be farther from where it is now than that distance
# plus the distance that it has moved since, so a few records from the head of the list suffice until it has moved too
# far. Unlike the corners of boxes, this bound is tight for the shell of a ball, which is what is left once the records
# farthest from the mean have been taken. Where it fails at once, as for records on a sphere or many identical ones, the
# tree is asked until that has cost as much as a new list.

# How many of n unassigned records are outermost: about n ** (2 / 3), so that making lists and reading them cost alike.
_EXPONENT = 2.0 / 3.0
_FEWEST = 256

# Far more than rounding can amount to, relative to the distances themselves.
_SLACK = 1e-12

# Positions of FarthestList.counts.
_LEAVES = 0  # leaves of the tree that were visited, or would have been without the list
_FAILED = 1  # whether the centroid has moved too far for the list

# Leaves that a query for the record farthest from the centroid visits, roughly.
_LEAVES_PER_QUERY = 32


class FarthestList(NamedTuple):
    """Records by their distance from a former centroid, farthest first; made by :func:`make_farthest_list`."""

    records: IntArray  # shape (m,)
    distances: FloatArray  # shape (m,): not squared
    beyond: float  # no record that was not listed was farther than this; -1 if all were listed
    origin: FloatArray  # shape (d,): the former centroid
    counts: IntArray  # shape (2,): how many leaves a new list may cost by now, and whether this one has failed


def make_farthest_list(pool: TreePool) -> FarthestList:
    """Return the list of the unassigned records farthest from their centroid."""
    origin = kd_tree.centroid(pool)
    members = np.flatnonzero(pool.tree.slots >= 0)
    distances, left = np.sqrt(brute_force.squared_lengths(pool.X[members] - origin)), len(members)
    most = max(_FEWEST, int(left**_EXPONENT))
    beyond = -1.0
    if most < left:
        beyond = float(np.partition(distances, left - most)[left - most])
        # Those just as far are left out, as there may be any number of them.
        members, distances = members[distances > beyond], distances[distances > beyond]
    order = np.argsort(-distances, kind="stable")
    return FarthestList(members[order], distances[order], beyond, origin, np.zeros(2, dtype=np.int64))


@borrows
def is_used_up(pool: TreePool, outermost: FarthestList) -> bool:
    """Return whether the list has failed, and a new one is worth the pass over all records that it takes."""
    return outermost.counts[_FAILED] > 0 and outermost.counts[_LEAVES] * LEAF >= number_left(pool)


def without_assigned(pool: TreePool, outermost: FarthestList) -> FarthestList:
    """Return the list without the records that have been assigned since."""
    left = pool.tree.slots[outermost.records] >= 0
    return outermost._replace(records=outermost.records[left], distances=outermost.distances[left])


def farthest_of_list(pool: TreePool, outermost: FarthestList, count: int) -> IntArray:
    """Return the ``count`` records (or all) of the list, none assigned, that are farthest from the centroid now."""
    center = kd_tree.centroid(pool)
    stop = len(outermost.records)
    if stop > count:
        # Each distance may have grown or shrunk by as much as the centroid has moved.
        moved = np.linalg.norm(center - outermost.origin)
        stop = np.searchsorted(-outermost.distances, 2.0 * moved - outermost.distances[count - 1], side="right")
    distances = np.linalg.norm(pool.X[outermost.records[:stop]] - center, axis=1)
    return outermost.records[np.argsort(-distances, kind="stable")[:count]]


@kernel
def farthest_from_mean(pool: TreePool, outermost: FarthestList, query: NeighborQuery) -> int:
    """Return the unassigned record farthest from their centroid, ties by index; -1 if the list is used up."""
    center = kd_tree.centroid(pool)
    if not outermost.counts[_FAILED]:
        record = _farthest_if_listed(pool, outermost, center)
        if record >= 0:
            outermost.counts[_LEAVES] += _LEAVES_PER_QUERY
            return record
        outermost.counts[_FAILED] = 1
    if is_used_up(pool, outermost):
        return -1
    visited = query.visited[0]
    tree_queries.farthest(pool.tree, center, 1, -1, query)
    outermost.counts[_LEAVES] += query.visited[0] - visited
    return query.records[0]


@borrows
def _farthest_if_listed(pool: TreePool, outermost: FarthestList, center: FloatArray) -> int:
    """Return the record farthest from ``center``, the centroid; -1 if it need not be one of the list."""
    moved = np.sqrt(brute_force.squared_distance(center, outermost.origin))
    best, largest = -1, -1.0
    for i in range(len(outermost.records)):
        reach = (outermost.distances[i] + moved) * (1.0 + _SLACK)
        if reach * reach < largest:
            return best
        record = outermost.records[i]
        if pool.tree.slots[record] >= 0:
            distance = brute_force.squared_distance(pool.X[record], center)
            if distance > largest or (distance == largest and record < best):
                best, largest = record, distance
    if outermost.beyond < 0.0:
        return best
    reach = (outermost.beyond + moved) * (1.0 + _SLACK)
    return best if reach * reach < largest else -1


# The record farthest from r. The tree finds it by the distances of its nodes from a landmark near r. The next r are
# those of the list, so the landmarks are means of records on the list that are near each other.

# For how many unassigned records there is a landmark, and how many landmarks there are, at least and at most.
_RECORDS_PER_LANDMARK = 2_000
_LANDMARKS = 16, 64

# With fewer attributes the tree visits few leaves anyway.
_LEAST_ATTRIBUTES = 8

# Landmarks serve if the squared distances from them to the records near them are this share of those from the centroid.
_NEAR = 0.35

# New ones are made once the unassigned records are fewer than this share of those before: with the centroid alone, or
# with others, which take longer.
_RENEWED = 0.97, 0.9


def landmarks_among(pool: TreePool, outermost: FarthestList) -> FloatArray:
    """Return landmarks for the tree: the former centroid, and some among the records of the list, none assigned."""
    least, most = _LANDMARKS
    number = min(max(number_left(pool) // _RECORDS_PER_LANDMARK, least), most)
    if len(outermost.records) < number or pool.X.shape[1] < _LEAST_ATTRIBUTES:
        return outermost.origin[np.newaxis]
    # Records that are neighbors in the tree are near each other.
    order = outermost.records[np.argsort(pool.tree.slots[outermost.records])]
    points, starts = pool.X[order], np.linspace(0, len(order), number, endpoint=False).astype(np.int64)
    counts = np.diff(starts, append=len(order))
    means = np.add.reduceat(points, starts) / counts[:, np.newaxis]
    spread = np.square(points - np.repeat(means, counts, axis=0)).sum()
    is_near = spread < _NEAR * np.square(outermost.distances).sum()
    return np.vstack([outermost.origin, means]) if is_near else outermost.origin[np.newaxis]
