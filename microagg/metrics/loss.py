"""Information loss: which share of the variance of the data lies within groups, and so is lost, and who loses it.

SSE is the sum of squared distances of the records to their group's centroid, SST that to the centroid of all data, and
IL = 100 · SSE / SST, in percent (Domingo-Ferrer & Mateo-Sanz 2002). SSE and SST are in squared units of X; IL has
none, but depends on how the attributes are scaled against each other.

All functions take X as an array of shape (n, d) (or (n,), one attribute) and labels of shape (n,), the group of each
record, under any numbering. They raise :class:`~microagg.errors.DataError` if X holds anything but finite numbers, or
labels are not whole numbers, one for each record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.columns.records import Records
from microagg.errors import DataError
from microagg.metrics.generalization import attribute_information_loss, extents
from microagg.partition import canonical_labels, group_means
from microagg.validation import FloatArray, IntArray, check_finite, check_matrix


def record_sse(X: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Return each record's part of the SSE: its squared distance to its group's centroid, (n,), in units of X²."""
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    return np.square(data - group_means(data, groups)[groups]).sum(axis=1)


def group_sse(X: ArrayLike, labels: ArrayLike) -> FloatArray:
    """Return the SSE within each group, shape (n_groups,), in squared units of X, in order of first appearance."""
    weights = record_sse(X, labels)
    return np.bincount(canonical_labels(labels), weights=weights).astype(np.float64, copy=False)


def sse(X: ArrayLike, labels: ArrayLike) -> float:
    """Return the sum of squared distances of the records to their group's centroid.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d), or (n,) for one attribute
        On the scale on which distances are measured.
    labels : array of int, shape (n,)
        The group of each record, under any numbering.

    Returns
    -------
    float
        In squared units of X.

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or labels are not whole numbers, one for each record.

    References
    ----------
    Domingo-Ferrer & Mateo-Sanz (2002), Section 2, as in :func:`information_loss`.
    """
    return float(record_sse(X, labels).sum())


def sst(X: ArrayLike) -> float:
    """Return the sum of squared distances of the records to the centroid of all data, in squared units of X."""
    data = check_matrix(X)
    check_finite(data)
    # Rounding leaves a mean slightly off; the mean of the deviations from it corrects that.
    centered = data - data.mean(axis=0)
    centered -= centered.mean(axis=0)
    return float(np.square(centered).sum())


def information_loss(X: ArrayLike, labels: ArrayLike) -> float:
    """Return the information loss IL = 100 · SSE / SST of releasing each record as the centroid of its group.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d), or (n,) for one attribute
        On the scale on which attributes are compared, such as that of :func:`microagg.standardize`: IL has no unit, but
        depends on how the attributes are scaled against each other.
    labels : array of int, shape (n,)
        The group of each record, under any numbering.

    Returns
    -------
    float
        In percent, 0 to 100: 0 if all records of each group are equal, and where all records are, as nothing can be
        lost then; 100 if all groups have the same centroid.

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or labels are not whole numbers, one for each record.

    References
    ----------
    Domingo-Ferrer & Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure control,
    Section 2.

    Examples
    --------
    >>> information_loss([[1.0], [3.0], [10.0], [12.0]], [0, 0, 1, 1])
    4.705882352941177
    """
    return percent(sse(X, labels), sst(X))


def percent(part: float, whole: float) -> float:
    """Return an SSE as a percentage of an SST, 0 where the SST is 0, and at most 100 in spite of rounding."""
    return min(100.0 * part / whole, 100.0) if whole > 0.0 else 0.0


# --- who loses most, and of which attribute ---------------------------------------------------------------------------

# Attributes whose distances are computed together: fewer take longer, more of them more memory.
_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class LargestLosses:
    """The records, or one record of each of the groups, that lose most, the one with the largest share first.

    ``records`` are their positions, and ``attributes`` those of the attributes of which the record, or the group, loses
    most; ``shares`` are the parts of the loss of all that fall on the record, or on its whole group, in percent. Each
    is of shape (m,).
    """

    records: IntArray
    shares: FloatArray
    attributes: IntArray


def record_shares(data: FloatArray | Records, labels: ArrayLike) -> FloatArray:
    """Return each record's part of the loss of all, in percent, shape (n,); 0 for all where nothing is lost.

    The loss of ``data`` of numbers, shape (n, d), is the SSE, that of records is Total-IL.
    """
    if isinstance(data, Records):
        return _in_percent(extents(data, labels).shares.sum(axis=1)[canonical_labels(labels)])
    return _in_percent(record_sse(data, labels))


def _in_percent(lost: FloatArray) -> FloatArray:
    return np.asarray(100.0 * lost / lost.sum() if lost.sum() > 0.0 else lost)


def attribute_shares(data: FloatArray | Records, labels: ArrayLike) -> FloatArray:
    """Return each attribute's part of the loss of all, in percent, shape (d,); see :func:`record_shares`."""
    if isinstance(data, Records):
        return _in_percent(attribute_information_loss(data, labels))
    groups = canonical_labels(labels)
    return _in_percent(np.square(data - group_means(data, groups)[groups]).sum(axis=0))


def cumulated(shares: FloatArray) -> FloatArray:
    """Return the part of the loss that falls on the 1, 2, …, g groups that lose most, shape (g,), ascending.

    ``shares``, shape (g,), are the parts of the groups, in percent; the last one is 100, or 0 where nothing is lost.
    """
    return np.cumsum(np.sort(shares)[::-1])


