"""Tables from SPSS and Stata files: labelled codes are categories, date formats set the dates.

pyreadstat parses both in a separate process (:mod:`microagg.tables.stata_spss_process`), which answers with the stored
numbers and texts. This module interprets them by the format of each variable;
:mod:`microagg.tables.stata_spss_writer` writes them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from microagg.errors import DataError
from microagg.tables import lossless, value_labels
from microagg.tables.lossless import Filled
from microagg.tables.notices import (
    Notice,
    Reading,
    allowed,
    check_cells,
    check_memory,
    check_names,
    refuse_no_records,
)
from microagg.tables.stata_spss_process import parse_answer
from microagg.tables.value_labels import GAP, add_kinds
from microagg.validation import counted, optional_import

# Beginnings of SPSS formats for dates and for times.
_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR", "DATETIME", "YMDHMS")
_TIMES = ("TIME", "DTIME", "MTIME")

#: The origin of SPSS times, in seconds: the first day of the Gregorian calendar.
DAY_ZERO = np.datetime64("1582-10-14", "ms")

# The seconds from then to the first day of the year 10000, which Python cannot print.
_BEYOND = 265_621_680_000.0

# Units of Stata's formats, counted from 1960 (except years): a unit of numpy, and its number.
_PERIODS = {"c": ("ms", 1), "d": ("D", 1), "m": ("M", 1), "q": ("M", 3), "h": ("M", 6), "y": ("Y", 1), "w": ("D", 7)}

#: In a table of labels of Stata, codes from here on are the missing values ., .a to .z.
MISSING_CODES = 2_147_483_621

# A declared range of more codes has no kinds of missing values.
_MOST_KINDS = 1_000

#: The program that reads a file in a separate process.
READER = Path(__file__).with_name("stata_spss_process.py")


def read_statistics(data: bytes, label: str, labels: bool | None, max_cells: int) -> Reading:
    """Read the table of an SPSS or Stata file (see :func:`microagg.tables.read_file`)."""
    from_stata = is_stata(data)
    parsed = parse_file(data, label, max_cells)
    columns: dict[str, pd.Series[Any]] = {}
    labels_of_values: dict[str, dict[Any, str]] = {}
    missing_codes: dict[str, tuple[pd.Series[Any], dict[Any, str]]] = {}
    notices: list[Notice] = []
    if parsed.get("recoded"):
        text = f"the file {label!r} holds texts that are not in its encoding: these are read as Latin-1, check them."
        notices.append(Notice("encoding", text))
    for name in parsed["names"]:
        form, stored = str(parsed["formats"].get(name, "")), parsed["types"][name]
        names, measure = parsed["labels"].get(name, {}), parsed["measures"].get(name)
        missing = [(interval["lo"], interval["hi"]) for interval in parsed["missing"].get(name, [])]
        cells, codes = _divide(parsed["columns"].pop(), stored, missing)
        if codes is not None:
            missing_codes[name] = codes, {code: names.get(code, "") for code in codes.dropna().unique()}
        if from_stata:
            # Codes .a to .z are letters.
            names = {int(code): text for code, text in names.items() if isinstance(code, (int, float))}
            names = {code: text for code, text in names.items() if code < MISSING_CODES}
            period = re.match(r"%?-?(?:t([cCdwmqhy])|(d))", form)
            kind = (period[1] or period[2]) if period else ""
            column, further = _from_stata(cells, stored, kind, name)
            is_coded = not kind and stored != "string"
        else:
            names = {code: text for code, text in names.items() if not any(lo <= code <= hi for lo, hi in missing)}
            column, further = _from_spss(cells, form, name)
            is_coded = measure != "scale" or bool(column.dropna().isin(list(names)).all())
        notices += further
        if labels is None and names and is_numeric_dtype(column):
            values = column.dropna().unique().tolist()
            if not is_coded or (
                measure != "ordinal" and value_labels.are_numbers(values, names, nominal=measure == "nominal")
            ):
                labels_of_values[name], is_coded = names, False
                if present := {code: text for code, text in names.items() if code in values}:
                    notices.append(value_labels.notice(name, len(values), present))
        if labels is not False and names and is_coded:
            column = _label(column, names, measure == "ordinal", name, label)
        columns[name] = column
    titles = {name: str(title).strip() for name in columns if (title := parsed["titles"].get(name))}
    frame = pd.DataFrame(columns, copy=False)
    for name, (codes, texts) in missing_codes.items():
        if len(texts) <= _MOST_KINDS:
            kinds = _names_of_kinds(texts, frame[name], "." if from_stata else "")
            add_kinds(frame, name, list(kinds.values()), pd.Index(kinds).get_indexer(pd.Index(codes)))
    return Reading(frame, tuple(notices), variable_labels=titles, value_labels=labels_of_values)


def _divide(cells: Any, stored: str, missing: Sequence[tuple[Any, Any]]) -> tuple[Any, pd.Series[Any] | None]:
    """Cells without those that the file declares missing, and these codes by record, None without any.

    They are within one of the ranges ``missing`` of SPSS, or letters among the numbers of a Stata file.
    """
    if stored != "string" and not isinstance(cells, np.ndarray):
        is_code = np.array([isinstance(cell, str) for cell in cells])
    elif not missing or isinstance(cells, np.ndarray) == (stored == "string"):  # there may be no texts
        return cells, None
    else:
        column = pd.Series(cells)
        is_code = np.logical_or.reduce([column.between(*ends).to_numpy(dtype=np.bool_) for ends in missing])
    if not is_code.any():
        return cells, None
    codes = pd.Series(cells, dtype=object).where(is_code)
    rest = [None if is_missing else cell for cell, is_missing in zip(cells, is_code, strict=True)]
    return rest if stored == "string" else np.array(rest, dtype=np.float64), codes


def _names_of_kinds(labels: Mapping[Any, str], column: pd.Series[Any], point: str) -> dict[Any, str]:
    """Names of the codes of missing values, ascending: their ``labels``, with the code where another has that name.

    A code as text begins with the ``point``, as in Stata.
    """
    texts = {code: f"{point}{code_text(code)}" for code in sorted(labels)}
    values = column.cat.categories if lossless.is_category(column) else column.dropna().unique()
    names = _distinct(
        [labels[code] or text for code, text in texts.items()], texts.values(), [*map(code_text, values), GAP]
    )
    return dict(zip(texts, names, strict=True))


def _distinct(names: Sequence[str], codes: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Names with their codes in brackets where several are equal, or equal to one of the ``others``."""
    counts = Counter([*names, *others])
    return [f"{name} ({code})" if counts[name] > 1 else name for name, code in zip(names, codes, strict=True)]


