"""Records about as near as any, against a pass over all records in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.kernels.neighbors.kd_tree import remove
from microagg.kernels.neighbors.knn_graph import roughly_nearest
from microagg.kernels.neighbors.tree_queries import make_query
from tests.cases import for_each
from tests.kernels.families import FAMILIES, first, found, generate, orders_to_leave_in, squared, tree_of


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
