"""DBA (Density-Based Algorithm): the densest neighborhoods become groups first, then groups are refined.

``dba-1``

1. The k-neighborhood of a record is itself and its k-1 nearest unassigned records; its k-density is one over the
   neighborhood's SSE.
2. While at least k records are unassigned: the neighborhood of the densest one forms a group.
3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

``dba-2`` goes on from there:

4. Each group, the one formed last (the least dense) first, is dissolved if that lowers the SSE: its records go to the
   nearest centroids of other groups, however large (see :mod:`microagg.kernels.grouping.division`).
5. Each group of 2k or more records is partitioned by MDAV-1.

Ties go to the lowest record index or group number. A neighborhood is computed again only when it has lost a record
(see :mod:`microagg.kernels.neighbors.brute_force`): time O(n²d) and O(nd) for each one measured again.

Source: Lin, Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav_1
from microagg.kernels.compiled import kernel
from microagg.kernels.grouping.division import dissolve_groups, split_large
from microagg.kernels.grouping.groups import Groups, form, group_neighborhoods, sse_of
from microagg.kernels.neighbors.brute_force import ALIVE, Neighborhoods, Pool, is_outdated, neighborhood, tidy
from microagg.validation import FloatArray, IntArray


@kernel
def _measure(X: FloatArray, pool: Pool, hoods: Neighborhoods, sse: FloatArray, k: int, start: int, stop: int) -> None:
    """Bring the neighborhoods of the records ``start`` to ``stop`` and their SSE up to date."""
    for record in range(start, stop):
        if is_outdated(hoods, pool, record, k):
            sse[record] = sse_of(X, neighborhood(X, hoods, pool, record, k))


@kernel
def _form_densest(
    X: FloatArray, pool: Pool, groups: Groups, hoods: Neighborhoods, sse: FloatArray, k: int, rounds: int
) -> None:
    """Form at most ``rounds`` groups, each of the densest neighborhood.

    ``sse`` are by record, infinite for those that have left and those that have no neighborhood.
    """
    for _ in range(min(rounds, pool.counts[ALIVE] // k)):
        tidy(pool)
        _measure(X, pool, hoods, sse, k, 0, len(X))
        members = neighborhood(X, hoods, pool, np.argmin(sse), k)
        sse[members] = np.inf
        form(groups, pool, pool.positions[members])


def dba_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of DBA-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    return group_neighborhoods(X, k, np.full(len(X), np.inf), _measure, _form_densest, "measuring densities")


class DBA1(Microaggregator):
    """DBA-1, the first phase of the Density-Based Algorithm."""

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
        return dba_1(X, k)


class DBA2(Microaggregator):
    """DBA-2, both phases of the Density-Based Algorithm."""

    info = Info(
        key="dba-2",
        title="DBA-2",
        family="Two-phase methods",
        summary="DBA-1, whose groups are then dissolved into their neighbors wherever that lowers the SSE.",
        year=2010,
        reference="Lin, Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010",
        sizes="variable",
        complexity="O(n²d) to O(n³d/k)",
        note="Groups are tried last formed first, and may take in any number of records; those of 2k or more are split "
        "by MDAV-1, which the printed figures confirm.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_large(X, dissolve_groups(X, dba_1(X, k), "reverse", len(X)), k, mdav_1)
