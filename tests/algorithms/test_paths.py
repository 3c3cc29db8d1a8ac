"""The algorithms that cut paths: against brute force, another implementation, and what theory promises."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from microagg import ParameterError, make, metrics
from microagg.algorithms.tsp_mhm import tour_path
from microagg.kernels import paths
from microagg.kernels.paths import nearest_point_next
from microagg.progress import Cancelled, watched
from tests import naive
from tests.cases import for_each
from tests.conftest import standardized


@for_each("k", [1, 2, 3, 4, 6])
def test_one_attribute_is_optimal_among_all_partitions(k):
    for n in (k, 2 * k, 9, 10) if k > 2 else (k, 2 * k, 8):
        if n < k:
            continue
        rng = np.random.default_rng([n, k])
        for X in (rng.normal(size=(n, 1)), rng.integers(0, 5, (n, 1)).astype(float), rng.lognormal(2, 2, (n, 1))):
            least = naive.least_sse(X, k)
            assert metrics.sse(X, make("mhm", k=k).fit_predict(X)) == pytest.approx(least, rel=1e-9, abs=1e-9)


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


#: Each of these cuts a path through the groups of another.
BASES = {"mdav-mhm": "mdav-argus", "md-mhm": "md", "cbfs-mhm": "cbfs"}


@pytest.mark.parametrize(("key", "base"), BASES.items())
def test_never_worse_than_the_base_partition_on_random_data(key, base):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 8))
        n, d = int(rng.integers(k, 15 * k + 20)), int(rng.integers(1, 5))
        X = (rng.normal(size=(n, d)), rng.integers(0, 4, (n, d)) * 1.0, rng.lognormal(0, 2, (n, d)))[seed % 3]
        loss = metrics.sse(X, make(key, k=k).fit_predict(X))
        assert loss <= metrics.sse(X, make(base, k=k).fit_predict(X)) * (1 + 1e-9) + 1e-9


@cache
def tour_of(seed):
    X = np.random.default_rng(seed).normal(size=(300, 2))
    return X, tour_path(X)


def lengths(X, order):
    """Return the lengths of the edges of a tour, the last one leading back."""
    return np.sqrt(np.square(X[order] - X[np.roll(order, -1)]).sum(axis=1))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tour_is_short_and_opened_at_its_longest_edge(seed):
    X, order = tour_of(seed)
    assert sorted(order) == list(range(300))
    edges = lengths(X, order)
    assert edges[-1] == edges.max()
    assert edges.sum() < 0.95 * lengths(X, nearest_point_next(X)).sum()


def test_tour_is_better_than_walking_to_the_nearest():
    X = standardized("census")
    assert metrics.sse(X, make("tsp-mhm").fit_predict(X)) < metrics.sse(X, make("npn-mhm").fit_predict(X))


def test_a_path_through_groups_is_laid_in_pieces_which_change_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.arange(60) % 20
    expected = paths.through_groups(X, labels)
    monkeypatch.setattr(paths.brute_force, "passes_at_a_time", lambda *_: 7)
    for patience in (0, 2, 7):
        calls = []
        with watched(lambda *where, c=calls, p=patience: c.append(where) or len(c) <= p):
            if patience < 7:
                with pytest.raises(Cancelled):
                    paths.through_groups(X, labels)
            else:
                assert np.array_equal(paths.through_groups(X, labels), expected)
        # Three groups of three records at a time: the first that make seven or more.
        assert len(calls) == min(patience + 1, 7)
