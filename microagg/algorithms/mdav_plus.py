"""MDAV+ and CBFS (Centroid-Based Fixed-Size): one group a round, around the record farthest from a centroid.

1. While at least k records are unassigned: the one farthest from the centroid and its k-1 nearest unassigned records
   form a group. ``mdav-plus`` takes the centroid of all data, computed once; ``cbfs`` that of the unassigned records,
   computed afresh every round.
2. Fewer than k records left: each joins the group with the nearest centroid, centroids frozen.

Ties go to the lowest record index. Time O(n²d/k).

Sources: Thaeter & Reischuk, Improving Anonymization Clustering (``mdav-plus``); Laszlo & Mukherjee 2005, as given in
Mortazavi, Jalili & Gohargazi 2013 (``cbfs``).
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import cbfs, mdav_plus
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


class CBFS(Microaggregator):
    """CBFS, Centroid-Based Fixed-Size."""

    info = Info(
        key="cbfs",
        title="CBFS",
        family="Fixed-size heuristics",
        summary="One group at a time around the record farthest from the centroid of the records still unassigned.",
        year=2005,
        reference="Laszlo & Mukherjee 2005, as given in Mortazavi, Jalili & Gohargazi 2013",
        sizes="fixed",
        complexity="O(n²d/k)",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return cbfs(X, k)