def is_stata(data: bytes) -> bool:
    """Whether a file of Stata or SPSS is one of Stata."""
    return not data.startswith((b"$FL2", b"$FL3"))


def parse_file(data: bytes, label: str, max_cells: int) -> dict[str, Any]:
    """Parse a file in a separate process.

    The columns are in reverse order: the caller pops them one by one, so that each is freed once it is in the table.
    Raises DataError if the file is damaged, empty or too large, or if a name is not allowed.
    """
    optional_import("pyreadstat", "statistics", f"reading {label!r}", "save the table as .csv")
    parsed = in_own_process(data, max_cells)
    if "needed" in parsed:
        # Twice: the answer of the other process, and the table.
        check_memory(2 * int(parsed["needed"]), len(data), label)
    if parsed.get("error") == "MemoryError":
        # The size is unknown, but above the limit: this always raises.
        check_memory(allowed(len(data)) + 1, len(data), label)
    if "error" in parsed:
        kind, ending = ("Stata file, or of an unknown version", ".dta") if is_stata(data) else ("SPSS file", ".sav")
        raise DataError(f"the file {label!r} is a damaged {kind} ({parsed['error']}): save it as {ending} again.")
    parsed["names"] = [str(name) for name in parsed["names"]]
    check_names(parsed["names"], label)
    check_cells(parsed["records"], len(parsed["names"]), max_cells, label)
    # A file need not declare its number of records.
    records = len(parsed["columns"][0]) if parsed["names"] else 0
    check_cells(records, len(parsed["names"]), max_cells, label, at_least=True)
    if records == 0:
        refuse_no_records(label)
    parsed["columns"].reverse()
    return parsed


def in_own_process(data: bytes, max_cells: int) -> dict[str, Any]:
    """Run the program :data:`READER` and return its answer, or an error if it is killed."""
    # -P keeps the program's folder off the path, where our text.py would replace another module.
    command = [sys.executable, "-P", str(READER), str(max_cells), str(allowed(len(data)))]
    process = subprocess.run(command, input=data, capture_output=True, check=False)
    if process.returncode != 0:
        return {"error": f"exit code {process.returncode}"}
    try:
        return parse_answer(process.stdout)
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        return {"error": f"an answer that cannot be read ({type(error).__name__})"}


