"""The cells of a sheet as its file has them, column by column; blank cells take no memory.

Workbooks are read here, and not by openpyxl, which keeps every row as objects, is three times slower, and in its way of
reading large files says nothing of merged cells and hidden rows; or by calamine, which knows no number formats.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from array import array
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import DataError
from microagg.tables.excel_parts import Sheet, Workbook, spelled_out
from microagg.tables.xml_stream import DamagedError, Depth

# How many rows and columns a sheet has at most.
_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14

# What cells take beside their values: their row, their style and a place in a list, with room to grow.
_PER_CELL = 18


class Fault(str):
    """An error that a cell shows, such as ``#DIV/0!``."""

    __slots__ = ()


class NotComputed:
    """The value of a formula whose result the file does not have."""


class Absent:
    """The value of a cell which says that there is none: ``#N/A`` without a formula."""


_NOT_COMPUTED, _ABSENT = NotComputed(), Absent()


@dataclass(slots=True)
class Column:
    """The cells of a column that have content.

    Attributes
    ----------
    rows : array of int
        The numbers of their rows, counting from 1, in ascending order.
    cells : list
        Their values: int, float, bool, str, :class:`datetime.datetime`, :class:`Fault`,
        :class:`NotComputed` or :class:`Absent`.
    styles : array of int
        The numbers of their styles.
    formulas, zeros : int
        How many of them are formulas, and how many of these have the result 0.
    """

    rows: array[int] = field(default_factory=lambda: array("i"))
    cells: list[Any] = field(default_factory=list)
    styles: array[int] = field(default_factory=lambda: array("i"))
    formulas: int = 0
    zeros: int = 0


@dataclass(slots=True)
class Cells:
    """What a sheet holds.

    Attributes
    ----------
    columns : dict
        The columns by their numbers, counting from 1.
    filled : array of int
        The numbers of the rows with content, in ascending order.
    hidden_rows : array of int
        The numbers of the rows with content that Excel does not show.
    hidden_columns : list of (int, int)
        The first and the last of columns that Excel does not show.
    merged : list of (int, int, int, int)
        Merged cells: first row, first column, last row, last column.
    """

    columns: dict[int, Column] = field(default_factory=dict)
    filled: array[int] = field(default_factory=lambda: array("i"))
    hidden_rows: array[int] = field(default_factory=lambda: array("i"))
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)


def read_cells(book: Workbook, sheet: Sheet, max_cells: int) -> Cells:
    """Return the cells of a sheet.

    Raises
    ------
    DataError
        If there are more than ``max_cells`` with content, or they take too much memory.
    """
    handler = _Sheet(book, book.texts(), sheet.title, max_cells)
    book.parse(sheet.part, handler, handler.measure)
    return handler.found


