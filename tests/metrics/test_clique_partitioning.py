"""The bound from clique partitioning: never above the optimum, whatever the prices and whenever it is stopped."""

from __future__ import annotations

import time
from itertools import combinations
from math import inf

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.bounds import primal_dual as cliques
from microagg.metrics import bounds
from microagg.metrics.clique_partitioning import CliquePartitioning, _fingerprints
from tests.conftest import standardized
from tests.metrics.test_bounds import ROUNDING, tiny


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile everything beforehand: it takes longer than the time limits below."""
    finish(CliquePartitioning(np.random.default_rng(0).normal(size=(20, 2)), 4))


def finish(program, rounds=1000):
    for _ in range(rounds):
        if program.converged:
            break
        assert program.advance(inf, lambda: True)
    return program


def begin(program):
    """Let it choose the pairs to begin with."""
    while not hasattr(program, "_columns"):
        assert not next(program._steps)


def instances(count):
    """Return those of the tiny instances that are not solved at sight."""
    for seed in range(count):
        X, k = tiny(seed)
        if len(X) >= 2 * k and metrics.sst(X) > 0.0:
            yield seed, X, k


def random_stars(rng, n, width, count):
    stars = np.full((count, 1 + width), -1, dtype=np.int64)
    for star in stars:
        records = rng.permutation(n)[: rng.integers(2, min(width + 1, n) + 1)]
        star[: len(records)] = [records[0], *np.sort(records[1:])]
    return stars[np.unique(_fingerprints(stars), return_index=True)[1]]


def test_bounds_are_in_order():
    better = []
    for seed, X, k in instances(80):
        optimum = bounds.exact(X, k)[0]
        program = CliquePartitioning(X, k)
        values = [program.sse]
        while len(values) <= seed % 30 and not program.converged:
            program.advance(inf, lambda: True)
            values.append(program.sse)
        assert values == sorted(values)
        assert values[-1] <= optimum * ROUNDING
        if program.converged:
            better.append(values[-1] / optimum if optimum else 1.0)
    assert np.mean(better) > 0.95


def test_any_prices_of_any_stars_give_a_bound():
    """Not those found by the method only, and whichever pairs are in the program."""
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        program = CliquePartitioning(X, k)
        begin(program)
        n = len(X)
        optimum = bounds.exact(X, k)[0]
        if seed % 3:  # few pairs, so that others have to be found
            program._keys = program._keys[rng.random(len(program._keys)) < 0.3]
        program._start(program._keys, random_stars(rng, n, 3, seed % 9))
        for _ in program._lay_out():
            pass
        mean = optimum / n / k / program._unit
        prices = rng.normal(mean, mean, size=n)
        others = -rng.exponential(mean, size=1 + len(program._stars))
        program._prices = program._y = np.concatenate([prices, others])
        program._value = program._worth(program._prices)
        program._best = -inf
        for _ in program._price():
            pass
        assert np.isfinite(program._best)
        assert program._best * program._unit <= optimum * ROUNDING


def test_worth_is_what_the_formula_says():
    """Against the sum over all pairs, without a sparse matrix."""
    for seed, X, k in instances(80):
        rng = np.random.default_rng(seed)
        program = CliquePartitioning(X, k)
        begin(program)
        X, n = program._X, len(X)
        stars = random_stars(rng, n, 3, 6)
        program._start(program._keys, stars)
        for _ in program._lay_out():
            pass
        u, w, v = rng.normal(size=n), -rng.random(), -rng.random(len(stars))
        program._prices = program._y = np.concatenate([u, [w], v])
        program._value = program._worth(program._prices)
        program._best = -inf
        for _ in program._price():
            pass
        diagonal = -u - w
        reduced = np.square(X[:, np.newaxis] - X).sum(axis=2) / k - u - u[:, np.newaxis]
        for star, price in zip(stars, v, strict=True):
            center, arms = star[0], star[1:][star[1:] >= 0]
            diagonal[center] += price
            for arm in arms:
                reduced[center, arm] -= price
                reduced[arm, center] -= price
            for one, other in combinations(arms, 2):
                reduced[one, other] += price
                reduced[other, one] += price
        expected = k * u.sum() + k * (n // k) * w + np.minimum(diagonal, diagonal * k / (2 * k - 1)).sum()
        expected += np.minimum(reduced[np.triu_indices(n, 1)], 0.0).sum()
        assert program._best == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_partitions_violate_no_star():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, k = 14, 3
        labels = rng.permutation(np.arange(n) // k % (n // k))
        sizes = np.bincount(labels)[labels]
        first, second = np.triu_indices(n, 1)
        graph = cliques.make_graph(first * n + second, n)
        x = np.append(k / sizes, np.where(labels[first] == labels[second], k / sizes[first], 0.0))
        stars, _ = cliques.violated_stars(graph, x, 1e-9, 5, 4, 5, 0, n)
        assert len(stars) == 0
        rows = cliques.make_rows(graph, random_stars(rng, n, 5, 50))
        columns = cliques.turn(rows, len(x))
        left = matrix(rows, len(x)) @ x
        assert np.array_equal(matrix(rows, len(x)), matrix(columns, len(rows.middles)).T)
        assert left[:n] == pytest.approx(k)
        assert left[n] == pytest.approx(k * (labels.max() + 1))
        assert left[n + 1 :].max() <= 1e-9


def matrix(lines, width):
    dense = np.zeros((len(lines.middles), width))
    for i, middle in enumerate(lines.middles):
        dense[i, lines.indices[lines.starts[i] : middle]] += 1.0
        dense[i, lines.indices[middle : lines.starts[i + 1]]] -= 1.0
    return dense


def test_violated_stars_are_violated_by_as_much():
    rng = np.random.default_rng(0)
    n = 12
    first, second = np.triu_indices(n, 1)
    graph = cliques.make_graph(first * n + second, n)
    x = np.append(np.full(n, 0.8), rng.random(len(first)) * (rng.random(len(first)) < 0.5))
    stars, violations = cliques.violated_stars(graph, x, 0.01, 4, 3, 5, 0, n)
    assert set((stars[:, 1:] >= 0).sum(axis=1)) == {2, 3, 4}
    left = matrix(cliques.make_rows(graph, stars), len(x)) @ x
    assert left[n + 1 :] == pytest.approx(violations)
    # None of two arms is more violated than the most violated one that was found.
    Z = np.zeros((n, n))
    Z[first, second] = Z[second, first] = x[n:]
    stars, violations = cliques.violated_stars(graph, x, 0.01, 2, 3, 5, 0, n)
    ends = [(i, a, b) for i in range(n) for a, b in combinations(set(range(n)) - {i}, 2)]
    most = max(Z[i, a] + Z[i, b] - Z[a, b] - x[i] for i, a, b in ends)
    assert violations.max() == pytest.approx(most)


def test_pairs_outside_the_program_are_found_among_many_blocks():
    rng = np.random.default_rng(1)
    program = CliquePartitioning(rng.normal(size=(500, 3)), 4)
    begin(program)
    n, X = 500, program._X
    prices = rng.exponential(program._y.mean(), size=n)
    keys, reduced, total = cliques.cheap_pairs(program._blocks, program._graph, prices, 4, 100, 300, 1000)
    first, second = np.triu_indices(n, 1)
    expected = np.square(X[first] - X[second]).sum(axis=1) / 4 - prices[first] - prices[second]
    wanted = (expected < 0) & (first >= 100) & (first < 300) & ~np.isin(first * n + second, program._graph.keys)
    assert set(keys) == set((first * n + second)[wanted])
    assert total == pytest.approx(expected[wanted].sum())
    some, values, same = cliques.cheap_pairs(program._blocks, program._graph, prices, 4, 100, 300, 2)
    assert same == total
    assert np.bincount(some // n).max() == 2
    assert len(some) < len(keys)
    assert values.mean() < reduced.mean()  # the most negative ones


def test_stops_when_told_and_goes_on_where_it_was():
    X = np.random.default_rng(3).normal(size=(200, 3))
    program = CliquePartitioning(X, 5)
    assert not program.advance(0.0, lambda: True)
    assert not program.advance(inf, lambda: False)
    assert program.iterations == 0
    assert program.sse == 0.0
    straight = finish(CliquePartitioning(X, 5), 6)
    calls = 0
    while program.iterations < 6:
        calls += 1
        program.advance(time.perf_counter() + 1e-3, lambda: True)
    assert calls > 6
    assert program.sse == pytest.approx(straight.sse, rel=1e-9)


def test_units_do_not_matter():
    X = np.random.default_rng(4).normal(size=(60, 2))
    expected = finish(CliquePartitioning(X, 5), 5).sse
    for factor in (2.0**-300, 2.0**300):
        assert finish(CliquePartitioning(X * factor, 5), 5).sse / factor**2 == expected
    assert finish(CliquePartitioning(X * 1e-3, 5), 5).sse * 1e6 == pytest.approx(expected, rel=1e-3)


def test_identical_records_are_no_neighbors_of_themselves():
    X = np.repeat(np.random.default_rng(5).normal(size=(6, 2)), 5, axis=0)
    assert finish(CliquePartitioning(X, 5)).sse == pytest.approx(0.0, abs=1e-6)
    # With one more needed in each group than are identical, something must be lost.
    assert finish(CliquePartitioning(X, 6)).sse > 0.0


@pytest.mark.parametrize("k", [5, 7])
def test_both_programs_take_their_turn(k):
    X = np.random.default_rng(6).normal(size=(14, 2))
    program = bounds.LinearProgram(X, k)
    bound = program.improve(60.0)
    assert bound.converged
    assert program._cliques.iterations > 0
    assert program._sets.iterations > 0
    assert bound.iterations == program._cliques.iterations + program._sets.iterations
    assert bound.sse == max(program._cliques.sse, program._sets.sse)
    assert bounds.nearest_neighbor(X, k).sse < bound.sse <= bounds.exact(X, k)[0] * ROUNDING
    assert bound.sse > 0.99 * bounds.exact(X, k)[0]


def test_very_large_groups():
    X = np.random.default_rng(7).normal(size=(150, 2))
    for k in (40, 75):
        bound = finish(CliquePartitioning(X, k), 4).sse
        assert bounds.nearest_neighbor(X, k).sse < bound <= metrics.sse(X, make("mdav", k=k).fit_predict(X))


def test_large_groups_of_real_data():
    X = standardized("tarragona")
    program = bounds.LinearProgram(X, 10)
    bound = program.improve(300.0, lambda bound: bound.iterations < 8)
    assert bound.sse > 1.3 * bounds.nearest_neighbor(X, 10).sse
    for key in ("mdav", "mdav-star"):
        assert metrics.sse(X, make(key, k=10).fit_predict(X)) >= bound.sse
