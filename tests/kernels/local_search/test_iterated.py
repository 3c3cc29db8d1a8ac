"""Iterated local search: the optimum where it is known, and what seed, effort and time limit do."""

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.local_search import iterated
from microagg.kernels.paths import split_path
from tests import naive
from tests.algorithms.test_oracles import generate
from tests.cases import for_each


@pytest.mark.slow
@for_each(("n", "k", "d"), [(9, 2, 2), (10, 3, 1), (11, 3, 2), (12, 4, 3), (12, 3, 2)])
def test_iterated_search_finds_the_optimum_of_few_records(n, k, d):
    for seed in range(3):
        X = np.random.default_rng([n, k, d, seed]).normal(size=(n, d))
        labels = make("iterated-local-search", k=k, effort=100).fit_predict(X)
        assert metrics.sse(X, labels) == pytest.approx(naive.least_sse(X, k))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_iterated_search_comes_to_the_optimum_of_one_attribute(k):
    X = np.random.default_rng(5).normal(size=(80, 1))
    optimum = metrics.sse(X, split_path(X, np.argsort(X[:, 0]), k))
    labels = make("iterated-local-search", k=k, effort=60).fit_predict(X)
    assert optimum * (1 - 1e-12) <= metrics.sse(X, labels) <= optimum * 1.01


def test_many_regions_are_searched_and_put_together(monkeypatch):
    monkeypatch.setattr(iterated, "_MOST_RECORDS", 60)
    monkeypatch.setattr(iterated, "_LEAST_GROUPS", 4)
    X = generate("gaussian-2d", 600)
    labels = make("local-search", k=3).fit_predict(X)
    searched = make("iterated-local-search", k=3, effort=10).fit_predict(X)
    assert metrics.sse(X, searched) < metrics.sse(X, labels)
    assert np.bincount(searched).min() >= 3


def test_same_seed_same_groups():
    X = np.random.default_rng(0).normal(size=(150, 3))
    one, same, other = (make("iterated-local-search", random_state=s, effort=5).fit_predict(X) for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_no_effort_is_local_search():
    X = np.random.default_rng(0).normal(size=(90, 3))
    assert np.array_equal(make("iterated-local-search", effort=0).fit_predict(X), make("local-search").fit_predict(X))


def test_seconds_limit_the_effort():
    X = np.random.default_rng(0).normal(size=(90, 3))
    labels = make("iterated-local-search", effort=10**9, seconds=0.2).fit_predict(X)
    assert metrics.sse(X, labels) <= metrics.sse(X, make("local-search").fit_predict(X))
