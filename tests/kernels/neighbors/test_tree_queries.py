"""Queries of the k-d tree, against a pass over all records in plain numpy."""

import numpy as np
import pytest

from microagg.kernels.neighbors.kd_tree import FAN, LEAF, remove
from microagg.kernels.neighbors.tree_queries import (
    distances_to_boxes,
    farthest,
    largest_distance_bounds,
    make_query,
    nearest,
    search,
)
from tests.cases import for_each
from tests.kernels.families import (
    FAMILIES,
    below,
    first,
    found,
    from_outside,
    generate,
    orders_to_leave_in,
    squared,
    tree_of,
    tree_with_landmarks,
)


@for_each("family", FAMILIES)
@for_each("d", [1, 3, 20])
def test_no_record_is_nearer_or_farther_than_its_boxes_say(family, d):
    X, rng = generate(family, 400, d)
    tree, query = tree_with_landmarks(tree_of(X), np.stack([X.mean(axis=0), X[0], X[9] * 1.1])), make_query(1)
    # From records, as the algorithms ask, and from points far away from all or in between.
    points = [*X[:: len(X) // 6], X.mean(axis=0), tree.landmarks[2], X.max(axis=0) * 3 + 1, rng.normal(size=d)]
    for gone in ([], from_outside(X)[:150]):
        for record in gone:
            remove(tree, record)
        for point in points:
            distances = squared(X, point)
            for node in range(1, len(tree.ends)):
                members = below(tree, node)
                distances_to_boxes(tree.boxes, node // FAN, point, query.gaps[0])
                least = query.gaps[0, node % FAN]
                greatest = []
                for landmark in range(len(tree.landmarks)):
                    largest_distance_bounds(tree, node // FAN, point, landmark, query.gaps)
                    greatest.append(-query.gaps[0, node % FAN])
                if not members:
                    assert least == np.inf
                    assert max(greatest) == -np.inf
                    continue
                assert least <= distances[members].min()
                assert min(greatest) >= distances[members].max()


def assert_finds(tree, X, alive, point, most, excluded, query):
    """All searches around a point find what a pass over the records left does, with a share as near as any."""
    distances = squared(X, point)
    others = alive[alive != excluded]
    expected = first(distances, others, most)
    assert found(nearest(tree, point, most, excluded, query), query) == expected
    assert np.array_equal(query.values[: len(expected)], distances[expected])
    for share in (0.0, 0.1, 1.0):
        roughly = found(search(tree, point, -1, most, excluded, share, 0, query), query)
        assert len(roughly) == len(expected)
        assert set(roughly) <= set(others.tolist())
        assert first(distances, roughly, most) == roughly
    assert np.array_equal(distances[roughly], distances[expected])
    expected = first(-distances, others, most)
    assert found(farthest(tree, point, most, excluded, query), query) == expected
    assert np.array_equal(query.values[: len(expected)], -distances[expected])


@pytest.mark.slow
@for_each("family", FAMILIES)
@for_each("d", [1, 2, 5, 10, 50])
def test_searches_find_what_a_pass_over_all_records_does(family, d):
    n = 420
    X, rng = generate(family, n, d)
    query = make_query(9)
    for order in orders_to_leave_in(X, rng):
        tree = tree_of(X)
        alive = np.arange(n)
        while len(alive):
            for most in (0, 1, 4, 9):
                record = rng.choice(alive)
                assert_finds(tree, X, alive, X[record], most, record, query)
                # Of a record that has left, and of a point that never was one.
                assert_finds(tree, X, alive, X[rng.integers(n)], most, -1, query)
                assert_finds(tree, X, alive, rng.normal(size=d) * 3, most, -1, query)
            leaving = min(len(alive), 47 if len(alive) > 40 else 5)
            for record in order[n - len(alive) :][:leaving]:
                remove(tree, record)
            if rng.random() < 0.5:
                tree = tree_with_landmarks(tree, X[rng.integers(n, size=3)])
            alive = np.sort(order[n - len(alive) + leaving :])
        assert nearest(tree, X[0], 3, -1, query) == 0
        assert farthest(tree, X[0], 3, -1, query) == 0


@pytest.mark.parametrize(
    ("d", "near", "far", "edge"),
    # Of 512 leaves. Twice what was measured: a query that looks into all of them is right, but of no use.
    [(2, 4, 3, 8), (5, 24, 24, 50)],
)
def test_searches_look_at_few_records(d, near, far, edge):
    X = np.random.default_rng(3).random((LEAF * 512, d))
    tree = tree_of(X)
    assert len(tree.ends) == 1024

    def looked(ask, records):
        query = make_query(5)
        for record in records:
            ask(record, query)
        return query.visited[0] / len(records)

    def ask_farthest(record, query):
        farthest(tree, X[record], 5, record, query)

    some = range(200)
    assert looked(lambda record, query: nearest(tree, X[record], 5, record, query), some) < near
    assert looked(ask_farthest, some) < far
    # What is left when data are taken from the outside is a ball, which boxes fit badly.
    taken, left = np.split(from_outside(X), 2)
    for record in taken:
        remove(tree, record)
    tree = tree_with_landmarks(tree, X[left[:200:5]])
    assert looked(ask_farthest, left[:200]) < edge


def test_ties_do_not_make_searches_look_at_more():
    # Only 32 places: the first few hundred records decide everything.
    X, _ = generate("corners", LEAF * 512, 5)
    tree, near, far = tree_of(X), make_query(5), make_query(5)
    for record in range(100):
        nearest(tree, X[record], 5, record, near)
        farthest(tree, X[record], 5, record, far)
    assert near.visited[0] / 100 < 40
    assert far.visited[0] / 100 < 40
