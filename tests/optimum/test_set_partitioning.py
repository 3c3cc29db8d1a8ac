"""The bound from set partitioning: valid for any dual values, and the optimum where its cuts suffice."""

import threading
from itertools import combinations
from math import inf
from time import perf_counter

import numpy as np
import pytest

from microagg import metrics
from microagg.kernels.bounds import pricing
from microagg.optimum import bounds
from microagg.optimum.master_problem import Prices
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.partition import canonical_labels
from tests.instances import ROUNDING, converged, instances, random_cuts


def test_cuts_close_the_gap_that_fractions_leave():
    """Of two far triangles, k = 2, half of each of the sides is cheaper than two groups of three."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    X = np.vstack([triangle, triangle + 9])
    program = converged(X, 2)
    assert len(program.master.cuts)
    assert bounds.exact(X, 2)[0] == pytest.approx(2.0)  # and 1.5 with fractions
    assert program.sse == pytest.approx(2.0, rel=1e-6)


def test_any_duals_give_a_bound():
    """Not those of the solver only: so neither its tolerances nor its state can matter."""
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        n = len(X)
        program = SetPartitioning(X, k)
        optimum = bounds.exact(program.X, k)[0]
        program._effort = int(rng.choice([0, 5, 10**9]))
        cuts = tuple(random_cuts(rng, n, seed % 7))
        mean = optimum / n
        sigma = rng.exponential(mean, size=len(cuts))
        search = program._start(Prices(rng.normal(mean, mean, size=n), cuts, sigma))
        assert program._search(search, inf, lambda: True)
        assert program.lower_bound(search.prices, search.result) <= optimum * ROUNDING + 1e-12


def test_bound_is_the_optimum_where_only_the_best_groups_are_cheap():
    """Were it a little higher than the formula says, it would be above the optimum."""
    group = np.random.default_rng(0).normal(size=(3, 2))
    X = np.vstack([group + 100.0 * i for i in range(4)])  # equally cheap, as any record may be the root
    program = SetPartitioning(X, 3)
    optimum, labels = bounds.exact(program.X, 3)
    sse_of_groups = np.bincount(labels, metrics.record_sse(program.X, labels))
    search = program._start(Prices((2 * sse_of_groups / 3)[labels], (), np.empty(0)))
    assert program._search(search, inf, lambda: True)
    assert optimum * (1 - 1e-4) < program.lower_bound(search.prices, search.result) <= optimum * ROUNDING


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_threads_search_for_groups_than_asked_for(threads, monkeypatch):
    ids: set[int] = set()
    price = pricing.price

    def note(*args):
        ids.add(threading.get_ident())
        return price(*args)

    monkeypatch.setattr(pricing, "price", note)
    program = SetPartitioning(np.random.default_rng(1).normal(size=(200, 3)), 3, threads=threads)
    assert program.advance(inf, lambda: True)
    assert 1 <= len(ids) <= threads


def test_groups_below_a_gap_are_all_of_them():
    for seed, X, k in instances(60):
        program = converged(X, k)
        gap = float(np.random.default_rng(seed).uniform(0.1, 1.0)) * program.bound / len(X)
        finished, found = program.groups_below(gap, 10**6, inf, lambda: True)
        assert finished
        found = {frozenset(group[group >= 0].tolist()) for group in found}
        prices = program.prices
        for size in range(k, min(2 * k - 1, len(X)) + 1):
            for group in combinations(range(len(X)), size):
                members = list(group)
                cost = np.square(program.X[members] - program.X[members].mean(axis=0)).sum() - prices.pi[members].sum()
                for cut, sigma in zip(prices.cuts, prices.sigma, strict=True):
                    weight = sum(u for record, u in zip(cut.records, cut.multipliers, strict=True) if record in group)
                    cost += sigma * (weight // cut.denominator)
                assert (frozenset(group) in found) == (cost < gap) or abs(cost - gap) < 1e-6


def test_too_many_groups_are_not_enumerated():
    program = converged(np.random.default_rng(0).normal(size=(30, 2)), 3)
    assert program.groups_below(1.0, 10, inf, lambda: True) == (True, None)


def test_what_is_enumerated_in_pieces_is_the_same():
    program = converged(np.random.default_rng(0).normal(size=(100, 2)), 3)
    finished, at_once = program.groups_below(0.1, 10**6, inf, lambda: True)
    assert finished
    assert program.groups_below(0.1, 10**6, 0.0, lambda: True) == (False, None)
    pieces = 1
    while not (found := program.groups_below(0.1, 10**6, perf_counter() + 0.001, lambda: True))[0]:
        pieces += 1
    assert pieces > 1
    assert np.array_equal(found[1], at_once)


def test_groups_and_labels_say_the_same():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    program = SetPartitioning(X, 3)
    labels = rng.permutation(np.arange(20) // 4)
    groups = program.groups_from(labels)
    assert (canonical_labels(program.labels_from(groups)) == canonical_labels(labels)).all()
    assert program.partition_sse(groups) == pytest.approx(metrics.sse(X, labels))
    # A group of 2k records is none of the program's.
    assert len(program.groups_from(np.repeat([0, 1, 2], [6, 5, 9]))) == 1
