"""The bound from clique partitioning: never above the optimum, whatever the dual values and whenever it is stopped."""

import time
from itertools import combinations
from math import inf

import numpy as np
import pytest

from microagg.optimum import bounds
from microagg.optimum.clique_partitioning import CliquePartitioning, _make_matrix, _pairs_in
from tests.instances import ROUNDING, instances, random_inequalities


def finish(program, rounds=1000):
    for _ in range(rounds):
        if program.converged:
            break
        assert program.advance(inf, lambda: True)
    return program


def begin(program):
    """Let it choose the pairs to begin with."""
    while not hasattr(program, "_matrix"):
        assert not next(program._steps)


def random_clusters(rng, n, count):
    """Return all records, and random sets of some of them."""
    return np.concatenate([np.ones((1, n), dtype=bool), rng.random((count, n)) < rng.random((count, 1))])


def start(program, keys, inequalities, clusters=None):
    """Let it have these pairs, inequalities and clusters, and dual values of 0."""
    n = len(program.X)
    if clusters is not None:
        program._clusters = clusters
    pairs = [pairs for _, pairs, _ in _pairs_in(inequalities, n)]
    program._keys, program._inequalities = np.unique(np.concatenate([keys, *pairs])), inequalities
    program._x = np.concatenate([np.ones(n), np.zeros(len(program._keys))])
    program._y = np.zeros(n + len(program._clusters) + len(inequalities))


def evaluate(program, duals):
    """Make the bound of these dual values its best."""
    for _ in program._assemble():
        pass
    program._duals = program._y = duals
    program._value = program._evaluate(duals)
    program.bound = -inf
    for _ in program._price():
        pass


def test_bounds_are_in_order():
    better = []
    for seed, X, k in instances(40):
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


def test_any_duals_of_any_inequalities_give_a_bound():
    """Not those found by the method only, and whichever pairs are in the program."""
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        program = CliquePartitioning(X, k)
        begin(program)
        n = len(X)
        optimum = bounds.exact(X, k)[0]
        if seed % 3:  # few pairs, so that others have to be found
            program._keys = program._keys[rng.random(len(program._keys)) < 0.3]
        start(program, program._keys, random_inequalities(rng, n, 3, seed % 9), random_clusters(rng, n, seed % 4))
        mean = optimum / n / k / program.unit
        u = rng.normal(mean, mean, size=n)
        others = -rng.exponential(mean, size=len(program._clusters) + len(program._inequalities))
        evaluate(program, np.concatenate([u, others]))
        assert np.isfinite(program.bound)
        assert program.bound * program.unit <= optimum * ROUNDING


def test_pairs_that_are_not_in_the_program_count():
    """The dual values are so high that without these pairs there would be no bound."""
    for _, X, k in instances(40):
        program = CliquePartitioning(X, k)
        begin(program)
        optimum = bounds.exact(X, k)[0]
        start(program, program._keys[:0], program._inequalities)
        evaluate(program, np.append(np.full(len(X), 5 * optimum / len(X) / k / program.unit), 0.0))
        assert program.bound * program.unit <= optimum * ROUNDING


def test_every_partition_satisfies_the_program():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, k = 14, 3
        labels = rng.permutation(np.arange(n) // k % (n // k))
        sizes = np.bincount(labels)[labels]
        first, second = np.triu_indices(n, 1)
        x = np.append(k / sizes, np.where(labels[first] == labels[second], k / sizes[first], 0.0))
        clusters = random_clusters(rng, n, 50)
        clusters[1:4] = [labels == 0, labels <= 1, labels != 0]
        left = _make_matrix(first * n + second, clusters, random_inequalities(rng, n, 5, 50), n) @ x
        assert left[:n] == pytest.approx(k)
        assert left[n : n + 4] == pytest.approx(k * np.array([n // k, 1, 2, n // k - 1]))
        assert (left[n : n + 51] <= k * (clusters.sum(axis=1) // k) + 1e-9).all()
        assert left[n + 51 :].max() <= 1e-9


def test_value_is_what_the_formula_says():
    """Against the sum over all pairs, without a sparse matrix."""
    for seed, X, k in instances(80):
        rng = np.random.default_rng(seed)
        program = CliquePartitioning(X, k)
        begin(program)
        X, n = program.X, len(X)
        inequalities, clusters = random_inequalities(rng, n, 3, 6), random_clusters(rng, n, 3)
        start(program, program._keys, inequalities, clusters)
        u, w, v = rng.normal(size=n), -rng.random(4), -rng.random(len(inequalities))
        evaluate(program, np.concatenate([u, w, v]))
        diagonal = -u - w @ clusters
        reduced = np.square(X[:, np.newaxis] - X).sum(axis=2) / k - u - u[:, np.newaxis]
        for cluster, dual in zip(clusters, w, strict=True):
            reduced += dual * (cluster != cluster[:, np.newaxis])
        for (center, *leaves), dual in zip(inequalities, v, strict=True):
            leaves = [leaf for leaf in leaves if leaf >= 0]
            diagonal[center] += dual
            for leaf in leaves:
                reduced[center, leaf] -= dual
                reduced[leaf, center] -= dual
            for one, other in combinations(leaves, 2):
                reduced[one, other] += dual
                reduced[other, one] += dual
        expected = k * u.sum() + k * (clusters.sum(axis=1) // k) @ w
        expected += np.minimum(diagonal, diagonal * k / (2 * k - 1)).sum()
        expected += np.minimum(reduced[np.triu_indices(n, 1)], 0.0).sum()
        assert program.bound == pytest.approx(expected, rel=1e-7, abs=1e-7)


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


def test_identical_records_are_no_neighbors_of_themselves():
    X = np.repeat(np.random.default_rng(5).normal(size=(6, 2)), 5, axis=0)
    assert finish(CliquePartitioning(X, 5)).sse == pytest.approx(0.0, abs=1e-6)
    # With one more needed in each group than are identical, something must be lost.
    assert finish(CliquePartitioning(X, 6)).sse > 0.0
