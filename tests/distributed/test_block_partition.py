"""Each block partitioned by itself; the floor over blocks, which is a bound; and the repair of borders."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import make
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.block_cuts import Cut, Cuts
from microagg.distributed.block_partition import (
    block_seed,
    near_cuts,
    nearest_sums,
    partition_block,
    partition_blocks,
    repair,
)
from microagg.errors import DataError
from microagg.metrics import sse
from microagg.optimum.bounds import exact, nearest_neighbor, nearest_neighbor_sse
from microagg.partition import canonical_labels
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
def test_one_block_is_the_estimator(X, key):
    found = partition_blocks(X, 4, make(key), np.zeros(120, dtype=np.int64))
    np.testing.assert_array_equal(found, make(key, k=4).fit_predict(X))


def test_a_random_estimator_has_the_seed_of_its_block(X):
    estimator = make("iterated-local-search", k=3, effort=5, random_state=99)
    blocks = np.repeat([0, 2], 60)  # a number may be missing
    found = partition_blocks(X, 3, estimator, blocks, seed=7)
    for block, rows in ((0, slice(0, 60)), (2, slice(60, 120))):
        alone = make("iterated-local-search", k=3, effort=5, random_state=block_seed(7, block)).fit_predict(X[rows])
        np.testing.assert_array_equal(canonical_labels(found[rows]), alone)
    assert estimator.random_state == 99


def test_groups_stay_within_blocks_of_any_order(X):
    blocks = np.random.default_rng(1).integers(0, 5, size=120)
    labels = partition_blocks(X, 3, make("mdav"), blocks)
    assert np.bincount(labels).min() >= 3
    for group in range(labels.max() + 1):
        assert len(set(blocks[labels == group].tolist())) == 1
    for block in range(5):
        rows = np.flatnonzero(blocks == block)
        np.testing.assert_array_equal(canonical_labels(labels[rows]), make("mdav", k=3).fit_predict(X[rows]))
        np.testing.assert_array_equal(
            partition_block(X[rows], 3, make("mdav"), block).labels, canonical_labels(labels[rows])
        )


def test_mixed_records():
    taxonomy = Taxonomy.flat("pq")
    values = np.column_stack([np.tile([1.0, 2.0], 20), np.arange(40.0)])
    records = Records((Attribute("c", "nominal", taxonomy=taxonomy), Attribute("x")), values)
    blocks = (values[:, 1] >= 20).astype(np.int64)
    labels = partition_blocks(records, 4, make("mondrian"), blocks)
    for block in (0, 1):
        # Numbers differ by their share of the domain of the whole file.
        alone = make("mondrian", k=4).fit_predict(records.take(np.flatnonzero(blocks == block)))
        np.testing.assert_array_equal(canonical_labels(labels[blocks == block]), alone)


def test_refusals(X):
    with pytest.raises(DataError, match="block 1 has only 2 records, fewer than k=3"):
        partition_blocks(X, 3, make("mdav"), np.repeat([0, 1], [118, 2]))
    with pytest.raises(DataError, match="120 records, but there are labels for 7"):
        partition_blocks(X, 3, make("mdav"), np.zeros(7, dtype=np.int64))


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
    found, whole = floor_of_blocks(X, k, n_blocks), nearest_neighbor(X, k).sse
    assert 0.0 < found <= whole * ROUNDING
    if n_blocks == 1:
        assert found == pytest.approx(whole, rel=1e-12)
    for key in ("mdav", "mdav-star"):
        assert found <= sse(X, make(key, k=k).fit_predict(X))
    cuts = Cuts.learn(X, tuple(Attribute(j) for j in range(3)), 5)
    assert found <= sse(X, partition_blocks(X, k, make("mdav"), cuts.assign(X)))


def test_by_hand():
    # Cut at 5: 4 is 1 from the cut, 6 is 1 from it; its own neighbors are 3 and 9 away.
    X = np.array([[0.0], [1.0], [4.0], [6.0], [15.0]])
    cuts = Cuts(("x",), (Cut(0, 5.0, (), -1, -2),))
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


def test_blocks_of_categories_have_no_faces():
    taxonomy = Taxonomy.flat("pqr")
    values = np.array([[1.0], [2.0], [3.0]])
    cuts = Cuts.learn(values, (Attribute("c", "nominal", taxonomy=taxonomy),), 2)
    with pytest.raises(DataError, match="cut by categories are no boxes"):
        cuts.boxes()


def test_nothing_to_count():
    unbounded = np.full(2, -np.inf), np.full(2, np.inf)
    assert nearest_sums(np.ones((3, 2)), 0, *unbounded).tolist() == []
    assert nearest_sums(np.empty((0, 2)), 2, *unbounded).tolist() == [0.0, 0.0]
    assert nearest_sums(np.ones((3, 2)), 2, *unbounded).tolist() == [0.0, 0.0]
    with pytest.raises(DataError, match="NaN"):
        nearest_sums(np.array([[0.0, np.nan]]), 1, *unbounded)


# --- repair: never worse, groups of at least k, and only groups near cuts change


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


def test_what_cannot_be_repaired_is_refused():
    X = np.random.default_rng(7).uniform(size=(30, 2))
    cuts = Cuts.learn(X, numeric(2), 2)
    with pytest.raises(DataError, match="30 records, but there are labels for 4"):
        repair(X, np.zeros(4, dtype=np.int64), 3, cuts, cuts)
