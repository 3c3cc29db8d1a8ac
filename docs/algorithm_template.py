"""Shells: groups of k records by their distance from the centroid of all data.

1. The records are sorted by their distance from the centroid, the farthest first (``first="nearest"``: the nearest).
2. Each k of them in this order form a group; the last group takes what is left.

Ties go to the lowest record index. Time O(nd + n log n).

Source: an example, which loses much. Copy this file to ``microagg/algorithms/`` and change every line of it.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.kernels.compiled import kernel
from microagg.validation import FloatArray, IntArray


@kernel
def distances_to_centroid(X: FloatArray) -> FloatArray:
    """Return the squared distance of each record of ``X``, shape (n, d), to the mean of all, shape (n,)."""
    n, d = X.shape
    distances = np.zeros(n)
    for j in range(d):
        mean = X[:, j].sum() / n
        for i in range(n):
            distances[i] += (X[i, j] - mean) ** 2
    return distances


def shells(X: FloatArray, k: int, nearest_first: bool) -> IntArray:
    """Return the labels of the shells of ``X``, shape (n, d), n >= k."""
    distances = distances_to_centroid(X)
    order = np.argsort(distances if nearest_first else -distances, kind="stable")
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return labels


class Shells(Microaggregator):
    """Shells around the centroid."""

    info = Info(
        key="shells",
        title="Shells",
        family="Fixed-size heuristics",
        summary="Sorts the records by their distance from the centroid and takes k at a time.",
        year=2026,
        reference="an example",
        sizes="fixed",
        complexity="O(nd + n log n)",
        note="What the source is silent about, and what was chosen here.",
    )
    params = (
        Param("first", "choice", ("farthest", "nearest"), "farthest", "At which end the groups of exactly k begin."),
    )

    def _partition(self, X: FloatArray, k: int, *, first: str) -> IntArray:
        return shells(X, k, first == "nearest")
