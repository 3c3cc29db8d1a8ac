"""The sheets of a workbook and the rows of one, as openpyxl reads them, within bounds of memory."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from microagg.errors import DataError, MicroaggError
from microagg.tables.memory_guard import check_memory
from microagg.tables.xlsx_prescan import DamagedError, Survey, survey
from microagg.validation import optional_import

#: How many bytes a part of a workbook that is read may have once it is unpacked.
MAX_UNPACKED = 1 << 28

# What a row, a cell and a text of its own take, in bytes, beside the characters; each cell has a place in the table.
_PER_ROW, _PER_CELL, _PER_TEXT = 120, 56, 100

# The table grows in steps, so that a text takes up to twice its length there.
_COPIES = 2


# Formats of dates in East Asia that workbooks name by their number only, and openpyxl does not know.
_EAST_ASIAN = frozenset((*range(27, 37), *range(50, 59)))

# Text in quotes or after a backslash; a blank as wide as a character; colors, languages and conditions; the rest.
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|(_.|\*.)|(\[[^\]]*\])|(.)', re.DOTALL)


class Fault(str):
    """An error that a cell shows, such as ``#DIV/0!``."""

    __slots__ = ()


class Percent(float):
    """A number that a cell shows as a percentage."""

    __slots__ = ()


class Code(NamedTuple):
    """A whole number that a cell shows with leading zeros, or signs between its digits."""

    number: int
    text: str


class NotComputed:
    """The value of a formula whose result the file does not have."""


NOT_COMPUTED = NotComputed()


@dataclass(frozen=True)
class Sheet:
    """A sheet with cells: its title, and whether Excel hides it."""

    title: str
    hidden: bool


@dataclass
class SheetRows:
    """The rows of a sheet that have content.

    Attributes
    ----------
    numbers : list of int
        Their numbers in the sheet, counting from 1, in ascending order.
    cells : list of list
        Their cells from column A on: None, int, float, bool, str, :class:`datetime.datetime`,
        :class:`datetime.time`, :class:`datetime.timedelta`, or a class of this module.
    survey : Survey
        What else there is to know of the sheet.
    """

    survey: Survey
    numbers: list[int] = field(default_factory=list)
    cells: list[list[Any]] = field(default_factory=list)


