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
_N_EXAMINED, _EXAMPLES, _LONGEST = 200, 3, 24

# Below this, floats can represent the edges of bins of whole numbers, which end in .5.
_HALVES = 2.0**51
# Whole numbers with a wider range have the bins of other numbers.
_WHOLE_RANGE = 1e9
# The maximum relative distance of a float to the next one.
_EPSILON = float(np.finfo(np.float64).eps)


def bin_edges(values: FloatArray, most: int) -> FloatArray:
    """Ascending edges of at most ``most`` equally wide bins over ``values``.

    There are no more bins than distinct values, but at least 2 unless floats are too coarse. Bins of whole numbers have
    equally many of them, so that bars of uniform data have one height.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers, at least one.
    most : int
        Maximum number of bins, at least 1.
    """
    check_whole("the number of bins", most, 1)
    low, high = float(values.min()), float(values.max())
    if max(-low, high) < _HALVES and high - low < _WHOLE_RANGE and (values == np.round(values)).all():
        step = max(1, math.ceil((high - low + 1) / most))
        return np.arange(low - 0.5, high + step + 0.5, step)
    if low == high:
        # At least the distance of floats here; no edge exceeds the largest float.
        margin, greatest = max(0.5, abs(low) * _EPSILON), np.finfo(np.float64).max
        return np.unique(np.clip([low - margin, low, low + margin], -greatest, greatest))
    shares = np.linspace(0.0, 1.0, min(most, max(2, len(np.unique(values)))) + 1)
    # The range itself may exceed the largest float, and the bins of a narrow range the spacing of floats.
    edges = low * (1.0 - shares) + high * shares
    edges[[0, -1]] = low, high
    return np.unique(edges.clip(low, high))


def summary(frame: IntoDataFrame) -> pd.DataFrame:
    """Figures of each column of a table.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.

    Returns
    -------
    DataFrame of shape (columns, 6)
        ``column``, the name as text; ``least``, ``mean`` and ``greatest`` of the finite values, NaN without any;
        ``distribution``, a list of numbers of records: of a numeric column in at most 24 equal parts of its range (see
        :func:`bin_edges`), of any other with each of its 24 most frequent values; ``examples``, the first three
        distinct values among the first 200 present ones, each shortened to 24 characters.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
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
            present = present.map(str)  # such as lists, which cannot be counted
        counts = present.value_counts().head(_BINS)
        return nothing | {"distribution": counts[counts > 0].tolist()}
    values = series.to_numpy(float, na_value=np.nan)
    values = values[np.isfinite(values)]
    if not len(values):
        return nothing
    counts = np.histogram(values, bin_edges(values, _BINS))[0].tolist()
    # The sum of finite numbers may be infinite.
    unit = max(1.0, float(np.abs(values).max()) / LARGEST)
    mean = float((values / unit).mean() * unit)
    return {"least": values.min(), "mean": mean, "greatest": values.max(), "distribution": counts}


def _examples(series: pd.Series[Any]) -> str:
    values = series.dropna().head(_N_EXAMINED)
    texts = [f"{value:g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00") for value in values]
    return ", ".join(list(dict.fromkeys(shortened(text, _LONGEST) for text in texts))[:_EXAMPLES])


# --- the first rows, with limits for columns and characters -----------------------------------------------------------

# Python and browsers write only dates of these years.
_FIRST_DATE, _LAST_DATE = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The beginning of a table."""

    #: Shape (rows, columns), with the table's index; numbers, booleans, dates of the years 1 to 9999, others as text.
    frame: pd.DataFrame
    n_cut: int  # the number of shortened cells and names


