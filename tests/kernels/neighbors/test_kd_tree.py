"""The shape of the k-d tree, and what its nodes know of the records left below them."""

from __future__ import annotations

import numpy as np

from microagg.kernels.neighbors.kd_tree import LEAF, remove
from tests.cases import for_each
from tests.kernels.families import FAMILIES, assert_sound, below, generate, tree_of


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
            start = 1 if part in ("boxes", "left", "lowest", "ends", "reach") else 0
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
