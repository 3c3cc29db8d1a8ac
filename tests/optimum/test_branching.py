"""Proven optima, by all groups that count, against the optimum; and what a search is told of them."""

from math import inf

import numpy as np
import pytest

from microagg import Search, metrics, optimum
from microagg.optimum import bounds, proof_checker
from microagg.optimum.branching import Branching
from microagg.optimum.master_problem import Master
from microagg.optimum.set_partitioning import SetPartitioning
from tests.instances import ROUNDING, converged, instances


def proven(X, k, labels=None, steps=3000):
    """Return a tree that has ended; on the way its floor never falls and never exceeds the optimum."""
    tree = Branching(converged(X, k))
    if labels is not None:
        tree.offer(labels)
    floors = [0.0]
    for _ in range(steps):
        if tree.converged:
            return tree, floors
        tree.advance(inf, lambda: True)
        floors.append(tree.sse)
    raise AssertionError("the tree does not end")


@pytest.mark.parametrize("chunk", range(2))
def test_floor_is_the_optimum(chunk):
    for _, X, k in instances(75, start=100 * chunk):
        optimum = bounds.exact(X, k)[0]
        tree, floors = proven(X, k, np.arange(len(X)) * (len(X) // k) // len(X))
        assert optimum * (1 - 2e-6) <= tree.sse <= optimum * ROUNDING
        assert (np.diff(floors) >= -1e-12 * optimum).all()
        assert max(floors) <= optimum * ROUNDING
        assert metrics.sse(X, tree.labels) == pytest.approx(optimum, rel=1e-6)
        assert np.bincount(tree.labels).min() >= k


@pytest.mark.parametrize("chunk", range(2))
def test_floor_is_the_optimum_by_enumeration_alone(chunk, monkeypatch):
    """With no or one round of cuts in the program more is left for the list: decisions, which the checker follows."""
    rounds = {}

    def add_cuts(master, tries, add=Master.add_cuts):
        rounds[master] = rounds.get(master, 0) + 1
        return add(master, tries) if rounds[master] <= chunk else 0

    monkeypatch.setattr(Master, "add_cuts", add_cuts)
    leaves = cuts = 0
    for _, X, k in instances(40, start=1000 + 40 * chunk):
        optimum = bounds.exact(X, k)[0]
        tree, _ = proven(X, k, np.arange(len(X)) * (len(X) // k) // len(X))
        assert optimum * (1 - 2e-6) <= tree.sse <= optimum * ROUNDING
        if tree.proof is not None:
            leaves += len(tree.proof.leaves)
            cuts += sum(len(leaf.prices.cuts) for leaf in tree.proof.leaves)
            checked = proof_checker.check(X, held(k, tree.proof))
            assert checked.sse == pytest.approx(optimum, rel=2e-6)
            assert optimum * (1 - 2e-6) <= checked.floor <= optimum * ROUNDING
    assert leaves > 20
    assert (cuts > 0) == (chunk > 0)


def held(k, proof):
    return proof_checker.Held("", k, *proof)


@pytest.mark.parametrize(("n", "k"), [(60, 3), (60, 5), (60, 10), (200, 3), (200, 5), (1000, 3)])
def test_records_along_a_line_reach_their_optimum(n, k):
    # In the plane, so that no shortcut for one attribute applies.
    x = np.random.default_rng(n + k).normal(size=n)
    X, optimum = np.column_stack([0.6 * x, 0.8 * x]), bounds.exact(x[:, np.newaxis], k)[0]
    program = bounds.LinearProgram(X, k)
    bound = program.improve(600)
    assert bound.optimal
    assert bound.converged
    assert bound.sse == pytest.approx(optimum, rel=2e-6)
    assert bound.sse <= optimum * ROUNDING
    assert metrics.sse(X, program.labels) == pytest.approx(optimum)


def test_floor_before_the_end_says_that_it_is_no_optimum():
    X = np.random.default_rng(5).normal(size=(60, 3))
    program = bounds.LinearProgram(X, 3)
    assert not program.improve(0.0).optimal
    assert program.labels is None
    while not (bound := program.improve(0.2)).converged:
        assert bound.sse <= program.best_known_sse * ROUNDING
    assert bound.optimal
    assert metrics.sse(X, program.labels) == pytest.approx(program.best_known_sse)
    assert optimum.gap(program.best_known_sse, bound.sse) <= bounds.CLOSED


def test_a_better_partition_reopens_a_tree_whose_groups_were_too_many(monkeypatch):
    X = np.random.default_rng(5).normal(size=(30, 3))
    monkeypatch.setattr(SetPartitioning, "groups_below", lambda *_: (True, None))
    monkeypatch.setattr(Master, "recombine", lambda *_: None)
    tree, _ = proven(X, 3, np.arange(30) // 5)
    assert tree.sse < 0.9 * tree.least
    monkeypatch.undo()
    tree.offer(Search(X, 3).improve(iterations=50).labels)
    assert not tree.converged
    while not tree.converged:
        tree.advance(inf, lambda: True)
    assert optimum.gap(tree.least, tree.sse) <= bounds.CLOSED


def test_best_of_some_groups():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    sets = SetPartitioning(X, 2)
    listed = np.array([[-1, 0, 1], [-1, 2, 3], [-1, 4, 5], [-1, 0, 2], [-1, 1, 3]])
    place = np.append(np.argsort(sets.places), -1)
    groups = np.sort(place[listed], axis=1)
    for start in (None, groups[:3], np.sort(place[[[-1, 0, 4]]], axis=1)):
        found = sets.master.recombine(groups, start, inf, lambda: True)
        assert np.array_equal(found, groups[[2, 3, 4]])
    assert sets.master.recombine(groups[:2], None, inf, lambda: True) is None


def test_search_goes_on_from_what_it_is_told():
    X = np.random.default_rng(3).normal(size=(14, 2))
    optimum, best = bounds.exact(X, 3)
    search = Search(X, 3, np.repeat([0, 1], 7))
    search.offer(best)
    search.improve(iterations=5)
    assert search.sse == pytest.approx(optimum)
    assert search.iterations == 5
    assert search.trace[-1][1] == pytest.approx(search.information_loss)
    search.offer(np.repeat([0, 1], 7))
    search.take_over()
    assert search.sse == pytest.approx(optimum)
    assert metrics.sse(X, search.labels) == pytest.approx(optimum)
