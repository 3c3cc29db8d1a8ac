"""The sums, over records of mixed attributes, of the distances to the nearest, the second nearest, … other record."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors import mixed_pool
from microagg.kernels.neighbors.mixed_pool import MixedPool
from microagg.validation import FloatArray


def own_scratch(pool: MixedPool) -> MixedPool:
    """Return a pool of the same records that another thread can measure in."""
    return pool._replace(sums=np.empty_like(pool.sums), tables=np.empty_like(pool.tables))


@njit(cache=True, nogil=True)
def _enter(nearest: FloatArray, distance: float) -> None:
    """Put a distance below the last of ``nearest``, ascending, in its place; the last one drops out."""
    i = len(nearest) - 1
    while i > 0 and nearest[i - 1] > distance:
        nearest[i] = nearest[i - 1]
        i -= 1
    nearest[i] = distance


@njit(cache=True, nogil=True)
def sums_of_nearest(pool: MixedPool, most: int, start: int, stop: int) -> FloatArray:
    """Return the sums over the records from ``start`` to before ``stop``, shape (most,).

    The first is that of the distances to the nearest other record, the last that to the ``most``-th nearest; ``most``
    is at least 1 and less than the number of records. No record has left the pool.
    """
    total = np.zeros(most)
    nearest = np.empty(most)
    for record in range(start, stop):
        mixed_pool.measure_from(pool, pool.points[record])
        pool.sums[record] = np.inf
        nearest[:] = np.inf
        for distance in pool.sums:
            if distance < nearest[-1]:
                _enter(nearest, distance)
        total += nearest
    return total
