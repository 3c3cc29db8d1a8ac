"""The beginning of a table as a screen can show it: so many rows, columns and characters, and plain types only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.taxonomy import category
from microagg.validation import IntArray, shortened

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
    found = pd.DataFrame(shown, index=taken.index, columns=names).iloc[:fits]
    return Excerpt(found, n_cut + int(cut[:fits].sum()))


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
