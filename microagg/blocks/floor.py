"""A proven lower bound of the SSE over all blocks, although each of them sees its own records only.

The bound is that of :class:`microagg.metrics.bounds.NearestNeighbors`, from the squared distances of every record to
its nearest, second nearest, … other record. Records of other blocks lie beyond a face of the block's box, a cut. So the
j-th smallest distance of a record over all records is at least the smaller of its j-th smallest within the block and
its distance to the nearest face; sums of such numbers add up over the blocks. With one block there is no face, and the
bound is that of all records. Which records share a group has no part in it: it holds for any partition of all records,
also for those whose groups reach across blocks.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from microagg.kernels import threads
from microagg.kernels.neighbors.approximate import fill_rows
from microagg.kernels.neighbors.tree_pool import make_tree_pool
from microagg.progress import checkpoint
from microagg.validation import FloatArray, check_finite, check_matrix

# Records whose nearest are found by a thread at a time.
_AT_A_TIME = 2_000


def distance_to_face(X: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return how far each record of ``X``, shape (m, d), is from the nearest face of its box, inf where there is none.

    ``low`` and ``high``, shape (d,) or (m, d), are those of :meth:`microagg.blocks.Cuts.boxes`.
    """
    return np.asarray(np.minimum(X - low, high - X).min(axis=1))


def nearest_sums(X: FloatArray, most: int, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what a block contributes to the bound: sums over its records of squared distances, shape (most,).

    Column j holds the sum of what the squared distance to the (j + 1)-st nearest record of all blocks is at least. Of
    the sums of all blocks together :func:`microagg.metrics.bounds.nearest_neighbor_sse` makes the bound.

    Parameters
    ----------
    X : array, shape (m, d)
        The records of the block.
    most : int
        For how many nearest records: k - 1, for the largest k of interest.
    low, high : array, shape (d,) or (m, d)
        The box of the block, or, if blocks were joined, of that of each record, see
        :meth:`microagg.blocks.Cuts.boxes`.

    Raises
    ------
    DataError
        If X is not finite numbers.
    """
    data = np.array(check_matrix(X), dtype=np.float64, order="C")
    check_finite(data)
    n = len(data)
    sums = np.zeros(most)
    if n == 0 or most == 0:
        return sums
    faces = np.square(distance_to_face(data, low, high))
    count = min(most, n - 1)
    pool, neighbors = make_tree_pool(data), np.empty((n, count), dtype=np.int64)
    step = _AT_A_TIME * threads.THREADS
    with ThreadPoolExecutor(threads.THREADS) as executor:

        def fill(start: int, stop: int) -> None:
            fill_rows(pool, neighbors, 1.0, start, stop)  # a share of 1: the nearest themselves

        for start in range(0, n if count else 0, step):
            checkpoint("finding nearest neighbors", start / n)
            threads.in_parts(executor, fill, start, min(start + step, n), threads.THREADS)
    for j in range(most):
        squares = np.square(data - data[neighbors[:, j]]).sum(axis=1) if j < count else np.inf
        sums[j] = np.minimum(squares, faces).sum()
    return sums
