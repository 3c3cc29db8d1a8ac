"""The sheets of a workbook, read by openpyxl row by row, and columns made of their cells.

Sheets are parsed by openpyxl's parser itself, as its worksheets hide formulas without results, hidden rows and columns,
and merged cells.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import itertools
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.errors import DataError, MicroaggError
from microagg.tables.lossless import EXACT_WHOLE, Filled, clock, texts, whole_numbers
from microagg.tables.notices import MISSING, Notice, Offer, check_memory
from microagg.validation import counted, listing, optional_import, shortened

#: The maximum size of an unpacked part of a workbook, in bytes.
MAX_UNPACKED = 1 << 28

# Memory of a cell without its text, in bytes. The table grows in steps, so a text takes up to twice its length.
_PER_CELL, _COPIES = 64, 2

# The number of bytes at the beginning of a sheet that are searched for a document type.
_PROLOG = 1 << 16

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


class SheetRows(NamedTuple):
    """The rows of a sheet that have content, and its layout. Rows and columns count from 1."""

    numbers: list[int]  # ascending
    # From column A on: None, int, float, bool, str, datetime, time, timedelta, or a class of this module.
    cells: list[list[Any]]
    formats: dict[int, list[str]]  # the number formats of cells by row, if requested
    hidden_rows: set[int]
    hidden_columns: list[tuple[int, int]]  # first and last of adjacent columns
    widths: list[tuple[int, int, float]]  # first and last of adjacent columns, and their width
    merged: list[tuple[int, int, int, int]]  # first column, first row, last column, last row


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
            sheet.name: (relation.target, sheet.state != "visible")
            for sheet, relation in self._reader.parser.find_sheets()
            if relation.Type.endswith("/worksheet") and relation.target in archive.namelist()
        }
        self.sheets = [Sheet(title, hidden) for title, (_, hidden) in self._parts.items()]

    def rows(self, sheet: Sheet, max_cells: int, *, formats: bool = False) -> SheetRows:
        """Read the rows of a sheet. DataError if it has more than ``max_cells`` cells."""
        from openpyxl.styles.numbers import BUILTIN_FORMATS
        from openpyxl.styles.stylesheet import apply_stylesheet

        book, part = self._reader.wb, self._parts[sheet.title][0]
        apply_stylesheet(self._archive, book)
        numbers = [style.numFmtId for style in book._cell_styles]
        codes = [BUILTIN_FORMATS.get(n, "General") if n < 164 else book._number_formats[n - 164] for n in numbers]
        result = SheetRows([], [], {}, set(), [], [], [])
        n_cells = taken = 0
        self._check_size(part)
        with self._archive.open(part) as stream:
            # A document type may declare texts that grow without end.
            if b"<!DOCTYPE" in stream.read(_PROLOG).replace(b"\0", b""):
                raise _DamagedError("it declares a document type")
        with self._archive.open(part) as stream:
            parser = _sheet_parser(stream, self._shared_texts(), book)
            for number, row in _in_order(parser.parse()):
                n_cells += row[-1]["column"] if row else 0
                if n_cells > max_cells:
                    raise DataError(
                        f"the sheet {sheet.title!r} of the file {self._label!r} has more than {max_cells:,} cells, the "
                        "limit: leave out columns, or split the file."
                    )
                about = parser.row_dimensions.pop(str(number), {})
                if about.get("hidden") in _TRUE or about.get("ht") == "0":
                    result.hidden_rows.add(number)
                if values := _values(row, codes):
                    result.numbers.append(number)
                    result.cells.append(values)
                    if formats:
                        shown = {cell["column"]: codes[cell["style_id"]] for cell in row}
                        result.formats[number] = [shown.get(j, "General") for j in range(1, len(values) + 1)]
                    taken += sum(_PER_CELL + _COPIES * (len(value) if type(value) is str else 0) for value in values)
                    check_memory(taken, self._size, self._label)
        for about in parser.column_dimensions.values():
            ends = (int(about["min"]), int(about["max"]))
            if about.get("hidden") in _TRUE or about.get("width") == "0":
                result.hidden_columns.append(ends)
            elif "width" in about:
                result.widths.append((*ends, float(about["width"])))
        result.merged.extend(cells.bounds for cells in (parser.merged_cells.mergeCell if parser.merged_cells else ()))
        return result

    def _shared_texts(self) -> list[str]:
        from openpyxl.reader.strings import read_string_table

        if not self._texts_part:
            return []
        self._check_size(self._texts_part)
        # openpyxl would drop the escape that distinguishes _x0041_ from A, if it is written like this.
        xml = self._archive.read(self._texts_part).replace(b"x005F_", b"x005f_")
        return list(read_string_table(io.BytesIO(xml)))

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


def _sheet_parser(stream: Any, texts: list[str], book: Any) -> Any:
    """Parser of a sheet for which a formula without a result is :data:`NOT_COMPUTED`."""
    from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            # A formula whose result is an empty text has the kind of texts.
            if cell["value"] is None and element.find(FORMULA_TAG) is not None and element.get("t") != "str":
                cell["value"] = NOT_COMPUTED
            return cell

    dates = {i for i, style in enumerate(book._cell_styles) if style.numFmtId in _EAST_ASIAN}
    return Parser(
        stream,
        texts,
        data_only=True,
        epoch=book.epoch,
        date_formats={*book._date_formats, *dates},
        timedelta_formats=book._timedelta_formats,
    )


def _in_order(rows: Iterable[tuple[int, list[Any]]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield rows and their cells, unless they are out of order, as others would silently replace them."""
    last = 0
    for number, row in rows:
        columns = [0, *(cell["column"] for cell in row)]
        if number <= last or any(right <= left for left, right in itertools.pairwise(columns)):
            raise _DamagedError(f"its row {number}, or a cell in it, is out of order")
        last = number
        yield number, row


