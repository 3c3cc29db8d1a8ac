"""Means, standard deviations and correlations before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg.columns.scaling import centered
from microagg.validation import FloatArray

# A standard deviation below this fraction of the original one consists of rounding errors, and so do its correlations.
_VANISHED = 1e-9


def means_and_deviations(X: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, standard deviation and deviations from the mean of each column. Exactly 0 if it is constant.

    ``X``, shape (n, d), is finite and has a record; with ``weights``, shape (n,), all are weighted.
    """
    low, center, deviations = centered(X, weights)
    constant = X.max(axis=0) == low
    deviations[:, constant] = 0.0
    squares = np.square(deviations)
    variance = squares.mean(axis=0) if weights is None else np.average(squares, axis=0, weights=weights)
    return np.where(constant, low, low + center), np.sqrt(variance), deviations


@dataclass(frozen=True, eq=False)
class CorrelationChanges:
    """Changes of the correlations of two different attributes that are defined before and after."""

    attributes: FloatArray  # shape (d,): the largest absolute change of each, 0 to 2; NaN if none is defined
    largest: float | None  # absolute change over all pairs; None if no correlation is defined
    pair: tuple[int, int] | None  # the two attributes of the largest change


def correlation_changes(X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None) -> CorrelationChanges:
    """Changes of the correlations of the columns of ``X``, shape (n, d), by their replacement.

    All numbers are finite; with ``weights``, shape (n,), correlations are weighted.
    """
    return changes_between(*correlations(X, replaced, weights))


def changes_between(before: FloatArray, after: FloatArray) -> CorrelationChanges:
    """Changes between two matrices of correlations, shape (d, d), NaN if a correlation is not defined."""
    change = np.triu(np.abs(after - before), 1)
    # Only one half, as both may differ in the last bit.
    change += change.T
    np.fill_diagonal(change, np.nan)
    filled = np.where(np.isnan(change), -1.0, change)
    largest = filled.max(axis=1)
    attributes = np.where(largest >= 0.0, largest, np.nan)
    if largest.max() < 0.0:
        return CorrelationChanges(attributes, None, None)
    i, j = np.unravel_index(int(filled.argmax()), filled.shape)
    return CorrelationChanges(attributes, float(largest.max()), (int(i), int(j)))


def correlations(
    X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Correlations of the columns of ``X``, shape (n, d), and of their replacements. Each of shape (d, d).

    With ``weights``, shape (n,), they are weighted. NaN if a column is constant, before or after.
    """
    _, sd, before = means_and_deviations(X, weights)
    _, sd_after, after = means_and_deviations(replaced, weights)
    defined = (sd > 0.0) & (sd_after > _VANISHED * sd)
    shares = np.full(len(X), 1.0 / len(X)) if weights is None else weights / weights.sum()
    matrices = []
    for deviations, spread in ((before, sd), (after, sd_after)):
        scaled = deviations / np.where(defined, spread, 1.0)
        matrix = np.clip((scaled * shares[:, np.newaxis]).T @ scaled, -1.0, 1.0)
        matrix[~defined] = np.nan
        matrix[:, ~defined] = np.nan
        matrices.append(matrix)
    return matrices[0], matrices[1]
