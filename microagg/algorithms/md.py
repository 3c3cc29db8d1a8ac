"""MD (Maximum Distance): two groups a round, around the two unassigned records farthest apart.

1. While at least 2k records are unassigned: r and s are the two of them farthest apart. One of them and its k-1
   nearest unassigned records form a group, then the other and its k-1 nearest among those left.
2. If k..2k-1 records are left they form one group; fewer than k join the group with the nearest centroid, one by one,
   centroids frozen.

``first`` chooses which of the two comes first. If the second seed went into the first group, the record left that is
farthest from the first seed takes its place. Ties go to the lowest record index.

Of the distances only those that may be the largest are measured again in each round (see
:mod:`microagg.kernels.neighbors.brute_force`): time O(n²d) for the first ones and O(nd) for each record measured
again, instead of O(n³d/k).

Source: Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.kernels.bases import md
from microagg.validation import FloatArray, IntArray


class MD(Microaggregator):
    """MD, Maximum Distance."""

    info = Info(
        key="md",
        title="MD",
        family="Fixed-size heuristics",
        summary="Two groups a round, around the two records farthest apart: what MDAV was made to speed up.",
        year=2002,
        reference="Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006",
        sizes="fixed",
        complexity="O(n²d) to O(n³d/k)",
        note="Which of the two records comes first is open. Printed figures for Census: k = 3, 4, 10 need s first, "
        "k = 5 and 10 r first. Left-over records join the nearest group one by one.",
    )
    params = (
        Param(
            "first",
            "choice",
            ("s", "r"),
            "s",
            "Which of the two records farthest apart gets its group first; r is the one with the lower index.",
        ),
    )

    def _partition(self, X: FloatArray, k: int, *, first: str) -> IntArray:
        return md(X, k, first == "r")
