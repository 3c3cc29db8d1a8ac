"""Columns as files of every kind can hold them: numbers, yes or no, dates, categories or text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_float_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables.notices import Notice, has_surrogates, kept_as_text
from microagg.validation import counted

#: Whole numbers beyond this have no exact place in a file whose numbers are all 64-bit floats.
EXACT_WHOLE = 2**53

#: Numbers with no more digits than this come out of a 64-bit float as they went in.
EXACT_DIGITS = 15

#: What pandas makes of text: its own type since version 3, objects before.
TEXT: Any = pd.Series(["text"]).dtype

#: The first day that Python, and what prints dates, knows, and the first one that it does not.
FIRST_DAY, BEYOND_DAYS = np.datetime64("0001-01-01", "s"), np.datetime64("10000-01-01", "s")


def plain_column(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column with one of the types that files know, without an index of its own.

    Booleans, numbers and dates without a time zone stay as they are, those that stand in a column of objects become
    what they are together, and categories with names stay categories. Categories that are intervals have the
    interval's text as their name; those that are numbers or dates become numbers or dates. Anything else, such as
    numbers beside text, dates with a time zone or durations, becomes text: ``str`` of each cell.
    """
    column = series.reset_index(drop=True)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _plain_categories(column)
    if isinstance(dtype, pd.SparseDtype):
        dense: Any = column.sparse
        return plain_column(dense.to_dense())
    # Complex numbers, and floats longer than 64 bits, fit nowhere.
    fits = getattr(dtype, "itemsize", 8) <= 8 and not is_complex_dtype(dtype)
    if fits and (is_bool_dtype(dtype) or is_integer_dtype(dtype)):
        return column
    if fits and is_float_dtype(dtype):
        return column.astype(np.float32) if dtype == np.float16 else column
    if is_date(column):
        return column
    return _plain_objects(column)


def is_date(series: pd.Series[Any]) -> bool:
    """Whether the column holds dates without a time zone."""
    return isinstance(series.dtype, np.dtype) and series.dtype.kind == "M"


def is_category(series: pd.Series[Any]) -> bool:
    """Whether the column holds categories."""
    return isinstance(series.dtype, pd.CategoricalDtype)


def is_text(series: pd.Series[Any]) -> bool:
    """Whether a column of :func:`plain_column` holds text, other than the names of categories."""
    return not (is_category(series) or is_date(series) or is_bool_dtype(series) or _is_number(series))


