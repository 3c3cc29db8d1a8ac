"""The values of a file, compared one by one with those of the release that it was written from."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns import dates, numerals
from microagg.metrics.risk.equivalence_classes import coded
from microagg.tables import limits
from microagg.tables.original import RANGE
from microagg.tables.stata_spss import code_text
from microagg.validation import float_type, plain, shortened

_SPELLED_RANGE = re.compile(r"\[(.+)[;,] (.+)\]")


class Style(NamedTuple):
    """How the cells of a column express its values."""

    ending: str  # of the file
    decimal: str = "."  # the mark in numbers that are texts
    day_first: bool = False  # in dates with the year at the end
    is_measured: bool = False  # whether texts of the release are numbers, dates or ranges in the style of a file
    absent: Collection[str] = ()  # texts for a missing value
    is_filled: bool = False  # whether any text may be a missing value


def difference(
    released: pd.DataFrame, readings: Iterable[Mapping[Any, pd.Series[Any]]], styles: Mapping[Any, Style]
) -> str:
    """Describe the first cell, column by column, that has the released value in none of the ``readings`` of a file.

    Empty without any. Readings have the columns of the file by the names in ``released``, shape (n, columns).
    """
    usual_reading: dict[Any, pd.Series[Any]] = {}
    wrong = dict.fromkeys(released, np.ones(len(released), dtype=np.bool_))
    for reading in readings:
        usual_reading = usual_reading or dict(reading)
        wrong = {name: rows & _differ(released[name], reading[name], styles[name]) for name, rows in wrong.items()}
        wrong = {name: rows for name, rows in wrong.items() if rows.any()}
        if not wrong:
            return ""
    name, row = next((name, int(rows.argmax())) for name, rows in wrong.items())
    cell, value = (column[name].iloc[row] for column in (usual_reading, released))
    texts = ["no value" if _is_missing(each) else repr(shortened(each, 40)) for each in (cell, value)]
    return f"column {plain(name)!r} has {texts[0]} in record {row:,} (counting from 0), and the release {texts[1]}"


def _differ(released: pd.Series[Any], cells: pd.Series[Any], style: Style) -> NDArray[np.bool_]:
    """Whether each cell of a column differs from the released value, shape (n,)."""
    differ = np.ones(len(released), dtype=np.bool_)
    if released.dtype == cells.dtype and isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "iufM":
        # Most files hold these numbers and moments as they are, so few have to be looked at one by one.
        differ = released.to_numpy() != cells.to_numpy()
    if differ.any():
        differ[differ] = ~_are_expressed(released[differ], cells[differ], style)
    return differ


def _are_expressed(released: pd.Series[Any], cells: pd.Series[Any], style: Style) -> NDArray[np.bool_]:
    """Whether each cell of a column expresses the released value, shape (n,)."""
    types = (float_type(column.dtype) for column in (released, cells))
    precision = min(types, key=lambda each: np.dtype(each).itemsize)
    codes = coded(cells)
    _, first, pairs = np.unique(coded(released) * (codes.max() + 2) + codes, return_index=True, return_inverse=True)
    of_pairs = zip(released.iloc[first].astype(object), cells.iloc[first].astype(object), strict=True)
    equal = [_expresses(cell, value, style, precision) for value, cell in of_pairs]
    return np.array(equal, dtype=np.bool_)[pairs]


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value != value or value == ""


def _expresses(cell: Any, value: Any, style: Style, precision: Callable[[Any], Any]) -> bool:
    """Whether a cell of a file expresses a value. Numbers with decimals may differ beyond the ``precision``."""
    if _is_missing(value):
        return _is_missing(cell) or cell in style.absent or (style.is_filled and isinstance(cell, str))
    if _is_missing(cell):
        return style.ending == ".sav" and isinstance(value, str) and not value.strip(" ")
    # With a decimal comma, 1.234 is 1234.
    is_other_mark = style.decimal == "," and isinstance(value, float) and "." in str(cell)
    if cell == value or (not is_other_mark and (str(value) == cell or _texts(cell) & _texts(value))):
        return True
    if isinstance(value, str):
        return _expresses_text(cell, value, style, precision)
    if isinstance(value, Number):
        notation = numerals.COMMA if style.decimal == "," else numerals.POINT
        number = numerals.parse(cell, notation) if isinstance(cell, str) else cell
        is_inexact = not isinstance(value, int) and isinstance(number, Number)
        return bool(number == value or (is_inexact and precision(number) == precision(value)))
    if isinstance(value, dt.date):
        return any(pd.Timestamp(moment) == pd.Timestamp(value) for moment in _moments(cell, style))
    return False


def _moments(cell: Any, style: Style) -> Iterator[dt.date]:
    if isinstance(cell, dt.date):
        yield cell
    elif isinstance(cell, str):
        if day := dates.parse(cell, day_first=style.day_first):
            yield day
        with contextlib.suppress(ValueError):
            yield dt.datetime.fromisoformat(cell)


def _texts(value: Any) -> set[str]:
    """Texts of one value in files: dates without a time at midnight, whole numbers without a decimal point."""
    text = str(value)
    return {text, text.upper() if isinstance(value, bool) else text.removesuffix(" 00:00:00"), code_text(value)}


def _expresses_text(cell: Any, value: str, style: Style, precision: Callable[[Any], Any]) -> bool:
    of_csv = style.ending == ".csv" and cell == f"'{value}"  # which no spreadsheet takes for a formula
    # Labels may be cut, or lose the code that tells them from others that are not in the file. SPSS has no blanks at
    # the end of a text, and our reader drops those of labels in Stata.
    of_statistics = style.ending in (".dta", ".sav") and cell in (
        limits.cut(value, style.ending, "value label"),
        value.rpartition(" (")[0],
        value.rstrip(" "),
    )
    if of_csv or of_statistics:
        return True
    if not style.is_measured:
        return False
    if (ends := RANGE.fullmatch(value)) and (cells := _SPELLED_RANGE.fullmatch(str(cell))):
        return all(_expresses(cells[end], ends[end], style, precision) for end in (1, 2))
    for read in (int, float, dt.date.fromisoformat):
        with contextlib.suppress(ValueError):
            return _expresses(cell, read(value), style, precision)
    return False
