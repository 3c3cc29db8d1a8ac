"""MDAV+, which V-MDAV is without extensions; its steps are described in :mod:`microagg.algorithms.mdav_plus`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from numba import njit

from microagg.kernels.grouping.fixed_mean import Step, group_while_many, in_stretches
from microagg.kernels.grouping.groups import Groups, form, found_group, rest_to_nearest_centroid
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, members_around, tidy
from microagg.kernels.neighbors.lookahead import NeighborCache, nearest_to
from microagg.kernels.neighbors.tree_pool import TreePool, number_left
from microagg.kernels.neighbors.tree_queries import make_query
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _form_by_passes(groups: Groups, pool: Pool, seeds: IntArray, k: int) -> None:
    """Form a group around each of ``seeds`` that is unassigned, while at least k records are."""
    for record in seeds:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[record] >= 0:
            tidy(pool)
            form(groups, pool, members_around(pool, pool.positions[record], k))


@njit(cache=True, nogil=True)
def _form(groups: Groups, pool: TreePool, cache: NeighborCache, seeds: IntArray, k: int, until: int) -> None:
    """Form a group around each of ``seeds`` that is unassigned, while at least ``until`` records are."""
    query = make_query(k + 1)
    for seed in seeds:
        if number_left(pool) < until:
            break
        if pool.tree.slots[seed] >= 0:
            count = nearest_to(pool, cache, seed, k - 1, -1, query)
            found_group(groups, pool, seed, query.found[:count])


def mdav_plus(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV+ for ``X``, shape (n, d), n >= k."""

    def make_step(groups: Groups, pool: TreePool) -> Step:
        def step(cache: NeighborCache, seeds: IntArray, until: int, _: ThreadPoolExecutor) -> NeighborCache:
            _form(groups, pool, cache, seeds, k, until)
            return cache

        return step

    groups, pool, order = group_while_many(X, k, 9_000 + 600 * k, make_step)
    for seeds in in_stretches(pool, order, k, 1):
        _form_by_passes(groups, pool, seeds, k)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels
