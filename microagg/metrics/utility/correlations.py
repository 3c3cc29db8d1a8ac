"""Correlations of attributes before and after, of many attributes too: a few rows of the matrix at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microagg.metrics.utility.pairs import means_and_deviations
from microagg.validation import FloatArray

# A standard deviation below this fraction of what it was consists of rounding errors, and so do its correlations.
_VANISHED = 1e-9
# Rows of a matrix of correlations that are computed together: of 10,000 columns, the whole matrix has 0.8 GB.
_AT_ONCE = 1_024


@dataclass(frozen=True, eq=False)
class CorrelationChanges:
    """How much correlations of two different attributes have changed, of those that are defined before and after.

    Attributes
    ----------
    attributes : array, shape (d,)
        The largest absolute change of a correlation of each attribute, 0 to 2; NaN where it has none that is defined.
    largest, mean : float or None
        The largest and the mean absolute change over all pairs; None where no correlation is defined.
    pair : tuple of int or None
        The two attributes of the largest change.
    """

    attributes: FloatArray
    largest: float | None
    mean: float | None
    pair: tuple[int, int] | None


def correlation_changes(X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None) -> CorrelationChanges:
    """Return how the correlations of the columns of ``X``, shape (n, d), differ from those of what replaces them.

    All numbers are finite; with ``weights``, shape (n,), correlations are weighted.
    """
    largest, partners = np.empty(X.shape[1]), np.empty(X.shape[1], dtype=np.int64)
    total, count = 0.0, 0
    for start, before, after in _by_rows(X, replaced, weights, _AT_ONCE):
        change = np.abs(after - before)
        np.fill_diagonal(change[:, start:], np.nan)  # a correlation with itself is always 1
        defined = ~np.isnan(change)
        change[~defined] = -1.0
        total, count = total + float(change.sum(where=defined)), count + int(defined.sum())
        rows = slice(start, start + len(change))
        largest[rows], partners[rows] = change.max(axis=1), change.argmax(axis=1)
    i = int(largest.argmax())
    attributes = np.where(largest >= 0.0, largest, np.nan)
    if count == 0:
        return CorrelationChanges(attributes, None, None, None)
    return CorrelationChanges(attributes, float(largest[i]), total / count, (i, int(partners[i])))


def changes_between(before: FloatArray, after: FloatArray) -> CorrelationChanges:
    """Return how correlations differ: two matrices of shape (d, d), NaN where a correlation is not defined."""
    change = np.triu(np.abs(after - before), 1)
    # Of both halves one, for they may differ in the last bit.
    change += change.T
    np.fill_diagonal(change, np.nan)
    defined = ~np.isnan(change)
    filled = np.where(defined, change, -1.0)
    largest = filled.max(axis=1)
    attributes = np.where(largest >= 0.0, largest, np.nan)
    if not defined.any():
        return CorrelationChanges(attributes, None, None, None)
    i, j = np.unravel_index(int(filled.argmax()), filled.shape)
    return CorrelationChanges(attributes, float(largest.max()), float(change[defined].mean()), (int(i), int(j)))


def correlations(
    X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the correlations of the columns of ``X``, shape (n, d), and those of what replaces them; each (d, d).

    With ``weights``, shape (n,), they are weighted. NaN where a column is constant, before or after.
    """
    [(_, before, after)] = _by_rows(X, replaced, weights, X.shape[1])
    return before, after


def _by_rows(
    X: FloatArray, replaced: FloatArray, weights: FloatArray | None, most: int
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Yield ``most`` rows of both matrices of :func:`correlations` at a time, with the number of the first."""
    _, sd, before = means_and_deviations(X, weights)
    _, sd_after, after = means_and_deviations(replaced, weights)
    defined = (sd > 0.0) & (sd_after > _VANISHED * sd)
    scaled = [own / np.where(defined, spread, 1.0) for own, spread in ((before, sd), (after, sd_after))]
    for start in range(0, X.shape[1], most):
        rows = slice(start, start + most)
        one, other = (_correlations(own, rows, weights) for own in scaled)
        for matrix in (one, other):
            matrix[~defined[rows]] = np.nan
            matrix[:, ~defined] = np.nan
        yield start, one, other


def _correlations(scaled: FloatArray, rows: slice, weights: FloatArray | None) -> FloatArray:
    own = scaled[:, rows]
    if weights is None:
        return np.clip(own.T @ scaled / len(scaled), -1.0, 1.0)
    return np.clip((own * weights[:, np.newaxis]).T @ scaled / weights.sum(), -1.0, 1.0)
