"""A table at a glance: figures of each column, the first rows, records that look like totals, spelling variants."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype, is_object_dtype

from microagg.columns import numerals
from microagg.columns.evidence import ColumnValues
from microagg.columns.meanings import essence
from microagg.columns.taxonomy import category
from microagg.errors import DataError
from microagg.tables.frames import as_pandas
from microagg.tables.notices import is_total
from microagg.validation import LARGEST, FloatArray, check_whole, shortened

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


_BINS = 24
_LOOKED_AT, _EXAMPLES, _LONGEST = 200, 3, 24

# Whole numbers below this have the edges of their bins, which end in .5, among the floats.
_HALVES = 2.0**51
# Whole numbers over a wider range are binned as any others.
_WHOLE_RANGE = 1e9
# The greatest distance of a float to the next one, as a share of it.
_EPSILON = float(np.finfo(np.float64).eps)


def bin_edges(values: FloatArray, most: int) -> FloatArray:
    """Return the ascending edges of at most ``most`` equally wide bins over ``values``, which are finite, at least one.

    There are no more bins than distinct values, but at least 2 unless floats are too coarse. Bins of whole numbers hold
    equally many of them, so that bars of uniform data have one height.
    """
    check_whole("the number of bins", most, 1)
    low, high = float(values.min()), float(values.max())
    if max(-low, high) < _HALVES and high - low < _WHOLE_RANGE and (values == np.round(values)).all():
        step = max(1, math.ceil((high - low + 1) / most))
        return np.arange(low - 0.5, high + step + 0.5, step)
    if low == high:
        # Not less than what is between floats here, and no edge is beyond all of them.
        around, greatest = max(0.5, abs(low) * _EPSILON), np.finfo(np.float64).max
        return np.unique(np.clip([low - around, low, low + around], -greatest, greatest))
    shares = np.linspace(0.0, 1.0, min(most, max(2, len(np.unique(values)))) + 1)
    # The range itself may be beyond all floats, and a part of a narrow one below their spacing.
    edges = low * (1.0 - shares) + high * shares
    edges[[0, -1]] = low, high
    return np.unique(edges.clip(low, high))


def summary(frame: IntoDataFrame) -> pd.DataFrame:
    """Return a few figures of each column of ``frame``.

    In a DataFrame of shape (columns, 6): ``column`` is its name as text; ``least``, ``mean`` and ``greatest`` those of
    the finite values, NaN where there are none; ``distribution`` a list of the numbers of records: of a numeric column
    in at most 24 equal parts of its range (see :func:`bin_edges`), of any other with each of its 24 most frequent
    values; ``examples`` the first three distinct values of the first 200 that are not missing, each cut to 24
    characters.

    Raises DataError if ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    return pd.DataFrame(
        [{"column": str(name), **_figures(frame[name]), "examples": _examples(frame[name])} for name in frame.columns],
        columns=["column", "least", "mean", "greatest", "distribution", "examples"],
    )


def _figures(series: pd.Series[Any]) -> dict[str, Any]:
    nothing: dict[str, Any] = {"least": np.nan, "mean": np.nan, "greatest": np.nan, "distribution": []}
    if not is_numeric_dtype(series) or is_bool_dtype(series) or is_complex_dtype(series):
        present = series.dropna()
        if is_object_dtype(series):
            present = present.map(str)  # such as lists, which cannot be counted as they are
        counts = present.value_counts().head(_BINS)
        return nothing | {"distribution": counts[counts > 0].tolist()}
    values = series.to_numpy(float, na_value=np.nan)
    values = values[np.isfinite(values)]
    if not len(values):
        return nothing
    counts = np.histogram(values, bin_edges(values, _BINS))[0].tolist()
    # The sum of numbers that are finite need not be.
    unit = max(1.0, float(np.abs(values).max()) / LARGEST)
    mean = float((values / unit).mean() * unit)
    return {"least": values.min(), "mean": mean, "greatest": values.max(), "distribution": counts}


def _examples(series: pd.Series[Any]) -> str:
    values = series.dropna().head(_LOOKED_AT)
    texts = [f"{value:g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00") for value in values]
    return ", ".join(list(dict.fromkeys(shortened(text, _LONGEST) for text in texts))[:_EXAMPLES])


# --- the first rows, cut to so many columns and characters ------------------------------------------------------------

