"""TFRP (Two Fixed Reference Points): groups at the records farthest from two corners of the data, then refined.

``tfrp-1``

1. R₁ has the smallest of all values of X in every attribute, R₂ the largest.
2. While at least k records are unassigned: the one farthest from R₁ and its k-1 nearest unassigned records form a
   group; the next group lies at the one farthest from R₂, the next again at R₁, and so on.
3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

``tfrp-2`` goes on from there:

4. Each group, the one with the largest SSE after step 3 first, is dissolved if that lowers the SSE: its records go to
   the nearest centroids of other groups, which may grow to 4k-1 records (see
   :mod:`microagg.kernels.grouping.division`).
5. Each group of 2k or more records is partitioned by steps 1 to 3, with its own R₁ and R₂.

Ties go to the lowest record index or group number. Time O(n²d/k).

Source: Chang, Li & Huang 2007, as given in Kabir, Wang & Zhang 2010.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import tfrp_1
from microagg.kernels.grouping.division import dissolve_groups, split_large
from microagg.validation import FloatArray, IntArray


class TFRP1(Microaggregator):
    info = Info(
        key="tfrp-1",
        title="TFRP-1",
        family="Fixed-size heuristics",
        summary="One group at a time around the record farthest from one of two fixed corners of the data, in turn.",
        year=2007,
        reference="Chang, Li & Huang 2007, as given in Kabir, Wang & Zhang 2010",
        sizes="fixed",
        complexity="O(n²d/k)",
        note="The two reference points have the smallest and the largest of all values in every attribute; each "
        "attribute's own extremes miss the printed figures. The printed figures for EIA leave UTILITYID out.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return tfrp_1(X, k)


class TFRP2(Microaggregator):
    info = Info(
        key="tfrp-2",
        title="TFRP-2",
        family="Two-phase methods",
        summary="TFRP-1, whose groups are then dissolved into their neighbors wherever that lowers the SSE.",
        year=2007,
        reference="Chang, Li & Huang 2007, as given in Kabir, Wang & Zhang 2010",
        complexity="O(n²d/k)",
        note="Groups are tried by falling SSE before the second phase, and grow to at most 4k-1 records; those of 2k "
        "or more are split by TFRP-1 with reference points of their own. The printed figures for EIA leave UTILITYID "
        "out.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_large(X, dissolve_groups(X, tfrp_1(X, k), "sse", 4 * k - 1), k, tfrp_1)
