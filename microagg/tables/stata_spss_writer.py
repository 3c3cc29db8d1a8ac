"""Tables to SPSS and Stata files, and tables read from one written as the file was.

Names that a program does not allow are changed and kept as labels; labels that are too long are cut, with notices (both
by :mod:`microagg.tables.limits`). No file has the time of writing.
"""

from __future__ import annotations

import datetime as dt
import io
import itertools
import re
import struct
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from microagg.errors import DataError, MicroaggError
from microagg.tables import limits, lossless
from microagg.tables.limits import LIMITS, PROGRAMS
from microagg.tables.notices import Notice, Rewriting, Written
from microagg.tables.stata_spss import (
    DAY_ZERO,
    GAP,
    MISSING_CODES,
    code_text,
    is_stata,
    means_no_value,
    parse_file,
    with_kinds,
)
from microagg.validation import counted, listing, optional_import, shortened

# The missing values .a to .z of Stata, and the stored value of ``.`` in each of its types with the step to the next.
_LETTERS = {letter: place for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz", start=1)}
_ABSENT = {
    "int8": (101, 1),
    "int16": (32_741, 1),
    "int32": (2_147_483_621, 1),
    "float32": (0x7F000000, 0x800),
    "float64": (0x7FE0000000000000, 1 << 40),
}

# SPSS has at most three single codes for missing values, or a range.
_MOST_SINGLE = 3

# Two files of one table should be equal, so their times of writing are constant; in SPSS at these bytes.
_STAMP, _SPSS_TIME, _STATA_TIME = slice(92, 109), b"01 Jan 8000:00:00", dt.datetime(1980, 1, 1)

# A text that may name a person: an address, a folder of a user, or two capitalized words after a word such as "by".
_PERSONAL = re.compile(
    r"\S@\S+\.\w|[\\/](?i:users|home)[\\/]|\b(?i:by|author|contact|interviewer|[dm]rs?|ms|prof|name)\b[.:]?\s+[^\W\d_a-z]"
)

# A value of a column that is left out counts as a name in a note if it has so many characters.
_MIN_NAME = 3


class _Variable(NamedTuple):
    """A column as a file of Stata or SPSS stores it."""

    cells: pd.Series[Any]
    labels: dict[Any, str]
    title: str
    form: str = ""
    measure: str = ""
    missing: Sequence[tuple[Any, Any]] = ()  # declared ranges of missing codes, in SPSS
    width: int = 0
    kind: str = ""  # the stored type
    letters: pd.Series[Any] | None = None  # numbers of the missing values .a to .z of Stata, NaN for others


class _About(NamedTuple):
    """What a file says of itself."""

    label: str = ""
    notes: Sequence[str] = ()


def write_statistics(columns: Mapping[str, pd.Series[Any]], name: str) -> tuple[bytes, list[Notice]]:
    """Write columns as a file of SPSS or Stata 14 (see :func:`microagg.tables.write_table`)."""
    ending = ".dta" if name.lower().endswith(".dta") else ".sav"
    variables = {}
    for final, full in zip(limits.file_names(list(columns), ending), columns, strict=True):
        variables[final] = _of_column(columns[full], full if full != final else "", ending)
    return _file_of(variables, ending, name, _About())


def _of_column(series: pd.Series[Any], title: str, ending: str) -> _Variable:
    """A column without a variable of a file, with codes from 1 for categories."""
    column, labels, measure = limits.exact(lossless.plain_column(series), ending), {}, ""
    if lossless.is_category(column):
        names, most = list(column.cat.categories), LIMITS[ending].get("labelled values")
        if any(limits.exceeds(text, ending, "value label") for text in names) or (most and len(names) > most.most):
            column = lossless.as_text(column)
        else:
            measure = "ordinal" if column.cat.ordered else "nominal"
            column = column.cat.remove_categories([""]) if "" in names else column
            labels = dict(enumerate(map(str, column.cat.categories), start=1))
            codes = pd.Series(column.cat.codes.to_numpy().astype(np.int32) + 1)
            column = codes.astype("Int32").mask(codes == 0)
    return (_for_stata if ending == ".dta" else _for_spss)(_Variable(column, labels, title, measure=measure))


def _for_spss(variable: _Variable) -> _Variable:
    """A variable with cells that pyreadstat writes without loss, and its format."""
    column, form = variable.cells, ""
    if lossless.is_date(column):
        form = "DATE11" if lossless.is_midnight(column) else "DATETIME23.3"
        # pyreadstat misreads other units than microseconds and nanoseconds.
        cells = column.astype("datetime64[us]")
    elif lossless.is_text(column):
        cells = lossless.as_text(column)
    else:
        cells = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if not is_float_dtype(column.dtype):
            longest = max((len(f"{number:.0f}") for number in cells.dropna()), default=1)
            form = f"F{longest}.0"
    return variable._replace(cells=cells, form=form)


def _for_stata(variable: _Variable) -> _Variable:
    """A variable with cells of types that pandas narrows to one of Stata's without losing a digit."""
    column = variable.cells
    if lossless.is_text(column):
        # pandas refuses a column of missing values.
        return variable._replace(cells=lossless.as_text(column).fillna(""))
    if lossless.is_date(column):
        return variable._replace(kind="td" if lossless.is_midnight(column) else "tc")
    if is_bool_dtype(column.dtype):
        column = column.astype("boolean").astype("Int8")
    elif is_integer_dtype(column.dtype):
        column = column.astype("Int64" if column.isna().any() else np.int64)
    elif column.dtype != np.float32 or (column.abs() >= LIMITS[".dta"]["single number"].most).any():
        column = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return variable._replace(cells=column)


# --- as the original --------------------------------------------------------------------------------------------------


def rewritten(task: Rewriting, ending: str) -> Written | None:
    """Write a table made from a Stata or SPSS file with this ``ending``. None if a column is not in the source.

    Names, labels, codes and the values of unchanged columns are those of the source, and in a file of its kind also
    formats and missing values; so are the label of the file and its notes, unless they may name a person. Kinds of
    missing values become those of the other kind of file, with notices. The category of missing values becomes the next
    free code. Replaced columns that are measured lose the labels of missing values: a mean may be 99, which is not
    "don't know".
    """
    frame, source, original, origins = task.frame, task.source, task.original, task.origins
    source_ending = ".dta" if is_stata(source.data) else ".sav"
    is_alike = source_ending == ending
    parsed = parse_file(source.data, source.name, original.size + 1)
    about, notices = impersonal(parsed, task)
    stored = _stored(parsed)
    if not {origins[name] for name in frame.columns} <= set(stored):
        return None
    # Names that the program would not allow are those of a source of its kind, unless they are too long.
    names = list(frame.columns)
    renamed = {
        name: final
        for name, final in zip(names, limits.file_names(names, ending), strict=True)
        if name != final and not (is_alike and not limits.exceeds(name, ending, "name"))
    }
    variables: dict[str, _Variable] = {}
    for name in names:
        variable = stored[origins[name]]
        if name in task.unchanged:
            variable = variable._replace(cells=variable.cells.iloc[task.rows])
        else:
            variable = _replaced(frame[name], with_kinds(original, origins[name]), variable, source_ending)
        # The label of a code without records could reveal records that are left out.
        codes, is_mean = set(variable.cells.dropna()), name in task.measured and name not in task.unchanged
        of_codes = {code: text for code, text in variable.labels.items() if code in codes}
        labels = {code: text for code, text in of_codes.items() if not (is_mean and means_no_value(text))}
        if is_mean and _is_missing_code(variable).any():
            variable = variable._replace(missing=())
        cells = variable.cells.fillna("") if variable.kind == "string" else variable.cells
        title = variable.title or (name if name in renamed else "")
        variable = variable._replace(cells=cells.reset_index(drop=True), labels=labels, title=title)
        if not is_alike:
            variable, further = _of_other_kind(variable, frame[name], original[origins[name]], ending)
            notices += further
        elif ending == ".dta":
            variable = _with_letters(variable)
        variables[renamed.get(name, name)] = variable
    data, cuts = _file_of(variables, ending, source.name, about)
    return Written(data, renamed=renamed, notices=[*notices, *cuts])


def _stored(parsed: dict[str, Any]) -> dict[str, _Variable]:
    """Variables of a file; user-missing values of Stata are letters."""
    stored: dict[str, _Variable] = {}
    for name in parsed["names"]:
        parts = [parsed[part].get(name) for part in ("labels", "titles", "formats", "measures", "missing", "widths")]
        labels, title, form, measure, missing, width = parts
        kind = str(parsed["types"][name])
        cells = pd.Series(parsed["columns"].pop(), dtype=object if kind == "string" else None)
        spans = [(interval["lo"], interval["hi"]) for interval in missing or []]
        measure = measure or "unknown"
        stored[name] = _Variable(cells, labels or {}, title or "", form or "", measure, spans, width or 8, kind)
    return stored


def impersonal(parsed: Mapping[str, Any], task: Rewriting) -> tuple[_About, list[Notice]]:
    """The label and the notes of a file that name nobody, as far as patterns and columns that are left out tell."""
    left_out = task.original.drop(columns=list(set(task.origins.values()) & set(task.original.columns)))
    values = {str(value).casefold() for name in left_out for value in left_out[name].dropna().unique()}
    names = {value for value in values if len(value) >= _MIN_NAME}

    def is_impersonal(text: str) -> bool:
        return not _PERSONAL.search(text) and not any(name in text.casefold() for name in names)

    label, notes = str(parsed.get("label") or ""), [note for note in parsed.get("notes") or () if note.strip()]
    retained, notices = list(filter(is_impersonal, notes)), []
    if retained:
        text = f"the file has {counted(len(retained), 'note')} of the original: make sure that these name no person."
        notices.append(Notice("notes", text))
    if gone := [text for text in (label, *notes) if text and not is_impersonal(text)]:
        texts = counted(len(gone), "text")
        text = f"{texts} of the original (a label, note or sheet name) may name a person: not written."
        notices.append(Notice("personal-notes", text))
    return _About(label if is_impersonal(label) else "", retained), notices


def _replaced(series: pd.Series[Any], original: pd.Series[Any], variable: _Variable, ending: str) -> _Variable:
    """The variable with stored values of the replacements ``series``; with texts where it stores numbers."""
    is_text = variable.kind == "string"
    as_texts = variable._replace(labels={}, missing=(), form="", measure="nominal", kind="string")
    as_texts = as_texts._replace(cells=lossless.as_text(lossless.plain_column(series)).astype(object))
    if lossless.is_date(series):
        zero, days = DAY_ZERO if ending == ".sav" else np.datetime64("1960-01-01"), series.to_numpy().astype("M8[s]")
        seconds = (days - zero.astype("M8[s]")).astype(np.float64)
        is_clock, form = variable.form.lstrip("%-").startswith("tc"), variable.form
        unit = 1.0 if ending == ".sav" else 1e-3 if is_clock else 86_400.0
        if ending == ".dta" and not re.match(r"%-?(tc|td|d)", form):
            form = "%td"  # the mean of months is a day
        return as_texts if is_text else variable._replace(cells=pd.Series(seconds / unit), form=form)
    if is_float_dtype(series.dtype) or is_integer_dtype(series.dtype):
        numbers = pd.Series(series.to_numpy(dtype=np.float64, na_value=np.nan))
        # A number such as a year would be shown as a day in the format of dates.
        form = "" if any(isinstance(value, dt.date) for value in original) else variable.form
        return as_texts if is_text else variable._replace(cells=numbers, form=form)
    # Numbers beside the category of missing values are texts.
    present = original.notna().to_numpy()
    of_value = zip(original[present].astype(object), variable.cells[present], strict=True)
    codes: dict[Any, Any] = {code_text(value): code for value, code in of_value}
    texts = [None if absent else code_text(cell) for cell, absent in zip(series, series.isna(), strict=True)]
    if GAP in texts and GAP not in codes:
        variable, codes[GAP] = _with_gap(variable, set(codes.values()))
    if not set(texts) <= {None, *codes}:
        return as_texts
    cells = [None if text is None else codes[text] for text in texts]
    return variable._replace(cells=pd.Series(cells, dtype=variable.cells.dtype))


def _with_gap(variable: _Variable, codes: Collection[Any]) -> tuple[_Variable, Any]:
    """A variable with a further code for missing values, which has the label :data:`GAP`, and this code."""
    code: Any = GAP
    if variable.kind != "string":
        numbers = [each for each in (*codes, *variable.labels) if not isinstance(each, str)]
        valid = [each for each in numbers if not any(low <= each <= high for low, high in variable.missing)]
        code = float(_free_code(valid, variable.missing))
        measure = variable.measure.replace("scale", "nominal")  # or a reader takes the code for a quantity
        variable = variable._replace(labels=variable.labels | {code: GAP}, measure=measure)
    # Formats of texts and of whole numbers get room for it.
    if parts := re.fullmatch(r"(A|F|%-?)(\d+)(|s|\.0)", variable.form):
        width = max(int(parts[2]), len(code_text(code)))
        variable = variable._replace(form=f"{parts[1]}{width}{parts[3]}")
    return variable, code


def _free_code(used: Collection[float], missing: Sequence[tuple[Any, Any]]) -> int:
    """The first whole number above the ``used`` codes that no range of ``missing`` has, or below if all above have."""
    ranges = [(low, high) for low, high in missing if not isinstance(low, str)]
    top, bottom = int(np.floor(max(used, default=0))), int(np.ceil(min(used, default=0)))
    free = itertools.chain(range(top + 1, top + 1_000), itertools.count(bottom - 1, -1))
    return next(code for code in free if not any(low <= code <= high for low, high in ranges))


def _is_missing_code(variable: _Variable) -> NDArray[np.bool_]:
    """Which cells of a variable are declared missing: letters among the numbers of Stata, or codes of SPSS."""
    cells = variable.cells
    if variable.kind != "string" and cells.dtype == object:
        return np.array([isinstance(cell, str) for cell in cells], dtype=np.bool_)
    within = [cells.between(*ends).to_numpy(dtype=np.bool_) for ends in variable.missing]
    return np.logical_or.reduce([np.zeros(len(cells), dtype=np.bool_), *within])


def _with_letters(variable: _Variable) -> _Variable:
    """A variable of Stata whose missing values are letters, with cells of its type."""
    if variable.kind == "string":
        return variable
    # Whole numbers have 8, 16 or 32 bits, and others 32 or 64.
    types: dict[str, Any] = {"int8": "Int8", "int16": "Int16", "int32": "Int32", "float": "float32"}
    letters = variable.cells.map(_LETTERS)
    numbers = pd.to_numeric(variable.cells.where(letters.isna()))
    fits = variable.kind == "float"
    if variable.kind.startswith("int"):
        limits_of_type, present = np.iinfo(variable.kind), numbers.dropna()
        fits = bool(((present % 1 == 0) & present.between(limits_of_type.min, limits_of_type.max)).all())
    labels = {
        MISSING_CODES + _LETTERS[code] if isinstance(code, str) else int(code): text
        for code, text in variable.labels.items()
    }
    cells = numbers.astype(types[variable.kind] if fits else np.float64)
    return variable._replace(cells=cells, labels=labels, letters=letters, kind="")


def _of_other_kind(
    variable: _Variable, series: pd.Series[Any], original: pd.Series[Any], ending: str
) -> tuple[_Variable, list[Notice]]:
    """A variable of SPSS for a file of Stata, or the other way round, with notices of what is not as it was.

    Numbers keep codes and labels; a kind of missing values becomes one of the other program. Dates, and codes that
    Stata cannot label, are those of ``series``, the released column; ``original`` is the column of the file.
    """
    to_stata, program, column = ending == ".dta", PROGRAMS[ending], str(series.name)
    is_category, is_code, labels = lossless.is_category(original), _is_missing_code(variable), variable.labels
    point = "" if to_stata else "."
    kinds = {code: labels.get(code) or f"{point}{code_text(code)}" for code in sorted(set(variable.cells[is_code]))}
    names = listing([repr(shortened(name, 30)) for name in kinds.values()], 4)
    example = min(kinds.values(), default="")
    is_number = variable.kind != "string" and (is_category or is_numeric_dtype(original))
    fits = is_number and all(code in kinds or (code % 1 == 0 and abs(code) < MISSING_CODES) for code in labels)
    if not fits or (to_stata and len(kinds) > len(_LETTERS)):
        is_text = variable.kind == "string" and not is_category and not labels
        become = "are texts like others" if is_text else "have no kind"
        text = f"column {column!r}: the missing values {names} {become} in {program}."
        is_lost = bool(kinds) and series.isna().any()
        notices = [Notice("kinds-left-out", text, column=column, example=example)] if is_lost else []
        if is_number:
            text = f"column {column!r}: its codes count from 1, as {program} cannot have all of them."
            notices.append(Notice("renumbered", text, column=column))
        return _of_column(variable.cells if is_text else series, variable.title, ending), notices
    numbers = pd.to_numeric(variable.cells.where(~is_code)).astype(np.float64)
    first = _free_code([*numbers.dropna(), *(code for code in labels if not isinstance(code, str))], ())
    places = _LETTERS if to_stata else [float(first + i) for i in range(len(kinds))]
    codes: dict[Any, Any] = dict(zip(kinds, places, strict=False))
    new = listing([f".{code}" if to_stata else code_text(code) for code in codes.values()], 4)
    text = f"column {column!r}: the missing values {names} become {new}."
    notices = [Notice("kinds-of-missing", text, column=column, example=example)] if kinds else []
    cells = numbers.astype(object).mask(is_code, variable.cells.map(codes))
    labels = {codes.get(code, code): text for code, text in (labels | kinds).items()}
    if to_stata:
        has_whole = is_category or re.fullmatch(r"[FN]\d+(\.0)?", variable.form) is not None
        kind = "int32" if has_whole and not (numbers.abs() >= MISSING_CODES).any() else "double"
        return _with_letters(_Variable(cells, labels, variable.title, kind=kind)), notices
    measure = "" if not is_category else "ordinal" if original.cat.ordered else "nominal"
    missing = [(code, code) for code in codes.values()]
    if len(missing) > _MOST_SINGLE:
        missing = [(missing[0][0], missing[-1][0])]
    is_whole = variable.kind.startswith("int") and bool((numbers.dropna() % 1 == 0).all())
    cells = cells.astype(np.float64).astype("Int64" if is_whole else np.float64)
    return _for_spss(_Variable(cells, labels, variable.title, measure=measure, missing=missing)), notices


# --- bytes ------------------------------------------------------------------------------------------------------------


def _file_of(variables: dict[str, _Variable], ending: str, name: str, about: _About) -> tuple[bytes, list[Notice]]:
    """Bytes of a file, and notices of the labels that were cut."""
    notices: list[Notice] = []

    def fit(column: str, what: str, texts: Sequence[str]) -> list[str]:
        fitted = [limits.cut(text, ending, what) for text in texts]
        if long := [text for text, short in zip(texts, fitted, strict=True) if text != short]:
            notices.append(limits.cut_notice(column, ending, what, long))
        return fitted

    for column, variable in variables.items():
        [title] = fit(column, "variable label", [variable.title])
        texts = fit(column, "value label", list(variable.labels.values()))
        labels = dict(zip(variable.labels, texts, strict=True))
        variables[column] = variable._replace(labels=labels, title=title)
    [label] = fit("", "file label", [about.label])
    about = about._replace(label=label)
    try:
        data = _dta_bytes(variables, about) if ending == ".dta" else _sav_bytes(variables, about, name)
    except MicroaggError:
        raise
    except Exception as error:  # pandas and pyreadstat let through whatever their parts raise
        raise DataError(f"this table cannot be written as {ending} ({error}): choose .csv or .parquet.") from None
    return data, notices


def _sav_bytes(variables: Mapping[str, _Variable], about: _About, name: str) -> bytes:
    """Write an SPSS file with a constant time of writing."""
    pyreadstat = optional_import("pyreadstat", "statistics", f"writing {name!r}", "choose .csv")

    def given(part: str) -> dict[str, Any]:
        return {name: value for name, variable in variables.items() if (value := getattr(variable, part))}

    missing = {
        name: [low if low == high else {"lo": low, "hi": high} for low, high in spans]
        for name, spans in given("missing").items()
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        pyreadstat.write_sav(
            pd.DataFrame({name: variable.cells for name, variable in variables.items()}),
            str(path),
            file_label=about.label,
            note=list(about.notes) or None,
            column_labels=given("title"),
            variable_value_labels=given("labels"),
            missing_ranges=missing,
            variable_measure=given("measure"),
            variable_format=given("form"),
            variable_display_width=given("width"),
        )
        data = bytearray(path.read_bytes())
    data[_STAMP] = _SPSS_TIME
    return bytes(data)


def _dta_bytes(variables: Mapping[str, _Variable], about: _About) -> bytes:
    """Write a Stata file of version 118."""
    # By pandas: pyreadstat writes the time, has no floats of 32 bits, and whole numbers of at least 32 bits.
    from pandas.io.stata import StataWriterUTF8  # type: ignore[attr-defined]

    class Writer(StataWriterUTF8):  # type: ignore[misc]
        def _check_column_names(self, data: pd.DataFrame) -> pd.DataFrame:
            # They are fitted already, and names of a file of Stata stay, which pandas would change.
            self._converted_names: dict[Any, str] = {}
            return data

        def _replace_nans(self, data: pd.DataFrame) -> pd.DataFrame:
            data = super()._replace_nans(data)
            for name, variable in variables.items():
                if variable.letters is not None and len(rows := np.flatnonzero(variable.letters.notna())):
                    cells = data[name].to_numpy(copy=True)
                    bits, step = _ABSENT[cells.dtype.name]
                    codes = bits + step * variable.letters.iloc[rows].to_numpy(dtype=np.int64)
                    cells[rows] = codes.astype(f"i{cells.itemsize}").view(cells.dtype)
                    data[name] = cells
            return data

        def _set_formats_and_types(self, dtypes: Any) -> None:
            super()._set_formats_and_types(dtypes)
            for index, variable in enumerate(variables.values()):
                self.fmtlist[index] = variable.form or self.fmtlist[index]

        def _write_characteristics(self) -> None:
            self._update_map("characteristics")
            notes = [str(len(about.notes)), *about.notes] if about.notes else []
            parts = b"".join(itertools.starmap(_characteristic, enumerate(notes)))
            self._write_bytes(self._tag(parts, "characteristics"))

    texts = {name: variable.cells for name, variable in variables.items() if lossless.is_text(variable.cells)}
    long_texts = [
        name for name, cells in texts.items() if any(limits.exceeds(text, ".dta", "fixed text") for text in cells)
    ]
    stream = io.BytesIO()
    Writer(
        stream,
        pd.DataFrame({name: variable.cells for name, variable in variables.items()}),
        write_index=False,
        version=118,
        time_stamp=_STATA_TIME,
        data_label=about.label,
        convert_dates={name: variable.kind for name, variable in variables.items() if variable.kind in ("td", "tc")},
        convert_strl=long_texts,
        value_labels={name: variable.labels for name, variable in variables.items() if variable.labels},
        variable_labels={name: variable.title for name, variable in variables.items() if variable.title},
    ).write_file()
    return stream.getvalue()


def _characteristic(number: int, note: str) -> bytes:
    """A note on a file of Stata (Stata's help dta, section 5.8)."""
    body = b"_dta".ljust(129, b"\0") + f"note{number}".encode().ljust(129, b"\0") + note.encode() + b"\0"
    return b"<ch>" + struct.pack("<I", len(body)) + body + b"</ch>"
