"""Equivalence classes: records that are equal in some columns, and how many of them are in small classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_float_dtype, is_object_dtype

from microagg.validation import IntArray


class SmallClasses(NamedTuple):
    """How many records are in classes of fewer than k.

    Attributes
    ----------
    smallest : int
        The number of records in the smallest class.
    records : int
        The number of records in classes of fewer than k.
    unique : int
        The number of those that are alone in theirs.
    """

    smallest: int
    records: int
    unique: int


def coded(series: pd.Series[Any]) -> IntArray:
    """Return the number of each record's value.

    Equal values that are written differently are different ones: see :func:`distinguished`. Values that have no hash,
    such as lists, differ where they are written differently.

    Parameters
    ----------
    series : Series, n records

    Returns
    -------
    array of int, shape (n,)
        From 0 in the order of appearance; -1 where a value is missing.
    """
    try:
        codes, _ = pd.factorize(distinguished(series))
    except TypeError:
        codes, _ = pd.factorize(series.map(repr, na_action="ignore"))
    return codes.astype(np.int64, copy=False)


def distinguished(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column for counting, in which equal values differ if a file writes them differently.

    Such values are 1 and True, or 0.0 and -0.0. Where there may be any, pairs of value and text take their place, and
    that of floats whole numbers of the same bits.
    """
    if is_object_dtype(series) and infer_dtype(series, skipna=True) != "string":
        return series.map(_with_text, na_action="ignore")
    if is_float_dtype(series):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if (np.signbit(numbers) & (numbers == 0.0)).any():
            bits = pd.arrays.IntegerArray(numbers.view(np.int64), np.isnan(numbers))
            return pd.Series(bits, index=series.index, name=series.name)
    return series


def _with_text(value: Any) -> tuple[Any, str]:
    return value, str(value)


def combined(first: IntArray, *others: IntArray) -> IntArray:
    """Return the number of each record's combination of codes.

    Parameters
    ----------
    first, *others : array of int, shape (n,)
        What :func:`coded` returns of some columns; -1, a missing value, counts as a value of its own.

    Returns
    -------
    array of int, shape (n,)
        The class of each record, from 0 in the order of appearance.
    """
    numbers = pd.factorize(first)[0]
    for codes in others:
        # Numbered anew after each column, so that the product stays below the square of the number of records.
        numbers = pd.factorize(numbers * (int(codes.max()) + 2) + codes + 1)[0]
    return numbers.astype(np.int64, copy=False)


def numbered(frame: pd.DataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Return the class of each record by its values of some columns; see :func:`combined`.

    Parameters
    ----------
    frame : DataFrame, n rows
    columns : sequence of column names
        At least one.

    Returns
    -------
    array of int, shape (n,)
        From 0 in the order of appearance.
    """
    return combined(*(coded(frame[column]) for column in columns))


def small_classes(classes: IntArray, k: int) -> SmallClasses:
    """Return how many records are in classes of fewer than ``k`` records.

    Parameters
    ----------
    classes : array of int, shape (n,)
        The class of each record, numbered from 0.
    k : int
    """
    sizes = np.bincount(classes)
    return SmallClasses(int(sizes.min()), int(sizes[sizes < k].sum()), int(np.count_nonzero(sizes == 1)))
