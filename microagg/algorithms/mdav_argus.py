"""MDAV in the order of µ-ARGUS, the program behind the tables of Domingo-Ferrer et al. 2006.

The records stand in an array in which they are swapped about, so ties go to the lowest *position* at that moment.
While at least 3k records are unassigned:

1. r is the unassigned record farthest from the centroid of the unassigned records, s the one farthest from r.
2. The one at the lower position is swapped to the front, the other to the place k behind it.
3. The k-1 records nearest to the front record are swapped in behind it, one after the other. Nothing protects the
   record k places behind, so it may be drawn into this group.
4. Whatever stands k places behind the front then is the seed of the second group, filled the same way.

If 2k..3k-1 are left, r or s, whichever stands at the lower position, forms a group of k and the others another; if
fewer are left, they form one group. Time O(n²d/k).

Sources: the procedure as read in sdcMicro's src/microAggregation.cpp; it reproduces Table I of Domingo-Ferrer, Solanas
& Martínez-Ballesté 2006. Where all distances left are equal, that program goes on with a stale variable; here the
lowest position is taken.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav_argus
from microagg.validation import FloatArray, IntArray


class MDAVArgus(Microaggregator):
    """MDAV in the order of µ-ARGUS."""

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
