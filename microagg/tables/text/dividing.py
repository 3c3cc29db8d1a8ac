"""How text is divided into records and fields."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import DataError, ParameterError
from microagg.tables.checks import check_cells
from microagg.tables.options import LayoutOptions
from microagg.tables.text.columns import SEPARATOR

#: How many columns a text file may have.
MAX_COLUMNS = 20_000

# Lines are looked at for their number of fields from this length on; shorter ones do no harm.
_LONG_LINE = 1_000_000

# How many cells are held one by one, and records at least; more are held as the text of their chunk, which takes a
# tenth of the memory.
_LEAST = 50
_CHUNK = 10_000


@dataclass(frozen=True, kw_only=True)
class TextOptions(LayoutOptions):
    """How a text file is to be read: the arguments of :func:`microagg.tables.read_file` for it."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str = "."
    quote: str = '"'
    header: bool | None = None
    comment: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter is not None and (not one or self.delimiter in f'"\r\n{self.quote}'):
            raise ParameterError(f"delimiter must be one character such as ',' or ';', not {self.delimiter!r}.")
        if self.decimal not in (".", ","):
            raise ParameterError(f"decimal must be '.' or ',', not {self.decimal!r}.")
        if self.quote not in ('"', "'"):
            raise ParameterError(f"quote must be '\"' or \"'\", not {self.quote!r}.")
        if self.comment is not None and not (isinstance(self.comment, str) and self.comment.strip()):
            raise ParameterError(f"comment must be what lines begin with, such as '#', not {self.comment!r}.")


@dataclass(frozen=True)
class Dialect:
    """What divides fields, what stands around cells, and what a line that is no record begins with."""

    delimiter: str
    quote: str
    comment: str | None


@dataclass
class Divided:
    """A text file divided into cells.

    Attributes
    ----------
    header : list of str
        Empty if the first record is none.
    chunks : list of list of str
        For each column, its cells from chunk to chunk, divided by :data:`SEPARATOR`.
    records : int
    units : list of str
        The row of units, if there is one.
    last : list of list of str
        The last few records.
    """

    header: list[str]
    chunks: list[list[str]] = field(default_factory=list)
    records: int = 0
    units: list[str] = field(default_factory=list)
    last: list[list[str]] = field(default_factory=list)


class UnevenError(Exception):
    """Not all records have as many fields as the header; where, is not said."""


def reader(text: str, dialect: Dialect) -> Iterator[list[str]]:
    """Return the lines of ``text`` as lists of fields, those of empty lines without any; strict about quotes.

    A blank as the delimiter stands for one or several.
    """
    return csv.reader(
        _lines(text, dialect.delimiter),
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        strict=True,
        skipinitialspace=dialect.delimiter == " ",
    )


def numbered_rows(text: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of every record, or of every line if there is one column.

    Lines count from 0, and a record over several lines has the number of its last.
    """
    rows: Any = reader(text, dialect)
    single = None
    for row in rows:
        if _is_comment(row, dialect.comment):
            continue
        blank = is_blank(row)
        if single is None:
            if blank:
                continue
            single = len(row) == 1
        if single or not blank:
            yield rows.line_num - 1, row or [""]


def is_blank(row: Sequence[str]) -> bool:
    """Whether nothing stands on a line."""
    return not row or (len(row) == 1 and not row[0].strip())


def divide(text: str, dialect: Dialect, options: TextOptions, has_header: bool, label: str, max_cells: int) -> Divided:
    """Divide a text into cells.

    Raises
    ------
    DataError
        If there are more than ``max_cells`` cells or :data:`MAX_COLUMNS` columns.
    UnevenError
        If records have different numbers of fields.
    csv.Error
        If quotes are broken, or a cell is longer than the csv module takes.
    """
    rows = reader(text, dialect)
    header = next((row for row in rows if not is_blank(row) and not _is_comment(row, dialect.comment)), [])
    width = len(header)
    check_columns(width, label)
    divided = Divided(header if has_header else [], [[] for _ in range(width)])
    if not has_header:
        rows = itertools.chain([header], rows)
    held: list[list[str]] = []
    size = max(_LEAST, _CHUNK // max(width, 1))
    while True:
        new = list(itertools.islice(rows, size))
        records = held + _records(new, width, dialect.comment)
        if options.units_row and records and not divided.units:
            divided.units = records.pop(0)
        if options.skip_last:
            # What is at the end is known at the end only.
            kept = max(len(records) - options.skip_last, 0)
            held, records = records[kept:], records[:kept]
        _add(divided, records, width, label, max_cells)
        if not new:
            return divided


def _add(divided: Divided, records: list[list[str]], width: int, label: str, max_cells: int) -> None:
    if not records:
        return
    if set(map(len, records)) != {width} or (divided.units and len(divided.units) != width):
        raise UnevenError
    divided.records += len(records)
    if divided.records * width > max_cells:
        check_cells(divided.records, width, max_cells, label, at_least=True)
    if width > 1 and divided.header in records:
        raise DataError(
            f"a record of the file {label!r} repeats its header, as where several files were joined: remove all "
            "headers but the first."
        )
    for chunks, cells in zip(divided.chunks, zip(*records, strict=True), strict=True):
        chunks.append(SEPARATOR.join(cells))
    divided.last = [*divided.last, *records[-10:]][-10:]


def _records(rows: list[list[str]], width: int, comment: str | None) -> list[list[str]]:
    """Return rows without comments and without lines that nothing stands on, which are records of a single column."""
    if comment:
        rows = [row for row in rows if not _is_comment(row, comment)]
    if width == 1:
        return [row or [""] for row in rows]
    return rows if all(map(len, rows)) and 1 not in map(len, rows) else [row for row in rows if not is_blank(row)]


def _is_comment(row: Sequence[str], comment: str | None) -> bool:
    return comment is not None and bool(row) and row[0].lstrip().startswith(comment)


def check_columns(width: int, label: str) -> None:
    """Raise :class:`DataError` if there are more than :data:`MAX_COLUMNS` columns."""
    if width > MAX_COLUMNS:
        raise DataError(
            f"the file {label!r} has more than {MAX_COLUMNS:,} columns, the limit for text files: leave out columns, "
            "or check the delimiter."
        )


def _lines(text: str, delimiter: str) -> Iterator[str]:
    for line in io.StringIO(text, newline=""):
        if len(line) > _LONG_LINE and line.count(delimiter) > 10 * MAX_COLUMNS:
            # Its fields would take much more memory than the file.
            raise DataError(
                f"a line of the file has {line.count(delimiter):,} fields, and a text file may have {MAX_COLUMNS:,} "
                "columns: check the line ends and the delimiter."
            )
        if delimiter == " ":
            body = line.rstrip("\r\n")
            yield body.rstrip(" ") + line[len(body) :]
        else:
            yield line
