"""Paths through records, and their optimal cuts, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.neighbors.brute_force import order_of
from microagg.kernels.paths import (
    along_line,
    first_component_scores,
    nearest_point_next,
    split_path,
    sums,
    through_groups,
)
from tests import naive
from tests.cases import for_each


def contiguous(n, k):
    """Yield the sizes of the pieces in all cuts of a path of n records, pieces of 2k and more included."""
    if n >= k:
        yield [n]
    for first in range(k, n - k + 1):
        for rest in contiguous(n - first, k):
            yield [first, *rest]


@pytest.mark.slow
@for_each("k", [1, 2, 3, 4])
@for_each("d", [1, 3])
def test_no_other_cut_of_the_path_loses_less(k, d):
    for seed in range(20):
        rng = np.random.default_rng([seed, k, d])
        n = int(rng.integers(k, 13))
        X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 4, (n, d)).astype(float)
        order = rng.permutation(n)
        labels = split_path(X, order, k)
        along = labels[order]
        assert np.count_nonzero(np.diff(along)) == labels.max()  # each piece is contiguous
        assert np.bincount(labels).min() >= k
        assert np.bincount(labels).max() <= max(2 * k - 1, 1)
        least = min(metrics.sse(X[order], np.repeat(np.arange(len(sizes)), sizes)) for sizes in contiguous(n, k))
        assert metrics.sse(X, labels) == pytest.approx(least, rel=1e-9, abs=1e-9)


def test_the_cut_is_exact_far_from_the_origin():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [20.0]])
    for offset in (0.0, 1e9, -1e12):
        assert split_path(X + offset, np.arange(7), 3).tolist() == [1, 1, 1, 0, 0, 0, 0]


def test_equal_cuts_keep_the_longest_last_piece():
    assert split_path(np.zeros((5, 2)), np.arange(5), 2).tolist() == [1, 1, 0, 0, 0]


def test_too_few_records_for_two_pieces_are_one():
    for n in (3, 4, 5):
        assert split_path(np.random.default_rng(n).normal(size=(n, 2)), np.arange(n), 3).max() == 0


def test_any_partition_that_is_contiguous_on_a_path_is_matched_by_its_cut():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 6))
        X = rng.normal(size=(80, 2))
        order = rng.permutation(80)
        labels = np.empty(80, dtype=int)
        sizes = []
        while 80 - sum(sizes) >= 4 * k:
            sizes.append(int(rng.integers(k, 2 * k)))
        labels[order] = np.repeat(np.arange(len(sizes) + 1), [*sizes, 80 - sum(sizes)])
        assert metrics.sse(X, split_path(X, order, k)) <= metrics.sse(X, labels) * (1 + 1e-9)


# Orders.


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


# The order along a line.


def test_sorting():
    draw = np.random.default_rng(2)
    for m in (0, 1, 2, 3, 10, 500):
        values = draw.integers(0, 20, m).astype(float)
        assert np.array_equal(order_of(values), np.argsort(values, kind="stable"))


def test_records_on_a_line_are_in_its_order():
    places = np.random.default_rng(4).permutation(30)
    order = along_line(np.outer(places, [3.0, -1.0]) + 7.0)
    assert places[order].tolist() in (list(range(30)), list(range(29, -1, -1)))
