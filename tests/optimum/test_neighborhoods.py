"""Parts of a partition that are solved: better or as they were, never worse; and when a search does so."""

from __future__ import annotations

import time
from math import inf

import numpy as np
import pytest

from microagg import Search, metrics
from microagg.optimum import bounds, neighborhoods, search
from microagg.optimum.neighborhoods import Neighborhoods
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.partition import canonical_labels
from microagg.progress import Cancelled, watched
from tests.instances import instances


def always():
    return True


@pytest.fixture
def X():
    return np.random.default_rng(4).normal(size=(240, 3))


@pytest.fixture
def labels():
    """A partition into groups of 3, at random."""
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


@pytest.mark.parametrize("most", [neighborhoods.MOST_GROUPS, 60])
def test_a_part_only_gets_better_and_all_else_stays(X, labels, most, monkeypatch):
    monkeypatch.setattr(neighborhoods, "FIRST_GROUPS", 8)
    monkeypatch.setattr(neighborhoods, "MOST_GROUPS", most)
    parts = Neighborhoods(X, 3)
    gains = []
    for _ in range(12):
        before = labels.copy()
        gains.append(parts.improve(labels, inf, always))
        assert gains[-1] == pytest.approx(metrics.sse(X, before) - metrics.sse(X, labels), abs=1e-9)
        assert np.bincount(canonical_labels(labels)).min() >= 3
        changed = labels != before
        # Whole groups, and few of them.
        assert not np.isin(before[~changed], before[changed]).any()
        assert not np.isin(labels[~changed], labels[changed]).any()
        assert changed.sum() <= 120
    assert min(gains) >= 0.0
    assert sum(gain > 0.0 for gain in gains) > 6


def test_what_was_solved_is_not_solved_again_and_parts_grow_until_all_is(X, labels, monkeypatch):
    solved = []

    def solve(own, *_):
        solved.append(own.tobytes())
        return True, None

    monkeypatch.setattr(neighborhoods, "_best_partition", solve)
    parts = Neighborhoods(X, 3)
    for _ in range(200):
        assert parts.improve(labels, inf, always) == 0.0
    assert parts.exhausted
    assert len(set(solved)) == len(solved)
    assert solved[-1] == X.tobytes()
    assert len(solved[0]) < len(X.tobytes()) / 2


@pytest.fixture
def half(X):
    """Records of which the first half are triples far apart, and labels that leave nothing to gain there."""
    far = np.repeat(1000.0 + 50.0 * np.arange(40)[:, np.newaxis], 3, axis=0) + X[:120] / 10
    labels = np.random.default_rng(5).permutation(np.arange(40).repeat(3)) + 40
    return np.concatenate([far, X[120:]]), np.concatenate([np.arange(120) // 3, labels])


def drawn(monkeypatch, X, labels):
    """Return how many of 30 parts are in the first half of the records."""
    parts = []

    def solve(own, *_):
        parts.append(own)
        return False, np.arange(len(own)) // 3

    monkeypatch.setattr(neighborhoods, "FIRST_GROUPS", 4)
    monkeypatch.setattr(neighborhoods, "_best_partition", solve)
    searched = Neighborhoods(X, 3)
    while len(parts) < 30:
        searched.improve(labels.copy(), inf, always)
    return sum(own[:, 0].mean() > 500.0 for own in parts)


def test_parts_are_where_groups_cost_more_than_the_prices_of_their_members(half, monkeypatch):
    assert drawn(monkeypatch, *half) == 0


def test_parts_of_many_records_are_anywhere(half, monkeypatch):
    monkeypatch.setattr(neighborhoods, "MOST_PRICED", 239)
    assert 3 < drawn(monkeypatch, *half) < 27


def test_prices_that_take_too_long_are_used_as_they_are(X, labels, monkeypatch):
    monkeypatch.setattr(neighborhoods, "PRICING_SECONDS", 0.0)
    monkeypatch.setattr(SetPartitioning, "advance", lambda *_: False)
    monkeypatch.setattr(neighborhoods, "_best_partition", lambda own, *_: (True, np.arange(len(own)) // 3))
    assert Neighborhoods(X, 3).improve(labels, inf, always) != 0.0


def test_parts_shrink_where_time_does_not_suffice(X, labels, monkeypatch):
    sizes = []

    def solve(own, *_):
        sizes.append(len(own))
        return False, None

    monkeypatch.setattr(neighborhoods, "_best_partition", solve)
    monkeypatch.setattr(neighborhoods, "SECONDS", 0.0)
    parts = Neighborhoods(X, 3)
    for _ in range(40):
        parts.improve(labels, inf, always)
    assert max(sizes[1:]) < sizes[0]
    assert 12 <= sizes[-1] <= 18


@pytest.mark.parametrize(("until", "go_on"), [(inf, lambda: False), (0.0, always)], ids=["stopped", "no time"])
def test_what_ends_early_changes_nothing_and_is_tried_again(X, labels, until, go_on):
    before = labels.copy()
    parts = Neighborhoods(X, 3)
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
    monkeypatch.setattr(search, "_AT_FIRST", 0.0)
    return seen


def test_a_search_takes_the_gain_of_parts_into_account(X, labels, monkeypatch):
    seen = asked(monkeypatch)
    own = Search(X, 3, labels)
    own.improve(watch=lambda *_: len(seen) < 2)
    assert len(seen) == 2
    assert own.information_loss == pytest.approx(metrics.information_loss(X, own.labels))
    assert own.information_loss == own.trace[-1][1]
    found = own.information_loss
    assert own.improve(iterations=300).information_loss <= found
    assert len(seen) == 2
    assert own.information_loss == pytest.approx(metrics.information_loss(X, own.labels))


def test_a_search_that_is_cancelled_within_a_part_keeps_its_best(X, monkeypatch):
    asked(monkeypatch)
    within = []

    def solve(own, labels, k, known, until, go_on):
        within.append(True)
        assert not go_on()
        return False, None

    monkeypatch.setattr(neighborhoods, "_best_partition", solve)
    own = Search(X, 3)
    with pytest.raises(Cancelled), watched(lambda *_: not within):
        own.improve(seconds=60)
    assert len(within) == 1
    assert own.information_loss == own.trace[-1][1] < own.trace[0][1]
    assert own.information_loss == pytest.approx(metrics.information_loss(X, own.labels))


@pytest.mark.parametrize(("k", "limits"), [(7, {"seconds": 0.5}), (3, {"iterations": 2000})], ids=str)
def test_large_groups_and_numbers_of_iterations_leave_parts_alone(X, k, limits, monkeypatch):
    seen = asked(monkeypatch)
    Search(X, k).improve(**limits)
    assert not seen


def test_parts_get_less_time_where_rounds_gain_much(monkeypatch):
    monkeypatch.setattr(search, "_AT_FIRST", 0.0)

    class Parts:
        exhausted = False

        def __init__(self, gain):
            self.gain, self.calls = gain, 0

        def improve(self, *_):
            self.calls += 1
            time.sleep(0.01)
            return self.gain

    def calls(of_rounds, of_parts):
        parts = Parts(of_parts)
        turns, sse, elapsed = search._Turns(parts, 1000.0), 1000.0, 0.0
        for _ in range(40):
            elapsed, sse = elapsed + 0.02, sse - of_rounds
            sse -= turns.take(np.zeros(3, dtype=int), sse, elapsed, inf, always)
        return parts.calls

    seldom, often, winning = calls(1.0, 0.0), calls(0.0, 0.0), calls(1.0, 5.0)
    assert 1 <= seldom < often / 2
    assert winning > seldom
