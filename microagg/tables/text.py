"""Tables from text files: decoded, divided into cells, checked for what is odd about them, and read by columns."""

from __future__ import annotations

import csv
import re
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.errors import DataError
from microagg.tables import text_layout
from microagg.tables.notices import Notice, Offer, Reading, UnreadableError, column_names, refuse_no_records
from microagg.tables.text_columns import (
    SEPARATOR,
    is_number,
    is_number_but_for,
    read_column,
    shown,
)
from microagg.tables.text_layout import broken, uneven
from microagg.tables.text_lines import Dialect, Divided, TextOptions, UnevenError, check_columns, decode, divide
from microagg.validation import counted

_LINE_END = re.compile(r"\r\n|\n|\r")

# Numbers with a decimal comma, and those whose comma may as well separate thousands.
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")

_CURLY = re.compile(r"\s*[“”„‟«].*[“”‟»]\s*")


def read_text(data: bytes, label: str, options: TextOptions, max_cells: int) -> Reading:
    """Return the table of a text file; see :func:`microagg.tables.read_file`."""
    body, first_line, declared = _body(decode(data, label, options.encoding), options.skip_lines, label)
    delimiter = options.delimiter or declared or text_layout.find_delimiter(body, options.quote, options.comment)
    dialect = Dialect(delimiter, options.quote, options.comment)
    rows = text_layout.first_rows(body, dialect)
    has_header = _has_header(rows, options, label)
    divided = _divided(body, dialect, options, has_header, first_line, label, max_cells)
    width = len(divided.chunks)
    if width == 1:
        _check_single(body, dialect, options, label)
    names = column_names(enumerate(divided.header or [""] * width, start=1), label)
    if divided.records == 0:
        refuse_no_records(label)
    _check_quotes(divided, label)
    columns = [
        read_column(chunks, name, options.decimal, options.missing)
        for chunks, name in zip(divided.chunks, names, strict=True)
    ]
    frame = pd.DataFrame({i: column for i, (column, _) in enumerate(columns)})
    frame.columns = names
    notices = text_layout.title_notices(rows, first_line, dialect) if divided.header else []
    notices = notices or _units(divided, names, options)
    notices += text_layout.last_notices(divided, options.skip_last)
    notices += [notice for _, said in columns for notice in said]
    if options.decimal == ".":
        notices += decimal_comma_notices(frame)
    return Reading(frame, tuple(notices))


def _body(text: str, skip_lines: int, label: str) -> tuple[str, int, str | None]:
    """Return what is to be read of a text, the number of its first line from 1, and the delimiter that it declares."""
    body = _after(text, skip_lines)
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


def _after(text: str, lines: int) -> str:
    """Return a text without its first lines."""
    at = 0
    for _ in range(lines):
        end = _LINE_END.search(text, at)
        if end is None:
            return ""
        at = end.end()
    return text[at:]


def _divided(
    body: str, dialect: Dialect, options: TextOptions, has_header: bool, first_line: int, label: str, max_cells: int
) -> Divided:
    try:
        return divide(body, dialect, options, has_header, label, max_cells)
    except csv.Error as found:
        error = broken(body, dialect, first_line, label, str(found))
    except UnevenError:
        error = uneven(body, dialect, options, first_line, label)
    raise error


def _has_header(rows: text_layout.Lines, options: TextOptions, label: str) -> bool:
    """Whether the first record is the header, which is asked if it looks like data."""
    if options.header is not None or not rows:
        return options.header is not False
    header = rows[0][1]
    check_columns(len(header), label)
    # Where fields are uneven, titles above the header are the likelier reason.
    if {len(row) for _, row in rows} != {len(header)} or not text_layout.looks_like_record(header):
        return True
    raise UnreadableError(
        f"the first line of the file {label!r} looks like data, with numbers such as {shown(_number_in(header))} where "
        "names of columns belong: say whether it is the header.",
        (
            Offer("It is data: the file has no header", {"header": False}),
            Offer("It is the header", {"header": True}),
        ),
    )


def _number_in(header: list[str]) -> str:
    return next(name for name in header if any(map(str.isdigit, name)))


