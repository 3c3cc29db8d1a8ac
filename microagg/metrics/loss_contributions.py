"""Which records and groups of a partition lose most, and of which attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.metrics.generalization import attribute_information_loss, extents
from microagg.metrics.loss import record_sse
from microagg.partition import canonical_labels, group_means
from microagg.validation import FloatArray, IntArray

# Attributes whose distances are computed together: fewer take longer, more of them more memory.
_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Losing:
    """The records, or one record of each of the groups, that lose most, the one with the largest share first.

    Attributes
    ----------
    records : array of int, shape (m,)
        Their positions.
    shares : array of float, shape (m,)
        What part of the loss of all falls on the record or on its whole group, in percent.
    attributes : array of int, shape (m,)
        The position of the attribute of which it loses most.
    """

    records: IntArray
    shares: FloatArray
    attributes: IntArray


def record_shares(data: FloatArray | Records, labels: ArrayLike) -> FloatArray:
    """Return each record's part of the loss in percent, shape (n,); 0 for all where nothing is lost.

    The loss of numbers, an array of shape (n, d), is the SSE; that of records is Total-IL.
    """
    if isinstance(data, Records):
        lost = extents(data, labels).shares.sum(axis=1)[canonical_labels(labels)]
    else:
        lost = record_sse(data, labels)
    return np.asarray(100.0 * lost / lost.sum() if lost.sum() > 0.0 else lost)


def attribute_shares(data: FloatArray | Records, labels: ArrayLike) -> FloatArray:
    """Return each attribute's part of the loss in percent, shape (d,); 0 for all where nothing is lost."""
    if isinstance(data, Records):
        lost = attribute_information_loss(data, labels)
    else:
        groups = canonical_labels(labels)
        lost = np.square(data - group_means(data, groups)[groups]).sum(axis=0)
    return np.asarray(100.0 * lost / lost.sum() if lost.sum() > 0.0 else lost)


def cumulated(shares: FloatArray) -> FloatArray:
    """Return what part of the loss the 1, 2, …, g groups lose that lose most, in percent, shape (g,).

    ``shares``, shape (g,), is what each of them loses in percent. The last is 100, or 0 where nothing is lost.
    """
    return np.cumsum(np.sort(shares)[::-1])


def records_losing_most(X: FloatArray, labels: ArrayLike, most: int = 20) -> Losing:
    """Return up to ``most`` records of numbers, shape (n, d), whose distance to their centroid is largest."""
    groups, shares = canonical_labels(labels), record_shares(X, labels)
    order = np.argsort(-shares, kind="stable")[:most]
    moved = np.abs(X[order] - group_means(X, groups)[groups[order]])
    return Losing(order, shares[order], moved.argmax(axis=1))


def groups_losing_most(records: Records, labels: ArrayLike, most: int = 20) -> Losing:
    """Return up to ``most`` groups that have least in common, each by the record furthest from its others.

    How far a record is from another is the sum over the attributes of the difference as a share of the domain; of
    categories without an order it is 1 where they differ.
    """
    groups = canonical_labels(labels)
    found = extents(records, labels)
    lost = found.sizes * found.shares.sum(axis=1)
    order = np.argsort(-lost, kind="stable")[:most]
    furthest = []
    for group in order:
        rows = np.flatnonzero(groups == group)
        furthest.append(rows[_apart(records, rows).argmax()])
    shares = 100.0 * lost[order] / lost.sum() if lost.sum() > 0.0 else lost[order]
    return Losing(np.array(furthest), shares, found.shares[order].argmax(axis=1))


def _apart(records: Records, rows: IntArray) -> FloatArray:
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
    found = np.empty_like(ascending)
    weights = 2 * np.arange(m)[:, np.newaxis] + 2 - m
    np.put_along_axis(found, order, ascending * weights + sums[-1] - 2 * sums, axis=0)
    return found
