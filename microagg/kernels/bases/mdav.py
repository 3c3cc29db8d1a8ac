"""MDAV, from which IMHM and PCL start, and MDAV-1, by which MDAV-2 and DBA-2 split groups.

Their steps are described in :mod:`microagg.algorithms.mdav`, their loop is in
:mod:`microagg.kernels.grouping.moving_mean`.
"""

from __future__ import annotations

from numba import njit

from microagg.kernels.grouping.groups import Groups, assign_rest, rest_to_nearest_centroid
from microagg.kernels.grouping.moving_mean import form_group, form_pairs, group_while_many
from microagg.kernels.neighbors.brute_force import ALIVE, Pool
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _finish_mdav(groups: Groups, pool: Pool, k: int) -> None:
    form_pairs(groups, pool, k, 2 * k)
    assign_rest(groups, pool, k, True)


def mdav(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV for ``X``, shape (n, d), n >= k."""
    groups, pool = group_while_many(X, k, 2 * k, True)
    _finish_mdav(groups, pool, k)
    return groups.labels


@njit(cache=True, nogil=True)
def _finish_mdav_1(groups: Groups, pool: Pool, k: int) -> None:
    form_pairs(groups, pool, k, 2 * k)
    if pool.counts[ALIVE] >= k:
        form_group(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)


def mdav_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    groups, pool = group_while_many(X, k, 2 * k, True)
    _finish_mdav_1(groups, pool, k)
    return groups.labels
