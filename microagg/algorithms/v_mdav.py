"""MDAV+ and V-MDAV: groups around the records farthest from the mean of all data, of k records or of up to 2k-1.

1. Compute the centroid of all data, once.
2. While at least k records are unassigned: the unassigned record farthest from that centroid and its k-1 nearest
   unassigned records form a group. ``v-mdav`` then extends it, while it has fewer than 2k-1 records:

   a. e is the unassigned record nearest to any member of the group, d_in its squared distance to that member;
   b. d_out is the squared distance from e to its nearest other unassigned record, infinite if there is none;
   c. if d_in < γ · d_out, e joins and the extension goes on; otherwise it ends.

3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen. With ``leftovers`` =
   "record", each by index and at once joins the group of the nearest assigned record; those that have just joined
   count.

γ = 0 never extends and gives MDAV+. Distances in the test are squared, which is what the published tables were made
with, so γ acts as the square of a ratio of distances. Ties go to the lowest record index. Time O(n²d/k), of ``v-mdav``
O(n²d).

Sources: Thaeter & Reischuk, Improving Anonymization Clustering (``mdav-plus``); Solanas & Martínez-Ballesté 2006;
Domingo-Ferrer, Solanas & Martínez-Ballesté 2006, whose Table I needs "record"; Thaeter & Reischuk, whose Table 4 needs
"centroid" (``v-mdav``).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.groups import (
    Groups,
    form,
    form_in_tree,
    group_from_outside,
    join,
    rest_to_nearest_centroid,
    take,
)
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.kernels.neighbors.kd_tree import TreePool, number_left
from microagg.kernels.neighbors.neighbor_lists import NeighborCache, nearest_to
from microagg.kernels.neighbors.tree_queries import NeighborQuery, make_query, search
from microagg.validation import FloatArray, IntArray


@borrows
def _keep_nearer(distances: FloatArray, to_group: FloatArray) -> None:
    for position in range(len(to_group)):
        if distances[position] < to_group[position]:
            to_group[position] = distances[position]


@kernel
def _extend(X: FloatArray, groups: Groups, pool: Pool, group: int, members: IntArray, gamma: float, most: int) -> None:
    """Let the nearest record join ``group`` while it is isolated enough and the group has fewer than ``most``."""
    extent = pool.counts[EXTENT]
    to_group = np.full(extent, np.inf)
    for member in members:
        brute_force.measure_from(pool, X[member])
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
    for seed in seeds:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[seed] < 0:
            continue
        brute_force.tidy(pool)
        positions = brute_force.members_around(pool, pool.positions[seed], k)
        members = pool.records[positions]
        group = form(groups, pool, positions)
        if gamma > 0.0:
            _extend(X, groups, pool, group, members, gamma, 2 * k - 1)


@kernel
def _next_to_join(pool: TreePool, cache: NeighborCache, members: IntArray, gamma: float, query: NeighborQuery) -> int:
    """Return the record that joins the group of ``members``, of which the first is the seed; -1 if none does."""
    tree, X = pool.tree, pool.X
    filled = nearest_to(pool, cache, members[0], 1, query)
    query.values[0] = brute_force.squared_distance(X[query.records[0]], X[members[0]])
    for member in members[1:]:
        filled = search(tree, X[member], -1, 1, -1, np.inf, filled, query)
    e, d_in = query.records[0], query.values[0]
    # Mostly a record of the first leaf is already so near to e that it does not join.
    count = search(tree, X[e], -1, 1, e, 0.0, 0, query)
    if count > 0 and d_in < gamma * query.values[0]:
        search(tree, X[e], -1, 1, e, np.inf, count, query)
    return e if d_in < gamma * (query.values[0] if count > 0 else np.inf) else -1


@kernel
def _form(
    groups: Groups, pool: TreePool, k: int, gamma: float, cache: NeighborCache, seeds: IntArray, until: int
) -> None:
    """Form and extend a group around each of ``seeds`` that is unassigned, while at least ``until`` records are."""
    query = make_query(k + 1)
    members = np.empty(2 * k, dtype=np.int64)
    for seed in seeds:
        if number_left(pool) < until:
            break
        if pool.tree.slots[seed] < 0:
            continue
        size = nearest_to(pool, cache, seed, k - 1, query) + 1
        group = form_in_tree(groups, pool, seed, query.records[: size - 1])
        if gamma <= 0.0:
            continue
        members[0] = seed
        for i in range(1, size):
            members[i] = query.records[i - 1]
        while size < 2 * k - 1 and number_left(pool) > 0:
            joining = _next_to_join(pool, cache, members[:size], gamma, query)
            if joining < 0:
                break
            take(groups, pool, group, joining)
            members[size] = joining
            size += 1


def _labels(X: FloatArray, k: int, gamma: float, leftovers: str = "centroid") -> IntArray:
    """Return the labels of V-MDAV for ``X``, shape (n, d), n >= k; with a ``gamma`` of 0 those of MDAV+."""
    least, passes = (4_200 + 60 * k, 4 * k) if gamma > 0.0 else (9_000 + 600 * k, 1)
    groups, pool = group_from_outside(
        X,
        k,
        least,
        lambda groups, pool: partial(_form, groups, pool, k, gamma),
        lambda groups, pool, seeds: _form_by_passes(X, groups, pool, seeds, k, gamma),
        passes,
    )
    if leftovers == "record":
        _rest_to_nearest_record(X, groups.labels)
    else:
        rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


def _rest_to_nearest_record(X: FloatArray, labels: IntArray) -> None:
    """Let each record left, by index, join the group of the nearest record that has one."""
    for record in np.flatnonzero(labels < 0):
        assigned = np.flatnonzero(labels >= 0)
        distances = sum((X[assigned, j] - X[record, j]) ** 2 for j in range(X.shape[1]))  # in the order of the kernels
        labels[record] = labels[assigned[np.argmin(distances)]]


class MDAVPlus(Microaggregator):
    info = Info(
        key="mdav-plus",
        title="MDAV+",
        family="MDAV family",
        summary="Works inwards from the outside: one group at a time around the record farthest from the fixed center.",
        year=2018,
        reference="Thaeter & Reischuk 2018",
        sizes="fixed",
        complexity="O(n²d/k)",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return _labels(X, k, 0.0)


class VMDAV(Microaggregator):
    info = Info(
        key="v-mdav",
        title="V-MDAV",
        family="MDAV family",
        summary="MDAV+ whose groups grow beyond k when a neighbor is closer to the group than to everything else.",
        year=2006,
        reference="Solanas & Martínez-Ballesté 2006; Thaeter & Reischuk 2018",
        complexity="O(n²d)",
        note="The papers do not say whether γ compares distances or their squares, nor what becomes of the records "
        "left over; squared distances and one of the two rules reproduce nearly all printed figures. The tables of "
        "Thaeter & Reischuk report the best γ of 0, 0.1, …, 2.",
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
        Param(
            "leftovers",
            "choice",
            ("centroid", "record"),
            "centroid",
            "The group that a record left over joins: that with the nearest centroid, as in the tables of Thaeter & "
            "Reischuk, or that of the nearest assigned record, as in those of Domingo-Ferrer et al.",
        ),
    )

    def _partition(self, X: FloatArray, k: int, *, gamma: float, leftovers: str) -> IntArray:
        return _labels(X, k, gamma, leftovers)
