"""V-MDAV: MDAV+ whose groups may take in close neighbors, up to 2k-1 records.

1. Compute the centroid of all data, once.
2. While at least k records are unassigned: the unassigned record farthest from that centroid and its k-1 nearest
   unassigned records form a group. Then, while the group has fewer than 2k-1 records:

   a. e is the unassigned record nearest to any member of the group, d_in its squared distance to that member;
   b. d_out is the squared distance from e to its nearest other unassigned record, infinite if there is none;
   c. if d_in < γ · d_out, e joins and the extension goes on; otherwise it ends.

3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

γ = 0 never extends and gives MDAV+. Distances in the test are squared, which is what the published tables were made
with, so γ acts as the square of a ratio of distances. Ties go to the lowest record index. Time O(n²d).

Sources: Solanas & Martínez-Ballesté 2006; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Thaeter & Reischuk.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from microagg.base import Info, Microaggregator, Param
from microagg.kernels import choice
from microagg.kernels.ahead import Memo, look_up, nearest_to, no_memo, recall
from microagg.kernels.fixed_center import records_from_the_outside
from microagg.kernels.groups import Groups, form, join, make_groups, rest_to_nearest_centroid
from microagg.kernels.index import ALIVE as LEFT
from microagg.kernels.index import Index, found_group, take
from microagg.kernels.inward import form_inward
from microagg.kernels.pool import ALIVE, EXTENT, Pool, make_pool, measure_from, members_around, nearest, tidy
from microagg.kernels.tree import Search, make_search, nearest_to_any
from microagg.kernels.tree import nearest as nearest_left
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _keep_nearer(distances: FloatArray, to_group: FloatArray) -> None:
    for position in range(len(to_group)):
        if distances[position] < to_group[position]:
            to_group[position] = distances[position]


@njit(cache=True, nogil=True)
def _extend(groups: Groups, pool: Pool, group: int, members: FloatArray, gamma: float, most: int) -> None:
    """Let unassigned records join ``group`` while they are closer to it, by the factor ``gamma``, than to the rest.

    ``members`` are the attributes of the group's records, shape (size, d).
    """
    extent = pool.counts[EXTENT]
    to_group = np.full(extent, np.inf)
    for member in members:
        measure_from(pool, member)
        _keep_nearer(pool.distances, to_group)
    while groups.sizes[group] < most and pool.counts[ALIVE] > 0:
        e = nearest(to_group, extent, 1)[0]
        measure_from(pool, pool.columns[:, e].copy())
        pool.distances[e] = np.nan
        others = nearest(pool.distances, extent, 1)
        d_out = pool.distances[others[0]] if len(others) else np.inf
        if not to_group[e] < gamma * d_out:
            break
        join(groups, pool, group, e)
        to_group[e] = np.inf
        _keep_nearer(pool.distances, to_group)


@njit(cache=True, nogil=True)
def _finish(X: FloatArray, groups: Groups, pool: Pool, order: IntArray, k: int, gamma: float) -> None:
    """Take the records of ``pool`` into groups, seeds in the order ``order``."""
    for record in order:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[record] < 0:
            continue
        tidy(pool)
        positions = members_around(pool, pool.positions[record], k)
        members = X[pool.records[positions]]
        group = form(groups, pool, positions)
        if gamma > 0.0:
            _extend(groups, pool, group, members, gamma, 2 * k - 1)
    rest_to_nearest_centroid(groups, pool, False)


@njit(cache=True, nogil=True)
def _by_passes(X: FloatArray, k: int, gamma: float) -> IntArray:
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    _finish(X, groups, pool, records_from_the_outside(pool), k, gamma)
    return groups.labels


@njit(cache=True, nogil=True)
def _ask_beyond(index: Index, near: Memo, k: int, seeds: IntArray, lists: IntArray) -> None:
    """Fill each row of ``lists`` with the records nearest to any of a seed and its k-1 nearest, these aside."""
    search = make_search(lists.shape[1])
    members = np.empty(k, dtype=np.int64)
    for i in range(len(seeds)):
        members[0] = seeds[i]
        members[1:] = near.lists[near.rows[seeds[i]], : k - 1]
        count = nearest_to_any(index.tree, index.X[members], lists.shape[1], members, search)
        lists[i, :count] = search.found[:count]


@njit(cache=True, nogil=True)
def _squared(one: FloatArray, other: FloatArray) -> float:
    distance = 0.0
    for j in range(len(one)):
        difference = one[j] - other[j]
        distance += difference * difference
    return distance


@njit(cache=True, nogil=True)
def _next_in(
    index: Index, points: FloatArray, beyond: Memo, seed: int, foreseen: bool, search: Search
) -> tuple[int, float]:
    """Return the unassigned record nearest to any of ``points``, shape (m, d), and its squared distance.

    If they were ``foreseen``, it is the first of the list of ``seed`` that is left, if one is.
    """
    if foreseen and recall(beyond, index.tree, seed, 1, -1, search.found) == 1:
        e = search.found[0]
        d_in = np.inf
        for point in points:
            d_in = min(d_in, _squared(index.X[e], point))
        return e, d_in
    nearest_to_any(index.tree, points, 1, search.found[:0], search)
    return search.found[0], search.values[0]


@njit(cache=True, nogil=True)
def _stays_out(index: Index, e: int, d_in: float, gamma: float, witnesses: IntArray, search: Search) -> bool:
    """Return whether ``e`` is not so near to the group that it joins.

    One of ``witnesses``, records that may be near, can tell that; only if none does is the nearest of all looked for.
    """
    for other in witnesses:
        left = other >= 0 and other != e and index.tree.slots[other] >= 0
        if left and not d_in < gamma * _squared(index.X[e], index.X[other]):
            return True
    count = nearest_left(index.tree, index.X[e], 1, e, search)
    return not d_in < gamma * (search.values[0] if count > 0 else np.inf)


@njit(cache=True, nogil=True)
def _form(
    groups: Groups, index: Index, near: Memo, beyond: Memo, seeds: IntArray, k: int, gamma: float, until: int
) -> None:
    """Form and extend a group around each of ``seeds`` that is unassigned, while ``until`` records are."""
    search = make_search(k + 1)
    points = np.empty((2 * k, index.X.shape[1]))
    for seed in seeds:
        if index.counts[LEFT] < until:
            break
        if index.tree.slots[seed] < 0:
            continue
        count = nearest_to(index, near, seed, k - 1, -1, search)
        members = search.found[:count].copy()
        group = found_group(groups, index, seed, members)
        if gamma <= 0.0:
            continue
        witnesses = near.lists[near.rows[seed]]
        foreseen = np.array_equal(members, witnesses[: k - 1])
        points[0] = index.X[seed]
        points[1:k] = index.X[members]
        while groups.sizes[group] < 2 * k - 1 and index.counts[LEFT] > 0:
            size = groups.sizes[group]
            e, d_in = _next_in(index, points[:size], beyond, seed, foreseen and size == k, search)
            if _stays_out(index, e, d_in, gamma, witnesses, search):
                break
            take(groups, index, group, e)
            points[size] = index.X[e]


def v_mdav(X: FloatArray, k: int, gamma: float) -> IntArray:
    """Return the labels of V-MDAV for ``X``, shape (n, d), n >= k."""
    if not choice.prefers_tree(*X.shape):
        return _by_passes(X, k, gamma)
    beyond = no_memo(len(X))

    def step(
        groups: Groups, index: Index, near: Memo, seeds: IntArray, until: int, threads: ThreadPoolExecutor
    ) -> Memo:
        nonlocal beyond
        if gamma > 0.0:
            beyond = look_up(lambda index, *part: _ask_beyond(index, near, k, *part), beyond, index, seeds, 1, threads)
        _form(groups, index, near, beyond, seeds, k, gamma, until)
        return near

    groups, pool, order = form_inward(X, k, lambda index, groups: step)
    _finish(X, groups, pool, order, k, gamma)
    return groups.labels


class VMDAV(Microaggregator):
    """V-MDAV; see :mod:`microagg.algorithms.v_mdav`.

    Parameters
    ----------
    k : int, default 3
        The minimum number of records in a group.
    gamma : float, default 0.2
        How readily a group takes in a further record; 0 never does.
    """

    info = Info(
        key="v-mdav",
        title="V-MDAV",
        family="MDAV family",
        summary="MDAV+ whose groups grow beyond k when a neighbor is closer to the group than to everything else.",
        year=2006,
        reference="Solanas & Martínez-Ballesté 2006; Thaeter & Reischuk 2018",
        sizes="variable",
        complexity="O(n²d)",
        note="The papers do not say whether γ compares distances or their squares; squared distances reproduce all "
        "printed figures. The tables of Thaeter & Reischuk report the best γ of 0, 0.1, …, 2.",
    )
    params = (
        Param(
            "gamma",
            "float",
            (0.0, None),
            0.2,
            "How readily a group takes in a further record: it does if its squared distance to the group is less than "
            "γ times that to the nearest record outside. 0 never does.",
            symbol="γ",
            grid=tuple(step / 10 for step in range(21)),
        ),
    )

    def __init__(self, k: int = 3, *, gamma: float = 0.2) -> None:
        super().__init__(k)
        self.gamma = gamma

    def _partition(self, X: FloatArray, k: int, **parameters: Any) -> IntArray:
        return v_mdav(X, k, parameters["gamma"])
