"""Information loss: which share of the variance of the data lies within groups, and so is lost by microaggregation.

SSE is the sum of squared distances of the records to their group's centroid, SST that to the centroid of all data, and
IL = 100 · SSE / SST, in percent (Domingo-Ferrer & Mateo-Sanz 2002). SSE and SST are in squared units of X; IL has
none, but depends on how the attributes are scaled against each other.

All functions take X as an array of shape (n, d) (or (n,), one attribute) and labels of shape (n,), under any numbering.
They raise :class:`~microagg.errors.DataError` for anything but finite numbers and whole-number labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.errors import DataError
from microagg.partition import canonical_labels, group_means
from microagg.validation import FloatArray, IntArray, check_finite, check_matrix


def record_sse(X: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Return each record's squared distance to its group's centroid, shape (n,); they add up to the SSE."""
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    return np.square(data - group_means(data, groups)[groups]).sum(axis=1)


def group_sse(X: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Return the SSE within each group, shape (n_groups,), groups in order of first appearance."""
    weights = record_sse(X, labels)
    return np.bincount(canonical_labels(labels), weights=weights).astype(np.float64, copy=False)


def sse(X: ArrayLike, labels: ArrayLike) -> float:
    """Return the sum of squared distances of the records to their group's centroid."""
    return float(record_sse(X, labels).sum())


def sst(X: ArrayLike) -> float:
    """Return the sum of squared distances of the records to the centroid of all data."""
    data = check_matrix(X)
    check_finite(data)
    # Rounding leaves a mean slightly off; the mean of the deviations from it corrects that.
    centered = data - data.mean(axis=0)
    centered -= centered.mean(axis=0)
    return float(np.square(centered).sum())


def information_loss(X: ArrayLike, labels: ArrayLike) -> float:
    """Return IL = 100 · SSE / SST in percent, 0 to 100; 0 where all records are equal, as nothing can be lost then."""
    return percent(sse(X, labels), sst(X))


def percent(part: float, whole: float) -> float:
    """Return an SSE as a percentage of an SST, 0 where the SST is 0, and at most 100 in spite of rounding."""
    return min(100.0 * part / whole, 100.0) if whole > 0.0 else 0.0


# How the groups of two partitions of the same records overlap.
#
# Labels have shape (n,), under any numbering; groups are numbered in order of first appearance. Functions raise
# :class:`~microagg.errors.DataError` for labels that are not whole numbers, or not one for each record in both.


def matched_groups(one: ArrayLike, other: ArrayLike) -> IntArray:
    """Return for each group of ``one`` its counterpart in ``other``, -1 where it has none; shape (g,).

    Pairs with the most records in common are matched first, of equally many those with the fewest records that they do
    not share, then those with the lowest numbers; each group is matched at most once.
    """
    groups, others = _both(one, other)
    pairs, counts = _pairs(groups, others)
    apart = np.bincount(groups)[pairs[0]] + np.bincount(others)[pairs[1]] - 2 * counts
    found = np.full(int(groups.max()) + 1, -1)
    taken = np.zeros(int(others.max()) + 1, dtype=bool)
    for group, counterpart in pairs[:, np.lexsort((*pairs[::-1], apart, -counts))].T.tolist():
        if found[group] < 0 and not taken[counterpart]:
            found[group], taken[counterpart] = counterpart, True
    return found


def grouped_alike(one: ArrayLike, other: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each record is grouped with exactly the same records in both partitions, shape (n,)."""
    groups, others = _both(one, other)
    pairs, counts = _pairs(groups, others)
    whole = (counts == np.bincount(groups)[pairs[0]]) & (counts == np.bincount(others)[pairs[1]])
    alike = np.zeros(int(groups.max()) + 1, dtype=bool)
    alike[pairs[0, whole]] = True
    return alike[groups]


def _both(one: ArrayLike, other: ArrayLike) -> tuple[IntArray, IntArray]:
    groups, others = canonical_labels(one), canonical_labels(other)
    if len(groups) != len(others):
        raise DataError(
            f"one partition is of {len(groups)} records, the other of {len(others)}: give the same records."
        )
    return groups, others


def _pairs(groups: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of groups that share a record, shape (2, m), ascending, and how many they share, shape (m,)."""
    n_others = int(others.max()) + 1
    codes, counts = np.unique(groups * n_others + others, return_counts=True)
    return np.stack(np.divmod(codes, n_others)), counts