def _from_spss(cells: Any, form: str, name: str) -> Filled:
    """Cells of a column as text, dates or whole numbers, by the SPSS format ``form``."""
    kind = form.rstrip("0123456789.").upper()
    if not isinstance(cells, np.ndarray) or kind == "A":
        return lossless.texts([cell if isinstance(cell, str) and cell else None for cell in cells]), []
    column = pd.Series(cells)
    if kind in _DATES:
        beyond = cells[~np.isnan(cells) & ~((cells >= 0) & (cells < _BEYOND))]
        if len(beyond):
            return column, [_out_of_calendar(name, beyond, "the years 1582 to 9999", "seconds after 1582-10-14")]
        # Floats are exact to about a microsecond here, and dates to a millisecond.
        milliseconds = (column * 1000).round().astype("Int64")
        return pd.Series(DAY_ZERO + milliseconds.to_numpy(dtype="m8[ms]", na_value=np.timedelta64("NaT"))), []
    if kind in _TIMES:
        return lossless.texts([None if np.isnan(seconds) else lossless.clock(seconds) for seconds in cells]), []
    fits = (column == np.floor(column)) & (column.abs() <= lossless.EXACT_WHOLE)
    return (column.astype(np.int64) if re.fullmatch(r"[FN]\d+(\.0)?", form) and fits.all() else column), []


def _from_stata(cells: Any, stored: str, kind: str, name: str) -> Filled:
    """Cells of a column with the type ``stored``. ``kind`` is the letter of a date format, or ""."""
    if stored == "string":
        return lossless.texts([None if cell != cell else cell or None for cell in cells]), []
    present = cells[~np.isnan(cells)]
    if kind == "C":
        example = f"{present[0]:.0f}" if len(present) else ""
        text = (
            f"column {name!r} holds {counted(len(present), 'time')} that count leap seconds (Stata's format %tC): they "
            f"are read as numbers, milliseconds since 1960, such as {example}."
        )
        notice = Notice("leap-seconds", text, column=name, count=len(present), example=example)
        return pd.Series(cells), [notice] if example else []
    if kind:
        beyond = present[np.abs(present) > (lossless.EXACT_WHOLE if kind == "c" else 10**9)]
        if len(beyond):
            unit = "as Stata counts them" if kind == "y" else f"in Stata's format %t{kind}, counted from 1960"
            return pd.Series(cells), [_out_of_calendar(name, beyond, "what a calendar has", unit)]
        return lossless.printable_dates(pd.Series(_stata_dates(cells, kind)), name)
    if stored.startswith("int") and len(present) == len(cells):
        return pd.Series(cells.astype(np.int64)), []
    return pd.Series(cells.astype(np.float32) if stored == "float" else cells), []


def _stata_dates(values: NDArray[np.float64], kind: str) -> NDArray[np.datetime64]:
    """First days or milliseconds of the periods of a Stata format, NaT if the number is NaN."""
    absent = np.isnan(values)
    counts = np.floor(np.where(absent, 0, values)).astype(np.int64)
    unit, step = _PERIODS[kind]
    zero: Any = np.datetime64(0 if kind == "y" else "1960", "Y")
    if kind == "y":
        moments: Any = zero + (counts - 1970)
    elif kind == "w":  # a year has 52 weeks; the last one has 8 or 9 days
        moments = (zero + counts // 52).astype("M8[D]") + 7 * (counts % 52)
    else:
        moments = zero.astype(f"M8[{unit}]") + step * counts
    moments = moments.astype("M8[ms]" if kind == "c" else "M8[s]")
    moments[absent] = np.datetime64("NaT")
    return np.asarray(moments)


def _out_of_calendar(name: str, beyond: NDArray[np.float64], ends: str, unit: str) -> Notice:
    text = (
        f"column {name!r} holds {counted(len(beyond), 'date')} beyond {ends}, such as {beyond[0]:g} {unit}: the whole "
        "column is kept as such numbers."
    )
    return Notice("kept-as-number", text, column=name, count=len(beyond), example=f"{beyond[0]:g}")


def _label(cells: pd.Series[Any], labels: Mapping[Any, str], ordered: bool, column: str, label: str) -> pd.Series[Any]:
    """Codes as categories named by their labels, in the order of the codes, including labels without records.

    A code without a label, or with an empty one, becomes a category named by the code, ``7`` or ``2.5``. If several
    codes would have the same name, each gets its code in brackets, such as ``other (8)``, as they may differ in
    meaning; :class:`DataError` if the names are still equal.
    """
    codes = sorted({*labels, *cells.dropna().unique().tolist()})
    names = [labels.get(code) or code_text(code) for code in codes]
    names = _distinct(names, map(code_text, codes))
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise DataError(
            f"in column {column!r} of the file {label!r} several codes have the label {name!r}: "
            "give every code a label of its own."
        )
    # A missing code has the position -1, which categories use for missing values.
    positions = pd.Index(codes).get_indexer(pd.Index(cells)).astype(np.int64)
    return pd.Series(pd.Categorical.from_codes(positions, categories=pd.Index(names), ordered=ordered))


def code_text(code: Any) -> str:
    """A code as text, without a decimal point if it is whole."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
