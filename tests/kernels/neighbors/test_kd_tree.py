"""The shape of the k-d tree, and what its nodes know of the records left below them."""

import numpy as np

from microagg.kernels.grouping.groups import form_in_tree, make_groups, take
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.kd_tree import (
    LEAF,
    centroid,
    farthest_from_mean_first,
    make_tree_pool,
    number_left,
    remove,
)
from tests.cases import for_each
from tests.kernels.families import FAMILIES, assert_sound, below, exact_centroid, from_outside, generate, tree_of


@for_each("family", FAMILIES)
def test_a_tree_holds_all_records_whatever_their_number(family):
    for n, d in [(1, 1), (2, 3), (LEAF - 1, 2), (LEAF, 2), (LEAF + 1, 2), (2 * LEAF + 1, 5), (300, 1), (777, 3)]:
        X, _ = generate(family, n, d)
        assert_sound(tree_of(X), X, np.arange(n))


@for_each("family", FAMILIES)
@for_each("threads", [2, 3, 5])
def test_the_tree_does_not_depend_on_the_number_of_threads(family, threads):
    for n, d in [(1, 2), (LEAF + 1, 2), (500, 3)]:
        X, _ = generate(family, n, d)
        alone, together = tree_of(X), tree_of(X, threads)
        for part in alone._fields:
            # There is no node 0.
            if part == "reach":
                assert np.array_equal(alone.reach[:, 1:], together.reach[:, 1:])
                continue
            start = 1 if part in ("boxes", "left", "lowest", "ends") else 0
            assert np.array_equal(getattr(alone, part)[start:], getattr(together, part)[start:]), part


def test_a_tree_cuts_at_the_median_of_the_attribute_that_spreads_most():
    X = np.random.default_rng(0).random((1000, 3)) * [1, 10, 2]
    tree = tree_of(X)
    low, high = below(tree, 2), below(tree, 3)
    assert len(low) == len(high)
    assert X[low, 1].max() < X[high, 1].min()


@for_each("family", FAMILIES)
def test_a_tree_stays_sound_down_to_the_last_record(family):
    X, rng = generate(family, 150, 2)
    tree = tree_of(X)
    alive = np.arange(150)
    for record in rng.permutation(150):
        remove(tree, record)
        alive = alive[alive != record]
        if len(alive) % 7 == 0:
            assert_sound(tree, X, alive)


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
        group = form_in_tree(groups, pool, seed, others)
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
def test_records_come_by_their_distance_from_the_mean(family):
    X, _ = generate(family, 333, 2)
    assert np.array_equal(farthest_from_mean_first(make_tree_pool(X)), from_outside(X))
