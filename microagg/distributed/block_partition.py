"""Each block partitioned by itself; and its borders: how low the loss can get across them, and their repair."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from microagg.algorithms.base import Microaggregator
from microagg.algorithms.registry import algorithm
from microagg.columns.records import Records
from microagg.distributed.block_cuts import Cuts
from microagg.kernels import running
from microagg.kernels.local_search.guarded import Rules
from microagg.kernels.local_search.iterated import improve
from microagg.kernels.neighbors.kd_tree import make_tree_pool
from microagg.kernels.neighbors.knn_graph import fill_rows
from microagg.partition import Partition, canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import (
    FloatArray,
    IntArray,
    check_enough_records,
    check_finite,
    check_k,
    check_labels,
    check_matrix,
)

#: How many records a block has by default, on average. Measured in benchmarks/blocks.py: a million records, evenly
#: spread over ten attributes, lose at most 1.6 % more in two such blocks than together, for k = 3, 5 and 10.
DEFAULT_BLOCK = 500_000

#: The same for methods for mixed attributes, which compare every record of a block with every other.
MIXED_BLOCK = 10_000

#: Groups whose centroid is within so many standard deviations of a cut are near it.
WITHIN = 2.0

# Records whose nearest are found by a thread at a time.
_AT_A_TIME = 2_000


def usual_block(method: str) -> int:
    """Return how many records a block has by default, on average, for an algorithm, by its key."""
    info = algorithm(method).info
    return MIXED_BLOCK if info.mixed and not info.numbers_by_sse else DEFAULT_BLOCK


def block_seed(seed: int, block: int) -> int:
    """Return a block's ``random_state`` from the run's, independent of the others' and of how many there are."""
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def partition_block(
    X: FloatArray | Records,
    k: int,
    estimator: Microaggregator,
    block: int,
    *,
    seed: int = 0,
    rules: Rules | None = None,
) -> Partition:
    """Return the partition of the records ``X`` of one block, shape (m, d), as :func:`partition_blocks` makes it.

    An estimator that is able to keeps ``rules``, see :meth:`microagg.algorithms.base.Microaggregator.fit_keeping`.
    """
    copied = clone(estimator).set_params(k=k)
    if "random_state" in copied.get_params():
        copied.set_params(random_state=block_seed(seed, block))
    return copied.fit_keeping(X, rules).partition_


def partition_blocks(
    X: FloatArray | Records, k: int, estimator: Microaggregator, blocks: IntArray, *, seed: int = 0
) -> IntArray:
    """Return the labels of a partition whose groups are formed block by block, canonical, shape (n,).

    ``X``, shape (n, d), are the records of all blocks, as the estimator takes them: of numbers, on a scale. The minimum
    group size ``k`` takes the place of the estimator's, which is not changed; if it has a ``random_state``, a block has
    that of :func:`block_seed`. ``blocks``, shape (n,), are 0, 1, … for each record, such as of
    :meth:`microagg.distributed.block_cuts.Cuts.assign`.

    Raises DataError if a block has fewer than k records, there is not one block for each record, or the estimator
    refuses X; ParameterError if k or a parameter of the estimator is out of bounds.
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
        of_block = X.take(rows) if isinstance(X, Records) else X[rows]
        partition = partition_block(of_block, k, estimator, block, seed=seed)
        labels[rows] = groups + partition.labels
        groups += partition.n_groups
    return canonical_labels(labels)


def nearest_sums(X: FloatArray, most: int, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what a block contributes to the bound: sums over its records of squared distances, shape (most,).

    Column j holds the sum of what the squared distance to the (j + 1)-st nearest record of all blocks is at least. Of
    the sums of all blocks together :func:`microagg.optimum.bounds.nearest_neighbor_sse` makes a lower bound of the SSE
    of any partition of all records, also of those whose groups reach across blocks. For records of other blocks lie
    beyond a face of the block's box, a cut: the j-th smallest distance of a record over all records is at least the
    smaller of its j-th smallest within the block and its distance to the nearest face.

    ``X``, shape (m, d), are the records of the block, ``most`` is k - 1 for the largest k of interest, and ``low`` and
    ``high``, shape (d,) or (m, d), are the box of the block, or, if blocks were joined, of that of each record, see
    :meth:`microagg.distributed.block_cuts.Cuts.boxes`. Raises DataError if X is not finite numbers.
    """
    data = np.array(check_matrix(X), dtype=np.float64, order="C")
    check_finite(data)
    n = len(data)
    sums = np.zeros(most)
    if n == 0 or most == 0:
        return sums
    faces = np.square(np.minimum(data - low, high - data).min(axis=1))
    count = min(most, n - 1)
    pool, neighbors = make_tree_pool(data), np.empty((n, count), dtype=np.int64)
    step = _AT_A_TIME * running.THREADS
    with ThreadPoolExecutor(running.THREADS) as executor:

        def fill(start: int, stop: int) -> None:
            fill_rows(pool, neighbors, 1.0, start, stop)  # a share of 1: the nearest themselves

        for start in range(0, n if count else 0, step):
            checkpoint("finding nearest neighbors", start / n)
            running.in_parts(executor, fill, start, min(start + step, n), running.THREADS)
    for j in range(most):
        squares = np.square(data - data[neighbors[:, j]]).sum(axis=1) if j < count else np.inf
        sums[j] = np.minimum(squares, faces).sum()
    return sums


