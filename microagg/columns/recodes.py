"""Values of a column that become others before anything is done with it: spellings made one, ranges, top coding.

A recoding maps values, as :func:`microagg.columns.taxonomy.category` writes them, to what they become; of numbers also
ranges: ``[40, 50)`` from 40 to less than 50, ``>=90``, ``<0``. A value itself comes before ranges, and of these the
first that holds it counts. What is not mapped stays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_float_dtype, is_integer_dtype

from microagg.columns import numerals
from microagg.columns.records import is_number, without_codes
from microagg.columns.schema import column_names
from microagg.columns.taxonomy import category
from microagg.errors import DataError, ParameterError
from microagg.validation import FloatArray, check_columns, factorized

#: What the values of a column become, by their texts; None is missing.
Recoding = Mapping[str, str | None]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SPAN = re.compile(rf"([\[(])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([\])])", re.ASCII)
_BEYOND = re.compile(rf"([<>]=?)\s*({_NUMBER})", re.ASCII)


def check_recodes(given: Any) -> dict[Hashable, dict[str, str | None]] | None:
    """Return recodings by column with all values as text, None where there are none; else a ParameterError."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ParameterError(f"recode must map column names to recodings, not be {given!r}: write {{'column': ...}}.")
    return {name: _checked(name, changes) for name, changes in given.items() if changes} or None


def _checked(name: Hashable, changes: Any) -> dict[str, str | None]:
    if not isinstance(changes, Mapping):
        raise ParameterError(
            f"recode of {name!r} must map values to what they become, such as {{'f': 'female'}}, not be {changes!r}."
        )
    for value in changes:
        if value is None or value is pd.NA or value != value:
            raise ParameterError(f"recode of {name!r} maps a missing value: say by missing= what is done about gaps.")
    for value in changes.values():
        if value is not None and not isinstance(value, (str, int, float, np.number)):
            raise ParameterError(f"recode of {name!r} has {value!r} for a new value: give text, a number, or None.")
    return {category(value): None if new is None or new == "" else category(new) for value, new in changes.items()}


def recoded(
    frame: pd.DataFrame,
    recodes: Mapping[Hashable, Recoding] | None,
    *,
    numbers: Any = None,
    missing_codes: Mapping[Hashable, Any] | None = None,
    **_: Any,
) -> pd.DataFrame:
    """Return ``frame`` with the values of some columns recoded, others as they are; without recodings itself.

    ``numbers`` and ``missing_codes`` are as :meth:`microagg.Schema.infer` takes them: text that is read as numbers can
    have ranges, too. Numbers that become numbers stay such. Where some of them become text, all are categories, ordered
    as the numbers were if ranges are mapped and none of the new values lies among another's numbers.

    Raises DataError if there is no such column, text that is no number has a range, or numbers cannot be read.
    """
    if not recodes:
        return frame
    check_columns(frame, list(recodes), " (it is to be recoded)")
    notations = dict(numbers) if isinstance(numbers, Mapping) else dict.fromkeys(column_names("numbers", numbers))
    result = frame.copy(deep=False)
    for name, changes in recodes.items():
        series: pd.Series[Any] = frame[name]
        if is_number(series.dtype):
            result[name] = _numbers(series, series, changes)
        elif name in notations:
            codes = (missing_codes or {}).get(name, ())
            codes = [codes] if isinstance(codes, str) or not isinstance(codes, Iterable) else codes
            left = without_codes(series, {*changes, *map(category, codes)})
            result[name] = _numbers(series, numerals.read(left, notations[name]), changes)
        else:
            result[name] = _values(series, changes)
    return result


def _mapped(series: pd.Series[Any], changes: Recoding) -> tuple[NDArray[np.bool_], NDArray[Any], Collection[str]]:
    """Return of which records the value itself is mapped, and to what, each of shape (n,), and all values as text."""
    positions, distinct = factorized(series)
    texts = [category(value) for value in distinct]
    hit = np.array([*(text in changes for text in texts), False])[positions]
    return hit, np.array([*map(changes.get, texts), None], dtype=object)[positions], set(texts)


def _values(series: pd.Series[Any], changes: Recoding) -> pd.Series[Any]:
    hit, new, texts = _mapped(series, changes)
    if spans := [text for text in changes if text not in texts and _bounds(text)]:
        raise DataError(
            f"column {series.name!r} holds no numbers, so the range {spans[0]!r} holds none of its values: name the "
            "column among the numbers, or recode its values one by one."
        )
    if all(value is None for value in new[hit]):
        return without_codes(series, set(changes))
    if isinstance(series.dtype, pd.CategoricalDtype):
        known = dict.fromkeys(changes.get(text, text) for text in map(category, series.cat.categories))
        whole = _put(series, hit, new)
        kind = pd.CategoricalDtype([text for text in known if text is not None], bool(series.cat.ordered))
        return pd.Series(whole, index=series.index, name=series.name).astype(kind)
    return pd.Series(_put(series, hit, new), index=series.index, name=series.name).infer_objects()


