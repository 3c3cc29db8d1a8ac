"""The bound from set partitioning: valid for any dual values, and the optimum where its cuts suffice."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from microagg import metrics
from microagg.metrics import bounds
from microagg.metrics.set_partitioning import Duals, SetPartitioning
from tests.instances import ROUNDING, instances, random_triples


def test_triples_close_the_gap_that_fractions_leave():
    """Of two far triangles, k = 2, half of each of the sides is cheaper than two groups of three."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    X = np.vstack([triangle, triangle + 9])
    program = SetPartitioning(X, 2)
    while not program.converged:
        program.advance(inf, lambda: True)
    assert len(program._master.triples)
    assert bounds.exact(X, 2)[0] == pytest.approx(2.0)  # and 1.5 with fractions
    assert program.sse == pytest.approx(2.0, rel=1e-6)


def test_any_duals_give_a_bound():
    """Not those of the solver only: so neither its tolerances nor its state can matter."""
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        n = len(X)
        program = SetPartitioning(X, k)
        optimum = bounds.exact(program._X, k)[0]
        program._effort = int(rng.choice([0, 5, 10**9]))
        program._master.triples = random_triples(rng, n, seed % 7)
        mean = optimum / n
        sigma = rng.exponential(mean, size=len(program._master.triples))
        search = program._start(Duals(rng.normal(mean, mean, size=n), sigma))
        assert program._search(search, inf, lambda: True)
        assert program.lower_bound(search.duals, search.found) <= optimum * ROUNDING + 1e-12


def test_bound_is_the_optimum_where_only_the_best_groups_are_cheap():
    """Were it a little higher than the formula says, it would be above the optimum."""
    group = np.random.default_rng(0).normal(size=(3, 2))
    X = np.vstack([group + 100.0 * i for i in range(4)])  # equally cheap, as any record may be the root
    program = SetPartitioning(X, 3)
    optimum, labels = bounds.exact(program._X, 3)
    search = program._start(Duals((2 * metrics.group_sse(program._X, labels) / 3)[labels], np.empty(0)))
    assert program._search(search, inf, lambda: True)
    assert optimum * (1 - 1e-4) < program.lower_bound(search.duals, search.found) <= optimum * ROUNDING
