"""DBA (Density-Based Algorithm) and GSMS: k-neighborhoods become groups, the best one first, and are then refined.

1. The k-neighborhood g of a record is itself and its k-1 nearest unassigned records.
2. While at least k records are unassigned, the best k-neighborhood of an unassigned record forms a group:

   ``dba-1``: the densest one; its k-density is one over its SSE.

   ``gsms``: of all unassigned records U the one with the least SSE(g) + SSE(U without g). With u records in U and
   centroids c, this sum is SSE(U) - k·u/(u-k) · ‖c(g) - c(U)‖². It is least where the centroid of g lies farthest from
   that of U, so one distance per neighborhood decides.
3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

``dba-2`` and ``gsms-t2`` go on from there:

4. Each group is dissolved if that lowers the SSE: its records go to the nearest centroids of other groups (see
   :mod:`microagg.kernels.grouping.division`). ``dba-2``: the group formed last (the least dense) is tried first, and
   groups may take in any number of records. ``gsms-t2``: the group with the largest SSE after step 3 is tried first,
   and groups may have up to 4k-1 records, as in TFRP.
5. Each group of 2k or more records is partitioned: by MDAV-1 (``dba-2``), by TFRP-1 (``gsms-t2``).

Ties go to the lowest record index or group number. A neighborhood is computed again only when it has lost a record:
time O(n²d) and O(nd) for each one measured again.

Sources: Lin, Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010 (``dba-1`` and ``dba-2``); Panagiotakis &
Tziritas 2013 (``gsms``); Mortazavi, Jalili & Gohargazi 2013 (``gsms-t2``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav_1, tfrp_1
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.division import dissolve_groups, split_large
from microagg.kernels.grouping.groups import Groups, form, make_groups, rest_to_nearest_centroid, sse_of
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# The k-neighborhood of every unassigned record, itself and its k-1 nearest unassigned ones, nearest first, kept up to
# date for DBA and GSMS. It changes only when one of them is assigned. So each record has a list of more of its nearest
# than that, and only when fewer than k of the list are left are all distances measured again, in time O(nd).
#
# Of identical records only the first one left, whose predecessor has been assigned, needs one: all of theirs hold the
# same values in the same order, so whatever is computed from them ties, and ties go to the lowest index.

# How many more records than the neighborhood needs are listed: longer lists take longer to find, shorter ones have to
# be found again more often.
SPARE = 16


class Neighborhoods(NamedTuple):
    """Lists of nearest records; made by :func:`_make_neighborhoods`."""

    # shape (n, k + SPARE) or less: each record, then its nearest unassigned ones when last measured, nearest first
    lists: IntArray
    # shape (n,): the length of each list, some of whose records may have been assigned; 0 if there is none yet
    lengths: IntArray
    twins: IntArray  # shape (n,): the last identical record before each record, -1 if there is none


def _make_neighborhoods(X: FloatArray, k: int) -> Neighborhoods:
    """Return the still unmeasured neighborhoods of the records ``X``, shape (n, d)."""
    n = len(X)
    order = np.lexsort(X.T)  # stable, so identical records follow each other by index
    identical = (X[order[1:]] == X[order[:-1]]).all(axis=1)
    twins = np.full(n, -1)
    twins[order[1:][identical]] = order[:-1][identical]
    return Neighborhoods(np.empty((n, min(n, k + SPARE)), dtype=np.int64), np.zeros(n, dtype=np.int64), twins)


@borrows
def _is_outdated(hoods: Neighborhoods, pool: Pool, record: int, k: int) -> bool:
    """Tell whether ``record`` is unassigned, the first of its kind, and its k-neighborhood has changed or is new."""
    twin = hoods.twins[record]
    if pool.positions[record] < 0 or (twin >= 0 and pool.positions[twin] >= 0):
        return False
    if hoods.lengths[record] < k:
        return True
    slot = 1
    while slot < k and pool.positions[hoods.lists[record, slot]] >= 0:
        slot += 1
    return slot < k


@kernel
def _update(X: FloatArray, hoods: Neighborhoods, pool: Pool, record: int, k: int) -> None:
    """Bring the list of an unassigned record up to date; ``pool.distances`` may change."""
    row = hoods.lists[record]
    n_listed = 0
    for slot in range(hoods.lengths[record]):
        if pool.positions[row[slot]] >= 0:
            row[n_listed] = row[slot]
            n_listed += 1
    if n_listed < k:
        brute_force.measure_from(pool, X[record])
        pool.distances[pool.positions[record]] = np.nan
        row[0] = record
        n_listed = 1
        for position in brute_force.nearest(pool.distances, pool.counts[EXTENT], len(row) - 1):
            row[n_listed] = pool.records[position]
            n_listed += 1
    hoods.lengths[record] = n_listed


@kernel
def _measure_neighborhoods(
    X: FloatArray, pool: Pool, hoods: Neighborhoods, values: FloatArray, k: int, start: int, stop: int
) -> None:
    """Bring the neighborhoods of the records ``start`` to ``stop`` and their ``values`` up to date."""
    d = X.shape[1]
    for record in range(start, stop):
        if _is_outdated(hoods, pool, record, k):
            _update(X, hoods, pool, record, k)
            members = hoods.lists[record, :k]
            for j in range(d):
                values[j, record] = 0.0
                for member in members:
                    values[j, record] += X[member, j]
                values[j, record] /= k
            values[d, record] = sse_of(X, members)


@kernel
def _form_best_neighborhoods(
    X: FloatArray, pool: Pool, groups: Groups, hoods: Neighborhoods, values: FloatArray, k: int, rounds: int,
    dense: bool,
) -> None:  # fmt: skip
    """Form at most ``rounds`` groups, each of the densest neighborhood, or of that farthest from all unassigned."""
    n, d = X.shape
    distances = np.empty(n)
    for _ in range(min(rounds, pool.counts[ALIVE] // k)):
        brute_force.tidy(pool)
        _measure_neighborhoods(X, pool, hoods, values, k, 0, n)
        if dense:
            best = np.argmin(values[d])
        else:
            brute_force.squared_distances(values[:d], 0, n, brute_force.centroid(pool), distances)
            best = brute_force.nearest(-distances, n, 1)[0]
        members = hoods.lists[best, :k]
        for member in members:
            values[0, member], values[d, member] = np.nan, np.inf
        form(groups, pool, pool.positions[members])


def _group_neighborhoods(X: FloatArray, k: int, *, dense: bool) -> IntArray:
    """Return the labels of DBA-1 if ``dense``, else of GSMS, groups numbered as they are formed."""
    n, d = X.shape
    pool, groups, hoods = brute_force.make_pool(X), make_groups(n, d, k), _make_neighborhoods(X, k)
    # The centroid of each record's neighborhood, NaN where there is none, and its SSE, infinite there.
    values = np.vstack([np.full((d, n), np.nan), np.full((1, n), np.inf)])
    step = brute_force.passes_at_a_time(n, d)
    for start in range(0, n, step):
        checkpoint("measuring neighborhoods", start / (2 * n))
        _measure_neighborhoods(X, pool, hoods, values, k, start, min(start + step, n))
    while pool.counts[ALIVE] >= k:
        checkpoint("forming groups", 1.0 - pool.counts[ALIVE] / (2 * n))
        _form_best_neighborhoods(X, pool, groups, hoods, values, k, max(1, step // (8 * k)), dense)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


class DBA1(Microaggregator):
    info = Info(
        key="dba-1",
        title="DBA-1",
        family="Fixed-size heuristics",
        summary="Makes the tightest neighborhood of k unassigned records a group, again and again.",
        year=2010,
        reference="Lin, Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010",
        sizes="fixed",
        complexity="O(n²d) to O(n³d/k)",
        note="Densities count unassigned records only. Left-over records join the group with the nearest centroid, "
        "centroids frozen.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return _group_neighborhoods(X, k, dense=True)


class DBA2(Microaggregator):
    info = Info(
        key="dba-2",
        title="DBA-2",
        family="Two-phase methods",
        summary="DBA-1, whose groups are then dissolved into their neighbors wherever that lowers the SSE.",
        year=2010,
        reference="Lin, Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010",
        complexity="O(n²d) to O(n³d/k)",
        note="Groups are tried last formed first, and may take in any number of records; those of 2k or more are split "
        "by MDAV-1, which the printed figures confirm.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_large(X, dissolve_groups(X, _group_neighborhoods(X, k, dense=True), "reverse", len(X)), k, mdav_1)


class GSMS(Microaggregator):
    info = Info(
        key="gsms",
        title="GSMS",
        family="Fixed-size heuristics",
        summary="Splits off, again and again, the neighborhood of k records that leaves the least loss behind.",
        year=2013,
        reference="Panagiotakis & Tziritas 2013",
        sizes="fixed",
        complexity="O(n²d) to O(n³d/k)",
        note="Left-over records join the group with the nearest centroid, centroids frozen.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return _group_neighborhoods(X, k, dense=False)


class GSMST2(Microaggregator):
    info = Info(
        key="gsms-t2",
        title="GSMS-T2",
        family="Two-phase methods",
        summary="GSMS, whose groups are then dissolved into their neighbors wherever that lowers the SSE.",
        year=2013,
        reference="Panagiotakis & Tziritas 2013; Mortazavi, Jalili & Gohargazi 2013",
        complexity="O(n²d) to O(n³d/k)",
        note="The papers name the second phase of TFRP without its details; it is done here as in TFRP-2, with groups "
        "tried by falling SSE, at most 4k-1 records, and TFRP-1 for splitting.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_large(X, dissolve_groups(X, _group_neighborhoods(X, k, dense=False), "sse", 4 * k - 1), k, tfrp_1)
