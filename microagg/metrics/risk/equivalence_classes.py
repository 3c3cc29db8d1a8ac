"""Equivalence classes: records with equal quasi-identifiers, and the number of unique records.

The diversity of the confidential values in a class is in :mod:`microagg.metrics.risk.diversity`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_float_dtype, is_object_dtype

from microagg.errors import DataError, ParameterError
from microagg.tables.frames import as_pandas
from microagg.validation import IntArray, check_columns

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


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


# --- unique records ---------------------------------------------------------------------------------------------------


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

    A class is the set of records that are equal in these columns.

    An intruder who knows these values of a person in the file identifies a unique record for certain, one of a class of
    s with probability 1/s (Samarati 2001; Sweeney 2002). A missing value counts as a value.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The originals, for the risk before a release, or the release, for the risk after it.
    columns : sequence of column names
        The columns that an intruder knows: the quasi-identifiers, at least one.

    Raises
    ------
    DataError
        If the frame has no records, or lacks a column.
    ParameterError
        If no column is named.
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
