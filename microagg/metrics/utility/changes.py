"""What analyses find changed: means, variances, quantiles, correlations and eigenvalues, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.metrics.utility.correlations import CorrelationChanges, correlation_changes, correlations
from microagg.metrics.utility.pairs import Pair, check_weights, standard_deviations
from microagg.validation import FloatArray

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

    Raises
    ------
    DataError
        As :meth:`microagg.metrics.utility.pairs.Pair.of`; and for weights that are not one for each record, above 0.

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
    """Return the mean relative change of the eigenvalues, and what is to be said about it."""
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
