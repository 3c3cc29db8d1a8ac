"""CBFS, from which CBFS-MHM starts, too; its steps are described in :mod:`microagg.algorithms.cbfs`."""

from __future__ import annotations

from numba import njit

from microagg.kernels.grouping.groups import Groups, rest_to_nearest_centroid
from microagg.kernels.grouping.moving_mean import form_group, group_while_many
from microagg.kernels.neighbors.brute_force import ALIVE, Pool
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _finish(groups: Groups, pool: Pool, k: int) -> None:
    while pool.counts[ALIVE] >= k:
        form_group(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)


def cbfs(X: FloatArray, k: int) -> IntArray:
    """Return the labels of CBFS for ``X``, shape (n, d), n >= k."""
    groups, pool = group_while_many(X, k, k, False)
    _finish(groups, pool, k)
    return groups.labels
