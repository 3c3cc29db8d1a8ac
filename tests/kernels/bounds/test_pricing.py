"""The search for groups with a negative reduced cost, against all groups there are."""

import numpy as np
import pytest

from microagg.kernels.bounds import pricing
from microagg.optimum import bounds
from microagg.optimum.set_partitioning import LIMIT, SetPartitioning
from tests.instances import instances, random_cuts


def all_groups(X, k, pi, cuts, sigma):
    """Return the members (0 or 1), the reduced cost and the members' weighted degrees of each group of k to 2k-1."""
    members = np.arange(1 << len(X))[:, np.newaxis] >> np.arange(len(X)) & 1
    sizes = members.sum(axis=1)
    members = members[(k <= sizes) & (sizes < 2 * k)]
    sizes = members.sum(axis=1)
    sums = members @ np.square(X[:, np.newaxis] - X).sum(axis=2) / sizes[:, np.newaxis]
    costs = (sums * members).sum(axis=1) / 2 - members @ pi
    for cut, price in zip(cuts, sigma, strict=True):
        costs += price * (members[:, list(cut.records)] @ np.array(cut.multipliers) // cut.denominator)
    degrees = sums - pi - ((members @ pi)[:, np.newaxis] - pi) / (sizes[:, np.newaxis] - 1)
    return members, costs, degrees


def test_no_group_is_cheaper_than_what_the_search_returns():
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        n = len(X)
        program = SetPartitioning(X, k)
        X = program.X
        some = random_cuts(rng, n, seed % 7)
        pi = rng.normal(1.5, 1, size=n) * bounds.exact(X, k)[0] / n
        sigma = rng.exponential(pi.std(), size=len(some))
        if seed // 4 % 2:  # the least rc is hardly below 0, so that bounds that are a little too high rule it out
            members, costs, _ = all_groups(X, k, pi, some, sigma)
            pi += ((costs + 0.005) / members.sum(axis=1)).min()
        cuts = pricing.make_cuts(n, some, sigma)

        def search(effort, program=program, pi=pi, cuts=cuts):
            n, k = len(pi), program.k
            found = pricing.make_found(n, k, 3)
            pricing.price(program._blocks, pi, cuts, program._halves, k, 2 * k - 1, 0, n, LIMIT, effort, found)
            return found

        members, costs, degrees = all_groups(X, k, pi, some, sigma)
        found = search(10**9)
        least = min(0.0, costs.min())
        assert found.least.min() == pytest.approx(least, abs=2e-7 if least > -2e-7 else 1e-9)
        assert not found.cut_short.any()
        # A root may answer for every group in which its weighted degree is negative.
        groups, roots = np.nonzero(members * (degrees < -1e-9))
        assert (found.least[roots] <= costs[groups] + 1e-9).all()
        cost_of = {frozenset(np.flatnonzero(row)): cost for row, cost in zip(members, costs, strict=True)}
        for root in range(n):
            for at in range(found.counts[root]):
                assert root in found.groups[root, at]
                group = frozenset(found.groups[root, at]) - {-1}
                assert found.costs[root, at] == pytest.approx(cost_of[group], abs=1e-9)
        # With hardly any effort it is no more than that.
        hasty = search(0).least
        assert (hasty <= found.least + 1e-9).all()
        assert (hasty[roots] <= costs[groups] + 1e-9).all()
