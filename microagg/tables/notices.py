"""What a reader has to say of a file beside its table, and in what other ways the file can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from microagg.errors import DataError
from microagg.validation import counted

# How many further columns are named where several have the same notice.
_NAMED = 8


@dataclass(frozen=True)
class Offer:
    """Another way to read a file.

    Attributes
    ----------
    label : str
        What it does, as a button says it: ``Skip 2 lines``.
    reading : mapping
        The arguments of :func:`microagg.tables.read_file` that do it, beside those the file was read with.
    """

    label: str
    reading: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Notice:
    """Something that whoever uses a table has to know about the file it comes from.

    Attributes
    ----------
    code : str
        What kind of notice it is; equal for all columns that it concerns.
    text : str
        One sentence, with the column, how many cells it concerns and one of them.
    column : str
        Empty if it concerns the whole file.
    count : int
        How many cells, lines or records it concerns.
    example : str
        One of them, as the file has it.
    offers : tuple of Offer
        The ways to read the file otherwise.
    """

    code: str
    text: str
    column: str = ""
    count: int = 0
    example: str = ""
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, eq=False)
class Reading:
    """A table and what there is to say of the file it comes from.

    Attributes
    ----------
    frame : DataFrame, shape (n records, number of columns)
        With a plain 0..n-1 index.
    notices : tuple of Notice
        In the order of the columns, those about the whole file first.
    """

    frame: pd.DataFrame
    notices: tuple[Notice, ...] = ()


def notice_lines(notices: Sequence[Notice]) -> list[str]:
    """Return what notices say in few lines: of three columns or more, the first is said, and examples of the others."""
    groups: dict[str, list[Notice]] = {}
    for notice in notices:
        groups.setdefault(notice.code, []).append(notice)
    lines = []
    for first, *others in groups.values():
        if len(others) < 2 or not all(other.column for other in others):
            lines += [notice.text for notice in (first, *others)]
        else:
            named = [f"{other.column!r} ({other.example!r})" for other in others[:_NAMED]]
            more = [f"{len(others) - _NAMED:,} more"] if len(others) > _NAMED else []
            lines.append(f"{first.text} Likewise {counted(len(others), 'more column')}: {', '.join([*named, *more])}.")
    return lines


class UnreadableError(DataError):
    """A file cannot be read as it was asked for; ``offers`` are ways that may do."""

    def __init__(self, message: str, offers: tuple[Offer, ...] = ()) -> None:
        super().__init__(message)
        self.offers = offers


def kept_as_text(name: str, what: str, example: str, values: int, count: int) -> Notice:
    """Return that a column is kept as text, because ``count`` of its ``values`` could not be kept exactly otherwise.

    ``what`` says what these hold, such as ``example``.
    """
    return Notice(
        "kept-as-text",
        f"column {name!r} holds {what}, such as {example}: all its {counted(values, 'value')} are kept as text.",
        column=name,
        count=count,
        example=example,
    )
