"""The optimal partition of a few records, by dynamic programming over all subsets."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def subset_sse(X: FloatArray) -> FloatArray:
    """Return the SSE of every subset of the records ``X``, shape (n, d): bit i of its index stands for record i."""
    n, d = X.shape
    sse = np.zeros(1 << n)
    center = np.empty(d)
    for subset in range(1, 1 << n):
        center[:] = 0.0
        size = 0
        for i in range(n):
            if subset >> i & 1:
                size += 1
                for j in range(d):
                    # A mean that moves by fractions of differences loses nothing to a large common offset.
                    center[j] += (X[i, j] - center[j]) / size
        for i in range(n):
            if subset >> i & 1:
                for j in range(d):
                    difference = X[i, j] - center[j]
                    sse[subset] += difference * difference
    return sse


@njit(cache=True, nogil=True)
def optimal_partition(X: FloatArray, k: int) -> IntArray:
    """Return the labels of the partition of ``X``, shape (n, d), into groups of at least k with the least SSE.

    best[rest] is the least SSE of the groups formed so far, where ``rest`` is the set of the records left. The next
    group holds the first record left, so that groups come in one order only, and has k to 2k-1 records: a larger one
    could be split without loss. Time O(3^n), memory O(2^n).
    """
    n = len(X)
    sse = subset_sse(X)
    best = np.full(1 << n, np.inf)
    group_before = np.zeros(1 << n, dtype=np.int64)
    best[-1] = 0.0
    for rest in range((1 << n) - 1, 0, -1):
        if np.isinf(best[rest]):
            continue
        first = rest & -rest
        others = rest ^ first
        part = others
        while True:
            group = part | first
            size = 0
            left = group
            while left:
                left &= left - 1
                size += 1
            if k <= size < 2 * k and best[rest] + sse[group] < best[rest ^ group]:
                best[rest ^ group] = best[rest] + sse[group]
                group_before[rest ^ group] = group
            if part == 0:
                break
            part = (part - 1) & others
    labels = np.empty(n, dtype=np.int64)
    rest = number = 0
    while rest != (1 << n) - 1:
        group = group_before[rest]
        for i in range(n):
            if group >> i & 1:
                labels[i] = number
        rest |= group
        number += 1
    return labels
