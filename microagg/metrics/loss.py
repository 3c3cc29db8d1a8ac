"""Information loss: the share of the variance of the data within groups, and its distribution over records.

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
    """Squared distance of each record to the centroid of its group.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers.
    labels : array of shape (n,)
        Group of each record.

    Returns
    -------
    array of float, shape (n,)
        In squared units of X.

    Raises
    ------
    DataError
        As :func:`sse`.
    """
    return _squares(X, labels).sum(axis=1)


def _squares(X: ArrayLike, labels: ArrayLike) -> FloatArray:
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    return np.square(data - group_means(data, groups)[groups])


def sse(X: ArrayLike, labels: ArrayLike) -> float:
    """Sum of squared distances of the records to their group's centroid.

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
    """Sum of squared distances of the records to the centroid of all data.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers.

    Returns
    -------
    float
        In squared units of X.

    Raises
    ------
    DataError
        If X holds anything but finite numbers.
    """
    data = check_matrix(X)
    check_finite(data)
    # Rounding leaves a mean slightly off; the mean of the deviations from it corrects that.
    centered = data - data.mean(axis=0)
    centered -= centered.mean(axis=0)
    return float(np.square(centered).sum())


def information_loss(X: ArrayLike, labels: ArrayLike) -> float:
    """Information loss IL = 100 · SSE / SST of releasing each record as the centroid of its group.

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
        In percent, 0 to 100: 0 if all records of each group are equal, or all records, as nothing can be lost; 100 if
        all groups have the same centroid.

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
    """An SSE as a percentage of an SST. 0 if the SST is 0, and at most 100 in spite of rounding."""
    return min(100.0 * part / whole, 100.0) if whole > 0.0 else 0.0


# --- largest losses of records, groups and attributes -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LargestLosses:
    """Records with the largest losses, or one record of each of the groups with the largest losses, descending.

    ``records`` are their positions, ``attributes`` the attribute with the largest loss of each record, or group, and
    ``shares`` the share of the total loss of the record, or its whole group, in percent. Each has shape (m,).
    """

    records: IntArray
    shares: FloatArray
    attributes: IntArray


def record_shares(data: FloatArray | Records, labels: ArrayLike) -> FloatArray:
    """Share of each record in the total loss.

    Parameters
    ----------
    data : array of shape (n, d), or Records
        Numbers, whose loss is the SSE, or records, whose loss is Total-IL.
    labels : array of shape (n,)
        Group of each record.

    Returns
    -------
    array of float, shape (n,)
        In percent; 0 for all if nothing is lost.

    Raises
    ------
    DataError
        As :func:`sse`.
    """
    if isinstance(data, Records):
        return _percentages(extents(data, labels).shares.sum(axis=1)[canonical_labels(labels)])
    return _percentages(record_sse(data, labels))


def _percentages(lost: FloatArray) -> FloatArray:
    return np.asarray(100.0 * lost / lost.sum() if lost.sum() > 0.0 else lost)


def attribute_shares(data: FloatArray | Records, labels: ArrayLike) -> FloatArray:
    """Share of each attribute in the total loss.

    Parameters
    ----------
    data : array of shape (n, d), or Records
        As in :func:`record_shares`.
    labels : array of shape (n,)
        Group of each record.

    Returns
    -------
    array of float, shape (d,)
        In percent; 0 for all if nothing is lost.

    Raises
    ------
    DataError
        As :func:`sse`.
    """
    if isinstance(data, Records):
        return _percentages(attribute_information_loss(data, labels))
    return _percentages(_squares(data, labels).sum(axis=0))


def cumulated(shares: FloatArray) -> FloatArray:
    """Share of the 1, 2, …, g groups with the largest losses in the total loss.

    Parameters
    ----------
    shares : array of shape (g,)
        Shares of the groups in the total loss, in percent.

    Returns
    -------
    array of float, shape (g,)
        In percent, ascending. The last one is 100, or 0 if nothing is lost.
    """
    return np.cumsum(np.sort(shares)[::-1])


def records_losing_most(X: ArrayLike, labels: ArrayLike, most: int = 20) -> LargestLosses:
    """Records that are farthest from the centroid of their group.

    Parameters
    ----------
    X, labels
        As in :func:`information_loss`.
    most : int
        The maximum number of records.

    Returns
    -------
    LargestLosses
        Descending; the first records of ties.

    Raises
    ------
    DataError
        As :func:`sse`.
    """
    squares = _squares(X, labels)
    shares = _percentages(squares.sum(axis=1))
    order = np.argsort(-shares, kind="stable")[:most]
    return LargestLosses(order, shares[order], squares[order].argmax(axis=1))


def groups_losing_most(records: Records, labels: ArrayLike, most: int = 20) -> LargestLosses:
    """Groups with the highest Total-IL.

    Parameters
    ----------
    records : Records, n of them
    labels : array of shape (n,)
        Group of each record.
    most : int
        The maximum number of groups.

    Returns
    -------
    LargestLosses
        Descending, the first record of each group; ties are in order of first appearance.

    Raises
    ------
    DataError
        If labels are not whole numbers, one for each record.
    """
    _, first = np.unique(canonical_labels(labels), return_index=True)
    spans = extents(records, labels)
    lost = spans.sizes * spans.shares.sum(axis=1)
    order = np.argsort(-lost, kind="stable")[:most]
    return LargestLosses(first[order], _percentages(lost)[order], spans.shares[order].argmax(axis=1))


def grouped_alike(one: ArrayLike, other: ArrayLike) -> NDArray[np.bool_]:
    """Whether each record is grouped with exactly the same records in both partitions.

    Parameters
    ----------
    one, other : arrays of shape (n,)
        Group of each record in both partitions, under any numbering.

    Returns
    -------
    array of bool, shape (n,)

    Raises
    ------
    DataError
        If labels are not whole numbers, or not one for each record in both.
    """
    groups, others = canonical_labels(one), canonical_labels(other)
    if (n := len(groups)) != len(others):
        raise DataError(f"one partition is of {n} records, the other of {len(others)}: give the same records.")
    both = np.unique(groups * n + others, return_inverse=True)[1]
    n_own, n_other, n_both = (np.bincount(labels)[labels] for labels in (groups, others, both))
    return (n_own == n_both) & (n_other == n_both)
