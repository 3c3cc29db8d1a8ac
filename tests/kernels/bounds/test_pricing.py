"""The search for groups with a negative reduced cost, against all groups there are."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.kernels.bounds import pricing
from microagg.metrics import bounds
from microagg.metrics.set_partitioning import LIMIT, SetPartitioning
from tests.instances import instances, random_triples


def reduced_costs(X, k, pi, triples, sigma):
    """Return the reduced cost of every group of k to 2k-1 records, by the set of its members."""
    members = np.arange(1 << len(X))[:, np.newaxis] >> np.arange(len(X)) & 1
    sizes = members.sum(axis=1)
    members = members[(k <= sizes) & (sizes < 2 * k)]
    distances = np.square(X[:, np.newaxis] - X).sum(axis=2)
    costs = (members @ distances * members).sum(axis=1) / (2 * members.sum(axis=1)) - members @ pi
    costs += (members[:, triples].sum(axis=2) >= 2) @ sigma
    return {frozenset(np.flatnonzero(row)): cost for row, cost in zip(members, costs, strict=True)}


def test_no_group_is_cheaper_than_what_the_search_returns():
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        n = len(X)
        program = SetPartitioning(X, k)
        X = program._X
        triples = random_triples(rng, n, seed % 5)
        pi = rng.normal(1.5, 1, size=n) * bounds.exact(X, k)[0] / n
        sigma = rng.exponential(pi.std(), size=len(triples))
        cuts = pricing.make_cuts(n, triples, sigma)

        def search(effort, program=program, pi=pi, cuts=cuts):
            n, k = len(pi), program.k
            found = pricing.make_found(n, k, 3)
            pricing.price(program._blocks, pi, cuts, program._halves, k, 0, n, LIMIT, effort, found)
            return found

        expected = reduced_costs(X, k, pi, triples, sigma)
        found = search(10**9)
        least = min(0.0, *expected.values())
        assert found.least.min() == pytest.approx(least, abs=2e-7 if least > -2e-7 else 1e-9)
        assert not found.cut_short.any()
        for root in range(n):
            for at in range(found.counts[root]):
                assert root in found.groups[root, at]
                group = frozenset(found.groups[root, at]) - {-1}
                assert found.costs[root, at] == pytest.approx(expected[group], abs=1e-9)
        # With hardly any effort it is no more than that.
        assert (search(0).least <= found.least + 1e-9).all()
