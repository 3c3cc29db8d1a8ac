"""Local search: the partition of another algorithm, improved until no move of records lowers the SSE, or further.

``local-search``

1. ``start`` makes the groups.
2. Groups of 2k records or more are cut.
3. For each record, the best of these moves is made while it lowers the SSE: it goes to another group; it changes places
   with a record of another group; it goes to another group, from which a record goes to a third.
4. For each group, these are tried: it and a group near to it are cut anew along a line; it is dissolved. If any of them
   lowers the SSE, step 3 is next.

See :mod:`microagg.kernels.local_search.descent` for the moves, and for which groups are tried. The SSE is never above
that of the start, but need not be the least.

``iterated-local-search`` goes on from there:

5. Ruin and recreate: the records of a few neighboring groups are given new groups at random, and local search repairs
   these and the groups around them. If the SSE has fallen, or risen by a little, the partition stays, otherwise all is
   undone. This is repeated, and the best partition is kept. See :mod:`microagg.kernels.local_search.iterated`.

Step 5 is done ``effort`` times for each group of the partition before it. With ``seconds``, it ends after this time at
the latest.

Time: that of the start; then O(kd) for each record and group that is tried, in several dozen passes; an iteration of
step 5 takes a time that does not depend on the number of records.

Source: chosen here. The moves are those of Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013, and exchanges as in
other local searches for groups of least SSE; step 5 is along the lines of Lourenço, Martin & Stützle 2003 and Schrimpf
et al. 2000.
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
    params = (Param("start", "algorithm", (), "mdav-star", "The algorithm that makes the groups to improve."),)

    def _partition(self, X: FloatArray, k: int, *, start: str) -> IntArray:
        return improve(X, start_labels(start, X, k), k)


class IteratedLocalSearch(Microaggregator):
    """Iterated local search for the least SSE."""

    info = Info(
        key="iterated-local-search",
        title="Iterated local search",
        family="Local search",
        summary="Takes a few neighboring groups apart and improves them by local search, again and again.",
        year=2026,
        reference="microagg",
        sizes="variable",
        complexity="O(start + nkd) a pass",
        checked_by="properties",
        deterministic=False,
        note="Not from the literature: which groups are taken apart, how, and what is kept was chosen here. The same "
        "seed gives the same groups, unless the time is limited by seconds.",
    )
    params = (
        Param("start", "algorithm", (), "mdav-star", "The algorithm that makes the groups to improve."),
        Param("effort", "int", (0, None), 20, "How often groups are taken apart, for each group."),
        Param(
            "seconds",
            "float",
            (0.0, None),
            0.0,
            "The maximum number of seconds: the search ends then even if the effort is not spent. 0 sets no limit.",
        ),
        Param("random_state", "int", (0, None), 0, "The seed: the same seed gives the same groups."),
    )

    def _partition(
        self, X: FloatArray, k: int, *, start: str, effort: int, seconds: float, random_state: int
    ) -> IntArray:
        return improve(X, start_labels(start, X, k), k, effort, seconds=seconds, random_state=random_state)
