"""Seeds in order of their distance from the centroid of all data, for MDAV+ and what builds on it."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.pool import Pool, centroid, measure_from
from microagg.validation import IntArray


@njit(cache=True, nogil=True)
def records_from_the_outside(pool: Pool) -> IntArray:
    """Return all record indices, the farthest from the centroid of all data first, ties by record index.

    ``pool`` must still be complete. The centroid is fixed, so the order stays valid while records leave.
    """
    measure_from(pool, centroid(pool))
    # A stable sort keeps the record order among equals.
    return np.argsort(-pool.distances, kind="mergesort")
