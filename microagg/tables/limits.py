"""What each kind of file can hold: one table of limits, and what becomes of a table that exceeds one.

Every limit of a format stands in :data:`LIMITS`, with its source; writers, names and checks read it there. What is
refused is refused by :func:`check`, which needs no method to have run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables import lossless
from microagg.tables.notices import Notice, has_surrogates
from microagg.validation import counted, shortened


class Limit(NamedTuple):
    """The most that a kind of file can hold of something."""

    most: Any  # the maximum size or number, or the first and the last date
    unit: str  # what is counted
    then: str  # what becomes of more, one of OUTCOMES
    source: str


#: What becomes of what exceeds a limit.
OUTCOMES = {
    "refused": "the file is refused, with what to do, before it is written",
    "cut": "the text is cut, and a notice names the column",
    "renamed": "the column gets a shorter name, and the full name as its label",
    "text": "the whole column is written as text, with all digits or the full label; only where it came from Stata or "
    "SPSS, codes stay codes, and the label is cut with a notice",
    "kept": "the cell is stored in another way and stays as it is",
}

_STATA, _SPSS, _EXCEL = "Stata, help limits", "IBM SPSS Statistics, variables", "Excel specifications and limits"
_EXACT = "IEEE 754: larger ones are not exact in 64 bits"
_NO_ZERO = Limit(0, "zero characters", "refused", "readers end a text at it")

#: For each ending of a file, its limits by what they are of. A kind of file has no limit that is not here.
LIMITS: dict[str, dict[str, Limit]] = {
    ".csv": {"zeros": _NO_ZERO},
    ".parquet": {},
    ".xlsx": {
        "records": Limit(1_048_575, "records", "refused", f"{_EXCEL}: 1,048,576 rows, one of them the header"),
        "columns": Limit(16_384, "columns", "refused", _EXCEL),
        "zeros": _NO_ZERO,
        "text": Limit(32_767, "characters", "refused", f"{_EXCEL}, in units of UTF-16"),
        "number": Limit(1e308, "", "refused", f"{_EXCEL}: 1.79769313486231E+308"),
        "whole number": Limit(10**15, "", "text", f"{_EXCEL}: 15 digits"),
        # Day 1 is 1900-01-01, and that year has a 29th of February: days are right from March on.
        "date": Limit(("1900-03-01", "9999-12-31"), "", "text", _EXCEL),
    },
    ".dta": {
        "columns": Limit(32_767, "columns", "refused", f"{_STATA}, of Stata/SE"),
        "name": Limit(32, "characters", "renamed", _STATA),
        "variable label": Limit(80, "characters", "cut", _STATA),
        "file label": Limit(80, "characters", "cut", "Stata, help label"),
        "value label": Limit(32_000, "bytes", "text", _STATA),
        "labelled values": Limit(65_536, "values", "text", _STATA),
        "zeros": _NO_ZERO,
        "fixed text": Limit(2_045, "bytes", "kept", f"{_STATA}: str#, and strL above"),
        "text": Limit(2_000_000_000, "bytes", "refused", f"{_STATA}: strL"),
        "number": Limit(2.0**1023, "", "refused", "Stata, help dta: from here on numbers are missing values"),
        "single number": Limit(2.0**127, "", "kept", "Stata, help dta: from here on floats are missing values"),
        "whole number": Limit(2**53 - 1, "", "text", _EXACT),
        "date": Limit(("0100-01-01", "9999-12-31"), "", "text", "Stata, help datetime"),
    },
    ".sav": {
        "name": Limit(64, "bytes", "renamed", _SPSS),
        "variable label": Limit(256, "bytes", "cut", _SPSS),
        "file label": Limit(64, "bytes", "cut", "PSPP, System File Format"),
        "value label": Limit(120, "bytes", "text", _SPSS),
        "zeros": _NO_ZERO,
        "text": Limit(32_767, "bytes", "refused", _SPSS),
        "number": Limit(np.inf, "", "refused", "PSPP, System File Format: no infinity"),
        "whole number": Limit(2**53, "", "text", _EXACT),
        "date": Limit(("1582-10-15", "9999-12-31"), "", "text", f"{_SPSS}: the Gregorian calendar"),
    },
}
#: What opens each kind of file, as messages name it.
PROGRAMS = {".xlsx": "Excel", ".dta": "Stata", ".sav": "SPSS", ".csv": "CSV", ".parquet": "Parquet"}


def size(text: str, unit: str) -> int:
    """Size of a text in ``unit``: characters, bytes in UTF-8, or, as Excel counts, units of UTF-16."""
    if unit == "characters":
        return len(text)
    return len(text.encode()) if unit == "bytes" else len(text.encode("utf-16-le")) // 2


def exceeds(text: str, ending: str, what: str) -> bool:
    """Whether a text is too long for a place in a file with this ending."""
    limit = LIMITS[ending].get(what)
    # No character takes more than four bytes.
    return limit is not None and 4 * len(text) > limit.most and size(text, limit.unit) > limit.most


def cut(text: str, ending: str, what: str, room: int = 0) -> str:
    """The beginning of a text that a file with this ending can hold, with ``room`` left, and no half character."""
    limit = LIMITS[ending][what]
    most = limit.most - room
    return text[:most] if limit.unit == "characters" else text.encode()[:most].decode(errors="ignore")


def cut_notice(column: str, ending: str, what: str, texts: Sequence[str]) -> Notice:
    """Notice that ``texts``, labels of a column or, if it is "", of the file, are cut."""
    limit, count = LIMITS[ending][what], len(texts)
    which = f"{counted(count, 'label')} of values" if what == "value label" else "the label"
    text = (
        f"{which} of {f'column {column!r}' if column else 'the file'} {'are' if count > 1 else 'is'} cut to "
        f"{limit.most:,} {limit.unit}, the limit of {PROGRAMS[ending]}."
    )
    return Notice(f"cut-{what.replace(' ', '-')}", text, column=column, example=shortened(texts[0], 30))


def exact(series: pd.Series[Any], ending: str) -> pd.Series[Any]:
    """A plain column as a file with this ending can hold it.

    It is text if it has whole numbers or dates beyond the limits of the format, or times finer than a millisecond.
    """
    limits, present = LIMITS[ending], series.dropna()
    if is_integer_dtype(series.dtype) and len(present):
        most = limits["whole number"].most
        return lossless.as_text(series) if int(present.max()) > most or int(present.min()) < -most else series
    if lossless.is_date(series):
        # In seconds, as nanoseconds reach no further than from 1677 to 2262.
        days = present.to_numpy().astype("M8[s]").astype("M8[D]")
        first, last = (np.datetime64(day) for day in limits["date"].most)
        fits = ((days >= first) & (days <= last)).all() and (present == present.dt.floor("ms")).all()
        return series if fits else lossless.as_text(series)
    return series


def check(columns: Mapping[str, pd.Series[Any]], ending: str) -> None:
    """Refuse a table that a file with this ending cannot hold.

    Raises
    ------
    DataError
        If it has too many records or columns, or a column has text with half a character or a zero character, a text
        that is too long, or a number that is infinite or too large; with the column, the limit and what to do.
    """
    limits = LIMITS[ending]
    records = max(map(len, columns.values()), default=0)
    for what, n in (("records", records), ("columns", len(columns))):
        if what in limits and n > limits[what].most:
            raise DataError(
                f"the table has {counted(n, what[:-1])}, and a file of {PROGRAMS[ending]} holds {limits[what].most:,}: "
                "choose .csv or .parquet."
            )
    for name, series in columns.items():
        # Texts of pandas' type are plain already.
        plain = series if isinstance(series.dtype, pd.StringDtype) else lossless.plain_column(series)
        if lossless.is_text(plain) or lossless.is_category(plain):
            _check_texts(plain, name, ending)
        elif is_float_dtype(plain.dtype) and "number" in limits:
            values = plain.to_numpy(dtype=np.float64, na_value=np.nan)
            if len(bad := np.flatnonzero(np.abs(values) >= limits["number"].most)):
                row = int(bad[0])
                raise DataError(
                    f"column {name!r} has {values[row]:g} in record {row} (counting from 0), which {ending} files "
                    "cannot hold: replace such values, or choose .csv or .parquet."
                )


def _check_texts(series: pd.Series[Any], name: str, ending: str) -> None:
    texts: Any = series.cat.categories if lossless.is_category(series) else series.dropna().unique()
    for text in texts:
        if has_surrogates(text):
            problem = f"half a character (a lone surrogate) in {text[:20]!r}: replace it first"
        elif "zeros" in LIMITS[ending] and "\0" in text:
            problem = f"a zero character in {text[:20]!r}, which {ending} files cannot hold: remove it, "
            problem += "or choose .parquet"
        elif exceeds(text, ending, "text"):
            limit = LIMITS[ending]["text"]
            problem = f"a text of more than {limit.most:,} {limit.unit}, the limit of {PROGRAMS[ending]}: shorten it, "
            problem += "leave the column out, or choose .csv or .parquet"
        else:
            continue
        raise DataError(f"column {name!r} holds {problem}.")


# --- names of variables in files of Stata and SPSS, which do not allow every name -----------------------------------


class _Rule(NamedTuple):
    """The names that a program allows."""

    ending: str
    others: str  # allowed characters besides letters and digits
    firsts: str  # the same at the beginning
    reserved: frozenset[str]
    key: Callable[[str], str]  # equal for names that count as the same


# Stata's help varname, and further names that pandas does not allow.
_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using with
    aggregate array boolean break case catch class colvector complex const continue default delegate delete do else
    eltypedef end enum explicit export external for friend function global goto inline local NULL pragma protected quad
    rowvector short typedef typename virtual
"""
_SPSS_WORDS = frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"))

