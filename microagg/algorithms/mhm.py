"""MHM: the records in a given order, cut into groups as well as that order allows.

1. The records are sorted by their only attribute, or, if there are several, by the sum of them; or they are taken as
   they stand.
2. Among all partitions into contiguous pieces of k to 2k-1 records, dynamic programming finds the one with the least
   SSE (:func:`microagg.kernels.paths.split_path`).

For one attribute no partition whatever loses less (Hansen & Mukherjee 2003). For several the pieces are only the best
that the order allows (Domingo-Ferrer et al. 2006): ``projection-mhm`` sorts by other directions, ``mdav-mhm`` and its
siblings build an order from groups. Records that sort alike keep their order. Time O(n log n + nkd).

Sources: Hansen & Mukherjee 2003; Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006; Mortazavi, Jalili &
Gohargazi 2013 (the SSE of a growing piece).
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.kernels.paths import by_value, split_path, sums
from microagg.validation import FloatArray, IntArray


class MHM(Microaggregator):
    """MHM of Hansen & Mukherjee."""

    info = Info(
        key="mhm",
        title="MHM",
        family="Paths and optimal splits",
        summary="Sorts the records and cuts the line optimally into groups: unbeatable for a single attribute.",
        year=2003,
        reference="Hansen & Mukherjee 2003; Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006",
        sizes="variable",
        complexity="O(n log n + nkd)",
        note="The optimum for one attribute. For several the method leaves the order open: the sum of them is our "
        "choice, and like every single direction it loses much.",
    )
    params = (
        Param(
            "order",
            "choice",
            ("sum", "given"),
            "sum",
            "How the records stand on the line that is cut: by their only attribute, by the sum of several, or as they "
            "are given.",
        ),
    )

    def _partition(self, X: FloatArray, k: int, *, order: str) -> IntArray:
        return split_path(X, by_value(sums(X)) if order == "sum" else np.arange(len(X)), k)
