"""Dates: how they are read from what a column holds, counted in days since 1970-01-01, and written again.

Days are floats, shape (n,), as all numbers that are grouped; NaN stands for a missing date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_datetime64_any_dtype

from microagg.errors import DataError
from microagg.validation import FloatArray, factorized

#: What dates can be released by.
UNITS = ("day", "year")

# What comes first where the year is at the end: the day, or the month.
_DAY_FIRST = {"d/m": True, "m/d": False}

#: Forms of a column of dates: the unit, and what comes first where the column itself does not show it.
FORMS = (*UNITS, *(f"{unit} {first}" for unit in UNITS for first in _DAY_FIRST))

_TIME = r"(?:[T ]+(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/])(\d{{1,2}})\2(\d{{1,2}}){_TIME}", re.ASCII)
_DOTS = re.compile(rf"(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){_TIME}", re.ASCII)
# The day or the month comes first: only the column as a whole can show which.
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/])(\d{{1,2}})\2(\d{{4}}){_TIME}", re.ASCII)

# A day, a year, or a range of either, as releases write them.
_DAY_OR_YEAR = r"\d{4}-\d{2}-\d{2}|-?\d+"
_SPAN = re.compile(rf"({_DAY_OR_YEAR})|\[({_DAY_OR_YEAR}), ({_DAY_OR_YEAR})\]", re.ASCII)

# The day that stands for a year where its loss is measured, from 0: the middle one of 365.
_MIDDLE_OF_YEAR = 182


class Order(NamedTuple):
    """What texts show of the order of day and month where the year is at the end; each is a text that does, or None."""

    day_first: str | None  # a date that can be read in this order only
    month_first: str | None  # likewise
    unclear: str | None  # a date that is another day in each order

    @property
    def is_clear(self) -> bool:
        """Whether every date can be read in one way only, and all in the same order."""
        n_orders = (self.day_first is not None) + (self.month_first is not None)
        return n_orders == 1 or (n_orders == 0 and self.unclear is None)


def holds_dates(series: pd.Series[Any]) -> bool:
    """Whether the values of a column are dates by their type; text is not, whatever it says."""
    return is_datetime64_any_dtype(series.dtype) or infer_dtype(series, skipna=True) in {"date", "datetime"}


def unit(form: str) -> str:
    """Return the one of :data:`UNITS` that one of :data:`FORMS` says."""
    return form.partition(" ")[0]


def day_first(form: str) -> bool | None:
    """Return whether one of :data:`FORMS` says that the day comes first, or the month; None if it does not say."""
    return _DAY_FIRST.get(form.partition(" ")[2])


def read(series: pd.Series[Any], form: str = "day") -> pd.Series[Any]:
    """Read a column of dates as datetime64[s] at midnight, NaT where missing; such a column is returned itself.

    Text is read as ``2001-12-31`` (or with slashes), ``31.12.2001``, and, with dashes or slashes and the year at the
    end, with the day or the month first as ``form`` says, one of :data:`FORMS`, or else as the column itself shows: by
    a value of which only one can be the month. A time of the day is left out.

    Raises DataError, naming column and value, if one is no date, has a time zone or contradicts another, or nothing
    shows whether the day or the month comes first.
    """
    if isinstance(series.dtype, np.dtype) and series.dtype.kind == "M":
        moments = series.to_numpy()
        days = moments.astype("datetime64[D]").astype("datetime64[s]")
        if series.dtype == days.dtype and np.array_equal(days, moments, equal_nan=True):
            return series
        return pd.Series(days, index=series.index, name=series.name)
    positions, distinct = factorized(series)
    declared = first = day_first(form)
    if first is None:
        first = _day_first(order(value for value in distinct if isinstance(value, str)), series.name)
    # One more for what is missing, which factorize numbers -1.
    distinct_dates = np.full(len(distinct) + 1, "NaT", dtype="datetime64[s]")
    for i, value in enumerate(distinct):
        day = _date(value, first)
        if day is None:
            row = int(np.flatnonzero(positions == i)[0])
            aside = "" if declared is None else f" with the {'day' if declared else 'month'} first"
            raise DataError(_date_error(value, row, series.name, aside))
        distinct_dates[i] = np.datetime64(day, "D")
    return pd.Series(distinct_dates[positions], index=series.index, name=series.name)


def is_dated(text: str) -> bool:
    """Whether a text is written as a date is, though there may be no such day."""
    return any(form.fullmatch(text.strip()) for form in (_YEAR_FIRST, _DOTS, _YEAR_LAST))


def order(texts: Iterable[str]) -> Order:
    """Return what ``texts`` show of the order of day and month; such as are no dates show nothing."""
    day_first = month_first = unclear = None
    for text in texts:
        if not (parts := _YEAR_LAST.fullmatch(text.strip())):
            continue
        one, other = int(parts[1]), int(parts[3])
        if one > 12 >= other:
            day_first = day_first or text
        elif other > 12 >= one:
            month_first = month_first or text
        elif one != other:
            unclear = unclear or text
    return Order(day_first, month_first, unclear)


def parse(text: str, *, day_first: bool) -> date | None:
    """Return the date that a text says, or None; ``day_first`` counts where the year comes last, after - or /."""
    text = text.strip()
    if parts := _YEAR_FIRST.fullmatch(text):
        year, month, day = parts[1], parts[3], parts[4]
    elif parts := _DOTS.fullmatch(text):
        day, month, year = parts[1], parts[2], parts[3]
    elif parts := _YEAR_LAST.fullmatch(text):
        day, month, year = (parts[1], parts[3], parts[4]) if day_first else (parts[3], parts[1], parts[4])
    else:
        return None
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def to_days(series: pd.Series[Any]) -> FloatArray:
    """Return a column that :func:`read` has made as days since 1970-01-01, shape (n,)."""
    moments = series.to_numpy().astype("datetime64[D]")
    return np.asarray(np.where(np.isnat(moments), np.nan, moments.astype(np.int64)))


def to_dates(days: FloatArray) -> NDArray[np.datetime64]:
    """Return the dates of ``days``, shape (n,), none of them missing, as datetime64[s]."""
    return _whole(days).astype("datetime64[s]")


def rounded(days: FloatArray, unit: str) -> FloatArray:
    """Return ``days`` as they are released: rounded, and with unit "year" the middle of the year."""
    whole = _whole(days)
    if unit == "year":
        whole = whole.astype("datetime64[Y]").astype("datetime64[D]") + _MIDDLE_OF_YEAR
    return whole.astype(np.int64).astype(np.float64)


def released(days: FloatArray, unit: str) -> NDArray[Any]:
    """Return the released values of ``days``, shape (n,): dates as datetime64[s], years as int64."""
    return _years(_whole(days)) if unit == "year" else to_dates(days)


def ends(series: pd.Series[Any]) -> tuple[FloatArray, FloatArray]:
    """Return the first and the last day that each released value covers: a date, a year, or a range of either.

    Each of shape (n,); the same array where single dates are released. Raises DataError, naming column, record and
    value, if a value is none of these.
    """
    if holds_dates(series):
        days = to_days(read(series))
        return days, days
    positions, distinct = factorized(series)
    spans = np.empty((len(distinct), 2))
    for i, value in enumerate(distinct):
        span = _SPAN.fullmatch(str(value))
        try:
            if span is None:
                raise ValueError
            low, high = span[1] or span[2], span[1] or span[3]
            first = np.datetime64(low, "D")
            # The last day of a year is the one before the next begins; of a day it is the day itself.
            last = np.datetime64(high, "D") if "-" in high[1:] else np.datetime64(str(int(high) + 1), "D") - 1
        except ValueError:
            row = int(np.flatnonzero(positions == i)[0])
            raise DataError(
                f"column {series.name!r} holds dates in the originals, and neither dates nor years in the release "
                f"(record {row} holds {value!r}): leave it out."
            ) from None
        spans[i] = first.astype(np.int64), last.astype(np.int64)
    low_days, high_days = spans[positions].T
    return low_days, high_days


def texts(days: FloatArray, unit: str) -> list[str]:
    """Return ``days`` as text: ``2001-12-31``, or ``2001`` where the unit is the year."""
    whole = _whole(days)
    return [str(year) for year in _years(whole)] if unit == "year" else np.datetime_as_string(whole).tolist()


def _whole(days: FloatArray) -> NDArray[np.datetime64]:
    return np.rint(days).astype(np.int64).astype("datetime64[D]")


def _years(days: NDArray[np.datetime64]) -> NDArray[np.int64]:
    return days.astype("datetime64[Y]").astype(np.int64) + 1970


def _day_first(evidence: Order, name: Any) -> bool:
    """Whether the day comes before the month in those texts that have the year at the end."""
    if evidence.day_first and evidence.month_first:
        raise DataError(
            f"column {name!r} has dates with the day first, such as {evidence.day_first!r}, and with the month first, "
            f"such as {evidence.month_first!r}: recode those of one kind, such as 2001-12-31."
        )
    if not evidence.is_clear:
        raise DataError(
            f"column {name!r} does not show whether the day or the month comes first in dates such as "
            f"{evidence.unclear!r}: write dates={{{name!r}: 'day d/m'}} for the first, 'day m/d' for the second."
        )
    return evidence.day_first is not None


def _date(value: Any, day_first: bool) -> date | None:
    if isinstance(value, datetime):
        return None if value.tzinfo is not None else value.date()
    if isinstance(value, str):
        return parse(value, day_first=day_first)
    return value if isinstance(value, date) else None


def _date_error(value: Any, row: int, name: Any, aside: str) -> str:
    if getattr(value, "tzinfo", None) is not None:
        return (
            f"column {name!r} has times with a time zone (record {row}, counting from 0, holds {str(value)!r}), and "
            "which day that is depends on it: turn them into dates without one first."
        )
    text = repr(value) if isinstance(value, str) else str(value)
    return (
        f"column {name!r} has {text} in record {row} (counting from 0), which is no date{aside}: recode it as "
        "2001-12-31 or 31.12.2001, without a time zone, or name it among the missing codes."
    )
