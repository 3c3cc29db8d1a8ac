"""GSMS: the neighborhood that leaves the least SSE, in itself and among the rest, becomes a group; then refined.

``gsms``

1. The k-neighborhood g of a record is itself and its k-1 nearest unassigned records.
2. While at least k records are unassigned: of the k-neighborhoods of all u unassigned records U, the one with the least
   SSE(g) + SSE(U without g) forms a group.
3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

The sum in step 2 is SSE(U) - k·u/(u-k) · ‖c(g) - c(U)‖², where c are centroids. It is least where the centroid of
g lies farthest from that of U, so one distance per neighborhood decides.

``gsms-t2`` goes on from there with the second phase of TFRP:

4. Each group, the one with the largest SSE after step 3 first, is dissolved if that lowers the SSE: its records go to
   the nearest centroids of other groups, which may have up to 4k-1 records (see
   :mod:`microagg.kernels.grouping.division`).
5. Each group of 2k or more records is partitioned by TFRP-1 (see :mod:`microagg.algorithms.tfrp`).

Ties go to the lowest record index or group number. A neighborhood is computed again only when it has lost a record
(see :mod:`microagg.kernels.neighbors.brute_force`): time O(n²d) and O(nd) for each one measured again.

Source: Panagiotakis & Tziritas 2013; Mortazavi, Jalili & Gohargazi 2013 (``gsms-t2``).
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import tfrp_1
from microagg.kernels.grouping.division import dissolve_groups, split_large
from microagg.kernels.grouping.groups import group_neighborhoods
from microagg.validation import FloatArray, IntArray


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
        return group_neighborhoods(X, k, dense=False)


class GSMST2(Microaggregator):
    info = Info(
        key="gsms-t2",
        title="GSMS-T2",
        family="Two-phase methods",
        summary="GSMS, whose groups are then dissolved into their neighbors wherever that lowers the SSE.",
        year=2013,
        reference="Panagiotakis & Tziritas 2013; Mortazavi, Jalili & Gohargazi 2013",
        sizes="variable",
        complexity="O(n²d) to O(n³d/k)",
        note="The papers name the second phase of TFRP without its details; it is done here as in TFRP-2, with groups "
        "tried by falling SSE, at most 4k-1 records, and TFRP-1 for splitting.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_large(X, dissolve_groups(X, group_neighborhoods(X, k, dense=False), "sse", 4 * k - 1), k, tfrp_1)
