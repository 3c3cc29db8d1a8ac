"""CBFS, which CBFS-MHM starts from too; the steps are in the algorithm's file."""

from __future__ import annotations

from numba import njit

from microagg.kernels.bases.mdav import form_group_at_edge
from microagg.kernels.grouping.groups import Groups, make_groups, rest_to_nearest_centroid
from microagg.kernels.grouping.moving_mean import form_groups_at_edge
from microagg.kernels.neighbors import crossover as choice
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, make_pool
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _finish_cbfs(groups: Groups, pool: Pool, k: int) -> None:
    while pool.counts[ALIVE] >= k:
        form_group_at_edge(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)


@njit(cache=True, nogil=True)
def cbfs_by_passes(X: FloatArray, k: int) -> IntArray:
    """Return what :func:`cbfs` does, for few records."""
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    _finish_cbfs(groups, pool, k)
    return groups.labels


def cbfs(X: FloatArray, k: int) -> IntArray:
    """Return the labels of CBFS for ``X``, shape (n, d), n >= k."""
    if not choice.prefers_tree(*X.shape):
        return cbfs_by_passes(X, k)
    groups, pool = form_groups_at_edge(X, k, k, False)
    _finish_cbfs(groups, pool, k)
    return groups.labels
