"""The records nearest to every record, exact and approximate, and sums of their distances, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.kernels.neighbors import lookahead
from microagg.kernels.neighbors.kd_tree import LEAF, make_tree, make_tree_pool, remove
from microagg.kernels.neighbors.knn_graph import find_neighbors, leaf_size, sums_of_nearest
from microagg.kernels.neighbors.tree_queries import make_query, roughly_nearest
from tests.cases import for_each
from tests.kernels.families import FAMILIES, first, found, generate, orders_to_leave_in, squared, tree_of


def test_neighbors_are_those_of_the_tree(monkeypatch):
    X, _ = generate("clustered", 300, 2)
    by_passes = find_neighbors(X, 3)
    monkeypatch.setattr(lookahead, "tree_if_faster", lambda X, k, least: make_tree_pool(X))
    assert np.array_equal(by_passes, find_neighbors(X, 3))


# Records about as near as any.


def assert_finds_roughly(tree, X, alive, point, most, excluded, query):
    """As many are found as there are, best first; with a share of 1, as near as any."""
    distances = squared(X, point)
    others = alive[alive != excluded]
    for share in (0.0, 0.1, 1.0):
        records = found(roughly_nearest(tree, point, most, excluded, share, query), query)
        assert len(records) == min(most, len(others))
        assert set(records) <= set(others.tolist())
        assert first(distances, records, most) == records
        assert np.array_equal(query.values[: len(records)], distances[records])
    assert np.array_equal(distances[records], distances[first(distances, others, most)])


@pytest.mark.slow
@for_each("family", FAMILIES)
@for_each("d", [1, 2, 5, 10, 50])
def test_as_many_are_found_as_there_are_and_with_a_share_of_one_the_nearest(family, d):
    n = 420
    X, rng = generate(family, n, d)
    query = make_query(9)
    for order in orders_to_leave_in(X, rng):
        tree = tree_of(X)
        alive = np.arange(n)
        while len(alive):
            for most in (1, 4, 9):
                record = rng.choice(alive)
                assert_finds_roughly(tree, X, alive, X[record], most, record, query)
            leaving = min(len(alive), 47 if len(alive) > 40 else 5)
            for record in order[n - len(alive) :][:leaving]:
                remove(tree, record)
            alive = np.sort(order[n - len(alive) + leaving :])


# The nearest records and sums of the distances to them, leaf by leaf.


def least(X, most):
    """Return the least squared distances of each record to others, shape (n, most), infinity where there are fewer."""
    found = np.full((len(X), most), np.inf)
    for i in range(len(X)):
        others = np.sort(np.delete(squared(X, X[i]), i))[:most]
        found[i, : len(others)] = others
    return found


@for_each("family", FAMILIES)
@for_each(("d", "leaf"), [(1, LEAF), (3, LEAF), (20, LEAF), (3, 40), (20, 40)])
def test_each_leaf_has_the_least_distances_of_its_records(family, d, leaf):
    n = 150
    X, _ = generate(family, n, d)
    tree = make_tree(np.ascontiguousarray(X.T), X[0].copy(), leaf=leaf)
    leaves = len(tree.ends) // 2
    assert leaves > 2
    for most in (1, 4, 2 * LEAF + 3, n - 1):
        expected = least(X, most)
        sums = sums_of_nearest(tree, most, 0, leaves)
        for leaf in range(leaves):
            start, stop = tree.ends[leaves + leaf]
            members = tree.records[start:stop]
            # One after the other, as rounding depends on the order.
            total = np.zeros(most)
            for record in members:
                total = total + expected[record]
            assert sums[leaf].tolist() == total.tolist()
        assert np.array_equal(sums_of_nearest(tree, most, 1, 3), sums[1:3])


@for_each(("n", "d", "most"), [(200_000, 3, LEAF), (1_000, 10, 256), (200_000, 10, 100), (10**6, 50, LEAF)])
def test_leaves_are_large_where_there_are_many_attributes_but_never_long_work(n, d, most):
    assert leaf_size(n, d) == most


@for_each("n", [1, 2, LEAF, LEAF + 1])
def test_where_there_are_too_few_records_the_rest_is_infinite(n):
    X, _ = generate("uniform", n, 2)
    tree = tree_of(X)
    sums = sums_of_nearest(tree, n + 1, 0, len(tree.ends) // 2).sum(axis=0)
    assert np.isfinite(sums[: n - 1]).all()
    assert np.isinf(sums[n - 1 :]).all()
