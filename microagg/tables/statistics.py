"""Codes with labels, as Stata and SPSS keep categories."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import subprocess
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype, is_numeric_dtype
from pandas.io.stata import StataReader

from microagg.errors import DataError, MicroaggError
from microagg.tables.lossless import EXACT_WHOLE, printable_dates
from microagg.tables.memory_guard import allowed, check_memory
from microagg.tables.notices import Notice, Reading, check_cells, check_names, refuse_no_records
from microagg.tables.spss_reader import answered
from microagg.validation import counted


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


# Tables from SPSS files.

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


# Tables from Stata files.

# How many records are read at a time.
_RECORDS = 1 << 16

# What reading takes beside the columns themselves, in bytes: as many records as objects of Python.
_BESIDE = 30_000_000

# In a table of labels, codes from here on are the missing values ., .a to .z.
_MISSING_CODES = 2_147_483_621


def read_dta(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Return the table of a Stata file; see :func:`microagg.tables.read_file`."""
    try:
        found = _parse(data, label, max_cells)
    except MicroaggError:
        raise
    except Exception as error:  # whatever a parser raises that believes what a damaged file says of itself
        raise DataError(
            f"the file {label!r} is a damaged Stata file, or of an unknown version ({type(error).__name__}): "
            "save it as .dta again."
        ) from None
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    for name, table, form in zip(list(found.columns), found.label_of, found.formats, strict=True):
        known = {int(code): text for code, text in found.tables.get(table, {}).items() if int(code) < _MISSING_CODES}
        column = pd.concat(found.columns.pop(name), ignore_index=True)
        if labels and known and is_numeric_dtype(column.dtype):
            columns[name] = labelled(column.rename(name), known, ordered=False, label=label)
            continue
        columns[name], said = printable_dates(_widened(column), name)
        notices += said
        if form.startswith(("%tC", "tC")):
            columns[name] = pd.Series(pd.to_numeric(column.astype(object), errors="coerce"))
            notices += _leap_seconds(columns[name], name)
    return Reading(pd.DataFrame(columns, copy=False), tuple(notices))


@dataclass
class _Found:
    """What a file holds: the parts of each column, and of each the name of its table of labels or "" and its format."""

    columns: dict[str, list[pd.Series[Any]]]
    label_of: list[str]
    formats: list[str]
    tables: dict[str, dict[Any, str]]


class _Reader(StataReader):
    """pandas' reader, which holds what it makes of long texts against what a file may take before it makes it."""

    size, label = 0, ""

    def _insert_strls(self, data: pd.DataFrame) -> pd.DataFrame:
        # Records only point at long texts, and many of them may point at the same one.
        reader: Any = self
        texts: dict[str, str] = getattr(reader, "GSO", {})
        if texts:
            kinds = zip(range(data.shape[1]), reader._typlist, strict=True)
            keys = [key for i, kind in kinds if kind == "Q" for key in data.iloc[:, i]]
            check_memory(_BESIDE + 2 * sum(len(texts[str(key)]) for key in keys), self.size, self.label)
        inserted: pd.DataFrame = getattr(super(), "_insert_strls")(data)  # noqa: B009
        return inserted


def _parse(data: bytes, label: str, max_cells: int) -> _Found:
    """Return the codes in parts of as many records as are read at a time, and what they mean."""
    parts: dict[str, list[pd.Series[Any]]] = {}
    records = kept = 0
    # pandas warns of dates it leaves as numbers (those with leap seconds), and of text that is no valid UTF-8.
    with warnings.catch_warnings(), _Reader(io.BytesIO(data), convert_categoricals=False) as reader:
        warnings.simplefilter("ignore")
        reader.size, reader.label = len(data), label
        names = list(reader.variable_labels())
        # Its own header may say anything; what is read is no longer than the file, and no more than the limit.
        parser: Any = reader
        most = max_cells // max(len(names), 1) + 1
        # pandas ends an iteration where there is nothing to read.
        with contextlib.suppress(StopIteration):
            while records < most and len(part := parser.read(nrows=min(_RECORDS, most - records))):
                check_names([str(name) for name in part.columns], label)
                records += len(part)
                kept += int(part.memory_usage(index=False, deep=True).sum())
                check_memory(_BESIDE + kept, len(data), label)
                for name in part.columns:
                    parts.setdefault(str(name), []).append(part[name].reset_index(drop=True))
        if records == 0:
            refuse_no_records(label)
        check_cells(records, len(names), max_cells, label, at_least=True)
        # Labels come last: asked for them earlier, pandas would not look up the long texts.
        tables: dict[str, dict[Any, str]] = parser.value_labels()
        # Nothing public tells which column has which, and in which format it is.
        return _Found(parts, list(parser._lbllist), list(parser._fmtlist), tables)


def _leap_seconds(column: pd.Series[Any], name: str) -> list[Notice]:
    present = column.dropna()
    if not len(present):
        return []
    return [
        Notice(
            "leap-seconds",
            f"column {name!r} holds {counted(len(present), 'time')} that count leap seconds (Stata's format %tC): they "
            f"are read as numbers, milliseconds since 1960, such as {present.iloc[0]:.0f}.",
            column=name,
            count=len(present),
            example=f"{present.iloc[0]:.0f}",
        )
    ]


def _widened(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return integers with 64 bits, and empty texts as missing."""
    if is_integer_dtype(column.dtype):
        return column.astype(np.int64)
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return column.mask(column == "", None)
    return column
