"""What each kind of file can hold: one table of limits, and what becomes of a table that exceeds one.

Every limit of a format stands in :data:`LIMITS`, with its source; writers, names and checks read it there. What is
refused is refused by :func:`check`, which needs no method to have run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    return Notice(f"cut-{what.replace(' ', '-')}", text, column=column, count=count, example=shortened(texts[0], 30))


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
