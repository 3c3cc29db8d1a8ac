"""The sheets of a workbook and their rows, read by openpyxl row by row.

A sheet is parsed once before by a :class:`Survey`, which collects what openpyxl does not return then.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple
from xml.etree.ElementTree import XMLParser

from microagg.errors import DataError, MicroaggError
from microagg.tables.notices import check_memory
from microagg.validation import optional_import

#: The maximum size of an unpacked part of a workbook, in bytes.
MAX_UNPACKED = 1 << 28

# Memory of a cell without its text, in bytes. The table grows in steps, so a text takes up to twice its length.
_PER_CELL, _COPIES = 64, 2

# The number of bytes parsed at a time.
_CHUNK = 1 << 20

# Formats of dates in East Asia that workbooks identify only by number, and openpyxl does not support.
_EAST_ASIAN = frozenset((*range(27, 37), *range(50, 59)))

# XML attributes for true.
_TRUE = ("1", "true")

#: The value of a formula without a result in the file.
NOT_COMPUTED = object()


class Fault(str):
    """An error that a cell shows, such as ``#DIV/0!``."""

    __slots__ = ()


class Percent(float):
    """A number that a cell shows as a percentage."""

    __slots__ = ()


class Code(NamedTuple):
    """A whole number that a cell shows with leading zeros."""

    number: int
    text: str


class Sheet(NamedTuple):
    """A sheet with cells: its title, and whether Excel hides it."""

    title: str
    hidden: bool


class _DamagedError(ValueError):
    """A damaged workbook. The message describes it, with the subject ``it``."""


