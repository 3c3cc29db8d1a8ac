"""Classes of equal records: columns as codes, their combinations numbered, and how many records classes have."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_float_dtype, is_object_dtype

from microagg.validation import IntArray


class Below(NamedTuple):
    """How many records are in classes of fewer than k: the smallest class, these records, and those alone in theirs."""

    smallest: int
    records: int
    unique: int


def coded(series: pd.Series[Any]) -> IntArray:
    """Return the number of each record's value, from 0 in the order of appearance, shape (n,); -1 where it is missing.

    Equal values that are written differently are different ones: see :func:`told_apart`. Values that cannot be told
    apart by themselves, such as lists, are told apart by how they are written.
    """
    try:
        codes, _ = pd.factorize(told_apart(series))
    except TypeError:
        codes, _ = pd.factorize(series.map(repr, na_action="ignore"))
    return codes.astype(np.int64, copy=False)


def told_apart(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column in which equal values differ if a file has them otherwise, such as 1 and True, or 0.0 and -0.0.

    It is for counting only: where there may be such values, pairs of value and text take their place, of floats whole
    numbers made of the same bits.
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
    """Return a number for each combination of codes, from 0, shape (n,); what is missing counts as a value."""
    numbers = pd.factorize(first)[0]
    for codes in others:
        # Numbered anew after each column, so that the product stays below the square of the number of records.
        numbers = pd.factorize(numbers * (int(codes.max()) + 2) + codes + 1)[0]
    return numbers.astype(np.int64, copy=False)


def numbered(frame: pd.DataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Return the number of each record's combination of values of ``columns``, from 0, shape (n,)."""
    return combined(*(coded(frame[column]) for column in columns))


def below(classes: IntArray, k: int) -> Below:
    """Return how many records are in classes, numbered from 0, of fewer than ``k`` records."""
    sizes = np.bincount(classes)
    return Below(int(sizes.min()), int(sizes[sizes < k].sum()), int(np.count_nonzero(sizes == 1)))
