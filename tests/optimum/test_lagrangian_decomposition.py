"""The bound for many records: never above the optimum, whatever the multipliers and whenever it is stopped."""

from __future__ import annotations

from itertools import combinations, permutations
from math import inf

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.bounds import decomposition
from microagg.optimum import bounds, lagrangian_decomposition
from microagg.optimum.lagrangian_decomposition import LagrangianDecomposition
from tests.instances import ROUNDING, instances


@pytest.fixture(params=["all", "some", "fewest"])
def listed(request, monkeypatch):
    """Let lists hold all other records, a few more than a group does, or just a group."""
    if request.param != "all":
        monkeypatch.setattr(lagrangian_decomposition, "SHORTEST", 1)
        more = 2 if request.param == "some" else 0
        begin = LagrangianDecomposition.__init__

        def shorter(program, X, k):
            monkeypatch.setattr(lagrangian_decomposition, "MORE_LISTED", more - k)
            begin(program, X, k)

        monkeypatch.setattr(LagrangianDecomposition, "__init__", shorter)
    return request.param


def run(program, iterations):
    for _ in range(iterations):
        assert program.advance(inf, lambda: True)
    return program


def evaluate(program):
    decomposition.choose(
        program.X, program._lists, program.k, program._pairwise, program._triple, 0, len(program.X), program._choices
    )
    return program.value() * program.unit


def known(program, i, j, other):
    """Return whether a triple's pairs are all mutual, by the definition."""
    X, reach = program.X, program._lists.reach
    return all(np.square(X[a] - X[b]).sum() < min(reach[a], reach[b]) for a, b in combinations((i, j, other), 2))


def at_random(program, rng, size):
    """Give the multipliers random values of about this size."""
    near, back = program._lists.near, program._lists.back
    m = near.shape[1]
    places = {(i, j): a for i, row in enumerate(near) for a, j in enumerate(row)}
    for (i, j), a in places.items():
        if i < j and back[i, a] >= 0:
            program._pairwise[i, a] = rng.normal() * size
            program._pairwise[j, back[i, a]] = -program._pairwise[i, a]
    if len(program._triple):
        assert program._triple.shape == (len(near), m, m)
        for triple in combinations(range(len(near)), 3):
            if known(program, *triple):
                mu = rng.integers(-(2**20), 2**20, size=6) * size * program.k**2
                mu = mu.astype(np.int64)
                mu[0] -= mu.sum()
                for value, (i, j, other) in zip(mu, permutations(triple), strict=True):
                    program._triple[i, places[i, j], places[i, other]] = value


def shares_in(program, K):
    """Return the share of each member of a group of k, as the docstring of the module defines it."""
    X, k = program.X, program.k
    near, _, _, reach, cuts = program._lists
    d = np.square(X[:, np.newaxis] - X).sum(axis=2)
    where = {(i, j): a for i, row in enumerate(near) for a, j in enumerate(row)}
    p = 0.5 * np.minimum(d, cuts[:, np.newaxis])
    if k == 2:
        i, j = K
        listed = [(i, j) in where, (j, i) in where]
        paid = [0.5 * min(d[i, j], reach[i]), 0.5 * min(d[i, j], reach[j])]
        left = d[i, j] - sum(paid)
        return [
            0.5 * (own + left * (sees and not seen)) + (program._pairwise[at, where[at, other]] if sees else 0.0)
            for own, sees, seen, at, other in zip(paid, listed, listed[::-1], (i, j), (j, i), strict=True)
        ]
    shares = []
    for i in K:
        share = 0.0
        for j, other in combinations([x for x in K if x != i], 2):
            share += p[i, j] + p[i, other] + d[j, other] - p[j, other] - p[other, j]
            if len(program._triple) and known(program, i, j, other):
                a, b = where[i, j], where[i, other]
                share += decomposition.QUANTUM * (int(program._triple[i, a, b]) + int(program._triple[i, b, a]))
        share /= k * (k - 2)
        shares.append(share + sum(program._pairwise[i, where[i, j]] for j in K if (i, j) in where))
    return shares


@pytest.mark.usefixtures("listed")
def test_bounds_are_in_order():
    for seed, X, k in instances(110):
        program = LagrangianDecomposition(X, k)
        optimum = bounds.exact(X, k)[0]
        values = [program.sse]
        for _ in range(seed % 25):
            run(program, 1)
            values.append(program.sse)
        assert values == sorted(values)
        assert values[-1] <= optimum * ROUNDING


