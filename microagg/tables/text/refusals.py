"""Text files that cannot be divided into records: what is said of them, and what is offered."""

from __future__ import annotations

import contextlib
import csv
from dataclasses import dataclass
from typing import Any

from microagg.tables.ends import leave_out_last
from microagg.tables.notices import Offer, UnreadableError
from microagg.tables.text.dividing import Dialect, TextOptions, numbered_rows
from microagg.tables.text.layout import (
    comment_mark,
    first_lines,
    first_rows,
    header_at,
    one_column,
    rival,
    spoken,
)
from microagg.validation import counted

# How many uneven lines are looked at, at most.
_MOST_UNEVEN = 50

# How many lines at the end may be notes.
_MOST_NOTES = 20


def broken(text: str, dialect: Dialect, first_line: int, label: str, reason: str) -> UnreadableError:
    """Return the error for a text with broken quotes or too long a cell; ``reason`` is what the csv module says."""
    last = -1
    with contextlib.suppress(csv.Error):
        for line, _ in numbered_rows(text, dialect):
            last = line
    what = "a quote that is never closed"
    if "field limit" in reason:
        what = f"a cell of more than {csv.field_size_limit():,} characters, or a quote that is never closed"
    if "expected after" in reason:
        what = "characters between a closing quote and the next delimiter"
    return UnreadableError(
        f"the file {label!r} cannot be divided into cells after line {last + first_line}, because of {what}: "
        "put double quotes around the whole cell, and double those within it."
    )


@dataclass(frozen=True)
class _Uneven:
    """The header, the first lines that differ from it in their number of fields, and how many records there are.

    Lines are the position of the record from 1, the number of the line in the file, and the fields.
    """

    header: list[str]
    lines: list[tuple[int, int, list[str]]]
    records: int

    @property
    def at_end(self) -> bool:
        """Whether all that differ have fewer fields and stand at the end."""
        position, many = self.lines[0][0], len(self.lines)
        shorter = all(len(row) < len(self.header) for *_, row in self.lines)
        return shorter and many <= _MOST_NOTES and self.records - position + 1 == many and position > 2 * many

    @property
    def lacks_a_name(self) -> bool:
        """Whether the header only has one field less than all records."""
        widths = {len(row) for *_, row in self.lines}
        return widths == {len(self.header) + 1} and self.lines[0][0] == 1 and self.records > 1


def uneven(text: str, dialect: Dialect, options: TextOptions, first_line: int, label: str) -> UnreadableError:
    """Return the error for a text whose records differ in their number of fields.

    ``first_line`` is the number of the first line of ``text`` in the file.
    """
    found = _look(text, dialect, first_line)
    _, number, row = found.lines[0]
    advice, offers = _advice(text, dialect, options, first_line, found)
    return UnreadableError(
        f"line {number} of the file {label!r} has {counted(len(row), 'field')}, but the header has "
        f"{counted(len(found.header), 'field')}: {advice}.",
        offers,
    )


def _look(text: str, dialect: Dialect, first_line: int) -> _Uneven:
    rows = numbered_rows(text, dialect)
    _, header = next(rows)
    lines = []
    records = 0
    for records, (line, row) in enumerate(rows, start=1):
        if len(row) != len(header):
            lines.append((records, line + first_line, row))
        # Further ones are only looked at for the advice to give, so some of them are enough.
        if len(lines) > _MOST_UNEVEN:
            break
    return _Uneven(header, lines, records)


def _advice(
    text: str, dialect: Dialect, options: TextOptions, first_line: int, found: _Uneven
) -> tuple[str, tuple[Offer, ...]]:
    """Return what may be the matter with an uneven text, and what is offered then."""
    if other := rival(text, dialect):
        offer = Offer(f"Divide by {spoken(other)}", {"delimiter": other})
        return f"choose {spoken(other)} as the delimiter, which divides all lines alike", (offer,)
    header = found.header[0]
    firsts = [header] if comment_mark([header]) else [row[0] for *_, row in found.lines]
    if options.comment is None and (mark := comment_mark(firsts)):
        offer = Offer(f"Leave out lines that begin with {mark}", {"comment": mark})
        return f"lines that begin with {mark!r} seem to be comments, which can be left out", (offer,)
    if options.quote == '"' and _is_even(text, Dialect(dialect.delimiter, "'", dialect.comment)):
        return "single quotes seem to stand around its cells", (Offer("Cells stand in single quotes", {"quote": "'"}),)
    rows = first_rows(text, dialect)
    if at := header_at(rows, dialect.delimiter):
        skipped = first_line + rows[at - 1][0]
        advice = f"the {first_lines(skipped)} may hold titles above the header, and can be skipped"
        offers = [_without_titles(skipped, text, dialect)]
        if len(found.header) == 1 and options.delimiter is None:
            offers.append(one_column(text))
        return advice, tuple(offers)
    if found.at_end:
        many = len(found.lines)
        offer = leave_out_last(many, "line", options.skip_last)
        return "notes at the end can be left out; if the file was cut off there, get it again", (offer,)
    if found.lacks_a_name:
        return (
            "as the other lines have one more too, add the missing column name (often that of the row numbers) to "
            "the header, or remove the delimiter at the end of the lines"
        ), ()
    return f"check the delimiter ({spoken(dialect.delimiter)}), and put double quotes around cells that contain it", ()


def _is_even(text: str, dialect: Dialect) -> bool:
    widths = [len(row) for _, row in first_rows(text, dialect)]
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1 and dialect.quote in text


def _without_titles(skipped: int, text: str, dialect: Dialect) -> Offer:
    """Return the offer to skip titles, and what is at the end as well if that has fewer fields, too."""
    reading: dict[str, Any] = {"skip_lines": skipped}
    label = f"Skip the {first_lines(skipped)}"
    with contextlib.suppress(csv.Error):
        widths = [len(row) for _, row in numbered_rows(text, dialect)]
        notes = widths[::-1].index(max(widths))
        if 0 < notes <= _MOST_NOTES:
            reading["skip_last"] = notes
            label += f" and the last {notes if notes > 1 else 'one'}"
    return Offer(label, reading)