class Survey:
    """What openpyxl does not return of a sheet when it reads row by row, collected as the target of a parser.

    Rows and columns count from 1.
    """

    def __init__(self) -> None:
        self.merged: list[tuple[int, int, int, int]] = []  # first column, first row, last column, last row
        self.hidden_rows: list[int] = []  # in ascending order
        self.hidden_columns: list[tuple[int, int]] = []  # first and last of adjacent columns
        self.widths: list[tuple[int, int, float]] = []  # first and last of adjacent columns, and their width
        self.lacking: set[tuple[int, int]] = set()  # rows and columns of formulas without a result
        self._row = self._column = 0
        self._is_formula = self._in_value = self._has_value = False
        self._kind = ""

    def doctype(self, *_: str | None) -> None:
        """Refuse a document type, which may declare texts that grow without end."""
        raise _DamagedError("it declares a document type")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the beginning of an element."""
        name = tag.rpartition("}")[2]
        if name == "c":
            self._start_cell(attributes)
        elif name in ("f", "v"):
            self._is_formula |= name == "f"
            self._in_value = name == "v"
        elif name == "row":
            self._start_row(attributes)
        elif name == "mergeCell" and ":" in attributes["ref"]:
            from openpyxl.utils.cell import range_boundaries

            self.merged.append(range_boundaries(attributes["ref"]))
        elif name == "col" and (attributes.get("hidden") in _TRUE or attributes.get("width") == "0"):
            self.hidden_columns.append((int(attributes["min"]), int(attributes["max"])))
        elif name == "col" and "width" in attributes:
            self.widths.append((int(attributes["min"]), int(attributes["max"]), float(attributes["width"])))

    def data(self, text: str) -> None:
        """Process a piece of text."""
        self._has_value |= self._in_value

    def end(self, tag: str) -> None:
        """Process the end of an element."""
        self._in_value = False
        # A formula whose result is an empty text has the kind of texts.
        is_empty = self._is_formula and not self._has_value and self._kind != "str"
        if is_empty and tag.rpartition("}")[2] == "c":
            self.lacking.add((self._row, self._column))

    def _start_row(self, attributes: dict[str, str]) -> None:
        number = int(attributes.get("r", self._row + 1))
        # openpyxl silently skips rows that are out of order.
        if number <= self._row:
            raise _DamagedError(f"its row {number} is out of order")
        self._row, self._column = number, 0
        if attributes.get("hidden") in _TRUE or attributes.get("ht") == "0":
            self.hidden_rows.append(number)

    def _start_cell(self, attributes: dict[str, str]) -> None:
        address = attributes.get("r")
        column = self._column + 1 if address is None else _column_number(address.rstrip("0123456789"))
        if column <= self._column:
            raise _DamagedError(f"it has a cell out of order in row {self._row}")
        self._column = column
        self._is_formula = self._has_value = False
        self._kind = attributes.get("t", "n")


class SheetRows(NamedTuple):
    """The rows of a sheet that have content."""

    survey: Survey
    numbers: list[int]  # from 1, ascending
    # From column A on: None, int, float, bool, str, datetime, time, timedelta, or a class of this module.
    cells: list[list[Any]]
    formats: dict[int, list[str]]  # the number formats of cells by row, if requested


class Workbook:
    """An open workbook and its ``sheets``, in its order, without charts."""

    def __init__(self, data: bytes, archive: zipfile.ZipFile, label: str) -> None:
        from openpyxl.reader.excel import ExcelReader
        from openpyxl.xml.constants import SHARED_STRINGS

        self._archive, self._size, self._label = archive, len(data), label
        # openpyxl's steps one by one: together, they would read all sheets, charts and themes.
        self._reader = ExcelReader(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        self._reader.read_manifest()
        texts = self._reader.package.find(SHARED_STRINGS)
        self._texts_part = texts.PartName[1:] if texts else ""
        main = [name for name in archive.namelist() if re.fullmatch(r"xl/workbook\w*\.xml", name)]
        if any(b"purl.oclc.org/ooxml" in archive.read(name) for name in main):
            raise DataError(
                f"the file {label!r} is a Strict Open XML Spreadsheet: save it as an ordinary Excel workbook, which is "
                ".xlsx too."
            )
        self._reader.read_workbook()
        self._parts = {
            sheet.name: (sheet, relation.target)
            for sheet, relation in self._reader.parser.find_sheets()
            if relation.Type.endswith("/worksheet") and relation.target in archive.namelist()
        }
        self.sheets = [Sheet(title, sheet.state != "visible") for title, (sheet, _) in self._parts.items()]
        self._epoch = self._reader.wb.epoch

    def rows(self, sheet: Sheet, max_cells: int, *, formats: bool = False) -> SheetRows:
        """Read the rows of a sheet. DataError if it has more than ``max_cells`` cells."""
        from openpyxl.reader.strings import read_string_table
        from openpyxl.styles.stylesheet import apply_stylesheet

        reader = self._reader
        entry, part = self._parts[sheet.title]
        result = SheetRows(self._survey(part), [], [], {})
        if self._texts_part:
            self._check_size(self._texts_part)
            # openpyxl would drop the escape that distinguishes _x0041_ from A, if it is written like this.
            xml = self._archive.read(self._texts_part).replace(b"x005F_", b"x005f_")
            reader.shared_strings = read_string_table(io.BytesIO(xml))
        apply_stylesheet(self._archive, reader.wb)
        reader.parser.sheets = [entry]
        reader.read_worksheets()
        cells = reader.wb.worksheets[0]
        # A sheet may declare any size, and would be padded to it.
        cells.reset_dimensions()
        n_cells = taken = 0
        for number, row in enumerate(cells.iter_rows(), start=1):
            n_cells += len(row)
            if n_cells > max_cells:
                raise DataError(
                    f"the sheet {sheet.title!r} of the file {self._label!r} has more than {max_cells:,} cells, the "
                    "limit: leave out columns, or split the file."
                )
            if values := self._values(row, number, result.survey):
                result.numbers.append(number)
                result.cells.append(values)
                if formats:
                    result.formats[number] = [getattr(cell, "number_format", None) or "General" for cell in row]
                taken += sum(_PER_CELL + _COPIES * (len(value) if type(value) is str else 0) for value in values)
                check_memory(taken, self._size, self._label)
        return result

    def _values(self, row: Any, number: int, survey: Survey) -> list[Any]:
        """Cells of a row up to the last one with content."""
        values: list[Any] = []
        for j, cell in enumerate(row, start=1):
            value = cell.value
            if value is None:
                value = NOT_COMPUTED if (number, j) in survey.lacking else None
            elif type(value) is str:
                value = _text_or_fault(value, cell.data_type)
            elif type(value) in (int, float):
                value = _as_displayed(value, cell, self._epoch)
            elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
                value = dt.datetime.combine(value, dt.time())
            values.append(value)
        while values and values[-1] is None:
            values.pop()
        return values

    def _survey(self, part: str) -> Survey:
        """Survey a sheet before openpyxl parses it."""
        self._check_size(part)
        survey = Survey()
        parser = XMLParser(target=survey)
        with self._archive.open(part) as stream:
            while chunk := stream.read(_CHUNK):
                parser.feed(chunk)
        parser.close()
        return survey

    def _check_size(self, part: str) -> None:
        size = self._archive.getinfo(part).file_size
        if size > MAX_UNPACKED:
            raise DataError(
                f"the file {self._label!r} unpacks to {size / 1e6:,.0f} MB, over the limit of "
                f"{MAX_UNPACKED / 1e6:,.0f} MB for workbooks: save the table as .csv or .parquet."
            )


@contextlib.contextmanager
def open_workbook(data: bytes, label: str) -> Iterator[Workbook]:
    """Open an Excel workbook. Errors within become DataError of a damaged file."""
    optional_import("openpyxl", "files", f"reading {label!r}", "save the table as .csv")
    # openpyxl warns of styles and extensions that it skips; none of them changes a value.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield Workbook(data, archive, label)
        except MicroaggError:
            raise
        except Exception as error:  # openpyxl lets through whatever its parsers raise, cells included
            reason = str(error) if isinstance(error, _DamagedError) else type(error).__name__
            raise DataError(
                f"the file {label!r} is not an Excel workbook, or a damaged one ({reason}): save it as .xlsx again."
            ) from None


def column_letters(column: int) -> str:
    """Letters of a column whose number counts from 1: A, B, ..., Z, AA."""
    letters = ""
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


@lru_cache(maxsize=1024)
def _column_number(letters: str) -> int:
    from openpyxl.utils.cell import column_index_from_string

    return int(column_index_from_string(letters))


def _text_or_fault(value: str, kind: str) -> str | None:
    """Text or error of a cell. None for an empty text."""
    if kind == "e":
        return Fault(value)
    if kind != "s":
        raise _DamagedError(f"it has a cell of the unknown kind {kind!r}")
    if "_x" in value:
        value = re.sub(r"_x([0-9A-Fa-f]{4})_", _character, value)
    return value or None


def _character(spelled: re.Match[str]) -> str:
    code = int(spelled[1], 16)
    return spelled[0] if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code)


def _as_displayed(value: float, cell: Any, epoch: dt.datetime) -> Any:
    """A number, or a date, Percent or Code if its format displays one."""
    if not cell.has_style:
        return value
    code = cell.number_format
    if code == "General":
        if cell.style_array.numFmtId not in _EAST_ASIAN:
            return value
        from openpyxl.utils.datetime import from_excel

        return from_excel(value, epoch)
    code = code.partition(";")[0]  # that of positive numbers
    if code.endswith("%"):
        return Percent(value)
    if code.strip("0") or value < 0 or value != int(value):
        return value
    text = str(int(value)).zfill(len(code))
    return value if text == str(int(value)) else Code(int(value), text)
