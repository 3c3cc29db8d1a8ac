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

With many records, the k-1 nearest are found in a tree. e itself need hardly ever be found: it only joins if no other
record is near it, and of almost every record some near one is known. Instead, the nearest of the few records that may
be isolated enough is looked for (see :mod:`microagg.kernels.grouping.fixed_mean`), which visits far less of the tree.

Sources: Solanas & Martínez-Ballesté 2006; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Thaeter & Reischuk.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.kernels.bases import mdav_plus
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.fixed_mean import (
    IsolationBounds,
    Step,
    group_while_many,
    in_stretches,
    make_isolation_bounds,
    nearest_isolated,
    take_and_renew,
)
from microagg.kernels.grouping.groups import Groups, form, join, rest_to_nearest_centroid
from microagg.kernels.neighbors import brute_force, tree_queries
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.kernels.neighbors.kd_tree import NO_INDEX, TreePool, number_left
from microagg.kernels.neighbors.lookahead import NeighborCache, nearest_to
from microagg.kernels.neighbors.tree_queries import NeighborQuery, make_query
from microagg.validation import FloatArray, IntArray


@borrows
def _keep_nearer(distances: FloatArray, to_group: FloatArray) -> None:
    for position in range(len(to_group)):
        if distances[position] < to_group[position]:
            to_group[position] = distances[position]


@kernel
def _extend(groups: Groups, pool: Pool, group: int, members: FloatArray, gamma: float, most: int) -> None:
    """Let the nearest unassigned record join ``group`` while it is isolated enough and the group smaller than ``most``.

    ``members`` are the attributes of the group's records, shape (size, d).
    """
    extent = pool.counts[EXTENT]
    to_group = np.full(extent, np.inf)
    for i in range(len(members)):
        brute_force.measure_from(pool, members[i])
        _keep_nearer(pool.distances, to_group)
    while groups.sizes[group] < most and pool.counts[ALIVE] > 0:
        e = brute_force.position_of_least(to_group, extent)
        brute_force.measure_from(pool, brute_force.point_at(pool, e))
        pool.distances[e] = np.nan
        other = brute_force.position_of_least(pool.distances, extent)
        d_out = pool.distances[other] if other >= 0 else np.inf
        if not to_group[e] < gamma * d_out:
            break
        join(groups, pool, group, e)
        to_group[e] = np.inf
        _keep_nearer(pool.distances, to_group)


@kernel
def _form_by_passes(X: FloatArray, groups: Groups, pool: Pool, seeds: IntArray, k: int, gamma: float) -> None:
    """Form and extend a group around each of ``seeds`` that is unassigned, while at least k records are."""
    for record in seeds:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[record] < 0:
            continue
        brute_force.tidy(pool)
        positions = brute_force.members_around(pool, pool.positions[record], k)
        members = X[pool.records[positions]]
        group = form(groups, pool, positions)
        _extend(groups, pool, group, members, gamma, 2 * k - 1)


@kernel
def _next_to_join(
    pool: TreePool, isolation: IsolationBounds, points: FloatArray, gamma: float, query: NeighborQuery
) -> int:
    """Return the record that joins the group with members ``points``, shape (m, d); -1 if none does.

    If the record nearest to the group joins, it is also the nearest of those that may be isolated enough.
    """
    e, d_in, passed = nearest_isolated(pool.tree, isolation, points, gamma, query)
    if e == NO_INDEX:
        return -1
    count = tree_queries.nearest(pool.tree, pool.X[e], 1, e, query)
    if not d_in < gamma * (query.values[0] if count > 0 else np.inf):
        return -1
    if not d_in < passed:
        for point in points:
            tree_queries.nearest(pool.tree, point, 1, -1, query)
            if tree_queries.is_better(query.values[0], query.found[0], d_in, e):
                return -1
    return e


@kernel
def _form(
    groups: Groups, pool: TreePool, cache: NeighborCache, isolation: IsolationBounds, seeds: IntArray, k: int,
    gamma: float, until: int,
) -> None:  # fmt: skip
    """Form and extend a group around each of ``seeds`` that is unassigned, while at least ``until`` records are."""
    query = make_query(max(k + 1, isolation.neighbors.shape[1]))
    points = np.empty((2 * k, pool.X.shape[1]))
    for seed in seeds:
        if number_left(pool) < until:
            break
        if pool.tree.slots[seed] < 0:
            continue
        count = nearest_to(pool, cache, seed, k - 1, -1, query)
        members = query.found[:count].copy()
        group = groups.number[0]
        groups.number[0] += 1
        joining, size = seed, 0
        while joining >= 0:
            for j in range(points.shape[1]):
                points[size, j] = pool.X[joining, j]
            take_and_renew(groups, pool, isolation, group, joining, query)
            size += 1
            if size < k:
                joining = members[size - 1]
            elif size < 2 * k - 1 and number_left(pool) > 0:
                joining = _next_to_join(pool, isolation, points[:size], gamma, query)
            else:
                joining = -1


class VMDAV(Microaggregator):
    """V-MDAV of Solanas & Martínez-Ballesté."""

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
            "How readily a group accepts a further record: it does if the record's squared distance to the group is "
            "less than γ times that to the nearest record outside. 0 accepts none.",
            symbol="γ",
            grid=tuple(step / 10 for step in range(21)),
        ),
    )

    def _partition(self, X: FloatArray, k: int, *, gamma: float) -> IntArray:
        if gamma <= 0.0:
            return mdav_plus(X, k)

        def make_step(groups: Groups, pool: TreePool) -> Step:
            isolation = make_isolation_bounds(pool)

            def step(cache: NeighborCache, seeds: IntArray, until: int, _: ThreadPoolExecutor) -> NeighborCache:
                _form(groups, pool, cache, isolation, seeds, k, gamma, until)
                return cache

            return step

        groups, pool, order = group_while_many(X, k, 4_200 + 60 * k, make_step)
        for seeds in in_stretches(pool, order, k, 4 * k):
            _form_by_passes(X, groups, pool, seeds, k, gamma)
        rest_to_nearest_centroid(groups, pool, False)
        return groups.labels
