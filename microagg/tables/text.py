"""Tables from text files: what stands where, what is odd about it, and its columns.

That is the delimiter, titles above the header, units below it, and notes at the end. If a text cannot be divided into
records (:func:`_broken`, :func:`_uneven`), what may be the matter is said and offered.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.errors import DataError
from microagg.tables.notices import (
    MISSING,
    Notice,
    Offer,
    Reading,
    UnreadableError,
    column_names,
    is_total,
    leave_out_last,
    refuse_no_records,
)
from microagg.tables.text_columns import SEPARATOR, is_number, is_number_but_for, read_column, shown
from microagg.tables.text_lines import (
    Dialect,
    Divided,
    TextOptions,
    UnevenError,
    check_columns,
    decode,
    divide,
    numbered_rows,
)
from microagg.validation import counted

#: The delimiters among which one is found when none is given; the comma last, as it may also be a decimal comma.
DELIMITERS = (";", "\t", "|", ",")

# What lines begin with that are comments.
_COMMENTS = ("#", "%", "//")

# Further characters that somebody may have separated fields with; never chosen, only offered.
_RARE_DELIMITERS = (":", "^", "~", " ")

# How much of a text file is looked at to find its delimiter: enough for many lines, cheap for any file.
_SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 50

# How many lines above the header are taken for titles, and at the end for notes, at most.
_MOST_TITLES, _MOST_NOTES = 25, 20

# How many uneven lines are looked at, at most.
_MOST_UNEVEN = 50

_LINE_END = re.compile(r"\r\n|\n|\r")

# Numbers with a decimal comma, and those whose comma may as well separate thousands.
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")

_CURLY = re.compile(r"\s*[“”„‟«].*[“”‟»]\s*")

# The first records, each with the number of the line, from 0, on which it ends.
_Lines = list[tuple[int, list[str]]]


def read_text(data: bytes, label: str, options: TextOptions, max_cells: int) -> Reading:
    """Return the table of a text file; see :func:`microagg.tables.read_file`."""
    body, first_line, declared = _body(decode(data, label, options.encoding), options.skip_lines, label)
    delimiter = options.delimiter or declared or _find_delimiter(body, options.quote, options.comment)
    dialect = Dialect(delimiter, options.quote, options.comment)
    rows = _first_rows(body, dialect)
    has_header = _has_header(rows, options, label)
    try:
        divided = divide(body, dialect, options, has_header, label, max_cells)
    except csv.Error as error:
        raise _broken(body, dialect, first_line, label, str(error)) from None
    except UnevenError:
        raise _uneven(body, dialect, options, first_line, label) from None
    width = len(divided.chunks)
    if width == 1:
        _check_single(body, dialect, options, label)
    names = column_names(enumerate(divided.header or [""] * width, start=1), label)
    if divided.records == 0:
        refuse_no_records(label)
    _check_quotes(divided.header, label)
    columns = [
        read_column(chunks, name, options.decimal, options.missing)
        for chunks, name in zip(divided.chunks, names, strict=True)
    ]
    frame = pd.DataFrame({i: column for i, (column, _) in enumerate(columns)})
    frame.columns = names
    notices = _title_notices(rows, first_line, dialect) if divided.header else []
    notices = notices or _units_notices(divided, names, options)
    notices += _last_notices(divided, options.skip_last)
    notices += itertools.chain(*(said for _, said in columns))
    if options.decimal == ".":
        notices += _decimal_comma_notices(frame)
    return Reading(frame, tuple(notices))


def _body(text: str, skip_lines: int, label: str) -> tuple[str, int, str | None]:
    """Return what is to be read of a text, the number of its first line from 1, and the delimiter that it declares."""
    # What follows the lines that are skipped, of which a text of n characters has n + 1 at most.
    parts = _LINE_END.split(text, min(skip_lines, len(text) + 1)) if skip_lines else [text]
    body = parts[skip_lines] if skip_lines < len(parts) else ""
    skipped = len(text) - len(body)
    body = body.lstrip("\r\n")
    # Excel writes and reads such a first line.
    declared = re.match(r'"?sep=(.)"?(?:\r\n|\n|\r)', body, re.IGNORECASE)
    if declared:
        body = body[declared.end() :].lstrip("\r\n")
    first_line = 1 + len(_LINE_END.findall(text[: len(text) - len(body)]))
    body = body.rstrip("\r\n")
    if not body.strip():
        what = "nothing after the lines that are skipped" if skipped else "blank lines only"
        raise DataError(f"the file {label!r} holds {what}: choose a file with a header and records.")
    return body, first_line, declared[1] if declared else None


def _has_header(rows: _Lines, options: TextOptions, label: str) -> bool:
    """Whether the first record is the header, which is asked if it looks like data."""
    if options.header is not None or not rows:
        return options.header is not False
    header = rows[0][1]
    check_columns(len(header), label)
    # Where fields are uneven, titles above the header are the likelier reason.
    if {len(row) for _, row in rows} != {len(header)} or not _looks_like_record(header):
        return True
    number = next(name for name in header if any(map(str.isdigit, name)))
    raise UnreadableError(
        f"the first line of the file {label!r} looks like data, with numbers such as {shown(number)} where "
        "names of columns belong: say whether it is the header.",
        (Offer("It is data: the file has no header", {"header": False}), Offer("It is the header", {"header": True})),
    )


def _looks_like_record(header: Sequence[str]) -> bool:
    """Whether a header seems to be a record: numbers only, not 0, 1, 2 and so on; or one with a point."""
    names = [name.strip() for name in header if name.strip()]
    if any(re.fullmatch(r"-?[0-9]+[.,][0-9]+", name) for name in names):
        return True
    if not names or not all(map(is_number, names)):
        return False
    whole = [int(name) for name in names if re.fullmatch("-?[0-9]{1,9}", name)]
    steps = {two - one for one, two in itertools.pairwise(whole)}
    return not (len(whole) == len(names) and len(header) >= 3 and steps == {1})


def _check_single(body: str, dialect: Dialect, options: TextOptions, label: str) -> None:
    """Raise :class:`UnreadableError` if a table with one column may have several."""
    other = _rival(body, dialect, blanks=options.delimiter is None)
    if other is not None:
        offers = [_divide_by(other), *([_one_column(body)] if other == " " else [])]
        raise UnreadableError(
            f"divided by {_spoken(dialect.delimiter)}, the file {label!r} has only one column, but "
            f"{_spoken(other)} divides all its lines alike: choose {_spoken(other)} as the delimiter.",
            tuple(offers),
        )
    if options.delimiter is None and _has_fixed_width(body):
        raise UnreadableError(
            f"the file {label!r} seems to have columns of fixed width, padded with blanks, which are not read: "
            "save it as CSV, or say that it has one column.",
            (_one_column(body),),
        )


def _check_quotes(header: Sequence[str], label: str) -> None:
    """Raise :class:`DataError` if all names stand in quotes that do not count as such."""
    if header and all(map(_CURLY.fullmatch, header)):
        raise DataError(
            f"the names in the file {label!r} stand in typographic quotes, such as {shown(header[0])}: replace "
            "these by straight double quotes."
        )
    if header and all(re.fullmatch(r"\s*'.*'\s*", name) for name in header):
        raise UnreadableError(
            f"the names in the file {label!r} stand in single quotes, such as {shown(header[0])}: say that "
            "single quotes stand around cells.",
            (_SINGLE_QUOTES,),
        )


# --- delimiters -------------------------------------------------------------------------------------------------------


def _first_rows(text: str, dialect: Dialect) -> _Lines:
    sample = text[:_SAMPLE_CHARACTERS]
    rows: _Lines = []
    # What was read before a broken quote still tells the delimiter.
    with contextlib.suppress(csv.Error):
        rows.extend(itertools.islice(numbered_rows(sample, dialect), _SAMPLE_LINES))
    # The sample may end in the middle of a record.
    return rows[:-1] if len(sample) < len(text) and 1 < len(rows) < _SAMPLE_LINES else rows


def _find_delimiter(text: str, quote: str, comment: str | None) -> str:
    """Return the delimiter by which header and records have equally many fields, several of them.

    Failing that, one by which all have but for titles above the header and notes at the end; failing that, one that
    divides the header; failing that, any one, for a text with one column.
    """
    rows = {delimiter: _first_rows(text, Dialect(delimiter, quote, comment)) for delimiter in DELIMITERS}
    widths = {delimiter: [len(row) for _, row in lines] for delimiter, lines in rows.items()}
    if fits := [delimiter for delimiter in DELIMITERS if _consistent(widths[delimiter])]:
        # Among equals max takes the first, so a comma comes last: in "1,5;2,5" it may be a decimal comma.
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    if fits := [delimiter for delimiter in DELIMITERS if _header_at(rows[delimiter], delimiter)]:
        return max(fits, key=lambda delimiter: max(widths[delimiter]))
    if fits := [delimiter for delimiter in DELIMITERS if max(widths[delimiter][:1], default=0) > 1]:
        return max(fits, key=lambda delimiter: widths[delimiter][0])
    return next((delimiter for delimiter in DELIMITERS if max(widths[delimiter], default=0) == 1), ",")


def _header_at(rows: _Lines, delimiter: str) -> int:
    """Return the position of the header below titles, which have fewer fields than it; 0 if there are none."""
    widths = [len(row) for _, row in rows]
    width, times = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    if width < 2 or times < 2 or widths[0] >= width:
        return 0
    first, last = widths.index(width), len(widths) - widths[::-1].index(width)
    if first > _MOST_TITLES or set(widths[first:last]) != {width} or max(widths[:first]) > width:
        return 0
    header, *records = (row for _, row in rows[first:last])
    if any(map(is_number, header)):
        return 0
    # One comma in each line is not unusual in text.
    return first if delimiter != "," or width > 2 or _some_numbers(records) else 0


def _rival(text: str, dialect: Dialect, *, blanks: bool = True) -> str | None:
    """Return another delimiter that divides every one of the first lines into equally many fields, if there is one."""
    for other in (*DELIMITERS, *_RARE_DELIMITERS):
        if other == dialect.delimiter or (other == " " and not blanks):
            continue
        rows = [row for _, row in _first_rows(text, Dialect(other, dialect.quote, dialect.comment))]
        # Blanks within text do not part columns, those before numbers may.
        if _consistent(list(map(len, rows))) and (other != " " or _some_numbers(rows[1:])):
            return other
    return None


def _consistent(widths: Sequence[int]) -> bool:
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _some_numbers(records: Sequence[Sequence[str]]) -> bool:
    """Whether some column has numbers only, as far as it has anything."""
    for cells in zip(*records, strict=True):
        present = [cell for cell in cells if cell.strip() not in ("", *MISSING)]
        if present and all(map(is_number, present)):
            return True
    return False


def _has_fixed_width(text: str) -> bool:
    """Whether the first lines look like columns of fixed width: blanks at the same places, somewhere two of them."""
    lines = [line.rstrip() for line in text[:_SAMPLE_CHARACTERS].splitlines()[:_SAMPLE_LINES] if line.strip()]
    if len(lines) < 3 or not all(re.search(r"\S\s", line) for line in lines):
        return False
    width = max(map(len, lines))
    gaps = [all(line.ljust(width)[at] == " " for line in lines) for at in range(width)]
    return any("  " in line.strip() for line in lines) and any(gaps[gaps.index(False) : min(map(len, lines))])


def _comment_mark(cells: Iterable[str]) -> str | None:
    """Return what all cells begin with, if that marks comments."""
    first = list(cells)
    return next((mark for mark in _COMMENTS if first and all(cell.lstrip().startswith(mark) for cell in first)), None)


# --- what is offered --------------------------------------------------------------------------------------------------

_SINGLE_QUOTES = Offer("Cells stand in single quotes", {"quote": "'"})


def _spoken(delimiter: str) -> str:
    """Return a delimiter as sentences call it."""
    return {"\t": "tab", " ": "space"}.get(delimiter, repr(delimiter))


def _first_lines(count: int) -> str:
    return "first line" if count == 1 else f"first {counted(count, 'line')}"


def _divide_by(delimiter: str) -> Offer:
    return Offer(f"Divide by {_spoken(delimiter)}", {"delimiter": delimiter})


def _without_comments(mark: str) -> Offer:
    return Offer(f"Leave out lines that begin with {mark}", {"comment": mark})


def _one_column(text: str) -> Offer:
    """Return the offer to read a text as one column: divided by what does not occur in it."""
    sample = text[:_SAMPLE_CHARACTERS]
    absent = next((delimiter for delimiter in (*DELIMITERS, "^", "~") if delimiter not in sample), "\x1f")
    return Offer("It has one column", {"delimiter": absent})


def _without_titles(skipped: int, text: str, dialect: Dialect) -> Offer:
    """Return the offer to skip titles, and what is at the end as well if that has fewer fields, too."""
    reading: dict[str, Any] = {"skip_lines": skipped}
    label = f"Skip the {_first_lines(skipped)}"
    with contextlib.suppress(csv.Error):
        widths = [len(row) for _, row in numbered_rows(text, dialect)]
        notes = widths[::-1].index(max(widths))
        if 0 < notes <= _MOST_NOTES:
            reading["skip_last"] = notes
            label += f" and the last {notes if notes > 1 else 'one'}"
    return Offer(label, reading)


# --- notices ----------------------------------------------------------------------------------------------------------


def _title_notices(rows: _Lines, first_line: int, dialect: Dialect) -> list[Notice]:
    """Return notices of a header that seems to be a title or a comment; ``first_line`` counts from 1."""
    if not rows:
        return []
    header = rows[0][1]
    mark = _comment_mark([header[0]])
    following = _comment_mark(row[0] for _, row in rows[1:2])
    if dialect.comment is None and mark and (following or (len(header) == 1 and re.match(rf"\s*{mark}+\s", header[0]))):
        text = f"The header of the file begins with {mark!r}, as comments do: {shown(header[0])}."
        return [Notice("comment-lines", text, "", 1, header[0], (_without_comments(mark),))]
    if len(header) < 3 or sum(bool(name.strip()) for name in header) > 1:
        return []
    for i, (_, row) in enumerate(rows[1:10], start=1):
        if len(row) == len(header) and all(cell.strip() for cell in row) and not any(map(is_number, row)):
            skipped = first_line + rows[i - 1][0]
            title = next((name for name in header if name.strip()), "")
            text = f"The header of the file has one name only, {shown(title)}: it may be a title above the header."
            offer = Offer(f"Skip the {_first_lines(skipped)}", {"skip_lines": skipped})
            return [Notice("title-row", text, "", skipped, title, (offer,))]
    return []


def _units_notices(divided: Divided, names: list[str], options: TextOptions) -> list[Notice]:
    """Return a notice if the first record keeps columns from being numbers, and has no number itself."""
    first = [chunks[0].split(SEPARATOR, 1)[0] for chunks in divided.chunks]
    if divided.records < 3 or options.units_row or any(is_number(cell, options.decimal) for cell in first):
        return []
    columns = [j for j, chunks in enumerate(divided.chunks) if is_number_but_for(chunks, options.decimal)]
    if not columns:
        return []
    name, example = names[columns[0]], first[columns[0]]
    named = shown(name) + (f" and {len(columns) - 1:,} more" if len(columns) > 1 else "")
    text = (
        f"The first record seems to hold units or descriptions, such as {shown(example)}: without it, column "
        f"{named} would be numbers."
    )
    return [Notice("units-row", text, name, 1, example, (Offer("Leave out the row of units", {"units_row": True}),))]


def _last_notices(divided: Divided, skipped: int) -> list[Notice]:
    """Return a notice of totals, notes or empty records at the end; ``skipped`` records are left out already."""
    width = len(divided.chunks)
    odd = list(itertools.takewhile(lambda record: _is_note_or_total(record, width), reversed(divided.last)))
    if not odd or len(odd) * 2 >= divided.records:
        return []
    example = next((cell for record in reversed(odd) for cell in record if cell.strip()), "")
    kind = f"a total or a note rather than {'a record' if len(odd) == 1 else 'records'}: {shown(example)}"
    what = "last record seems" if len(odd) == 1 else f"last {len(odd)} records seem"
    text = f"The {what} to be {kind if example else 'empty'}."
    return [Notice("last-records", text, "", len(odd), example, (leave_out_last(len(odd), "record", skipped),))]


def _is_note_or_total(record: Sequence[str], width: int) -> bool:
    present = [cell for cell in record if cell.strip()]
    if width >= 3 and (not present or (len(present) == 1 and any(map(str.isalpha, present[0])))):
        return True
    numbers = [cell for cell in present if cell.strip() != present[0].strip()]
    return bool(numbers) and is_total(present[0]) and all(map(is_number, numbers))


def decimal_comma_columns(frame: pd.DataFrame) -> list[str]:
    """Return the text columns that look like numbers with a decimal comma, such as ``3,14``.

    Reading the file again with ``decimal=","`` turns them into numbers. Columns in which every comma could as well
    separate thousands, such as ``1,234``, are left out.
    """
    return [notice.column for notice in _decimal_comma_notices(frame)]


def _decimal_comma_notices(frame: pd.DataFrame) -> list[Notice]:
    """Return a notice of each column that looks like numbers with a decimal comma."""
    notices = []
    for j, dtype in enumerate(frame.dtypes):
        if not is_numeric_dtype(dtype) and (cells := _with_comma(frame.iloc[:, j])):
            column = str(frame.columns[j])
            text = (
                f"Column {shown(column)} is read as text, but looks like numbers with a decimal comma: "
                f"{counted(len(cells), 'cell')} such as {shown(cells[0])}."
            )
            offer = Offer("The decimal mark is a comma", {"decimal": ","})
            notices.append(Notice("decimal-comma", text, column, len(cells), cells[0], (offer,)))
    return notices


def _with_comma(series: pd.Series[Any]) -> list[str]:
    """Return the cells with a comma, if all cells of a column look like numbers with a decimal comma."""
    cells = series.dropna()
    # Most columns of text are told from their first cells.
    for some in (cells.iloc[:20], cells):
        if not all(isinstance(cell, str) and _WITH_COMMA.fullmatch(cell) for cell in some):
            return []
    with_comma = [cell for cell in cells if "," in cell]
    return [] if all(map(_THOUSANDS.fullmatch, with_comma)) else with_comma


# --- what cannot be divided -------------------------------------------------------------------------------------------


def _broken(text: str, dialect: Dialect, first_line: int, label: str, reason: str) -> UnreadableError:
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


def _uneven(text: str, dialect: Dialect, options: TextOptions, first_line: int, label: str) -> UnreadableError:
    """Return the error for a text, from ``first_line`` of the file on, whose records differ in width."""
    rows = numbered_rows(text, dialect)
    _, header = next(rows)
    odd: list[tuple[int, list[str]]] = []  # positions of records, from 1, and their fields
    number = records = 0
    for records, (line, row) in enumerate(rows, start=1):
        if len(row) != len(header):
            number = number or line + first_line
            odd.append((records, row))
        # Further ones are only looked at for the advice to give, so some of them are enough.
        if len(odd) > _MOST_UNEVEN:
            break
    advice, offers = _advice(text, dialect, options, first_line, header, odd, records)
    return UnreadableError(
        f"line {number} of the file {label!r} has {counted(len(odd[0][1]), 'field')}, but the header has "
        f"{counted(len(header), 'field')}: {advice}.",
        offers,
    )


def _advice(
    text: str,
    dialect: Dialect,
    options: TextOptions,
    first_line: int,
    header: list[str],
    odd: list[tuple[int, list[str]]],
    records: int,
) -> tuple[str, tuple[Offer, ...]]:
    """Return what may be the matter with an uneven text, whose ``odd`` records are not as wide as its header."""
    if other := _rival(text, dialect):
        return f"choose {_spoken(other)} as the delimiter, which divides all lines alike", (_divide_by(other),)
    firsts = [header[0]] if _comment_mark([header[0]]) else [row[0] for _, row in odd]
    if options.comment is None and (mark := _comment_mark(firsts)):
        return f"lines that begin with {mark!r} seem to be comments, which can be left out", (_without_comments(mark),)
    if options.quote == '"' and "'" in text:
        quoted = _first_rows(text, Dialect(dialect.delimiter, "'", dialect.comment))
        if _consistent([len(row) for _, row in quoted]):
            return "single quotes seem to stand around its cells", (_SINGLE_QUOTES,)
    rows = _first_rows(text, dialect)
    if at := _header_at(rows, dialect.delimiter):
        skipped = first_line + rows[at - 1][0]
        advice = f"the {_first_lines(skipped)} may hold titles above the header, and can be skipped"
        single = [_one_column(text)] if len(header) == 1 and options.delimiter is None else []
        return advice, (_without_titles(skipped, text, dialect), *single)
    (first, _), many, widths = odd[0], len(odd), {len(row) for _, row in odd}
    if max(widths) < len(header) and many <= _MOST_NOTES and records - first + 1 == many and first > 2 * many:
        advice = "notes at the end can be left out; if the file was cut off there, get it again"
        return advice, (leave_out_last(many, "line", options.skip_last),)
    if widths == {len(header) + 1} and first == 1 and records > 1:
        return (
            "as the other lines have one more too, add the missing column name (often that of the row numbers) to "
            "the header, or remove the delimiter at the end of the lines"
        ), ()
    return f"check the delimiter ({_spoken(dialect.delimiter)}), and put double quotes around cells that contain it", ()
