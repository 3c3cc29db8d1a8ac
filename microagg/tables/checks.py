"""What tables of every kind of file are checked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from microagg.errors import DataError
from microagg.validation import check_unique_columns

#: The cells that count as missing in text files and workbooks, beside empty ones.
MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")

#: How many characters the name of a column may have.
MAX_NAME = 1_000


def check_cells(records: int, columns: int, max_cells: int, label: str, *, at_least: bool = False) -> None:
    """Raise :class:`DataError` if a table is larger than ``max_cells``."""
    if records * columns > max_cells:
        raise DataError(
            f"the file {label!r} has {'at least ' if at_least else ''}{records:,} records with {columns:,} columns, "
            f"over the limit of {max_cells:,} cells: leave out columns, or split the file."
        )


def refuse_no_records(label: str) -> NoReturn:
    """Raise :class:`DataError` for a table without records."""
    raise DataError(f"the file {label!r} has a header but no records: choose a file with at least one record.")


def check_names(names: Sequence[str], label: str) -> None:
    """Raise :class:`DataError` if a column name occurs more than once, is too long, or holds half a character."""
    for name in names:
        if len(name) > MAX_NAME:
            raise DataError(
                f"in the file {label!r}, the column name that begins with {name[:20]!r} has {len(name):,} characters: "
                f"shorten it to at most {MAX_NAME:,}."
            )
        if has_surrogates(name):
            raise DataError(
                f"in the file {label!r}, the column name {name!r} holds half a character (a lone surrogate): "
                "rename the column, or check the encoding."
            )
    try:
        check_unique_columns(names)
    except DataError as error:
        raise DataError(f"in the file {label!r}, {error}") from None


def has_surrogates(text: str) -> bool:
    """Whether a text holds half of a pair that UTF-16 writes a character with; no file in UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def column_names(header: Iterable[tuple[int, Any]], label: str) -> list[str]:
    """Return the names in a header of (position from 1, cell); where a cell is empty, the position is the name."""
    texts = [(position, "" if cell is None else str(cell).strip()) for position, cell in header]
    names = [text or f"column {position}" for position, text in texts]
    check_names(names, label)
    return names
