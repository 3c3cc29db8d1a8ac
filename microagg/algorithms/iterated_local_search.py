"""Iterated local search: a few neighboring groups are taken apart and put together otherwise, again and again.

1. ``start`` makes the groups, and local search improves them, see :mod:`microagg.kernels.local_search.descent`.
2. Ruin and recreate: the records of a few neighboring groups are given new groups at random, and local search repairs
   these and the groups around them. If the SSE has fallen, or risen by a little, the partition stays, otherwise all is
   undone. This is repeated, and the best partition is kept. See :mod:`microagg.kernels.local_search.iterated`.

Step 2 is done ``effort`` times for each group of the partition after step 1. With ``seconds``, it ends after this time
at the latest.

Time: that of the start and of local search; an iteration takes a time that does not depend on the number of records.

Source: chosen here, along the lines of Lourenço, Martin & Stützle 2003 and Schrimpf et al. 2000.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator, Param, start_labels
from microagg.kernels.local_search.iterated import improve
from microagg.validation import FloatArray, IntArray


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
        Param("start", "algorithm", (), "mdav-star", "The algorithm whose groups are improved."),
        Param("effort", "int", (0, None), 20, "How often groups are taken apart, for each group there is."),
        Param(
            "seconds",
            "float",
            (0.0, None),
            0.0,
            "The search ends after this many seconds even if the effort is not spent; 0 for no limit.",
        ),
        Param("random_state", "int", (0, None), 0, "The seed: the same one gives the same groups."),
    )

    def _partition(
        self, X: FloatArray, k: int, *, start: str, effort: int, seconds: float, random_state: int
    ) -> IntArray:
        return improve(X, start_labels(start, X, k), k, effort, seconds=seconds, random_state=random_state)
