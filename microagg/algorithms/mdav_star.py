"""MDAV*: works inwards like MDAV+, but a record may join an existing group when that costs less.

1. Compute the centroid of all data, once.
2. While at least k records are unassigned: r is the unassigned record farthest from that centroid.

   a. New group: g is r with its k-1 nearest unassigned records; it costs SSE(g) / k a record.
   b. Joining: C is the existing group whose SSE grows least by r. r joins it, and then the unassigned record y nearest
      to r would form a group h with its k-1 nearest unassigned records (r aside); that costs
      (growth of C + SSE(h)) / (k + 1) a record.
   c. If joining costs strictly less, r joins C; otherwise g becomes a group. With no group yet, or exactly k records
      unassigned, g becomes a group.

3. Fewer than k records left: one at a time each joins the group whose SSE grows least, its centroid updated at once.

A group of N records with centroid c grows by N / (N + 1) · ‖x - c‖² when x joins. Groups have no upper size. Ties go
to the lowest record index or group number. Time O(n²d).

Source: Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from microagg.base import Info, Microaggregator
from microagg.kernels.bases.mdav_plus import records_from_the_outside
from microagg.kernels.grouping.centroid_index import Centers, enter, least_growth_below, make_centers, update
from microagg.kernels.grouping.fixed_mean import Step, form_inward
from microagg.kernels.grouping.groups import Groups, form, found_group, join, least_growth, make_groups, sse_of, take
from microagg.kernels.neighbors import crossover as choice
from microagg.kernels.neighbors.brute_force import (
    ALIVE,
    EXTENT,
    Pool,
    make_pool,
    measure_from,
    members_around,
    nearest,
    tidy,
)
from microagg.kernels.neighbors.kd_tree import Search, leaf_of, make_search
from microagg.kernels.neighbors.lookahead import Memo, ask_nearest, look_up_missing, nearest_to
from microagg.kernels.neighbors.tree_pool import ALIVE as LEFT
from microagg.kernels.neighbors.tree_pool import Index
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _group_that_takes(groups: Groups, pool: Pool, members: IntArray) -> int:
    """Return the group that the first of ``members`` had better join, or -1 if they had better form a new one."""
    r, k = members[0], len(members)
    if groups.number[0] == 0 or pool.counts[ALIVE] == k:
        return -1
    group, growth = least_growth(groups, pool.columns[:, r])
    pool.distances[r] = np.nan
    y = nearest(pool.distances, pool.counts[EXTENT], 1)[0]  # the distances are still those from r
    measure_from(pool, pool.columns[:, y].copy())
    pool.distances[r] = np.nan
    pool.distances[y] = -1.0
    without_r = nearest(pool.distances, pool.counts[EXTENT], k)
    new = sse_of(pool, members) / k
    joined = (growth + sse_of(pool, without_r)) / (k + 1)
    return group if joined < new else -1


@njit(cache=True, nogil=True)
def _finish(X: FloatArray, groups: Groups, pool: Pool, order: IntArray, k: int) -> None:
    """Take the records of ``pool`` into groups, seeds in the order ``order``."""
    for record in order:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[record] < 0:
            continue
        tidy(pool)
        r = pool.positions[record]
        members = members_around(pool, r, k)
        group = _group_that_takes(groups, pool, members)
        if group < 0:
            form(groups, pool, members)
        else:
            join(groups, pool, group, r)
    for record in range(len(X)):
        if pool.positions[record] >= 0:
            group, _ = least_growth(groups, X[record])
            join(groups, pool, group, pool.positions[record])


@njit(cache=True, nogil=True)
def _by_passes(X: FloatArray, k: int) -> IntArray:
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    _finish(X, groups, pool, records_from_the_outside(pool), k)
    return groups.labels


@njit(cache=True, nogil=True)
def _sse_of(X: FloatArray, members: IntArray) -> float:
    """Return the SSE that the records ``members`` would have as a group, bitwise as for a pool."""
    d = X.shape[1]
    center = np.zeros(d)
    for record in members:
        for j in range(d):
            center[j] += X[record, j]
    center /= len(members)
    sse = 0.0
    for record in members:
        distance = 0.0
        for j in range(d):
            difference = X[record, j] - center[j]
            distance += difference * difference
        sse += distance
    return sse


@njit(cache=True, nogil=True)
def _cheaper_group(
    groups: Groups, index: Index, near: Memo, centers: Centers, members: IntArray, search: Search
) -> int:
    """Do as :func:`_group_that_takes`, ``members`` given as records."""
    r, k = members[0], len(members)
    if groups.number[0] == 0 or index.counts[LEFT] == k:
        return -1
    new = _sse_of(index.X, members) / k
    y = members[1] if k > 1 else -1
    if k == 1:
        nearest_to(index, near, r, 1, -1, search)
        y = search.found[0]
    without_r = np.empty(k, dtype=np.int64)
    without_r[0] = y
    nearest_to(index, near, y, k - 1, r, search)
    without_r[1:] = search.found[: k - 1]
    # With the cost of the other group known, only groups near enough need be looked at.
    return least_growth_below(centers, groups, index.X[r], k, _sse_of(index.X, without_r), new, search)[0]


@njit(cache=True, nogil=True)
def _form(groups: Groups, index: Index, near: Memo, centers: Centers, seeds: IntArray, k: int, until: int) -> None:
    """Take each of ``seeds`` that is unassigned into a group, old or new, while ``until`` records are unassigned."""
    search = make_search(k + 1)
    members = np.empty(k, dtype=np.int64)
    for seed in seeds:
        if index.counts[LEFT] < until:
            break
        if index.tree.slots[seed] < 0:
            continue
        nearest_to(index, near, seed, k - 1, -1, search)
        members[0] = seed
        members[1:] = search.found[: k - 1]
        group = _cheaper_group(groups, index, near, centers, members, search)
        if group < 0:
            leaf = leaf_of(index.tree, index.tree.slots[seed])
            enter(centers, groups, found_group(groups, index, seed, members[1:]), leaf)
        else:
            take(groups, index, group, seed)
            update(centers, groups, group)


def mdav_star(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV* for ``X``, shape (n, d), n >= k."""
    if not choice.prefers_tree(*X.shape):
        return _by_passes(X, k)

    def make_step(index: Index, groups: Groups) -> Step:
        centers = make_centers(index.tree, len(groups.sizes))

        def step(
            groups: Groups, index: Index, near: Memo, seeds: IntArray, until: int, threads: ThreadPoolExecutor
        ) -> Memo:
            # The record nearest to a seed is asked about too.
            both = np.union1d(seeds, near.lists[:, 0][near.lists[:, 0] >= 0])
            near = look_up_missing(ask_nearest, near, index, both, near.lists.shape[1], k - 1, threads)
            _form(groups, index, near, centers, seeds, k, until)
            return near

        return step

    groups, pool, order = form_inward(X, k, make_step)
    _finish(X, groups, pool, order, k)
    return groups.labels


class MDAVStar(Microaggregator):
    """MDAV* of Thaeter & Reischuk."""

    info = Info(
        key="mdav-star",
        title="MDAV*",
        family="MDAV family",
        summary="Weighs, record by record, whether to open a new group or to join the existing one it disturbs least.",
        year=2018,
        reference="Thaeter & Reischuk 2018",
        sizes="variable",
        complexity="O(n²d)",
        example=(0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2),
        note="Groups have no upper size: capping them at 2k-1 does not reproduce the printed figures. The record y "
        "after r joins is r's nearest unassigned neighbor.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return mdav_star(X, k)
