"""Tables from and to SPSS and Stata files: labelled codes are categories, date formats set the dates.

pyreadstat parses both in a separate process (:mod:`microagg.tables.stata_spss_reader`), which answers with the stored
numbers and texts. This module interprets them by the format of each variable. Names that a program does not allow are
changed (:func:`file_names`) and kept as labels. No file has the time of writing.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables import lossless
from microagg.tables.lossless import Filled
from microagg.tables.notices import (
    Notice,
    Reading,
    Source,
    allowed,
    check_cells,
    check_memory,
    check_names,
    refuse_no_records,
)
from microagg.tables.stata_spss_reader import parse_answer
from microagg.validation import IntArray, counted, optional_import

# Beginnings of SPSS formats for dates and for times.
_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR", "DATETIME", "YMDHMS")
_TIMES = ("TIME", "DTIME", "MTIME")

# The origin of SPSS times, in seconds: the first day of the Gregorian calendar.
_DAY_ZERO = np.datetime64("1582-10-14", "ms")

# The seconds from then to the first day of the year 10000, which Python cannot print.
_BEYOND = 265_621_680_000.0

# Units of Stata's formats, counted from 1960 (except years): a unit of numpy, and its number.
_PERIODS = {"c": ("ms", 1), "d": ("D", 1), "m": ("M", 1), "q": ("M", 3), "h": ("M", 6), "y": ("Y", 1), "w": ("D", 7)}

# The missing values .a to .z of Stata; the stored value of ``.`` in each of its types, and the step between them.
_LETTERS = {letter: place for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz", start=1)}
_ABSENT = {
    "int8": (101, 1),
    "int16": (32_741, 1),
    "int32": (2_147_483_621, 1),
    "float32": (0x7F000000, 0x800),
    "float64": (0x7FE0000000000000, 1 << 40),
}

# In a table of labels of Stata, codes from here on are the missing values ., .a to .z.
_MISSING_CODES = 2_147_483_621

#: The maximum length of a text in SPSS, in bytes.
MAX_TEXT = 32_767

# The maximum bytes of a value label in SPSS; of all labels of a variable, and of a text of fixed width, in Stata.
_MAX_LABEL, _MAX_LABELS, _MAX_FIXED = 120, 32_000, 2_045

# Two files of one table should be equal, so their times of writing are constant; in SPSS at these bytes.
_STAMP, _SPSS_TIME, _STATA_TIME = slice(92, 109), b"01 Jan 8000:00:00", dt.datetime(1980, 1, 1)

#: The maximum number of variables in a file of Stata 14 to 19.
MAX_VARIABLES = 32_767

# Numbers from these on, of 64 and of 32 bits, are missing values in Stata.
_MAX_DOUBLE, _MAX_FLOAT = 2.0**1023, 2.0**127

#: The program that reads a file in a separate process.
READER = Path(__file__).with_name("stata_spss_reader.py")


def read_statistics(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Read the table of an SPSS or Stata file (see :func:`microagg.tables.read_file`)."""
    is_stata = _is_stata(data)
    parsed = _parse(data, label, max_cells, is_stata)
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    if parsed.get("recoded"):
        text = f"the file {label!r} holds texts that are not in its encoding: these are read as Latin-1, check them."
        notices.append(Notice("encoding", text))
    for name in parsed["names"]:
        cells, form = parsed["columns"].pop(), str(parsed["formats"].get(name, ""))
        names, measure = parsed["labels"].get(name, {}), parsed["measures"].get(name)
        if is_stata:
            # Codes .a to .z are letters.
            names = {int(code): text for code, text in names.items() if isinstance(code, (int, float))}
            names = {code: text for code, text in names.items() if code < _MISSING_CODES}
            period = re.match(r"%?-?(?:t([cCdwmqhy])|(d))", form)
            kind = (period[1] or period[2]) if period else ""
            column, further = _from_stata(cells, parsed["types"][name], kind, name)
            is_coded = not kind and parsed["types"][name] != "string"
        else:
            missing = [(interval["lo"], interval["hi"]) for interval in parsed["missing"].get(name, [])]
            names = {code: text for code, text in names.items() if not any(lo <= code <= hi for lo, hi in missing)}
            column, further = _from_spss(cells, form, name)
            is_coded = measure != "scale" or bool(column.dropna().isin(list(names)).all())
        notices += further
        if labels and names and is_coded:
            column = _label(column, names, measure == "ordinal", name, label)
        columns[name] = column
    titles = {name: str(title).strip() for name in columns if (title := parsed["titles"].get(name))}
    return Reading(pd.DataFrame(columns, copy=False), tuple(notices), variable_labels=titles)


def _is_stata(data: bytes) -> bool:
    return not data.startswith((b"$FL2", b"$FL3"))


def _parse(data: bytes, label: str, max_cells: int, is_stata: bool, *further: str) -> dict[str, Any]:
    """Parse a file. Its columns are in reverse order, so that each is freed once it is in the table."""
    optional_import("pyreadstat", "statistics", f"reading {label!r}", "save the table as .csv")
    parsed = in_own_process(data, max_cells, *further)
    if "needed" in parsed:
        # Twice: the answer of the other process, and the table.
        check_memory(2 * int(parsed["needed"]), len(data), label)
    if parsed.get("error") == "MemoryError":
        check_memory(allowed(len(data)) + 1, len(data), label)
    if "error" in parsed:
        kind, ending = ("Stata file, or of an unknown version", ".dta") if is_stata else ("SPSS file", ".sav")
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


def in_own_process(data: bytes, max_cells: int, *further: str) -> dict[str, Any]:
    """Run the program :data:`READER` and return its answer, or an error if it is killed."""
    # -P keeps the program's folder off the path, where our text.py would replace another module.
    command = [sys.executable, "-P", str(READER), str(max_cells), str(allowed(len(data))), *further]
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
        return pd.Series(_DAY_ZERO + milliseconds.to_numpy(dtype="m8[ms]", na_value=np.timedelta64("NaT"))), []
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
    names = [labels.get(code) or _code_text(code) for code in codes]
    counts = Counter(names)
    names = [
        f"{name} ({_code_text(code)})" if counts[name] > 1 else name for code, name in zip(codes, names, strict=True)
    ]
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise DataError(
            f"in column {column!r} of the file {label!r} several codes have the label {name!r}: "
            "give every code a label of its own."
        )
    # A missing code has the position -1, which categories use for missing values.
    positions = pd.Index(codes).get_indexer(pd.Index(cells)).astype(np.int64)
    return pd.Series(pd.Categorical.from_codes(positions, categories=pd.Index(names), ordered=ordered))


def _code_text(code: Any) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


# --- writing ----------------------------------------------------------------------------------------------------------


def _as_codes(series: pd.Series[Any]) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Categories as codes from 1 (Int32, missing for missing categories and empty names), and their labels."""
    if "" in series.cat.categories:
        series = series.cat.remove_categories("")
    codes = pd.Series(series.cat.codes.to_numpy().astype(np.int32) + 1)
    labels: dict[Any, str] = {code: str(name) for code, name in enumerate(series.cat.categories, start=1)}
    return codes.astype("Int32").mask(codes == 0), labels


class _Rule(NamedTuple):
    """The names that a program allows."""

    program: str
    others: str  # allowed characters besides letters and digits
    firsts: str  # the same at the beginning
    reserved: frozenset[str]
    most: int  # the maximum size of a name
    size: Callable[[str], int]  # of a text, in characters or bytes
    key: Callable[[str], str]  # equal for names that count as the same
    label: int  # the maximum size of the label that keeps a name


# Stata's help varname, and further names that pandas does not allow.
_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using with
    aggregate array boolean break case catch class colvector complex const continue default delegate delete do else
    eltypedef end enum explicit export external for friend function global goto inline local NULL pragma protected quad
    rowvector short typedef typename virtual
"""
_SPSS_WORDS = frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"))


_RULES = {
    ".dta": _Rule("Stata", "_", "_", frozenset(_STATA_WORDS.split()), 32, len, str, 80),
    ".sav": _Rule("SPSS", "_.@#$", "@", _SPSS_WORDS, 64, lambda text: len(text.encode()), str.lower, 255),
}


class _Variable(NamedTuple):
    cells: pd.Series[Any]
    labels: dict[Any, str]
    title: str
    form: str = ""
    measure: str = ""
    missing: Sequence[Any] = ()
    width: int = 0
    kind: str = ""  # the stored type


def write_sav(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Write columns as an SPSS file (see :func:`microagg.tables.write_table`)."""
    optional_import("pyreadstat", "statistics", f"writing {name!r}", "choose .csv")
    variables = {}
    for final, full in zip(file_names(list(columns), ".sav"), columns, strict=True):
        column = lossless.as_exact(lossless.plain_column(columns[full]))
        labels: dict[Any, str] = {}
        form = measure = ""
        if lossless.is_category(column) and any(len(text.encode()) > _MAX_LABEL for text in column.cat.categories):
            column = lossless.as_text(column)
        if lossless.is_category(column):
            measure = "ordinal" if column.cat.ordered else "nominal"
            column, labels = _as_codes(column)
        if lossless.is_date(column):
            form = "DATE11" if lossless.is_midnight(column) else "DATETIME23.3"
            # pyreadstat misreads other units than microseconds and nanoseconds.
            cells = column.astype("datetime64[us]")
        elif lossless.is_text(column):
            cells = lossless.as_text(column)
        else:
            lossless.check_finite_numbers(column, full, ".sav")
            cells = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
            if not is_float_dtype(column.dtype):
                longest = max((len(f"{number:.0f}") for number in cells.dropna()), default=1)
                form = f"F{longest}.0"
        variables[final] = _Variable(cells, labels, full if full != final else "", form, measure)
    return _sav_bytes(variables)


def _sav_bytes(variables: Mapping[str, _Variable]) -> bytes:
    """Write an SPSS file with a constant time of writing."""
    pyreadstat = optional_import("pyreadstat", "statistics", "writing a file of SPSS", "choose .csv")
    options: dict[str, dict[str, Any]] = {
        option: {name: value for name, variable in variables.items() if (value := getattr(variable, part))}
        for option, part in (
            ("column_labels", "title"),
            ("variable_value_labels", "labels"),
            ("missing_ranges", "missing"),
            ("variable_measure", "measure"),
            ("variable_format", "form"),
            ("variable_display_width", "width"),
        )
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        table = pd.DataFrame({name: variable.cells for name, variable in variables.items()})
        pyreadstat.write_sav(table, str(path), **options)
        data = bytearray(path.read_bytes())
    data[_STAMP] = _SPSS_TIME
    return bytes(data)


def write_dta(columns: Mapping[str, pd.Series[Any]]) -> bytes:
    """Write columns as a file of Stata 14 (see :func:`microagg.tables.write_table`)."""
    if len(columns) > MAX_VARIABLES:
        raise DataError(
            f"the table has {len(columns):,} columns, and a Stata file holds {MAX_VARIABLES:,}: "
            "choose .csv or .parquet."
        )
    variables = {}
    dates = {}
    for final, full in zip(file_names(list(columns), ".dta"), columns, strict=True):
        column = lossless.as_exact(lossless.plain_column(columns[full]), lossless.EXACT_WHOLE - 1)
        labels: dict[Any, str] = {}
        if lossless.is_category(column) and sum(len(text.encode()) + 1 for text in column.cat.categories) > _MAX_LABELS:
            column = lossless.as_text(column)
        if lossless.is_category(column):
            column, labels = _as_codes(column)
        elif lossless.is_text(column):
            # pandas refuses a column of missing values.
            column = lossless.as_text(column).fillna("")
        elif lossless.is_date(column):
            dates[final] = "td" if lossless.is_midnight(column) else "tc"
        else:
            lossless.check_finite_numbers(column, full, ".dta", _MAX_DOUBLE)
            # Types that pandas narrows to one of Stata's without losing a digit.
            if is_bool_dtype(column.dtype):
                column = column.astype("boolean").astype("Int8")
            elif is_integer_dtype(column.dtype):
                column = column.astype("Int64" if column.isna().any() else np.int64)
            elif column.dtype != np.float32 or (column.abs() >= _MAX_FLOAT).any():
                column = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
        variables[final] = _Variable(column, labels, full if full != final else "")
    return _dta_bytes(variables, {}, dates)


def rewritten(
    frame: pd.DataFrame,
    source: Source,
    original: pd.DataFrame,
    rows: IntArray,
    same: Collection[str],
    origins: Mapping[str, str],
) -> bytes | None:
    """Write ``frame``, made from ``original``, the table of a Stata or SPSS file ``source``, as such a file.

    Names, labels, formats, missing codes and the values of columns in ``same`` are those of the source. ``rows`` are
    the positions of the records in ``original``; ``of`` has the original column of each column. None if one of these is
    not in the source.
    """
    is_stata = _is_stata(source.data)
    parsed = _parse(source.data, source.name, original.size + 1, is_stata, "stored")
    stored: dict[str, _Variable] = {}
    for name in parsed["names"]:
        parts = [parsed[part].get(name) for part in ("labels", "titles", "formats", "measures", "missing", "widths")]
        labels, title, form, measure, missing, width = parts
        # Numbers and texts, including user-missing values; those of Stata are letters.
        cells = pd.Series(parsed["columns"].pop(), dtype=object if parsed["types"][name] == "string" else None)
        single = [interval["lo"] if interval["lo"] == interval["hi"] else interval for interval in missing or []]
        measure, kind = measure or "unknown", str(parsed["types"][name])
        stored[name] = _Variable(cells, labels or {}, title or "", form or "", measure, single, width or 8, kind)
    if not {origins[name] for name in frame.columns} <= set(stored):
        return None
    variables = {}
    for name in frame.columns:
        variable = stored[origins[name]]
        values: pd.Series[Any] | None = variable.cells.iloc[rows]
        if name not in same:
            values = _stored_values(frame[name], original[origins[name]], variable, is_stata)
        if values is None:  # the replacements of categories are texts
            variable = variable._replace(labels={}, missing=[], form="", measure="nominal", kind="string")
            values = lossless.as_text(lossless.plain_column(frame[name])).astype(object)
        # The label of a code without records could reveal records that are left out.
        codes = set(values.dropna())
        labels = {code: text for code, text in variable.labels.items() if code in codes}
        cells = values.fillna("") if variable.kind == "string" else values
        variables[name] = variable._replace(cells=cells.reset_index(drop=True), labels=labels)
    return _with_letters(variables) if is_stata else _sav_bytes(variables)


def _stored_values(
    series: pd.Series[Any], original: pd.Series[Any], column: _Variable, is_stata: bool
) -> pd.Series[Any] | None:
    """Stored values of the replacements for a column. None if a number is stored and a text is needed."""
    if lossless.is_date(series):
        days = series.to_numpy().astype("M8[s]")
        seconds = (days - (np.datetime64("1960-01-01") if is_stata else _DAY_ZERO).astype("M8[s]")).astype(np.float64)
        unit = {"d": 86_400.0, "c": 1e-3}.get(column.form.removeprefix("%").removeprefix("t")[:1]) if is_stata else 1.0
        return None if unit is None or column.kind == "string" else pd.Series(seconds / unit)
    if is_float_dtype(series.dtype) or is_integer_dtype(series.dtype):
        return None if column.kind == "string" else pd.Series(series.to_numpy(dtype=np.float64, na_value=np.nan))
    codes = dict(zip(original.astype(object), column.cells, strict=True))
    if not set(series.astype(object)) <= set(codes):
        return None
    return pd.Series([codes[value] for value in series.astype(object)], dtype=column.cells.dtype)


def _with_letters(variables: Mapping[str, _Variable]) -> bytes:
    """Write a Stata file of variables whose missing values are letters."""
    letters = {name: column.cells.map(_LETTERS) for name, column in variables.items() if column.kind != "string"}
    # Whole numbers have 8, 16 or 32 bits, and others 32 or 64.
    types: dict[str, Any] = {"int8": "Int8", "int16": "Int16", "int32": "Int32", "float": "float32"}
    typed = {}
    for name, column in variables.items():
        cells = column.cells
        if name in letters:
            numbers = pd.to_numeric(cells.where(letters[name].isna()))
            whole = column.kind.startswith("int") and bool((numbers.dropna() % 1 == 0).all())
            fits = column.kind in types and (column.kind == "float" or whole)
            cells = numbers.astype(types[column.kind] if fits else np.float64)
        labels = {
            _MISSING_CODES + _LETTERS[code] if isinstance(code, str) else int(code): text
            for code, text in column.labels.items()
        }
        typed[name] = column._replace(cells=cells, labels=labels)
    return _dta_bytes(typed, letters, {})


def _dta_bytes(
    variables: Mapping[str, _Variable], letters: Mapping[str, pd.Series[Any]], dates: Mapping[Any, Any]
) -> bytes:
    """Write a Stata file. ``letters`` are the missing values .a to .z of each variable, ``dates`` its date formats."""
    # By pandas: pyreadstat writes the time, has no floats of 32 bits, and whole numbers of at least 32 bits.
    from pandas.io.stata import StataWriterUTF8  # type: ignore[attr-defined]

    class Writer(StataWriterUTF8):  # type: ignore[misc]
        def _replace_nans(self, data: pd.DataFrame) -> pd.DataFrame:
            data = super()._replace_nans(data)
            for name, letter in letters.items():
                rows = np.flatnonzero(letter.notna())
                if len(rows):
                    cells = data[name].to_numpy(copy=True)
                    bits, step = _ABSENT[cells.dtype.name]
                    codes = bits + step * letter.iloc[rows].to_numpy(dtype=np.int64)
                    cells[rows] = codes.astype(f"i{cells.itemsize}").view(cells.dtype)
                    data[name] = cells
            return data

        def _set_formats_and_types(self, dtypes: Any) -> None:
            super()._set_formats_and_types(dtypes)
            for index, variable in enumerate(variables.values()):
                self.fmtlist[index] = variable.form or self.fmtlist[index]

    long_texts = [
        name
        for name, variable in variables.items()
        if lossless.is_text(variable.cells)
        and any(4 * len(text) > _MAX_FIXED and len(text.encode()) > _MAX_FIXED for text in variable.cells)
    ]
    stream = io.BytesIO()
    Writer(
        stream,
        pd.DataFrame({name: variable.cells for name, variable in variables.items()}),
        write_index=False,
        version=118,
        time_stamp=_STATA_TIME,
        convert_dates=dates,
        convert_strl=long_texts,
        value_labels={name: variable.labels for name, variable in variables.items() if variable.labels},
        variable_labels={name: variable.title for name, variable in variables.items() if variable.title},
    ).write_file()
    return stream.getvalue()


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Names of the columns ``names`` in a file with this ending, in the same order.

    A name gets ``v_`` before it if the program does not allow its first character, or it is a reserved word, or only
    ``_``. If two names become the same, the later one gets ``_2``, ``_3`` and so on at its end; allowed names are never
    changed. DataError if a changed name is too long for the label that keeps it.
    """
    rule = _RULES.get(ending)
    if rule is None:
        return list(names)
    fitted = [_fit(name, rule) for name in names]
    # Allowed names come first, so that no changed name replaces one of them.
    taken = {rule.key(name) for name, fitted_name in zip(names, fitted, strict=True) if name == fitted_name}
    used: set[str] = set()
    finals = []
    for name, final in zip(names, fitted, strict=True):
        if name == final and rule.key(name) not in used:
            used.add(rule.key(name))
        else:
            number, stem = 1, final
            while rule.key(final) in taken:
                number += 1
                final = f"{_cut(stem, rule.most - len(f'_{number}'), rule)}_{number}"
            taken.add(rule.key(final))
            if rule.size(name) > rule.label:
                unit = "characters" if rule.size is len else "bytes"
                raise DataError(
                    f"column {name[:40] + '…'!r} is called {final!r} in {ending} files, and its full name is longer "
                    f"than the {rule.label} {unit} of a label in {rule.program}: give it a shorter name first."
                )
        finals.append(final)
    return finals


def _fit(name: str, rule: _Rule) -> str:
    fit = "".join(c if _is_letter(c) or c in "0123456789" or c in rule.others else "_" for c in name)
    starts = fit.strip("_") and (_is_letter(fit[0]) or fit[0] in rule.firsts)
    # Stata's own types of text are str1 to str2045.
    is_type = rule.program == "Stata" and fit[:3] == "str" and fit[3:].isdigit()
    fit = _cut(fit if starts and not is_type and rule.key(fit) not in rule.reserved else f"v_{fit}", rule.most, rule)
    # SPSS reads a full stop at the end as the end of a command.
    return f"{fit[:-1]}_" if fit.endswith(".") else fit


def _is_letter(character: str) -> bool:
    return character.isalpha() and (character.isascii() or ord(character) >= 192)


def _cut(name: str, max_size: int, rule: _Rule) -> str:
    while rule.size(name) > max_size:
        name = name[:-1]
    return name
