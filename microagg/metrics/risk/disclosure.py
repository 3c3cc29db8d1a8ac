"""Further risks: of households, of records with weights, of values near the originals, of records that dominate a sum.

What an intruder learns who finds a class is in :mod:`microagg.metrics.risk.diversity`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk.equivalence_classes import record_classes
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, check_finite, check_matrix, check_pair, is_real

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

# For classes of at least this size, this number of terms of the hypergeometric series is exact; scipy's function
# fails for some of about 100.
_SERIES_FROM = 20
_TERMS = 100

# The prior-posterior rule: p, the minimum relative error of an estimate, and q, the prior relative error of the rest.
_P, _Q = 0.1, 0.5


def interval_disclosure(X: ArrayLike, released: ArrayLike, width: float) -> FloatArray:
    """Share of the records, 0 to 1 (lower is better), with the original in an interval around the released value.

    An intruder who identifies a record knows the value to within the interval, for certain if the share is 1.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other.
    width : float
        The width of the interval on each side, in standard deviations of the original attribute; above 0. sdcMicro's
        ``dRisk``, k = 0.05 by default, takes those of the release, which are smaller the more has been lost.

    Returns
    -------
    array of shape (d,)
        The share for each attribute.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width is not a number above 0.

    References
    ----------
    Mateo-Sanz, Sebé & Domingo-Ferrer 2004, Outlier protection in continuous microdata masking: SDID.
    """
    original, masked = check_pair(X, released)
    if not is_real(width) or not isfinite(width) or width <= 0.0:
        raise ParameterError(f"width must be a number above 0, not {width!r}.")
    return np.asarray((np.abs(original - masked) <= width * original.std(axis=0)).mean(axis=0))


def dominated(X: ArrayLike, labels: ArrayLike, weights: FloatArray | None = None) -> NDArray[np.bool_]:
    """Whether figures on each attribute reveal a value of it, by the prior-posterior rule (p, q).

    Figures add to a release the changes |x − median of its group|. A record dominates if an intruder who knows the next
    largest change, and the sum of the other squared ones to within q = 50 %, computes its value to within p = 10 % of
    its distance from the median of all, and the median of the group is farther from it than that.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
        The originals, in any units.
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    weights : array, shape (n,), optional
        Above 0, if figures are weighted.

    Returns
    -------
    array of bool, shape (d,)

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or labels are not whole numbers, one for each record.

    References
    ----------
    Hundepool, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer & de Wolf (2012), Statistical disclosure
    control, Section 4.2.
    """
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    medians = pd.DataFrame(data).groupby(groups).median().to_numpy()
    change = np.abs(data - medians[groups])
    bound = np.minimum(_P * np.abs(data - np.median(data, axis=0)), change)
    largest = change.max(axis=0)
    change, bound = (values / np.where(largest > 0.0, largest, 1.0) for values in (change, bound))
    counts = np.ones((len(data), 1)) if weights is None else weights[:, np.newaxis]
    parts = counts * np.square(change)
    first, second_index = parts.max(axis=0), -min(2, len(data))
    second = np.partition(parts, second_index, axis=0)[second_index]
    rest = parts.sum(axis=0) - parts - np.where(parts == first, second, first)
    return np.asarray(((bound < change) & (_Q * rest < counts * bound * (2.0 * change + bound))).any(axis=0))


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


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """Risk of each record of a sample from an intruder who knows who is in the population.

    ``risk``, shape (n,), is the expected 1 / (size of the record's class in the population), above 0 and at most 1;
    ``expected`` is their sum, the expected number of identified records, and ``share`` their mean, 0 to 1; low is good.
    """

    risk: FloatArray
    expected: float
    share: float


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
