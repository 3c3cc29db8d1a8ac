"""What stands where in a text file: the delimiter, titles above the header, units below it, notes at the end.

If it cannot be divided into records (:func:`broken`, :func:`uneven`), what may be the matter is said and offered.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from microagg.tables import text_numbers
from microagg.tables.notices import MISSING, Notice, Offer, UnreadableError, is_total, leave_out_last
from microagg.tables.text_columns import shown
from microagg.tables.text_lines import Dialect, Divided, TextOptions, numbered_rows
from microagg.validation import counted

#: The delimiters among which one is found when none is given; the comma last, as it may also be a decimal comma.
DELIMITERS = (";", "\t", "|", ",")

#: What lines begin with that are comments.
COMMENTS = ("#", "%", "//")

# Further characters that somebody may have separated fields with; never chosen, only offered.
_RARE_DELIMITERS = (":", "^", "~", " ")

_SPOKEN = {"\t": "tab", " ": "space"}

# How much of a text file is looked at to find its delimiter: enough for many lines, cheap for any file.
_SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 50

# How many lines above the header are taken for titles, at most.
_MOST_TITLES = 25

Lines = list[tuple[int, list[str]]]


def spoken(delimiter: str) -> str:
    """Return a delimiter as sentences call it."""
    return _SPOKEN.get(delimiter, repr(delimiter))


def first_rows(text: str, dialect: Dialect) -> Lines:
    """Return the first records with the number of the line, from 0, on which each ends."""
    sample = text[:_SAMPLE_CHARACTERS]
    rows: Lines = []
    # What was read before a broken quote still tells the delimiter.
    with contextlib.suppress(csv.Error):
        rows.extend(itertools.islice(numbered_rows(sample, dialect), _SAMPLE_LINES))
    # The sample may end in the middle of a record.
    return rows[:-1] if len(sample) < len(text) and 1 < len(rows) < _SAMPLE_LINES else rows


def find_delimiter(text: str, quote: str, comment: str | None) -> str:
    """Return the delimiter by which header and records have equally many fields, several of them.

    Failing that, one by which all have but for titles above the header and notes at the end; failing that, one that
    divides the header; failing that, any one, for a text with one column.
    """
    rows = {delimiter: first_rows(text, Dialect(delimiter, quote, comment)) for delimiter in DELIMITERS}
    widths = {delimiter: [len(row) for _, row in found] for delimiter, found in rows.items()}
    if fits := [delimiter for delimiter in DELIMITERS if _consistent(widths[delimiter])]:
        # Among equals max takes the first, so a comma comes last: in "1,5;2,5" it may be a decimal comma.
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    if fits := [delimiter for delimiter in DELIMITERS if header_at(rows[delimiter], delimiter)]:
        return max(fits, key=lambda delimiter: max(widths[delimiter]))
    if fits := [delimiter for delimiter in DELIMITERS if max(widths[delimiter][:1], default=0) > 1]:
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    return next((delimiter for delimiter in DELIMITERS if max(widths[delimiter], default=0) == 1), ",")


def header_at(rows: Lines, delimiter: str) -> int:
    """Return the position of the header below titles, which have fewer fields than it; 0 if there are none."""
    widths = [len(row) for _, row in rows]
    width, times = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    if width < 2 or times < 2 or widths[0] >= width:
        return 0
    first, last = widths.index(width), len(widths) - widths[::-1].index(width)
    if first > _MOST_TITLES or set(widths[first:last]) != {width} or max(widths[:first]) > width:
        return 0
    header, *records = (row for _, row in rows[first:last])
    if any(map(text_numbers.is_number, header)):
        return 0
    # One comma in each line is not unusual in text.
    return first if delimiter != "," or width > 2 or _some_numbers(records) else 0


def one_column(text: str) -> Offer:
    """Return the offer to read a text as one column: divided by what does not occur in it."""
    sample = text[:_SAMPLE_CHARACTERS]
    absent = next((delimiter for delimiter in (*DELIMITERS, "^", "~") if delimiter not in sample), "\x1f")
    return Offer("It has one column", {"delimiter": absent})


def rival(text: str, dialect: Dialect, *, blanks: bool = True) -> str | None:
    """Return another delimiter that divides every one of the first lines into equally many fields, if there is one."""
    for other in (*DELIMITERS, *_RARE_DELIMITERS):
        if other == dialect.delimiter or (other == " " and not blanks):
            continue
        rows = [row for _, row in first_rows(text, Dialect(other, dialect.quote, dialect.comment))]
        # Blanks within text do not part columns, those before numbers may.
        if _consistent(list(map(len, rows))) and (other != " " or _some_numbers(rows[1:])):
            return other
    return None


def _consistent(widths: Sequence[int]) -> bool:
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _some_numbers(records: Sequence[Sequence[str]]) -> bool:
    """Whether some column has numbers only, as far as it has anything."""
    for cells in zip(*records, strict=True) if records else ():
        present = [cell for cell in cells if cell.strip() not in ("", *MISSING)]
        if present and all(map(text_numbers.is_number, present)):
            return True
    return False


def has_fixed_width(text: str) -> bool:
    """Whether the first lines look like columns of fixed width: blanks at the same places, somewhere two of them."""
    lines = [line.rstrip() for line in text[:_SAMPLE_CHARACTERS].splitlines()[:_SAMPLE_LINES] if line.strip()]
    if len(lines) < 3 or not all(re.search(r"\S\s", line) for line in lines):
        return False
    width = max(map(len, lines))
    gaps = [all(line.ljust(width)[at] == " " for line in lines) for at in range(width)]
    first, last = gaps.index(False), min(map(len, lines))
    inner = [at for at in range(first, last) if gaps[at]]
    return any("  " in line.strip() for line in lines) and bool(inner)


def looks_like_record(header: Sequence[str]) -> bool:
    """Whether a header seems to be a record: numbers only, not 0, 1, 2 and so on; or one with a point."""
    names = [name.strip() for name in header if name.strip()]
    if not names:
        return False
    if any(re.fullmatch(r"-?[0-9]+[.,][0-9]+", name) for name in names):
        return True
    if not all(map(text_numbers.is_number, names)):
        return False
    whole = [int(name) for name in names if re.fullmatch("-?[0-9]{1,9}", name)]
    steps = {two - one for one, two in itertools.pairwise(whole)}
    return not (len(whole) == len(names) and len(header) >= 3 and steps == {1})


def comment_mark(cells: Iterable[str]) -> str | None:
    """Return what all cells begin with, if that marks comments."""
    first = list(cells)
    return next((mark for mark in COMMENTS if first and all(cell.lstrip().startswith(mark) for cell in first)), None)


# --- notices ----------------------------------------------------------------------------------------------------------


def title_notices(rows: Lines, first_line: int, dialect: Dialect) -> list[Notice]:
    """Return notices of a header that seems to be a title or a comment; ``first_line`` counts from 1."""
    if not rows:
        return []
    header = rows[0][1]
    mark = comment_mark([header[0]])
    following = comment_mark(row[0] for _, row in rows[1:2])
    if dialect.comment is None and mark and (following or (len(header) == 1 and re.match(rf"\s*{mark}+\s", header[0]))):
        text = f"The header of the file begins with {mark!r}, as comments do: {shown(header[0])}."
        offer = Offer(f"Leave out lines that begin with {mark}", {"comment": mark})
        return [Notice("comment-lines", text, count=1, example=header[0], offers=(offer,))]
    if len(header) < 3 or sum(bool(name.strip()) for name in header) > 1:
        return []
    for i, (_, row) in enumerate(rows[1:10], start=1):
        if len(row) == len(header) and all(cell.strip() for cell in row) and not any(map(text_numbers.is_number, row)):
            skipped = first_line + rows[i - 1][0]
            title = next((name for name in header if name.strip()), "")
            text = f"The header of the file has one name only, {shown(title)}: it may be a title above the header."
            offer = Offer(f"Skip the {first_lines(skipped)}", {"skip_lines": skipped})
            return [Notice("title-row", text, count=skipped, example=title, offers=(offer,))]
    return []


def last_notices(divided: Divided, skipped: int) -> list[Notice]:
    """Return a notice of totals, notes or empty records at the end; ``skipped`` records are left out already."""
    width = len(divided.chunks)
    found: list[list[str]] = []
    for record in reversed(divided.last):
        if not (_is_note(record, width) or _is_total(record)):
            break
        found.append(record)
    if not found or len(found) * 2 >= divided.records:
        return []
    example = next((cell for record in reversed(found) for cell in record if cell.strip()), "")
    kind = f"a total or a note rather than {'a record' if len(found) == 1 else 'records'}: {shown(example)}"
    if not example:
        kind = "empty"
    what = "last record seems" if len(found) == 1 else f"last {len(found)} records seem"
    offer = leave_out_last(len(found), "record", skipped)
    text = f"The {what} to be {kind}."
    return [Notice("last-records", text, count=len(found), example=example, offers=(offer,))]


def first_lines(count: int) -> str:
    """Return what sentences call the first ``count`` lines."""
    return "first line" if count == 1 else f"first {counted(count, 'line')}"


def _is_note(record: Sequence[str], width: int) -> bool:
    present = [cell for cell in record if cell.strip()]
    return width >= 3 and (not present or (len(present) == 1 and any(map(str.isalpha, present[0]))))


def _is_total(record: Sequence[str]) -> bool:
    first = next((cell.strip() for cell in record if cell.strip()), "")
    others = [cell for cell in record if cell.strip() and cell.strip() != first]
    return is_total(first) and bool(others) and all(map(text_numbers.is_number, others))


def units_notices(columns: Sequence[str], example: str) -> list[Notice]:
    """Return a notice of a first record that seems to hold units; ``columns`` would be numbers without it."""
    if not columns:
        return []
    named = shown(columns[0]) + (f" and {len(columns) - 1:,} more" if len(columns) > 1 else "")
    text = (
        f"The first record seems to hold units or descriptions, such as {shown(example)}: without it, column "
        f"{named} would be numbers."
    )
    offer = Offer("Leave out the row of units", {"units_row": True})
    return [Notice("units-row", text, columns[0], 1, example, (offer,))]


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
