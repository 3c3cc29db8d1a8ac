"""Iterated local search: the optimum where it is known, and what seed, effort and time limit do."""

import numpy as np
import pytest

from microagg import Partition, make, metrics
from microagg.kernels.local_search import iterated
from microagg.kernels.local_search.iterated import anneal, make_annealing
from microagg.kernels.local_search.state import centered
from microagg.kernels.paths import split_path
from tests import naive
from tests.algorithms.test_oracles import generate
from tests.cases import for_each
from tests.kernels.local_search.test_state import assert_consistent, state_of


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


@pytest.fixture
def few_at_once(monkeypatch):
    monkeypatch.setattr(iterated, "MOST_AT_ONCE", 200)
    monkeypatch.setattr(iterated, "MOST_IN_REGION", 90)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
@pytest.mark.parametrize("k", [3, 7])
def test_regions_are_improved_each_by_itself(few_at_once, monkeypatch, family, k):
    X = centered(generate(family, 700))
    before = make("mdav", k=k).fit(X).labels_
    labels = before.copy()
    losses = [metrics.sse(X, before)]
    for message, share in iterated.descend_by_regions(X, labels, k):
        assert message
        assert 0 <= share <= 1
        assert np.bincount(labels)[np.unique(labels)].min() >= k
        losses.append(metrics.sse(X, labels))
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0] or losses[0] < 1e-12
    expected = iterated.improve(X, before, k)
    for threads in (1, 5):
        monkeypatch.setattr(iterated, "THREADS", threads)
        assert np.array_equal(iterated.improve(X, before, k), expected)


@pytest.mark.slow
def test_regions_lose_hardly_more_than_all_at_once(monkeypatch):
    X = np.random.default_rng(3).normal(size=(3000, 3))
    at_once = metrics.sse(X, make("local-search", k=3).fit_predict(X))
    monkeypatch.setattr(iterated, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(iterated, "MOST_IN_REGION", 1000)
    assert metrics.sse(X, make("local-search", k=3).fit_predict(X)) < 1.03 * at_once


def test_regions_hold_all_groups_once():
    rng = np.random.default_rng(0)
    centers, sizes = rng.normal(size=(300, 2)), rng.integers(3, 6, size=300)
    found = iterated.divide(centers, sizes, rng, most=100)
    assert sorted(np.concatenate(found)) == list(range(300))
    assert all(sizes[groups].sum() <= 100 for groups in found)
    labels = np.repeat(np.arange(300), sizes)
    before = labels.copy()
    parts, firsts = iterated.records_of(found, labels, 3)
    assert sorted(np.concatenate(parts)) == list(range(len(labels)))
    assert Partition(labels, 3) == Partition(before, 3)
    for part, first, after in zip(parts, firsts, [*firsts[1:], len(labels)], strict=True):
        assert first <= labels[part].min()
        assert labels[part].max() < after


@pytest.mark.slow
@for_each("k", [1, 2, 3, 6])
@for_each("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
def test_iterations_know_what_they_have_gained(family, k):
    X = generate(family, 200)
    state = state_of(X, make("local-search", k=k).fit_predict(X), k)
    annealing = make_annealing(state.X, state.labels, k, state.neighbors, np.array([7], dtype=np.uint64))
    before = annealing.state.sses.sum()
    if k > 1:
        anneal(annealing, k, 0, 300, 300, before / 100)
    assert_consistent(annealing.state, k)
    assert before - annealing.gains[0] == pytest.approx(annealing.state.sses.sum())
    assert before - annealing.gains[1] == pytest.approx(metrics.sse(state.X, annealing.best))
    assert annealing.gains[1] >= max(0, annealing.gains[0] - 1e-9)
