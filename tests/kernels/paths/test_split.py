"""The optimal cut of a path: against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import metrics
from microagg.kernels.paths import split_path
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
