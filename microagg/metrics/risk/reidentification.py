"""Probability that an intruder re-identifies a record, a household, or anyone in the population of a sample.

Equivalence classes, from which these follow, stand in :mod:`microagg.metrics.risk.equivalence_classes`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk.equivalence_classes import record_classes
from microagg.validation import FloatArray, IntArray, check_choice, is_real

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


def household_risk(classes: IntArray, households: IntArray) -> FloatArray:
    """Probability, for each household, that an intruder re-identifies at least one of its records.

    It is 1 − ∏ (1 − 1/s) over the records of the household, s being the size of a record's class: the records are
    picked independently of each other. It is at least the risk of each of them.

    Parameters
    ----------
    classes : array of shape (n,)
        The class of each record, numbered from 0.
    households : array of shape (n,)
        The household of each record, numbered from 0, or another unit whose records belong together; -1 for none.

    Returns
    -------
    array of shape (n_households,)
        Probabilities, from 0 to 1 (low is good).

    Raises
    ------
    DataError
        If the arrays have different lengths, or there is no household.

    References
    ----------
    Templ, Meindl & Kowarik 2015, Statistical disclosure control for micro-data using the R package sdcMicro, Journal of
    Statistical Software 67(4): the risk of records in a hierarchy.
    """
    if len(classes) != len(households):
        raise DataError(f"there are {len(classes):,} classes and {len(households):,} households: one each a record.")
    present = households >= 0
    if not present.any():
        raise DataError("no record has a household: number households from 0.")
    unpicked = np.ones(int(households.max()) + 1)
    np.multiply.at(unpicked, households[present], 1.0 - 1.0 / np.bincount(classes)[classes[present]])
    return 1.0 - unpicked


# --- the file as a sample of a population -----------------------------------------------------------------------------

#: The estimators of :func:`population_uniques`.
ESTIMATORS = ("auto", "pitman", "zayatz")

#: The largest sampling fraction for which "auto" is Pitman's estimator; above, it is Zayatz's.
SMALL_FRACTION = 0.1

# For classes of at least this size, this number of terms of the hypergeometric series is exact; scipy's function
# fails for some of about 100.
_SERIES_FROM = 20
_TERMS = 100


@dataclass(frozen=True)
class PopulationUniques:
    """Number of records that are unique in the population, estimated from a sample.

    Attributes
    ----------
    estimator : {"pitman", "zayatz", "count"}
        "count" if the sample is the whole population.
    n_population : int
        The number of records of the population: that of the sample divided by the sampling fraction.
    count, share : float
        The number and share, from 0 to 1, of unique records; low is good. In a random sample the share is also the
        share of sampled records that are unique in the population.
    among_uniques : float
        The probability that a sample-unique record is unique in the population; 0 without any.
    """

    estimator: str
    n_population: int
    count: float
    share: float
    among_uniques: float


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """Risk of each record of a sample from an intruder who knows who is in the population.

    ``risk``, shape (n,), is the expected 1 / (size of the record's class in the population), above 0 and at most 1;
    ``expected`` is their sum, the expected number of identified records, and ``share`` their mean, 0 to 1; low is good.
    """

    risk: FloatArray
    expected: float
    share: float


def population_uniques(sizes: ArrayLike, sampling_fraction: float, estimator: str = "auto") -> PopulationUniques:
    """Number of records that are unique in the population of a simple random sample (lower is better).

    Only these can be identified for certain; other sample-unique records have doubles outside the sample.

    - "zayatz" assumes the sample's distribution of class sizes for the population, and computes by
      Bayes' rule the probability that a class of one was sampled from a class of one (Zayatz 1991).
    - "pitman" fits Pitman's sampling formula to the sizes by maximum likelihood, 0 < α < 1, and returns the expected
      number of classes of one among the records of the population (Hoshino 2001).
    - "auto" is Pitman's up to a sampling fraction of 0.1 and Zayatz's above, which is the rule of Dankar, El Emam,
      Neisa & Roffey 2012 without their third estimator, the slide negative binomial: above 0.1 they, and ARX, take the
      lower of that and Zayatz's.

    ARX offers both. Both are zero if no record is unique in the sample, and wrong by a factor if the population differs
    from their model: they estimate orders of magnitude.

    Parameters
    ----------
    sizes : array of int, shape (n_classes,)
        The class sizes of the sample: :attr:`Uniqueness.sizes`.
    sampling_fraction : float
        The share of the population in the sample, above 0 and at most 1.
    estimator : {"auto", "pitman", "zayatz"}

    Raises
    ------
    DataError
        If the sizes are not whole numbers of at least 1.
    ParameterError
        If another parameter is out of its bounds.
    """
    counts = _sizes(sizes)
    check_choice("estimator", estimator, ESTIMATORS)
    if not is_real(sampling_fraction) or not isfinite(sampling_fraction) or not 0.0 < sampling_fraction <= 1.0:
        raise ParameterError(f"sampling_fraction must be a number above 0 and at most 1, not {sampling_fraction!r}.")
    fraction = float(sampling_fraction)
    n, uniques = int(counts.sum()), int(np.count_nonzero(counts == 1))
    population = round(n / fraction)
    if estimator == "auto":
        estimator = "pitman" if fraction <= SMALL_FRACTION else "zayatz"
    if population == n:
        estimator, count = "count", float(uniques)
    elif uniques in (0, n):
        # Both models have only classes of the sample.
        count = float(population if uniques else 0)
    else:
        count = (_pitman if estimator == "pitman" else _zayatz)(counts, population)
    share = count / population
    return PopulationUniques(estimator, population, count, share, min(share * n / uniques, 1.0) if uniques else 0.0)


def individual_risk(frame: IntoDataFrame, columns: Sequence[Hashable], weights: ArrayLike) -> IndividualRisk:
    """Expected 1 / (size of its class in the population) of each record, 0 to 1 (lower is better).

    For a class of f records with total weight F, and p = f / F, the size in the population is assumed to be negative
    binomial, so that the risk is p^f/f · ₂F₁(f, f; f + 1; 1 − p). sdcMicro's ``indivRisk`` is the same for classes of
    one and two, and for larger ones approximately.

    Parameters
    ----------
    frame, columns
        The sample, and the columns known for the whole population, as for :func:`uniqueness`.
    weights : array, shape (n,)
        The number of records of the population that each one represents; at least 1.

    Raises
    ------
    DataError, ParameterError
        As :func:`uniqueness`; or if weights are not one number of at least 1 for each record.

    References
    ----------
    Benedetti & Franconi (1998), Statistical and technological solutions for controlled data dissemination; Franconi &
    Polettini (2004), Individual risk estimation in μ-Argus.
    """
    classes = record_classes(frame, columns)
    record_weights = _weights(weights, len(classes))
    sizes = np.bincount(classes).astype(np.float64)
    shares = np.minimum(sizes / np.bincount(classes, weights=record_weights), 1.0)
    # By Euler's transformation: for large classes p^f underflows and the other factor overflows.
    risk = (shares / sizes * _hypergeometric(sizes, 1.0 - shares))[classes]
    return IndividualRisk(risk, float(risk.sum()), float(risk.mean()))


def _sizes(sizes: ArrayLike) -> IntArray:
    array = np.asarray(sizes)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer) or array.min() < 1:
        raise DataError("sizes must be whole numbers of at least 1, one for each class: those of risk.uniqueness(…).")
    return array.astype(np.int64, copy=False)


def _weights(weights: ArrayLike, n: int) -> FloatArray:
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("weights must be numbers, one for each record.") from None
    if array.shape != (n,):
        raise DataError(f"weights must be one number for each of {n:,} records, not of shape {array.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 1.0)))
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"the weight of record {row} (counting from 0) is {array[row]:g}, but each record stands for itself at "
            "least: weights must be finite and at least 1."
        )
    return array


def _hypergeometric(f: FloatArray, z: FloatArray) -> FloatArray:
    """₂F₁(1, 1; f + 1; z) for f >= 1 and 0 <= z < 1."""
    from scipy.special import hyp2f1

    large = f >= _SERIES_FROM
    values = np.empty(len(f))
    values[~large] = hyp2f1(1.0, 1.0, f[~large] + 1.0, z[~large])
    term, total = np.ones(int(large.sum())), np.zeros(int(large.sum()))
    for i in range(_TERMS):
        total += term
        term *= (i + 1.0) * z[large] / (f[large] + 1.0 + i)
    values[large] = total
    return values


def _zayatz(sizes: IntArray, population: int) -> float:
    """Number of population uniques if the sizes of classes have the sample's distribution."""
    n = int(sizes.sum())
    distinct, frequencies = np.unique(sizes, return_counts=True)
    # The probability that exactly one of j records is in the sample; 0 if there must be more.
    sampled = np.zeros(len(distinct))
    possible = distinct - 1 <= population - n
    j = distinct[possible]
    sampled[possible] = np.exp(np.log(j) + _log_binomial(population - j, n - 1) - _log_binomial(population, n))
    expected = frequencies * sampled
    uniques = int(frequencies[0])
    return float(uniques * expected[0] / expected.sum() * population / n)


def _log_binomial(n: Any, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _pitman(sizes: IntArray, population: int) -> float:
    """Expected number of classes of one, by maximum likelihood of θ and α, 0 < α < 1 and θ > −α."""
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln, logit

    n, u = int(sizes.sum()), len(sizes)
    distinct, frequencies = np.unique(sizes, return_counts=True)
    steps = np.arange(1, u)

    def surprise(parameters: FloatArray) -> float:
        alpha = expit(parameters[0])
        theta = np.exp(parameters[1]) - alpha
        founded = np.log(theta + steps * alpha).sum()
        joined = (frequencies * (gammaln(distinct - alpha) - gammaln(1.0 - alpha))).sum()
        return float((gammaln(theta + n) - gammaln(theta + 1.0) - founded - joined) / n)

    # α starts as the share of classes with one record, its limit in large samples.
    start = np.array([logit(np.clip(frequencies[distinct == 1].sum() / u, 0.01, 0.99)), 0.0])
    optimum = minimize(surprise, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-14, "maxiter": 2000})
    alpha = float(expit(optimum.x[0]))
    theta = float(np.exp(optimum.x[1])) - alpha
    # The probability that no other record joins the first one, times the population.
    probability = gammaln(theta + alpha + population - 1) - gammaln(theta + alpha)
    probability += gammaln(theta + 1) - gammaln(theta + population)
    return float(min(population * np.exp(probability), population))
