"""MD, which MD-MHM starts from too; the steps are in the algorithm's file."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups, form, form_from_rest, make_groups, rest_to_nearest_centroid
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, farthest, make_pool, measure_from, members_around, tidy
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# Terms of distances computed between two checkpoints: some tenths of a second.
TERMS_AT_A_TIME = 200_000_000


@njit(cache=True, nogil=True)
def _measure_again(X: FloatArray, pool: Pool, record: int, reach: FloatArray, partner: IntArray) -> None:
    """Set the farthest unassigned record from ``record``, and the squared distance to it."""
    measure_from(pool, X[record])
    position = farthest(pool, pool.positions[record])
    partner[record] = pool.records[position]
    reach[record] = pool.distances[position]


@njit(cache=True, nogil=True)
def farthest_pair(X: FloatArray, pool: Pool, reach: FloatArray, partner: IntArray) -> tuple[int, int, int]:
    """Return the two unassigned records farthest apart, lower index first, and how many were measured again.

    ``reach`` are upper bounds, by record.
    """
    measured = 0
    while True:
        # A record that has left has reach -1. Equal bounds: the lowest index is taken, and measured again, first.
        record = np.argmax(reach)
        if pool.positions[partner[record]] >= 0:
            return record, partner[record], measured
        _measure_again(X, pool, record, reach, partner)
        measured += 1


@njit(cache=True, nogil=True)
def measure_reach(X: FloatArray, pool: Pool, reach: FloatArray, partner: IntArray, start: int, stop: int) -> None:
    """Set ``reach`` and ``partner`` of the records start..stop-1."""
    for record in range(start, stop):
        _measure_again(X, pool, record, reach, partner)


@njit(cache=True, nogil=True)
def _rounds(
    X: FloatArray, groups: Groups, pool: Pool, k: int, r_first: bool, reach: FloatArray, partner: IntArray, most: int
) -> None:
    """Form two groups a round while at least 2k are unassigned, until ``most`` records or more were measured."""
    spent = 0
    while spent < most and pool.counts[ALIVE] >= 2 * k:
        tidy(pool)
        r, s, measured = farthest_pair(X, pool, reach, partner)
        spent += measured + 3
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


@njit(cache=True, nogil=True)
def _assign_rest(groups: Groups, pool: Pool, k: int) -> None:
    if pool.counts[ALIVE] >= k:
        form_from_rest(groups, pool)
    rest_to_nearest_centroid(groups, pool, False)


def md(X: FloatArray, k: int, r_first: bool) -> IntArray:
    """Return the labels of MD for ``X``, shape (n, d), n >= k."""
    n, d = X.shape
    pool = make_pool(X)
    groups = make_groups(n, d, k)
    reach = np.empty(n)
    partner = np.empty(n, dtype=np.int64)
    at_a_time = max(1, TERMS_AT_A_TIME // (n * d))
    for start in range(0, n if n >= 2 * k else 0, at_a_time):
        checkpoint("measuring distances", start / (2 * n))
        measure_reach(X, pool, reach, partner, start, min(n, start + at_a_time))
    while pool.counts[ALIVE] >= 2 * k:
        checkpoint("forming groups", 1.0 - pool.counts[ALIVE] / (2 * n))
        _rounds(X, groups, pool, k, r_first, reach, partner, at_a_time)
    _assign_rest(groups, pool, k)
    return groups.labels