class Workbook:
    """An open workbook; ``sheets`` are in its own order, without those that are charts."""

    def __init__(self, data: bytes, archive: zipfile.ZipFile, label: str) -> None:
        from openpyxl.reader.excel import ExcelReader
        from openpyxl.xml.constants import SHARED_STRINGS

        self.label = label
        self._archive, self._size = archive, len(data)
        self._taken = 0
        self._survey("[Content_Types].xml")
        # openpyxl's own steps one by one, for it would read every other sheet, charts and themes too.
        self._reader = ExcelReader(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        self._reader.read_manifest()
        texts = self._reader.package.find(SHARED_STRINGS)
        self._texts_part = texts.PartName[1:] if texts else ""
        read = {part.PartName[1:] for part in self._reader.package.Override if part.ContentType.endswith(".main+xml")}
        for part in archive.namelist():
            if part in (*read, "xl/workbook.xml", "xl/styles.xml") or part.endswith(".rels"):
                self._survey(part)
        self._reader.read_workbook()
        self._parts = {
            sheet.name: (sheet, relation.target)
            for sheet, relation in self._reader.parser.find_sheets()
            if relation.Type.endswith("/worksheet") and relation.target in archive.namelist()
        }
        self.sheets = [Sheet(title, sheet.state != "visible") for title, (sheet, _) in self._parts.items()]

    @property
    def from_1904(self) -> bool:
        """Whether days are counted from 1904-01-01, as on old Macs."""
        return bool(self._reader.wb.epoch.year == 1904)

    @property
    def recalculates(self) -> bool:
        """Whether the workbook asks Excel to compute all formulas when it is opened."""
        calculation = self._reader.wb.calculation
        return bool(calculation is not None and calculation.fullCalcOnLoad)

    def rows(self, sheet: Sheet, max_cells: int) -> SheetRows:
        """Return the rows of a sheet.

        Raises
        ------
        DataError
            If there are more than ``max_cells`` cells, or they take too much memory.
        """
        from openpyxl.reader.strings import read_string_table
        from openpyxl.styles.stylesheet import apply_stylesheet

        reader = self._reader
        entry, part = self._parts[sheet.title]
        found = SheetRows(self._survey(part))
        if self._texts_part and self._survey(self._texts_part).escapes:
            # openpyxl would drop what keeps _x0041_ from being A, if it is written like this.
            xml = self._archive.read(self._texts_part).replace(b"x005F_", b"x005f_")
            reader.shared_strings = read_string_table(io.BytesIO(xml))
        else:
            reader.read_strings()
        apply_stylesheet(self._archive, reader.wb)
        reader.parser.sheets = [entry]
        reader.read_worksheets()
        cells = reader.wb.worksheets[0]
        # A sheet may claim any size, and would be padded to it.
        cells.reset_dimensions()
        texts: dict[str, str] = {}
        seen = 0
        for number, row in enumerate(cells.iter_rows(), start=1):
            if not row:
                continue
            seen += len(row)
            if seen > max_cells:
                raise DataError(
                    f"the sheet {sheet.title!r} of the file {self.label!r} has more than {max_cells:,} cells, the "
                    "limit: leave out columns, or split the file."
                )
            values = self._values(row, number, found.survey, texts)
            if values:
                found.numbers.append(number)
                found.cells.append(values)
                self._check(0)
        return found

    def _values(self, row: Any, number: int, survey: Survey, texts: dict[str, str]) -> list[Any]:
        """Return the cells of a row up to the last one with content, equal texts as the same object."""
        values: list[Any] = []
        filled = 0
        for j, cell in enumerate(row, start=1):
            value = cell.value
            if value is None:
                value = NOT_COMPUTED if survey.lacking and (number, j) in survey.lacking else None
            elif type(value) is str:
                value = _text(value, cell.data_type, texts)
                if value is not None:
                    size = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
                    self._taken += _COPIES * size
            elif type(value) in (int, float):
                value = _number(value, cell, self._reader.wb.epoch)
            elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
                value = dt.datetime.combine(value, dt.time())
            elif isinstance(value, dt.time) and self.from_1904 and re.search("[dy]", cell.number_format):
                # Day 0 of that calendar, which openpyxl takes for no day.
                value = dt.datetime.combine(self._reader.wb.epoch, value)
            values.append(value)
            if value is not None:
                filled = j
        del values[filled:]
        known = len(texts)
        self._taken += _PER_ROW + _PER_CELL * filled if filled else 0
        self._taken += _PER_TEXT * (len(texts) - known)
        return values

    def _survey(self, part: str) -> Survey:
        """Look through a part before openpyxl parses it."""
        size = self._archive.getinfo(part).file_size
        if size > MAX_UNPACKED:
            raise DataError(
                f"the file {self.label!r} unpacks to {size / 1e6:,.0f} MB, over the limit of "
                f"{MAX_UNPACKED / 1e6:,.0f} MB for workbooks: save the table as .csv or .parquet."
            )
        found = survey(self._archive, part, self._check)
        if found.strict:
            raise DataError(
                f"the file {self.label!r} is a Strict Open XML Spreadsheet: save it as an ordinary Excel workbook, "
                "which is .xlsx too."
            )
        self._taken += found.kept
        return found

    def _check(self, more: int) -> None:
        check_memory(self._taken + more, self._size, self.label)


@contextlib.contextmanager
def open_workbook(data: bytes, label: str) -> Iterator[Workbook]:
    """Open an Excel workbook; what goes wrong within is a damaged file.

    Raises
    ------
    DataError
        If it is no workbook, a damaged one, or one that takes too much memory.
    """
    optional_import("openpyxl", "files", f"reading {label!r}", "save the table as .csv")
    # openpyxl warns of styles and extensions that it leaves out; none of them touches a value.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield Workbook(data, archive, label)
        except MicroaggError:
            raise
        except Exception as error:  # openpyxl lets through whatever its parsers raise, cells included
            reason = str(error) if isinstance(error, DamagedError) else type(error).__name__
            raise DataError(
                f"the file {label!r} is not an Excel workbook, or a damaged one ({reason}): save it as .xlsx again."
            ) from None


def letters_of(column: int) -> str:
    """Return the letters of a column whose number is counted from 1: A, B, ..., Z, AA."""
    from openpyxl.utils.cell import get_column_letter

    return str(get_column_letter(column))


def _text(value: str, kind: str, texts: dict[str, str]) -> str | None:
    """Return a text or an error; an empty text is nothing."""
    if kind == "e":
        return Fault(value)
    if kind != "s":
        raise DamagedError(f"it has a cell of the unknown kind {kind!r}")
    if "_x" in value:
        value = re.sub(r"_x([0-9A-Fa-f]{4})_", _character, value)
    return texts.setdefault(value, value) or None


def _character(spelled: re.Match[str]) -> str:
    code = int(spelled[1], 16)
    return spelled[0] if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code)


def _number(value: float, cell: Any, epoch: dt.datetime) -> Any:
    """Return a number, with what its format shows in its place if that is another one."""
    if not cell.has_style:
        return value
    code = cell.number_format
    if code == "General":
        if cell.style_array.numFmtId not in _EAST_ASIAN:
            return value
        from openpyxl.utils.datetime import from_excel

        return from_excel(value, epoch)
    shown = _shown(code)
    if shown == ("%",):
        return Percent(value)
    if shown and value >= 0 and value == int(value):
        text = _with_zeros(int(value), shown)
        return value if text == str(int(value)) else Code(int(value), text)
    return value


@lru_cache(maxsize=1024)
def _shown(code: str) -> tuple[str, ...]:
    """Return what a number format (ECMA-376, part 1, 18.8.31) shows of positive numbers that is not their value.

    That is ``("%",)`` for percentages and, for codes with leading zeros, each ``0`` and the texts between them with a
    ``=`` before them; nothing for any other format.
    """
    places: list[str] = []
    plain = True
    for quoted, escaped, _, _, sign in _TOKEN.findall(code):
        if sign == ";":
            break
        if sign == "%":
            return ("%",)
        if quoted or escaped or (sign and sign in "-/ ()+:"):
            places.append(f"={quoted or escaped or sign}")
        elif sign:
            places.append(sign)
            plain &= sign == "0"
    return tuple(places) if plain and places.count("0") > 1 else ()


def _with_zeros(number: int, places: tuple[str, ...]) -> str:
    """Return a whole number of at least 0 with as many digits as there are places for, or more."""
    digits = list(str(number).zfill(places.count("0")))
    shown = [digits.pop() if place == "0" else place[1:] for place in reversed(places)][::-1]
    first = places.index("0")
    return "".join((*shown[:first], *digits, *shown[first:]))