def near_cuts(X: FloatArray, labels: IntArray, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
    """Return whether each group of one block is near one of its cuts, where exchanging records across it may pay.

    That is if its centroid is, along the attribute that is cut, within :data:`WITHIN` standard deviations of the
    group's records from the cut. ``labels``, shape (m,), are the groups of the records, 0 to g - 1; the result has
    shape (g,); all else is as in :func:`nearest_sums`.
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    gaps = np.add.reduceat(np.minimum(X - low, high - X)[order], starts, axis=0)
    squares = np.add.reduceat(np.square(X - group_means(X, labels)[labels])[order], starts, axis=0)
    return np.asarray((gaps / sizes[:, np.newaxis] <= WITHIN * np.sqrt(squares / sizes[:, np.newaxis])).any(axis=1))


def repair(
    X: FloatArray, labels: IntArray, k: int, cuts: Cuts, second: Cuts, *, seed: int = 0
) -> tuple[IntArray, float]:
    """Return the labels of a partition improved near the cuts, and the share of the records that are in groups there.

    The groups near a cut, whole, are distributed over other blocks by their centroids, and local search improves them
    within each of these. The cuts of these lie elsewhere (``beside`` in
    :meth:`microagg.distributed.block_cuts.Cuts.learn`), so groups from both sides of a cut come together. No group has
    fewer than k records after it, and the SSE does not rise.

    ``X``, shape (n, d), are all records, on the scale on which the cuts were learned; ``labels``, shape (n,), are a
    partition whose groups are formed within the blocks of ``cuts``; ``second`` are cuts that lie elsewhere.

    Raises DataError if there is not one label for each record, or blocks are cut by categories.
    """
    k, labels = check_k(k), canonical_labels(check_labels(labels))
    X = check_matrix(X, len(labels))
    low, high = cuts.boxes()
    blocks = cuts.assign(X)
    taken = near_cuts(X, labels, low[blocks], high[blocks])[labels]
    # Where a record is not near, it is in no block of the second cuts.
    place = np.where(taken, second.assign(group_means(X, labels))[labels], -1)
    result, free = labels.copy(), int(labels.max()) + 1
    for block in np.unique(place[taken]).tolist():
        checkpoint("repairing borders", block / second.n_blocks)
        rows = np.flatnonzero(place == block)
        better = improve(X[rows], labels[rows], k, random_state=block_seed(seed, block))
        result[rows] = free + better
        free += int(better.max()) + 1
    return canonical_labels(result), float(taken.mean())
