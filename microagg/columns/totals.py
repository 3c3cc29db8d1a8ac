"""Records that are no persons but totals of the others, as tables that people made have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg import numerals
from microagg.errors import DataError
from microagg.tables.ends import is_total
from microagg.tables.kinds import as_pandas
from microagg.validation import FloatArray

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

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
