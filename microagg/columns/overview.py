"""A table at a glance: figures of each column, and spelling variants among its values."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype, is_object_dtype

from microagg.columns.evidence import ColumnValues
from microagg.columns.recodes import essence
from microagg.tables.frames import as_pandas
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
    # Time grows with a text's length, and sentences are not categories.
    counts = {key: n for key, n in counts.items() if _MIN_LENGTH <= len(key) <= _MAX_LENGTH}
    frequent = sorted((key for key, n in counts.items() if n > bound), key=lambda key: (counts[key], key))
    corrections: dict[str, str] = {}
    for key in (key for key, n in counts.items() if n <= bound):
        near = [match for match in frequent if counts[match] >= _MIN_RATIO * counts[key] and _is_one_off(key, match)]
        corrections |= {key: near[-1]} if near else {}
    return corrections


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
