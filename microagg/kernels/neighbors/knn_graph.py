"""The records nearest to each record, found on all cores: by passes, by the tree, or among very many approximately."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from microagg.kernels.neighbors import crossover
from microagg.kernels.neighbors.approximate import ask_roughly
from microagg.kernels.neighbors.brute_force import nearest, squared_distances
from microagg.kernels.neighbors.lookahead import THREADS
from microagg.kernels.neighbors.tree_pool import make_index
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: How many nearest records each record knows: twice k, within these limits.
_NEIGHBORS = (10, 48)

#: Among more records than this neighbors need not be the nearest: they are looked for where the squared distance is
#: less than this share of that of the last one so far.
_MOST_EXACT = 20_000
_NEAR_ENOUGH = 0.3


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
    """Return the records nearest to each of ``X``, shape (n, d), itself aside: twice k, but not too many or few.

    Among many records they are about the nearest, see :func:`microagg.kernels.neighbors.approximate.roughly_nearest`.
    """
    n, d = X.shape
    least, most = _NEIGHBORS
    neighbors = np.empty((n, min(max(2 * k, least), most, n - 1)), dtype=np.int64)
    if neighbors.size == 0:
        return neighbors
    if crossover.prefers_tree(n, d):
        index = make_index(X, THREADS)
        share = 1.0 if n <= _MOST_EXACT else _NEAR_ENOUGH

        def fill(start: int, stop: int) -> None:
            ask_roughly(index, neighbors, share, start, stop)

        at_a_time = 4_000
    else:
        columns = X.T.copy()

        def fill(start: int, stop: int) -> None:
            neighbors_by_passes(columns, neighbors, start, stop)

        at_a_time = max(1, 20_000_000 // (n * d))
    with ThreadPoolExecutor(THREADS) as pool:
        stretch = at_a_time * THREADS
        for start in range(0, n, stretch):
            checkpoint("finding neighbors", start / n)
            cuts = np.linspace(start, min(start + stretch, n), THREADS + 1).astype(int).tolist()
            list(pool.map(fill, cuts[:-1], cuts[1:]))
    return neighbors