def as_text(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return ``str`` of each cell as a column of objects, with None where a value is missing."""
    cells = series.astype(object)
    return pd.Series(
        [None if absent else str(cell) for cell, absent in zip(cells, cells.isna(), strict=True)], dtype=object
    )


def as_exact(series: pd.Series[Any], largest: int = EXACT_WHOLE) -> pd.Series[Any]:
    """Return a column of :func:`plain_column` as text if it has whole numbers beyond ``largest``, or finer times.

    Finer means finer than a millisecond, the least that Excel, Stata and SPSS tell apart.
    """
    if is_integer_dtype(series.dtype):
        present = series.dropna()
        if len(present) and (int(present.max()) > largest or int(present.min()) < -largest):
            return as_text(series)
    if is_date(series):
        present = series.dropna()
        if not (present == present.dt.floor("ms")).all():
            return as_text(series)
    return series


def texts(cells: Sequence[str | None]) -> pd.Series[Any]:
    """Return texts, shape (n,), as a column of the type that pandas gives to them, also if all are missing."""
    return pd.Series(list(cells), dtype=TEXT)


def printable_dates(series: pd.Series[Any], name: str) -> tuple[pd.Series[Any], list[Notice]]:
    """Return a column, as text if it has dates beyond the years 1 to 9999, which Python cannot print, and a notice."""
    if not is_date(series):
        return series, []
    moments = series.to_numpy()
    absent = np.isnat(moments)
    seconds = moments.astype("M8[s]")
    beyond = np.flatnonzero(~absent & ((seconds < FIRST_DAY) | (seconds >= BEYOND_DAYS)))
    if not len(beyond):
        return series, []
    cells = [None if no else str(moment).replace("T", " ") for moment, no in zip(moments, absent, strict=True)]
    example = str(cells[int(beyond[0])])
    what = f"{counted(len(beyond), 'date')} beyond the years 1 to 9999"
    return texts(cells), [kept_as_text(name, what, example, int((~absent).sum()), len(beyond))]


def is_midnight(series: pd.Series[Any]) -> bool:
    """Whether a column of dates has no time of day."""
    present = series.dropna()
    return bool((present == present.dt.normalize()).all())


def check_finite_numbers(series: pd.Series[Any], name: str, ending: str, largest: float = np.inf) -> None:
    """Raise :class:`DataError` if a column of floats holds infinity, or a number of ``largest`` or more."""
    if not is_float_dtype(series.dtype):
        return
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(np.abs(values) >= largest)
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"column {name!r} has {values[row]:g} in record {row} (counting from 0), which {ending} files cannot hold: "
            "replace such values, or choose .csv or .parquet."
        )


def check_text(series: pd.Series[Any], name: str, ending: str, most: int | None = None) -> None:
    """Raise :class:`DataError` if a column of :func:`plain_column` has text that cannot be written.

    That is half a character, a zero character, or more than ``most`` bytes in UTF-8, if there is a limit.
    """
    if not (is_text(series) or is_category(series)):
        return
    texts: Any = series.cat.categories if is_category(series) else _distinct(series)
    for text in texts:
        if has_surrogates(text):
            raise DataError(
                f"column {name!r} holds half a character (a lone surrogate) in {text[:20]!r}: replace it first."
            )
        if "\0" in text and ending != ".parquet":
            raise DataError(
                f"column {name!r} holds a zero character in {text[:20]!r}, which {ending} files cannot hold: "
                "remove it, or choose .parquet."
            )
        if most is not None and len(text) * 4 > most and len(text.encode()) > most:
            raise DataError(
                f"column {name!r} holds a text of more than {most:,} bytes, the limit of {ending} files: "
                "shorten it, leave the column out, or choose .csv or .parquet."
            )


def _distinct(series: pd.Series[Any]) -> Any:
    """Return the texts of a column without those that are missing, each once."""
    texts = series if isinstance(series.dtype, pd.StringDtype) else as_text(series)
    return [text for text in texts.unique() if isinstance(text, str)]


def _is_number(series: pd.Series[Any]) -> bool:
    return is_integer_dtype(series.dtype) or is_float_dtype(series.dtype)


def _plain_categories(column: pd.Series[Any]) -> pd.Series[Any]:
    categories = column.cat.categories
    if all(isinstance(category, str) for category in categories):
        return column
    if isinstance(categories, pd.IntervalIndex):
        return column.cat.rename_categories([str(category) for category in categories])
    return _plain_objects(column)


def _plain_objects(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of objects as what all of them are, or as text."""
    cells = column.astype(object)
    kind = infer_dtype(cells, skipna=True)
    try:
        if kind == "boolean":
            return cells.astype("boolean")
        if kind == "integer":
            return cells.astype("Int64")
        if kind in ("floating", "mixed-integer-float", "decimal"):
            numbers = cells.astype(np.float64)
            if all(_is_exact(cell, number) for cell, number in zip(cells, numbers, strict=True)):
                return numbers
        if kind in ("date", "datetime", "datetime64") and not any(getattr(cell, "tzinfo", None) for cell in cells):
            return pd.to_datetime(cells)
    except (ValueError, TypeError, OverflowError):
        pass  # whole numbers of more than 64 bits, or dates beyond those that pandas knows
    return as_text(column)


def _is_exact(cell: Any, number: float) -> bool:
    """Whether a cell of a column of numbers reads the same as the 64-bit float."""
    if isinstance(cell, Decimal):
        return bool(Decimal(repr(number)) == cell) or cell.is_nan()
    return bool(pd.isna(cell) or cell == number)


# What columns are called in files whose programs do not take every name.


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