# Beyond these years neither Python nor a browser writes dates.
_FIRST, _LAST = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The beginning of a table."""

    #: Shape (rows, columns), with the table's index; what is no number, boolean or date of the years 1 to 9999 is text.
    frame: pd.DataFrame
    n_cut: int  # how many of its cells and names are longer than what is shown


def excerpt(
    frame: pd.DataFrame,
    *,
    rows: int = 5_000,
    columns: int = 100,
    cells: int = 200_000,
    longest: int = 200,
    characters: int = 2_000_000,
) -> Excerpt:
    """Return the beginning of ``frame``: at most so many ``rows``, ``columns`` and ``cells``, at least the first cell.

    A text has at most so many characters as ``longest`` says, the last of them an ellipsis where it is cut, and all
    together have ``characters``: there are as many rows as that is enough for, or one.
    """
    for name, most in {"rows": rows, "columns": columns, "cells": cells, "longest": longest}.items():
        check_whole(name, most, 1)
    d = min(frame.shape[1], columns)
    n = min(len(frame), rows, max(cells // max(d, 1), 1))
    taken = frame.iloc[:n, :d]
    names, n_cut = _unique_names([str(name) for name in taken.columns], longest)
    contents: dict[str, Any] = {}
    lengths, cut = np.zeros((2, n), dtype=np.int64)
    for j, name in enumerate(names):
        series = taken.iloc[:, j]
        if _is_plain(series):
            if isinstance(series.dtype, pd.SparseDtype):
                series = pd.Series(np.asarray(series), index=series.index)
            contents[name] = series.astype(np.float32) if series.dtype == np.float16 else series
            continue
        texts = [
            None if missing else _cell_text(value) for value, missing in zip(series, series.isna().array, strict=True)
        ]
        cut += np.array([text is not None and len(text) > longest for text in texts], dtype=bool)
        contents[name] = [text if text is None else shortened(text, longest) for text in texts]
        lengths += np.array([0 if text is None else len(text) for text in contents[name]], dtype=np.int64)
    fits = max(int(np.searchsorted(np.cumsum(lengths), characters, side="right")), min(n, 1))
    table = pd.DataFrame(contents, index=taken.index, columns=names).iloc[:fits]
    return Excerpt(table, n_cut + int(cut[:fits].sum()))


def _is_plain(series: pd.Series[Any]) -> bool:
    if is_datetime64_any_dtype(series):
        if isinstance(series.dtype, pd.DatetimeTZDtype):
            return False
        present = series.dropna().to_numpy()
        return not len(present) or bool(present.min() >= _FIRST and present.max() <= _LAST)
    return is_numeric_dtype(series) and not is_complex_dtype(series)


def _cell_text(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, pd.Timestamp):
        return str(np.datetime64(value.to_datetime64())) if value.tzinfo is None else value.isoformat(" ")
    return str(value) if isinstance(value, float) else category(value)


def _unique_names(names: list[str], longest: int) -> tuple[list[str], int]:
    """Return names cut, each of them once, and how many are cut."""
    unique: dict[str, None] = {}
    for name in names:
        short, number = shortened(name, longest), 1
        while short in unique:
            number += 1
            short = f"{shortened(name, longest - 10)} ({number})"
        unique[short] = None
    return list(unique), sum(len(name) > longest for name in names)


# --- records that are totals of the others, as in tables made by hand -------------------------------------------------

# A word in more records than this share of them is a category.
_RARE = 0.05
# A sum of fewer numbers above 0 may be one by chance.
_LEAST_SUMMANDS = 5
# Text is read as numbers in files of so many records at most: people made no larger table.
_MOST_TEXTS = 20_000
# The rounding of floats, by the sum.
_ROUNDING = 1e-9


def totals(frame: IntoDataFrame) -> list[int]:
    """Return the records that look like totals of others, counting from 0, in ascending order.

    These are records with a word for it in the first column ("Total", "Sum", "Insgesamt"), if they are at most one in
    twenty; the last record, if it alone has such a word in some column; and the last record, if in at least half of the
    columns of numbers it has the sum of all above it, none of which is negative and at least five are above 0. In files
    of at most 20,000 records, text may be numbers.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    if len(frame) < 2 or frame.shape[1] == 0:
        return []
    first = np.flatnonzero(_names_total(frame.iloc[:, 0]))
    rows = set(first.tolist() if len(first) <= max(1, _RARE * len(frame)) else ())
    return sorted(rows | {len(frame) - 1} if _last_names_total(frame) or _last_is_sum(frame) else rows)


