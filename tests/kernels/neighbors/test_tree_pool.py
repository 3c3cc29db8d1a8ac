"""The unassigned records in a k-d tree, against those held column by column."""

from __future__ import annotations

import numpy as np

from microagg.kernels.grouping.groups import found_group, make_groups, take
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.kd_tree import (
    centroid,
    farthest_from_mean_first,
    make_tree_pool,
    next_unassigned,
    number_left,
    pool_of_rest,
)
from tests.cases import for_each
from tests.kernels.families import FAMILIES, assert_sound, below, exact_centroid, from_outside, generate


@for_each("family", FAMILIES)
def test_a_tree_pool_keeps_the_sums_that_a_plain_pool_does(family):
    X, rng = generate(family, 200, 3)
    pool, plain = make_tree_pool(X), brute_force.make_pool(X)
    groups = make_groups(200, 3, 4)
    assert np.array_equal(centroid(pool), brute_force.centroid(plain))
    assert_sound(pool.tree, X, np.arange(200))
    order = rng.permutation(200)
    for start in range(0, 180, 5):
        seed, others = order[start], order[start + 1 : start + 4]
        group = found_group(groups, pool, seed, others)
        assert group == start // 5
        assert groups.number[0] == group + 1
        late = order[start + 4]
        take(groups, pool, group, late)
        members = [seed, *others, late]
        assert (groups.labels[members] == group).all()
        assert groups.sizes[group] == 5
        total = np.zeros(3)
        for record in members:
            total += X[record]
            brute_force.remove(plain, plain.positions[record])
        assert np.array_equal(groups.sums[group], total)
        assert number_left(pool) == 200 - start - 5
        assert np.array_equal(centroid(pool), brute_force.centroid(plain))
        assert sorted(below(pool.tree, 1)) == sorted(order[start + 5 :])
    assert (groups.labels[order[180:]] == -1).all()


@for_each("family", [family for family in FAMILIES if family != "with-outliers"])
def test_the_centroid_of_a_tree_pool_is_correctly_rounded(family):
    X, rng = generate(family, 300, 3)
    pool, groups = make_tree_pool(X), make_groups(300, 3, 1)
    order = rng.permutation(300)
    for at, record in enumerate(order[:-1]):
        take(groups, pool, 0, record)
        assert np.array_equal(centroid(pool), exact_centroid(X, order[at + 1 :]))


@for_each("family", FAMILIES)
def test_a_pool_of_the_rest_knows_the_records_by_their_order(family):
    X, rng = generate(family, 300, 3)
    pool, groups = make_tree_pool(X), make_groups(300, 3, 1)
    for record in rng.permutation(300)[:190]:
        take(groups, pool, 0, record)
    left = np.flatnonzero(groups.labels < 0)
    rest = pool_of_rest(pool, left)
    assert np.array_equal(rest.X, X[left])
    assert number_left(rest) == 110
    assert_sound(rest.tree, rest.X, np.arange(110))
    assert np.array_equal(centroid(rest), centroid(pool))
    take(groups, rest, 0, 0)
    assert centroid(pool).tolist() != centroid(rest).tolist() or family == "all-equal"


def test_the_centroid_of_a_tree_pool_is_exact_after_huge_records_have_left():
    X = np.array([[1e18], [3.0], [-7e17], [4.0], [5.0]])
    pool, groups = make_tree_pool(X), make_groups(5, 1, 1)
    take(groups, pool, 0, 0)
    take(groups, pool, 0, 2)
    assert centroid(pool)[0] == 4.0


@for_each("family", FAMILIES)
def test_records_come_by_their_distance_from_the_mean(family):
    X, rng = generate(family, 333, 2)
    pool, groups = make_tree_pool(X), make_groups(333, 2, 1)
    order = farthest_from_mean_first(pool)
    assert np.array_equal(order, from_outside(X))
    gone = rng.choice(333, 200, replace=False)
    for record in gone:
        take(groups, pool, 0, record)
    left = order[~np.isin(order, gone)]
    at, seen = 0, []
    while True:
        some, at = next_unassigned(pool, order, at, 10)
        seen += some.tolist()
        if len(some) < 10:
            break
        # Where the next ones start, all before have been seen or are gone.
        assert set(order[:at]) <= set(seen) | set(gone)
    assert seen == left.tolist()
    assert next_unassigned(pool, order, at, 10)[0].tolist() == []
    assert next_unassigned(pool, order, 0, 0)[0].tolist() == []
