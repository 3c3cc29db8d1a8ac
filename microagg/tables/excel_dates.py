"""Days as Excel counts them, and times: from numbers to dates, and to text where no date has that number."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.validation import FloatArray

_DAY = 86_400_000  # milliseconds, the least that Excel tells apart

# Day 1 is 1900-01-01, and day 60 a 29th of February that never was. Workbooks of old Macs begin with day 0, 1904-01-01.
_LEAP_DAY, _AFTER_LAST = 60, 2_958_466
_BEFORE, _SINCE, _MAC = (np.datetime64(day, "ms") for day in ("1899-12-31", "1899-12-30", "1904-01-01"))
_MAC_SHIFT = 1462


def moments(days: FloatArray, from_1904: bool) -> NDArray[np.datetime64]:
    """Return the dates of numbers, shape (n,), as datetime64[us]; NaT where Excel shows none that ever was."""
    if from_1904:
        exists = (days >= 0) & (days < _AFTER_LAST - _MAC_SHIFT)
        start = np.full(len(days), _MAC)
    else:
        exists = (days >= 1) & (days < _AFTER_LAST) & (np.floor(days) != _LEAP_DAY)
        start = np.where(days < _LEAP_DAY, _BEFORE, _SINCE)
    elapsed = np.rint(np.where(exists, days, 0) * _DAY).astype(np.int64).astype("m8[ms]")
    found = (start + elapsed).astype("M8[us]")
    found[~exists] = np.datetime64("NaT")
    return found


def moment_text(moment: np.datetime64 | dt.datetime) -> str:
    """Return a date as ``2024-05-01``, with the time if it has one: ``2024-05-01 12:00:00``."""
    exact: Any = moment
    text = str(np.datetime64(exact, "ms")).replace("T", " ")
    return text.removesuffix(".000").removesuffix(" 00:00:00")


def day_text(days: float) -> str | None:
    """Return what Excel shows for the two days of its calendar that never were, None for any other number."""
    day, time = divmod(days, 1.0)
    shown = {0: "1900-01-00", _LEAP_DAY: "1900-02-29"}.get(int(day))
    if shown is None:
        return None
    return f"{shown} {time_text(time)}" if time else shown


def time_text(days: float) -> str:
    """Return a time of day or a duration, given in days, as ``14:05:00``; hours may be more than 24."""
    seconds, rest = divmod(round(abs(days) * _DAY), 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    sign = "-" if days < 0 else ""
    return f"{sign}{hour:02}:{minute:02}:{second:02}" + (f".{rest:03}" if rest else "")


def is_before_march_1900(days: FloatArray, from_1904: bool) -> NDArray[np.bool_]:
    """Return which numbers, shape (n,), are days on which Excel and other programs disagree."""
    return np.zeros(len(days), dtype=bool) if from_1904 else days < _LEAP_DAY
