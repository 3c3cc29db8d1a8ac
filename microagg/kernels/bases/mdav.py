"""MDAV, from which IMHM and PCL start, and MDAV-1, by which MDAV-2 and DBA-2 split groups.

Their steps are described in :mod:`microagg.algorithms.mdav`, their loop is in
:mod:`microagg.kernels.grouping.moving_mean`.
"""

from __future__ import annotations

from microagg.kernels.grouping.groups import assign_rest, rest_to_nearest_centroid
from microagg.kernels.grouping.moving_mean import form_group, form_groups
from microagg.kernels.neighbors.brute_force import ALIVE
from microagg.validation import FloatArray, IntArray


def mdav(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV for ``X``, shape (n, d), n >= k."""
    groups, pool = form_groups(X, k, 2 * k, True)
    assign_rest(groups, pool, k, True)
    return groups.labels


def mdav_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    groups, pool = form_groups(X, k, 2 * k, True)
    if pool.counts[ALIVE] >= k:
        form_group(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels
