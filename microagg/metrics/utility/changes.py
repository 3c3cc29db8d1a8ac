"""How attributes have changed: distances between distributions, and the figures that analysts compute.

Distances compare distributions, whichever record has which value; figures are means, variances, quantiles, correlations
and eigenvalues, before and after.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import ParameterError
from microagg.metrics.utility.columns import Column, Table, columns_of, shares
from microagg.metrics.utility.correlations import (
    CorrelationChanges,
    Pair,
    check_weights,
    correlation_changes,
    correlations,
    standard_deviations,
)
from microagg.validation import FloatArray, is_whole

#: Into how many bins :func:`hellinger` puts numbers by default.
BINS = 20


@dataclass(frozen=True, eq=False)
class Distances:
    """What :func:`hellinger` and :func:`wasserstein` return.

    Attributes
    ----------
    value : float
        The mean over the attributes, those left out that hold the same one value before and after.
    names : tuple
        The names of the attributes; of an array their numbers.
    attributes : array, shape (d,)
        The distance of each attribute.
    """

    value: float
    names: tuple[Any, ...]
    attributes: FloatArray


def hellinger(before: Table, after: Table, *, bins: int = BINS) -> Distances:
    """Return the Hellinger distance of each attribute's distributions: 0 if they are equal, 1 if disjoint; low is good.

    H = √(½ Σ (√p − √q)²), p and q being the shares of the records in each bin, or with each category. Up to ``bins``
    distinct original numbers have a bin each, to which released numbers that are nearest to them belong. Of more, a bin
    ends with the first one at which it and the bins below it hold their part of the originals, so that about equally
    many of these are in each, whatever the units. Bins meet halfway between two originals, where the upper one begins;
    the outer ones are open.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d) and (m, d), or DataFrame
        Originals and release, in any order. Columns of a frame may hold categories; see
        :func:`microagg.metrics.utility.columns.columns_of`.
    bins : int
        At least 2.

    Returns
    -------
    Distances
        Of each attribute from 0 to 1.

    Raises
    ------
    ParameterError
        If ``bins`` is not a whole number of at least 2.
    DataError
        As :func:`microagg.metrics.utility.columns.columns_of`.

    References
    ----------
    Gomatam, Karr & Sanil (2005), Data swapping as a decision problem, Journal of Official Statistics 21.
    """
    if not is_whole(bins) or bins < 2:
        raise ParameterError(f"bins must be a whole number of at least 2, not {bins!r}.")

    return _distances(columns_of(before, after), lambda column: _hellinger(column, int(bins)))


def wasserstein(before: Table, after: Table) -> Distances:
    """Return how far values must move on average to turn one distribution into the other, in sd; low is good.

    W = ∫ |F − G| dx / s, F and G being the distribution functions before and after and s the standard deviation of the
    original attribute, of the population: 0 if they are equal, without an upper bound. Of categories it is the total
    variation ½ Σ |p − q|, 0 to 1: all categories are one apart. An attribute's W is at most its mean absolute change in
    standard deviations, which is √2 times its IL1s.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d) and (m, d), or DataFrame
        As in :func:`hellinger`.

    Returns
    -------
    Distances
        Of each attribute in its standard deviations.

    Raises
    ------
    DataError
        As :func:`microagg.metrics.utility.columns.columns_of`; and if a column of numbers holds one value only in the
        originals, and another one is released.

    References
    ----------
    Vallender (1974), Calculation of the Wasserstein distance between probability distributions on the line.
    """
    return _distances(columns_of(before, after), _wasserstein)


def _distances(columns: list[Column], distance: Callable[[Column], float | None]) -> Distances:
    """Return the distances of ``columns``; ``distance`` is None where a column holds the same one value throughout."""
    distances = [distance(column) for column in columns]
    counted = [value for value in distances if value is not None]
    value = sum(counted) / len(counted) if counted else 0.0
    return Distances(value, tuple(column.name for column in columns), np.array([own or 0.0 for own in distances]))


def _hellinger(column: Column, bins: int) -> float | None:
    if column.numeric:
        if (pair := _varying(column)) is None:
            return None
        one, other = pair.before[:, 0], pair.after[:, 0]
        limits = bin_limits(one, bins)
        bins_before, bins_after = (np.searchsorted(limits, values, side="right") for values in (one, other))
        p, q = shares(bins_before, bins_after, len(limits) + 1)
    elif len(column.categories) == 1:
        return None
    else:
        p, q = column.shares()
    return min(math.sqrt(0.5 * float(np.square(np.sqrt(p) - np.sqrt(q)).sum())), 1.0)


def _wasserstein(column: Column) -> float | None:
    if not column.numeric:
        p, q = column.shares()
        return 0.5 * float(np.abs(p - q).sum()) if len(column.categories) > 1 else None
    if (pair := _varying(column)) is None:
        return None
    one, other = pair.before[:, 0], pair.after[:, 0]
    if len(one) == len(other):
        return float(np.abs(np.sort(one) - np.sort(other)).mean() / pair.sd[0])
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(one, other) / pair.sd[0])


def _varying(column: Column) -> Pair | None:
    """Return the numbers of a column; None where it holds one value only."""
    pair = Pair.of(column.before, column.after, matched=False, names=[column.name])
    return pair if pair.varies[0] else None


def bin_limits(values: FloatArray, bins: int) -> FloatArray:
    """Return where the bins of numbers meet, ascending: see :func:`hellinger`."""
    distinct, counts = np.unique(values, return_counts=True)
    last = np.arange(len(distinct))
    if len(distinct) > bins:
        parts = len(values) * np.arange(1, bins) / bins
        last = np.unique(np.searchsorted(np.cumsum(counts), parts))
    last = last[last < len(distinct) - 1]
    # Where there is no number halfway, bins meet at the upper one, which belongs to the bin above.
    return np.asarray(np.maximum(distinct[last] / 2 + distinct[last + 1] / 2, np.nextafter(distinct[last], np.inf)))


# --- means, variances, quantiles, correlations and eigenvalues --------------------------------------------------------

#: The levels of the quantiles that are compared.
LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

#: Of more attributes eigenvalues are not computed: their time grows with the third power.
MOST_EIGENVALUES = 1_000

# An eigenvalue below this has less than a millionth of the variance of one attribute: its relative change says nothing.
_LEAST_EIGENVALUE = 1e-6


@dataclass(frozen=True, eq=False)
class Moments:
    """What :func:`moments` returns. Attributes that hold one value only have no change, and NaN for the variance.

    Attributes
    ----------
    means : array, shape (d,)
        Mean after less mean before, in standard deviations of the original.
    variances : array, shape (d,)
        Variance after over variance before; 1 where it is kept, 0 where nothing varies any more.
    quantiles : array, shape (d, 7)
        Quantile after less quantile before at each of :data:`LEVELS`, in standard deviations of the original. A
        quantile is the least value up to which that share of the records lies.
    correlations : CorrelationChanges
        Of Pearson's correlations.
    eigenvalue_change : float or None
        The mean of |λ − λ′| / λ over the eigenvalues of the correlation matrix, in the same order both before and
        after; None where it was not computed, and ``notes`` say why.
    notes : tuple of str
        What was left out of the eigenvalues, a sentence each.
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
        """The largest change of a variance as a share of the original, |ratio − 1|; 0 where no attribute varies."""
        return float(np.nan_to_num(np.abs(self.variances - 1.0)).max())

    @property
    def quantile_change(self) -> float:
        """The largest absolute change of a quantile, in standard deviations of the original."""
        return float(np.abs(self.quantiles).max())

    @property
    def correlation_change(self) -> float | None:
        """The largest absolute change of a correlation, 0 to 2; None where none is defined."""
        return self.correlations.largest


