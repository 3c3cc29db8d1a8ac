"""Each block partitioned by itself; and the lower bound over blocks."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import make
from microagg.columns.records import Attribute
from microagg.distributed.block_cuts import Cut, Cuts
from microagg.distributed.block_partition import (
    block_seed,
    nearest_sums,
    partition_block,
)
from microagg.errors import DataError
from microagg.metrics import sse
from microagg.optimum.bounds import exact, nearest_neighbor, nearest_neighbor_sse
from tests.cases import for_each
from tests.instances import ROUNDING, tiny


@pytest.fixture(name="X")
def numbers():
    return np.random.default_rng(0).normal(size=(120, 3))


def test_seeds_differ_by_seed_and_block_and_stay():
    seeds = {block_seed(seed, block) for seed in range(20) for block in range(50)}
    assert len(seeds) == 1000
    assert min(seeds) >= 0
    assert block_seed(0, 0) == 2968811710  # a release is made again from its recipe: it must not change


@pytest.mark.parametrize("key", ["mdav", "mdav-star", "mdav-plus"])
def test_a_block_is_partitioned_as_the_estimator_does(X, key):
    labels = partition_block(X, 4, make(key), 3).labels
    np.testing.assert_array_equal(labels, make(key, k=4).fit_predict(X))


def test_a_random_estimator_has_the_seed_of_its_block(X):
    estimator = make("iterated-local-search", k=3, effort=5, random_state=99)
    for block in (0, 2):
        expected = make("iterated-local-search", k=3, effort=5, random_state=block_seed(7, block)).fit_predict(X)
        np.testing.assert_array_equal(partition_block(X, 3, estimator, block, seed=7).labels, expected)
    assert estimator.random_state == 99


# --- the floor: with one block it is that of all records


def floor_of_blocks(X, k, n_blocks, cuts=None):
    """Return the bound from the blocks of cuts learned on the records themselves, each block by itself."""
    cuts = cuts or Cuts.learn(X, tuple(Attribute(j) for j in range(X.shape[1])), n_blocks)
    blocks, (low, high) = cuts.assign(X), cuts.boxes()
    sums = sum(nearest_sums(X[blocks == b], k - 1, low[b], high[b]) for b in range(cuts.n_blocks))
    return nearest_neighbor_sse(sums, k)


@for_each("n_blocks", [2, 3, 5])
@for_each("seed", range(24))
def test_never_above_the_optimum(seed, n_blocks):
    X, k = tiny(seed)
    assert floor_of_blocks(X, k, n_blocks) <= exact(X, k)[0] * ROUNDING


@pytest.mark.parametrize("n_blocks", [1, 2, 7, 30])
def test_below_any_partition_and_the_bound_of_all_records(n_blocks):
    rng = np.random.default_rng(1)
    X, k = rng.normal(size=(700, 3)) @ rng.normal(size=(3, 3)), 4
    bound, whole = floor_of_blocks(X, k, n_blocks), nearest_neighbor(X, k).sse
    assert 0.0 < bound <= whole * ROUNDING
    if n_blocks == 1:
        assert bound == pytest.approx(whole, rel=1e-12)
    for key in ("mdav", "mdav-star"):
        assert bound <= sse(X, make(key, k=k).fit_predict(X))


def test_by_hand():
    # Cut at 5: 4 is 1 from the cut, 6 is 1 from it; its own neighbors are 3 and 9 away.
    X = np.array([[0.0], [1.0], [4.0], [6.0], [15.0]])
    cuts = Cuts(1, (Cut(0, 5.0, (), -1, -2),))
    low, high = cuts.boxes()
    # Nearest: 1, 1, min(9, 1); second nearest: min(16, 25), min(9, 16), min(16, 1).
    np.testing.assert_array_equal(nearest_sums(X[:3], 2, low[0], high[0]), [3.0, 16.0 + 9.0 + 1.0])
    # Nearest: min(81, 1), min(81, 100); a second nearest is beyond the cut only.
    np.testing.assert_array_equal(nearest_sums(X[3:], 2, low[1], high[1]), [1.0 + 81.0, 1.0 + 100.0])
    assert floor_of_blocks(X, 2, 2, cuts) == pytest.approx(85 / 4)
    assert floor_of_blocks(X, 2, 2, cuts) < nearest_neighbor(X, 2).sse


def test_joined_blocks_keep_the_box_of_each_record():
    rng = np.random.default_rng(2)
    X, k = rng.normal(size=(300, 2)), 3
    cuts = Cuts.learn(X, (Attribute("x"), Attribute("y")), 6)
    blocks, (low, high) = cuts.assign(X), cuts.boxes()
    joined = cuts.joined(np.bincount(blocks), 100)[blocks]
    sums = 0
    for block in range(joined.max() + 1):
        rows = np.flatnonzero(joined == block)
        sums = sums + nearest_sums(X[rows], k - 1, low[blocks[rows]], high[blocks[rows]])
    assert nearest_neighbor_sse(sums, k) <= nearest_neighbor(X, k).sse
    assert nearest_neighbor_sse(sums, k) >= floor_of_blocks(X, k, 6, cuts)


def test_nothing_to_count():
    unbounded = np.full(2, -np.inf), np.full(2, np.inf)
    assert nearest_sums(np.ones((3, 2)), 0, *unbounded).tolist() == []
    assert nearest_sums(np.empty((0, 2)), 2, *unbounded).tolist() == [0.0, 0.0]
    assert nearest_sums(np.ones((3, 2)), 2, *unbounded).tolist() == [0.0, 0.0]
    with pytest.raises(DataError, match="NaN"):
        nearest_sums(np.array([[0.0, np.nan]]), 1, *unbounded)