def records_losing_most(X: FloatArray, labels: ArrayLike, most: int = 20) -> LargestLosses:
    """Return up to ``most`` records that are farthest from the centroid of their group, the first among equals."""
    groups, shares = canonical_labels(labels), record_shares(X, labels)
    order = np.argsort(-shares, kind="stable")[:most]
    moved = np.abs(X[order] - group_means(X, groups)[groups[order]])
    return LargestLosses(order, shares[order], moved.argmax(axis=1))


def groups_losing_most(records: Records, labels: ArrayLike, most: int = 20) -> LargestLosses:
    """Return up to ``most`` groups that lose most Total-IL, each by its record farthest from the others of the group.

    The distance of two records is the sum over the attributes of their difference as a share of the domain; of
    categories without an order it is 1 where they differ. Of equal losses the group that appears first comes first.
    """
    groups = canonical_labels(labels)
    spans = extents(records, labels)
    lost = spans.sizes * spans.shares.sum(axis=1)
    order = np.argsort(-lost, kind="stable")[:most]
    farthest = []
    for group in order:
        rows = np.flatnonzero(groups == group)
        farthest.append(rows[_sums_of_distances(records, rows).argmax()])
    return LargestLosses(np.array(farthest), _in_percent(lost)[order], spans.shares[order].argmax(axis=1))


def _sums_of_distances(records: Records, rows: IntArray) -> FloatArray:
    """Return the sum of the distances of each of the records ``rows`` to the others of them."""
    total = np.zeros(len(rows))
    for start in range(0, records.d, _AT_ONCE):
        chosen = slice(start, start + _AT_ONCE)
        values, nominal, domains = records.values[rows, chosen], records.nominal[chosen], records.domains[chosen]
        parts = np.zeros(values.shape)
        ranged = np.flatnonzero(~nominal & (domains > 0.0))
        parts[:, ranged] = _sums_of_differences(values[:, ranged]) / domains[ranged]
        for j in np.flatnonzero(nominal):
            _, places, counts = np.unique(values[:, j], return_inverse=True, return_counts=True)
            parts[:, j] = len(rows) - counts[places]
        # Added up one attribute after the other, however many are computed together.
        total = np.cumsum(np.column_stack([total, parts]), axis=1)[:, -1]
    return total


def _sums_of_differences(values: FloatArray) -> FloatArray:
    """Return the sum of |x - y| over all y of its column for each x, shape (m, d), in one pass over sorted columns."""
    m = len(values)
    order = np.argsort(values, axis=0)
    ascending = np.take_along_axis(values, order, axis=0)
    ascending = ascending - ascending[:1]
    sums = np.cumsum(ascending, axis=0)
    distances = np.empty_like(ascending)
    weights = 2 * np.arange(m)[:, np.newaxis] + 2 - m
    np.put_along_axis(distances, order, ascending * weights + sums[-1] - 2 * sums, axis=0)
    return distances


# --- how the groups of two partitions of the same records overlap -----------------------------------------------------


def matched_groups(one: ArrayLike, other: ArrayLike) -> IntArray:
    """Return for each group of a partition its counterpart in another one of the same records.

    Pairs with the most records in common are matched first, of equally many those with the fewest records that they do
    not share, then those with the lowest numbers; each group is matched at most once.

    Parameters
    ----------
    one, other : array of int, shape (n,)
        The group of each record in both partitions, under any numbering.

    Returns
    -------
    array of int, shape (g,)
        For the groups of ``one``, in order of first appearance, those of ``other``, numbered likewise; -1 for none.

    Raises
    ------
    DataError
        If labels are not whole numbers, or not one for each record in both.
    """
    groups, others, pairs, shared, not_shared = _pairs(one, other)
    counterparts = np.full(int(groups.max()) + 1, -1)
    taken = np.zeros(int(others.max()) + 1, dtype=bool)
    for group, counterpart in pairs[:, np.lexsort((*pairs[::-1], not_shared, -shared))].T.tolist():
        if counterparts[group] < 0 and not taken[counterpart]:
            counterparts[group], taken[counterpart] = counterpart, True
    return counterparts


def grouped_alike(one: ArrayLike, other: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each record, shape (n,), is grouped with exactly the same records in both partitions."""
    groups, _, pairs, _, not_shared = _pairs(one, other)
    alike = np.zeros(int(groups.max()) + 1, dtype=bool)
    alike[pairs[0, not_shared == 0]] = True
    return alike[groups]


def _pairs(one: ArrayLike, other: ArrayLike) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return the canonical labels of both, each of shape (n,), and the pairs of groups that have a record in common.

    The pairs are of shape (2, m), ascending; beside them, each of shape (m,), how many records the two groups have in
    common, and how many only one of them has.
    """
    groups, others = canonical_labels(one), canonical_labels(other)
    if (n := len(groups)) != len(others):
        raise DataError(f"one partition is of {n} records, the other of {len(others)}: give the same records.")
    n_others = int(others.max()) + 1
    codes, shared = np.unique(groups * n_others + others, return_counts=True)
    pairs = np.stack(np.divmod(codes, n_others))
    return groups, others, pairs, shared, np.bincount(groups)[pairs[0]] + np.bincount(others)[pairs[1]] - 2 * shared
