"""A search that is watched, stopped and continued; and parts of it that are solved."""

import doctest
import time
from math import inf

import numpy as np
import pytest

from microagg import DataError, ParameterError, Partition, Search, make, metrics
from microagg.optimum import bounds
from microagg.optimum import search as searching
from microagg.optimum.search import Neighborhoods
from microagg.partition import canonical_labels
from microagg.progress import Cancelled, watched
from tests.instances import instances


@pytest.fixture
def X():
    return np.random.default_rng(8).normal(size=(200, 3))


def test_search_goes_on_where_it_stopped(X):
    search = Search(X, 3)
    begun = search.information_loss
    assert begun == pytest.approx(metrics.information_loss(X, make("mdav-star", k=3).fit_predict(X)))
    assert search.trace == [(0.0, begun)]
    assert search.improve(iterations=0) is search
    settled = search.information_loss
    assert settled == pytest.approx(metrics.information_loss(X, make("local-search", k=3).fit_predict(X)))
    assert search.improve(iterations=500).iterations == 500
    assert search.improve(iterations=70).iterations == 570
    assert search.information_loss < settled
    assert search.information_loss == pytest.approx(metrics.information_loss(X, search.labels))
    assert search.sse == pytest.approx(metrics.sse(X, search.labels))
    assert Partition(search.labels, 3).labels.tolist() == search.labels.tolist()
    assert not search.labels.flags.writeable
    times, losses = zip(*search.trace, strict=True)
    assert list(times) == sorted(times)
    assert list(losses) == sorted(losses, reverse=True)
    assert losses[-1] == search.information_loss


def test_search_depends_on_the_seed_and_the_iterations_only(X):
    one, same, other = (Search(X, 3, random_state=s).improve(iterations=1000).labels for s in (0, 0, 5))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_cancelled_search_keeps_the_best_so_far(X):
    left = [4]

    def watcher(message, share):
        left[0] -= 1
        return left[0] > 0

    search = Search(X, 3)
    with pytest.raises(Cancelled), watched(watcher):
        search.improve(seconds=60)
    kept = search.information_loss
    assert kept < search.trace[0][1]
    assert kept == pytest.approx(metrics.information_loss(X, search.labels))
    assert search.improve(iterations=2000).information_loss <= kept


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"k": 0}, ParameterError, "k must be at least 1"),
        ({"k": 201}, DataError, "only 200 records"),
        ({"k": 3, "labels": [0, 0, 0]}, DataError, "there are labels for 3"),
        ({"k": 3, "labels": np.arange(200)}, DataError, "fewer than k=3"),
        ({"k": 3, "random_state": -1}, ParameterError, "random_state must be at least 0"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(X, arguments, error, says):
    with pytest.raises(error, match=says):
        Search(X, **arguments)


def test_bad_data_and_limits_are_named(X):
    for limits, says in [
        ({}, "say when the search is to end"),
        ({"seconds": -1}, "seconds must be at least 0"),
        ({"iterations": 1.5}, "iterations must be a whole number"),
    ]:
        with pytest.raises(ParameterError, match=says):
            Search(X, 3).improve(**limits)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="attribute 1 has NaN"):
        Search(X, 3)


def test_the_examples_in_the_documentation():
    failures, tries = doctest.testmod(searching)
    assert failures == 0
    assert tries == 4


def always():
    return True


@pytest.fixture
def many():
    return np.random.default_rng(4).normal(size=(240, 3))


@pytest.fixture
def labels():
    return np.random.default_rng(5).permutation(240) // 3