def moments(X: ArrayLike, released: ArrayLike, weights: ArrayLike | None = None) -> Moments:
    """Return how far means, variances, quantiles, correlations and eigenvalues are from the originals; low is good.

    Changes of means and quantiles count standard deviations of the original, from minus to plus infinity; so no
    original value stands in the result. Variances are those of the population.

    Parameters
    ----------
    X, released : array of finite numbers, shape (n, d)
        Records and what is released in their place, in any units.
    weights : array, shape (n,), optional
        Above 0; all figures are weighted by them.

    Returns
    -------
    Moments

    Raises
    ------
    DataError
        As :meth:`microagg.metrics.utility.correlations.Pair.of`; and for weights that are not one for each record,
        above 0.

    References
    ----------
    Domingo-Ferrer & Torra (2001), Disclosure control methods and information loss for microdata, compare means,
    variances and correlations so; the eigenvalues are those of ``dUtility(method="eigen")`` of the R package sdcMicro,
    which prints their sum.
    """
    weighted = check_weights(weights, len(np.atleast_1d(np.asarray(X))))
    pair = Pair.of(X, released, weights=weighted)
    before, after, sd = pair.before, pair.after, pair.sd
    spread = standard_deviations(after, weighted)
    changed = correlation_changes(before, after, weighted)
    eigenvalue_change, notes = _eigenvalue_change(before, after, weighted)
    return Moments(
        means=np.average(after - before, axis=0, weights=weighted) / sd,
        variances=np.where(pair.varies, np.square(spread / sd), np.nan),
        quantiles=((_quantiles(after, weighted) - _quantiles(before, weighted)) / sd).T,
        correlations=changed,
        eigenvalue_change=eigenvalue_change,
        notes=notes,
    )


def _quantiles(X: FloatArray, weights: FloatArray | None) -> FloatArray:
    return np.quantile(X, LEVELS, axis=0, method="inverted_cdf", weights=weights)


def _eigenvalue_change(
    before: FloatArray, after: FloatArray, weights: FloatArray | None
) -> tuple[float | None, tuple[str, ...]]:
    """Return the mean relative change of the eigenvalues, None where it is not computed, and remarks on it."""
    d = before.shape[1]
    if d > MOST_EIGENVALUES:
        return None, (f"eigenvalues are not compared: {d:,} attributes are more than {MOST_EIGENVALUES:,}.",)
    one, other = correlations(before, after, weights)
    defined = ~np.isnan(np.diagonal(one))
    if not defined.any():
        return None, ("eigenvalues are not compared: no attribute varies both before and after.",)
    notes = []
    if left_out := int((~defined).sum()):
        notes.append(f"left out of the eigenvalues: {left_out} of {d} attributes, constant before or after.")
    old, new = (np.linalg.eigvalsh(matrix[np.ix_(defined, defined)]) for matrix in (one, other))
    counts = old > _LEAST_EIGENVALUE
    if not counts.all():
        notes.append(f"left out: {int((~counts).sum())} of {len(old)} eigenvalues, below {_LEAST_EIGENVALUE:f}.")
    return float((np.abs(old - new)[counts] / old[counts]).mean()), tuple(notes)
