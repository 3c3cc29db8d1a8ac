"""The records nearest to each record, found on all cores: by passes or in a k-d tree, and among many approximately."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from microagg.kernels import threads
from microagg.kernels.neighbors import crossover
from microagg.kernels.neighbors.approximate import fill_rows
from microagg.kernels.neighbors.brute_force import nearest, squared_distances
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# How many nearest records are found for each record: twice k, within these limits.
_NEIGHBORS = (10, 48)

# Among more records than this, those found need not be the nearest: the search goes on only where the squared distance
# is less than this share of that of the last one found.
_MOST_EXACT = 20_000
_NEAR_ENOUGH = 0.3

# From how many records on a tree pays, at best.
_LEAST = 10_000

# Terms of squared distances that a thread adds between two checkpoints, and records for which it asks the tree.
_TERMS_AT_A_TIME = 20_000_000
_RECORDS_AT_A_TIME = 4_000


@njit(cache=True, nogil=True)
def neighbors_by_passes(columns: FloatArray, neighbors: IntArray, start: int, stop: int) -> None:
    """Fill the rows from ``start`` to ``stop`` of ``neighbors`` with the nearest records, nearest first."""
    n = columns.shape[1]
    distances = np.empty(n)
    for record in range(start, stop):
        squared_distances(columns, 0, n, columns[:, record].copy(), distances)
        distances[record] = np.nan
        neighbors[record] = nearest(distances, n, neighbors.shape[1])


def find_neighbors(X: FloatArray, k: int) -> IntArray:
    """Return the records nearest to each of ``X``, shape (n, d), itself aside: about 2k for each, nearest first.

    Among many records they are about the nearest, see :func:`microagg.kernels.neighbors.approximate.roughly_nearest`.
    """
    n, d = X.shape
    least, most = _NEIGHBORS
    neighbors = np.empty((n, min(max(2 * k, least), most, n - 1)), dtype=np.int64)
    if neighbors.size == 0:
        return neighbors
    if (pool := crossover.tree_if_faster(X, neighbors.shape[1], _LEAST)) is not None:
        share = 1.0 if n <= _MOST_EXACT else _NEAR_ENOUGH

        def fill(start: int, stop: int) -> None:
            fill_rows(pool, neighbors, share, start, stop)

        at_a_time = _RECORDS_AT_A_TIME
    else:
        columns = X.T.copy()

        def fill(start: int, stop: int) -> None:
            neighbors_by_passes(columns, neighbors, start, stop)

        at_a_time = max(1, _TERMS_AT_A_TIME // (n * d))
    with ThreadPoolExecutor(threads.THREADS) as executor:
        stretch = at_a_time * threads.THREADS
        for start in range(0, n, stretch):
            checkpoint("finding neighbors", start / n)
            threads.in_parts(executor, fill, start, min(start + stretch, n), threads.THREADS)
    return neighbors
