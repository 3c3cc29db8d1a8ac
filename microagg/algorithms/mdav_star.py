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

from typing import Any

import numpy as np
from numba import njit

from microagg.base import Info, Microaggregator
from microagg.kernels.fixed_center import records_from_the_outside
from microagg.kernels.groups import Groups, form, join, least_growth, make_groups, sse_of
from microagg.kernels.pool import ALIVE, EXTENT, Pool, make_pool, measure_from, members_around, nearest, tidy
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
def mdav_star(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV* for ``X``, shape (n, d), n >= k."""
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    for record in records_from_the_outside(pool):
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
    return groups.labels


class MDAVStar(Microaggregator):
    """MDAV*; see :mod:`microagg.algorithms.mdav_star`."""

    info = Info(
        key="mdav-star",
        title="MDAV*",
        family="MDAV family",
        summary="Weighs, record by record, whether to open a new group or to join the existing one it disturbs least.",
        year=2018,
        reference="Thaeter & Reischuk 2018",
        sizes="variable",
        complexity="O(n²d)",
        note="Groups have no upper size: capping them at 2k-1 does not reproduce the printed figures. The record y "
        "after r joins is r's nearest unassigned neighbor.",
    )

    def _partition(self, X: FloatArray, k: int, **_: Any) -> IntArray:
        return mdav_star(X, k)
