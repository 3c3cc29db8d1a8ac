"""MDAV+: one group a round, around the record farthest from the centroid of all data.

1. Compute the centroid of all data, once.
2. While at least k records are unassigned: the unassigned record farthest from that centroid and its k-1 nearest
   unassigned records form a group.
3. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

Ties go to the lowest record index. Time O(n²d/k).

Source: Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav_plus
from microagg.validation import FloatArray, IntArray


class MDAVPlus(Microaggregator):
    """MDAV+ of Thaeter & Reischuk."""

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
        return mdav_plus(X, k)
