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
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_integer_dtype

from microagg.errors import DataError, MicroaggError
from microagg.tables import limits, lossless
from microagg.tables.notices import Notice, Source, Written
from microagg.tables.stata_spss import DAY_ZERO, code_text, is_stata, parse_file
from microagg.tables.stata_spss_variables import (
    Variable,
    free_code,
    is_missing_code,
    of_other_kind,
    variable_of,
    with_letters,
)
from microagg.tables.value_labels import GAP, means_no_value, with_kinds
from microagg.validation import IntArray, counted, optional_import

# The stored value of ``.`` in each type of Stata, and the step from a missing value to the next: .a to .z.
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


def write_statistics(
    columns: Mapping[str, pd.Series[Any]], name: str, coded: Collection[str]
) -> tuple[bytes, list[Notice]]:
    """Write columns as a file of SPSS or Stata 14 (see :func:`microagg.tables.write_table`).

    Columns of ``coded`` are numbers written as text, and other texts for missing values: they become numbers again, and
    the other texts the labels of codes.
    """
    ending = ".dta" if name.lower().endswith(".dta") else ".sav"
    variables = {}
    for final, full in zip(limits.file_names(list(columns), ending), columns, strict=True):
        title = full if full != final else ""
        variables[final] = variable_of(columns[full], title, ending, is_coded=full in coded)
    return _file_of(variables, ending, name, _About())


# --- as the original --------------------------------------------------------------------------------------------------


def rewritten(
    frame: pd.DataFrame,
    source: Source,
    original: pd.DataFrame,
    rows: IntArray,
    same: Collection[str],
    origins: Mapping[str, str],
    ending: str,
    measured: Collection[str] = (),
) -> Written | None:
    """Write ``frame``, made from ``original``, the table of a Stata or SPSS file ``source``, with this ``ending``.

    Names, labels, codes and the values of columns in ``same`` are those of the source, and in a file of its kind also
    formats and missing values; so are the label of the file and its notes, unless they may name a person. Kinds of
    missing values become those of the other kind of file, with notices. ``rows`` are the positions of the records in
    ``original``; ``origins`` has the original column of each column. The category of missing values becomes the next
    free code. Replaced columns in ``measured`` lose the labels of missing values: a mean may be 99, which is not "don't
    know". None if a column is not in the source.
    """
    is_alike = is_stata(source.data) == (ending == ".dta")
    parsed = parse_file(source.data, source.name, original.size + 1)
    about = _impersonal(parsed, original.drop(columns=list(set(origins.values()) & set(original.columns))))
    stored = _stored(parsed)
    if not {origins[name] for name in frame.columns} <= set(stored):
        return None
    # Names that the program would not allow are those of a source of its kind, unless they are too long.
    names = list(frame.columns)
    fitted = zip(names, limits.file_names(names, ending), strict=True)
    renamed = {
        name: final
        for name, final in fitted
        if name != final and not (is_alike and not limits.exceeds(name, ending, "name"))
    }
    variables: dict[str, Variable] = {}
    notices: list[Notice] = []
    for name in names:
        variable, values = stored[origins[name]], with_kinds(original, origins[name])
        if name in same:
            variable = variable._replace(cells=variable.cells.iloc[rows])
        else:
            variable = _replaced(frame[name], values, variable, ".dta" if is_stata(source.data) else ".sav")
        # The label of a code without records could reveal records that are left out.
        codes, is_mean = set(variable.cells.dropna()), name in measured and name not in same
        labels = {
            code: text
            for code, text in variable.labels.items()
            if code in codes and not (is_mean and means_no_value(text))
        }
        cells = variable.cells.fillna("") if variable.kind == "string" else variable.cells
        if is_mean and is_missing_code(variable).any():
            variable = variable._replace(missing=())
        title = variable.title or (name if name in renamed else "")
        variable = variable._replace(cells=cells.reset_index(drop=True), labels=labels, title=title)
        if not is_alike:
            variable, further = of_other_kind(variable, frame[name], original[origins[name]], ending)
            notices += further
        elif ending == ".dta":
            variable = with_letters(variable)
        variables[renamed.get(name, name)] = variable
    data, cuts = _file_of(variables, ending, source.name, about)
    return Written(data, renamed=renamed, notices=[*about.notices, *notices, *cuts])


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


def _replaced(series: pd.Series[Any], original: pd.Series[Any], variable: Variable, ending: str) -> Variable:
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
    if GAP in texts and GAP not in codes:
        variable, codes[GAP] = _with_gap(variable, set(codes.values()))
    if not set(texts) <= {None, *codes}:
        return as_texts
    cells = [None if text is None else codes[text] for text in texts]
    return variable._replace(cells=pd.Series(cells, dtype=variable.cells.dtype))


def _with_gap(variable: Variable, codes: Collection[Any]) -> tuple[Variable, Any]:
    """A variable with a further code for missing values, which has the label :data:`GAP`, and this code."""
    code: Any = GAP
    if variable.kind != "string":
        numbers = [each for each in (*codes, *variable.labels) if not isinstance(each, str)]
        spans = [each if isinstance(each, dict) else {"lo": each, "hi": each} for each in variable.missing]
        valid = [each for each in numbers if not any(span["lo"] <= each <= span["hi"] for span in spans)]
        code = float(free_code(valid, spans))
        variable = variable._replace(labels=variable.labels | {code: GAP})
    # Formats of texts and of whole numbers get room for it.
    if parts := re.fullmatch(r"(A|F|%-?)(\d+)(|s|\.0)", variable.form):
        width = max(int(parts[2]), len(code_text(code)))
        variable = variable._replace(form=f"{parts[1]}{width}{parts[3]}")
    return variable, code


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
