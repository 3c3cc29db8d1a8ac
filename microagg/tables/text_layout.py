"""The layout of a text: delimiter, header, titles above and other tables by its first lines; the decimal comma."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.tables.lossless import DECIMAL_COMMA, brief, is_number
from microagg.tables.notices import MISSING, Notice
from microagg.tables.text_lines import TextOptions, is_empty, numbered_rows
from microagg.validation import counted

#: The delimiters that are recognized; the comma last, as it may also be a decimal comma.
DELIMITERS = (";", "\t", "|", ",")

# Beginnings of comment lines.
_COMMENTS = ("#", "%", "//")

# Further possible delimiters; never chosen, only offered.
_RARE_DELIMITERS = (":", "^", "~", " ")

#: The number of characters that are searched for the delimiter: enough for many lines, cheap for any file.
SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 50

# The maximum number of titles above the header.
_MAX_TITLES = 25

# The minimum share of lines below titles with the width of the header, and of lines with the width of the first one.
_MIN_FIT, _MIN_MAJORITY = 0.8, 0.6

#: The maximum number of characters of texts that are searched for several tables, as all cells are in memory.
MAX_CHARACTERS = 5_000_000

# Numbers with a decimal comma, and numbers whose comma may separate thousands.
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")

# Dates, and times of day.
_MOMENT = re.compile(
    r"\s*(?:\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?)\s*"
)

#: The first records, each with the number of its last line, from 0.
Lines = list[tuple[int, list[str]]]


def first_rows(text: str, dialect: TextOptions) -> Lines:
    """First records of a text, up to the first broken quote."""
    sample = text[:SAMPLE_CHARACTERS]
    rows: Lines = []
    # The records before a broken quote are enough to find the delimiter.
    with contextlib.suppress(csv.Error):
        rows.extend(itertools.islice(numbered_rows(sample, dialect), _SAMPLE_LINES))
    # The sample may end in the middle of a record.
    return rows[:-1] if len(sample) < len(text) and 1 < len(rows) < _SAMPLE_LINES else rows


def rows_of_equal_width(text: str, dialect: TextOptions) -> list[list[str]]:
    """Fields of the first records if all have equally many, at least two. Otherwise empty."""
    rows = [row for _, row in first_rows(text, dialect)]
    return rows if _consistent(list(map(len, rows))) else []


def find_delimiter(text: str, options: TextOptions) -> str:
    """The delimiter by which header and records have equally many fields, at least two.

    Otherwise one by which most have, with the fewest titles above the header; otherwise one that divides the header;
    otherwise any one, for a text with one column.
    """
    rows = {delimiter: first_rows(text, replace(options, delimiter=delimiter)) for delimiter in DELIMITERS}
    widths = {delimiter: [len(row) for _, row in lines] for delimiter, lines in rows.items()}
    if fits := [delimiter for delimiter in DELIMITERS if _consistent(widths[delimiter])]:
        # max returns the first of ties, so a comma comes last: in "1,5;2,5" it may be a decimal comma.
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    headers = {sign: _majority_header(rows[sign], sign) for sign in DELIMITERS}
    firsts = {sign: first for sign, first in headers.items() if first is not None}
    if firsts:
        return min(firsts, key=lambda delimiter: (firsts[delimiter], -max(widths[delimiter])))
    if fits := [delimiter for delimiter in DELIMITERS if max(widths[delimiter][:1], default=0) > 1]:
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    return next((delimiter for delimiter in DELIMITERS if max(widths[delimiter], default=0) == 1), ",")


def header_at(rows: Lines, delimiter: str) -> int | None:
    """Position of the header below titles, which have fewer fields than it. None if there are none."""
    widths = [len(row) for _, row in rows]
    width, count = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    if width < 2 or count < 2 or widths[0] >= width:
        return None
    first, last = widths.index(width), len(widths) - widths[::-1].index(width)
    title_widths = [len(strip_end(row)) for _, row in rows[:first]]
    if first > _MAX_TITLES or count < _MIN_FIT * (last - first) or max(title_widths) > width:
        return None
    header, *records = (row for _, row in rows[first:last] if len(row) == width)
    if any(map(_is_value, header)):
        return None
    # One comma in each line is usual in text.
    return first if delimiter != "," or width > 2 or some_numbers(records) else None


def _majority_header(rows: Lines, delimiter: str) -> int | None:
    """Position of the header from which most records have as many fields, at least two. None if few have."""
    widths = [len(row) for _, row in rows]
    first = {widths[0], len(strip_end(rows[0][1]))} if rows else set()
    if any(width > 1 and widths.count(width) >= _MIN_MAJORITY * (len(widths) - 1) for width in first):
        return 0
    return header_at(rows, delimiter)


def find_rival(text: str, dialect: TextOptions, *, blanks: bool = True) -> str | None:
    """Another delimiter that divides each of the first lines into equally many fields, if there is one."""
    for delimiter in (*DELIMITERS, *_RARE_DELIMITERS):
        if delimiter == dialect.delimiter or (delimiter == " " and not blanks):
            continue
        rows = rows_of_equal_width(text, replace(dialect, delimiter=delimiter))
        # Blanks within text do not divide columns, blanks before numbers may.
        if rows and (delimiter != " " or some_numbers(rows[1:])):
            return delimiter
    return None


def title_of_several(text: str, dialect: TextOptions) -> tuple[int, str] | None:
    """Number of title lines above a table with several columns, and its delimiter. None without titles."""
    lines = text[:SAMPLE_CHARACTERS].splitlines()[:_SAMPLE_LINES]
    titled = []
    for mark in DELIMITERS:
        n_titles = next((i for i, line in enumerate(lines) if mark in line), 0)
        if mark == dialect.delimiter or not 0 < n_titles < min(_MAX_TITLES, len(lines) - 2):
            continue
        rows = rows_of_equal_width("\n".join(lines[n_titles:]), replace(dialect, delimiter=mark))
        # Text of one column has commas too, but followed by blanks, unlike those between cells.
        is_prose = mark == "," and any(cell[:1] == " " for row in rows for cell in row[1:])
        if rows and not is_prose and len(set(rows[0])) == len(rows[0]):
            titled.append((n_titles, mark))
    return min(titled, key=lambda pair: pair[0], default=None)


def _consistent(widths: Sequence[int]) -> bool:
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def some_numbers(records: Sequence[Sequence[str]]) -> bool:
    """Whether some column is mostly numbers. Repeated headers and notes are allowed in it."""
    return any(map(mostly_numbers, zip(*records, strict=True)))


def mostly_numbers(cells: Iterable[str]) -> bool:
    """Whether most of the present cells are numbers."""
    present = [cell for cell in cells if cell.strip() not in ("", *MISSING)]
    return bool(present) and sum(map(is_number, present)) >= _MIN_FIT * len(present)


def has_fixed_width(text: str) -> bool:
    """Whether the first lines look like columns of fixed width: common positions of blanks, two somewhere."""
    lines = [line.rstrip() for line in text[:SAMPLE_CHARACTERS].splitlines()[:_SAMPLE_LINES] if line.strip()]
    if len(lines) < 3 or not all(re.search(r"\S\s", line) for line in lines):
        return False
    width = max(map(len, lines))
    is_blank = [all(line.ljust(width)[position] == " " for line in lines) for position in range(width)]
    return any("  " in line.strip() for line in lines) and any(is_blank[is_blank.index(False) : min(map(len, lines))])


def _is_value(cell: str) -> bool:
    """Whether a cell is no name: a number, a date or a time of day, but no year."""
    is_year = re.fullmatch(r"\s*(?:19|20)[0-9]{2}\s*", cell)
    return not is_year and bool(is_number(cell) or _MOMENT.fullmatch(cell))


def strip_end(row: Sequence[str]) -> Sequence[str]:
    """A record without the empty fields at its end."""
    return row[: max((j + 1 for j, cell in enumerate(row) if cell.strip()), default=0)]


def comment_mark(cells: Iterable[str]) -> str | None:
    """The common beginning of all cells, if it marks comments."""
    first = list(cells)
    return next((mark for mark in _COMMENTS if first and all(cell.lstrip().startswith(mark) for cell in first)), None)


# --- headers ----------------------------------------------------------------------------------------------------------


def like_record(rows: Lines) -> str:
    """A cell that shows that the first of the ``rows`` is a record rather than a header. Empty if there is none.

    Such are: numbers only, unless they count 0, 1, 2 and so on; a decimal number; a date or a time of day above others;
    NaN above numbers; half of the texts, at least two, if their columns repeat them; the first number of a count.
    """
    header, below = [cell.strip() for cell in rows[0][1]], [row for _, row in rows[1:]]
    names = [name for name in header if name]
    if decimal := next((name for name in names if re.fullmatch(r"-?[0-9]+[.,][0-9]+", name)), ""):
        return decimal
    if names and all(map(is_number, names)):
        whole = [int(name) for name in names if re.fullmatch("-?[0-9]{1,9}", name)]
        steps = {second - first for first, second in itertools.pairwise(whole)}
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
    """Number of ``rows``, all of one width, that stand above the header: titles with few cells, or empty lines."""
    filled = [sum(map(bool, map(str.strip, row))) for _, row in rows]
    n_empty = next((i for i, count in enumerate(filled) if count), 0)
    return _titles_above(rows, filled) or n_empty


def _titles_above(rows: Lines, filled: Sequence[int]) -> int:
    if len({len(row) for _, row in rows}) != 1 or len(rows) < 3:
        return 0
    max_filled = max(filled)
    has_blanks = [any(cell[:1] == " " for cell in row[1:]) for _, row in rows]
    if has_blanks[0] and not any(has_blanks[1:]) and not any(map(_is_value, rows[1][1])):
        return int(some_numbers([row for _, row in rows[2:]]))  # text with blanks behind its commas
    for n_titles in range(1, min(_MAX_TITLES, len(rows) - 1)):
        if max(filled[:n_titles]) > filled[n_titles] // 2:
            continue
        cells = [cell.strip() for cell in rows[n_titles][1] if cell.strip()]
        if 2 * filled[n_titles] <= max_filled or filled[n_titles] < 2:
            continue
        if len(set(cells)) == len(cells) and not any(map(_is_value, cells)):
            below = [row for _, row in rows[n_titles + 1 :]]
            # Unlike a record, the names of two columns of text do not occur again.
            recurs = any(name in column for name, *column in zip(rows[n_titles][1], *below, strict=True))
            is_title = bool(rows[0][1][0].strip()) and not recurs
            return n_titles if len(rows[0][1]) > 2 or some_numbers(below) or is_title else 0
        # Records right below a title, which has one cell.
        return n_titles if max(filled[:n_titles]) == 1 and filled[n_titles] > 2 and rows[0][1][0].strip() else 0
    return 0


def has_two_headers(rows: Lines) -> bool:
    """Whether names of columns stand in the first two of the ``rows``: each column has one, some no upper one."""
    if len(rows) < 3 or len({len(row) for _, row in rows}) != 1:
        return False
    upper, lower, *records = [[cell.strip() for cell in row] for _, row in rows]
    if not all(map(any, zip(upper, lower, strict=True))) or all(upper) or not any(upper[1:]):
        return False
    if any(map(_is_value, (*upper, *lower))):
        return False
    # There may be a line of units below.
    return (some_numbers(records) or some_numbers(records[1:])) and sum(map(bool, lower)) > 1


# --- several tables ---------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """One of several tables in a text: its first and last line, from 0, its size, and the number of records below."""

    first: int
    last: int
    records: int
    columns: int
    after: int


def tables_in(text: str, dialect: TextOptions) -> list[Block]:
    """Tables with a header, divided by blank lines, the longest first. Empty if there is only one."""
    if len(text) > MAX_CHARACTERS:
        return []
    lines = re.split(r"\r\n|\n|\r", text)
    blocks: list[Lines] = []
    record_lines: list[int] = []  # the lines of records, including lines of delimiters alone
    starts = True
    with contextlib.suppress(csv.Error):
        for number, row in numbered_rows(text, dialect):
            if len(row) > 1 or row[0].strip():
                record_lines.append(number)
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
        widths = [len(strip_end(row)) for _, row in rows]
        header = [cell for cell in rows[0][1] if cell.strip()]
        fits = sum(width <= len(header) for width in widths) >= _MIN_FIT * len(widths)
        if len(rows) > 1 and len(header) > 1 and fits and not any(map(_is_value, header)):
            after = sum(number > rows[-1][0] for number in record_lines)
            tables.append(Block(rows[0][0], rows[-1][0], len(rows) - 1, len(header), after))
    return sorted(tables, key=lambda table: -table.records) if len(tables) > 1 else []


def decimal_comma_notices(frame: pd.DataFrame) -> Iterator[Notice]:
    """Yield a notice for each column whose cells all look like numbers, some with a decimal comma."""
    for j, name in enumerate(frame.columns):
        cells: Any = [] if is_numeric_dtype(frame.dtypes.iloc[j]) else frame.iloc[:, j].dropna()
        if not all(isinstance(cell, str) and _WITH_COMMA.fullmatch(cell) for cell in cells):
            continue
        with_comma = [cell for cell in cells if "," in cell]
        if not all(map(_THOUSANDS.fullmatch, with_comma)):
            text = f"Column {brief(name)} is read as text, but looks like numbers with a decimal comma: "
            text += f"{counted(len(with_comma), 'cell')} such as {brief(with_comma[0])}."
            yield Notice("decimal-comma", text, column=name, example=with_comma[0], offers=(DECIMAL_COMMA,))
