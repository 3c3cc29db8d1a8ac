"""Paths through records and their optimal cuts, and the algorithms that cut paths, against plain Python."""

import numpy as np
import pytest

from microagg import ParameterError, make, metrics
from microagg.kernels import paths
from microagg.kernels.neighbors.brute_force import order_of
from microagg.kernels.paths import along_line, first_component_scores, split_path, sums, through_groups
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


def test_first_component_is_that_of_a_singular_value_decomposition():
    X = np.random.default_rng(5).normal(size=(200, 6)) @ np.random.default_rng(6).normal(size=(6, 6)) + 100
    scores = first_component_scores(X)
    u, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert np.allclose(np.abs(scores), np.abs(u[:, 0] * s[0]))
    assert scores[np.abs(scores).argmax()] > 0
    assert np.array_equal(sums(X), ((((X[:, 0] + X[:, 1]) + X[:, 2]) + X[:, 3]) + X[:, 4]) + X[:, 5])


@for_each("k", [1, 2, 3, 7])
def test_groups_stay_together_on_the_path_whatever_their_numbers(k):
    for seed in range(10):
        rng = np.random.default_rng([seed, k])
        n = int(rng.integers(k, 60))
        X = rng.normal(size=(n, 3))
        labels = make("cbfs", k=k).fit_predict(X)
        order = through_groups(X, labels)
        assert sorted(order) == list(range(n))
        assert np.count_nonzero(np.diff(labels[order])) == labels.max()  # each group is contiguous
        renumbered = rng.permutation(labels.max() + 5)[labels]
        assert np.array_equal(order, through_groups(X, renumbered))
        assert order.tolist() == naive.path_through(naive.rows(X), labels.tolist())


def test_sorting():
    draw = np.random.default_rng(2)
    for m in (0, 1, 2, 3, 10, 500):
        values = draw.integers(0, 20, m).astype(float)
        assert np.array_equal(order_of(values), np.argsort(values, kind="stable"))


def test_records_on_a_line_are_in_its_order():
    places = np.random.default_rng(4).permutation(30)
    order = along_line(np.outer(places, [3.0, -1.0]) + 7.0)
    assert places[order].tolist() in (list(range(30)), list(range(29, -1, -1)))


def least_sse_along(values, k):
    """Return the least SSE of all ways to cut sorted values into groups of k or more, by running sums."""
    x = np.sort(values) - values.mean()
    sums, squares = (np.concatenate([[0.0], np.cumsum(terms)]) for terms in (x, x * x))
    best = np.full(len(x) + 1, np.inf)
    best[0] = 0.0
    for stop in range(k, len(x) + 1):
        start = np.arange(stop - k + 1)
        sse = squares[stop] - squares[start] - (sums[stop] - sums[start]) ** 2 / (stop - start)
        best[stop] = (best[start] + sse).min()
    return best[-1]


@for_each("k", [1, 2, 3, 5, 20])
def test_one_attribute_is_optimal_for_hundreds_of_records(k):
    rng = np.random.default_rng(k)
    for values in (rng.normal(size=400), rng.lognormal(0, 2, 401), rng.integers(0, 60, 300).astype(float)):
        labels = make("mhm", k=k).fit_predict(values[:, np.newaxis])
        assert metrics.sse(values, labels) == pytest.approx(least_sse_along(values, k), rel=1e-9, abs=1e-8)


@for_each("key", ["projection", "projection-mhm"])
@for_each("k", [1, 2, 3, 5])
def test_all_choices_agree_with_the_oracle(key, k):
    choices = [{"onto": "attribute", "attribute": 0}, {"onto": "attribute", "attribute": 2}]
    choices += [{"onto": "sum"}] if key == "projection" else []
    for n in (k, 2 * k, 3 * k + 1, 40):
        for X in (np.random.default_rng(n).normal(size=(n, 3)), np.random.default_rng(n).integers(0, 3, (n, 3)) * 1.0):
            for params in choices:
                assert make(key, k=k, **params).fit_predict(X).tolist() == naive.ORACLES[key](X, k, **params)
            assert make("mhm", k=k, order="given").fit_predict(X).tolist() == naive.mhm(X, k, order="given")


def test_an_attribute_that_is_not_there_is_refused():
    X = np.random.default_rng(0).normal(size=(10, 3))
    for key in ("projection", "projection-mhm"):
        make(key, k=2, onto="attribute", attribute=2).fit(X)
        make(key, k=2, attribute=3).fit(X)  # it does not matter then
        with pytest.raises(ParameterError, match="attribute must be at most 2, not 3: the data have 3"):
            make(key, k=2, onto="attribute", attribute=3).fit(X)


def test_a_path_through_groups_is_laid_in_pieces_which_change_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.arange(60) % 20
    expected = paths.through_groups(X, labels)
    monkeypatch.setattr(paths.brute_force, "passes_at_a_time", lambda *_: 7)
    assert np.array_equal(paths.through_groups(X, labels), expected)
