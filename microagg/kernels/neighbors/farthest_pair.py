"""The two unassigned records farthest apart, for MD and M-d.

Each record keeps the distance to the farthest record that it knew, its reach. Records only leave, so a reach is an
upper bound from then on, and only the records whose reach is the largest are measured again. Time O(n²d) for the first
distances and O(nd) for each one measured again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import Pool, farthest, measure_from
from microagg.validation import FloatArray, IntArray


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

    ``reach``, by record, are squared, and -1 for records that have left; ``partner`` are the records that far away.
    """
    measured = 0
    while True:
        # Of equal bounds the one of the lowest index is taken, and measured again, first.
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
