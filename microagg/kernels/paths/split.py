"""The optimal way to cut a path of records into groups, by dynamic programming."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.validation import FloatArray, IntArray

# A cut must be better by more than rounding to replace one found before.
BETTER = 1.0 - 1e-12


@njit(cache=True, nogil=True)
def split_path(X: FloatArray, order: IntArray, k: int) -> IntArray:
    """Return the labels of the best partition of ``X``, shape (n, d), into contiguous pieces of a path.

    ``order`` has the n record indices as they stand on the path, n >= k. Pieces have k to 2k-1 records: a longer one
    could be cut without loss. best[j] is the least SSE of the first j records, over the beginnings i of the last
    piece: best[j] = min best[i] + SSE(i..j-1). The SSE of a piece is kept up as it takes in the next record, which
    adds m / (m + 1) · ‖x - centroid‖². Among equals (up to a relative 1e-12) the longest last piece is kept.
    Time O(nkd).

    For one attribute and sorted records this is the optimum (Hansen & Mukherjee 2003); for several attributes it is
    the multivariate version (Domingo-Ferrer et al. 2006), with the incremental SSE of Mortazavi et al. 2013.
    """
    n, d = X.shape
    best = np.full(n + 1, np.inf)
    start = np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    center = np.empty(d)
    for i in range(n - k + 1):
        if np.isinf(best[i]):
            continue
        sse = 0.0
        for m in range(min(2 * k - 1, n - i)):
            record = order[i + m]
            distance = 0.0
            for j in range(d):
                difference = X[record, j] - center[j] if m > 0 else 0.0
                distance += difference * difference
                center[j] = center[j] + difference / (m + 1) if m > 0 else X[record, j]
            sse += m / (m + 1) * distance
            if m + 1 >= k and best[i] + sse < best[i + m + 1] * BETTER:
                best[i + m + 1] = best[i] + sse
                start[i + m + 1] = i
    labels = np.empty(n, dtype=np.int64)
    stop = n
    group = 0
    while stop > 0:
        labels[order[start[stop] : stop]] = group
        group += 1
        stop = start[stop]
    return labels
