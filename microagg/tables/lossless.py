"""Columns without loss: every reader makes them, and every writer starts from them.

Cells that no number or date holds stay text, with a notice. Before writing, a column becomes plain: numbers, booleans,
dates, categories or text.
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

from microagg.errors import DataError
from microagg.tables.notices import Notice, has_surrogates
from microagg.validation import counted

#: A column of a file as pandas knows it, n cells, and what there is to say of it.
Filled = tuple["pd.Series[Any]", list[Notice]]

#: Whole numbers up to this have an exact place among 64-bit floats, and numbers with no more digits come out as they
#: went in.
EXACT_WHOLE, EXACT_DIGITS = 2**53, 15

#: What pandas makes of text: its own type since version 3, objects before.
TEXT: Any = pd.Series(["text"]).dtype

# The first day that Python, and what prints dates, knows, and the first one that it does not.
_FIRST_DAY, _BEYOND_DAYS = np.datetime64("0001-01-01", "s"), np.datetime64("10000-01-01", "s")


def texts(cells: Sequence[str | None]) -> pd.Series[Any]:
    """Return texts, shape (n,), as a column of the type that pandas gives to them, also if all are missing."""
    return pd.Series(list(cells), dtype=TEXT)


def whole_numbers(values: NDArray[Any], absent: NDArray[np.bool_] | None) -> pd.Series[Any]:
    """Return whole numbers as a column, of a nullable type where some are ``absent``: floats would have a point.

    ``values`` has shape (n,), with any number where one is absent; None says that none is.
    """
    if absent is None or not absent.any():
        return pd.Series(values, copy=False)
    return pd.Series(pd.arrays.IntegerArray(values, absent), copy=False)


def printable_dates(series: pd.Series[Any], name: str, unit: str | None = None, zone: str = "") -> Filled:
    """Return a column, as text if it has dates beyond the years 1 to 9999, which Python cannot print, and a notice.

    The text goes to the ``unit`` of numpy, by default that of the column, with the ``zone`` behind it.
    """
    if not is_date(series):
        return series, []
    moments = series.to_numpy()
    absent = np.isnat(moments)
    # In seconds, as nanoseconds reach no further than from 1677 to 2262.
    seconds = moments.astype("M8[s]")
    beyond = np.flatnonzero(~absent & ((seconds < _FIRST_DAY) | (seconds >= _BEYOND_DAYS)))
    if not len(beyond):
        return series, []
    printed = np.char.replace(moments.astype(f"M8[{unit}]" if unit else moments.dtype).astype(str), "T", " ")
    cells = [None if no else f"{text}{zone}" for text, no in zip(printed, absent, strict=True)]
    what = f"{counted(len(beyond), 'date')} beyond the years 1 to 9999"
    example = str(cells[int(beyond[0])])
    return texts(cells), [kept_as_text(name, what, example, int((~absent).sum()), len(beyond))]


def clock(seconds: float) -> str:
    """Return a time of day, or a duration of any hours, as hours, minutes and seconds such as 14:05:00."""
    minutes, rest = divmod(round(abs(seconds) * 1000), 60_000)
    fraction = f".{rest % 1000:03}" if rest % 1000 else ""
    return f"{'-' if seconds < 0 else ''}{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{fraction}"


def kept_as_text(name: str, what: str, example: str, values: int, count: int) -> Notice:
    """Return the notice that a column stays text because ``count`` of its ``values`` hold ``what``."""
    text = f"column {name!r} holds {what}, such as {example}: all its {counted(values, 'value')} are kept as text."
    return Notice("kept-as-text", text, name, count, example)


def plain_column(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column with one of the types that files know, without an index of its own.

    Booleans, numbers and dates without a time zone stay as they are, those that stand in a column of objects become
    what they are together, and categories with names stay categories. Categories that are intervals have the
    interval's text as their name; those that are numbers or dates become numbers or dates. Anything else, such as
    numbers beside text, dates with a time zone or durations, becomes text: ``str`` of each cell.
    """
    column: Any = series.reset_index(drop=True)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        if isinstance(categories, pd.IntervalIndex):
            return column.cat.rename_categories([str(category) for category in categories])
        return column if all(isinstance(name, str) for name in categories) else _plain_objects(column)
    if isinstance(dtype, pd.SparseDtype):
        return plain_column(column.sparse.to_dense())
    # Complex numbers, and floats longer than 64 bits, fit nowhere.
    fits = getattr(dtype, "itemsize", 8) <= 8 and not is_complex_dtype(dtype)
    if fits and (is_bool_dtype(dtype) or is_integer_dtype(dtype)):
        return column
    if fits and is_float_dtype(dtype):
        return column.astype(np.float32) if dtype == np.float16 else column
    if is_date(column):
        return column
    return _plain_objects(column)


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
    """Return ``str`` of each cell as a column of objects, with None where a value is missing."""
    cells = series.astype(object)
    return pd.Series(
        [None if absent else str(cell) for cell, absent in zip(cells, cells.isna(), strict=True)], dtype=object
    )


def as_exact(series: pd.Series[Any], largest: int = EXACT_WHOLE) -> pd.Series[Any]:
    """Return a plain column as text if it has whole numbers beyond ``largest``, or times finer than a millisecond."""
    present = series.dropna()
    is_whole = is_integer_dtype(series.dtype) and len(present) > 0
    is_long = is_whole and (int(present.max()) > largest or int(present.min()) < -largest)
    is_fine = is_date(series) and not (present == present.dt.floor("ms")).all()
    return as_text(series) if is_long or is_fine else series


def is_midnight(series: pd.Series[Any]) -> bool:
    """Whether a column of dates has no time of day."""
    present = series.dropna()
    return bool((present == present.dt.normalize()).all())


def check_finite_numbers(series: pd.Series[Any], name: str, ending: str, largest: float = np.inf) -> None:
    """Raise DataError if a column of floats holds infinity, or a number of ``largest`` or more."""
    if not is_float_dtype(series.dtype):
        return
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(np.abs(values) >= largest)
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"column {name!r} has {values[row]:g} in record {row} (counting from 0), which {ending} files cannot hold: "
            "replace such values, or choose .csv or .parquet."
        )


def check_text(series: pd.Series[Any], name: str, ending: str, most: int | None = None) -> None:
    """Raise DataError if a plain column has text with half a character, a zero character, or over ``most`` bytes."""
    if not (is_text(series) or is_category(series)):
        return
    texts: Any = series.cat.categories if is_category(series) else series.dropna().unique()
    for text in texts:
        if has_surrogates(text):
            wrong = f"half a character (a lone surrogate) in {text[:20]!r}: replace it first"
        elif "\0" in text and ending != ".parquet":
            wrong = f"a zero character in {text[:20]!r}, which {ending} files cannot hold: remove it, "
            wrong += "or choose .parquet"
        elif most is not None and len(text) * 4 > most and len(text.encode()) > most:
            wrong = f"a text of more than {most:,} bytes, the limit of {ending} files: shorten it, leave the column "
            wrong += "out, or choose .csv or .parquet"
        else:
            continue
        raise DataError(f"column {name!r} holds {wrong}.")


def _plain_objects(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of objects as what all of them are, or as text."""
    cells = column.astype(object)
    kind = infer_dtype(cells, skipna=True)
    # Whole numbers may have more than 64 bits, and dates be beyond those that pandas knows.
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
    """Whether a cell of a column of numbers reads the same as the 64-bit float."""
    if isinstance(cell, Decimal):
        return bool(Decimal(repr(number)) == cell) or cell.is_nan()
    return bool(pd.isna(cell) or cell == number)
