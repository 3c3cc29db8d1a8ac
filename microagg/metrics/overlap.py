"""How the groups of two partitions of the same records overlap.

Labels have shape (n,), under any numbering; groups are numbered in order of first appearance. Functions raise
:class:`~microagg.errors.DataError` for labels that are not whole numbers, or not one for each record in both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.errors import DataError
from microagg.partition import canonical_labels
from microagg.validation import IntArray


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