def _names_total(series: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return which records have a word for a total in a column, shape (n,)."""
    if is_numeric_dtype(series) or is_datetime64_any_dtype(series):
        return np.zeros(len(series), dtype=np.bool_)
    return np.array([isinstance(value, str) and is_total(value) for value in series.astype(object)], dtype=np.bool_)


def _last_names_total(frame: pd.DataFrame) -> bool:
    """Whether the last record has a word for a total in some column, and no other record has one there."""
    named = [j for j, value in enumerate(frame.iloc[-1]) if isinstance(value, str) and is_total(value)]
    return any(int(np.count_nonzero(_names_total(frame.iloc[:, j]))) == 1 for j in named)


def _last_is_sum(frame: pd.DataFrame) -> bool:
    """Whether the last number is the sum of those above it in half of the columns of numbers that have one."""
    sums = columns = 0
    for position in range(frame.shape[1]):
        values = _numbers(frame.iloc[:, position])
        if values is not None and not np.isnan(values[-1]):
            columns += 1
            sums += _column_ends_in_sum(values)
    return sums > 0 and 2 * sums >= columns


def _numbers(series: pd.Series[Any]) -> FloatArray | None:
    """Return a column as numbers, shape (n,), also where it is text; None where it holds none."""
    if is_bool_dtype(series) or is_complex_dtype(series) or is_datetime64_any_dtype(series):
        return None
    if not is_numeric_dtype(series) and len(series) > _MOST_TEXTS:
        return None
    try:
        return numerals.read(series).to_numpy(dtype=np.float64, na_value=np.nan)
    except (DataError, TypeError, ValueError):
        return None


def _column_ends_in_sum(numbers: FloatArray) -> bool:
    above, last = numbers[:-1][~np.isnan(numbers[:-1])], numbers[-1]
    if np.count_nonzero(above > 0) < _LEAST_SUMMANDS or above.min() < 0 or not np.isfinite(last):
        return False
    total = float(above.sum())
    return bool(np.isfinite(total) and abs(total - last) <= _ROUNDING * total)


# --- values that may be the same --------------------------------------------------------------------------------------

# A value is a typing error of another if it is long, occurs in at most this share of the records, and the other in
# more, and so many times as often.
_LONG = 6
_TOO_LONG = 200
_RARE_SHARE = 0.01
_TIMES_RARER = 5
# More single letters than these are grades or groups, not initials.
_MOST_INITIALS = 3


def near_duplicates(series: pd.Series[Any]) -> tuple[tuple[str, ...], ...]:
    """Return the sets of categories that may be spellings of one and the same.

    They differ only by small and capital letters, blanks, accents, or punctuation between or after letters; or, of 6 to
    200 letters, by one letter (left out, added, changed or swapped with the next), where one of the two spellings
    is in at most 1 % of the records and the other in more, and at least 5 times as often; or one is a letter, among at
    most three such, with which one word alone begins, and each word begins with one of them. In each set the most
    frequent is first (of equals, the first in the alphabet), and sets are in the order of their first values.
    """
    column = ColumnValues.of(series)
    if column is None:
        return ()
    pairs = zip(column.distinct, column.counts.tolist(), strict=True)
    counts = {value: n for value, n in pairs if isinstance(value, str)}
    sets: dict[str, list[str]] = {}
    for value in counts:
        sets.setdefault(essence(value), []).append(value)
    totals = {key: sum(counts[value] for value in values) for key, values in sets.items()}
    for typo, right in _typing_errors(totals).items():
        sets[right] += sets.pop(typo)
    for letter, word in _initials(sets).items():
        sets[word] += sets.pop(letter)
    several = (values for values in sets.values() if len(values) > 1)
    return tuple(sorted(tuple(sorted(values, key=lambda value: (-counts[value], value))) for values in several))


def _initials(keys: Collection[str]) -> dict[str, str]:
    """Return for each letter the one word that it stands for, such as f for female; nothing if a word has no letter."""
    letters = {key for key in keys if len(key) == 1 and key.isalpha()}
    words = [key for key in keys if len(key) > 2 and key.isalpha()]
    by_initial = {word[0]: word for word in words}
    fits = len(letters) + len(words) == len(keys) and len(letters) <= _MOST_INITIALS
    return by_initial if fits and len(by_initial) == len(words) and by_initial.keys() <= letters else {}


def _typing_errors(counts: Mapping[str, int]) -> dict[str, str]:
    """Return for each rare spelling the frequent one that it differs from by one letter, of several the commonest."""
    bound = max(1, _RARE_SHARE * sum(counts.values()))
    # Time and memory grow with the square of a text's length, and sentences are no categories.
    counts = {key: n for key, n in counts.items() if _LONG <= len(key) <= _TOO_LONG}
    frequent = sorted((key for key, n in counts.items() if n > bound), key=lambda key: -counts[key])
    near: dict[str, list[str]] = {}
    for key in frequent:
        for shorter in _with_one_less(key):
            near.setdefault(shorter, []).append(key)
    corrections = {}
    for key, n in counts.items():
        if n > bound:
            continue
        # Two texts that differ by one letter are equal after leaving out one of each at most.
        candidates = {other for shorter in _with_one_less(key) for other in near.get(shorter, [])} - {key}
        likely = [other for other in candidates if counts[other] >= _TIMES_RARER * n and _is_one_off(key, other)]
        if likely:
            corrections[key] = max(likely, key=lambda other: (counts[other], other))
    return corrections


def _with_one_less(text: str) -> Iterator[str]:
    yield text
    for i in range(len(text)):
        yield text[:i] + text[i + 1 :]


def _is_one_off(one: str, other: str) -> bool:
    """Whether two texts differ by one letter left out, added, changed or swapped with the next, not by other signs."""
    i = 0
    while i < min(len(one), len(other)) and one[i] == other[i]:
        i += 1
    first, second = one[i:], other[i:]
    ways = (
        (first[1:] == second, first[:1]),
        (first == second[1:], second[:1]),
        (first[1:] == second[1:], first[:1] + second[:1]),
        (first[:2] == second[1::-1] and first[2:] == second[2:], first[:2]),
    )
    return any(fits and letters.isalpha() for fits, letters in ways)
