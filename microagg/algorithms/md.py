"""MD (Maximum Distance): two groups a round, around the two unassigned records farthest apart.

1. While at least 2k records are unassigned: r and s are the two of them farthest apart. One of them and its k-1
   nearest unassigned records form a group, then the other and its k-1 nearest among those left.
2. If k..2k-1 records are left they form one group; fewer than k join the group with the nearest centroid, one by one,
   centroids frozen.

The paper does not say which of the two comes first. With r the lower record index, its figures for Census at k = 3, 4
and 10 need s first, at k = 5 and 10 r first; ``first`` chooses. If the second seed went into the first group, the
record left that is farthest from the first seed takes its place. Ties go to the lowest record index.

The farthest pair is found lazily: each record keeps the distance to the farthest record it knew. Records only leave, so
that is an upper bound, and only the records whose bound is largest are measured again. Time O(n²d) for the first
distances and O(nd) for each one measured again, instead of the plain O(n³d/k).

Source: Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from microagg.base import Info, Microaggregator, Param
from microagg.kernels.groups import form, form_from_rest, make_groups, rest_to_nearest_centroid
from microagg.kernels.pool import ALIVE, Pool, farthest, make_pool, measure_from, members_around, tidy
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _measure_again(X: FloatArray, pool: Pool, record: int, reach: FloatArray, partner: IntArray) -> None:
    """Set the farthest unassigned record from ``record``, and the squared distance to it."""
    measure_from(pool, X[record])
    position = farthest(pool, pool.positions[record])
    partner[record] = pool.records[position]
    reach[record] = pool.distances[position]


@njit(cache=True, nogil=True)
def _farthest_pair(X: FloatArray, pool: Pool, reach: FloatArray, partner: IntArray) -> tuple[int, int]:
    """Return the two unassigned records farthest apart, lower index first; ``reach`` are upper bounds, by record."""
    while True:
        # A record that has left has reach -1. Equal bounds: the lowest index is taken, and measured again, first.
        record = np.argmax(reach)
        if pool.positions[partner[record]] >= 0:
            return record, partner[record]
        _measure_again(X, pool, record, reach, partner)


@njit(cache=True, nogil=True)
def md(X: FloatArray, k: int, r_first: bool) -> IntArray:
    """Return the labels of MD for ``X``, shape (n, d), n >= k."""
    n = len(X)
    pool = make_pool(X)
    groups = make_groups(n, X.shape[1], k)
    reach = np.empty(n)
    partner = np.empty(n, dtype=np.int64)
    if n >= 2 * k:
        for record in range(n):
            _measure_again(X, pool, record, reach, partner)
    while pool.counts[ALIVE] >= 2 * k:
        tidy(pool)
        r, s = _farthest_pair(X, pool, reach, partner)
        one, other = (r, s) if r_first else (s, r)
        members = members_around(pool, pool.positions[one], k)
        reach[pool.records[members]] = -1.0
        form(groups, pool, members)
        seed = pool.positions[other]
        if seed < 0:
            seed = farthest(pool)  # the distances are still those from the first seed
        members = members_around(pool, seed, k)
        reach[pool.records[members]] = -1.0
        form(groups, pool, members)
    if pool.counts[ALIVE] >= k:
        form_from_rest(groups, pool)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


class MD(Microaggregator):
    """MD; see :mod:`microagg.algorithms.md`.

    Parameters
    ----------
    k : int, default 3
        The minimum number of records in a group.
    first : {"s", "r"}, default "s"
        Which of the two records farthest apart gets its group first; r is the one with the lower index.
    """

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

    def __init__(self, k: int = 3, *, first: str = "s") -> None:
        super().__init__(k)
        self.first = first

    def _partition(self, X: FloatArray, k: int, **parameters: Any) -> IntArray:
        return md(X, k, parameters["first"] == "r")
