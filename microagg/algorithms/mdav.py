"""MDAV (Maximum Distance to Average Vector), its variants, also for mixed attributes, and CBFS.

MDAV+ and V-MDAV stand in ``v_mdav``, MDAV* in ``mdav_star``.

While at least 2k records are unassigned:

1. r is the unassigned record farthest from the centroid of the unassigned records, s the one farthest from r.
2. r and its k-1 nearest unassigned records form a group; then s and its k-1 nearest among those left.

``mdav``: if k..2k-1 records are left they form one group; fewer than k join, by index, the group with the nearest
centroid, which moves at once.

``mdav-1``: if k..2k-1 are left, the one farthest from their centroid forms one more group of exactly k; the rest join
the group with the nearest centroid, centroids frozen.

``mdav-generic``: rounds stop at fewer than 3k records. If 2k..3k-1 are left, the one farthest from their centroid
forms a group of k and the others another; if k..2k-1 are left, they form one group.

``mdav-generic-mixed``: the same for numeric, ordinal and nominal attributes together. The distance of two records is
the sum over the attributes of the shares of the domains that lie between them (see :mod:`microagg.kernels.mixed`), not
squared. Instead of a centroid there is a central record: the mean of each numeric attribute, the lower median of each
ordinal one and the most frequent category of each nominal one, of equally frequent ones the first in the taxonomy.

``mdav-2``: MDAV-1 makes the groups. Each of them, the one with the largest SSE first, is dissolved if that lowers the
SSE: its records go to the nearest centroids of other groups, however large (see
:mod:`microagg.kernels.grouping.division`). Each group of 2k or more records is then partitioned by MDAV-1.

``cbfs`` (Centroid-Based Fixed-Size): one group a round, of r and its k-1 nearest, while at least k records are
unassigned; the rest join the group with the nearest centroid, centroids frozen.

Ties go to the lowest record index or group number. Time O(n²d/k). The rounds are in
:mod:`microagg.kernels.grouping.moving_mean`.

``mdav-argus`` has the order of µ-ARGUS, the program behind the tables of Domingo-Ferrer et al. 2006. The records stand
in an array in which they are swapped about, so ties go to the lowest position at that moment. While at least 3k
records are unassigned: of r and s, the one at the lower position is swapped to the front, the other to the place k
behind it. The k-1 records nearest to the front record are swapped in behind it, one after the other. Nothing protects
the record k places behind, so it may be drawn into this group; whatever stands there then is the seed of the second
group, filled the same way. If 2k..3k-1 are left, r or s, whichever stands at the lower position, forms a group of k and
the others another; if fewer are left, they form one group.

Sources: Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Mortazavi, Jalili & Gohargazi 2013 (``mdav``);
Kabir, Wang & Zhang 2010 (``mdav-1`` and ``mdav-generic``); Domingo-Ferrer & Torra 2005 (``mdav-generic-mixed``); Lin,
Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010 (``mdav-2``); Laszlo & Mukherjee 2005, as given in
Mortazavi, Jalili & Gohargazi 2013 (``cbfs``); the procedure as read in sdcMicro's src/microAggregation.cpp, which
reproduces Table I of the first of these (``mdav-argus``). Where all distances left are equal, that program goes on with
a stale variable; here the lowest position is taken.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.columns.records import Records
from microagg.kernels.bases import cbfs, group_in_turns, mdav, mdav_1, mdav_argus
from microagg.kernels.grouping.division import dissolve_groups, split_large
from microagg.kernels.grouping.groups import form_from_rest
from microagg.kernels.grouping.moving_mean import form_group, form_groups
from microagg.kernels.neighbors.brute_force import ALIVE
from microagg.validation import FloatArray, IntArray


class MDAV(Microaggregator):
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


class MDAV2(Microaggregator):
    info = Info(
        key="mdav-2",
        title="MDAV-2",
        family="Two-phase methods",
        summary="MDAV-1, whose groups are then dissolved into their neighbors wherever that lowers the SSE.",
        year=2010,
        reference="Lin, Wen, Hsieh & Chang 2010, as given in Kabir, Wang & Zhang 2010",
        complexity="O(n²d/k)",
        note="Groups are tried by falling SSE before the second phase, and may take in any number of records; those of "
        "2k or more are split by MDAV-1. The figure printed for Tarragona at k = 3, 16.38261429, is a misprint of "
        "16.68261429.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_large(X, dissolve_groups(X, mdav_1(X, k), "sse", len(X)), k, mdav_1)


class MDAVArgus(Microaggregator):
    info = Info(
        key="mdav-argus",
        title="MDAV (µ-ARGUS)",
        family="MDAV family",
        summary="MDAV in the processing order of the program µ-ARGUS, which the survey of 2006 used.",
        year=2006,
        reference="Domingo-Ferrer, Solanas & Martínez-Ballesté 2006, Table I; µ-ARGUS, as kept in sdcMicro",
        sizes="fixed",
        complexity="O(n²d/k)",
        note="Records are swapped about in an array, so ties and the order of the two groups depend on positions; the "
        "second seed may be drawn into the first group.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return mdav_argus(X, k)


class CBFS(Microaggregator):
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


class MDAVGenericMixed(Microaggregator):
    info = Info(
        key="mdav-generic-mixed",
        title="MDAV-generic (mixed)",
        family="Mixed attributes",
        summary="MDAV whose center has the mean of numbers, the median of ordered and the most frequent of other "
        "categories.",
        year=2005,
        reference="Domingo-Ferrer & Torra 2005",
        sizes="fixed",
        complexity="O(n²d/k)",
        mixed=True,
        note="The distance is the sum of the shares of Byun, Kamra, Bertino & Li 2007, not squared, so that taxonomies "
        "count and nothing has to be scaled.",
    )

    def _partition(self, records: Records, k: int) -> IntArray:
        return group_in_turns(records, k, 2 * k)
