"""Columns without loss of values: results of every reader, and inputs of every writer.

Cells that no number or date represents stay text, with a notice. Before writing, a column becomes plain: numbers,
booleans, dates, categories or text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_float_dtype, is_integer_dtype

from microagg.tables.notices import Notice
from microagg.validation import counted

#: A column of a file as a Series of n cells, and notices on it.
Filled = tuple["pd.Series[Any]", list[Notice]]

#: Whole numbers up to the first are exact as 64-bit floats, and numbers with at most as many digits as the second
#: are printed as they were read.
EXACT_WHOLE, EXACT_DIGITS = 2**53, 15

#: The type of text in pandas: a special one since version 3, objects before.
TEXT: Any = pd.Series(["text"]).dtype

# The first day that Python can print, and the first one after those.
_FIRST_DAY, _DAY_AFTER_LAST = np.datetime64("0001-01-01", "s"), np.datetime64("10000-01-01", "s")


def texts(cells: Sequence[str | None]) -> pd.Series[Any]:
    """Texts, shape (n,), as a column of pandas' type for text, even if all are missing."""
    return pd.Series(list(cells), dtype=TEXT)


def whole_numbers(values: NDArray[Any], absent: NDArray[np.bool_] | None) -> pd.Series[Any]:
    """Whole numbers as a column, of a nullable type if some are ``absent``, as floats would have a point."""
    if absent is None or not absent.any():
        return pd.Series(values, copy=False)
    return pd.Series(pd.arrays.IntegerArray(values, absent), copy=False)


def printable_dates(series: pd.Series[Any], name: str, unit: str | None = None, zone: str = "") -> Filled:
    """The column, as text with a notice if it has dates beyond the years 1 to 9999, which Python cannot print.

    The text has the precision ``unit`` of numpy, by default that of the column, and the ``zone`` at its end.
    """
    # In seconds, as nanoseconds reach no further than from 1677 to 2262.
    moments = series.to_numpy()
    seconds = moments.astype("M8[s]")
    absent = np.isnat(seconds)
    beyond = np.flatnonzero(~absent & ((seconds < _FIRST_DAY) | (seconds >= _DAY_AFTER_LAST)))
    if not len(beyond):
        return series, []
    printed = np.char.replace(moments.astype(f"M8[{unit}]" if unit else moments.dtype).astype(str), "T", " ")
    cells = [None if is_absent else f"{text}{zone}" for text, is_absent in zip(printed, absent, strict=True)]
    reason = f"{counted(len(beyond), 'date')} beyond the years 1 to 9999"
    return texts(cells), [kept_as_text(name, reason, str(cells[beyond[0]]), int((~absent).sum()))]


def clock(seconds: float) -> str:
    """A time of day, or a duration, as hours, minutes and seconds such as 14:05:00."""
    minutes, milliseconds = divmod(round(abs(seconds) * 1000), 60_000)
    fraction = f".{milliseconds % 1000:03}" if milliseconds % 1000 else ""
    return f"{'-' if seconds < 0 else ''}{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1000:02}{fraction}"


def kept_as_text(name: str, what: str, example: str, values: int) -> Notice:
    """Notice that a column of so many ``values`` stays text because of ``what`` it holds."""
    text = f"column {name!r} holds {what}, such as {example}: all its {counted(values, 'value')} are kept as text."
    return Notice("kept-as-text", text, column=name, example=example)


def plain_column(series: pd.Series[Any]) -> pd.Series[Any]:
    """Convert a column to one of the types that files have, without its index.

    Booleans, numbers and dates without a time zone stay; those in a column of objects get their common type. Categories
    with names stay categories, categories of intervals get the interval's text as name, and categories of numbers or
    dates become numbers or dates. Anything else, such as numbers beside text, dates with a time zone or durations,
    becomes text: ``str`` of each cell.
    """
    column: Any = series.reset_index(drop=True)
    dtype = column.dtype
    if is_category(column):
        categories = column.cat.categories
        if isinstance(categories, pd.IntervalIndex):
            return column.cat.rename_categories([str(category) for category in categories])
        return column if all(isinstance(name, str) for name in categories) else _plain_objects(column)
    if isinstance(dtype, pd.SparseDtype):
        return plain_column(column.sparse.to_dense())
    if dtype == np.float16:
        return column.astype(np.float32)
    # Complex numbers, and floats longer than 64 bits, fit nowhere.
    fits = getattr(dtype, "itemsize", 8) <= 8 and not is_complex_dtype(dtype)
    is_number = is_bool_dtype(dtype) or is_integer_dtype(dtype) or is_float_dtype(dtype)
    return column if (fits and is_number) or is_date(column) else _plain_objects(column)


def is_date(series: pd.Series[Any]) -> bool:
    """Whether the column holds dates without a time zone."""
    return isinstance(series.dtype, np.dtype) and series.dtype.kind == "M"


def is_category(series: pd.Series[Any]) -> bool:
    """Whether the column holds categories."""
    return isinstance(series.dtype, pd.CategoricalDtype)


def is_text(series: pd.Series[Any]) -> bool:
    """Whether a column of :func:`plain_column` holds text, other than the names of categories."""
    is_number = is_integer_dtype(series.dtype) or is_float_dtype(series.dtype)
    return not (is_number or is_category(series) or is_date(series) or is_bool_dtype(series))


def as_text(series: pd.Series[Any]) -> pd.Series[Any]:
    """Texts, ``str`` of each cell, as a column of objects, with None for missing values."""
    cells = series.astype(object)
    return pd.Series(
        [None if absent else str(cell) for cell, absent in zip(cells, cells.isna(), strict=True)], dtype=object
    )


def is_midnight(series: pd.Series[Any]) -> bool:
    """Whether a column of dates has no time of day."""
    present = series.dropna()
    return bool((present == present.dt.normalize()).all())


def _plain_objects(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of objects as the common type of all, or as text."""
    cells = column.astype(object)
    kind = infer_dtype(cells, skipna=True)
    # Whole numbers may have more than 64 bits, and dates exceed the range of pandas.
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        if kind in ("boolean", "integer"):
            return cells.astype("boolean" if kind == "boolean" else "Int64")
        if kind in ("floating", "mixed-integer-float", "decimal"):
            numbers = cells.astype(np.float64)
            if all(_is_exact(cell, number) for cell, number in zip(cells, numbers, strict=True)):
                return numbers
        if kind in ("date", "datetime", "datetime64") and not any(getattr(cell, "tzinfo", None) for cell in cells):
            return pd.to_datetime(cells)
    return as_text(column)


def _is_exact(cell: Any, number: float) -> bool:
    """Whether a cell of a column of numbers equals the 64-bit float."""
    if isinstance(cell, Decimal):
        return bool(Decimal(repr(number)) == cell) or cell.is_nan()
    return bool(pd.isna(cell) or cell == number)
