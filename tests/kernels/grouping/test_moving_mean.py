"""The record farthest from a moving centroid, against a pass over all records in plain numpy."""

import numpy as np
import pytest

from microagg.kernels.grouping.groups import form_in_tree, make_groups, take
from microagg.kernels.grouping.moving_mean import (
    farthest_from_mean,
    is_used_up,
    landmarks_among,
    make_farthest_list,
    without_assigned,
)
from microagg.kernels.neighbors.kd_tree import make_tree_pool
from microagg.kernels.neighbors.neighbor_lists import empty_cache, nearest_to
from microagg.kernels.neighbors.tree_queries import farthest, make_query
from tests.cases import for_each
from tests.kernels.families import FAMILIES, exact_centroid, first, generate, squared, tree_with_landmarks


def ways_to_leave(X, rng):
    """Yield ways to pick who leaves next, given the records left and the one farthest out."""
    yield lambda alive, out: first(squared(X, X[out]), alive, 4)
    yield lambda alive, out: rng.choice(alive, min(len(alive), 9), replace=False).tolist()
    # From one side only: the centroid goes a long way.
    yield lambda alive, out: first(X[:, 0], alive, 6)
    yield lambda alive, out: [out]


@pytest.mark.slow
@for_each("family", FAMILIES)
@for_each(("n", "d"), [(900, 1), (900, 4), (400, 2), (30, 2)])
def test_the_record_farthest_from_the_moving_centroid(family, n, d):
    X, rng = generate(family, n, d)
    for pick in ways_to_leave(X, rng):
        pool, groups, query = make_tree_pool(X), make_groups(n, d, 1), make_query(1)
        listed = make_farthest_list(pool)
        alive = np.arange(n)
        for turn in range(120):
            out = farthest_from_mean(pool, listed, query)
            if out < 0:
                assert is_used_up(pool, listed)
                # A new list always has an answer, be it by asking the tree.
                listed = make_farthest_list(pool)
                out = farthest_from_mean(pool, listed, query)
            elif turn % 5 == 0:
                listed = without_assigned(pool, listed)
                assert farthest_from_mean(pool, listed, query) in (out, -1)
            assert out == first(-squared(X, exact_centroid(X, alive)), alive, 1)[0]
            for record in pick(alive, out):
                take(groups, pool, 0, record)
                alive = alive[alive != record]
            if len(alive) == 0:
                break


def test_a_list_lasts_for_many_rounds():
    n = 20_000
    X = np.random.default_rng(5).random((n, 3))
    pool, groups, query = make_tree_pool(X), make_groups(n, 3, 1), make_query(4)
    listed, made = make_farthest_list(pool), 1
    for _ in range(1000):
        out = farthest_from_mean(pool, listed, query)
        if out < 0:
            listed, made = make_farthest_list(pool), made + 1
            out = farthest_from_mean(pool, listed, query)
        count = nearest_to(pool, empty_cache(n), out, 4, query)
        form_in_tree(groups, pool, out, query.records[:count].copy())
    # Twice what was measured: a list made anew at every turn would be right, but of no use.
    assert made <= 10
    # Nor would it be to ask the tree at every turn.
    assert query.visited[0] < 1000 * 40


def test_landmarks_halve_the_search_among_clusters():
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 10, (20, 8))[rng.integers(20, size=20_000)] + rng.normal(size=(20_000, 8))
    pool = make_tree_pool(X)
    outermost = make_farthest_list(pool)
    landmarks = landmarks_among(pool, outermost)
    visited = []
    for known in (landmarks[:1], landmarks):
        tree, query = tree_with_landmarks(pool.tree, known), make_query(1)
        for record in outermost.records[:100]:
            farthest(tree, X[record], 1, record, query)
        visited.append(query.visited[0])
    assert visited[1] < visited[0] / 2
    # Corners of a cube are too far apart.
    pool = make_tree_pool(rng.random((20_000, 8)))
    assert len(landmarks_among(pool, make_farthest_list(pool))) == 1
