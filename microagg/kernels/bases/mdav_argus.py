"""MDAV in the order of µ-ARGUS, from which MDAV-MHM starts, too; see :mod:`microagg.algorithms.mdav_argus`."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import squared_distances
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _swap(columns: FloatArray, records: IntArray, a: int, b: int) -> None:
    records[a], records[b] = records[b], records[a]
    for j in range(len(columns)):
        columns[j, a], columns[j, b] = columns[j, b], columns[j, a]


@njit(cache=True, nogil=True)
def _two_far_positions(columns: FloatArray, first: int, distances: FloatArray) -> tuple[int, int]:
    """Return the positions of r and s among those from ``first`` on, the lower one first."""
    d, n = columns.shape
    center = np.zeros(d)
    for j in range(d):
        for position in range(first, n):
            center[j] += columns[j, position]
    center /= n - first
    squared_distances(columns, first, n, center, distances)
    r = first + np.argmax(distances[first:])
    squared_distances(columns, first, n, columns[:, r].copy(), distances)
    distances[r] = -1.0  # s is another record even where all distances are 0
    s = first + np.argmax(distances[first:])
    return min(r, s), max(r, s)


@njit(cache=True, nogil=True)
def _gather(columns: FloatArray, records: IntArray, seed: int, k: int, distances: FloatArray) -> None:
    """Swap the k-1 records behind ``seed`` that are nearest to it to the places behind it."""
    n = len(records)
    squared_distances(columns, seed, n, columns[:, seed].copy(), distances)
    for place in range(seed + 1, seed + k):
        chosen = place + np.argmin(distances[place:])
        _swap(columns, records, chosen, place)
        distances[chosen], distances[place] = distances[place], distances[chosen]


@njit(cache=True, nogil=True)
def mdav_argus(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV in the order of µ-ARGUS for ``X``, shape (n, d), n >= k."""
    n, d = X.shape
    columns = np.empty((d, n))
    for i in range(n):
        for j in range(d):
            columns[j, i] = X[i, j]
    records = np.arange(n)
    distances = np.empty(n)
    labels = np.empty(n, dtype=np.int64)
    first = 0
    group = 0
    while n - first >= 2 * k:
        r, s = _two_far_positions(columns, first, distances)
        _swap(columns, records, r, first)
        seeds = 1
        if n - first >= 3 * k:
            _swap(columns, records, s, first + k)
            seeds = 2
        for _ in range(seeds):
            _gather(columns, records, first, k, distances)
            labels[records[first : first + k]] = group
            first += k
            group += 1
        if seeds == 1:
            break
    labels[records[first:]] = group
    return labels