@pytest.mark.usefixtures("listed")
def test_shares_of_a_group_add_up_to_its_sse_and_none_is_below_the_least():
    """With any multipliers, for every group of k; so what is summed up is a bound."""
    for seed, X, k in instances(24, start=300):
        rng = np.random.default_rng(seed)
        program = run(LagrangianDecomposition(X, k), 1)
        at_random(program, rng, rng.choice([0.0, 0.02, 1.0]))
        evaluate(program)
        for K in combinations(range(len(X)), k):
            sse = metrics.sse(program.X[list(K)], np.zeros(k, dtype=int))
            shares = np.array(shares_in(program, K))
            size = np.abs(shares).sum() + np.square(np.ptp(program.X, axis=0)).sum()
            # Where neither of two lists the other, what is left of their distance may remain unpaid.
            assert shares.sum() <= sse + 1e-9 * size
            if k > 2 or program._lists.near.shape[1] == len(X) - 1:
                assert shares.sum() == pytest.approx(sse, abs=1e-9 * size)
            assert np.all(program._choices.shares[list(K)] <= shares + 1e-9 * size)


def test_any_multipliers_give_a_bound():
    for seed, X, k in instances(150, start=500):
        rng = np.random.default_rng(seed)
        program = run(LagrangianDecomposition(X, k), 1)
        at_random(program, rng, 0.05)
        assert evaluate(program) <= bounds.exact(X, k)[0] * ROUNDING


def naive_shares(program):
    """Return what the records choose by the two rounds of the kernel's docstring, with nothing but sorting."""
    X, k = program.X, program.k
    near, _, _, reach, cuts = program._lists
    m = near.shape[1]
    shares = []
    for i, row in enumerate(near):
        unlisted = 0.5 * cuts[i] if reach[i] < inf else inf
        p = [0.5 * min(np.square(X[i] - X[j]).sum(), cuts[i]) for j in row]
        lam = [value / (k - 2) for value in program._pairwise[i]]

        def cost(a, b, row=row, p=p, lam=lam, unlisted=unlisted, i=i):
            both = [unlisted if at == m else p[at] for at in (a, b)]
            total = 0.5 * sum(both) / (k * (k - 2)) + 0.5 * sum(0.0 if at == m else lam[at] for at in (a, b))
            if m in (a, b):
                return total
            j, other = row[a], row[b]
            d = np.square(X[j] - X[other]).sum()
            more = d - 0.5 * min(d, cuts[j]) - 0.5 * min(d, cuts[other])
            mu = decomposition.QUANTUM * program._triple[i, a, b] if len(program._triple) else 0.0
            return total + (0.5 * more + mu) / (k * (k - 2))

        rows = []
        for a in range(m + 1):
            others = [cost(a, b) for b in range(m) if b != a] + [cost(a, m)] * (k - 2)
            rows += [sum(sorted(others)[: k - 2])] * (k - 1 if a == m else 1)
        shares.append(sum(sorted(rows)[: k - 1]))
    return shares


@pytest.mark.parametrize(("k", "more"), [(3, 1), (4, 0), (5, 2), (5, 100)])
def test_choices_are_those_of_the_definition(k, more, monkeypatch):
    monkeypatch.setattr(lagrangian_decomposition, "MORE_LISTED", more - k)
    monkeypatch.setattr(lagrangian_decomposition, "SHORTEST", 1)
    rng = np.random.default_rng(k + more)
    X = rng.normal(size=(14, 2))
    X[3] = X[9]
    program = run(LagrangianDecomposition(X, k), 1)
    at_random(program, rng, 0.02)
    evaluate(program)
    assert program._choices.shares == pytest.approx(naive_shares(program))


def test_for_triples_the_least_share_is_exact():
    X = np.random.default_rng(5).normal(size=(12, 3))
    program = run(LagrangianDecomposition(X, 3), 1)
    assert len(program._triple)
    program._pairwise[:], program._triple[:] = 0.0, 0
    evaluate(program)
    least = np.full(12, inf)
    for K in combinations(range(12), 3):
        least[list(K)] = np.minimum(least[list(K)], shares_in(program, K))
    assert program._choices.shares == pytest.approx(least)


def test_multipliers_add_up_to_nothing():
    X = np.random.default_rng(6).normal(size=(150, 2))
    program = run(LagrangianDecomposition(X, 4), 30)
    near, _, back, _, _ = program._lists
    for i, a in zip(*np.nonzero(back >= 0), strict=True):
        assert program._pairwise[i, a] == -program._pairwise[near[i, a], back[i, a]]
    assert np.all(program._pairwise[back < 0] == 0.0)
    sums: dict[tuple[int, ...], int] = {}
    for i, a, b in zip(*np.nonzero(program._triple), strict=True):
        triple = tuple(sorted((i, near[i, a], near[i, b])))
        sums[triple] = sums.get(triple, 0) + int(program._triple[i, a, b])
        assert known(program, *triple)
    assert len(sums) > 500
    assert not any(sums.values())


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("clustered", [False, True])
def test_more_is_gained_than_from_nearest_neighbors(k, clustered):
    rng = np.random.default_rng(k)
    X = rng.random((400, 3))
    if clustered:
        X = 5 * rng.random((40, 3))[rng.integers(0, 40, 400)] + np.exp(rng.normal(size=(400, 1))) * 0.1 * X
    program = run(LagrangianDecomposition(X, k), 1)
    assert program.sse > 0.999 * bounds.nearest_neighbor(X, k).sse
    run(program, 14)
    assert program.sse > 1.05 * bounds.nearest_neighbor(X, k).sse
    assert program.sse < metrics.sse(X, make("mdav-star", k=k).fit_predict(X))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_many_records_with_duplicates(k):
    rng = np.random.default_rng(k)
    X = np.round(rng.normal(size=(2000, 2)), 1)
    X[:60] = X[0]  # more of them than a list holds
    program = run(LagrangianDecomposition(X, k), 6)
    assert 0.0 < program.sse <= metrics.sse(X, make("mdav-star", k=k).fit_predict(X))


