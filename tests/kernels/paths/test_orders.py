"""Orders of records: against another implementation and what they promise."""

from __future__ import annotations

import numpy as np

from microagg import make
from microagg.kernels.paths import first_component_scores, nearest_point_next, sums, through_groups
from tests import naive
from tests.cases import for_each


def test_first_component_is_that_of_a_singular_value_decomposition():
    X = np.random.default_rng(5).normal(size=(200, 6)) @ np.random.default_rng(6).normal(size=(6, 6)) + 100
    scores = first_component_scores(X)
    u, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert np.allclose(np.abs(scores), np.abs(u[:, 0] * s[0]))
    assert scores[np.abs(scores).argmax()] > 0
    assert np.array_equal(sums(X), ((((X[:, 0] + X[:, 1]) + X[:, 2]) + X[:, 3]) + X[:, 4]) + X[:, 5])


def is_contiguous(order, labels):
    """Tell whether each group occupies consecutive places of the path."""
    return np.count_nonzero(np.diff(labels[order])) == labels.max()


@for_each("k", [1, 2, 3, 7])
def test_groups_stay_together_on_the_path_whatever_their_numbers(k):
    for seed in range(10):
        rng = np.random.default_rng([seed, k])
        n = int(rng.integers(k, 60))
        X = rng.normal(size=(n, 3))
        labels = make("cbfs", k=k).fit_predict(X)
        order = through_groups(X, labels)
        assert sorted(order) == list(range(n))
        assert is_contiguous(order, labels)
        renumbered = rng.permutation(labels.max() + 5)[labels]
        assert np.array_equal(order, through_groups(X, renumbered))
        assert order.tolist() == naive.path_through(naive.rows(X), labels.tolist())


def test_nearest_point_next_begins_at_the_end_of_the_diameter_with_the_lower_index():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 90))
        X = rng.normal(size=(n, 3)) if seed % 2 else rng.integers(0, 6, (n, 2)) * 1.0
        order = nearest_point_next(X)
        assert order.tolist() == naive.nearest_point_next(naive.rows(X))
