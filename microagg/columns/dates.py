"""Dates: read from a column, counted in days since 1970-01-01, and written again.

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

#: The units in which dates are released.
UNITS = ("day", "year")

# Orders of day and month if the year is at the end.
_DAY_FIRST = {"d/m": True, "m/d": False}

#: Forms of a column of dates: the unit, and the order of day and month if the column does not show it.
FORMS = (*UNITS, *(f"{unit} {first}" for unit in UNITS for first in _DAY_FIRST))

_TIME = r"(?:[T ]+(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/])(\d{{1,2}})\2(\d{{1,2}}){_TIME}", re.ASCII)
_DOTS = re.compile(rf"(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){_TIME}", re.ASCII)
# The day or the month comes first: only the whole column can show the order.
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/])(\d{{1,2}})\2(\d{{4}}){_TIME}", re.ASCII)

# A day, a year, or a range of either, in the form of releases.
_DAY_OR_YEAR = r"\d{4}-\d{2}-\d{2}|-?\d+"
_SPAN = re.compile(rf"({_DAY_OR_YEAR})|\[({_DAY_OR_YEAR}), ({_DAY_OR_YEAR})\]", re.ASCII)

# The day that represents a year in losses, from 0: the middle one of 365.
_MIDDLE_OF_YEAR = 182


class Order(NamedTuple):
    """Evidence for the order of day and month if the year is at the end: texts that show it, or None."""

    day_first: str | None  # a date that can be read in this order only
    month_first: str | None  # the same for the other order
    unclear: str | None  # a date that is another day in each order

    @property
    def is_clear(self) -> bool:
        """Whether every date can be read in one way only, and all in the same order."""
        n_orders = (self.day_first is not None) + (self.month_first is not None)
        return n_orders == 1 or (n_orders == 0 and self.unclear is None)


def holds_dates(series: pd.Series[Any]) -> bool:
    """Whether the type of a column is a type of dates. Text is not."""
    return is_datetime64_any_dtype(series.dtype) or infer_dtype(series, skipna=True) in {"date", "datetime"}


def unit(form: str) -> str:
    """The one of :data:`UNITS` in one of :data:`FORMS`."""
    return form.partition(" ")[0]


def day_first(form: str) -> bool | None:
    """Whether one of :data:`FORMS` has the day first. None if it has no order."""
    return _DAY_FIRST.get(form.partition(" ")[2])


def read(series: pd.Series[Any], form: str = "day") -> pd.Series[Any]:
    """Read a column of dates as datetime64[s] at midnight, NaT if missing. Such a column is returned itself.

    Text is read as ``2001-12-31`` (or with slashes), ``31.12.2001``, and, with dashes or slashes and the year at the
    end, in the order of day and month that ``form``, one of :data:`FORMS`, sets, or that the column shows: by a value
    of which only one number can be the month. A time of the day is left out.
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
    distinct_days = [_date(value, first) for value in distinct]
    if None in distinct_days:
        i = distinct_days.index(None)
        order_note = "" if declared is None else f" with the {'day' if declared else 'month'} first"
        raise DataError(_date_error(distinct[i], int(np.argmax(positions == i)), series.name, order_note))
    # One more for missing values, whose position is -1.
    moments = np.array([*distinct_days, None], dtype="datetime64[s]")[positions]
    return pd.Series(moments, index=series.index, name=series.name)


def is_dated(text: str) -> bool:
    """Whether a text has the form of a date, though the day may not exist."""
    return any(form.fullmatch(text.strip()) for form in (_YEAR_FIRST, _DOTS, _YEAR_LAST))


def order(texts: Iterable[str]) -> Order:
    """Evidence in ``texts`` for the order of day and month. Texts that are not dates are skipped."""
    day_first = month_first = unclear = None
    for text in texts:
        if not (parts := _YEAR_LAST.fullmatch(text.strip())):
            continue
        first, second = int(parts[1]), int(parts[3])
        if first > 12 >= second:
            day_first = day_first or text
        elif second > 12 >= first:
            month_first = month_first or text
        elif first != second:
            unclear = unclear or text
    return Order(day_first, month_first, unclear)


def parse(text: str, *, day_first: bool) -> date | None:
    """The date in a text, or None. ``day_first`` is the order if the year comes last, after - or /."""
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
    """Days since 1970-01-01, shape (n,), of a column from :func:`read`."""
    moments = series.to_numpy().astype("datetime64[D]")
    return np.asarray(np.where(np.isnat(moments), np.nan, moments.astype(np.int64)))


def to_dates(days: FloatArray) -> NDArray[np.datetime64]:
    """Dates of ``days``, shape (n,), without missing values, as datetime64[s]."""
    return _whole_days(days).astype("datetime64[s]")


def rounded(days: FloatArray, unit: str) -> FloatArray:
    """Days as they are released: rounded, or the middle of the year with unit "year"."""
    whole = _whole_days(days)
    if unit == "year":
        whole = whole.astype("datetime64[Y]").astype("datetime64[D]") + _MIDDLE_OF_YEAR
    return whole.astype(np.int64).astype(np.float64)


def released(days: FloatArray, unit: str) -> NDArray[Any]:
    """Released values of ``days``, shape (n,): dates as datetime64[s], years as int64."""
    return _years(_whole_days(days)) if unit == "year" else to_dates(days)


def ends(series: pd.Series[Any]) -> tuple[FloatArray, FloatArray]:
    """First and last day of each released value: a date, a year, or a range of either. Both have shape (n,)."""
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
            row = int(np.argmax(positions == i))
            raise DataError(
                f"column {series.name!r} holds dates in the originals, and neither dates nor years in the release "
                f"(record {row} holds {value!r}): leave it out."
            ) from None
        spans[i] = first.astype(np.int64), last.astype(np.int64)
    low_days, high_days = spans[positions].T
    return low_days, high_days


def texts(days: FloatArray, unit: str) -> list[str]:
    """Texts of ``days``: ``2001-12-31``, or ``2001`` with unit "year"."""
    whole = _whole_days(days)
    return [str(year) for year in _years(whole)] if unit == "year" else np.datetime_as_string(whole).tolist()


def _whole_days(days: FloatArray) -> NDArray[np.datetime64]:
    return np.rint(days).astype(np.int64).astype("datetime64[D]")


def _years(days: NDArray[np.datetime64]) -> NDArray[np.int64]:
    return days.astype("datetime64[Y]").astype(np.int64) + 1970


def _day_first(evidence: Order, name: Any) -> bool:
    """Whether the day comes before the month in texts with the year at the end."""
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


def _date_error(value: Any, row: int, name: Any, order_note: str) -> str:
    if getattr(value, "tzinfo", None) is not None:
        return (
            f"column {name!r} has times with a time zone (record {row}, counting from 0, holds {str(value)!r}), and "
            "which day that is depends on it: turn them into dates without one first."
        )
    text = repr(value) if isinstance(value, str) else str(value)
    return (
        f"column {name!r} has {text} in record {row} (counting from 0), which is no date{order_note}: recode it as "
        "2001-12-31 or 31.12.2001, without a time zone, or name it among the missing codes."
    )
