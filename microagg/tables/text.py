"""Tables from text files: their columns, notices on odd content, and offers of other options.

A text that cannot be divided into records is refused with the likely causes, and offers of other options that were
tried and work.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from microagg.errors import DataError
from microagg.tables import text_layout as layout
from microagg.tables import text_lines
from microagg.tables.lossless import SEPARATOR, brief, cells_in, is_number, is_number_but_for, read_text_column
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
from microagg.tables.text_layout import Lines
from microagg.tables.text_lines import Divided, TextOptions, is_empty
from microagg.validation import counted, listing, shortened

# The maximum numbers of notes at the end, of lines of a kind that are examined or shown, and of marked lines.
_MAX_NOTES, _MAX_LINES, _MAX_MARKED = 20, 50, 8

# Previews use this number of characters from the beginning of a long text, and from its end; and in total.
_N_FIRST, _N_LAST, _MAX_TRIED = 300_000, 50_000, 6_000_000

# The maximum number of columns of a mended line in a notice.
_MAX_CELLS = 200

_BLANK_LINE = re.compile(r"(?:\n|\r)[ ,;\t|]*(?:\r\n|\n|\r)")

# A cause for an unreadable text, as the end of a sentence, and the offer that solves it.
_Cause = tuple[str, Offer]


class Body(NamedTuple):
    """A text from its header on, and its division."""

    text: str
    first_line: int  # in the file, from 1
    declares: bool  # whether there is a line ``sep=;`` above it
    ends: bool  # whether it ends with a line end
    is_open: bool  # whether no delimiter is chosen
    options: TextOptions
    label: str  # of the file

    def rows(self) -> Lines:
        """First records."""
        return layout.first_rows(self.text, self.options)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines below the header, without those at the end that are left out."""
        rows = text_lines.numbered_rows(self.text, self.options)
        n_header = 0 if self.options.header is False else self.options.header_lines
        return itertools.islice(text_lines.without_last(rows, self.options.skip_last), n_header, None)


def read_text(data: bytes, label: str, options: TextOptions, max_cells: int) -> Reading:
    """Read the table of a text file (see :func:`microagg.tables.read_file`)."""
    attempt = _attempt(data, label, options)
    text = ""
    try:
        text = text_lines.decode(data, label, options.encoding, drop_zeros=options.drop_zeros)
        reading = _read(text, label, options, max_cells)
    except UnreadableError as error:
        offers = ways_on(error.offers, attempt, error.trouble)
        message = str(_refusal(error.seen, ((way.advice, way) for way in offers)) if error.seen else error)
        # If lines can be skipped, these are the cause.
        titles = range(offers[0].reading.get("skip_lines", 0) if offers else 0)
        lines = error.lines if not titles else ()
        lines = lines or tuple(_lines_around(text, 1, titles or [options.skip_lines]) if text else ())
        raise UnreadableError(message, offers, lines) from None
    return replace(reading, notices=with_ways(reading.notices, attempt))


def divide_into_cells(data: bytes, label: str, options: TextOptions) -> tuple[Body, Divided]:
    """Divide a text file into cells, with the errors of :func:`read_text`."""
    body = _body(text_lines.decode(data, label, options.encoding), label, options)
    return body, _divide(body, len(data) + 1)


def read_cells(data: bytes, label: str, reading: Mapping[str, Any]) -> pd.DataFrame:
    """Cells of a text file as text, shape (n records, number of columns). ``reading`` are options of read_file."""
    body, divided = divide_into_cells(data, label, TextOptions(**reading))
    names = names_of(body, divided)
    del body  # with the text
    columns = {index: pd.Series(text_lines.cells_of(chunks)) for index, chunks in enumerate(divided.chunks)}
    frame = pd.DataFrame(columns, copy=False)
    return frame.set_axis(names, axis=1)


