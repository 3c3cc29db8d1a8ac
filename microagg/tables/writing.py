"""Tables to CSV files, which lose no digit and run no formula."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

# A spreadsheet takes text that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_csv(frame: pd.DataFrame) -> str:
    """Return ``frame`` as the text of a CSV file that loses no digit and runs no formula.

    Numbers are written with the fewest digits that read back as the same number. Text cells and column names that
    start with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return get a leading ``'``, because a spreadsheet would
    take them for formulas; numbers never do, and neither does text that is a negative number. The index is left out
    unless it has a name.

    Parameters
    ----------
    frame : DataFrame
        Any columns; missing values become empty cells.

    Returns
    -------
    str
        With a header line; to be encoded as UTF-8.
    """
    plain = frame
    if any(name is not None for name in frame.index.names):
        plain = frame.reset_index(allow_duplicates=True)
    table = plain.reset_index(drop=True)
    # Columns are replaced by position, because an arbitrary frame may hold two of one name.
    for j in range(table.shape[1]):
        if _may_hold_text(table.iloc[:, j]):
            cells: Any = table.iloc[:, j].astype(object).map(_harmless)
            table.isetitem(j, cells)
    table.columns = [_harmless(str(name)) for name in plain.columns]
    # Only with this line ending does the writer put quotes around a bare carriage return within a cell.
    returns = any("\r" in cell for cell in (*table.columns, *_texts(table)))
    return table.to_csv(index=False, lineterminator="\r\n" if returns else "\n")


def _harmless(cell: Any) -> Any:
    formula = isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not re.fullmatch(r"-\d+(\.\d+)?", cell)
    return f"'{cell}" if formula else cell


def _may_hold_text(series: pd.Series[Any]) -> bool:
    return not (is_numeric_dtype(series) or is_datetime64_any_dtype(series))


def _texts(frame: pd.DataFrame) -> Iterator[str]:
    """Yield every text cell."""
    for j in range(frame.shape[1]):
        if _may_hold_text(frame.iloc[:, j]):
            yield from (cell for cell in frame.iloc[:, j] if isinstance(cell, str))
