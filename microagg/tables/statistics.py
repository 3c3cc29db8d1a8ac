"""Tables from SPSS and Stata files: codes with labels are categories, and dates are those of their formats.

Both are parsed by pyreadstat, in a process of its own (:mod:`microagg.tables.statistics_reader`), which answers with
the numbers and texts as they are stored. What these mean is decided here, by the format of each variable.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.tables.lossless import EXACT_WHOLE, Filled, printable_dates, texts
from microagg.tables.memory_guard import allowed, check_memory
from microagg.tables.notices import Notice, Reading, check_cells, check_names, refuse_no_records
from microagg.tables.statistics_reader import answered
from microagg.validation import counted, optional_import

# What formats of SPSS for dates and for times begin with.
_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR", "DATETIME", "YMDHMS")
_TIMES = ("TIME", "DTIME", "MTIME")

# From which SPSS counts seconds: the first day of the Gregorian calendar.
_DAY_ZERO = np.datetime64("1582-10-14", "ms")

# The seconds from then to the first day of the year 10000, which nothing prints as a date.
_BEYOND = 265_621_680_000.0

# In what Stata's formats count, from 1960 on but for years: a unit of numpy, and how many of it.
_PERIODS = {"c": ("ms", 1), "d": ("D", 1), "m": ("M", 1), "q": ("M", 3), "h": ("M", 6), "y": ("Y", 1), "w": ("D", 7)}

# In a table of labels of Stata, codes from here on are the missing values ., .a to .z.
_MISSING_CODES = 2_147_483_621

#: The program that reads a file, in a process of its own.
READER = Path(__file__).with_name("statistics_reader.py")


def read_sav(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Return the table of an SPSS file; see :func:`microagg.tables.read_file`."""
    found = _parsed(data, label, max_cells, "a damaged SPSS file ({})", "save it as .sav again")
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    for name in found["names"]:
        ranges = found["missing"].get(name, [])
        known = {
            code: text
            for code, text in found["labels"].get(name, {}).items()
            if not any(each["lo"] <= code <= each["hi"] for each in ranges)
        }
        column, said = _shown_by_spss(found["columns"].pop(), str(found["formats"].get(name, "")), name)
        notices += said
        measure = found["measures"].get(name)
        if labels and known and not (measure == "scale" and not column.dropna().isin(list(known)).all()):
            column = labelled(column.rename(name), known, ordered=measure == "ordinal", label=label)
        columns[name] = column
    return Reading(pd.DataFrame(columns, copy=False), tuple(notices))


