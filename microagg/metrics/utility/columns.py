"""Columns before and after as what can be compared: numbers in both, or categories in both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_integer_dtype, is_numeric_dtype

from microagg import dates
from microagg.errors import DataError
from microagg.tables.kinds import as_pandas, is_table
from microagg.taxonomy import category
from microagg.validation import (
    FloatArray,
    IntArray,
    attribute_name,
    check_columns,
    check_finite,
    check_pair,
    check_present,
    factorized,
)

# A range of numbers as releases write it.
_RANGE = re.compile(r"\[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)\]")

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: A table of numbers, or one with named columns, of pandas, polars or Arrow, that may also be categories and dates.
Table: TypeAlias = Union[ArrayLike, "IntoDataFrame"]


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute before, shape (n,), and after, shape (m,).

    Attributes
    ----------
    name : object
        The name of the column; of an array its number.
    categories : tuple of str
        The categories that there are before or after; empty for numbers.
    before, after : array of float
        Finite numbers (of dates days since 1970-01-01), or the positions of the categories.
    """

    name: Any
    categories: tuple[str, ...]
    before: FloatArray
    after: FloatArray

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return not self.categories

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Return the share of the records that each category has, before and after."""
        return shares(self.before.astype(np.int64), self.after.astype(np.int64), len(self.categories))


def shares(before: IntArray, after: IntArray, many: int) -> tuple[FloatArray, FloatArray]:
    """Return which share of the records each of ``many`` numbers from 0 on has, before and after."""
    one, other = (np.bincount(numbers, minlength=many) / len(numbers) for numbers in (before, after))
    return one, other


def columns_of(before: Any, after: Any, names: Sequence[Any] | None = None, *, matched: bool = False) -> list[Column]:
    """Return the columns of two tables, of frames only those called ``names`` where these are given.

    Columns of numbers and booleans are numbers, and so are dates; a released range of numbers such as ``[17, 23]``
    counts as its middle. All others are categories. If the tables are ``matched``, they have equally many records.

    Raises
    ------
    DataError
        If only one of them is a frame, a column is missing or not unique, there are no records, a value is missing or
        not finite, what is released of numbers or dates is none, or the numbers of records or attributes do not go
        together.
    """
    if is_table(before) is not is_table(after):
        raise DataError("one of the originals and the release is a DataFrame and the other is not: pass two.")
    if not is_table(before):
        X, released = check_pair(before, after, matched=matched)
        return [Column(j, (), X[:, j].copy(), released[:, j].copy()) for j in range(X.shape[1])]
    before, after = as_pandas(before), as_pandas(after)
    wanted = list(before.columns) if names is None else list(names)
    for frame, whose in ((before, "the originals"), (after, "the release")):
        check_columns(frame, wanted, f" in {whose}")
        if frame.empty:
            raise DataError(f"in {whose}: there are no records.")
    if matched and len(before) != len(after):
        raise DataError(
            f"there are {len(before):,} originals and {len(after):,} released records: pass the same records, in the "
            "same order."
        )
    return [column_of(before[name], after[name]) for name in wanted]


def column_of(before: pd.Series[Any], after: pd.Series[Any]) -> Column:
    """Return a column before and after, each with at least one value; see :func:`columns_of`."""
    for series, whose in ((before, "the originals"), (after, "the release")):
        check_present(series, np.ones(len(series), dtype=np.bool_), "no value", f" of {whose}")
    if dates.holds_dates(before):
        return _dates(before, after)
    if _is_number(before) and (_is_number(after) or not is_bool_dtype(before)):
        return _numbers(before.name, _floats(before), _floats(after) if _is_number(after) else _middles(after))
    texts = [_texts(series) for series in (before, after)]
    codes, found = pd.factorize(np.concatenate(texts))
    one, other = np.split(codes.astype(np.float64), [len(before)])
    return Column(before.name, tuple(map(str, found)), one, other)


def _dates(before: pd.Series[Any], after: pd.Series[Any]) -> Column:
    if dates.holds_dates(after):
        return _numbers(before.name, *(dates.to_days(dates.read(series)) for series in (before, after)))
    if is_integer_dtype(after):
        years = dates.read(before).dt.year.to_numpy(dtype=np.float64)
        return _numbers(before.name, years, _floats(after))
    raise DataError(
        f"column {before.name!r} holds dates in the originals, and neither dates nor years in the release (record 0 "
        f"holds {after.iloc[0]!r}): leave it out."
    )


def _numbers(name: Any, before: FloatArray, after: FloatArray) -> Column:
    for values, whose in ((before, "the originals"), (after, "the release")):
        try:
            check_finite(values[:, np.newaxis], [name])
        except DataError as error:
            raise DataError(f"in {whose}: {error}") from None
    return Column(name, (), before, after)


def _is_number(series: pd.Series[Any]) -> bool:
    return (is_numeric_dtype(series) or is_bool_dtype(series)) and not is_complex_dtype(series)


def _floats(series: pd.Series[Any]) -> FloatArray:
    return series.to_numpy(dtype=np.float64, copy=True)


def _texts(series: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.object_]]:
    positions, distinct = factorized(series)
    return np.array([category(value) for value in distinct], dtype=object)[positions]


def _middles(series: pd.Series[Any]) -> FloatArray:
    """Return what is released of numbers as text, ranges such as ``[17, 23]`` as their middle."""
    positions, distinct = factorized(series)
    values = [_middle(str(value)) for value in distinct]
    if None in values:
        at = values.index(None)
        row = int(np.flatnonzero(positions == at)[0])
        raise DataError(
            f"{attribute_name(0, [series.name])} holds numbers in the originals, and in the release something that is "
            f"neither a number nor a range such as [17, 23] (record {row} holds {distinct[at]!r}): leave it out, or "
            "turn it into text in both."
        )
    return np.array(values, dtype=np.float64)[positions]


def _middle(text: str) -> float | None:
    found = _RANGE.fullmatch(text)
    try:
        low, high = (float(found["low"]), float(found["high"])) if found else (float(text), float(text))
    except ValueError:
        return None
    return low / 2 + high / 2
