"""Tables from SPSS files."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.tables.checks import check_cells, check_names, refuse_no_records
from microagg.tables.columns import EXACT_WHOLE
from microagg.tables.labels import labelled
from microagg.tables.limits import allowed, check_memory
from microagg.tables.notices import Notice, Reading
from microagg.tables.spss_reader import answered
from microagg.validation import counted

# What formats of dates and of times begin with.
_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR", "DATETIME", "YMDHMS")
_TIMES = ("TIME", "DTIME", "MTIME")

# From which SPSS counts seconds: the first day of the Gregorian calendar.
_DAY_ZERO = np.datetime64("1582-10-14", "ms")

# The seconds from then to the first day of the year 10000, which nothing prints as a date.
_BEYOND = 265_621_680_000.0

#: The program that reads a file, in a process of its own.
READER = Path(__file__).with_name("spss_reader.py")


def read_sav(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Return the table of an SPSS file; see :func:`microagg.tables.read_file`."""
    try:
        importlib.import_module("pyreadstat")
    except ImportError:
        raise DataError(
            f"reading {label!r} needs the package pyreadstat: install microagg[statistics], or save the table as .csv."
        ) from None
    found = in_own_process(data, max_cells)
    if "needed" in found:
        # Twice: as it comes from the other process, and as it is in the table.
        check_memory(2 * int(found["needed"]), len(data), label)
    if found.get("error") == "MemoryError":
        check_memory(allowed(len(data)) + 1, len(data), label)
    if "error" in found:
        raise DataError(f"the file {label!r} is a damaged SPSS file ({found['error']}): save it as .sav again.")
    names = [str(name) for name in found["names"]]
    check_names(names, label)
    check_cells(found["records"], len(names), max_cells, label)
    # A file need not say how many records it has.
    records = len(found["columns"][0]) if names else 0
    check_cells(records, len(names), max_cells, label, at_least=True)
    if records == 0:
        refuse_no_records(label)
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    # The cells of a column are let go of as soon as they are in the table.
    found["columns"].reverse()
    for name in names:
        known = _labels_of(found, name)
        column, said = _typed(found["columns"].pop(), str(found["formats"].get(name, "")), name)
        notices += said
        measure = found["measures"].get(name)
        if labels and known and not (measure == "scale" and not column.dropna().isin(list(known)).all()):
            column = labelled(column.rename(name), known, ordered=measure == "ordinal", label=label)
        columns[name] = column
    return Reading(pd.DataFrame(columns, copy=False), tuple(notices))


def in_own_process(data: bytes, max_cells: int) -> dict[str, Any]:
    """Return what :func:`microagg.tables.spss_reader.read_or_error` returns, also if the process does not survive."""
    # Its own folder is kept off the path (-P), where our text.py and columns.py would stand for other modules.
    command = [sys.executable, "-P", "-W", "ignore", str(READER), str(max_cells), str(allowed(len(data)))]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        return {"error": f"exit code {done.returncode}"}
    try:
        return answered(done.stdout)
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        return {"error": f"an answer that cannot be read ({type(error).__name__})"}


def _labels_of(found: dict[str, Any], name: str) -> dict[Any, str]:
    """Return the labels of a variable's codes, except those of values that count as missing."""
    ranges = found["missing"].get(name, [])
    labels = found["labels"].get(name, {})
    return {code: text for code, text in labels.items() if not any(each["lo"] <= code <= each["hi"] for each in ranges)}


def _typed(cells: Any, form: str, name: str) -> tuple[pd.Series[Any], list[Notice]]:
    """Return the cells of a column as SPSS shows them in the format ``form``: text, dates, or whole numbers."""
    column = _numbers_as_shown(cells, form)
    beyond = _beyond_dates(column, form)
    if not len(beyond):
        return column, []
    notice = Notice(
        "kept-as-number",
        f"column {name!r} holds {counted(len(beyond), 'date')} beyond the years 1582 to 9999, such as {beyond[0]:g} "
        "seconds after 1582-10-14: the whole column is kept as such numbers.",
        column=name,
        count=len(beyond),
        example=f"{beyond[0]:g}",
    )
    return column, [notice]


def _beyond_dates(column: pd.Series[Any], form: str) -> NDArray[np.float64]:
    """Return those numbers of a column of dates, in seconds, that no calendar of SPSS has."""
    if _kind(form) not in _DATES or column.dtype != np.float64:
        return np.array([])
    seconds = column.to_numpy()
    return seconds[~np.isnan(seconds) & ~((seconds >= 0) & (seconds < _BEYOND))]


def _kind(form: str) -> str:
    return form.rstrip("0123456789.").upper()


def _numbers_as_shown(cells: Any, form: str) -> pd.Series[Any]:
    kind = _kind(form)
    if not isinstance(cells, np.ndarray):
        return _texts([cell or None for cell in cells])
    column = pd.Series(cells)
    if kind == "A":
        return _texts([None] * len(cells))
    if kind in _DATES:
        if len(_beyond_dates(column, form)):
            return column
        # Floats are exact to about a microsecond here, and dates to a millisecond.
        milliseconds = (column * 1000).round().astype("Int64")
        return pd.Series(_DAY_ZERO + milliseconds.to_numpy(dtype="m8[ms]", na_value=np.timedelta64("NaT")))
    if kind in _TIMES:
        return _texts([_clock(seconds) for seconds in cells])
    whole = re.fullmatch(r"[FN]\d+(\.0)?", form) is not None and bool(
        ((column == np.floor(column)) & (column.abs() <= EXACT_WHOLE)).all()
    )
    return column.astype(np.int64) if whole else column


def _clock(seconds: float) -> str | None:
    """Return a time of day, or a duration, as hours, minutes and seconds such as 14:05:00."""
    if np.isnan(seconds):
        return None
    minutes, rest = divmod(round(abs(seconds) * 1000), 60_000)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest % 1000:03}" if rest % 1000 else ""
    return f"{'-' if seconds < 0 else ''}{hours:02}:{minutes:02}:{rest // 1000:02}{fraction}"


def _texts(cells: list[str | None]) -> pd.Series[Any]:
    """Return a column of the type that pandas gives to texts, also if all are missing."""
    return pd.Series(cells, dtype=pd.Series(["text"]).dtype)
