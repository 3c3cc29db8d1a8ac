"""TFRP-1, by which TFRP-2 and GSMS-T2 split groups; its steps are described in :mod:`microagg.algorithms.tfrp`."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import form, make_groups, rest_to_nearest_centroid
from microagg.kernels.neighbors.brute_force import ALIVE, farthest, make_pool, measure_from, members_around, tidy
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def tfrp_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of TFRP-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    d = X.shape[1]
    pool = make_pool(X)
    groups = make_groups(len(X), d, k)
    reference = np.full(d, X.min())
    other = np.full(d, X.max())
    while pool.counts[ALIVE] >= k:
        tidy(pool)
        measure_from(pool, reference)
        form(groups, pool, members_around(pool, farthest(pool), k))
        reference, other = other, reference
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels
