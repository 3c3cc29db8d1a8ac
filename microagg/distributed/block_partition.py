"""The partition of a block, and its share in a lower bound on the loss of all blocks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.base import clone

from microagg.algorithms.base import Microaggregator
from microagg.algorithms.registry import algorithm
from microagg.columns.records import Records
from microagg.kernels import running
from microagg.kernels.neighbors.kd_tree import make_tree_pool
from microagg.kernels.neighbors.knn_graph import fill_rows
from microagg.partition import Partition
from microagg.progress import checkpoint
from microagg.validation import FloatArray, check_finite, check_matrix

#: Default average number of records of a block. Measured in benchmarks/blocks.py: a million records, evenly
#: spread over ten attributes, lose at most 1.6 % more in two blocks than together, for k = 3, 5 and 10.
DEFAULT_BLOCK = 500_000

#: The same for methods for mixed attributes, which compare every record of a block with every other.
MIXED_BLOCK = 10_000

# Number of records for which a thread finds neighbors at a time.
_AT_A_TIME = 2_000


def usual_block(method: str) -> int:
    """Default average number of records of a block for an algorithm, by its key."""
    info = algorithm(method).info
    return MIXED_BLOCK if info.mixed and not info.numbers_by_sse else DEFAULT_BLOCK


def block_seed(seed: int, block: int) -> int:
    """Return a block's ``random_state`` from the run's, independent of the others' and of how many there are."""
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def partition_block(
    X: FloatArray | Records, k: int, estimator: Microaggregator, block: int, *, seed: int = 0
) -> Partition:
    """Partition the records ``X`` of one block, shape (m, d): of numbers, on a scale.

    The minimum group size ``k`` replaces that of the estimator, which is not changed. An estimator with a
    ``random_state`` gets that of :func:`block_seed`.
    """
    copied = clone(estimator).set_params(k=k)
    if "random_state" in copied.get_params():
        copied.set_params(random_state=block_seed(seed, block))
    return copied.fit(X).partition_


def nearest_sums(X: FloatArray, most: int, low: FloatArray, high: FloatArray) -> FloatArray:
    """Sums over a block's records of lower bounds of squared distances, shape (most,).

    Entry j bounds the squared distances to the (j + 1)-st nearest record of all blocks. From the sums of all blocks
    :func:`microagg.optimum.bounds.nearest_neighbor_sse` makes a lower bound of the SSE of any partition of all records.
    Records of other blocks lie beyond a face of the block's box: the distance to the j-th nearest of all records is at
    least the smaller of that to the j-th nearest within the block and that to the nearest face.

    ``X``, shape (m, d), are the records of the block, ``most`` is k - 1 for the largest k of interest; ``low`` and
    ``high``, shape (d,) or (m, d), are the box of the block, or, if blocks were joined, of each record (see
    :meth:`microagg.distributed.block_cuts.Cuts.boxes`).
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
