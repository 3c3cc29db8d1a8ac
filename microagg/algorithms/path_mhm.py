"""MHM on paths that are built for it: through the groups of another algorithm, or from record to nearest record.

``mdav-mhm``, ``md-mhm``, ``cbfs-mhm``:

1. A base partition is made by MDAV in the order of µ-ARGUS, by MD (s first), or by CBFS.
2. A path leads through it, one group after the other. It begins with the group of the record farthest from the centroid
   of all data. The next group is the one not yet on the path whose centroid is nearest to any record of the last one.
   Within a group the records farthest from the next group's centroid come first; within the last group those nearest to
   the centroid of the one before.
3. The path is cut by :func:`microagg.kernels.paths.split_path`. The base groups are contiguous pieces of it and
   have at most 2k-1 records, so the result never loses more than the base partition.

``npn-mhm``:

1. The path begins at one end of the diameter: of the two records farthest apart, the one with the lower index. Each
   next record is the one not yet on the path that is nearest to the last (nearest point next).
2. It is cut likewise.

Ties go to the lowest record index; between groups to the one that has it. Time: that of the base partition, and
O(n²d/k + nkd); ``npn-mhm`` O(n²d + nkd).

Sources: Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006 (the four heuristics); Mortazavi, Jalili & Gohargazi
2013 (the path through the groups, Fig. 4, lines 36 to 52). The printed figures (Kabir, Wang & Zhang 2010) are not met
to the digit by any reading that was tried.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import cbfs, md, mdav_argus
from microagg.kernels.paths import nearest_point_next, split_path, through_groups
from microagg.validation import FloatArray, IntArray

_FAMILY = "Paths and optimal splits"
_REFERENCE = "Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006"
_PATH_NOTE = (
    "The path is that of Mortazavi et al. 2013. The rule of 2006 is not known to us, and no rule that was tried gives "
    "the printed figures to the digit."
)


class MDAVMHM(Microaggregator):
    info = Info(
        key="mdav-mhm",
        title="MDAV-MHM",
        family=_FAMILY,
        summary="Lays a path through the groups of MDAV and cuts it anew, optimally: never worse than MDAV.",
        year=2006,
        reference=_REFERENCE,
        complexity="O(n²d/k + nkd)",
        note="The groups are those of MDAV in the order of µ-ARGUS, as one printed figure (Census, k = 10) suggests. "
        + _PATH_NOTE,
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_path(X, through_groups(X, mdav_argus(X, k)), k)


class MDMHM(Microaggregator):
    info = Info(
        key="md-mhm",
        title="MD-MHM",
        family=_FAMILY,
        summary="Lays a path through the groups of MD and cuts it anew, optimally: never worse than MD.",
        year=2006,
        reference=_REFERENCE,
        complexity="O(n²d) to O(n³d/k)",
        note="The groups are those of MD with s first. " + _PATH_NOTE,
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_path(X, through_groups(X, md(X, k, False)), k)


class CBFSMHM(Microaggregator):
    info = Info(
        key="cbfs-mhm",
        title="CBFS-MHM",
        family=_FAMILY,
        summary="Lays a path through the groups of CBFS and cuts it anew, optimally: never worse than CBFS.",
        year=2006,
        reference=_REFERENCE,
        complexity="O(n²d/k + nkd)",
        note=_PATH_NOTE + " Some of them lie above the loss of CBFS itself, so their base partition was another one.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_path(X, through_groups(X, cbfs(X, k)), k)


class NPNMHM(Microaggregator):
    info = Info(
        key="npn-mhm",
        title="NPN-MHM",
        family=_FAMILY,
        summary="Walks from each record to the nearest one not yet visited, and cuts the path optimally into groups.",
        year=2006,
        reference=_REFERENCE,
        complexity="O(n²d + nkd)",
        note="Where the path begins is open. One end of the diameter comes nearest to the printed figures, which no "
        "record as the beginning gives to the digit.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_path(X, nearest_point_next(X), k)