def _put(series: pd.Series[Any], hit: NDArray[np.bool_], new: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a column as text, shape (n,), the ``new`` ones where they are ``hit``; None for gaps."""
    positions, distinct = factorized(series)
    return np.where(hit, new, np.array([*map(category, distinct), None], dtype=object)[positions])


def _numbers(given: pd.Series[Any], read: pd.Series[Any], changes: Recoding) -> pd.Series[Any]:
    """Return a column recoded whose values, but those that are mapped themselves, were ``read`` as numbers."""
    hit, new, texts = _mapped(given, changes)
    values = read.to_numpy(dtype=np.float64, na_value=np.nan)
    by_range = np.zeros(len(values), dtype=np.bool_)
    for text, to in changes.items():
        if text not in texts and (bounds := _bounds(text)):
            found = ~hit & _within(values, bounds)
            new[found], hit[found], by_range[found] = to, True, True
    becomes = {
        text: float(text) for text in set(new[hit]) if text is not None and re.fullmatch(_NUMBER, text, re.ASCII)
    }
    if set(new[hit]) - {None} - set(becomes):
        return _categories(pd.Series(_put(read, hit, new), index=given.index, name=given.name), values, by_range)
    whole = is_integer_dtype(read.dtype) and all(number.is_integer() for number in becomes.values())
    out = read.astype(object).to_numpy(copy=True)
    out[hit] = [None if text is None else becomes[text] for text in new[hit]]
    result = pd.Series(out, index=given.index, name=given.name)
    if whole:
        result = result.map(int, na_action="ignore")
        return result.astype("Int64" if result.isna().any() else read.dtype)
    return result.astype(read.dtype if is_float_dtype(read.dtype) else np.float64)


def _categories(texts: pd.Series[Any], values: FloatArray, by_range: NDArray[np.bool_]) -> pd.Series[Any]:
    """Return ``texts`` as ordered categories if each has ``values`` of its own, above those of the one before."""
    spans = pd.Series(values).groupby(texts.to_numpy(), sort=False).agg(["min", "max"]).sort_values("min")
    apart = (spans["min"].to_numpy()[1:] > spans["max"].to_numpy()[:-1]).all()
    if not by_range.any() or spans.isna().any(axis=None) or not apart:
        return texts.infer_objects()
    return texts.astype(pd.CategoricalDtype(spans.index.tolist(), ordered=True))


def _bounds(text: str) -> tuple[float, bool, float, bool] | None:
    """Return the least number of a range and whether it is in it, and the greatest likewise; None if it is no range."""
    if found := _SPAN.fullmatch(text.strip()):
        return float(found[2]), found[1] == "[", float(found[3]), found[4] == "]"
    if found := _BEYOND.fullmatch(text.strip()):
        closed, number = found[1].endswith("="), float(found[2])
        return (-math.inf, False, number, closed) if found[1][0] == "<" else (number, closed, math.inf, False)
    return None


def _within(values: FloatArray, bounds: tuple[float, bool, float, bool]) -> NDArray[np.bool_]:
    low, from_low, high, to_high = bounds
    above = values >= low if from_low else values > low
    inside: NDArray[np.bool_] = above & (values <= high if to_high else values < high)
    return inside


def intervals(values: FloatArray, limits: Sequence[float]) -> dict[str, str]:
    """Return the recoding of finite ``values``, shape (n,), at least one, to intervals that begin at ``limits``.

    What is below the first limit and at or above the last is an interval, too, if there are such values. Intervals of
    whole numbers are named 40–49, others 40.5 to <50; below and above them <18 and ≥90.
    """
    whole = bool((values == np.round(values)).all()) and all(float(limit).is_integer() for limit in limits)
    limits = sorted(set(limits))
    written = [category(limit) for limit in limits]
    found = {f"<{written[0]}": f"<{written[0]}"} if values.min() < limits[0] else {}
    for (low, high), (first, stop) in zip(pairwise(limits), pairwise(written), strict=True):
        last = category(high - 1)
        name = (first if low == high - 1 else f"{first}–{last}") if whole else f"{first} to <{stop}"
        found[f"[{first}, {stop})"] = name
    return found | ({f">={written[-1]}": f"≥{written[-1]}"} if values.max() >= limits[-1] else {})
