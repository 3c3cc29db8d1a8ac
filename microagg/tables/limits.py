"""What each kind of file can hold: one table of limits, and what becomes of a table that exceeds one.

Every limit of a format stands in :data:`LIMITS`; writers, names and checks read it there. What is refused is refused by
:func:`check`, which needs no method to have run.
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
    unit: str = ""  # what is counted


#: For each ending of a file, its limits by what they are of. A kind of file has no limit that is not here.
#:
#: Names that are too long get shorter, with the full name as the variable's label; labels of variables and files are
#: cut, with a notice. A column is written as text, with all digits or the full label, if its whole numbers, dates or
#: labels of values exceed a limit. Everything else is refused, and, except in .parquet, a zero character, at which many
#: readers end a text. Stata stores long texts and large single numbers in another type.
LIMITS: dict[str, dict[str, Limit]] = {
    ".csv": {},
    ".parquet": {},
    # Excel specifications and limits: 1,048,576 rows, one of them the header; texts in units of UTF-16; 15 digits.
    ".xlsx": {
        "records": Limit(1_048_575, "records"),
        "columns": Limit(16_384, "columns"),
        "text": Limit(32_767, "characters"),
        "number": Limit(1e308),
        "whole number": Limit(10**15),
        # Day 1 is 1900-01-01, and that year has a 29th of February: days are right from March on.
        "date": Limit(("1900-03-01", "9999-12-31")),
    },
    # Stata, help limits (of Stata/SE), label, and datetime. Help dta: larger numbers are missing values.
    ".dta": {
        "columns": Limit(32_767, "columns"),
        "name": Limit(32, "characters"),
        "variable label": Limit(80, "characters"),
        "file label": Limit(80, "characters"),
        "value label": Limit(32_000, "bytes"),
        "labelled values": Limit(65_536, "values"),
        "fixed text": Limit(2_045, "bytes"),
        "text": Limit(2_000_000_000, "bytes"),
        "number": Limit(2.0**1023),
        "single number": Limit(2.0**127),
        "whole number": Limit(2**53 - 1),
        "date": Limit(("0100-01-01", "9999-12-31")),
    },
    # IBM SPSS Statistics, variables; PSPP, System File Format. Dates are those of the Gregorian calendar.
    ".sav": {
        "name": Limit(64, "bytes"),
        "variable label": Limit(256, "bytes"),
        "file label": Limit(64, "bytes"),
        "value label": Limit(120, "bytes"),
        "text": Limit(32_767, "bytes"),
        "number": Limit(np.inf),
        "whole number": Limit(2**53),
        "date": Limit(("1582-10-15", "9999-12-31")),
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
    """Notice that labels ``texts`` of a column, or of the file if it is "", are cut to the limit of a format."""
    limit = LIMITS[ending][what]
    n_labels = len(texts)
    subject = f"{counted(n_labels, 'label')} of values" if what == "value label" else "the label"
    owner = f"column {column!r}" if column else "the file"
    verb = "are" if n_labels > 1 else "is"
    text = f"{subject} of {owner} {verb} cut to {limit.most:,} {limit.unit}, the limit of {PROGRAMS[ending]}."
    return Notice(f"cut-{what.replace(' ', '-')}", text, column=column, example=shortened(texts[0], 30))


def exact(series: pd.Series[Any], ending: str) -> pd.Series[Any]:
    """A plain column, as text if it exceeds the limits of the file, or has times finer than a millisecond."""
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
    """Raise DataError for a table that a file with this ending cannot hold, with the column and what to do."""
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
        elif "\0" in text and ending != ".parquet":
            problem = f"a zero character in {text[:20]!r}, which {ending} files cannot hold: remove it, "
            problem += "or choose .parquet"
        elif exceeds(text, ending, "text"):
            limit = LIMITS[ending]["text"]
            problem = f"a text of more than {limit.most:,} {limit.unit}, the limit of {PROGRAMS[ending]}: shorten it, "
            problem += "leave the column out, or choose .csv or .parquet"
        else:
            continue
        raise DataError(f"column {name!r} holds {problem}.")


# Stata's help varname, and further names that pandas does not allow.
_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using with
    aggregate array boolean break case catch class colvector complex const continue default delegate delete do else
    eltypedef end enum explicit export external for friend function global goto inline local NULL pragma protected quad
    rowvector short typedef typename virtual
"""


class _Rule(NamedTuple):
    """The names that a program allows."""

    others: str  # allowed characters besides letters and digits
    firsts: str  # the same at the beginning
    reserved: Sequence[str]
    key: Callable[[str], str]  # equal for names that count as the same


_RULES = {
    ".dta": _Rule("_", "_", _STATA_WORDS.split(), str),
    ".sav": _Rule(
        "_.@#$", "@", ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"), str.lower
    ),
}


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Names of columns in a file with this ending: ``a-b`` becomes ``a_b``, ``2020`` and ``if`` get ``v_`` before them.

    If two names become the same, the later one gets ``_2``, ``_3`` and so on; allowed names are never changed.
    """
    rule = _RULES.get(ending)
    if rule is None:
        return list(names)
    fitted = [_fit(name, ending) for name in names]
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


def _fit(name: str, ending: str) -> str:
    rule = _RULES[ending]
    fit = "".join(c if _is_letter(c) or c in "0123456789" or c in rule.others else "_" for c in name)
    starts = fit.strip("_") and (_is_letter(fit[0]) or fit[0] in rule.firsts)
    # Stata's own types of text are str1 to str2045.
    is_type = ending == ".dta" and fit[:3] == "str" and fit[3:].isdigit()
    fit = cut(fit if starts and not is_type and rule.key(fit) not in rule.reserved else f"v_{fit}", ending, "name")
    # SPSS reads a full stop at the end as the end of a command.
    return f"{fit[:-1]}_" if fit.endswith(".") else fit


def _is_letter(character: str) -> bool:
    return character.isalpha() and (character.isascii() or ord(character) >= 192)
