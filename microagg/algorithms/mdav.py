"""MDAV (Maximum Distance to Average Vector) and the variants that differ in how they end.

While at least 2k records are unassigned:

1. r is the unassigned record farthest from the centroid of the unassigned records, s the one farthest from r.
2. r and its k-1 nearest unassigned records form a group; then s and its k-1 nearest among those left.

``mdav``: if k..2k-1 records are left they form one group; fewer than k join, by index, the group with the nearest
centroid, which moves at once.

``mdav-1``: if k..2k-1 are left, the one farthest from their centroid forms one more group of exactly k; the rest join
the group with the nearest centroid, centroids frozen.

``mdav-generic``: rounds stop at fewer than 3k records. If 2k..3k-1 are left, the one farthest from their centroid
forms a group of k and the others another; if k..2k-1 are left, they form one group.

Ties go to the lowest record index. Time O(n²d/k). The rounds of all three are in
:mod:`microagg.kernels.grouping.moving_mean`.

Sources: Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Mortazavi, Jalili & Gohargazi 2013 (``mdav``);
Kabir, Wang & Zhang 2010 (``mdav-1`` and ``mdav-generic``).
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav, mdav_1
from microagg.kernels.grouping.groups import form_from_rest
from microagg.kernels.grouping.moving_mean import form_group, form_groups
from microagg.kernels.neighbors.brute_force import ALIVE
from microagg.validation import FloatArray, IntArray


class MDAV(Microaggregator):
    """MDAV, Maximum Distance to Average Vector, as Mortazavi et al. define it."""

    info = Info(
        key="mdav",
        title="MDAV",
        family="MDAV family",
        summary="Builds two groups a round, around the record farthest from the centroid and the one opposite it.",
        year=2006,
        reference="Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Mortazavi, Jalili & Gohargazi 2013",
        sizes="fixed",
        complexity="O(n²d/k)",
        note="Sources differ in the last step. Here rounds stop at fewer than 2k records; k to 2k-1 left over form one "
        "group; fewer join the group with the nearest centroid one by one, and that centroid moves at once, "
        "without which the figures of Mortazavi et al. for k = 50 and 100 are missed.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return mdav(X, k)


class MDAV1(Microaggregator):
    """MDAV-1 as Kabir et al. define it."""

    info = Info(
        key="mdav-1",
        title="MDAV-1",
        family="MDAV family",
        summary="MDAV whose last group has exactly k records; whatever is still left joins the nearest group.",
        year=2010,
        reference="Kabir, Wang & Zhang 2010",
        sizes="fixed",
        complexity="O(n²d/k)",
        note="Left-over records join the group with the nearest centroid, centroids frozen.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return mdav_1(X, k)


class MDAVGeneric(Microaggregator):
    """MDAV-generic as Kabir et al. define it."""

    info = Info(
        key="mdav-generic",
        title="MDAV-generic",
        family="MDAV family",
        summary="MDAV that stops at fewer than 3k records and makes two groups, or one, of what is left.",
        year=2005,
        reference="Domingo-Ferrer & Torra 2005, as given in Kabir, Wang & Zhang 2010",
        sizes="fixed",
        complexity="O(n²d/k)",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        groups, pool = form_groups(X, k, 3 * k, True)
        if pool.counts[ALIVE] >= 2 * k:
            form_group(groups, pool, k)
        form_from_rest(groups, pool)
        return groups.labels
