"""MD, from which MD-MHM starts, too; its steps are described in :mod:`microagg.algorithms.md`."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups, assign_rest, form, make_groups
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, farthest, members_around, tidy
from microagg.kernels.neighbors.farthest_pair import farthest_pair, measure_reach
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _rounds(
    X: FloatArray, groups: Groups, pool: Pool, k: int, r_first: bool, reach: FloatArray, partner: IntArray, most: int
) -> None:
    """Form two groups a round while at least 2k records are unassigned; stop after ``most`` passes or a few more."""
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


def md(X: FloatArray, k: int, r_first: bool) -> IntArray:
    """Return the labels of MD for ``X``, shape (n, d), n >= k."""
    n, d = X.shape
    pool = brute_force.make_pool(X)
    groups = make_groups(n, d, k)
    reach = np.empty(n)
    partner = np.empty(n, dtype=np.int64)
    at_a_time = brute_force.passes_at_a_time(n, d)
    for start in range(0, n if n >= 2 * k else 0, at_a_time):
        checkpoint("measuring distances", start / (2 * n))
        measure_reach(X, pool, reach, partner, start, min(n, start + at_a_time))
    while pool.counts[ALIVE] >= 2 * k:
        checkpoint("forming groups", 1.0 - pool.counts[ALIVE] / (2 * n))
        _rounds(X, groups, pool, k, r_first, reach, partner, at_a_time)
    assign_rest(groups, pool, k, False)
    return groups.labels
