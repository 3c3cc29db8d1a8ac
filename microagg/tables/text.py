"""Tables from text files: their columns, what is odd about them, and in what other ways they can be read.

If a text cannot be divided into records (:func:`_broken`, :func:`_uneven`), what may be the matter is said, and each
way of reading it that was found to do is offered.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.errors import DataError
from microagg.tables.notices import (
    Attempt,
    Line,
    Notice,
    Offer,
    Reading,
    UnreadableError,
    column_names,
    is_total,
    leave_out_last,
    refuse_no_records,
    ways_on,
    with_ways,
)
from microagg.tables.text_columns import SEPARATOR, is_number, is_number_but_for, read_column, shown
from microagg.tables.text_layout import (
    DELIMITERS,
    SAMPLE_CHARACTERS,
    Lines,
    comment_mark,
    consistent,
    find_delimiter,
    first_rows,
    has_fixed_width,
    has_two_headers,
    header_at,
    like_record,
    mostly_numbers,
    rival,
    tables_in,
    title_of_several,
    titles_above,
    without_end,
)
from microagg.tables.text_lines import (
    FIXED,
    Dialect,
    Divided,
    RepeatedError,
    TextOptions,
    UnevenError,
    by_another,
    check_columns,
    decode,
    divide,
    numbered_rows,
    without_last,
)
from microagg.validation import counted, listing, shortened

# How many lines at the end are taken for notes, at most.
_MOST_NOTES = 20

# How many uneven lines are looked at, and how many of a kind are shown.
_MOST_UNEVEN = _MOST_SHOWN = 50

# How many lines of a file that is not read are marked.
_MOST_MARKED = 8

# Ways are tried on so many characters from the beginning of a long text, and from its end; on so many in all.
_TRIED, _TRIED_AT_END, _TRIED_IN_ALL = 300_000, 50_000, 6_000_000

# How many columns of a mended line are shown.
_MOST_CELLS = 200

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK_LINE = re.compile(r"(?:\n|\r)[ ,;\t|]*(?:\r\n|\n|\r)")

# Numbers with a decimal comma, and those whose comma may as well separate thousands.
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")

_CURLY, _SINGLE = re.compile(r"\s*[“”„‟«].*[“”‟»]\s*"), re.compile(r"\s*'.*'\s*")

# What may be the matter with a text, as the end of a sentence, and the way to read it that goes with it.
_Cause = tuple[str, Offer]


class _RefusedError(UnreadableError):
    """A text that is not read for one of several causes, the likeliest first; ``seen`` is what is seen of it."""

    def __init__(self, seen: str, causes: Sequence[_Cause], lines: Sequence[Line] = (), times: Any = 1) -> None:
        advice = causes[0][0] if causes else "no other way to read it was found, so get the file anew"
        offers = tuple(offer for _, offer in causes)
        super().__init__(f"{seen}: {advice}.", offers, tuple(lines), f"{seen}, {times} times")
        self.seen, self.causes = seen, causes


def read_text(data: bytes, label: str, options: TextOptions, max_cells: int) -> Reading:
    """Return the table of a text file; see :func:`microagg.tables.read_file`."""
    attempt = _attempt(data, label, options)
    text = ""
    try:
        text = decode(data, label, options.encoding, drop_zeros=options.drop_zeros)
        reading = _read(text, label, options, max_cells)
    except UnreadableError as error:
        offers = ways_on(error.offers, attempt, error.trouble)
        message = str(error)
        if isinstance(error, _RefusedError):
            # The advice is that of the way that leads on.
            leading = [cause for cause in error.causes if offers and offers[0].label.startswith(cause[1].label)]
            message = str(_RefusedError(error.seen, leading))
        # Where lines can be skipped, the trouble is in these rather than where it is seen.
        titles = range(offers[0].reading.get("skip_lines", 0) if offers else 0)
        lines = error.lines if error.lines and not titles else ()
        lines = lines or tuple(_around(text, 1, titles or [options.skip_lines]) if text else ())
        raise UnreadableError(message, offers, lines) from None
    return replace(reading, notices=with_ways(reading.notices, attempt))


class Cells(NamedTuple):
    """A text file divided into cells as it was read once, none of them taken for a number or for missing."""

    body: str  # from its header on
    declared: bool  # whether a line ``sep=;`` stands above it
    ends: bool  # whether a line end stands at its end
    dialect: Dialect
    names: list[str]  # of the columns, as the table has them
    divided: Divided

    def column(self, place: int) -> list[str]:
        """Return the cells of a column, one for each record."""
        return [cell for chunk in self.divided.chunks[place] for cell in chunk.split(SEPARATOR)]


def cells_of(data: bytes, label: str, options: TextOptions) -> Cells:
    """Return the cells of a text file, of which errors are those of :func:`read_text`."""
    text = decode(data, label, options.encoding)
    body, _, declared = _body(text, options.skip_lines, label)
    delimiter = options.delimiter or declared or find_delimiter(body, options.quote, options.comment)
    dialect = Dialect(delimiter, options.quote, options.comment, options.inner_quotes, options.skip_blanks)
    has_header = _has_header(first_rows(body, dialect), options, label)
    try:
        divided = divide(body, dialect, options, has_header, label, len(data) + 1)
    except (csv.Error, UnevenError, RepeatedError) as error:
        raise DataError(f"the file {label!r} cannot be divided into cells ({error}): write it again.") from None
    header = divided.header or [""] * len(divided.chunks)
    names = column_names(enumerate(header, start=1), label, number=options.number_names)
    return Cells(body, declared is not None, text.endswith(("\n", "\r")), dialect, names, divided)


def read_cells(data: bytes, label: str, reading: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells of a text file, shape (n records, number of columns), as text; ``reading`` is for read_file."""
    cells = cells_of(data, label, TextOptions(**reading))
    frame = pd.DataFrame({place: cells.column(place) for place in range(len(cells.names))})
    return frame.set_axis(cells.names, axis=1)


