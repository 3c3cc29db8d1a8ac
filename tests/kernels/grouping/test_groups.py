"""Groups under construction: how they grow, and the one whose SSE grows least, against plain numpy."""

import numpy as np
import pytest

from microagg.algorithms.mdav_star import enter_group, least_growth_below, make_centroid_index, widen_boxes
from microagg.kernels.grouping.groups import form, form_in_tree, grow, least_growth, make_groups, take
from microagg.kernels.neighbors.brute_force import make_pool
from microagg.kernels.neighbors.kd_tree import leaf_of, make_tree_pool, number_left
from microagg.kernels.neighbors.tree_queries import make_query, nearest
from tests.cases import for_each
from tests.kernels.families import FAMILIES, from_outside, generate, squared


def test_groups_grow_by_what_is_nearest_to_the_moving_centroid():
    # From 0 the nearest is 2, from their centroid 1 it is -1 and not 3.5, which is nearer to 2; ties go to the lowest.
    X = np.array([[3.5], [0.0], [2.0], [-1.0], [9.0]])
    pool, groups = make_pool(X), make_groups(5, 1, 2)
    group = form(groups, pool, np.array([1]))
    grow(groups, pool, group, 3)
    assert np.flatnonzero(groups.labels == group).tolist() == [1, 2, 3]


@pytest.mark.slow
@for_each("family", FAMILIES)
@for_each(("d", "k"), [(1, 1), (2, 3), (6, 5)])
def test_the_group_that_grows_least(family, d, k):
    n = 400
    X, rng = generate(family, n, d)
    pool, groups, query = make_tree_pool(X), make_groups(n, d, k), make_query(k)
    index = make_centroid_index(pool.tree, n // k)
    assert least_growth_below(index, groups, X[0], k, 0.0, np.inf, query)[0] == -1
    for seed in from_outside(X):
        if pool.tree.slots[seed] < 0:
            continue
        if number_left(pool) < k:
            break
        if groups.number[0] > 0:
            assert_grows_least(index, groups, X[seed], k, rng, query)
            assert_grows_least(index, groups, rng.normal(size=d), k, rng, query)
        if groups.number[0] > 0 and rng.random() < 0.4:
            # Not where it grows least, so that centroids go far from where they were entered.
            group = rng.integers(groups.number[0])
            take(groups, pool, group, seed)
            widen_boxes(index, groups, group)
        else:
            leaf = leaf_of(pool.tree, pool.tree.slots[seed])
            count = nearest(pool.tree, X[seed], k - 1, seed, query)
            group = form_in_tree(groups, pool, seed, query.records[:count].copy())
            enter_group(index, groups, group, leaf)


def growths(groups, point):
    """Return by how much the SSE of each group grows when the point joins it."""
    number = groups.number[0]
    sizes = groups.sizes[:number].astype(float)
    return sizes / (sizes + 1) * squared(groups.sums[:number] / sizes[:, np.newaxis], point)


def assert_grows_least(index, groups, point, k, rng, query):
    all_growths = growths(groups, point)
    expected = int(all_growths.argmin())
    least = all_growths[expected]
    assert least_growth(groups, point) == (expected, least)
    assert least_growth_below(index, groups, point, k, 0.0, np.inf, query) == (expected, least)
    # A limit that it just meets or misses, and one somewhere.
    other = rng.choice([0.0, 1.0, least])
    exactly = (least + other) / (k + 1)
    for limit in (exactly, np.nextafter(exactly, np.inf), np.median(all_growths), exactly * rng.random() * 2):
        pays = (least + other) / (k + 1) < limit
        got = least_growth_below(index, groups, point, k, other, limit, query)
        assert got == ((expected, least) if pays else (-1, np.inf))