def letters_of(column: int) -> str:
    """Return the letters of a column whose number is counted from 1: A, B, ..., Z, AA."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def column_of(letters: str) -> int:
    """Return the number of a column, counting from 1.

    Raises
    ------
    DamagedError
        If a sheet has no such column.
    """
    number = 0
    for letter in letters[:4].upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    if not (letters.isascii() and letters.isalpha() and number <= _MOST_COLUMNS):
        raise DamagedError("it has a cell without an address")
    return number


class _Sheet:
    """A handler for the cells of a sheet, and for what stands beside them."""

    def __init__(self, book: Workbook, texts: list[str], title: str, max_cells: int) -> None:
        self.found = Cells()
        self._book, self._title, self._max_cells = book, title, max_cells
        self._shared = texts
        self._own: dict[str, str] = {}
        self._letters: dict[str, int] = {}
        self._count = self._bytes = self._measured = 0
        self._depth = Depth()
        self._row = self._column = self._style = 0
        self._hidden = self._in_row = self._in_cell = self._formula = False
        self._collects = self._spoken = False
        self._kind = "n"
        self._pieces: list[str] = []
        self._length = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "c":
            self._start_cell(attributes)
        elif tag == "v":
            if self._collects or not self._in_cell:
                raise DamagedError("it has a value outside of cells")
            self._collects = True
        elif tag == "row":
            self._start_row(attributes)
        else:
            self._depth.down()
            if tag == "f":
                self._formula = True
            elif tag == "t":
                self._collects = self._in_cell and not self._spoken
            elif tag == "rPh":
                self._spoken = True
            elif tag in ("mergeCell", "col"):
                self._beside(tag, attributes)

    def end(self, tag: str) -> None:
        if tag == "c":
            self._in_cell = False
            self._end_cell()
        elif tag == "v":
            self._collects = False
        elif tag == "row":
            self._in_row = False
        else:
            self._depth.up()
            if tag == "t":
                self._collects = False
            elif tag == "rPh":
                self._spoken = False

    def text(self, text: str) -> None:
        if self._collects:
            self._pieces.append(text)
            if len(self._pieces) > 1:
                self._length += len(text) + 12
                # Joined, a text may take four bytes a character beside its pieces.
                self._book.meter.check(8 * self._length)

    def measure(self) -> None:
        """Check what has been taken so far."""
        if self._count > self._max_cells:
            raise DataError(
                f"the sheet {self._title!r} of the file {self._book.label!r} has more than {self._max_cells:,} cells, "
                "the limit: leave out columns, or split the file."
            )
        taken = self._bytes + _PER_CELL * self._count
        self._book.meter.take(taken - self._measured)
        self._measured = taken

    def _start_row(self, attributes: dict[str, str]) -> None:
        number = int(attributes["r"]) if "r" in attributes else self._row + 1
        if self._in_row or not self._row < number <= _MOST_ROWS:
            raise DamagedError(f"its row {number} is out of order")
        self._in_row = True
        self._row, self._column = number, 0
        self._hidden = attributes.get("hidden") in ("1", "true") or attributes.get("ht") == "0"

    def _start_cell(self, attributes: dict[str, str]) -> None:
        if self._in_cell or not self._in_row:
            raise DamagedError("it has a cell outside of rows")
        self._in_cell = True
        self._kind = attributes.get("t", "n")
        style = attributes.get("s")
        self._style = int(style) if style else 0
        self._formula = False
        self._pieces.clear()
        self._length = 0
        address = attributes.get("r")
        if address:
            letters = address.rstrip("0123456789")
            column = self._letters.get(letters)
            if column is None:
                column = self._letters[letters] = column_of(letters)
            self._column = column
        else:
            self._column += 1
            column_of(letters_of(self._column))

    def _end_cell(self) -> None:
        text = self._pieces[0] if len(self._pieces) == 1 else "".join(self._pieces)
        # A formula whose result is an empty text says that it is a text.
        lacks = _NOT_COMPUTED if self._formula and self._kind != "str" else None
        value = self._value(text) if text else lacks
        if value is not None:
            self._keep(value)

    def _keep(self, value: Any) -> None:
        column = self.found.columns.get(self._column)
        if column is None:
            column = self.found.columns[self._column] = Column()
            self._bytes += 500
        if column.rows and column.rows[-1] == self._row:
            raise DamagedError(f"it has the cell {letters_of(self._column)}{self._row} twice")
        column.rows.append(self._row)
        column.cells.append(value)
        column.styles.append(self._style)
        self._count += 1
        if self._formula:
            column.formulas += 1
            column.zeros += value == 0 and type(value) is int
        if not self.found.filled or self.found.filled[-1] != self._row:
            self.found.filled.append(self._row)
            if self._hidden:
                self.found.hidden_rows.append(self._row)

    def _value(self, text: str) -> Any:
        kind = self._kind
        if kind == "n":
            self._bytes += 32
            return _number(text)
        if kind == "s":
            return self._shared[int(text)] or None
        if kind in ("inlineStr", "str"):
            return self._own_text(spelled_out(text))
        if kind == "b":
            return text.strip() in ("1", "true")
        if kind == "e":
            # Where a formula has it, something was looked up and not found.
            return Fault(text) if self._formula or text != "#N/A" else _ABSENT
        if kind == "d":
            self._bytes += 60
            return _moment(text)
        raise DamagedError(f"it has a cell of the unknown kind {kind!r}")

    def _own_text(self, text: str) -> str | None:
        """Return a text that stands in the cell itself, the same object for equal ones."""
        known = self._own.get(text)
        if known is None:
            known = self._own[text] = text
            self._bytes += sys.getsizeof(text) + 100
        return known or None

    def _beside(self, tag: str, attributes: dict[str, str]) -> None:
        self._bytes += 120
        if tag == "mergeCell":
            first, _, last = attributes["ref"].partition(":")
            if last:
                self.found.merged.append((*_address(first), *_address(last)))
        elif attributes.get("hidden") in ("1", "true") or attributes.get("width") == "0":
            self.found.hidden_columns.append((int(attributes["min"]), int(attributes["max"])))


def _address(text: str) -> tuple[int, int]:
    """Return the row and the column of an address such as B2, counting from 1."""
    address = text.replace("$", "")
    letters = address.rstrip("0123456789")
    return int(address[len(letters) :]), column_of(letters)


def _number(text: str) -> int | float | str:
    """Return a number; as a text if it is none that a float can be, or not written as one."""
    try:
        if "." in text or "E" in text or "e" in text:
            number = float(text)
            return number if math.isfinite(number) and "_" not in text else text
        whole = int(text)
    except ValueError:  # also for whole numbers of thousands of digits
        return text.strip() or text
    return whole if str(whole) == text.strip() or text.strip() in ("-0", f"+{whole}") else text.strip()


def _moment(text: str) -> dt.datetime | str:
    """Return a date that is written in words of ISO 8601, as strict workbooks have them; a time of day as text."""
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if found.tzinfo else found
