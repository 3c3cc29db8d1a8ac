"""Records drawn on a plane: principal components of numbers, and of mixed attributes as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg.columns.records import Records
from microagg.columns.scaling import centered
from microagg.errors import DataError
from microagg.validation import FloatArray, IntArray, check_finite

# Maximum number of drawn records with mixed attributes, each category of which is a column.
_MOST_MIXED = 1_000
# Variances below this share of the largest consist of rounding errors, as do smaller differences of coordinates.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Points on a plane that stand for records."""

    # Shape (m, 2), in the unit of the distance: of mixed attributes 1 is the whole domain of one attribute. The mean of
    # each axis is 0, and the largest by its absolute value is positive.
    points: FloatArray
    shares: FloatArray  # shape (2,): the part of the variance along each axis, 0 where all points are equal
    rows: IntArray  # shape (m,): the positions of the records, ascending


def principal_coordinates(records: Records) -> Coordinates:
    """Return at most 1,000 records on the two axes of largest variance, of more a sample that is always the same.

    The squared distance of two records is the sum over their attributes of ((x - y) / domain)² for numbers and ranks,
    and of the height of the lowest common ancestor as a share of that of the taxonomy for nominal values.
    """
    if not len(records):
        raise DataError("there are no records to draw.")
    check_finite(records.values, [str(attribute.name) for attribute in records.attributes])
    rows = np.arange(len(records))
    if len(records) > _MOST_MIXED:
        rows = np.sort(np.random.default_rng(0).choice(len(records), _MOST_MIXED, replace=False))
    placed = principal_components(_as_numbers(records.take(rows)))
    return Coordinates(placed.points, placed.shares, rows)


def _as_numbers(records: Records) -> FloatArray:
    """Return numbers with the distances of records: shares of domains, and a column for each node of a taxonomy.

    Nodes weigh so much that those between two leaves and their common ancestor add up to its height.
    """
    ranged = ~records.nominal & (records.domains > 0.0)
    columns = list((records.values[:, ranged] / records.domains[ranged]).T)
    for attribute, values in zip(records.attributes, records.values.T, strict=True):
        if (tree := attribute.taxonomy) is not None:
            lineages = tree.lineages[1:, values.astype(np.int64)]
            for node in np.unique(lineages):
                weight = (tree.heights[tree.parents[node]] - tree.heights[node]) / 2
                columns.append((lineages == node).any(axis=0) * np.sqrt(weight))
    return np.column_stack(columns) if columns else np.zeros((len(records), 1))


def principal_components(X: FloatArray) -> Coordinates:
    """Return the records of ``X``, shape (n, d), on the two axes of largest variance.

    Coordinates have the unit of X. With one attribute the second axis is 0. Where two axes have equal shares, any
    rotation of them would do as well.
    """
    _, _, deviations = centered(X)
    directions, sizes, _ = np.linalg.svd(deviations, full_matrices=False)
    variances = np.square(sizes)
    points, shares = np.zeros((len(X), 2)), np.zeros(2)
    for axis in range(min(2, len(sizes))):
        if variances[axis] > _ROUNDING * variances[0]:
            points[:, axis] = _positive(directions[:, axis] * sizes[axis])
            shares[axis] = variances[axis] / variances.sum()
    return Coordinates(points, shares, np.arange(len(X)))


def _positive(vector: FloatArray) -> FloatArray:
    """Return ``vector`` with the sign by which its largest element is positive, of equally large ones the first."""
    sizes = np.abs(vector)
    # Elements that differ by rounding count as equal: otherwise the sign would depend on the machine.
    index = int(np.argmax(sizes >= (1.0 - _ROUNDING) * sizes.max()))
    return vector if vector[index] > 0.0 else -vector
