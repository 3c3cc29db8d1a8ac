"""MDAV+: one group a round, around the record farthest from the centroid of all data.

1. Compute the centroid of all data, once.
2. While at least k records are unassigned: the unassigned record farthest from that centroid and its k-1 nearest
   unassigned records form a group.
3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

Ties go to the lowest record index. Time O(n²d/k).

Source: Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numba import njit

from microagg.base import Info, Microaggregator
from microagg.kernels import choice
from microagg.kernels.ahead import Memo, nearest_to
from microagg.kernels.fixed_center import records_from_the_outside
from microagg.kernels.groups import Groups, form, make_groups, rest_to_nearest_centroid
from microagg.kernels.index import ALIVE as LEFT
from microagg.kernels.index import Index, found_group
from microagg.kernels.inward import form_inward
from microagg.kernels.pool import ALIVE, Pool, make_pool, members_around, tidy
from microagg.kernels.tree import make_search
from microagg.validation import FloatArray, IntArray


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


class MDAVPlus(Microaggregator):
    """MDAV+; see :mod:`microagg.algorithms.mdav_plus`."""

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

    def _partition(self, X: FloatArray, k: int, **_: Any) -> IntArray:
        return mdav_plus(X, k)
