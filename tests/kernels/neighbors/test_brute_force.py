"""Passes over all unassigned records, against plain numpy."""

import numpy as np

from microagg.kernels.neighbors.brute_force import (
    ALIVE,
    EXTENT,
    centroid,
    farthest,
    make_pool,
    measure_from,
    nearest,
    remove,
    squared_distances,
    tidy,
)


def test_squared_distances_are_added_attribute_by_attribute():
    X = np.random.default_rng(0).normal(size=(3000, 7))
    out = np.empty(3000)
    squared_distances(X.T.copy(), 0, 3000, X[5], out)
    expected = np.zeros(3000)
    for j in range(7):
        expected += (X[:, j] - X[5, j]) ** 2
    assert np.array_equal(out, expected)


def test_nearest_ranks_by_value_then_position_and_skips_nan():
    values = np.array([3.0, 1.0, np.nan, 1.0, 0.5, 3.0, np.nan])
    assert nearest(values, 7, 4).tolist() == [4, 1, 3, 0]
    assert nearest(values, 7, 9).tolist() == [4, 1, 3, 0, 5]
    assert nearest(values, 2, 1).tolist() == [1]
    assert nearest(values, 7, 0).tolist() == []


def test_pool_forgets_records_and_keeps_their_order():
    X = np.random.default_rng(1).normal(size=(64, 3)) * [1, 1e3, 1e6]
    pool = make_pool(X)
    left = list(range(64))
    for record in np.random.default_rng(2).permutation(64)[:60]:
        remove(pool, pool.positions[record])
        left.remove(record)
        tidy(pool)
        assert pool.counts[ALIVE] == len(left)
        assert pool.counts[EXTENT] <= 64
        alive = [r for r in pool.records[: pool.counts[EXTENT]] if pool.positions[r] >= 0]
        assert alive == left
        assert np.allclose(centroid(pool), X[left].mean(axis=0), rtol=1e-14)
        measure_from(pool, X[0])
        expected = left[int(np.square(X[left] - X[0]).sum(axis=1).argmax())]
        assert pool.records[farthest(pool)] == expected
    assert pool.counts[EXTENT] < 16


def test_centroid_of_the_rest_is_exact_after_huge_records_have_left():
    X = np.array([[1e18], [3.0], [-7e17], [4.0], [5.0]])
    pool = make_pool(X)
    remove(pool, 0)
    remove(pool, 2)
    assert centroid(pool)[0] == 4.0