def _values(row: list[Mapping[str, Any]], codes: Sequence[str]) -> list[Any]:
    """Cells of a row up to the last one with content; ``codes`` are the number formats of styles."""
    values: list[Any] = [None] * (row[-1]["column"] if row else 0)
    for cell in row:
        value = cell["value"]
        if type(value) is str:
            value = _text_or_fault(value, cell["data_type"])
        elif type(value) in (int, float) and cell["style_id"]:
            value = _as_displayed(value, codes[cell["style_id"]])
        elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            value = dt.datetime.combine(value, dt.time())
        values[cell["column"] - 1] = value
    while values and values[-1] is None:
        values.pop()
    return values


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


def _as_displayed(value: float, code: str) -> Any:
    """A number, or a Percent or Code if its format displays one."""
    code = code.partition(";")[0]  # that of positive numbers
    if code.endswith("%"):
        return Percent(value)
    if code.strip("0") or value < 0 or value != int(value):
        return value
    text = str(int(value)).zfill(len(code))
    return value if text == str(int(value)) else Code(int(value), text)


# --- columns ----------------------------------------------------------------------------------------------------------

# The smallest whole number of 16 digits, of which Excel keeps 15.
_TOO_MANY_DIGITS = 10**15


class _Kind(NamedTuple):
    """Nouns for cells of a kind, and the code of the notice if a column has this kind alone and becomes text."""

    singular: str
    plural: str
    notice: str = ""


_KINDS = {
    **dict.fromkeys((int, float, Percent), _Kind("number", "numbers")),
    Code: _Kind("code", "codes"),
    bool: _Kind("TRUE or FALSE", "cells with TRUE or FALSE"),
    dt.datetime: _Kind("date", "dates"),
    dt.time: _Kind("time of day", "times of day", "times"),
    dt.timedelta: _Kind("duration", "durations", "durations"),
    str: _Kind("text", "texts"),
}


def cell_text(cell: Any) -> str:
    """Text of a cell in a column that becomes text."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, Code):
        return cell.text
    if isinstance(cell, dt.datetime):
        return str(cell.date()) if cell.time() == dt.time() else f"{cell.date()} {cell_text(cell.time())}"
    if isinstance(cell, dt.time):
        return cell.isoformat("milliseconds" if cell.microsecond else "seconds")
    if isinstance(cell, dt.timedelta):
        return clock(cell.total_seconds())
    # Excel does not distinguish 2.0 from 2.
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _TOO_MANY_DIGITS else float.__repr__(cell)
    return str(cell)


def read_column(name: str, cells: list[Any], address: Callable[[int], str], missing: Sequence[str]) -> Filled:
    """A column of a sheet, with notices; ``address`` gives the address of a record's cell, such as ``B2``."""
    column = _Column(name, cells, address)
    column.leave_out(missing)
    return pd.Series(column.read()), column.notices


def _is_long(cell: float) -> bool:
    return abs(cell) >= _TOO_MANY_DIGITS and (type(cell) is int or (abs(cell) < 1e20 and cell == int(cell)))


