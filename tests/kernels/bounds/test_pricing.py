"""The search for groups with a negative reduced cost, against all groups there are."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.kernels.bounds import pricing
from microagg.metrics import bounds, sst
from microagg.metrics.set_partitioning import LIMIT, SetPartitioning
from tests.instances import instances, random_triples


def all_groups(n, k):
    """Return the members of every group of k to 2k-1 of n records."""
    subsets = [[i for i in range(n) if subset >> i & 1] for subset in range(1 << n)]
    return [np.array(members) for members in subsets if k <= len(members) < 2 * k]


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

        def cost(members, X=X, pi=pi, triples=triples, sigma=sigma):
            paid = sigma[np.isin(triples, members).sum(axis=1) >= 2].sum()
            return sst(X[members]) - pi[members].sum() + paid

        def search(effort, n=n, k=k, program=program, pi=pi, cuts=cuts):
            found = pricing.make_found(n, k, 3)
            pricing.price(program._blocks, pi, cuts, program._halves, k, 0, n, LIMIT, effort, found)
            return found

        found = search(10**9)
        least = min(0.0, *(cost(members) for members in all_groups(n, k)))
        assert found.least.min() == pytest.approx(least, abs=2e-7 if least > -2e-7 else 1e-9)
        assert not found.cut_short.any()
        for root in range(n):
            for group, value in zip(found.groups[root, : found.counts[root]], found.costs[root], strict=False):
                assert cost(group[group >= 0]) == pytest.approx(value, abs=1e-9)
        # With hardly any effort it is no more than that.
        assert (search(0).least <= found.least + 1e-9).all()
