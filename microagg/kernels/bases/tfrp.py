"""TFRP-1, by which TFRP-2 and GSMS-T2 split groups; its steps are described in :mod:`microagg.algorithms.tfrp`."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups, form, make_groups, rest_to_nearest_centroid
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, farthest, make_pool, measure_from, members_around, tidy
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _form(groups: Groups, pool: Pool, k: int, reference: FloatArray, other: FloatArray) -> None:
    """Form groups around the records farthest from ``reference`` and ``other`` in turns while k are unassigned."""
    while pool.counts[ALIVE] >= k:
        tidy(pool)
        measure_from(pool, reference)
        form(groups, pool, members_around(pool, farthest(pool), k))
        reference, other = other, reference


def tfrp_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of TFRP-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    d = X.shape[1]
    pool = make_pool(X)
    groups = make_groups(len(X), d, k)
    _form(groups, pool, k, np.full(d, X.min()), np.full(d, X.max()))
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels
