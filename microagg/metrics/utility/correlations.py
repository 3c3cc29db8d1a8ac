"""Numbers before and after: IL1s record by record, means, variances, quantiles, correlations and eigenvalues.

Correlations are computed a few rows of the matrix at a time, so that many attributes need little memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.columns.scaling import centered
from microagg.errors import DataError
from microagg.validation import FloatArray, attribute_name, check_finite, check_matrix, check_pair

# The maximum relative rounding of a released value of a constant attribute.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Pair:
    """Numbers before and after, minus the smallest original value of the attribute, and their scale.

    Without their offset, a large one costs no precision. Made by :meth:`of`.
    """

    before: FloatArray  # shape (n, d), in the units of the data
    after: FloatArray  # shape (m, d), the same
    # shape (d,): standard deviations of the originals (of the population: divided by n, or by the sum of the weights);
    # 1 for a constant attribute, which has no scale
    sd: FloatArray
    varies: NDArray[np.bool_]  # shape (d,): whether the attribute has more than one original value

    @classmethod
    def of(
        cls,
        before: ArrayLike,
        after: ArrayLike,
        *,
        matched: bool = True,
        names: Sequence[Any] | None = None,
        weights: FloatArray | None = None,
    ) -> Self:
        """Pair of two tables of the same attributes. Tables that are not ``matched`` may differ in number of records.

        Raises
        ------
        DataError
            If one of them has no records, or anything but finite numbers; if their shapes do not match; or if an
            attribute has only one value and another one is released.
        """
        X, released = check_pair(before, after, matched=matched, names=names)
        low = X.min(axis=0)
        varies = X.max(axis=0) > low
        released = released - low
        # Released values of a constant attribute, minus its value, are 0 up to rounding.
        changed = (np.abs(released[:, ~varies]) > _ROUNDING * np.abs(low[~varies])).any(axis=0)
        if changed.any():
            j = int(np.flatnonzero(~varies)[changed.argmax()])
            raise DataError(
                f"{attribute_name(j, names)} holds one value only in the originals and another one in the release: it "
                "has no standard deviation to measure that by; leave it out."
            )
        released[:, ~varies] = 0.0
        return cls(X - low, released, np.where(varies, means_and_deviations(X, weights)[1], 1.0), varies)


def check_weights(weights: ArrayLike | None, n: int) -> FloatArray | None:
    """Weights of ``n`` records as floats. :class:`DataError` if one is missing, infinite or not above 0."""
    if weights is None:
        return None
    array = check_matrix(weights)
    if array.shape != (n, 1):
        raise DataError(f"there are {n} records, but weights of shape {np.shape(weights)}: give one for each record.")
    check_finite(array, ["weights"])
    if (array <= 0.0).any():
        row = int(np.flatnonzero(array <= 0.0)[0])
        raise DataError(
            f"record {row} (counting from 0) has the weight {array[row, 0]:g}, but weights must be above 0: leave out "
            "such records first."
        )
    return array[:, 0]


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


# --- correlations -----------------------------------------------------------------------------------------------------

# A standard deviation below this fraction of the original one consists of rounding errors, and so do its correlations.
_VANISHED = 1e-9
# The number of rows of a matrix of correlations that are computed together: with 10,000 columns, it has 0.8 GB.
_BATCH = 1_024


@dataclass(frozen=True, eq=False)
class CorrelationChanges:
    """Changes of the correlations of two different attributes that are defined before and after."""

    attributes: FloatArray  # shape (d,): the largest absolute change of each, 0 to 2; NaN if none is defined
    largest: float | None  # absolute change over all pairs; None if no correlation is defined
    mean: float | None  # absolute change over all pairs; None if no correlation is defined
    pair: tuple[int, int] | None  # the two attributes of the largest change


def correlation_changes(X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None) -> CorrelationChanges:
    """Changes of the correlations of the columns of ``X``, shape (n, d), by their replacement.

    All numbers are finite; with ``weights``, shape (n,), correlations are weighted.
    """
    largest, partners = np.empty(X.shape[1]), np.empty(X.shape[1], dtype=np.int64)
    total, count = 0.0, 0
    for start, before, after in _by_rows(X, replaced, weights, _BATCH):
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
    """Changes between two matrices of correlations, shape (d, d), NaN if a correlation is not defined."""
    change = np.triu(np.abs(after - before), 1)
    # Only one half, as both may differ in the last bit.
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
    """Correlations of the columns of ``X``, shape (n, d), and of their replacements. Each of shape (d, d).

    With ``weights``, shape (n,), they are weighted. NaN if a column is constant, before or after.
    """
    [(_, before, after)] = _by_rows(X, replaced, weights, X.shape[1])
    return before, after


def _by_rows(
    X: FloatArray, replaced: FloatArray, weights: FloatArray | None, n_rows: int
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Yield ``n_rows`` rows of both matrices of :func:`correlations` at a time, with the index of the first."""
    _, sd, before = means_and_deviations(X, weights)
    _, sd_after, after = means_and_deviations(replaced, weights)
    defined = (sd > 0.0) & (sd_after > _VANISHED * sd)
    scaled = [columns / np.where(defined, spread, 1.0) for columns, spread in ((before, sd), (after, sd_after))]
    for start in range(0, X.shape[1], n_rows):
        rows = slice(start, start + n_rows)
        old, new = (_correlations(columns, rows, weights) for columns in scaled)
        for matrix in (old, new):
            matrix[~defined[rows]] = np.nan
            matrix[:, ~defined] = np.nan
        yield start, old, new


def _correlations(scaled: FloatArray, rows: slice, weights: FloatArray | None) -> FloatArray:
    part = scaled[:, rows]
    if weights is None:
        return np.clip(part.T @ scaled / len(scaled), -1.0, 1.0)
    return np.clip((part * weights[:, np.newaxis]).T @ scaled / weights.sum(), -1.0, 1.0)


# --- IL1s -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class IL1s:
    """Results of :func:`il1s`, 0 or more, without unit.

    ``attributes``, shape (d,), are the IL1s of each attribute alone; 0 for attributes with only one value.
    """

    value: float
    attributes: FloatArray


def il1s(X: ArrayLike, released: ArrayLike) -> IL1s:
    """Mean deviation of released values from the originals, in √2 standard deviations (low is good).

    IL1s = Σ |x − x′| / (√2 s) / (n d), the sum over n records and d attributes; s is the standard deviation of the
    original attribute, of the population. Divided by n d it grows neither with the records nor with the attributes;
    some programs print the sum. It is 0 without changes and has no upper bound, but if the means of groups are released
    it is at most 1/√2. Attributes with only one value do not count.

    Parameters
    ----------
    X, released : array of finite numbers, shape (n, d)
        Originals and released records, in any units; errors are those of :meth:`Pair.of`.

    References
    ----------
    Yancey, Winkler & Creecy (2002), Disclosure risk assessment in perturbative microdata protection; Mateo-Sanz,
    Domingo-Ferrer & Sebé (2005), Probabilistic information loss measures in confidentiality protection of continuous
    microdata.
    """
    pair = Pair.of(X, released)
    attributes = np.abs(pair.before - pair.after).mean(axis=0) / (math.sqrt(2.0) * pair.sd)
    return IL1s(float(attributes[pair.varies].mean()) if pair.varies.any() else 0.0, attributes)


# --- means, variances, quantiles, correlations and eigenvalues --------------------------------------------------------

#: The levels of the compared quantiles.
LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

#: The maximum number of attributes for eigenvalues, whose time grows with the third power.
MOST_EIGENVALUES = 1_000

# Smaller eigenvalues have less than a millionth of the variance of one attribute: relative changes are meaningless.
_MIN_EIGENVALUE = 1e-6


@dataclass(frozen=True, eq=False)
class Moments:
    """Results of :func:`moments`. Attributes with only one value have no change, and NaN for the variance.

    - ``means``, shape (d,): mean after less mean before, in standard deviations of the original.
    - ``variances``, shape (d,): variance after over variance before; 1 if it is unchanged, 0 if nothing varies now.
    - ``quantiles``, shape (d, 7): quantile after less quantile before at each of :data:`LEVELS`, in standard deviations
      of the original. A quantile is the smallest value with at least this share of the records up to it.
    - ``correlations``: the changes of Pearson's correlations.
    - ``eigenvalue_change``: the mean of |λ − λ′| / λ over the eigenvalues of the correlation matrix, in the same order
      both before and after; None if it was not computed.
    - ``notes``: sentences on omissions and their reasons.
    """

    means: FloatArray
    variances: FloatArray
    quantiles: FloatArray
    correlations: CorrelationChanges
    eigenvalue_change: float | None
    notes: tuple[str, ...]

    @property
    def mean_change(self) -> float:
        """The largest absolute change of a mean, in standard deviations of the original."""
        return float(np.abs(self.means).max())

    @property
    def variance_change(self) -> float:
        """The largest change of a variance as a share of the original, |ratio − 1|. 0 if no attribute varies."""
        return float(np.nan_to_num(np.abs(self.variances - 1.0)).max())

    @property
    def quantile_change(self) -> float:
        """The largest absolute change of a quantile, in standard deviations of the original."""
        return float(np.abs(self.quantiles).max())

    @property
    def correlation_change(self) -> float | None:
        """The largest absolute change of a correlation, 0 to 2. None if none is defined."""
        return self.correlations.largest


def moments(X: ArrayLike, released: ArrayLike, weights: ArrayLike | None = None) -> Moments:
    """Changes of means, variances, quantiles, correlations and eigenvalues from the originals (low is good).

    Changes of means and quantiles are in standard deviations of the original, from minus to plus infinity. Variances
    are those of the population.

    Parameters
    ----------
    X, released : array of finite numbers, shape (n, d)
        Originals and released records, in any units.
    weights : array, shape (n,), optional
        Above 0; all figures are weighted.

    Raises
    ------
    DataError
        As :meth:`Pair.of`; and for weights that are not one for each record, above 0.

    References
    ----------
    Domingo-Ferrer & Torra (2001), Disclosure control methods and information loss for microdata, compare means,
    variances and correlations; the eigenvalues are those of ``dUtility(method="eigen")`` of the R package sdcMicro,
    which prints their sum.
    """
    weighted = check_weights(weights, len(check_matrix(X)))
    pair = Pair.of(X, released, weights=weighted)
    before, after, sd = pair.before, pair.after, pair.sd
    quantiles = [np.quantile(each, LEVELS, axis=0, method="inverted_cdf", weights=weighted) for each in (before, after)]
    eigenvalue_change, notes = _eigenvalue_change(before, after, weighted)
    return Moments(
        means=np.average(after - before, axis=0, weights=weighted) / sd,
        variances=np.where(pair.varies, np.square(means_and_deviations(after, weighted)[1] / sd), np.nan),
        quantiles=((quantiles[1] - quantiles[0]) / sd).T,
        correlations=correlation_changes(before, after, weighted),
        eigenvalue_change=eigenvalue_change,
        notes=notes,
    )


def _eigenvalue_change(
    before: FloatArray, after: FloatArray, weights: FloatArray | None
) -> tuple[float | None, tuple[str, ...]]:
    """Mean relative change of the eigenvalues, None if it is not computed, and remarks on it."""
    d = before.shape[1]
    if d > MOST_EIGENVALUES:
        return None, (f"eigenvalues are not compared: {d:,} attributes are more than {MOST_EIGENVALUES:,}.",)
    before_matrix, after_matrix = correlations(before, after, weights)
    defined = ~np.isnan(np.diagonal(before_matrix))
    if not defined.any():
        return None, ("eigenvalues are not compared: no attribute varies both before and after.",)
    notes = []
    if left_out := int((~defined).sum()):
        notes.append(f"left out of the eigenvalues: {left_out} of {d} attributes, constant before or after.")
    old, new = (np.linalg.eigvalsh(matrix[np.ix_(defined, defined)]) for matrix in (before_matrix, after_matrix))
    is_large = old > _MIN_EIGENVALUE
    if not is_large.all():
        notes.append(f"left out: {int((~is_large).sum())} of {len(old)} eigenvalues, below {_MIN_EIGENVALUE:f}.")
    return float((np.abs(old - new)[is_large] / old[is_large]).mean()), tuple(notes)
