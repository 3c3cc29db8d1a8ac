"""Tables to SPSS and Stata files: which column is what there, and what columns are called, as not every name is taken.

Names are fitted alike (:func:`file_names`); full ones are kept as labels. No file tells when it was written.
"""

from __future__ import annotations

import datetime as dt
import io
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables.lossless import (
    EXACT_WHOLE,
    as_exact,
    as_text,
    check_finite_numbers,
    is_category,
    is_date,
    is_midnight,
    is_text,
    plain_column,
)
from microagg.tables.statistics import codes_of
from microagg.validation import optional_import

#: How many bytes a text of SPSS has at most.
MAX_TEXT = 32_767

# How many bytes the label of a value has at most.
_MAX_LABEL = 120

# The day and the time of writing stand at these bytes; two files of one table should be the same.
_STAMP = slice(92, 109)
_WRITTEN_BY_SPSS = b"01 Jan 8000:00:00"

#: How many variables a file of Stata 14 to 19 has at most.
MAX_COLUMNS = 32_767

# Larger numbers of 64 and of 32 bits are missing values in Stata.
_LARGEST, _LARGEST_SINGLE = 2.0**1023, 2.0**127

# The bytes that the labels of one variable may have together, and those of a text of fixed width.
_MAX_LABELS, _MAX_FIXED = 32_000, 2_045

# A file tells when it was written; two files of one table should be the same.
_WRITTEN_BY_STATA = dt.datetime(1980, 1, 1)


class _Rule(NamedTuple):
    """Which names a program takes: ``others`` are characters beside letters and digits, ``firsts`` may begin a name."""

    program: str
    others: str
    firsts: str
    reserved: frozenset[str]
    most: int
    size: Callable[[str], int]
    key: Callable[[str], str]
    label: int


def _bytes(text: str) -> int:
    return len(text.encode())


# help varname of Stata, and what pandas keeps from being a name beyond that.
_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using with
    aggregate array boolean break case catch class colvector complex const continue default delegate delete do else
    eltypedef end enum explicit export external for friend function global goto inline local NULL pragma protected quad
    rowvector short typedef typename virtual
"""
_SPSS_WORDS = "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"

_RULES = {
    ".dta": _Rule("Stata", "_", "_", frozenset(_STATA_WORDS.split()), 32, len, str, 80),
    ".sav": _Rule("SPSS", "_.@#$", "@", frozenset(_SPSS_WORDS.lower().split()), 64, _bytes, str.lower, 255),
}


def write_sav(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Return columns as an SPSS file; see :func:`microagg.tables.write_table`."""
    pyreadstat = optional_import("pyreadstat", "statistics", f"writing {name!r}", "choose .csv")
    names = list(columns)
    table: dict[str, pd.Series[Any]] = {}
    value_labels: dict[str, dict[Any, str]] = {}
    measures: dict[str, str] = {}
    formats: dict[str, str] = {}
    for final, given in zip(file_names(names, ".sav"), names, strict=True):
        column = as_exact(plain_column(columns[given]))
        if is_category(column) and any(len(text.encode()) > _MAX_LABEL for text in column.cat.categories):
            column = as_text(column)
        if is_category(column):
            measures[final] = "ordinal" if column.cat.ordered else "nominal"
            column, value_labels[final] = codes_of(column)
        check_finite_numbers(column, given, ".sav")
        table[final], form = _storable(column)
        if form:
            formats[final] = form
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        pyreadstat.write_sav(
            pd.DataFrame(table),
            str(path),
            column_labels={final: given for final, given in zip(table, names, strict=True) if final != given},
            variable_value_labels=value_labels,
            variable_measure=measures,
            variable_format=formats,
        )
        data = bytearray(path.read_bytes())
    data[_STAMP] = _WRITTEN_BY_SPSS
    return bytes(data)


