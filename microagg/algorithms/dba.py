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

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav_1
from microagg.kernels.grouping.division import dissolve_groups, split_large
from microagg.kernels.grouping.groups import group_neighborhoods
from microagg.validation import FloatArray, IntArray


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
        return group_neighborhoods(X, k, dense=True)


class DBA2(Microaggregator):
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
        return split_large(X, dissolve_groups(X, group_neighborhoods(X, k, dense=True), "reverse", len(X)), k, mdav_1)
