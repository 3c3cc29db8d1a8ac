"""Which records may be isolated, against the definition in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.kernels.grouping import fixed_mean
from microagg.kernels.grouping.fixed_mean import make_isolation_bounds, nearest_isolated, take_and_renew
from microagg.kernels.grouping.groups import make_groups
from microagg.kernels.neighbors.kd_tree import NO_INDEX, make_tree_pool, number_left
from microagg.kernels.neighbors.tree_queries import make_query
from microagg.progress import Cancelled, watched
from tests.kernels.families import FAMILIES, below, first, generate, orders_to_leave_in, squared


def assert_bounds(tree, isolation, X, alive):
    """Each bound is the distance from the first near record left, and every node knows the greatest below it."""
    for record in alive:
        left = [other for other in isolation.neighbors[record] if other in alive]
        assert record not in left
        assert bool(left) == (len(alive) > 1)
        expected = squared(X[left[:1]], X[record])[0] if left else np.inf
        assert isolation.bounds[record] == expected
    for node in range(1, len(tree.ends)):
        assert isolation.greatest[node] == max(isolation.bounds[below(tree, node)], default=-1.0)


def assert_finds_isolated(tree, isolation, X, alive, points, gamma, query):
    distances = np.min([squared(X, point) for point in points], axis=0)
    isolated = distances[alive] < gamma * isolation.bounds[alive]
    expected = first(distances, alive[isolated], 1)
    record, distance, passed = nearest_isolated(tree, isolation, points, gamma, query)
    assert [record] == (expected or [NO_INDEX])
    assert distance == (distances[record] if expected else np.inf)
    assert (distances[alive[~isolated]] >= min(passed, distance)).all()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("d", "count"), [(2, 1), (5, 4)])
def test_every_record_has_a_bound_and_the_isolated_are_found(monkeypatch, family, d, count):
    monkeypatch.setattr(fixed_mean, "NEAR_RECORDS", count)
    n = 210
    X, rng = generate(family, n, d)
    query = make_query(count)
    for order in orders_to_leave_in(X, rng):
        pool, groups = make_tree_pool(X), make_groups(n, d, 1)
        isolation = make_isolation_bounds(pool)
        alive = np.arange(n)
        while len(alive):
            assert_bounds(pool.tree, isolation, X, alive)
            for gamma in (0.05, 0.5, 2.0, 1e3):
                points = X[rng.choice(n, rng.integers(1, 5))]
                assert_finds_isolated(pool.tree, isolation, X, alive, points, gamma, query)
            leaving = min(len(alive), 47 if len(alive) > 40 else 5)
            for record in order[n - len(alive) :][:leaving]:
                take_and_renew(groups, pool, isolation, 0, record, query)
            alive = np.sort(order[n - len(alive) + leaving :])
        assert number_left(pool) == 0
        assert nearest_isolated(pool.tree, isolation, X[:2], 0.2, query)[0] == NO_INDEX


def test_the_start_can_be_cancelled_between_pieces_which_change_nothing(monkeypatch):
    pool = make_tree_pool(generate("uniform", 210, 3)[0])
    expected = make_isolation_bounds(pool)
    monkeypatch.setattr(fixed_mean, "_RECORDS_AT_A_TIME", 10)
    monkeypatch.setattr(fixed_mean.running, "THREADS", 2)
    for patience in (0, 1, 10, 11):
        calls = []
        with watched(lambda *where, c=calls, p=patience: c.append(where) or len(c) <= p):
            if patience < 11:
                with pytest.raises(Cancelled):
                    make_isolation_bounds(pool)
            else:
                for one, other in zip(make_isolation_bounds(pool), expected, strict=True):
                    assert np.array_equal(one, other)
        # 210 records, 20 at a time.
        assert len(calls) == min(patience + 1, 11)