def excerpt(
    frame: pd.DataFrame,
    *,
    rows: int = 5_000,
    columns: int = 100,
    cells: int = 200_000,
    longest: int = 200,
    characters: int = 2_000_000,
) -> Excerpt:
    """The beginning of ``frame``: at most ``rows``, ``columns`` and ``cells``, at least the first cell.

    Parameters
    ----------
    frame : DataFrame
        A table.
    rows, columns, cells : int
        Maximum numbers, each at least 1.
    longest : int
        Maximum number of characters of a text, the last of them an ellipsis if it is shortened.
    characters : int
        Rows end when all texts together exceed it, after at least one row.
    """
    for name, limit in {"rows": rows, "columns": columns, "cells": cells, "longest": longest}.items():
        check_whole(name, limit, 1)
    d = min(frame.shape[1], columns)
    n = min(len(frame), rows, max(cells // max(d, 1), 1))
    part = frame.iloc[:n, :d]
    names, n_cut = _unique_names([str(name) for name in part.columns], longest)
    contents: dict[str, Any] = {}
    lengths, cut = np.zeros((2, n), dtype=np.int64)
    for j, name in enumerate(names):
        series = part.iloc[:, j]
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
    n_fitting = max(int(np.searchsorted(np.cumsum(lengths), characters, side="right")), min(n, 1))
    table = pd.DataFrame(contents, index=part.index, columns=names).iloc[:n_fitting]
    return Excerpt(table, n_cut + int(cut[:n_fitting].sum()))


def _is_plain(series: pd.Series[Any]) -> bool:
    if is_datetime64_any_dtype(series):
        if isinstance(series.dtype, pd.DatetimeTZDtype):
            return False
        present = series.dropna().to_numpy()
        return not len(present) or bool(present.min() >= _FIRST_DATE and present.max() <= _LAST_DATE)
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
    """Names shortened and made unique, and the number of shortened ones."""
    unique: dict[str, None] = {}
    for name in names:
        short, number = shortened(name, longest), 1
        while short in unique:
            number += 1
            short = f"{shortened(name, longest - 10)} ({number})"
        unique[short] = None
    return list(unique), sum(len(name) > longest for name in names)


# --- records that are totals of others, as in tables made by hand -----------------------------------------------------

# A word in a larger share of the records is a category.
_MAX_TOTAL_SHARE = 0.05
# A sum of fewer numbers above 0 may occur by chance.
_MIN_SUMMANDS = 5
# Text is read as numbers in files of at most this many records: larger tables are not made by hand.
_MOST_TEXTS = 20_000
# The rounding of floats, relative to the sum.
_ROUNDING = 1e-9


def totals(frame: IntoDataFrame) -> list[int]:
    """Records that look like totals of others, counting from 0, in ascending order.

    These are records with a word for a total in the first column ("Total", "Sum", "Insgesamt"), if they are at most one
    in twenty; the last record, if it alone has such a word in some column; and the last record, if in at least half of
    the columns of numbers it has the sum of all above it, none of which is negative and at least five are above 0. In
    files of at most 20,000 records, text may be numbers.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    if len(frame) < 2 or frame.shape[1] == 0:
        return []
    first = np.flatnonzero(_names_total(frame.iloc[:, 0]))
    rows = set(first.tolist() if len(first) <= max(1, _MAX_TOTAL_SHARE * len(frame)) else ())
    return sorted(rows | {len(frame) - 1} if _last_names_total(frame) or _last_is_sum(frame) else rows)


def _names_total(series: pd.Series[Any]) -> NDArray[np.bool_]:
    """Whether each record has a word for a total in a column, shape (n,)."""
    if is_numeric_dtype(series) or is_datetime64_any_dtype(series):
        return np.zeros(len(series), dtype=np.bool_)
    return np.array([isinstance(value, str) and is_total(value) for value in series.astype(object)], dtype=np.bool_)


def _last_names_total(frame: pd.DataFrame) -> bool:
    """Whether the last record has a word for a total in some column, and no other record has one there."""
    positions = [j for j, value in enumerate(frame.iloc[-1]) if isinstance(value, str) and is_total(value)]
    return any(int(np.count_nonzero(_names_total(frame.iloc[:, j]))) == 1 for j in positions)


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
    """A column as numbers, shape (n,), also if it is text."""
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
    if np.count_nonzero(above > 0) < _MIN_SUMMANDS or above.min() < 0 or not np.isfinite(last):
        return False
    total = float(above.sum())
    return bool(np.isfinite(total) and abs(total - last) <= _ROUNDING * total)


# --- spelling variants ------------------------------------------------------------------------------------------------

# A value may be a typing error of another if its length is in this range, it occurs in at most this share of the
# records, and the other in more, and at least this many times as often.
_MIN_LENGTH = 6
_MAX_LENGTH = 200
_MAX_TYPO_SHARE = 0.01
_MIN_RATIO = 5
# More single letters are grades or groups, not initials.
_MOST_INITIALS = 3


def near_duplicates(series: pd.Series[Any]) -> tuple[tuple[str, ...], ...]:
    """Sets of categories that may be spelling variants of one.

    They differ only by capitals, blanks, accents, or punctuation between or after letters; or, with 6 to 200 letters,
    by one letter (left out, added, changed or swapped with the next), if one of the two spellings is in at most 1 % of
    the records and the other in more, and at least 5 times as often; or one is a letter, one of at most three, and the
    only word with this initial, if each word has one of these initials. In each set the most frequent is first (of
    ties, the first in the alphabet), and sets are in the order of their first values.
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
    for typo, correct in _typing_errors(totals).items():
        sets[correct] += sets.pop(typo)
    for letter, word in _initials(sets).items():
        sets[word] += sets.pop(letter)
    variants = (values for values in sets.values() if len(values) > 1)
    return tuple(sorted(tuple(sorted(values, key=lambda value: (-counts[value], value))) for values in variants))


def _initials(keys: Collection[str]) -> dict[str, str]:
    """The only word with each letter as its initial, such as f for female. Empty if a word has no such letter."""
    letters = {key for key in keys if len(key) == 1 and key.isalpha()}
    words = [key for key in keys if len(key) > 2 and key.isalpha()]
    by_initial = {word[0]: word for word in words}
    fits = len(letters) + len(words) == len(keys) and len(letters) <= _MOST_INITIALS
    return by_initial if fits and len(by_initial) == len(words) and by_initial.keys() <= letters else {}


def _typing_errors(counts: Mapping[str, int]) -> dict[str, str]:
    """Frequent spelling for each rare one that differs from it by one letter. Of several, the most frequent."""
    bound = max(1, _MAX_TYPO_SHARE * sum(counts.values()))
    # Time and memory grow with the square of a text's length, and sentences are not categories.
    counts = {key: n for key, n in counts.items() if _MIN_LENGTH <= len(key) <= _MAX_LENGTH}
    frequent = sorted((key for key, n in counts.items() if n > bound), key=lambda key: -counts[key])
    near_keys: dict[str, list[str]] = {}
    for key in frequent:
        for shorter in _with_one_less(key):
            near_keys.setdefault(shorter, []).append(key)
    corrections = {}
    for key, n in counts.items():
        if n > bound:
            continue
        # Two texts that differ by one letter are equal after leaving out one of each at most.
        candidates = {match for shorter in _with_one_less(key) for match in near_keys.get(shorter, [])} - {key}
        plausible = [match for match in candidates if counts[match] >= _MIN_RATIO * n and _is_one_off(key, match)]
        if plausible:
            corrections[key] = max(plausible, key=lambda match: (counts[match], match))
    return corrections


def _with_one_less(text: str) -> Iterator[str]:
    yield text
    for i in range(len(text)):
        yield text[:i] + text[i + 1 :]


def _is_one_off(text: str, variant: str) -> bool:
    """Whether two texts differ by one letter left out, added, changed or swapped with the next, not by other signs."""
    i = 0
    while i < min(len(text), len(variant)) and text[i] == variant[i]:
        i += 1
    first, second = text[i:], variant[i:]
    cases = (
        (first[1:] == second, first[:1]),
        (first == second[1:], second[:1]),
        (first[1:] == second[1:], first[:1] + second[:1]),
        (first[:2] == second[1::-1] and first[2:] == second[2:], first[:2]),
    )
    return any(fits and letters.isalpha() for fits, letters in cases)
