"""Meanings of confidential values: spelling variants count as one value, words for no value as missing.

A reader learns the same from ``hiv``, ``HIV`` and ``hiv ``, and nothing from ``n/a``, so counts of confidential columns
use the values of :func:`meant`. The released column is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype, is_object_dtype

from microagg.columns.evidence import ColumnValues, folded
from microagg.columns.kinds import NO_NUMBER, read_kind
from microagg.columns.recodes import Recoding, bounds, recoded
from microagg.columns.records import is_number
from microagg.columns.taxonomy import ANYTHING, category
from microagg.validation import check_present, listing, quoted


def essence(value: str) -> str:
    """The value in small letters without accents, and without blanks and punctuation that have no meaning."""
    plain = " ".join(folded(value).split())
    if plain.replace(" ", "").isalnum() or not any(map(str.isalpha, plain)):
        return plain  # 1.5 and 15, or 1-2 and 12, are not the same
    # Dots and commas in numbers stay.
    plain = re.sub(r"(?<!\d)[.,;:!?'\"`´’]|[.,;:!?'\"`´’](?!\d)", "", plain)
    # Blood groups A+ and A- are not the same either: signs count unless they are between letters.
    plain = re.sub(r"(?<=[^\W\d]) ?[-_/] ?(?=[^\W\d])", " ", plain)
    return " ".join(plain.split())


# Texts without information on a person; "none" may be a diagnosis, and NC a state.
_NO_VALUES = frozenset(map(essence, NO_NUMBER)) - {"none", "nc"}


def meant(series: pd.Series[Any], changes: Recoding | None = None) -> pd.Series[Any]:
    """A column with one value for all its spelling variants. Words for a missing value become missing.

    Numbers, dates and booleans are unchanged. Texts with the same :func:`essence` become one value; empty texts and
    words such as ``n/a`` and ``unknown`` become missing; ordered categories keep their order. ``changes`` map values,
    in any spelling, or ranges of numbers to other meanings, and ``*`` all other values. A meaning maps to itself.
    """
    mapping = {essence(old): essence(new or "") for old, new in (changes or {}).items()}
    if changes and (is_number(series.dtype) or any(map(bounds, changes))):
        series = recoded(series.to_frame(series.name), {series.name: changes})[0][series.name]
        mapping = {new: new for new in mapping.values()} | {old: new for old, new in mapping.items() if old == ANYTHING}
    if (is_numeric_dtype(series) or is_datetime64_any_dtype(series)) and ANYTHING not in mapping:
        return series

    def meaning(text: str) -> str | None:
        # Files have an apostrophe before texts that look like formulas, and whole floats as 1.0.
        plain = essence(re.sub(r"^([-+]?\d+)\.0+$", r"\1", text.removeprefix("'")))
        default = plain if plain in _NO_VALUES else mapping.get(ANYTHING, plain)
        return None if (result_text := mapping.get(plain, default)) in _NO_VALUES else result_text

    positions, distinct = _factorized_texts(series)
    meanings = np.array([*map(meaning, map(category, distinct)), meaning("")], dtype=object)
    result = pd.Series(meanings[positions], series.index, dtype=object, name=series.name)
    if not getattr(series.dtype, "ordered", False):
        return result
    levels = dict.fromkeys(meaning(category(level)) for level in series.cat.categories)
    return result.astype(pd.CategoricalDtype([level for level in levels if level is not None], ordered=True))


def meanings_of(
    columns: Mapping[Any, pd.Series[Any]] | pd.DataFrame,
    names: Iterable[Hashable],
    meanings: Mapping[Any, Recoding] | None,
) -> dict[Hashable, pd.Series[Any]]:
    """Columns ``names``, with the declared ``meanings`` of their values, if any."""
    recodings = meanings or {}
    return {name: meant(columns[name], recodings[name]) if name in recodings else columns[name] for name in names}


def _factorized_texts(series: pd.Series[Any]) -> tuple[NDArray[Any], Any]:
    """Position of each record's value among the distinct ones, shape (n,), -1 if missing, and these values."""
    # Among objects 1 equals True.
    return pd.factorize(series.map(category, na_action="ignore") if is_object_dtype(series) else series)


def check_meant(
    series: pd.Series[Any], used: NDArray[np.bool_], so: str = "", values: pd.Series[Any] | None = None
) -> None:
    """Raise DataError with the first ``used`` record, shape (n,), with no value, or a word for a missing one."""
    meanings, problem, remedy = meant(series if values is None else values), "no value", ""
    absent = series[used & meanings.isna().to_numpy()].iloc[:1].dropna()
    text = category(absent.iloc[0]).strip() if len(absent) else ""
    if text:
        problem = f"{text!r}, which stands for no value,"
    if text or not is_numeric_dtype(series):
        remedy = f", or say what it means, such as meanings={{{series.name!r}: {{{text!r}: 'not tested'}}}}"
    check_present(meanings, used, problem, so, remedy)


def counted_as(series: pd.Series[Any], meanings: pd.Series[Any]) -> str:
    """Sentence on the values of a column that count as one, or as missing. Empty if each is its own meaning."""
    positions, distinct = _factorized_texts(series)
    codes = pd.factorize(meanings)[0]
    if len(distinct) == codes.max(initial=-1) + 1 and np.array_equal(positions < 0, codes < 0):
        return ""
    sets: dict[int, list[str]] = {}
    for row in np.flatnonzero(~pd.Series(positions).duplicated() & (positions >= 0)):
        text = category(distinct[positions[row]])
        if text.strip():
            sets.setdefault(codes[row], []).append(text)
    without = sets.pop(-1, [])
    several = [f"{listing([*map(repr, texts)], 5)} count as one value" for texts in sets.values() if len(texts) > 1]
    clauses = [*several[:3], *(["others likewise"] if len(several) > 3 else [])]
    if without:
        clauses.append(f"{quoted(without)} {'counts' if len(without) == 1 else 'count'} as no value")
    return f"In column {str(series.name)!r}, {listing(clauses)}." if clauses else ""


def doubts(series: pd.Series[Any]) -> tuple[Any, ...]:
    """Numbers of a column that look like missing-value codes, though they count as values."""
    column = ColumnValues.of(series) if is_number(series.dtype) else None
    return () if column is None else read_kind(column).missing_codes