def _storable(column: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    """Return a column as pyreadstat takes it, and the format in which SPSS shows it, or "" for the usual one."""
    if is_date(column):
        # With another unit than microseconds or nanoseconds, pyreadstat takes the numbers for something else.
        return column.astype("datetime64[us]"), "DATE11" if is_midnight(column) else "DATETIME23.3"
    if is_text(column):
        return as_text(column), ""
    whole = is_bool_dtype(column.dtype) or is_integer_dtype(column.dtype)
    numbers = pd.Series(
        column.astype("Float64" if not is_float_dtype(column.dtype) else column.dtype).to_numpy(
            dtype=np.float64, na_value=np.nan
        )
    )
    if not whole:
        return numbers, ""
    longest = max((len(f"{number:.0f}") for number in numbers.dropna()), default=1)
    return numbers, f"F{longest}.0"


def write_dta(columns: Mapping[str, pd.Series[Any]]) -> bytes:
    """Return columns as a file of Stata 14; see :func:`microagg.tables.write_table`."""
    # By pandas: pyreadstat writes the time of writing, no floats of 32 bits, and whole numbers in 32 bits at least.
    if len(columns) > MAX_COLUMNS:
        raise DataError(
            f"the table has {len(columns):,} columns, and a Stata file holds {MAX_COLUMNS:,}: choose .csv or .parquet."
        )
    names = list(columns)
    table: dict[str, pd.Series[Any]] = {}
    value_labels: dict[Any, dict[Any, str]] = {}
    dates: dict[Any, Any] = {}
    long_texts = []
    for final, name in zip(file_names(names, ".dta"), names, strict=True):
        column = as_exact(plain_column(columns[name]), EXACT_WHOLE - 1)
        if is_category(column) and sum(len(text.encode()) + 1 for text in column.cat.categories) > _MAX_LABELS:
            column = as_text(column)
        if is_category(column):
            column, value_labels[final] = codes_of(column)
        elif is_text(column):
            # A column of missing values only would be refused.
            column = as_text(column).fillna("")
            if any(len(text) * 4 > _MAX_FIXED and len(text.encode()) > _MAX_FIXED for text in column):
                long_texts.append(final)
        elif is_date(column):
            dates[final] = "td" if is_midnight(column) else "tc"
        else:
            check_finite_numbers(column, name, ".dta", _LARGEST)
            column = _number(column)
        table[final] = column
    stream = io.BytesIO()
    pd.DataFrame(table).to_stata(
        stream,
        write_index=False,
        version=118,
        time_stamp=_WRITTEN_BY_STATA,
        convert_dates=dates,
        convert_strl=long_texts,
        value_labels={final: labels for final, labels in value_labels.items() if labels},
        variable_labels={final: name for final, name in zip(table, names, strict=True) if final != name},
    )
    return stream.getvalue()


def _number(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers with a type that pandas narrows to one of Stata's without losing a digit."""
    if is_bool_dtype(column.dtype):
        return column.astype("boolean").astype("Int8")
    if is_integer_dtype(column.dtype):
        return column.astype("Int64") if column.isna().any() else column.astype(np.int64)
    if column.dtype != np.float32 or (column.abs() >= _LARGEST_SINGLE).any():
        return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return column


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Return what the columns ``names`` are called in a file with this ending, in the same order.

    Names in .csv, .parquet and .xlsx files are free. In a name for Stata (.dta) or SPSS (.sav), every character that
    is no letter, digit or ``_`` (for SPSS also ``.``, ``@``, ``#`` and ``$``) becomes ``_``. A name gets ``v_`` before
    it if it begins with another character than a letter (for Stata also ``_``, for SPSS ``@``), is a word of the
    program's language, or nothing but ``_``. What is longer than 32 characters (Stata) or 64 bytes (SPSS) is cut.
    Where two names become the same, the later one gets ``_2``, ``_3`` and so on at its end; names that are fine as
    they are always stay. SPSS does not tell ``a`` from ``A``.

    Raises
    ------
    DataError
        If a name that has to be changed is too long for the label which keeps it, 80 characters in Stata and 255
        bytes in SPSS.
    """
    rule = _RULES.get(ending)
    if rule is None:
        return list(names)
    fitted = [_fit(name, rule) for name in names]
    taken: set[str] = set()
    # Names that are fine come first, so that no changed name drives one of them out.
    for name, fit in zip(names, fitted, strict=True):
        if name == fit:
            taken.add(rule.key(name))
    kept: set[str] = set()
    result = []
    for name, fit in zip(names, fitted, strict=True):
        if name == fit and rule.key(name) not in kept:
            kept.add(rule.key(name))
            result.append(name)
            continue
        final = _free(fit, taken, rule)
        taken.add(rule.key(final))
        _check_label(name, final, rule, ending)
        result.append(final)
    return result


def _fit(name: str, rule: _Rule) -> str:
    fit = "".join(c if _is_letter(c) or c in "0123456789" or c in rule.others else "_" for c in name)
    if not fit.strip("_") or not (_is_letter(fit[0]) or fit[0] in rule.firsts) or _is_reserved(fit, rule):
        fit = f"v_{fit}"
    fit = _cut(fit, rule.most, rule)
    # SPSS takes a full stop at the end for the end of a command.
    return f"{fit[:-1]}_" if fit.endswith(".") else fit


def _is_letter(character: str) -> bool:
    return character.isalpha() and (character.isascii() or ord(character) >= 192)


def _is_reserved(name: str, rule: _Rule) -> bool:
    # Stata's own types of text are str1 to str2045.
    return rule.key(name) in rule.reserved or (rule.program == "Stata" and name[:3] == "str" and name[3:].isdigit())


def _cut(name: str, most: int, rule: _Rule) -> str:
    while rule.size(name) > most:
        name = name[:-1]
    return name


def _free(name: str, taken: Iterable[str], rule: _Rule) -> str:
    number, candidate = 1, name
    while rule.key(candidate) in taken:
        number += 1
        suffix = f"_{number}"
        candidate = _cut(name, rule.most - len(suffix), rule) + suffix
    return candidate


def _check_label(name: str, final: str, rule: _Rule, ending: str) -> None:
    if rule.size(name) > rule.label:
        unit = "characters" if rule.size is len else "bytes"
        raise DataError(
            f"column {name[:40] + '…'!r} is called {final!r} in {ending} files, and its full name is longer than the "
            f"{rule.label} {unit} of a label in {rule.program}: give it a shorter name first."
        )
