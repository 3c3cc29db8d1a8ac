"""Each block partitioned by itself."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import make
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.block_partition import block_seed, partition_block, partition_blocks
from microagg.errors import DataError
from microagg.partition import canonical_labels


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
