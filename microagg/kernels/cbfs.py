"""CBFS, which CBFS-MHM starts from too; the steps are in the algorithm's file."""

from __future__ import annotations

from numba import njit

from microagg.kernels.groups import make_groups, rest_to_nearest_centroid
from microagg.kernels.mdav import form_group_at_edge
from microagg.kernels.pool import ALIVE, make_pool
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def cbfs(X: FloatArray, k: int) -> IntArray:
    """Return the labels of CBFS for ``X``, shape (n, d), n >= k."""
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    while pool.counts[ALIVE] >= k:
        form_group_at_edge(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels
