"""Tables to SPSS and Stata files, and tables read from one written as the file was.

Names that a program does not allow are changed (:mod:`microagg.tables.variable_names`) and kept as labels; labels that
are too long are cut, with notices (:mod:`microagg.tables.limits`). No file has the time of writing.
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
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from microagg.errors import DataError, MicroaggError
from microagg.tables import limits, lossless
from microagg.tables.limits import LIMITS
from microagg.tables.notices import Notice, Source
from microagg.tables.stata_spss import DAY_ZERO, MISSING_CODES, code_text, is_stata, parse
from microagg.tables.value_labels import means_no_value
from microagg.tables.variable_names import file_names
from microagg.validation import IntArray, counted, optional_import

# The missing values .a to .z of Stata; the stored value of ``.`` in each of its types, and the step between them.
_LETTERS = {letter: place for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz", start=1)}
_ABSENT = {
    "int8": (101, 1),
    "int16": (32_741, 1),
    "int32": (2_147_483_621, 1),
    "float32": (0x7F000000, 0x800),
    "float64": (0x7FE0000000000000, 1 << 40),
}

# Two files of one table should be equal, so their times of writing are constant; in SPSS at these bytes.
_STAMP, _SPSS_TIME, _STATA_TIME = slice(92, 109), b"01 Jan 8000:00:00", dt.datetime(1980, 1, 1)

# A text that may name a person: an address, a folder of a user, or two capitalized words after a word such as "by".
_PERSONAL = re.compile(
    r"\S@\S+\.\w|[\\/](?i:users|home)[\\/]|\b(?i:by|author|contact|interviewer|[dm]rs?|ms|prof|name)\b[.:]?\s+[^\W\d_a-z]"
)

# A value of a column that is left out counts as a name in a note if it has so many characters.
_MIN_NAME = 3


class Variable(NamedTuple):
    """A column as a file of Stata or SPSS stores it."""

    cells: pd.Series[Any]
    labels: dict[Any, str]
    title: str
    form: str = ""
    measure: str = ""
    missing: Sequence[Any] = ()
    width: int = 0
    kind: str = ""  # the stored type
    letters: pd.Series[Any] | None = None  # numbers of the missing values .a to .z of Stata, NaN for others


class Rewritten(NamedTuple):
    """A written file, notices of what is not as it was, and new names of columns."""

    data: bytes
    notices: list[Notice]
    renamed: dict[str, str]


def write_statistics(
    columns: Mapping[str, pd.Series[Any]], name: str, titles: Mapping[str, str], coded: Mapping[str, str]
) -> tuple[bytes, list[Notice]]:
    """Write columns as a file of SPSS or Stata 14 (see :func:`microagg.tables.write_table`).

    ``titles`` are labels of columns. Columns of ``coded`` are numbers written as text, and a text for missing values:
    they become numbers again, and that text the label of a code.
    """
    ending = ".dta" if name.lower().endswith(".dta") else ".sav"
    variables = {}
    for final, full in zip(file_names(list(columns), ending), columns, strict=True):
        column = limits.exact(lossless.plain_column(columns[full]), ending)
        labels: dict[Any, str] = {}
        measure = ""
        if full in coded:
            measure, (column, labels) = "nominal", _with_code(column, coded[full])
        if lossless.is_category(column) and _has_long_labels(list(column.cat.categories), ending):
            column = lossless.as_text(column)
        if lossless.is_category(column):
            measure = "ordinal" if column.cat.ordered else "nominal"
            column, labels = _as_codes(column)
        title = titles.get(full) or (full if full != final else "")
        variable = Variable(column, labels, title, measure=measure)
        variables[final] = (_for_stata if ending == ".dta" else _for_spss)(variable)
    return _file_of(variables, ending, name, _About())


def _has_long_labels(labels: Collection[str], ending: str) -> bool:
    most = LIMITS[ending].get("labelled values")
    is_long = any(limits.exceeds(text, ending, "value label") for text in labels)
    return is_long or (most is not None and len(labels) > most.most)


def _as_codes(series: pd.Series[Any]) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Categories as codes from 1 (Int32, missing for missing categories and empty names), and their labels."""
    if "" in series.cat.categories:
        series = series.cat.remove_categories("")
    codes = pd.Series(series.cat.codes.to_numpy().astype(np.int32) + 1)
    labels: dict[Any, str] = {code: str(name) for code, name in enumerate(series.cat.categories, start=1)}
    return codes.astype("Int32").mask(codes == 0), labels


