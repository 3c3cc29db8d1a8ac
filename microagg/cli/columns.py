"""Columns as a shell names them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from microagg.errors import DataError
from microagg.release.command import split
from microagg.validation import quoted

if TYPE_CHECKING:
    import pandas as pd


def column_of(text: str, names: Mapping[str, Any]) -> Any:
    """Return the column that a text names, ``names`` being all of them.

    Raises
    ------
    DataError
        If there is none; with the nearest name.
    """
    if text in names:
        return names[text]
    folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), folded, n=1)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"the columns are {quoted(names)}."
    raise DataError(f"there is no column {text!r}: {hint}")


def columns_of(texts: Iterable[str], frame: pd.DataFrame) -> list[Any]:
    """Return the columns of ``frame`` that texts name, each of them one or several with commas between.

    Raises
    ------
    DataError
        If there is no such column; with the nearest name.
    """
    names = {str(name): name for name in frame.columns}
    return [column_of(word, names) for text in texts for word in ([text] if text in names else split(text))]
