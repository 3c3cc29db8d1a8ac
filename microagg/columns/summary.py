"""A table as a screen shows it: a few figures of each column, and the first rows in plain types."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype, is_object_dtype

from microagg.columns.taxonomy import category
from microagg.tables.frames import as_pandas
from microagg.validation import LARGEST, FloatArray, IntArray, shortened

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


_BINS = 24
_LOOKED_AT, _EXAMPLES, _LONGEST = 200, 3, 24

# Whole numbers below this have the edges of their bins, which end in .5, among the floats.
_HALVES = 2.0**51
# Whole numbers over a wider range are binned as any others.
_WHOLE_RANGE = 1e9


def category_counts(series: pd.Series[Any]) -> dict[str, int]:
    """Return how many records have each value of a column, the values as taxonomies write them.

    They are in the order of the column's type, if it has one, else numbers in ascending order before text in that of
    the alphabet. Missing values, and categories that no record has, are left out.
    """
    found = series.value_counts().to_dict()
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        order = [value for value in series.cat.categories if found[value]]
    else:
        order = sorted(series.dropna().unique(), key=lambda value: (isinstance(value, str), value))
    counts: dict[str, int] = {}
    for value in order:
        text = category(value)
        counts[text] = counts.get(text, 0) + int(found[value])
    return counts


# The greatest distance of a float to the next one, as a share of it.
_EPSILON = float(np.finfo(np.float64).eps)


def bin_edges(values: FloatArray, most: int) -> FloatArray:
    """Return the edges of at most ``most`` equally wide bins that cover ``values``, finite and at least one, ascending.

    There are no more bins than distinct values, but 2 at least unless floats are too coarse for that; those of whole
    numbers hold equally many of them: otherwise bars would differ in height though the data do not.
    """
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

    Returns
    -------
    DataFrame, shape (columns, 6)
        ``column`` is its name as text. ``least``, ``mean`` and ``greatest`` are those of the finite values, NaN where
        there are none. ``distribution`` is a list of the numbers of records: of a numeric column in at most 24 equal
        parts of its range (see :func:`bin_edges`), of any other with each of its 24 most frequent values. ``examples``
        are the first three distinct values of the first 200 that are not missing, as a text, each cut to 24 characters.

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
    found: dict[str, Any] = {"least": np.nan, "mean": np.nan, "greatest": np.nan, "distribution": []}
    if not is_numeric_dtype(series) or is_bool_dtype(series) or is_complex_dtype(series):
        present = series.dropna()
        if is_object_dtype(series):
            present = present.map(str)  # such as lists, which cannot be counted as they are
        counts = present.value_counts().head(_BINS)
        return found | {"distribution": counts[counts > 0].tolist()}
    values = series.to_numpy(float, na_value=np.nan)
    values = values[np.isfinite(values)]
    if not len(values):
        return found
    counts = np.histogram(values, bin_edges(values, _BINS))[0].tolist()
    return {"least": values.min(), "mean": _mean(values), "greatest": values.max(), "distribution": counts}


def _mean(values: FloatArray) -> float:
    # The sum of numbers that are finite need not be.
    unit = max(1.0, float(np.abs(values).max()) / LARGEST)
    return float((values / unit).mean() * unit)


def _examples(series: pd.Series[Any]) -> str:
    values = dict.fromkeys(_example(value) for value in series.dropna().head(_LOOKED_AT))
    return ", ".join(list(values)[:_EXAMPLES])


def _example(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")
    return shortened(text, _LONGEST)


# --- the first rows, cut to so many columns and characters ------------------------------------------------------------

# Beyond these years neither Python nor a browser writes dates.
_FIRST, _LAST = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The beginning of a table.

    Attributes
    ----------
    frame : DataFrame, shape (rows, columns)
        Numbers, booleans and dates are such; all else is text, of dates those before year 1 and after 9999 as well.
        The index is that of the table.
    n_cut : int
        How many of its cells and names of columns are longer than what is shown.
    """

    frame: pd.DataFrame
    n_cut: int


def excerpt(
    frame: pd.DataFrame,
    *,
    rows: int = 5_000,
    columns: int = 100,
    cells: int = 200_000,
    longest: int = 200,
    characters: int = 2_000_000,
) -> Excerpt:
    """Return the beginning of ``frame``, at least its first cell.

    Parameters
    ----------
    frame : DataFrame
    rows, columns, cells : int
        The most of each.
    longest : int
        The most characters of a text, the last of them an ellipsis where it is cut.
    characters : int
        The most characters of all texts together; there are as many rows as that is enough for, or one.
    """
    d = min(frame.shape[1], columns)
    n = min(len(frame), rows, max(cells // max(d, 1), 1))
    taken = frame.iloc[:n, :d]
    names, n_cut = _names([str(name) for name in taken.columns], longest)
    shown: dict[str, Any] = {}
    lengths = np.zeros(n, dtype=np.int64)
    cut = np.zeros(n, dtype=np.int64)
    for j, name in enumerate(names):
        series = taken.iloc[:, j]
        if _is_plain(series):
            shown[name] = _dense(series)
            continue
        texts = [None if missing else _text(value) for value, missing in zip(series, series.isna().array, strict=True)]
        cut += _longer(texts, longest)
        shown[name] = [text if text is None else shortened(text, longest) for text in texts]
        lengths += [0 if text is None else len(text) for text in shown[name]]
    fits = max(int(np.searchsorted(np.cumsum(lengths), characters, side="right")), min(n, 1))
    table = pd.DataFrame(shown, index=taken.index, columns=names).iloc[:fits]
    return Excerpt(table, n_cut + int(cut[:fits].sum()))


def _is_plain(series: pd.Series[Any]) -> bool:
    if is_datetime64_any_dtype(series):
        if isinstance(series.dtype, pd.DatetimeTZDtype):
            return False
        present = series.dropna().to_numpy()
        return not len(present) or bool(present.min() >= _FIRST and present.max() <= _LAST)
    return is_numeric_dtype(series) and not is_complex_dtype(series)


def _dense(series: pd.Series[Any]) -> pd.Series[Any]:
    if isinstance(series.dtype, pd.SparseDtype):
        return pd.Series(np.asarray(series), index=series.index)
    return series.astype(np.float32) if series.dtype == np.float16 else series


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, pd.Timestamp):
        return str(np.datetime64(value.to_datetime64())) if value.tzinfo is None else value.isoformat(" ")
    return str(value) if isinstance(value, float) else category(value)


def _longer(texts: list[str | None], longest: int) -> IntArray:
    return np.array([text is not None and len(text) > longest for text in texts], dtype=np.int64)


def _names(names: list[str], longest: int) -> tuple[list[str], int]:
    """Return names cut, each of them once, and how many are cut."""
    found: dict[str, None] = {}
    for name in names:
        short = shortened(name, longest)
        number = 1
        while short in found:
            number += 1
            short = f"{shortened(name, longest - 10)} ({number})"
        found[short] = None
    return list(found), sum(len(name) > longest for name in names)