def read_dta(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Return the table of a Stata file; see :func:`microagg.tables.read_file`."""
    damaged = "a damaged Stata file, or of an unknown version ({})"
    found = _parsed(data, label, max_cells, damaged, "save it as .dta again")
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    if found.get("recoded"):
        says = f"the file {label!r} holds texts that are not in its encoding: these are read as Latin-1, check them."
        notices.append(Notice("encoding", says))
    for name in found["names"]:
        tags = found["labels"].get(name, {})  # those of .a to .z are letters
        known = {int(code): text for code, text in tags.items() if isinstance(code, (int, float))}
        known = {code: text for code, text in known.items() if code < _MISSING_CODES}
        form = re.match(r"%?-?(?:t([cCdwmqhy])|(d))", str(found["formats"].get(name, "")))
        kind = (form[1] or form[2]) if form else ""
        column, said = _shown_by_stata(found["columns"].pop(), found["types"][name], kind, name)
        notices += said
        if labels and known and not kind and found["types"][name] != "string":
            column = labelled(column.rename(name), known, ordered=False, label=label)
        columns[name] = column
    return Reading(pd.DataFrame(columns, copy=False), tuple(notices))


def _parsed(data: bytes, label: str, max_cells: int, damaged: str, again: str) -> dict[str, Any]:
    """Return what a file holds, its columns in reverse: each is let go of as soon as it is in the table."""
    optional_import("pyreadstat", "statistics", f"reading {label!r}", "save the table as .csv")
    found = in_own_process(data, max_cells)
    if "needed" in found:
        # Twice: as it comes from the other process, and as it is in the table.
        check_memory(2 * int(found["needed"]), len(data), label)
    if found.get("error") == "MemoryError":
        check_memory(allowed(len(data)) + 1, len(data), label)
    if "error" in found:
        raise DataError(f"the file {label!r} is {damaged.format(found['error'])}: {again}.")
    names = [str(name) for name in found["names"]]
    check_names(names, label)
    check_cells(found["records"], len(names), max_cells, label)
    # A file need not say how many records it has.
    records = len(found["columns"][0]) if names else 0
    check_cells(records, len(names), max_cells, label, at_least=True)
    if records == 0:
        refuse_no_records(label)
    found["columns"].reverse()
    return {**found, "names": names}


def in_own_process(data: bytes, max_cells: int) -> dict[str, Any]:
    """Return what :func:`microagg.tables.statistics_reader.read_or_error` does, whether or not it survives."""
    # Its own folder is kept off the path (-P), where our text.py and statistics.py would stand for other modules.
    command = [sys.executable, "-P", str(READER), str(max_cells), str(allowed(len(data)))]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        return {"error": f"exit code {done.returncode}"}
    try:
        return answered(done.stdout)
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        return {"error": f"an answer that cannot be read ({type(error).__name__})"}


def _shown_by_spss(cells: Any, form: str, name: str) -> Filled:
    """Return the cells of a column as SPSS shows them in the format ``form``: text, dates, or whole numbers."""
    kind = form.rstrip("0123456789.").upper()
    if not isinstance(cells, np.ndarray):
        return texts([cell or None for cell in cells]), []
    if kind == "A":  # all are missing
        return texts([None] * len(cells)), []
    column = pd.Series(cells)
    if kind in _DATES:
        beyond = cells[~np.isnan(cells) & ~((cells >= 0) & (cells < _BEYOND))]
        if len(beyond):
            return column, [_kept_as_numbers(name, beyond, "the years 1582 to 9999", "seconds after 1582-10-14")]
        # Floats are exact to about a microsecond here, and dates to a millisecond.
        milliseconds = (column * 1000).round().astype("Int64")
        return pd.Series(_DAY_ZERO + milliseconds.to_numpy(dtype="m8[ms]", na_value=np.timedelta64("NaT"))), []
    if kind in _TIMES:
        return texts([_clock(seconds) for seconds in cells]), []
    whole = re.fullmatch(r"[FN]\d+(\.0)?", form) is not None and bool(
        ((column == np.floor(column)) & (column.abs() <= EXACT_WHOLE)).all()
    )
    return (column.astype(np.int64) if whole else column), []


def _clock(seconds: float) -> str | None:
    """Return a time of day, or a duration, as hours, minutes and seconds such as 14:05:00."""
    if np.isnan(seconds):
        return None
    minutes, rest = divmod(round(abs(seconds) * 1000), 60_000)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest % 1000:03}" if rest % 1000 else ""
    return f"{'-' if seconds < 0 else ''}{hours:02}:{minutes:02}:{rest // 1000:02}{fraction}"


def _shown_by_stata(cells: Any, stored: str, kind: str, name: str) -> Filled:
    """Return the cells of a column with the type ``stored``; ``kind`` is the letter of a format of dates, or ""."""
    if stored == "string":
        return texts([None if cell != cell else cell or None for cell in cells]), []
    present = cells[~np.isnan(cells)]
    if kind == "C":
        return pd.Series(cells), [_leap_seconds(present, name)] if len(present) else []
    if kind:
        beyond = present[np.abs(present) > (EXACT_WHOLE if kind == "c" else 10**9)]
        if len(beyond):
            unit = "as Stata counts them" if kind == "y" else f"in Stata's format %t{kind}, counted from 1960"
            return pd.Series(cells), [_kept_as_numbers(name, beyond, "what a calendar has", unit)]
        return printable_dates(pd.Series(_stata_dates(cells, kind)), name)
    if stored.startswith("int") and len(present) == len(cells):
        return pd.Series(cells.astype(np.int64)), []
    return pd.Series(cells.astype(np.float32) if stored == "float" else cells), []


def _stata_dates(values: NDArray[np.float64], kind: str) -> NDArray[np.datetime64]:
    """Return the first days or milliseconds of periods that Stata counts, NaT where the number is NaN."""
    absent = np.isnan(values)
    counts = np.floor(np.where(absent, 0, values)).astype(np.int64)
    unit, times = _PERIODS[kind]
    zero: Any = np.datetime64(0 if kind == "y" else "1960", "Y")
    if kind == "y":
        moments: Any = zero + (counts - 1970)
    elif kind == "w":  # a year has 52 of them, of which the last has 8 or 9 days
        moments = (zero + counts // 52).astype("M8[D]") + 7 * (counts % 52)
    else:
        moments = zero.astype(f"M8[{unit}]") + times * counts
    moments = moments.astype("M8[ms]" if kind == "c" else "M8[s]")
    moments[absent] = np.datetime64("NaT")
    return np.asarray(moments)


def _kept_as_numbers(name: str, beyond: NDArray[np.float64], ends: str, unit: str) -> Notice:
    text = (
        f"column {name!r} holds {counted(len(beyond), 'date')} beyond {ends}, such as {beyond[0]:g} {unit}: the whole "
        "column is kept as such numbers."
    )
    return Notice("kept-as-number", text, name, len(beyond), f"{beyond[0]:g}")


def _leap_seconds(present: NDArray[np.float64], name: str) -> Notice:
    text = (
        f"column {name!r} holds {counted(len(present), 'time')} that count leap seconds (Stata's format %tC): they "
        f"are read as numbers, milliseconds since 1960, such as {present[0]:.0f}."
    )
    return Notice("leap-seconds", text, name, len(present), f"{present[0]:.0f}")


def labelled(codes: pd.Series[Any], labels: Mapping[Any, str], *, ordered: bool, label: str) -> pd.Series[Any]:
    """Return codes as categories named by their labels, in the order of the codes.

    Parameters
    ----------
    codes : Series of n numbers or texts
        With missing values where there is no code.
    labels : mapping
        The label of each code; all of them become categories, whether they occur or not. A code that occurs without a
        label, or with an empty one, becomes a category named by the code itself, ``7`` or ``2.5``. Where several
        codes would have the same name, each gets its code in brackets, such as ``other (8)``, as they may mean
        different things.
    ordered : bool
        Whether the order of the codes means something.
    label : str
        The file's name, for messages.

    Raises
    ------
    DataError
        If categories have the same name even so.
    """
    present = codes.dropna().unique().tolist()
    known = sorted({*labels, *present})
    names = [labels.get(code) or _code_text(code) for code in known]
    counts = Counter(names)
    names = [
        f"{name} ({_code_text(code)})" if counts[name] > 1 else name for code, name in zip(known, names, strict=True)
    ]
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise DataError(
            f"in column {codes.name!r} of the file {label!r} several codes have the label {name!r}: "
            "give every code a label of its own."
        )
    # A code that is missing has the position -1, which is how categories say missing.
    positions = pd.Index(known).get_indexer(pd.Index(codes))
    values = pd.Categorical.from_codes(positions.astype(np.int64), categories=pd.Index(names), ordered=ordered)
    return pd.Series(values, index=codes.index, name=codes.name)


def codes_of(series: pd.Series[Any]) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Return categories as codes from 1 (type Int32, missing where they are), and the label of each code.

    A category without a name is missing, since no label can be empty.
    """
    if "" in series.cat.categories:
        series = series.cat.remove_categories("")
    codes = pd.Series(series.cat.codes.to_numpy().astype(np.int32) + 1)
    labels: dict[Any, str] = {code: str(name) for code, name in enumerate(series.cat.categories, start=1)}
    return codes.astype("Int32").mask(codes == 0), labels


def _code_text(code: Any) -> str:
    if isinstance(code, (float, np.floating)) and float(code).is_integer():
        return str(int(code))
    return str(code)
