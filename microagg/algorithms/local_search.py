"""Local search: the partition of another algorithm, improved by moving records until no move lowers the SSE.

1. ``start`` makes the groups.
2. Groups of 2k records or more are cut.
3. For each record, the best of these moves is made while it lowers the SSE: it goes to another group; it changes places
   with a record of another group; it goes to another group, from which a record goes to a third.
4. For each group, these are tried: it and a group near to it are cut anew along a line; it is dissolved. If any of them
   lowers the SSE, step 3 is next.

See :mod:`microagg.kernels.local_search.descent` for the moves, and for which groups are tried. The SSE is never above
that of the start, but need not be the least.

Time: that of the start; then O(kd) for each record and group that is tried, in several dozen passes.

Source: chosen here. The moves are those of Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013, and exchanges as in
other local searches for groups of least SSE.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator, Param, start_labels
from microagg.kernels.local_search.iterated import improve
from microagg.validation import FloatArray, IntArray


class LocalSearch(Microaggregator):
    """Local search for the least SSE."""

    info = Info(
        key="local-search",
        title="Local search",
        family="Local search",
        summary="Improves the groups of another algorithm by moving and exchanging records while that lowers the loss.",
        year=2026,
        reference="microagg",
        sizes="variable",
        complexity="O(start + nkd) a pass",
        checked_by="properties",
        note="Not from the literature: which moves are made, and in which order, was chosen here. The result is never "
        "worse than the start.",
    )
    params = (Param("start", "algorithm", (), "mdav-star", "The algorithm whose groups are improved."),)

    def _partition(self, X: FloatArray, k: int, *, start: str) -> IntArray:
        return improve(X, start_labels(start, X, k), k)
