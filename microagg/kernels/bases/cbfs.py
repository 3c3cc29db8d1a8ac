"""CBFS, from which CBFS-MHM starts, too; its steps are described in :mod:`microagg.algorithms.cbfs`."""

from __future__ import annotations

from microagg.kernels.grouping.groups import rest_to_nearest_centroid
from microagg.kernels.grouping.moving_mean import form_groups
from microagg.validation import FloatArray, IntArray


def cbfs(X: FloatArray, k: int) -> IntArray:
    """Return the labels of CBFS for ``X``, shape (n, d), n >= k."""
    groups, pool = form_groups(X, k, k, False)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels
