"""Each block partitioned by itself."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import make
from microagg.distributed.block_partition import (
    block_seed,
    partition_block,
)


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
