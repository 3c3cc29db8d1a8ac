"""Each block partitioned by itself, all of them in memory."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from microagg.base import Microaggregator
from microagg.partition import Partition, canonical_labels
from microagg.progress import checkpoint
from microagg.records import Records
from microagg.validation import FloatArray, IntArray, check_enough_records, check_k, check_labels, check_matrix

#: How many records a block has by default, on average. Measured in benchmarks/blocks.py: a million records, evenly
#: spread over ten attributes, lose at most 1.6 % more in two such blocks than together, for k = 3, 5 and 10.
DEFAULT_BLOCK = 500_000


def block_seed(seed: int, block: int) -> int:
    """Return the ``random_state`` with which a block is partitioned, from the seed of the whole run.

    The seeds of blocks are independent of each other, and of how many blocks there are.
    """
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def partition_block(
    X: FloatArray | Records, k: int, estimator: Microaggregator, block: int, *, seed: int = 0
) -> Partition:
    """Return the partition of the records of one block by a copy of ``estimator``, as :func:`partition_blocks` does.

    ``X`` are the records of the block, shape (m, d), in the order in which they are in the file.
    """
    own = clone(estimator).set_params(k=k)
    if "random_state" in own.get_params():
        own.set_params(random_state=block_seed(seed, block))
    return own.fit(X).partition_


def partition_blocks(
    X: FloatArray | Records, k: int, estimator: Microaggregator, blocks: IntArray, *, seed: int = 0
) -> IntArray:
    """Return the labels of a partition whose groups are formed block by block.

    Parameters
    ----------
    X : array of float, shape (n, d), or Records
        The records of all blocks, as the estimator takes them: of numbers, on a scale.
    k : int
        The minimum group size, which takes the place of the estimator's.
    estimator : Microaggregator
        With its parameters; it is not changed. If it has a ``random_state``, a block has that of :func:`block_seed`.
    blocks : array of int, shape (n,)
        The block of each record, 0, 1, …, such as of :meth:`microagg.blocks.Cuts.assign`.
    seed : int, default 0

    Returns
    -------
    array of int, shape (n,)
        Groups, numbered in order of first appearance.

    Raises
    ------
    DataError
        If a block has fewer than k records, there is not one block for each record, or the estimator refuses X.
    ParameterError
        If k or a parameter of the estimator is out of bounds.
    """
    k, blocks = check_k(k), check_labels(blocks)
    if not isinstance(X, Records):
        X = check_matrix(X, len(blocks))
    order = np.argsort(blocks, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(blocks[order])) + 1)
    labels, groups = np.empty(len(blocks), dtype=np.int64), 0
    for done, rows in enumerate(parts):
        checkpoint("partitioning blocks", done / len(parts))
        block = int(blocks[rows[0]])
        check_enough_records(len(rows), k, f"block {block}")
        own = partition_block(X.take(rows) if isinstance(X, Records) else X[rows], k, estimator, block, seed=seed)
        labels[rows] = groups + own.labels
        groups += own.n_groups
    return canonical_labels(labels)