def test_identical_records_lose_nothing():
    X = np.repeat(np.random.default_rng(2).normal(size=(20, 2)), 5, axis=0)
    assert run(LagrangianDecomposition(X, 5), 3).sse == 0.0


def test_units_do_not_matter():
    X = np.random.default_rng(4).normal(size=(200, 3))
    sse = run(LagrangianDecomposition(X, 4), 5).sse
    assert run(LagrangianDecomposition(1e-6 * X, 4), 5).sse == pytest.approx(1e-12 * sse, rel=1e-3)
    assert run(LagrangianDecomposition(X + 1e3, 4), 5).sse == pytest.approx(sse, rel=1e-3)
    # By a power of two nothing is rounded.
    assert run(LagrangianDecomposition(1024 * X, 4), 5).sse == 1024**2 * sse


def test_stops_when_told_and_goes_on_where_it_was(monkeypatch):
    X = np.random.default_rng(3).normal(size=(300, 3))
    through = run(LagrangianDecomposition(X, 4), 4)
    monkeypatch.setattr(lagrangian_decomposition, "TERMS", 1000)
    stopped = LagrangianDecomposition(X, 4)
    assert not stopped.advance(inf, lambda: False)
    assert not stopped.advance(0.0, lambda: True)
    assert (stopped.iterations, stopped.sse) == (0, 0.0)
    # Whatever it has done when it is asked, it goes on from there.
    pauses = 0
    while stopped.iterations < 4:
        next(stopped._steps)
        pauses += 1
        assert stopped.advance(inf, lambda: False) is False
    assert pauses > 100
    assert stopped.sse == through.sse


def test_does_not_depend_on_the_number_of_threads(monkeypatch):
    X = np.random.default_rng(8).normal(size=(500, 3))
    one = run(LagrangianDecomposition(X, 3), 4).sse
    monkeypatch.setattr(lagrangian_decomposition.running, "THREADS", 5)
    assert run(LagrangianDecomposition(X, 3), 4).sse == one


def test_without_room_for_multipliers_of_triples_there_are_those_of_pairs(monkeypatch):
    X = np.random.default_rng(9).normal(size=(300, 2))
    both = run(LagrangianDecomposition(X, 5), 10)
    monkeypatch.setattr(lagrangian_decomposition, "MOST_TRIPLES", 300 * 9 * 9)
    pairs = run(LagrangianDecomposition(X, 5), 10)
    assert len(both._triple) == 300
    assert len(pairs._triple) == 0
    assert bounds.nearest_neighbor(X, 5).sse < pairs.sse < both.sse


@pytest.mark.parametrize("k", [3, 5])
def test_the_bound_of_many_records_begins_with_it(k, monkeypatch):
    monkeypatch.setattr(bounds, "MANY_RECORDS", 200)
    monkeypatch.setattr(bounds, "MOST_FOR_SETS", 250)
    monkeypatch.setattr(bounds, "MOST_FOR_CLIQUES", 0)
    monkeypatch.setattr(lagrangian_decomposition, "LAST_ITERATIONS", 5)
    monkeypatch.setattr(lagrangian_decomposition, "NO_GAIN", 0.02)
    monkeypatch.setattr(lagrangian_decomposition, "LITTLE_GAIN", 0.1)
    X = np.random.default_rng(7).normal(size=(300, 3))
    program = bounds.LinearProgram(X, k)
    assert not program.bound.converged
    bound = program.improve(inf)
    assert bound.converged
    assert bound.iterations > 5
    assert not bound.optimal
    assert bound.sse > 1.05 * bounds.nearest_neighbor(X, k).sse
    assert bound.sse == program._shares.sse
    assert program._sets is None
    # With fewer records than that limit the other programs go on.
    monkeypatch.setattr(bounds, "MOST_FOR_SETS", 1000)
    begun = []
    program.improve(inf, lambda best: begun.append(best) or program._sets is None)
    assert program._sets is not None
    assert begun[-1].sse >= bound.sse


def test_there_is_not_always_room_for_the_lists():
    assert LagrangianDecomposition.fits(1_000_000, 10)
    assert not LagrangianDecomposition.fits(1_000_000, 11)
    assert not LagrangianDecomposition.fits(10_000_000, 3)
