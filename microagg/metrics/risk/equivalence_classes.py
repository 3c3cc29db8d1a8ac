"""Equivalence classes, records with equal quasi-identifiers, and the risks that follow from their sizes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype, is_float_dtype, is_object_dtype

from microagg.errors import DataError, ParameterError
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_columns

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

# For classes of at least this size, this number of terms of the hypergeometric series is exact; scipy's function
# fails for some of about 100.
_SERIES_FROM = 20
_TERMS = 100


class SmallClasses(NamedTuple):
    """The size of the smallest class, the records in classes of fewer than k, and the unique records."""

    smallest: int
    records: int
    unique: int


def coded(series: pd.Series[Any]) -> IntArray:
    """Code of each record's value, shape (n,), from 0 in the order of appearance. -1 if it is missing.

    Equal values with different texts have different codes: see :func:`distinguished`. Values without a hash, such as
    lists, are compared by their texts.
    """
    try:
        codes, _ = pd.factorize(distinguished(series))
    except TypeError:
        codes, _ = pd.factorize(series.map(repr, na_action="ignore"))
    return codes.astype(np.int64, copy=False)


def distinguished(series: pd.Series[Any]) -> pd.Series[Any]:
    """A column for counting, in which equal values differ if a file writes them differently.

    Such values are 1 and True, or 0.0 and -0.0. If there are any, pairs of value and text replace them; whole numbers
    of the same bits replace floats.
    """
    if is_object_dtype(series) and infer_dtype(series, skipna=True) != "string":
        return series.map(lambda value: (value, str(value)), na_action="ignore")
    if is_float_dtype(series):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if (np.signbit(numbers) & (numbers == 0.0)).any():
            bits = pd.arrays.IntegerArray(numbers.view(np.int64), np.isnan(numbers))
            return pd.Series(bits, index=series.index, name=series.name)
    return series


def combined(first: IntArray, *others: IntArray) -> IntArray:
    """Class of each record, shape (n,), from 0 in the order of appearance, by its combination of codes.

    The codes are those of :func:`coded` for some columns; -1, a missing value, counts as a value.
    """
    numbers = pd.factorize(first)[0]
    for codes in others:
        # Renumbered after each column, so that the product stays below the square of the number of records.
        numbers = pd.factorize(numbers * (int(codes.max()) + 2) + codes + 1)[0]
    return numbers.astype(np.int64, copy=False)


def numbered(frame: pd.DataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Class of each record by its values of some columns, at least one (see :func:`combined`)."""
    return combined(*(coded(frame[column]) for column in columns))


def small_classes(classes: IntArray, k: int) -> SmallClasses:
    """Number of records in classes of fewer than ``k`` records.

    ``classes``, shape (n,), are those of the records, numbered from 0.
    """
    sizes = np.bincount(classes)
    return SmallClasses(int(sizes.min()), int(sizes[sizes < k].sum()), int(np.count_nonzero(sizes == 1)))


def max_reidentification(smallest: float, predicted: Iterable[float] = ()) -> float:
    """The largest probability, 0 to 1, with which an intruder picks the right record.

    That is 1 / ``smallest``, the size of the smallest class, or what predictions of other columns allow (their highest
    probabilities ``predicted``, see :func:`microagg.release.predicted_linkage.predicted_linkage`) if that is more.
    """
    return max([1.0 / float(smallest), *predicted])


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """The ``n_classes`` classes of ``n_records`` records that are equal in some columns.

    ``n_unique`` of them are alone in their class; ``sizes``, shape (n_classes,), are the sizes of the classes in the
    order of first appearance.
    """

    n_records: int
    n_classes: int
    n_unique: int
    sizes: IntArray

    @property
    def share(self) -> float:
        """The share of unique records, from 0 to 1 (low is good)."""
        return self.n_unique / self.n_records

    @property
    def max_reidentification(self) -> float:
        """1 / (size of the smallest class), see :func:`max_reidentification`. The prosecutor's risk of ARX."""
        return max_reidentification(self.sizes.min())


def uniqueness(frame: IntoDataFrame, columns: Sequence[Hashable]) -> Uniqueness:
    """Number of records that are unique in their values of ``columns`` (low is good), and all classes.

    A class is the set of records that are equal in these columns. An intruder who knows these values of a person in the
    file identifies a unique record for certain, one of a class of s with probability 1/s. A missing value counts as a
    value.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The originals, for the risk before a release, or the release, for the risk after it.
    columns : sequence of column names
        The columns that an intruder knows: the quasi-identifiers, at least one.

    Raises
    ------
    DataError, ParameterError
        If the frame has no records, or lacks a column; if no column is named.

    References
    ----------
    Samarati (2001); Sweeney (2002).
    """
    sizes = np.bincount(record_classes(frame, columns))
    return Uniqueness(int(sizes.sum()), len(sizes), int(np.count_nonzero(sizes == 1)), sizes)


def record_classes(frame: IntoDataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Class of each record, from 0 in the order of appearance, shape (n,) (see :func:`uniqueness`)."""
    frame = as_pandas(frame)
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ParameterError("columns is empty: name at least one column that an intruder knows.")
    check_columns(frame, names)
    if len(frame) == 0:
        raise DataError("the data have no records: give at least one.")
    return numbered(frame, names)


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
    """Expected 1 / (size of its class in the population) of each record.

    For a class of f records with total weight F, and p = f / F, the size in the population is assumed to be negative
    binomial, so that the risk is p^f/f · ₂F₁(f, f; f + 1; 1 − p). sdcMicro's ``indivRisk`` is the same for classes of
    one and two, and for larger ones approximately.

    Parameters
    ----------
    frame, columns
        The sample, and the columns known for the whole population, as for :func:`uniqueness`.
    weights : array, shape (n,)
        The number of records of the population that each one represents; at least 1.

    Returns
    -------
    IndividualRisk
        Risks from 0 to 1 (lower is better).

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
    sampling_fractions = np.minimum(sizes / np.bincount(classes, weights=record_weights), 1.0)
    # By Euler's transformation: for large classes p^f underflows and the other factor overflows.
    risk = (sampling_fractions / sizes * _hypergeometric(sizes, 1.0 - sampling_fractions))[classes]
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