def test_all_records_of_a_small_set_are_solved_to_the_optimum():
    for _, X, k in instances(60, start=300):
        if not Neighborhoods.fits(len(X), k):
            continue
        labels = np.arange(len(X)) * (len(X) // k) // len(X)
        before = metrics.sse(X, labels)
        parts = Neighborhoods(X, k)
        gain = parts.improve(labels, inf, always)
        after = metrics.sse(X, labels)
        assert after == pytest.approx(bounds.exact(X, k)[0], rel=1e-6, abs=1e-12)
        assert gain == pytest.approx(before - after, rel=1e-9, abs=1e-9 * before)
        assert np.bincount(canonical_labels(labels)).min() >= k
        assert parts.exhausted
        assert parts.improve(labels, inf, always) == 0.0


@pytest.mark.parametrize("most", [searching.MOST_GROUPS, 60])
def test_a_part_only_gets_better_and_all_else_stays(many, labels, most, monkeypatch):
    monkeypatch.setattr(searching, "FIRST_GROUPS", 8)
    monkeypatch.setattr(searching, "MOST_GROUPS", most)
    parts = Neighborhoods(many, 3)
    gains = []
    for _ in range(12):
        before = labels.copy()
        gains.append(parts.improve(labels, inf, always))
        assert gains[-1] == pytest.approx(metrics.sse(many, before) - metrics.sse(many, labels), abs=1e-9)
        assert np.bincount(canonical_labels(labels)).min() >= 3
        changed = labels != before
        # Whole groups, and few of them.
        assert not np.isin(before[~changed], before[changed]).any()
        assert not np.isin(labels[~changed], labels[changed]).any()
        assert changed.sum() <= 120
    assert min(gains) >= 0.0
    assert sum(gain > 0.0 for gain in gains) > 6


def test_what_was_solved_is_not_solved_again_and_parts_grow_until_all_is(many, labels, monkeypatch):
    solved = []

    def solve(own, *_):
        solved.append(own.tobytes())
        return True, None

    monkeypatch.setattr(searching, "_best_partition", solve)
    parts = Neighborhoods(many, 3)
    for _ in range(200):
        assert parts.improve(labels, inf, always) == 0.0
    assert parts.exhausted
    assert len(set(solved)) == len(solved)
    assert solved[-1] == many.tobytes()
    assert len(solved[0]) < len(many.tobytes()) / 2


@pytest.mark.parametrize(("until", "go_on"), [(inf, lambda: False), (0.0, always)], ids=["stopped", "no time"])
def test_what_ends_early_changes_nothing_and_is_tried_again(many, labels, until, go_on):
    before = labels.copy()
    parts = Neighborhoods(many, 3)
    assert parts.improve(labels, until, go_on) == 0.0
    assert np.array_equal(labels, before)
    assert not parts.exhausted
    assert parts.improve(labels, time.perf_counter() + 60, always) > 0.0


def asked(monkeypatch):
    """Count how often a search solves a part."""
    seen = []
    improve = Neighborhoods.improve

    def count(*args):
        seen.append(improve(*args))
        return seen[-1]

    monkeypatch.setattr(Neighborhoods, "improve", count)
    monkeypatch.setattr(searching, "_FIRST_SECONDS", 0.0)
    return seen


def test_a_search_takes_the_gain_of_parts_into_account(many, labels, monkeypatch):
    seen = asked(monkeypatch)
    own = Search(many, 3, labels)
    own.improve(watch=lambda *_: len(seen) < 2)
    assert len(seen) == 2
    assert own.information_loss == pytest.approx(metrics.information_loss(many, own.labels))
    assert own.information_loss == own.trace[-1][1]
    found = own.information_loss
    assert own.improve(iterations=300).information_loss <= found
    assert len(seen) == 2
    assert own.information_loss == pytest.approx(metrics.information_loss(many, own.labels))


def test_a_search_that_is_cancelled_within_a_part_keeps_its_best(many, monkeypatch):
    asked(monkeypatch)
    within = []

    def solve(own, labels, k, known, until, go_on):
        within.append(True)
        assert not go_on()
        return False, None

    monkeypatch.setattr(searching, "_best_partition", solve)
    own = Search(many, 3)
    with pytest.raises(Cancelled), watched(lambda *_: not within):
        own.improve(seconds=60)
    assert len(within) == 1
    assert own.information_loss == own.trace[-1][1] < own.trace[0][1]
    assert own.information_loss == pytest.approx(metrics.information_loss(many, own.labels))


@pytest.mark.parametrize(("k", "limits"), [(7, {"seconds": 0.5}), (3, {"iterations": 2000})], ids=str)
def test_large_groups_and_numbers_of_iterations_leave_parts_alone(many, k, limits, monkeypatch):
    seen = asked(monkeypatch)
    Search(many, k).improve(**limits)
    assert not seen