class _Column:
    """The cells of a column, and notices on them."""

    def __init__(self, name: str, cells: list[Any], address: Callable[[int], str]) -> None:
        self.notices: list[Notice] = []
        self._name, self._cells, self._address = name, cells, address

    def leave_out(self, missing: Sequence[str]) -> None:
        """Remove missing values, among them the texts ``missing``, with a notice if they may be values."""
        types = set(map(type, self._cells))
        if Fault in types:
            self._without(lambda cell: type(cell) is Fault and cell == "#N/A")
            faults = self._without(lambda cell: type(cell) is Fault)
            text = "has {count} of Excel, such as {example} in {at}: read as missing."
            self._add_notice("errors", faults, text, "error")
        if str not in types:
            return
        absent_words = (*MISSING, *missing)
        # Among numbers, NA is always a missing value; among texts, it may be Namibia.
        others = any(cell is not None and type(cell) is not str for cell in self._cells)
        if others and not self._find(lambda cell: type(cell) is str and not (cell.isspace() or cell in absent_words)):
            self._without(lambda cell: type(cell) is str)
            return
        absent = self._without(lambda cell: type(cell) is str and cell in missing)
        text = "has {count} with a text that stands for a missing value, such as {example!r} in {at}: read as missing, "
        text += "though it may be a name or a code, as NA is for Namibia."
        words = set(absent.values())
        offer = Offer(f"Take {', '.join(sorted(words))} as text", {"missing": [w for w in missing if w not in words]})
        self._add_notice("missing-words", absent, text, "cell", offer)

    def read(self) -> Any:
        """The n values, None if missing."""
        types = {type(cell) for cell in self._cells if cell is not None}
        if types <= {int, float, Percent}:
            return self._numbers()
        if types == {dt.datetime}:
            return np.array([np.datetime64("NaT") if cell is None else cell for cell in self._cells], dtype="M8[us]")
        if types == {str}:
            return texts(self._cells)
        if types == {bool}:
            return self._cells if None in self._cells else np.array(self._cells, dtype=bool)
        if types <= {int, float, Percent, Code}:
            codes = self._find(lambda cell: type(cell) is Code)
            text = "shows {count} with leading zeros, such as {example} for {number} in {at}: "
            self._add_notice("leading-zeros", codes, f"{text}the column is kept as the text that is shown.", "number")
        else:
            self._add_notice_on_kinds()
        return self._texts()

    def _add_notice_on_kinds(self) -> None:
        """Add a notice about the kinds of cells in a column that becomes text, with an example of the rarest kind."""
        kinds = Counter(_KINDS[type(cell)] for cell in self._cells if cell is not None).most_common()
        counts = listing([f"{count:,} {kind.singular if count == 1 else kind.plural}" for kind, count in kinds])
        rarest_kind = kinds[-1][0]
        rarest = self._find(lambda cell: cell is not None and _KINDS[type(cell)] == rarest_kind)
        if len(kinds) > 1:
            self._add_notice("mixed", rarest, f"has {counts}, such as {{example!r}} in {{at}}: all are kept as text.")
        else:
            self._add_notice(rarest_kind.notice, rarest, f"has {counts}, such as {{example}} in {{at}}: kept as text.")

    def _numbers(self) -> Any:
        cells = self._cells
        if any(type(cell) is float and not np.isfinite(cell) for cell in cells):
            raise DataError(f"column {self._name!r} holds a number that is too large: make it smaller, or a text.")
        # Zeros last: they are no good example.
        percents = dict(sorted(self._find(lambda cell: type(cell) is Percent).items(), key=lambda item: not item[1]))
        text = "has {count} shown as a percentage, such as {percent} in {at}, which is read as {example}."
        self._add_notice("percent", percents, text, "number")
        # Excel itself writes codes of up to 20 digits with an exponent, which makes them floats.
        long = self._find(lambda cell: cell is not None and _is_long(cell))
        whole_long = [cell for cell in long.values() if type(cell) is int]
        present = [cell for cell in cells if cell is not None]
        whole = all(type(cell) is int for cell in present) and all(-(2**63) <= cell < 2**63 for cell in whole_long)
        exact = whole or all(abs(cell) <= EXACT_WHOLE for cell in whole_long)
        text = "has {count} of 16 digits or more, such as {example} in {at}"
        if not exact:
            text += ": the column is kept as text, because a column of numbers would change some of them"
        text += "; Excel itself keeps 15 digits, so the last ones of codes may be lost in the file already."
        self._add_notice("long-numbers", long, text, "whole number")
        if not exact:
            return self._texts()
        if whole and present:
            values = np.array([cell or 0 for cell in cells], dtype=np.int64)
            return whole_numbers(values, np.array([cell is None for cell in cells]))
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)

    def _texts(self) -> pd.Series[Any]:
        return texts([cell if cell is None or type(cell) is str else cell_text(cell) for cell in self._cells])

    def _find(self, fits: Callable[[Any], bool]) -> dict[int, Any]:
        return {i: cell for i, cell in enumerate(self._cells) if fits(cell)}

    def _without(self, fits: Callable[[Any], bool]) -> dict[int, Any]:
        """Make cells missing, and return them by record."""
        removed = self._find(fits)
        if removed:
            self._cells = [None if i in removed else cell for i, cell in enumerate(self._cells)]
        return removed

    def _add_notice(self, code: str, cells: dict[int, Any], form: str, noun: str = "cell", *offers: Offer) -> None:
        """Add a notice about cells, by record, if there are any. ``form`` is its text with placeholders."""
        if not cells:
            return
        i, cell = next(iter(cells.items()))
        example = shortened(cell_text(cell))
        # As a text of few digits: 0.07 times 100 is 7.000000000000001.
        percent = f"{100 * cell:.12g} %" if type(cell) is Percent else ""
        number = cell.number if type(cell) is Code else cell
        address, count = self._address(i), counted(len(cells), noun)
        text = form.format(count=count, example=example, at=address, percent=percent, number=number)
        text = f"Column {self._name!r} {text}"
        notice = Notice(code, text, column=self._name, example=example, offers=offers)
        self.notices.append(notice)