def _attempt(data: bytes, label: str, options: TextOptions) -> Attempt:
    """Reader of the text with other options. For a long text, of its beginning and end."""
    texts: dict[tuple[str | None, bool], str] = {}

    def read(changes: Mapping[str, Any]) -> Reading:
        changed = replace(options, **changes)
        if (key := (changed.encoding, changed.drop_zeros)) not in texts:
            text = text_lines.decode(data, label, changed.encoding, drop_zeros=changed.drop_zeros)
            if len(text) > _N_FIRST + _N_LAST:
                begin, end = text.rfind("\n", 0, _N_FIRST), text.find("\n", len(text) - _N_LAST)
                text = text[: begin + 1] + text[end + 1 :] if begin > 0 and end > 0 else text
            texts[key] = text
        return _read(texts[key], label, changed, len(data))

    size = min(len(data), _N_FIRST + _N_LAST)
    return Attempt(read, whole=size == len(data), left=max(4, min(60, _MAX_TRIED // max(size, 1))))


def _read(text: str, label: str, options: TextOptions, max_cells: int) -> Reading:
    """Read a text with the options, without previews of offers."""
    body = _body(text, label, options)
    divided = _divide(body, max_cells)
    if len(divided.chunks) == 1:
        _check_single(body)
    _check_names(body, divided)
    names = names_of(body, divided)
    if divided.records == 0:
        refuse_no_records(label)
    columns = [
        read_text_column(chunks, name, options.decimal, options.missing)
        for chunks, name in zip(divided.chunks, names, strict=True)
    ]
    frame = pd.DataFrame({i: column for i, (column, _) in enumerate(columns)}, copy=False)
    frame.columns = names
    of_header = list(_title_notices(body, len(names)) if divided.header else [])
    notices = itertools.chain(
        of_header or _units_notices(divided, names, options),
        _several_notices(body),
        _last_notices(divided, options.skip_last),
        _empty_notices(divided),
        *(column_notices for _, column_notices in columns),
        layout.decimal_comma_notices(frame) if options.decimal == "." else [],
    )
    return Reading(frame, tuple(notices), tuple(_applied_options(text, body, divided)))


def _body(text: str, label: str, options: TextOptions) -> Body:
    """The part of a text to read, and its division."""
    # The text after the skipped lines; a text of n characters has at most n + 1 lines.
    lines = min(options.skip_lines, len(text) + 1)
    body = "".join(text_lines.LINE_END.split(text, lines)[lines:]) if lines else text
    skipped = len(text) - len(body)
    body = body.lstrip("\r\n")
    # Excel writes and reads such a first line.
    declared = re.match(r'"?sep=(.)"?(?:\r\n|\n|\r)', body, re.IGNORECASE)
    if declared:
        body = body[declared.end() :].lstrip("\r\n")
    first_line = 1 + len(text_lines.LINE_END.findall(text[: len(text) - len(body)]))
    body = body.rstrip("\r\n")
    if not body.strip():
        content = "nothing after the lines that are skipped" if skipped else "blank lines only"
        raise DataError(f"the file {label!r} holds {content}: choose a file with a header and records.")
    delimiter = options.delimiter or (declared[1] if declared else layout.find_delimiter(body, options))
    is_open, ends = options.delimiter is None, text.endswith(("\n", "\r"))
    return Body(body, first_line, declared is not None, ends, is_open, replace(options, delimiter=delimiter), label)


def _divide(body: Body, max_cells: int) -> Divided:
    """Cells of a text. Raises UnreadableError with offers if it cannot be divided."""
    has_header = _has_header(body)
    try:
        return text_lines.divide(body.text, body.options, has_header, body.label, max_cells)
    except csv.Error as error:
        raise _broken_error(body, str(error)) from None
    except text_lines.NotDividedError as error:
        raise (_repeated_error if error.repeated else _uneven_error)(body, error.header) from None


def _has_header(body: Body) -> bool:
    """Whether the first record is the header. Raises UnreadableError, which asks the user, if it looks like data."""
    if body.options.header is not None:
        return body.options.header is not False
    rows = body.rows()
    if not rows:
        return True
    n_columns = len(rows[0][1])
    text_lines.check_columns(n_columns, body.label)
    if any(len(row) != n_columns for _, row in rows):
        # Rows of different lengths: the first ones are more likely titles above the header than data.
        return True
    cell = layout.like_record(rows)
    if not cell:
        return True
    raise UnreadableError(
        f"the first line of the file {body.label!r} looks like data, with cells such as {brief(cell)} where names of "
        "columns belong: say whether it is the header.",
        (Offer("It is data: the file has no header", {"header": False}), Offer("It is the header", {"header": True})),
    )


def names_of(body: Body, divided: Divided) -> list[str]:
    """Names of the columns of a table."""
    header = divided.header or [""] * len(divided.chunks)
    return column_names(enumerate(header, start=1), body.label, number=body.options.number_names)


def _check_single(body: Body) -> None:
    """Raise :class:`UnreadableError` if a table with one column may have several."""
    text, dialect, one_column = body.text, body.options, _one_column(body.text)
    if body.is_open and (titled := layout.title_of_several(text, dialect)):
        skip, divider = _skip_first(dialect.skip_lines + titled[0]), _delimiter_name(titled[1])
        raise UnreadableError(
            f"the {_first_lines(skip.reading['skip_lines'])} of the file {body.label!r} may hold a title, as {divider} "
            "divides all lines below alike: skip it, or say that there is one column.",
            (skip, one_column),
        )
    fixed = Offer("Divide where blanks stand below each other", {"delimiter": text_lines.FIXED})
    as_fixed = [fixed] if body.is_open and layout.has_fixed_width(text) else []
    if rival := layout.find_rival(text, dialect, blanks=body.is_open):
        name = _delimiter_name(rival)
        raise UnreadableError(
            f"divided by {_delimiter_name(dialect.delimiter)}, the file {body.label!r} has only one column, but {name} "
            f"divides all its lines alike: choose {name} as the delimiter.",
            (_divide_by(rival), *([*as_fixed, one_column] if rival == " " else [])),
        )
    if as_fixed:
        raise UnreadableError(
            f"the file {body.label!r} seems to have columns of fixed width, padded with blanks: say so, or say that it "
            "has one column.",
            (*as_fixed, one_column),
        )


def _check_names(body: Body, divided: Divided) -> None:
    """Raise :class:`UnreadableError` if a name is repeated without being numbered, or all are in other quotes."""
    header = divided.header
    names = [name.strip() for name in header if name.strip()]
    if not body.options.number_names and len(set(names)) < len(names):
        again = next(name for i, name in enumerate(names) if name in names[:i])
        number = Offer(f"Number them: {brief(again)}, {brief(f'{again} (2)')}", {"number_names": True})
        below = [cell for _, row in body.rows()[1:2] for cell in row]
        may_join = below and not any(map(is_number, below))
        raise UnreadableError(
            f"in the file {body.label!r}, the column name {brief(again)} occurs more than once: number such names, as "
            "each column needs its own.",
            (*([_join_names(body.options.header_lines + 1)] if may_join else []), number),
        )
    for pattern, quote, kind in ((r"[“”„‟«].*[“”‟»]", "curly", "typographic"), (r"'.*'", "'", "single")):
        if header and divided.records and all(re.fullmatch(pattern, name.strip()) for name in header):
            raise UnreadableError(
                f"the names in the file {body.label!r} stand in {kind} quotes, such as {brief(header[0])}: say that "
                f"{kind} quotes stand around cells.",
                (_quotes(quote),),
            )


# --- offers -----------------------------------------------------------------------------------------------------------

_WITHOUT_EMPTY = Offer("Leave out what has neither a name nor a value", {"unnamed": "drop"})


def _quotes(quote: str) -> Offer:
    return Offer(f"Cells stand in {'curly' if quote == 'curly' else 'single'} quotes", {"quote": quote})


def _join_names(lines: int) -> Offer:
    return Offer(f"Join the {_first_lines(lines)} to names", {"header_lines": lines})


def _skip_first(lines: int) -> Offer:
    return Offer(f"Skip the {_first_lines(lines)}", {"skip_lines": lines})


def _divide_by(delimiter: str) -> Offer:
    return Offer(f"Divide by {_delimiter_name(delimiter)}", {"delimiter": delimiter})


def _without_comments(mark: str) -> Offer:
    return Offer(f"Leave out lines that begin with {mark}", {"comment": mark})


def _one_column(text: str) -> Offer:
    """Offer to read a text as one column, with a delimiter that does not occur in it."""
    sample = text[: layout.SAMPLE_CHARACTERS]
    absent = next((delimiter for delimiter in (*layout.DELIMITERS, "^", "~") if delimiter not in sample), "\x1f")
    return Offer("It has one column", {"delimiter": absent})


def _delimiter_name(delimiter: str) -> str:
    return {"\t": "tab", " ": "space"}.get(delimiter, repr(delimiter))


def _first_lines(count: int) -> str:
    return "first line" if count == 1 else f"first {counted(count, 'line')}"


def _without_titles(body: Body, skipped: int, width: int) -> Offer:
    """Offer to skip titles, and lines at the end if they also have less than ``width`` fields."""
    skip = _skip_first(skipped)
    with contextlib.suppress(csv.Error):
        # Below a title of one field, blank lines look like records; below the header they do not.
        rows = text_lines.numbered_rows(body.text, body.options)
        widths = [len(row) for _, row in rows if len(row) > 1 or row[0].strip()]
        notes = sum(1 for _ in itertools.takewhile(lambda fields: fields < width, reversed(widths)))
        if 0 < notes <= _MAX_NOTES:
            label = f"{skip.label} and the last {notes if notes > 1 else 'one'}"
            return Offer(label, {**skip.reading, "skip_last": notes})
    return skip


def _tables(body: Body) -> Iterator[Offer]:
    """Yield offers to read one of several tables."""
    for table in layout.tables_in(body.text, body.options):
        size = f"{counted(table.records, 'record')}, {counted(table.columns, 'column')}"
        first, last = table.first + body.first_line, table.last + body.first_line
        reading = {"skip_lines": first - 1, "skip_last": table.after}
        reading = {name: lines for name, lines in reading.items() if lines}
        yield Offer(f"Read the table in lines {first:,} to {last:,} ({size})", reading)


# --- notices ----------------------------------------------------------------------------------------------------------


def _title_notices(body: Body, width: int) -> Iterator[Notice]:
    """Yield a notice on a header that may be a title, a comment or only half of the header."""
    rows, options = body.rows(), body.options
    if options.unnamed == "drop":
        rows = [(number, row if not is_empty(row[width:]) else row[:width]) for number, row in rows]
    rows = [(number, row) for number, row in rows if len(row) == len(rows[0][1])]
    if not rows:
        return
    header = rows[0][1]
    mark, has_more = layout.comment_mark([header[0]]), layout.comment_mark(row[0] for _, row in rows[1:2])
    if options.comment is None and mark and (has_more or (len(header) == 1 and re.match(rf"\s*{mark}+\s", header[0]))):
        text = f"The header of the file begins with {mark!r}, as comments do: {brief(header[0])}."
        yield Notice("comment-lines", text, offers=(_without_comments(mark),))
    elif options.header_lines > 1:
        return
    elif layout.has_two_headers(rows):
        title = next((name for name in header if name.strip()), "")
        text = "The names of the columns seem to stand on two lines: there is no name beside "
        yield Notice("header-lines", f"{text}{brief(title)} on the first.", offers=(_join_names(2),))
    elif n_titles := layout.titles_above(rows):
        lines = body.first_line + rows[n_titles - 1][0]
        title = next((cell for _, row in rows[:n_titles] for cell in row if cell.strip()), "")
        kind = f"be a title above the header, such as {brief(title)}" if title else "stand empty above the header"
        yield Notice("title-row", f"The {_first_lines(lines)} may {kind}.", offers=(_skip_first(lines),))


def _several_notices(body: Body) -> Iterator[Notice]:
    may_be_several = len(body.text) <= layout.MAX_CHARACTERS and not body.options.skip_last
    if may_be_several and _BLANK_LINE.search(body.text) and (tables := tuple(_tables(body))):
        text = f"The file seems to hold {len(tables)} tables, with blank lines between them, which are read as one."
        yield Notice("several-tables", text, offers=tables)


def _empty_notices(divided: Divided) -> Iterator[Notice]:
    empty = text_lines.empty_columns(divided) if divided.header else []
    if 0 < len(empty) < len(divided.header):
        subject = f"Column {empty[0] + 1} has" if len(empty) == 1 else f"{len(empty)} columns have"
        yield Notice("empty-columns", f"{subject} neither a name nor a value.", offers=(_WITHOUT_EMPTY,))


def _units_notices(divided: Divided, names: list[str], options: TextOptions) -> Iterator[Notice]:
    """Yield a notice if the first record prevents columns of numbers, and has no number."""
    first = [chunks[0].split(SEPARATOR, 1)[0] for chunks in divided.chunks]
    if divided.records < 3 or options.units_row or any(is_number(cell, options.decimal) for cell in first):
        return
    if columns := [j for j, chunks in enumerate(divided.chunks) if is_number_but_for(chunks, options.decimal)]:
        name, example = names[columns[0]], first[columns[0]]
        subject = brief(name) + (f" and {len(columns) - 1:,} more" if len(columns) > 1 else "")
        text = f"The first record seems to hold units or descriptions, such as {brief(example)}: without it, column "
        offers = (Offer("Leave out the row of units", {"units_row": True}), _join_names(options.header_lines + 1))
        yield Notice("units-row", f"{text}{subject} would be numbers.", column=name, example=example, offers=offers)


def _last_notices(divided: Divided, skipped: int) -> Iterator[Notice]:
    """Yield a notice on totals, notes or empty records at the end, besides the ``skipped`` records."""
    width = len(divided.chunks)
    # The end of the file; notes are few, but a program may have added thousands of empty lines.
    ends = [list(cells_in(chunks[-2:])) for chunks in divided.chunks]
    has_numbers = any(map(layout.mostly_numbers, ends[:2]))
    unusual: list[Sequence[str]] = []
    notes = 0
    for record in zip(*map(reversed, ends), strict=True):
        if notes == _MAX_NOTES or not _is_note_or_total(record, width, has_numbers):
            break
        unusual.append(record)
        notes += not is_empty(record)
    if not unusual or 2 * notes >= divided.records or len(unusual) == divided.records:
        return
    example = next((cell for record in reversed(unusual) for cell in record if cell.strip()), "")
    kind = f"a total or a note rather than {'a record' if len(unusual) == 1 else 'records'}: {brief(example)}"
    subject = "last record seems" if len(unusual) == 1 else f"last {len(unusual)} records seem"
    text = f"The {subject} to be {kind if example else 'empty'}."
    yield Notice("last-records", text, offers=(leave_out_last(len(unusual), "record", skipped),))


def _is_note_or_total(record: Sequence[str], width: int, counts: bool) -> bool:
    """Whether a record is a total, or has one text or nothing. ``counts``: a first column has numbers."""
    present = [cell.strip() for cell in record if cell.strip()]
    if not present:
        return width > 1
    if (width > 2 or (counts and record[0].strip())) and len(present) == 1 and any(map(str.isalpha, present[0])):
        return True
    numbers = [cell for cell in present if cell != present[0]]
    return bool(numbers) and is_total(present[0]) and all(map(is_number, numbers))


# --- omissions, repairs and names -------------------------------------------------------------------------------------


def _applied_options(text: str, body: Body, divided: Divided) -> Iterator[Notice]:
    """Yield notices of omissions, repairs and names by the options. Texts have places and counts, no values."""
    options = body.options
    if options.skip_lines:
        first = text_lines.LINE_END.split(text, options.skip_lines)[: options.skip_lines][:_MAX_LINES]
        skipped = tuple(Line(n, line) for n, line in enumerate(first, start=1))
        yield Notice("skipped", f"Left out at the beginning: {counted(options.skip_lines, 'line')}.", lines=skipped)
    if options.drop_zeros:
        yield Notice("zeros", "Zero characters, which are no text, were left out.")
    if mark := options.comment:
        marked = [
            (n, [line]) for n, line in enumerate(text_lines.LINE_END.split(body.text)) if line.lstrip().startswith(mark)
        ]
        sentence = f"Comments were left out: {counted(len(marked), 'line')}."
        yield Notice("comments", sentence, lines=_to_lines(marked, body))
    if options.header is False:
        yield Notice("no-header", "The file has no header, so its columns are named by their positions.")
    if options.header_lines > 1:
        yield Notice("joined", f"The names of the columns were joined from {options.header_lines} lines.")
    if options.number_names:
        yield Notice("numbered", "Names that occur more than once have got a number.")
    if options.unnamed in ("first", "last"):
        sentence = f"The header names fewer columns than there are: the {options.unnamed} ones had no name."
        yield Notice("unnamed", sentence)
    if options.unnamed == "drop":
        columns, ends = counted(divided.dropped, "column"), f"empty fields at the end of {counted(divided.cut, 'line')}"
        parts = [*([columns] if divided.dropped else []), *([ends] if divided.cut else [])]
        yield Notice("empty", f"Left out, without a name and without any value: {' and '.join(parts) or 'nothing'}.")
    if divided.units:
        yield Notice("units", "The row of units below the header was left out.")
    yield from _record_notices(body, divided)
    around = {"none": "quotes are part of the cells", "'": "single quotes", "curly": "curly quotes"}.get(options.quote)
    within = {"plain": "quotes within cells are text", "escaped": "a \\ before quotes within cells"}
    if quotes := ", ".join(filter(None, [around, within.get(options.inner_quotes)])):
        yield Notice("quotes", f"How quotes were read: {quotes}.")


def _record_notices(body: Body, divided: Divided) -> Iterator[Notice]:
    kinds: list[tuple[str, str, Lines]] = [
        ("repeated", "Repetitions of the header were left out", divided.repeated),
        ("left-out", "Left out, as the number of their fields is not that of the header", divided.odd),
        ("mended", "Mended, as they had more or fewer fields than the header", [line for line, _ in divided.mended]),
        ("last", "Left out at the end", divided.last),
    ]
    mended = {line[0]: " | ".join(cells[:_MAX_CELLS]) for line, cells in divided.mended[:_MAX_LINES]}
    for code, sentence, records in kinds:
        if records:
            numbers = listing([f"{n + body.first_line:,}" for n, _ in records], 20)
            sentence = f"{sentence}: {counted(len(records), 'line')} ({numbers})."
            yield Notice(code, sentence, lines=_to_lines(records, body, mended if code == "mended" else {}))


def _to_lines(records: Lines, body: Body, mended: Mapping[int, str] | None = None) -> tuple[Line, ...]:
    """The first records as lines of the file, with what they became."""
    mark, new = body.options.delimiter, mended or {}
    return tuple(Line(n + body.first_line, mark.join(row), becomes=new.get(n, "")) for n, row in records[:_MAX_LINES])


# --- texts that cannot be divided -------------------------------------------------------------------------------------


def _refusal(seen: str, causes: Iterable[_Cause], lines: Sequence[Line] = (), extent: object = None) -> UnreadableError:
    """Error with the advice of the first cause, which is the likeliest."""
    offers = tuple(replace(offer, advice=advice) for advice, offer in causes)
    advice = offers[0].advice if offers else "no other way to read it was found, so get the file anew"
    return UnreadableError(f"{seen}: {advice}.", offers, tuple(lines), seen=seen, extent=extent)


def _lines_around(text: str, first_line: int, marked: Sequence[int]) -> list[Line]:
    """The header, the first of the lines that are ``marked``, which count from 0, and lines around the first."""
    begin, first = 0, marked[:_MAX_MARKED]
    numbers = {0, *range(first[0] - 2, first[0] + 4), *first, first[-1] + 1}
    lines = []
    for n, end in enumerate(itertools.islice(text_lines.LINE_END.finditer(f"{text}\n"), max(numbers) + 1)):
        if n in numbers:
            lines.append(Line(n + first_line, shortened(text[begin : end.start()], 200), n in first))
        begin = end.end()
    return lines


def _quote_causes(text: str, dialect: TextOptions) -> list[_Cause]:
    """Other interpretations of the quotes of a text, if it has the characters that they require."""
    blanks = Offer("Blanks after delimiters do not count", {"skip_blanks": True})
    escaped = Offer("A backslash stands before quotes within cells", {"inner_quotes": "escaped"})
    plain = Offer("Quotes within cells are text", {"inner_quotes": "plain"})
    ways = [
        (rf'{re.escape(dialect.delimiter)} +"', "blanks seem to stand between delimiters and quotes", blanks),
        (r'\\"', "a backslash seems to stand before quotes within cells", escaped),
        ('"', "quotes within cells seem to be text, though they are not doubled", plain),
        ("'", "single quotes seem to stand around its cells", _quotes("'")),
        ('"', "quotes may be nothing but text", Offer("All quotes are text", {"quote": "none"})),
    ]
    return [(advice, way) for sign, advice, way in ways if dialect.quote == '"' and re.search(sign, text)]


def _broken_error(body: Body, reason: str) -> UnreadableError:
    """Error for a text with broken quotes or too long a cell. ``reason`` is the csv module's message."""
    last = -1
    with contextlib.suppress(csv.Error):
        for line, _ in text_lines.numbered_rows(body.text, body.options):
            last = line
    why = "a quote that is never closed"
    if "expected after" in reason:
        why = "characters between a closing quote and the next delimiter"
    seen = f"the file {body.label!r} cannot be divided into cells after line {last + body.first_line}, because of {why}"
    lines = _lines_around(body.text, body.first_line, [last + 1])
    return _refusal(seen, _quote_causes(body.text, body.options), lines)


def _repeated_error(body: Body, header: list[str]) -> UnreadableError:
    """Error for a text with its header again among the records."""
    names = list(layout.strip_end(header))
    rows = []
    for number, row in body.records():
        delimiter = text_lines.other_delimiter(row, len(header))
        # Empty fields at the end may be left out; if lines are mended, another delimiter may divide them.
        if "".join(row) and (row[0].split(delimiter) if delimiter else list(layout.strip_end(row))) == names:
            rows.append(number)
    seen = f"a record of the file {body.label!r} repeats its header, as where several files were joined"
    drop = Offer(f"Leave out what repeats the header ({counted(len(rows), 'line')})", {"repeated_header": True})
    causes = [("leave all headers out but the first", drop)]
    if any(table.first not in rows for table in layout.tables_in(body.text, body.options)[1:]):
        causes = [*(("say which table is to be read", table) for table in _tables(body)), *causes]
    extent = (body.options.skip_lines, body.options.skip_last)
    return _refusal(seen, causes, _lines_around(body.text, body.first_line, rows or [0]), extent)


class _Uneven(NamedTuple):
    """The records of a text with another width than its header."""

    header: list[str]
    first: int  # the position of the first of these records, from 1
    odd: Lines  # the first of them
    widths: set[int]  # their numbers of fields
    many: int  # the number of all of them
    records: int  # the number of all records


def _uneven_error(body: Body, header: list[str]) -> UnreadableError:
    """Error for a text whose records differ in width."""
    odd: Lines = []
    first = many = records = 0
    for records, line in enumerate(body.records(), start=1):
        if len(line[1]) != len(header):
            first, many = first or records, many + 1
            odd += [line] if many <= _MAX_LINES else []
    number, row = odd[0]
    seen = f"line {number + body.first_line} of the file {body.label!r} has {counted(len(row), 'field')}, but "
    seen += f"the header has {counted(len(header), 'field')}"
    uneven = _Uneven(header, first, odd, {len(row) for _, row in odd}, many, records)
    causes = [*_layout_causes(body, uneven), *_field_causes(body, uneven)]
    lines = _lines_around(body.text, body.first_line, [number for number, _ in odd])
    return _refusal(seen, causes, lines, (many, body.options.skip_last))


def _layout_causes(body: Body, uneven: _Uneven) -> Iterator[_Cause]:
    """Yield causes of uneven records in the text as a whole, such as its delimiter and titles."""
    text, options = body.text, body.options
    header, first, odd, widths, many, records = uneven
    if rival := layout.find_rival(text, options):
        advice = f"choose {_delimiter_name(rival)} as the delimiter, which divides all lines alike"
        yield advice, _divide_by(rival)
    firsts = [header[0]] if layout.comment_mark([header[0]]) else [row[0] for _, row in odd]
    if options.comment is None and (mark := layout.comment_mark(firsts)):
        advice = f"lines that begin with {mark!r} seem to be comments, which can be left out"
        yield advice, _without_comments(mark)
    if options.quote == '"' and "'" in text and layout.rows_of_equal_width(text, replace(options, quote="'")):
        yield "single quotes seem to stand around its cells", _quotes("'")
    for table in _tables(body):
        yield "it seems to hold several tables: say which one is to be read", table
    rows = body.rows()
    if position := layout.header_at(rows, options.delimiter):
        skipped = body.first_line + rows[position - 1][0]
        advice = f"the {_first_lines(skipped)} may hold titles above the header, and can be skipped"
        yield advice, _without_titles(body, skipped, len(layout.strip_end(rows[position][1])))
        if len(header) == 1 and body.is_open:
            yield "the file may have one column", _one_column(text)
    are_last = records - first + 1 == many and first > 2 * many
    if max(widths) < len(header) and many <= _MAX_NOTES and are_last:
        advice = "notes at the end can be left out; if the file was cut off there, get it again"
        yield advice, leave_out_last(many, "line", options.skip_last)


def _field_causes(body: Body, uneven: _Uneven) -> Iterator[_Cause]:
    """Yield causes of uneven records in their fields: missing names, quotes, single lines that do not fit."""
    options = body.options
    header, _, odd, widths, many, records = uneven
    width, is_open = len(header), options.unnamed == "keep"
    if is_open and is_empty(header[min(widths) :]) and all(is_empty(row[width:]) for _, row in odd):
        yield "empty fields without a name, such as one more at the end of a line, can be left out", _WITHOUT_EMPTY
    if is_open and widths == {width + 1} and many == records > 1:
        offer = Offer("The first column has no name: call it 'row'", {"unnamed": "first"})
        advice = "the first column may have no name, like that of the row numbers"
        yield f"as the other lines have one more too, {advice}", offer
    quotes = _quote_causes(body.text, body.options)
    # Quotes that are wrong in some lines are rarely right in all.
    yield from (cause for cause in quotes if "skip_blanks" in cause[1].reading)
    are_few = 2 * many <= records
    if options.uneven == "error" and are_few:
        lines = "line that does not fit" if many == 1 else f"{counted(many, 'line')} that do not fit"
        mend = Offer(f"Mend the {lines}", {"uneven": "mend"})
        drop = Offer(f"Leave out the {lines}", {"uneven": "drop"})
        # A line with less than half of the fields is a heading or a note rather than a record.
        is_note = 2 * min(widths) < width and not any(text_lines.other_delimiter(row, width) for _, row in odd)
        for offer in [drop, mend] if is_note else [mend, drop]:
            yield "lines that do not fit can be mended or left out", offer
    if min(widths) > width and is_open:
        offer = Offer("The last columns have no name", {"unnamed": "last"})
        yield "the last columns may have no name", offer
    if options.uneven == "error" and not are_few:
        offer = Offer(f"Mend all {counted(many, 'line')} that do not fit", {"uneven": "mend"})
        yield "lines can be mended", offer
    yield from quotes
