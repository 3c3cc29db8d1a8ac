"""Repairing borders: never worse, groups of at least k, and only groups near cuts change."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import make
from microagg.columns.records import Attribute
from microagg.distributed.block_cuts import Cuts
from microagg.distributed.block_partition import near_cuts, partition_blocks, repair
from microagg.errors import DataError
from microagg.metrics import sse
from tests.cases import for_each


def numeric(d):
    return tuple(Attribute(j) for j in range(d))


@for_each("seed", range(4))
@for_each("n_blocks", [1, 2, 6])
def test_never_worse_and_groups_of_k(seed, n_blocks):
    X, k = np.random.default_rng(seed).uniform(size=(1_200, 3)), 3 + seed
    cuts = Cuts.learn(X, numeric(3), n_blocks)
    second = Cuts.learn(X, numeric(3), n_blocks, beside=cuts)
    labels = partition_blocks(X, k, make("mdav"), cuts.assign(X))
    better, share = repair(X, labels, k, cuts, second)
    assert np.bincount(better).min() >= k
    np.testing.assert_array_equal(better, repair(X, labels, k, cuts, second)[0])
    if n_blocks == 1:
        np.testing.assert_array_equal(better, labels)
        assert share == 0.0
    else:
        assert 0.0 < share < 1.0
        assert sse(X, better) < sse(X, labels)


def test_groups_away_from_cuts_stay_as_they_are():
    X = np.random.default_rng(5).uniform(size=(900, 2)) * [4.0, 1.0]
    cuts = Cuts.learn(X, numeric(2), 2)
    labels = partition_blocks(X, 4, make("mdav"), cuts.assign(X))
    better, share = repair(X, labels, 4, cuts, Cuts(("x", "y"), ()))
    assert sse(X, better) <= sse(X, labels)
    low, high = cuts.boxes()
    blocks = cuts.assign(X)
    near = near_cuts(X, labels, low[blocks], high[blocks])
    assert share == near[labels].mean()
    assert 0.0 < share < 0.3
    for group in np.flatnonzero(~near):
        rows = np.flatnonzero(labels == group)
        assert np.flatnonzero(better == better[rows[0]]).tolist() == rows.tolist()


def test_which_groups_are_near_a_cut_by_hand():
    # Groups of two records that are 2 apart along the first attribute have a standard deviation of 1 there.
    X = np.array([[8.0, 0.0], [10.0, 0.0], [3.0, 5.0], [5.0, 5.0], [7.0, 9.0], [9.0, 9.0]])
    labels = np.array([0, 0, 1, 1, 2, 2])
    low, high = np.full(2, -np.inf), np.array([10.5, np.inf])
    # Centroids 9, 4 and 8: 1.5, 6.5 and 2.5 from the cut.
    assert near_cuts(X, labels, low, high).tolist() == [True, False, False]
    assert near_cuts(X, labels, low, high - 0.5).tolist() == [True, False, True]
    # They do not spread along the second attribute: they would have to be at the cut.
    assert near_cuts(X, labels, np.array([-np.inf, 4.9]), np.full(2, np.inf))[1:].tolist() == [False, False]


def test_a_second_tree_cuts_elsewhere():
    X = np.random.default_rng(6).uniform(size=(4_000, 2)) * [4.0, 1.0]
    first = Cuts.learn(X, numeric(2), 2)
    second = Cuts.learn(X, numeric(2), 2, beside=first)
    assert first.cuts[0].attribute == 0
    near = np.abs(X[:, 0] - first.cuts[0].at_most) < 0.05
    # What is near the first cut is not divided by the second.
    assert len(set(second.assign(X[near]).tolist())) == 1


def test_refusals():
    X = np.random.default_rng(7).uniform(size=(30, 2))
    cuts = Cuts.learn(X, numeric(2), 2)
    with pytest.raises(DataError, match="30 records, but there are labels for 4"):
        repair(X, np.zeros(4, dtype=np.int64), 3, cuts, cuts)
