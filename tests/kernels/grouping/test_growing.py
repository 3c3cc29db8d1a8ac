"""Groups that grow around their moving centroids."""

from __future__ import annotations

import numpy as np

from microagg.kernels.grouping.groups import form, grow, make_groups
from microagg.kernels.neighbors.brute_force import make_pool


def test_groups_grow_by_what_is_nearest_to_the_moving_centroid():
    # From 0 the nearest is 2, from their centroid 1 it is -1 and not 3.5, which is nearer to 2; ties go to the lowest.
    X = np.array([[3.5], [0.0], [2.0], [-1.0], [9.0]])
    pool, groups = make_pool(X), make_groups(5, 1, 2)
    group = form(groups, pool, np.array([1]))
    grow(groups, pool, group, 3)
    assert np.flatnonzero(groups.labels == group).tolist() == [1, 2, 3]
