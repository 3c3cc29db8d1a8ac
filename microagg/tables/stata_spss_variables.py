"""Variables of files of Stata and SPSS: made of columns of a table, or of variables of the other kind of file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from microagg.tables import limits, lossless
from microagg.tables.limits import LIMITS, PROGRAMS
from microagg.tables.notices import Notice
from microagg.tables.stata_spss import MISSING_CODES, code_text
from microagg.validation import listing, shortened

# The missing values .a to .z of Stata.
_LETTERS = {letter: place for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz", start=1)}
# SPSS has at most three single codes for missing values, or a range.
_MOST_SINGLE = 3


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


def variable_of(series: pd.Series[Any], title: str, ending: str, *, is_coded: bool = False) -> Variable:
    """A column without a variable of a file, with codes from 1 for categories."""
    column = limits.exact(lossless.plain_column(series), ending)
    labels: dict[Any, str] = {}
    measure = ""
    if is_coded:
        measure, (column, labels) = "nominal", _with_codes(column)
    if lossless.is_category(column) and _has_long_labels(list(column.cat.categories), ending):
        column = lossless.as_text(column)
    if lossless.is_category(column):
        measure = "ordinal" if column.cat.ordered else "nominal"
        column, labels = _as_codes(column)
    return (_for_stata if ending == ".dta" else _for_spss)(Variable(column, labels, title, measure=measure))


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


def _with_codes(texts: pd.Series[Any]) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Numbers written as text, as numbers, and new ones with the other texts as labels."""
    numbers = pd.to_numeric(texts, errors="coerce").astype(np.float64)
    labels: dict[Any, str] = {}
    for text in sorted(set(texts[numbers.isna()].dropna())):
        code = free_code(numbers.dropna(), ())
        labels[code], numbers = text, numbers.mask(texts == text, code)
    is_whole = bool((numbers.dropna() % 1 == 0).all())
    return numbers.astype("Int64") if is_whole else numbers, labels


def free_code(used: Collection[float], missing: Sequence[Any]) -> int:
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


def is_missing_code(variable: Variable) -> NDArray[np.bool_]:
    """Which cells of a variable are declared missing: letters among the numbers of Stata, or codes of SPSS."""
    cells = variable.cells
    if variable.kind != "string" and cells.dtype == object:
        return np.array([isinstance(cell, str) for cell in cells], dtype=np.bool_)
    spans = [(each["lo"], each["hi"]) if isinstance(each, dict) else (each, each) for each in variable.missing]
    within = [cells.between(*ends).to_numpy(dtype=np.bool_) for ends in spans]
    return np.logical_or.reduce([np.zeros(len(cells), dtype=np.bool_), *within])


def with_letters(variable: Variable) -> Variable:
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


# --- from one kind of file to the other -------------------------------------------------------------------------------


def of_other_kind(
    variable: Variable, series: pd.Series[Any], original: pd.Series[Any], ending: str
) -> tuple[Variable, list[Notice]]:
    """A variable of SPSS for a file of Stata, or the other way round, with notices of what is not as it was.

    Numbers keep codes and labels; a kind of missing values becomes one of the other program. Dates, and codes that
    Stata cannot label, are those of ``series``, the released column; ``original`` is the column of the file.
    """
    to_stata, program, column = ending == ".dta", PROGRAMS[ending], str(series.name)
    is_category, is_code, labels = lossless.is_category(original), is_missing_code(variable), variable.labels
    point = "" if to_stata else "."
    kinds = {code: labels.get(code) or f"{point}{code_text(code)}" for code in sorted(set(variable.cells[is_code]))}
    listed = listing([repr(shortened(name, 30)) for name in kinds.values()], 4)
    about: dict[str, Any] = {"column": column, "count": len(kinds), "example": min(kinds.values(), default="")}
    is_number = variable.kind != "string" and (is_category or is_numeric_dtype(original))
    fits = (
        all(code in kinds or (code % 1 == 0 and abs(code) < MISSING_CODES) for code in labels) if is_number else False
    )
    if not fits or (to_stata and len(kinds) > len(_LETTERS)):
        is_text = variable.kind == "string" and not is_category
        become = "are texts like others" if is_text else "have no kind"
        text = f"column {column!r}: the missing values {listed} {become} in {program}."
        notices = [Notice("kinds-left-out", text, **about)] if kinds else []
        if is_number:
            text = f"column {column!r}: its codes count from 1, as {program} cannot have all of them."
            notices.append(Notice("renumbered", text, column=column))
        return variable_of(variable.cells if is_text else series, variable.title, ending), notices
    numbers = pd.to_numeric(variable.cells.where(~is_code)).astype(np.float64)
    first = free_code([*numbers.dropna(), *(code for code in labels if not isinstance(code, str))], ())
    places = _LETTERS if to_stata else [float(first + i) for i in range(len(kinds))]
    codes: dict[Any, Any] = dict(zip(kinds, places, strict=False))
    new = listing([f".{code}" if to_stata else code_text(code) for code in codes.values()], 4)
    text = f"column {column!r}: the missing values {listed} become {new}."
    notices = [Notice("kinds-of-missing", text, **about)] if kinds else []
    cells = numbers.astype(object).mask(is_code, variable.cells.map(codes))
    labels = {codes.get(code, code): text for code, text in (labels | kinds).items()}
    if to_stata:
        has_whole = is_category or re.fullmatch(r"[FN]\d+(\.0)?", variable.form) is not None
        kind = "int32" if has_whole and not (numbers.abs() >= MISSING_CODES).any() else "double"
        return with_letters(Variable(cells, labels, variable.title, kind=kind)), notices
    measure = "" if not is_category else "ordinal" if original.cat.ordered else "nominal"
    missing: list[Any] = list(codes.values())
    if len(missing) > _MOST_SINGLE:
        missing = [{"lo": missing[0], "hi": missing[-1]}]
    is_whole = variable.kind.startswith("int") and bool((numbers.dropna() % 1 == 0).all())
    cells = cells.astype(np.float64).astype("Int64" if is_whole else np.float64)
    return _for_spss(Variable(cells, labels, variable.title, measure=measure, missing=missing)), notices