_RULES = {
    ".dta": _Rule(".dta", "_", "_", frozenset(_STATA_WORDS.split()), str),
    ".sav": _Rule(".sav", "_.@#$", "@", _SPSS_WORDS, str.lower),
}


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Names of the columns ``names`` in a file with this ending, in the same order.

    A name gets ``v_`` before it if the program does not allow its first character, or it is a reserved word, or only
    ``_``. If two names become the same, the later one gets ``_2``, ``_3`` and so on at its end; allowed names are never
    changed.
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
                final = f"{cut(stem, ending, 'name', room=len(f'_{number}'))}_{number}"
            taken.add(rule.key(final))
        finals.append(final)
    return finals


def _fit(name: str, rule: _Rule) -> str:
    fit = "".join(c if _is_letter(c) or c in "0123456789" or c in rule.others else "_" for c in name)
    starts = fit.strip("_") and (_is_letter(fit[0]) or fit[0] in rule.firsts)
    # Stata's own types of text are str1 to str2045.
    is_type = rule.ending == ".dta" and fit[:3] == "str" and fit[3:].isdigit()
    fit = fit if starts and not is_type and rule.key(fit) not in rule.reserved else f"v_{fit}"
    fit = cut(fit, rule.ending, "name")
    # SPSS reads a full stop at the end as the end of a command.
    return f"{fit[:-1]}_" if fit.endswith(".") else fit


def _is_letter(character: str) -> bool:
    return character.isalpha() and (character.isascii() or ord(character) >= 192)
