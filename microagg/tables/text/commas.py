"""Decimal commas: columns of text that look like numbers with one."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.tables.notices import Notice, Offer
from microagg.tables.text.columns import shown
from microagg.validation import counted

_NUMBER = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")


def decimal_comma_columns(frame: pd.DataFrame) -> list[str]:
    """Return the text columns that look like numbers with a decimal comma, such as ``3,14``.

    Reading the file again with ``decimal=","`` turns them into numbers. Columns in which every comma could as well
    separate thousands, such as ``1,234``, are left out.
    """
    return [str(frame.columns[j]) for j in _other_than_numbers(frame) if _with_comma(frame.iloc[:, j])]


def decimal_comma_notices(frame: pd.DataFrame) -> list[Notice]:
    """Return a notice of each column that looks like numbers with a decimal comma."""
    notices = []
    for j in _other_than_numbers(frame):
        if cells := _with_comma(frame.iloc[:, j]):
            column = frame.columns[j]
            text = (
                f"Column {shown(str(column))} is read as text, but looks like numbers with a decimal comma: "
                f"{counted(len(cells), 'cell')} such as {shown(cells[0])}."
            )
            offer = Offer("The decimal mark is a comma", {"decimal": ","})
            notices.append(Notice("decimal-comma", text, str(column), len(cells), cells[0], (offer,)))
    return notices


def _other_than_numbers(frame: pd.DataFrame) -> list[int]:
    """Return the positions of the columns that are no numbers."""
    return [j for j, dtype in enumerate(frame.dtypes) if not is_numeric_dtype(dtype)]


def _with_comma(series: pd.Series[Any]) -> list[str]:
    """Return the cells with a comma, if all cells of a column look like numbers with a decimal comma."""
    cells = series.dropna()
    # Most columns of text are told from their first cells.
    for some in (cells.iloc[:20], cells):
        if not all(isinstance(cell, str) and _NUMBER.fullmatch(cell) for cell in some):
            return []
    found = [cell for cell in cells if "," in cell]
    return [] if all(_THOUSANDS.fullmatch(cell) for cell in found) else found