def _with_code(texts: pd.Series[Any], gap: str) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Numbers written as text beside the text ``gap``, as numbers, and a new one with that label."""
    numbers = pd.to_numeric(texts.where(texts != gap)).astype(np.float64)
    code = _free_code(numbers.dropna(), ())
    numbers = numbers.mask(texts == gap, code)
    is_whole = bool((numbers.dropna() % 1 == 0).all())
    return numbers.astype("Int64") if is_whole else numbers, {code: gap}


def _free_code(used: Collection[float], missing: Sequence[Any]) -> int:
    """The first whole number above the ``used`` codes that no range of ``missing`` has, or below if all above have."""
    ranges = [(each["lo"], each["hi"]) if isinstance(each, dict) else (each, each) for each in missing]
    ranges = [(low, high) for low, high in ranges if not isinstance(low, str)]
    top, bottom = int(np.floor(max(used, default=0))), int(np.ceil(min(used, default=0)))
    above = range(top + 1, top + 1_000)
    free = (code for code in itertools.chain(above, itertools.count(bottom - 1, -1)))
    return next(code for code in free if not any(low <= code <= high for low, high in ranges))


def _for_spss(variable: Variable) -> Variable:
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


def _for_stata(variable: Variable) -> Variable:
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


def rewritten(
    frame: pd.DataFrame,
    source: Source,
    original: pd.DataFrame,
    rows: IntArray,
    same: Collection[str],
    origins: Mapping[str, str],
    gap: str,
    measured: Collection[str] = (),
) -> Rewritten | None:
    """Write ``frame``, made from ``original``, the table of a Stata or SPSS file ``source``, as such a file.

    Names, labels, formats, missing codes and the values of columns in ``same`` are those of the source; so are the
    label of the file and its notes, unless they may name a person. ``rows`` are the positions of the records in
    ``original``; ``origins`` has the original column of each column. A category ``gap`` of missing values becomes the
    next free code. Replaced columns in ``measured`` lose the labels of missing values: a mean may be 99, which is not
    "don't know". None if a column is not in the source.
    """
    from_stata = is_stata(source.data)
    ending = ".dta" if from_stata else ".sav"
    parsed = parse(source.data, source.name, original.size + 1, "stored")
    about = _impersonal(parsed, original.drop(columns=list(set(origins.values()) & set(original.columns))))
    stored = _stored(parsed)
    if not {origins[name] for name in frame.columns} <= set(stored):
        return None
    # Names that the program would not allow are those of the source, unless they are too long.
    names = list(frame.columns)
    fitted = dict(zip(names, file_names(names, ending), strict=True))
    renamed = {name: fitted[name] for name in names if limits.exceeds(name, ending, "name")}
    variables = {}
    for name in names:
        variable = stored[origins[name]]
        if name in same:
            variable = variable._replace(cells=variable.cells.iloc[rows])
        else:
            variable = _replaced(frame[name], original[origins[name]], variable, ending, gap)
        # The label of a code without records could reveal records that are left out.
        codes, is_mean = set(variable.cells.dropna()), name in measured and name not in same
        labels = {
            code: text
            for code, text in variable.labels.items()
            if code in codes and not (is_mean and means_no_value(text))
        }
        cells = variable.cells.fillna("") if variable.kind == "string" else variable.cells
        title = variable.title or (name if name in renamed else "")
        variables[renamed.get(name, name)] = variable._replace(
            cells=cells.reset_index(drop=True), labels=labels, title=title
        )
    if from_stata:
        variables = {name: _with_letters(variable) for name, variable in variables.items()}
    data, notices = _file_of(variables, ending, source.name, about)
    return Rewritten(data, [*about.notices, *notices], renamed)


def _stored(parsed: dict[str, Any]) -> dict[str, Variable]:
    """Variables of a file; user-missing values of Stata are letters."""
    stored: dict[str, Variable] = {}
    for name in parsed["names"]:
        parts = [parsed[part].get(name) for part in ("labels", "titles", "formats", "measures", "missing", "widths")]
        labels, title, form, measure, missing, width = parts
        cells = pd.Series(parsed["columns"].pop(), dtype=object if parsed["types"][name] == "string" else None)
        single = [interval["lo"] if interval["lo"] == interval["hi"] else interval for interval in missing or []]
        measure, kind = measure or "unknown", str(parsed["types"][name])
        stored[name] = Variable(cells, labels or {}, title or "", form or "", measure, single, width or 8, kind)
    return stored


class _About(NamedTuple):
    """What a file says of itself."""

    label: str = ""
    notes: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def _impersonal(parsed: Mapping[str, Any], left_out: pd.DataFrame) -> _About:
    """The label and the notes of a file that name nobody, as far as patterns and columns that are left out tell."""
    values = {str(value).casefold() for name in left_out for value in left_out[name].dropna().unique()}
    names = {value for value in values if len(value) >= _MIN_NAME}

    def is_impersonal(text: str) -> bool:
        return not _PERSONAL.search(text) and not any(name in text.casefold() for name in names)

    label, notes = str(parsed.get("label") or ""), [note for note in parsed.get("notes") or () if note.strip()]
    retained = [note for note in notes if is_impersonal(note)]
    notices = []
    if retained:
        text = f"the file has {counted(len(retained), 'note')} of the original: make sure that these name no person."
        notices.append(Notice("notes", text, count=len(retained), example=retained[0]))
    if gone := [text for text in (label, *notes) if text and not is_impersonal(text)]:
        text = f"{counted(len(gone), 'text')} of the original (its label, its notes) may name a person: not written."
        notices.append(Notice("personal-notes", text, count=len(gone)))
    return _About(label if is_impersonal(label) else "", tuple(retained), tuple(notices))


def _replaced(series: pd.Series[Any], original: pd.Series[Any], variable: Variable, ending: str, gap: str) -> Variable:
    """The variable with stored values of the replacements ``series``; with texts where it stores numbers."""
    is_text = variable.kind == "string"
    as_texts = variable._replace(labels={}, missing=[], form="", measure="nominal", kind="string")
    as_texts = as_texts._replace(cells=lossless.as_text(lossless.plain_column(series)).astype(object))
    if lossless.is_date(series):
        zero, days = DAY_ZERO if ending == ".sav" else np.datetime64("1960-01-01"), series.to_numpy().astype("M8[s]")
        seconds = (days - zero.astype("M8[s]")).astype(np.float64)
        letter = variable.form.removeprefix("%").removeprefix("t")[:1]
        unit = 1.0 if ending == ".sav" else {"d": 86_400.0, "c": 1e-3}.get(letter)
        return as_texts if unit is None or is_text else variable._replace(cells=pd.Series(seconds / unit))
    if is_float_dtype(series.dtype) or is_integer_dtype(series.dtype):
        numbers = pd.Series(series.to_numpy(dtype=np.float64, na_value=np.nan))
        return as_texts if is_text else variable._replace(cells=numbers)
    # Numbers beside the category of missing values are texts.
    present = original.notna().to_numpy()
    of_value = zip(original[present].astype(object), variable.cells[present], strict=True)
    codes: dict[Any, Any] = {code_text(value): code for value, code in of_value}
    texts = [None if absent else code_text(cell) for cell, absent in zip(series, series.isna(), strict=True)]
    if gap in texts and gap not in codes:
        variable, codes[gap] = _with_gap(variable, set(codes.values()), gap)
    if not set(texts) <= {None, *codes}:
        return as_texts
    cells = [None if text is None else codes[text] for text in texts]
    return variable._replace(cells=pd.Series(cells, dtype=variable.cells.dtype))


def _with_gap(variable: Variable, codes: Collection[Any], gap: str) -> tuple[Variable, Any]:
    """A variable with a further code for missing values, which has the label ``gap``, and this code."""
    code: Any = gap
    if variable.kind != "string":
        labelled = [code for code in variable.labels if not isinstance(code, str)]
        spans = [each if isinstance(each, dict) else {"lo": each, "hi": each} for each in variable.missing]
        valid = [code for code in labelled if not any(span["lo"] <= code <= span["hi"] for span in spans)]
        code = float(_free_code([*codes, *valid], spans))
        variable = variable._replace(labels=variable.labels | {code: gap})
    # Formats of texts and of whole numbers get room for it.
    if parts := re.fullmatch(r"(A|F|%-?)(\d+)(|s|\.0)", variable.form):
        width = max(int(parts[2]), len(code_text(code)))
        variable = variable._replace(form=f"{parts[1]}{width}{parts[3]}")
    return variable, code


def _with_letters(variable: Variable) -> Variable:
    """A variable of Stata whose missing values are letters, with cells of its type."""
    if variable.kind == "string":
        return variable
    # Whole numbers have 8, 16 or 32 bits, and others 32 or 64.
    types: dict[str, Any] = {"int8": "Int8", "int16": "Int16", "int32": "Int32", "float": "float32"}
    letters = variable.cells.map(_LETTERS)
    numbers = pd.to_numeric(variable.cells.where(letters.isna()))
    whole = variable.kind.startswith("int") and bool((numbers.dropna() % 1 == 0).all())
    fits = variable.kind in types and (variable.kind == "float" or whole)
    labels = {
        MISSING_CODES + _LETTERS[code] if isinstance(code, str) else int(code): text
        for code, text in variable.labels.items()
    }
    cells = numbers.astype(types[variable.kind] if fits else np.float64)
    return variable._replace(cells=cells, labels=labels, letters=letters, kind="")


# --- bytes ------------------------------------------------------------------------------------------------------------


def _file_of(variables: dict[str, Variable], ending: str, name: str, about: _About) -> tuple[bytes, list[Notice]]:
    """Bytes of a file, and notices of the labels that were cut."""
    notices: list[Notice] = []
    for column, variable in variables.items():
        labels = {code: limits.cut(text, ending, "value label") for code, text in variable.labels.items()}
        title = limits.cut(variable.title, ending, "variable label")
        if title != variable.title:
            notices.append(limits.cut_notice(column, ending, "variable label", [variable.title]))
        if long := [text for code, text in variable.labels.items() if labels[code] != text]:
            notices.append(limits.cut_notice(column, ending, "value label", long))
        variables[column] = variable._replace(labels=labels, title=title)
    label = limits.cut(about.label, ending, "file label")
    if label != about.label:
        notices.append(limits.cut_notice("", ending, "file label", [about.label]))
    about = about._replace(label=label)
    try:
        data = _dta_bytes(variables, about) if ending == ".dta" else _sav_bytes(variables, about, name)
    except MicroaggError:
        raise
    except Exception as error:  # pandas and pyreadstat let through whatever their parts raise
        raise DataError(f"this table cannot be written as {ending} ({error}): choose .csv or .parquet.") from None
    return data, notices


def _sav_bytes(variables: Mapping[str, Variable], about: _About, name: str) -> bytes:
    """Write an SPSS file with a constant time of writing."""
    pyreadstat = optional_import("pyreadstat", "statistics", f"writing {name!r}", "choose .csv")
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
        pyreadstat.write_sav(table, str(path), file_label=about.label, note=list(about.notes) or None, **options)
        data = bytearray(path.read_bytes())
    data[_STAMP] = _SPSS_TIME
    return bytes(data)


def _dta_bytes(variables: Mapping[str, Variable], about: _About) -> bytes:
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
