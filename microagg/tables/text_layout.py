"""Where the table stands in a text, judged from its first lines: delimiter, header, titles above, other tables."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from microagg.tables.notices import MISSING
from microagg.tables.text_columns import is_number
from microagg.tables.text_lines import Dialect, is_empty, numbered_rows

#: The delimiters among which one is found when none is given; the comma last, as it may also be a decimal comma.
DELIMITERS = (";", "\t", "|", ",")

# What lines begin with that are comments.
_COMMENTS = ("#", "%", "//")

# Further characters that somebody may have separated fields with; never chosen, only offered.
_RARE_DELIMITERS = (":", "^", "~", " ")

#: How much of a text file is looked at to find its delimiter: enough for many lines, cheap for any file.
SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 50

# How many lines above the header are taken for titles, at most.
_MOST_TITLES = 25

# Of the lines below titles, so many have as many fields as the header.
_MOST_FIT, _MORE_THAN_OTHERS = 0.8, 0.6

# Several tables are looked for in texts of so many characters at most, as all of it is held as cells.
_MOST_CHARACTERS = 5_000_000

# Dates, and times of day.
_MOMENT = re.compile(
    r"\s*(?:\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?)\s*"
)

#: The first records, each with the number of the line, from 0, on which it ends.
Lines = list[tuple[int, list[str]]]


def first_rows(text: str, dialect: Dialect) -> Lines:
    """Return the first records of a text, as far as its quotes are right."""
    sample = text[:SAMPLE_CHARACTERS]
    rows: Lines = []
    # What was read before a broken quote still tells the delimiter.
    with contextlib.suppress(csv.Error):
        rows.extend(itertools.islice(numbered_rows(sample, dialect), _SAMPLE_LINES))
    # The sample may end in the middle of a record.
    return rows[:-1] if len(sample) < len(text) and 1 < len(rows) < _SAMPLE_LINES else rows


def even_rows(text: str, dialect: Dialect) -> list[list[str]]:
    """Return the fields of the first records if all have equally many fields, several of them; otherwise none."""
    rows = [row for _, row in first_rows(text, dialect)]
    return rows if _consistent(list(map(len, rows))) else []


def find_delimiter(text: str, quote: str, comment: str | None) -> str:
    """Return the delimiter by which header and records have equally many fields, several of them.

    Failing that, one by which most have, with the fewest titles above the header; failing that, one that divides the
    header; failing that, any one, for a text with one column.
    """
    rows = {delimiter: first_rows(text, Dialect(delimiter, quote, comment)) for delimiter in DELIMITERS}
    widths = {delimiter: [len(row) for _, row in lines] for delimiter, lines in rows.items()}
    if fits := [delimiter for delimiter in DELIMITERS if _consistent(widths[delimiter])]:
        # Among equals max takes the first, so a comma comes last: in "1,5;2,5" it may be a decimal comma.
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    most = {delimiter: at for delimiter in DELIMITERS if (at := _most_from(rows[delimiter], delimiter)) is not None}
    if most:
        return min(most, key=lambda delimiter: (most[delimiter], -max(widths[delimiter])))
    if fits := [delimiter for delimiter in DELIMITERS if max(widths[delimiter][:1], default=0) > 1]:
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    return next((delimiter for delimiter in DELIMITERS if max(widths[delimiter], default=0) == 1), ",")


def header_at(rows: Lines, delimiter: str) -> int | None:
    """Return the position of the header below titles, which have fewer fields than it; None if there are none."""
    widths = [len(row) for _, row in rows]
    width, times = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    if width < 2 or times < 2 or widths[0] >= width:
        return None
    first, last = widths.index(width), len(widths) - widths[::-1].index(width)
    above = [len(without_end(row)) for _, row in rows[:first]]
    if first > _MOST_TITLES or times < _MOST_FIT * (last - first) or max(above) > width:
        return None
    header, *records = (row for _, row in rows[first:last] if len(row) == width)
    if any(map(is_number, header)):
        # The header may have a name less than records have fields, or empty names at its end.
        header, first = rows[first - 1][1], first - 1
        if above[first] < max(2, width - 1) or any(map(is_number, header)):
            return None
    # One comma in each line is not unusual in text.
    return first if delimiter != "," or width > 2 or some_numbers(records) else None


def _most_from(rows: Lines, delimiter: str) -> int | None:
    """Return the position of the header from which on most records have as many fields, several; None if few have."""
    widths = [len(row) for _, row in rows]
    first = {widths[0], len(without_end(rows[0][1]))} if rows else set()
    if any(width > 1 and widths.count(width) >= _MORE_THAN_OTHERS * (len(widths) - 1) for width in first):
        return 0
    return header_at(rows, delimiter)


def rival(text: str, dialect: Dialect, *, blanks: bool = True) -> str | None:
    """Return another delimiter that divides every one of the first lines into equally many fields, if there is one."""
    for other in (*DELIMITERS, *_RARE_DELIMITERS):
        if other == dialect.delimiter or (other == " " and not blanks):
            continue
        rows = even_rows(text, Dialect(other, dialect.quote, dialect.comment))
        # Blanks within text do not part columns, those before numbers may.
        if rows and (other != " " or some_numbers(rows[1:])):
            return other
    return None


def title_of_several(text: str, dialect: Dialect) -> tuple[int, str] | None:
    """Return how many lines above a table with several columns are titles, and its delimiter; None if none are.

    Text of one column has commas too; but blanks follow these, where those between cells have none behind them.
    """
    lines = text[:SAMPLE_CHARACTERS].splitlines()[:_SAMPLE_LINES]
    for at in range(1, min(_MOST_TITLES, len(lines) - 2)):
        below = "\n".join(lines[at:])
        for other in DELIMITERS:
            if other == dialect.delimiter or any(other in line for line in lines[:at]) or not lines[at].strip():
                continue
            rows = even_rows(below, Dialect(other, dialect.quote, dialect.comment))
            spaced = any(cell[:1] == " " for row in rows for cell in row[1:])
            if rows and not spaced and len(set(rows[0])) == len(rows[0]):
                return at, other
    return None


def _consistent(widths: Sequence[int]) -> bool:
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def some_numbers(records: Sequence[Sequence[str]]) -> bool:
    """Whether some column has hardly anything but numbers; headers that are repeated and notes may stand in it, too."""
    return any(map(mostly_numbers, zip(*records, strict=True)))


def mostly_numbers(cells: Iterable[str]) -> bool:
    """Whether most cells are numbers, of those that are not missing."""
    present = [cell for cell in cells if cell.strip() not in ("", *MISSING)]
    return bool(present) and sum(map(is_number, present)) >= _MOST_FIT * len(present)


def has_fixed_width(text: str) -> bool:
    """Whether the first lines look like columns of fixed width: blanks at the same places, somewhere two of them."""
    lines = [line.rstrip() for line in text[:SAMPLE_CHARACTERS].splitlines()[:_SAMPLE_LINES] if line.strip()]
    if len(lines) < 3 or not all(re.search(r"\S\s", line) for line in lines):
        return False
    width = max(map(len, lines))
    gaps = [all(line.ljust(width)[at] == " " for line in lines) for at in range(width)]
    return any("  " in line.strip() for line in lines) and any(gaps[gaps.index(False) : min(map(len, lines))])


def without_end(row: Sequence[str]) -> Sequence[str]:
    """Return a record without the empty fields at its end."""
    return row[: max((j + 1 for j, cell in enumerate(row) if cell.strip()), default=0)]


def comment_mark(cells: Iterable[str]) -> str | None:
    """Return what all cells begin with, if that marks comments."""
    first = list(cells)
    return next((mark for mark in _COMMENTS if first and all(cell.lstrip().startswith(mark) for cell in first)), None)


# --- headers ----------------------------------------------------------------------------------------------------------


def like_record(rows: Lines) -> str:
    """Return a cell by which the first of the ``rows`` seems to be a record rather than a header; empty if none does.

    Numbers only, unless they count 0, 1, 2 and so on; one with a point; a date or a time of day above others, NaN above
    numbers; half of the texts, two at least, are there again in their columns; a number that is the first of a count.
    """
    header, below = [cell.strip() for cell in rows[0][1]], [row for _, row in rows[1:]]
    names = [name for name in header if name]
    if point := next((name for name in names if re.fullmatch(r"-?[0-9]+[.,][0-9]+", name)), ""):
        return point
    if names and all(map(is_number, names)):
        whole = [int(name) for name in names if re.fullmatch("-?[0-9]{1,9}", name)]
        steps = {two - one for one, two in itertools.pairwise(whole)}
        return "" if len(whole) == len(names) and len(header) >= 3 and steps == {1} else names[0]
    if rows[0][1] in below:  # where files were joined
        return ""
    recurring, texts = [], 0
    for j, name in enumerate(header):
        cells = [cell for row in below if (cell := row[j].strip())]
        if not name or not cells:
            continue
        if _MOMENT.fullmatch(name) and all(map(_MOMENT.fullmatch, cells)):
            return name
        if name in MISSING and any(map(is_number, cells)) and all(is_number(cell) or cell in MISSING for cell in cells):
            return name
        if j == 0 and re.fullmatch("[0-9]{1,9}", name) and cells[:2] == [str(int(name) + 1), str(int(name) + 2)]:
            return name
        texts += not is_number(name)
        recurring += [name] if name in cells and not is_number(name) else []
    return recurring[0] if len(recurring) > 1 and 2 * len(recurring) >= texts else ""


def titles_above(rows: Lines) -> int:
    """Return how many of the ``rows``, all of one width, are titles above the header, with few cells; 0 if none are."""
    if len({len(row) for _, row in rows}) != 1 or len(rows) < 3:
        return 0
    filled = [sum(map(bool, map(str.strip, row))) for _, row in rows]
    most = max(filled)
    spaced = [any(cell[:1] == " " for cell in row[1:]) for _, row in rows]
    if spaced[0] and not any(spaced[1:]) and not any(map(is_number, rows[1][1])):
        return int(some_numbers([row for _, row in rows[2:]]))  # text, whose commas have blanks behind them
    for at in range(1, min(_MOST_TITLES, len(rows) - 1)):
        if max(filled[:at]) > filled[at] // 2:
            continue
        cells = [cell.strip() for cell in rows[at][1] if cell.strip()]
        if 2 * filled[at] <= most or filled[at] < 2:
            continue
        if len(set(cells)) == len(cells) and not any(is_number(cell) or _MOMENT.fullmatch(cell) for cell in cells):
            below = [row for _, row in rows[at + 1 :]]
            # The names of two columns of text do not occur again, unlike what is a record.
            recurs = any(name in column for name, *column in zip(rows[at][1], *below, strict=True))
            is_title = bool(rows[0][1][0].strip()) and not recurs
            return at if len(rows[0][1]) > 2 or some_numbers(below) or is_title else 0
        # Records right below a title, which has one cell.
        return at if max(filled[:at]) == 1 and filled[at] > 2 and rows[0][1][0].strip() else 0
    return 0


def has_two_headers(rows: Lines) -> bool:
    """Whether the names of columns stand in the first two of the ``rows``: each column has one there, some no upper."""
    if len(rows) < 3 or len({len(row) for _, row in rows}) != 1:
        return False
    upper, lower, *records = [[cell.strip() for cell in row] for _, row in rows]
    if not all(map(any, zip(upper, lower, strict=True))) or all(upper) or not any(upper[1:]):
        return False
    no_names = [cell for cell in (*upper, *lower) if is_number(cell) or _MOMENT.fullmatch(cell)]
    if not all(re.fullmatch("(?:19|20)[0-9]{2}", cell) for cell in no_names):
        return False
    # There may be a line of units below.
    return (some_numbers(records) or some_numbers(records[1:])) and sum(map(bool, lower)) > 1


# --- several tables ---------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """One of several tables in a text: its first and last line, from 0, its size, and how many records come after."""

    first: int
    last: int
    records: int
    columns: int
    after: int


def tables_in(text: str, dialect: Dialect) -> list[Block]:
    """Return the tables that stand below each other with blank lines between, the longest first; none if there is one.

    Lines of delimiters alone count as blank. A table has a header without numbers and records with equally many fields.
    """
    if len(text) > _MOST_CHARACTERS:
        return []
    lines = re.split(r"\r\n|\n|\r", text)
    blocks: list[Lines] = []
    counted: list[int] = []  # the lines of records, those of delimiters alone among them
    starts = True
    with contextlib.suppress(csv.Error):
        for number, row in numbered_rows(text, dialect):
            if len(row) > 1 or row[0].strip():
                counted.append(number)
            if is_empty(row):
                starts = True
                continue
            if starts or any(not line.strip() for line in lines[blocks[-1][-1][0] + 1 : number]):
                blocks.append([])
            starts = False
            blocks[-1].append((number, row))
    tables = []
    for rows in blocks:
        # A title stands right above the header.
        while len(rows) > 2 and len(rows[0][1]) < len(rows[1][1]) and len(rows[0][1]) == 1:
            rows = rows[1:]
        widths = [len(without_end(row)) for _, row in rows]
        header = [cell for cell in rows[0][1] if cell.strip()]
        fit = sum(width <= len(header) for width in widths) >= _MOST_FIT * len(widths)
        if len(rows) > 1 and len(header) > 1 and fit and not any(map(is_number, header)):
            after = sum(number > rows[-1][0] for number in counted)
            tables.append(Block(rows[0][0], rows[-1][0], len(rows) - 1, len(header), after))
    return sorted(tables, key=lambda table: -table.records) if len(tables) > 1 else []