def _check_single(body: str, dialect: Dialect, options: TextOptions, label: str) -> None:
    """Raise :class:`UnreadableError` if a table with one column may have several."""
    other = text_layout.rival(body, dialect, blanks=options.delimiter is None)
    if other is not None:
        offers = [Offer(f"Divide by {text_layout.spoken(other)}", {"delimiter": other})]
        if other == " ":
            offers.append(text_layout.one_column(body))
        raise UnreadableError(
            f"divided by {text_layout.spoken(dialect.delimiter)}, the file {label!r} has only one column, but "
            f"{text_layout.spoken(other)} divides all its lines alike: "
            f"choose {text_layout.spoken(other)} as the delimiter.",
            tuple(offers),
        )
    if options.delimiter is None and text_layout.has_fixed_width(body):
        raise UnreadableError(
            f"the file {label!r} seems to have columns of fixed width, padded with blanks, which are not read: "
            "save it as CSV, or say that it has one column.",
            (text_layout.one_column(body),),
        )


def _check_quotes(divided: Divided, label: str) -> None:
    """Raise :class:`DataError` if all names stand in quotes that do not count as such."""
    if divided.header and all(_CURLY.fullmatch(name) for name in divided.header):
        raise DataError(
            f"the names in the file {label!r} stand in typographic quotes, such as {shown(divided.header[0])}: replace "
            "these by straight double quotes."
        )
    if divided.header and all(re.fullmatch(r"\s*'.*'\s*", name) for name in divided.header):
        raise UnreadableError(
            f"the names in the file {label!r} stand in single quotes, such as {shown(divided.header[0])}: say that "
            "single quotes stand around cells.",
            (Offer("Cells stand in single quotes", {"quote": "'"}),),
        )


def _units(divided: Divided, names: list[str], options: TextOptions) -> list[Notice]:
    """Return a notice if the first record keeps columns from being numbers, and has no number itself."""
    first = [chunks[0].split(SEPARATOR, 1)[0] for chunks in divided.chunks]
    if divided.records < 3 or options.units_row or any(is_number(cell, options.decimal) for cell in first):
        return []
    found = [j for j, chunks in enumerate(divided.chunks) if is_number_but_for(chunks, options.decimal)]
    return text_layout.units_notices([names[j] for j in found], first[found[0]] if found else "")


def decimal_comma_columns(frame: pd.DataFrame) -> list[str]:
    """Return the text columns that look like numbers with a decimal comma, such as ``3,14``.

    Reading the file again with ``decimal=","`` turns them into numbers. Columns in which every comma could as well
    separate thousands, such as ``1,234``, are left out.
    """
    return [str(frame.columns[j]) for j in _other_than_numbers(frame) if _with_comma(frame.iloc[:, j])]


def decimal_comma_notices(frame: pd.DataFrame) -> list[Notice]:
    """Return a notice of each column that looks like numbers with a decimal comma."""
    notices = []
    for j in _other_than_numbers(frame):
        if cells := _with_comma(frame.iloc[:, j]):
            column = frame.columns[j]
            text = (
                f"Column {shown(str(column))} is read as text, but looks like numbers with a decimal comma: "
                f"{counted(len(cells), 'cell')} such as {shown(cells[0])}."
            )
            offer = Offer("The decimal mark is a comma", {"decimal": ","})
            notices.append(Notice("decimal-comma", text, str(column), len(cells), cells[0], (offer,)))
    return notices


def _other_than_numbers(frame: pd.DataFrame) -> list[int]:
    """Return the positions of the columns that are no numbers."""
    return [j for j, dtype in enumerate(frame.dtypes) if not is_numeric_dtype(dtype)]


def _with_comma(series: pd.Series[Any]) -> list[str]:
    """Return the cells with a comma, if all cells of a column look like numbers with a decimal comma."""
    cells = series.dropna()
    # Most columns of text are told from their first cells.
    for some in (cells.iloc[:20], cells):
        if not all(isinstance(cell, str) and _WITH_COMMA.fullmatch(cell) for cell in some):
            return []
    found = [cell for cell in cells if "," in cell]
    return [] if all(_THOUSANDS.fullmatch(cell) for cell in found) else found
