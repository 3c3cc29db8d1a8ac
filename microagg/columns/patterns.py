"""What only several columns or records show: columns that settle each other's values, and records that are totals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns import numerals
from microagg.columns.evidence import ColumnValues
from microagg.errors import DataError
from microagg.tables.frames import as_pandas
from microagg.tables.notices import is_total
from microagg.validation import FloatArray, IntArray, check_columns

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


# Records that are looked at first: they rule out nearly every pair of columns.
_SAMPLE = 2_000

# Above the position of any value.
_NONE = np.iinfo(np.int64).max


def determined_by(frame: IntoDataFrame, columns: Sequence[Any] | None = None) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return for each of ``columns`` (by default all) which others determine it; those that none does are left out.

    A column determines another if records that agree in it agree in the other too, as a city does its country.
    Records in which one of the two is missing are not compared. Columns with one value only, or with more distinct
    values than half the records, play no part: they say nothing of others, or trivially everything.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level, or a
        column is not in it.
    """
    frame = as_pandas(frame)
    names = list(frame.columns if columns is None else columns)
    check_columns(frame, names)
    counted = [
        column for name in names if (column := ColumnValues.of(frame[name])) is not None and can_determine(column)
    ]
    table = determinations(counted)
    return {
        column.name: tuple(counted[i].name for i in np.flatnonzero(table[:, j]))
        for j, column in enumerate(counted)
        if table[:, j].any()
    }


def can_determine(column: ColumnValues) -> bool:
    """Whether a column has enough values to say something of others, and few enough to say it of several records."""
    return 2 <= column.n_distinct <= column.n / 2


def determinations(columns: Sequence[ColumnValues]) -> NDArray[np.bool_]:
    """Return which of the d ``columns`` determine which, shape (d, d): True in row i, column j if i determines j.

    Both must be present in at least half of the records; no column counts as determining itself.
    """
    d = len(columns)
    table = np.zeros((d, d), dtype=np.bool_)
    if d < 2:
        return table
    positions = np.column_stack([column.positions for column in columns])
    sample = positions[:: -(-len(positions) // _SAMPLE)]
    for i in range(d):
        others = np.array([j for j in range(d) if j != i])
        others = others[_settled(sample, i, others)]
        if len(others):
            shared = (positions[:, [i]] >= 0) & (positions[:, others] >= 0)
            others = others[2 * shared.sum(axis=0) >= len(positions)]
        if len(others):
            table[i, others[_settled(positions, i, others)]] = True
    return table


def _settled(positions: IntArray, i: int, others: IntArray) -> NDArray[np.bool_]:
    """Return for each of ``others`` whether it has one value at most within each value of column ``i``."""
    present = positions[positions[:, i] >= 0]
    if not len(present):
        return np.ones(len(others), dtype=np.bool_)
    ordered = present[np.argsort(present[:, i], kind="stable")]
    starts = np.flatnonzero(np.diff(ordered[:, i], prepend=-1))
    values = ordered[:, others]
    highest = np.maximum.reduceat(values, starts, axis=0)
    lowest = np.minimum.reduceat(np.where(values < 0, _NONE, values), starts, axis=0)
    # Where no record has a value, the highest is that of a gap and the lowest stayed above all.
    return np.asarray(((lowest == highest) | (highest < 0)).all(axis=0))


# --- records that are totals of the others, as in tables made by hand -------------------------------------------------

# A word in more records than this share of them is a category.
_RARE = 0.05
# A sum of fewer numbers above 0 may be one by chance.
_LEAST_SUMMANDS = 5
# Text is read as numbers in files of so many records at most: people made no larger table.
_MOST_TEXTS = 20_000
# The rounding of floats, by the sum.
_ROUNDING = 1e-9
# Columns of numbers that are looked at together.
_AT_ONCE = 256


def totals(frame: IntoDataFrame) -> list[int]:
    """Return the records that look like totals of others, counting from 0, in ascending order.

    These are the records that say so in the first column ("Total", "Sum", "Insgesamt"), if they are at most one in
    twenty; the last record, if it alone says so in any column; and the last record, if in at least half of the columns
    that hold numbers, its own is the sum of all above it, none of which is negative and five at least are above 0.
    Text that says numbers counts as such in files of at most 20,000 records.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    if len(frame) < 2 or frame.shape[1] == 0:
        return []
    first = np.flatnonzero(_says(frame.iloc[:, 0]))
    found = set(first.tolist() if len(first) <= max(1, _RARE * len(frame)) else ())
    last = len(frame) - 1
    if _is_named(frame) or _is_sum(frame):
        found.add(last)
    return sorted(found)


def _says(series: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return which records have a word for a total in a column, shape (n,)."""
    if is_numeric_dtype(series) or is_datetime64_any_dtype(series):
        return np.zeros(len(series), dtype=np.bool_)
    return np.array([_is_word(value) for value in series.astype(object)], dtype=np.bool_)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and is_total(value)


def _is_named(frame: pd.DataFrame) -> bool:
    """Whether the last record has a word for a total in some column, and no other record has one there."""
    named = [j for j, value in enumerate(frame.iloc[-1]) if _is_word(value)]
    return any(int(np.count_nonzero(_says(frame.iloc[:, j]))) == 1 for j in named)


def _is_sum(frame: pd.DataFrame) -> bool:
    sums = columns = 0
    plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes], dtype=np.bool_)
    positions = np.flatnonzero(plain)
    for start in range(0, len(positions), _AT_ONCE):
        numbers = frame.iloc[:, positions[start : start + _AT_ONCE]].to_numpy(dtype=np.float64)
        present = ~np.isnan(numbers[-1])
        columns += int(np.count_nonzero(present))
        sums += sum(_ends_in_sum(own) for own in numbers.T[present & _may_end_in_sum(numbers)])
    for position in np.flatnonzero(~plain).tolist():
        own = _numbers(frame.iloc[:, position])
        if own is not None and not np.isnan(own[-1]):
            columns += 1
            sums += _ends_in_sum(own)
    return sums > 0 and 2 * sums >= columns


def _may_end_in_sum(numbers: FloatArray) -> NDArray[np.bool_]:
    """Return of which columns, shape (n, d), the last number is no less than all others, of which none is negative."""
    above = np.where(np.isnan(numbers[:-1]), 0.0, numbers[:-1])
    return (above.min(axis=0) >= 0.0) & (above.max(axis=0) * (1.0 - _ROUNDING) <= numbers[-1])


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


def _ends_in_sum(numbers: FloatArray) -> bool:
    above, last = numbers[:-1][~np.isnan(numbers[:-1])], numbers[-1]
    if np.count_nonzero(above > 0) < _LEAST_SUMMANDS or above.min() < 0 or not np.isfinite(last):
        return False
    total = float(above.sum())
    return bool(np.isfinite(total) and abs(total - last) <= _ROUNDING * total)
