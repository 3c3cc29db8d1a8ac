"""MDAV+: groups around the records from the outside in, by their distance from the centroid of all data."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from microagg.kernels.grouping.fixed_mean import form_inward
from microagg.kernels.grouping.groups import Groups, form, found_group, make_groups, rest_to_nearest_centroid
from microagg.kernels.neighbors import crossover as choice
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, centroid, make_pool, measure_from, members_around, tidy
from microagg.kernels.neighbors.kd_tree import make_search
from microagg.kernels.neighbors.lookahead import Memo, nearest_to
from microagg.kernels.neighbors.tree_pool import ALIVE as LEFT
from microagg.kernels.neighbors.tree_pool import Index
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def records_from_the_outside(pool: Pool) -> IntArray:
    """Return all record indices, the farthest from the centroid of all data first, ties by record index.

    ``pool`` must still be complete. The centroid is fixed, so the order stays valid while records leave.
    """
    measure_from(pool, centroid(pool))
    # A stable sort keeps the record order among equals.
    return np.argsort(-pool.distances, kind="mergesort")


@njit(cache=True, nogil=True)
def _finish(groups: Groups, pool: Pool, order: IntArray, k: int) -> None:
    """Take the records of ``pool`` into groups, seeds in the order ``order``."""
    for record in order:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[record] >= 0:
            tidy(pool)
            form(groups, pool, members_around(pool, pool.positions[record], k))
    rest_to_nearest_centroid(groups, pool, False)


@njit(cache=True, nogil=True)
def _by_passes(X: FloatArray, k: int) -> IntArray:
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    _finish(groups, pool, records_from_the_outside(pool), k)
    return groups.labels


@njit(cache=True, nogil=True)
def _form(groups: Groups, index: Index, near: Memo, seeds: IntArray, k: int, until: int) -> None:
    """Form a group around each of ``seeds`` that is unassigned, while at least ``until`` records are."""
    search = make_search(k + 1)
    for seed in seeds:
        if index.counts[LEFT] < until:
            break
        if index.tree.slots[seed] >= 0:
            count = nearest_to(index, near, seed, k - 1, -1, search)
            found_group(groups, index, seed, search.found[:count])


def mdav_plus(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV+ for ``X``, shape (n, d), n >= k."""
    if not choice.prefers_tree(*X.shape):
        return _by_passes(X, k)

    def step(
        groups: Groups, index: Index, near: Memo, seeds: IntArray, until: int, threads: ThreadPoolExecutor
    ) -> Memo:
        _form(groups, index, near, seeds, k, until)
        return near

    groups, pool, order = form_inward(X, k, lambda index, groups: step)
    _finish(groups, pool, order, k)
    return groups.labels