def _attempt(data: bytes, label: str, options: TextOptions) -> Attempt:
    """Return what reads the text otherwise; of a long one the beginning and the end."""
    texts: dict[tuple[str | None, bool], str] = {}

    def read(further: Mapping[str, Any]) -> Reading:
        changed = replace(options, **further)
        if (kept := (changed.encoding, changed.drop_zeros)) not in texts:
            text = decode(data, label, changed.encoding, drop_zeros=changed.drop_zeros)
            if len(text) > _TRIED + _TRIED_AT_END:
                begin, end = text.rfind("\n", 0, _TRIED), text.find("\n", len(text) - _TRIED_AT_END)
                text = text[: begin + 1] + text[end + 1 :] if begin > 0 and end > 0 else text
            texts[kept] = text
        return _read(texts[kept], label, changed, len(data))

    size = min(len(data), _TRIED + _TRIED_AT_END)
    return Attempt(read, whole=size == len(data), budget=max(4, min(60, _TRIED_IN_ALL // max(size, 1))))


def _read(text: str, label: str, options: TextOptions, max_cells: int) -> Reading:
    body, first_line, declared = _body(text, options.skip_lines, label)
    delimiter = options.delimiter or declared or find_delimiter(body, options.quote, options.comment)
    dialect = Dialect(delimiter, options.quote, options.comment, options.inner_quotes, options.skip_blanks)
    rows = first_rows(body, dialect)
    has_header = _has_header(rows, options, label)
    try:
        divided = divide(body, dialect, options, has_header, label, max_cells)
    except csv.Error as error:
        raise _broken(body, dialect, first_line, label, str(error)) from None
    except UnevenError:
        raise _uneven(body, dialect, options, first_line, label) from None
    except RepeatedError:
        raise _repeated(body, dialect, options, first_line, label) from None
    width = len(divided.chunks)
    if width == 1:
        _check_single(body, dialect, options, label)
    header = divided.header or [""] * width
    _check_equal(rows, header, options, label)
    names = column_names(enumerate(header, start=1), label, number=options.number_names)
    if divided.records == 0:
        refuse_no_records(label)
    _check_quotes(divided.header, label)
    columns = [
        read_column(chunks, name, options.decimal, options.missing)
        for chunks, name in zip(divided.chunks, names, strict=True)
    ]
    frame = pd.DataFrame({i: column for i, (column, _) in enumerate(columns)})
    frame.columns = names
    if options.unnamed == "drop":
        rows = [(number, row if any(map(str.strip, row[width:])) else row[:width]) for number, row in rows]
    fitting = [(number, row) for number, row in rows if len(row) == len(rows[0][1])]
    notices = _title_notices(fitting, first_line, dialect, options) if divided.header else []
    notices = notices or _units_notices(divided, names, options)
    notices += _several_notices(body, dialect, first_line, options)
    notices += _last_notices(divided, options.skip_last)
    notices += _empty_notices(divided)
    notices += itertools.chain(*(said for _, said in columns))
    if options.decimal == ".":
        notices += _decimal_comma_notices(frame)
    return Reading(frame, tuple(notices), tuple(_done(text, body, first_line, divided, dialect, options)))


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


def _has_header(rows: Lines, options: TextOptions, label: str) -> bool:
    """Whether the first record is the header, which is asked if it looks like data."""
    if options.header is not None or not rows:
        return options.header is not False
    header = rows[0][1]
    check_columns(len(header), label)
    # Where fields are uneven, titles above the header are the likelier reason.
    cell = like_record(rows) if {len(row) for _, row in rows} == {len(header)} else ""
    if not cell:
        return True
    raise UnreadableError(
        f"the first line of the file {label!r} looks like data, with cells such as {shown(cell)} where names of "
        "columns belong: say whether it is the header.",
        (Offer("It is data: the file has no header", {"header": False}), Offer("It is the header", {"header": True})),
    )


def _check_single(body: str, dialect: Dialect, options: TextOptions, label: str) -> None:
    """Raise :class:`UnreadableError` if a table with one column may have several."""
    if options.delimiter is None and (titled := title_of_several(body, dialect)):
        skipped, divider = options.skip_lines + titled[0], titled[1]
        raise UnreadableError(
            f"the {_first_lines(skipped)} of the file {label!r} may hold a title, as {_spoken(divider)} divides all "
            "lines below alike: skip it, or say that there is one column.",
            (Offer(f"Skip the {_first_lines(skipped)}", {"skip_lines": skipped}), _one_column(body)),
        )
    fixed = options.delimiter is None and has_fixed_width(body)
    columns_of_width = [Offer("Divide where blanks stand below each other", {"delimiter": FIXED})] if fixed else []
    other = rival(body, dialect, blanks=options.delimiter is None)
    if other is not None:
        offers = [_divide_by(other), *([*columns_of_width, _one_column(body)] if other == " " else [])]
        raise UnreadableError(
            f"divided by {_spoken(dialect.delimiter)}, the file {label!r} has only one column, but "
            f"{_spoken(other)} divides all its lines alike: choose {_spoken(other)} as the delimiter.",
            tuple(offers),
        )
    if fixed:
        raise UnreadableError(
            f"the file {label!r} seems to have columns of fixed width, padded with blanks: say so, or say that it has "
            "one column.",
            (*columns_of_width, _one_column(body)),
        )


def _check_equal(rows: Lines, header: Sequence[str], options: TextOptions, label: str) -> None:
    """Raise :class:`UnreadableError` if a name occurs more than once, and is not to be numbered."""
    names = [name.strip() for name in header if name.strip()]
    if options.number_names or len(set(names)) == len(names):
        return
    twice = next(name for i, name in enumerate(names) if name in names[:i])
    number = Offer(f"Number them: {shown(twice)}, {shown(f'{twice} (2)')}", {"number_names": True})
    below = [cell for _, row in rows[1:2] for cell in row]
    raise UnreadableError(
        f"in the file {label!r}, the column name {shown(twice)} occurs more than once: number such names, as each "
        "column needs its own.",
        (*([_join_names(options.header_lines + 1)] if below and not any(map(is_number, below)) else []), number),
    )


def _check_quotes(header: Sequence[str], label: str) -> None:
    """Raise :class:`UnreadableError` if all names stand in quotes that do not count as such."""
    for is_quoted, quote, what in ((_CURLY.fullmatch, "curly", "typographic"), (_SINGLE.fullmatch, "'", "single")):
        if header and all(map(is_quoted, header)):
            raise UnreadableError(
                f"the names in the file {label!r} stand in {what} quotes, such as {shown(header[0])}: say that {what} "
                "quotes stand around cells.",
                (_quotes(quote),),
            )


# --- what is offered --------------------------------------------------------------------------------------------------


def _quotes(quote: str) -> Offer:
    return Offer(f"Cells stand in {'curly' if quote == 'curly' else 'single'} quotes", {"quote": quote})


_NO_QUOTES = Offer("All quotes are text", {"quote": "none"})
_WITHOUT_EMPTY = Offer("Leave out what has neither a name nor a value", {"unnamed": "drop"})


def _join_names(lines: int) -> Offer:
    return Offer(f"Join the {_first_lines(lines)} to names", {"header_lines": lines})


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
    sample = text[:SAMPLE_CHARACTERS]
    absent = next((delimiter for delimiter in (*DELIMITERS, "^", "~") if delimiter not in sample), "\x1f")
    return Offer("It has one column", {"delimiter": absent})


def _without_titles(skipped: int, width: int, text: str, dialect: Dialect) -> Offer:
    """Return the offer to skip titles, and what is at the end as well if that has less than ``width`` fields, too."""
    reading: dict[str, Any] = {"skip_lines": skipped}
    label = f"Skip the {_first_lines(skipped)}"
    with contextlib.suppress(csv.Error):
        # Below a title of one field, blank lines seem to be records; below the header they are none.
        widths = [len(row) for _, row in numbered_rows(text, dialect) if len(row) > 1 or row[0].strip()]
        notes = sum(1 for _ in itertools.takewhile(lambda fields: fields < width, reversed(widths)))
        if 0 < notes <= _MOST_NOTES:
            reading["skip_last"] = notes
            label += f" and the last {notes if notes > 1 else 'one'}"
    return Offer(label, reading)


# --- notices ----------------------------------------------------------------------------------------------------------


def _title_notices(rows: Lines, first_line: int, dialect: Dialect, options: TextOptions) -> list[Notice]:
    """Return notices of a header that seems to be a title, a comment or a half; ``first_line`` counts from 1."""
    if not rows:
        return []
    header = rows[0][1]
    mark = comment_mark([header[0]])
    following = comment_mark(row[0] for _, row in rows[1:2])
    if dialect.comment is None and mark and (following or (len(header) == 1 and re.match(rf"\s*{mark}+\s", header[0]))):
        text = f"The header of the file begins with {mark!r}, as comments do: {shown(header[0])}."
        return [Notice("comment-lines", text, "", 1, header[0], (_without_comments(mark),))]
    title = next((name for name in header if name.strip()), "")
    if options.header_lines > 1:
        return []
    if has_two_headers(rows):
        text = (
            f"The names of the columns seem to stand on two lines: there is no name beside {shown(title)} on the first."
        )
        return [Notice("header-lines", text, "", 2, title, (_join_names(2),))]
    if at := titles_above(rows):
        skipped = first_line + rows[at - 1][0]
        text = f"The {_first_lines(skipped)} may be a title above the header, such as {shown(title)}."
        offer = Offer(f"Skip the {_first_lines(skipped)}", {"skip_lines": skipped})
        return [Notice("title-row", text, "", skipped, title, (offer,))]
    return []


def _several_notices(text: str, dialect: Dialect, first_line: int, options: TextOptions) -> list[Notice]:
    """Return a notice of several tables in a text that are read as one."""
    if options.skip_last or not _BLANK_LINE.search(text) or not (tables := _tables(text, dialect, first_line)):
        return []
    says = f"The file seems to hold {len(tables)} tables, with blank lines between them, which are read as one."
    return [Notice("several-tables", says, "", len(tables), "", tuple(tables))]


def _empty_notices(divided: Divided) -> list[Notice]:
    """Return a notice of columns with neither a name nor a value."""
    header = divided.header
    empty = [
        j
        for j, chunks in enumerate(divided.chunks)
        if header and not header[j].strip() and not any(chunk.strip(f"{SEPARATOR} ") for chunk in chunks)
    ]
    if not empty or len(empty) == len(header):
        return []
    what = "Column {} has" if len(empty) == 1 else "{} columns have"
    text = f"{what.format(empty[0] + 1 if len(empty) == 1 else len(empty))} neither a name nor a value."
    return [Notice("empty-columns", text, "", len(empty), "", (_WITHOUT_EMPTY,))]


def _done(
    text: str, body: str, first_line: int, divided: Divided, dialect: Dialect, options: TextOptions
) -> Iterator[Notice]:
    """Yield what was left out, mended and named, as it was asked for; texts say where and how often, but no value."""

    def lines(found: Sequence[tuple[int, list[str]]]) -> tuple[Line, ...]:
        return tuple(Line(n + first_line, dialect.delimiter.join(row)) for n, row in found[:_MOST_SHOWN])

    if options.skip_lines:
        first = _LINE_END.split(text, options.skip_lines)[: options.skip_lines]
        shown_lines = tuple(Line(n, line) for n, line in enumerate(first[:_MOST_SHOWN], start=1))
        says = f"Left out at the beginning: {counted(options.skip_lines, 'line')}."
        yield Notice("skipped", says, lines=shown_lines)
    if options.drop_zeros:
        yield Notice("zeros", "Zero characters, which are no text, were left out.")
    if options.comment:
        marked = [
            (n, [line]) for n, line in enumerate(_LINE_END.split(body)) if line.lstrip().startswith(options.comment)
        ]
        yield Notice("comments", f"Comments were left out: {counted(len(marked), 'line')}.", lines=lines(marked))
    if options.header is False:
        yield Notice("no-header", "The file has no header, so its columns are named by their positions.")
    if options.header_lines > 1:
        yield Notice("joined", f"The names of the columns were joined from {options.header_lines} lines.")
    if options.number_names:
        yield Notice("numbered", "Names that occur more than once have got a number.")
    if options.unnamed in ("first", "last"):
        yield Notice(
            "unnamed", f"The header names fewer columns than there are: the {options.unnamed} ones had no name."
        )
    if options.unnamed == "drop":
        parts = [counted(divided.dropped, "column"), f"empty fields at the end of {counted(divided.cut, 'line')}"]
        parts = [part for part, n in zip(parts, (divided.dropped, divided.cut), strict=True) if n]
        yield Notice("empty", f"Left out, without a name and without any value: {' and '.join(parts) or 'nothing'}.")
    if divided.units:
        yield Notice("units", "The row of units below the header was left out.", example=", ".join(divided.units))
    if divided.repeated:
        where = _numbers(divided.repeated, first_line)
        yield Notice("repeated", f"Repetitions of the header were left out: {where}.", lines=lines(divided.repeated))
    if divided.odd:
        where = _numbers(divided.odd, first_line)
        says = f"Left out, as the number of their fields is not that of the header: {where}."
        yield Notice("left-out", says, "", len(divided.odd), lines=lines(divided.odd))
    if divided.mended:
        where = _numbers([line for line, _ in divided.mended], first_line)
        became = tuple(
            replace(line, becomes=" | ".join(cells[:_MOST_CELLS]))
            for line, (_, cells) in zip(lines([old for old, _ in divided.mended]), divided.mended, strict=False)
        )
        says = f"Mended, as they had more or fewer fields than the header: {where}."
        yield Notice("mended", says, "", len(divided.mended), lines=became)
    if divided.last:
        says = f"Left out at the end: {counted(len(divided.last), 'line')}."
        yield Notice("last", says, "", len(divided.last), lines=lines(divided.last))
    around = {"none": "quotes are part of the cells", "'": "single quotes", "curly": "curly quotes"}.get(options.quote)
    within = {"plain": "quotes within cells are text", "escaped": "a \\ before quotes within cells"}
    if said := ", ".join(filter(None, [around, within.get(options.inner_quotes)])):
        yield Notice("quotes", f"How quotes were read: {said}.")


def _numbers(found: Sequence[tuple[int, Any]], first_line: int) -> str:
    """Return how many lines there are, and which: ``2 lines (4 and 9)``."""
    numbers = listing([f"{n + first_line:,}" for n, _ in found], 20)
    return f"{counted(len(found), 'line')} ({numbers})"


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
    leave = Offer("Leave out the row of units", {"units_row": True})
    return [Notice("units-row", text, name, 1, example, (leave, _join_names(options.header_lines + 1)))]


def _last_notices(divided: Divided, skipped: int) -> list[Notice]:
    """Return a notice of totals, notes or empty records at the end; ``skipped`` records are left out already."""
    width = len(divided.chunks)
    # Those at the end of the file; notes are few, but a program may have filled up thousands of lines.
    ends = [SEPARATOR.join(chunks[-2:]).split(SEPARATOR) for chunks in divided.chunks]
    backwards = zip(*map(reversed, ends), strict=True)
    counts = any(map(mostly_numbers, ends[:2]))
    odd: list[Sequence[str]] = []
    notes = 0
    for record in backwards:
        if notes == _MOST_NOTES or not _is_note_or_total(record, width, counts):
            break
        odd.append(record)
        notes += any(map(str.strip, record))
    if not odd or 2 * notes >= divided.records or len(odd) == divided.records:
        return []
    example = next((cell for record in reversed(odd) for cell in record if cell.strip()), "")
    kind = f"a total or a note rather than {'a record' if len(odd) == 1 else 'records'}: {shown(example)}"
    what = "last record seems" if len(odd) == 1 else f"last {len(odd)} records seem"
    text = f"The {what} to be {kind if example else 'empty'}."
    return [Notice("last-records", text, "", len(odd), example, (leave_out_last(len(odd), "record", skipped),))]


def _is_note_or_total(record: Sequence[str], width: int, counts: bool) -> bool:
    """Whether a record has one text or nothing, where more belongs, or a total; ``counts``: one holds numbers."""
    present = [cell for cell in record if cell.strip()]
    if width > 1 and not present:
        return True
    if (width > 2 or (counts and record[0].strip())) and len(present) == 1 and any(map(str.isalpha, present[0])):
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


def _around(text: str, first_line: int, marked: Sequence[int]) -> list[Line]:
    """Return the header, the first of the lines that are ``marked``, which count from 0, and those around the first."""
    begin, some = 0, marked[:_MOST_MARKED]
    wanted = {0, *range(some[0] - 2, some[0] + 4), *some, some[-1] + 1}
    found = []
    for n, end in enumerate(itertools.islice(_LINE_END.finditer(f"{text}\n"), max(wanted) + 1)):
        if n in wanted:
            found.append(Line(n + first_line, shortened(text[begin : end.start()], 200), n in some))
        begin = end.end()
    return found


def _quote_causes(text: str, dialect: Dialect) -> Iterator[_Cause]:
    """Yield other ways to take the quotes of a text."""
    if dialect.quote != '"':
        return
    if re.search(rf'{re.escape(dialect.delimiter)} +"', text):
        offer = Offer("Blanks after delimiters do not count", {"skip_blanks": True})
        yield "blanks seem to stand between delimiters and quotes", offer
    if '\\"' in text:
        says = "a backslash seems to stand before quotes within cells"
        yield says, Offer("A backslash stands before quotes within cells", {"inner_quotes": "escaped"})
    if '"' in text:
        offer = Offer("Quotes within cells are text", {"inner_quotes": "plain"})
        yield "quotes within cells seem to be text, though they are not doubled", offer
    if "'" in text:
        yield "single quotes seem to stand around its cells", _quotes("'")
    if '"' in text:
        yield "quotes may be nothing but text", _NO_QUOTES


def _broken(text: str, dialect: Dialect, first_line: int, label: str, reason: str) -> UnreadableError:
    """Return the error for a text with broken quotes or too long a cell; ``reason`` is what the csv module says."""
    last = -1
    with contextlib.suppress(csv.Error):
        for line, _ in numbered_rows(text, dialect):
            last = line
    what = "a quote that is never closed"
    if "expected after" in reason:
        what = "characters between a closing quote and the next delimiter"
    seen = f"the file {label!r} cannot be divided into cells after line {last + first_line}, because of {what}"
    return _RefusedError(seen, list(_quote_causes(text, dialect)), _around(text, first_line, [last + 1]))


def _repeated(text: str, dialect: Dialect, options: TextOptions, first_line: int, label: str) -> UnreadableError:
    """Return the error for a text whose header is there again among the records."""
    lines = without_last(numbered_rows(text, dialect), options.skip_last)
    _, header = next(lines)
    # Fields at the end may be empty, and left out.
    again = [number for number, row in lines if "".join(row) and without_end(row) == without_end(header)]
    seen = f"a record of the file {label!r} repeats its header, as where several files were joined"
    leave = Offer(f"Leave out what repeats the header ({counted(len(again), 'line')})", {"repeated_header": True})
    causes = [("leave all headers out but the first", leave)]
    if any(table.first not in again for table in tables_in(text, dialect)[1:]):
        tables = [("say which table is to be read", offer) for offer in _tables(text, dialect, first_line)]
        causes = [*tables, *causes]
    return _RefusedError(seen, causes, _around(text, first_line, again), (options.skip_lines, options.skip_last))


def _uneven(text: str, dialect: Dialect, options: TextOptions, first_line: int, label: str) -> UnreadableError:
    """Return the error for a text, from ``first_line`` of the file on, whose records differ in width."""
    rows = without_last(numbered_rows(text, dialect), options.skip_last)
    _, header = next(rows)
    odd: list[tuple[int, int, list[str]]] = []  # positions of the first such records, from 1, their lines and fields
    many = records = 0
    for records, (line, row) in enumerate(rows, start=1):
        if len(row) != len(header):
            many += 1
            odd += [(records, line, row)] if many <= _MOST_UNEVEN else []
    seen = (
        f"line {odd[0][1] + first_line} of the file {label!r} has {counted(len(odd[0][2]), 'field')}, but the header "
        f"has {counted(len(header), 'field')}"
    )
    causes = list(_causes(text, dialect, options, first_line, header, odd, many, records))
    return _RefusedError(
        seen, causes, _around(text, first_line, [line for _, line, _ in odd]), (many, options.skip_last)
    )


def _causes(
    text: str,
    dialect: Dialect,
    options: TextOptions,
    first_line: int,
    header: list[str],
    odd: list[tuple[int, int, list[str]]],
    many: int,
    records: int,
) -> Iterator[_Cause]:
    """Yield what may be the matter with an uneven text, whose ``odd`` records are not as wide as its header.

    There are ``many`` such among all ``records``.
    """
    if other := rival(text, dialect):
        yield f"choose {_spoken(other)} as the delimiter, which divides all lines alike", _divide_by(other)
    firsts = [header[0]] if comment_mark([header[0]]) else [row[0] for _, _, row in odd]
    if options.comment is None and (mark := comment_mark(firsts)):
        yield f"lines that begin with {mark!r} seem to be comments, which can be left out", _without_comments(mark)
    if options.quote == '"' and "'" in text:
        quoted = first_rows(text, Dialect(dialect.delimiter, "'", dialect.comment))
        if consistent([len(row) for _, row in quoted]):
            yield "single quotes seem to stand around its cells", _quotes("'")
    rows = first_rows(text, dialect)
    for offer in _tables(text, dialect, first_line):
        yield "it seems to hold several tables: say which one is to be read", offer
    if at := header_at(rows, dialect.delimiter):
        skipped = first_line + rows[at - 1][0]
        advice = f"the {_first_lines(skipped)} may hold titles above the header, and can be skipped"
        yield advice, _without_titles(skipped, len(without_end(rows[at][1])), text, dialect)
        if len(header) == 1 and options.delimiter is None:
            yield "the file may have one column", _one_column(text)
    (first, _, _), widths, width = odd[0], {len(row) for _, _, row in odd}, len(header)
    if max(widths) < width and many <= _MOST_NOTES and records - first + 1 == many and first > 2 * many:
        advice = "notes at the end can be left out; if the file was cut off there, get it again"
        yield advice, leave_out_last(many, "line", options.skip_last)
    surplus = [cell for _, _, row in odd for cell in row[width:]]
    if min(widths) > width and options.unnamed == "keep":
        if not any(map(str.strip, surplus)):
            yield "lines have one more or several at their end, all empty, which can be left out", _WITHOUT_EMPTY
        if widths == {width + 1} and many == records > 1:
            says = (
                "as the other lines have one more too, the first column may have no name, like that of the row numbers"
            )
            yield says, Offer("The first column has no name: call it 'row'", {"unnamed": "first"})
    elif not any(map(str.strip, [*surplus, *header[min(widths) :]])) and options.unnamed == "keep":
        yield "fields without a name and without values can be left out", _WITHOUT_EMPTY
    quotes = list(_quote_causes(text, dialect))
    # Quotes that are wrong in some way are hardly ever right in every line.
    yield from (cause for cause in quotes if "skip_blanks" in cause[1].reading)
    if options.uneven == "error" and 2 * many <= records:
        those = "line that does not fit" if many == 1 else f"{counted(many, 'line')} that do not fit"
        mend = Offer(f"Mend the {those}", {"uneven": "mend"})
        leave = Offer(f"Leave out the {those}", {"uneven": "drop"})
        # What has less than half of the fields is a heading or a note rather than a record.
        is_other = any(by_another(row, width) for _, _, row in odd)
        ways = [leave, mend] if 2 * min(widths) < width and not is_other else [mend, leave]
        yield from (("lines that do not fit can be mended or left out", way) for way in ways)
    if min(widths) > width and options.unnamed == "keep":
        yield "the last columns may have no name", Offer("The last columns have no name", {"unnamed": "last"})
    if options.uneven == "error" and 2 * many > records:
        yield "lines can be mended", Offer(f"Mend all {counted(many, 'line')} that do not fit", {"uneven": "mend"})
    yield from quotes


def _tables(text: str, dialect: Dialect, first_line: int) -> list[Offer]:
    """Return the offers to read one of several tables in a text."""
    offers = []
    for table in tables_in(text, dialect):
        size = f"{counted(table.records, 'record')}, {counted(table.columns, 'column')}"
        label = f"Read the table in lines {table.first + first_line} to {table.last + first_line} ({size})"
        reading = {"skip_lines": table.first + first_line - 1, "skip_last": table.after}
        offers.append(Offer(label, {name: lines for name, lines in reading.items() if lines}))
    return offers
