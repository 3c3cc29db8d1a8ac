"""Tables from Excel workbooks: the sheet, its columns, and notices of cells that show something else."""

from __future__ import annotations

import datetime as dt
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.tables.excel_cells import (
    NOT_COMPUTED,
    Code,
    Fault,
    Percent,
    Sheet,
    Workbook,
    column_letters,
    open_workbook,
)
from microagg.tables.excel_layout import SheetOptions, SheetTable, applied_options, lay_out, notices_of
from microagg.tables.lossless import EXACT_WHOLE, clock, texts, whole_numbers
from microagg.tables.notices import (
    MISSING,
    Attempt,
    Notice,
    Offer,
    Reading,
    UnreadableError,
    column_names,
    leave_out_last,
    ways_on,
    with_ways,
)
from microagg.validation import counted, listing, shortened

# The smallest whole number of 16 digits, of which Excel keeps 15.
_TOO_MANY_DIGITS = 10**15

# Nouns for cells, singular and plural.
_KINDS = {
    int: ("number", "numbers"),
    float: ("number", "numbers"),
    Percent: ("number", "numbers"),
    Code: ("code", "codes"),
    bool: ("TRUE or FALSE", "cells with TRUE or FALSE"),
    dt.datetime: ("date", "dates"),
    dt.time: ("time of day", "times of day"),
    dt.timedelta: ("duration", "durations"),
    str: ("text", "texts"),
}

# The maximum number of sheets offered instead of an unreadable one.
_MAX_OFFERS = 5

# The maximum number of totals at the end.
_MAX_TOTALS = 3

# Limits for previews of offers: the number of times that a workbook is read, and the total of bytes.
_MAX_ATTEMPTS, _MAX_TRIED_BYTES = 12, 1_000_000


def read_xlsx(data: bytes, label: str, options: SheetOptions, max_cells: int) -> Reading:
    """Read a sheet of a workbook (see :func:`microagg.tables.read_file`)."""
    attempt = Attempt(
        lambda further: _read_sheet(data, label, replace(options, **further), max_cells),
        whole=True,
        left=min(_MAX_ATTEMPTS, _MAX_TRIED_BYTES // len(data)),
    )
    try:
        reading = _read_sheet(data, label, options, max_cells)
    except UnreadableError as error:
        # Offers that are too large for a preview are still made.
        ways = ways_on(error.offers, attempt, error.trouble) or error.offers
        raise UnreadableError(str(error), ways, error.lines) from None
    return replace(reading, notices=with_ways(reading.notices, attempt))


def _read_sheet(data: bytes, label: str, options: SheetOptions, max_cells: int) -> Reading:
    """Read a sheet of a workbook with the options, without previews of offers."""
    notices: list[Notice] = []
    with open_workbook(data, label) as book:
        sheet = _choose_sheet(book, label, options.sheet, notices)
        rows = book.rows(sheet, max_cells)
    if not rows.numbers:
        # What Excel hides comes last.
        other_sheets = sorted((other for other in book.sheets if other != sheet), key=lambda other: other.hidden)
        advice = "choose another sheet" if other_sheets else "choose another file"
        offers = tuple(_offer(other) for other in other_sheets[:_MAX_OFFERS])
        raise UnreadableError(f"the sheet {sheet.title!r} of the file {label!r} is empty: {advice}.", offers)
    table = lay_out(rows, label, options, max_cells)
    names = _column_names(table, label)
    notices += notices_of(rows, table, names, options)
    columns = {}
    for number, name in names.items():
        cells = table.column(number)
        _check_computed(table, cells, name, number, label)
        column = _Column(name, cells, partial(table.address, number))
        column.leave_out(options.missing)
        columns[number] = pd.Series(column.read())
        notices += column.notices
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(list(names.values()))
    return Reading(frame, tuple(notices), tuple(applied_options(options)))


class SheetCells(NamedTuple):
    """The cells of a sheet as they were read, by column names."""

    title: str
    columns: dict[str, list[Any]]  # cells of each record, as in SheetRows
    formats: dict[str, list[str]]  # their number formats
    widths: dict[str, float]


def cells_of_sheet(data: bytes, label: str, options: SheetOptions) -> SheetCells:
    """Read the cells of a sheet again, with the errors of :func:`read_xlsx`."""
    with open_workbook(data, label) as book:
        sheet = _choose_sheet(book, label, options.sheet, [])
        rows = book.rows(sheet, sys.maxsize, formats=True)
        table = lay_out(rows, label, options, sys.maxsize)
        names = _column_names(table, label)
        list(notices_of(rows, table, names, options))  # which fills merged cells in
    by_row = [rows.formats.get(table.first + i, []) for i in range(len(table.records))]
    formats = {
        name: [row[number - 1] if number <= len(row) else "General" for row in by_row] for number, name in names.items()
    }
    widths = {name: w for low, high, w in rows.survey.widths for number, name in names.items() if low <= number <= high}
    return SheetCells(sheet.title, {name: table.column(number) for number, name in names.items()}, formats, widths)


def _choose_sheet(book: Workbook, label: str, title: str | None, notices: list[Notice]) -> Sheet:
    """The sheet with this title, or the first one that is not hidden."""
    if not book.sheets:
        raise DataError(f"the file {label!r} has no sheet with cells: save the table in one.")
    if title is not None:
        if titled := [sheet for sheet in book.sheets if sheet.title == title]:
            return titled[0]
        titles = ", ".join(repr(sheet.title) for sheet in book.sheets)
        raise ParameterError(f"the file {label!r} has no sheet {title!r}: choose one of {titles}.")
    chosen = next((sheet for sheet in book.sheets if not sheet.hidden), book.sheets[0])
    hidden = book.sheets[: book.sheets.index(chosen)]
    if hidden:
        subject = f"The sheet {hidden[0].title!r} is hidden" if len(hidden) == 1 else f"{len(hidden)} sheets are hidden"
        text = f"{subject} in the file and not read; the first one that Excel shows is {chosen.title!r}."
        offers = tuple(_offer(sheet) for sheet in hidden[:_MAX_OFFERS])
        notices.append(Notice("hidden-sheets", text, count=len(hidden), example=hidden[0].title, offers=offers))
    return chosen


def _offer(sheet: Sheet) -> Offer:
    return Offer(f"Read the {'hidden ' if sheet.hidden else ''}sheet {sheet.title!r}", {"sheet": sheet.title})


def _column_names(table: SheetTable, label: str) -> dict[int, str]:
    for number, cell in table.header.items():
        if cell is NOT_COMPUTED:
            raise DataError(
                f"in the file {label!r}, the column name in {column_letters(number)}{table.row} is a formula "
                "without a computed value: open the file in Excel and save it, then the value is there."
            )
    texts = {number: _cell_text(cell) for number, cell in table.header.items()}
    names = column_names([(number, texts.get(number)) for number in table.columns], label)
    return dict(zip(table.columns, names, strict=True))


def _check_computed(table: SheetTable, cells: list[object], name: str, number: int, label: str) -> None:
    uncomputed = [i for i, cell in enumerate(cells) if cell is NOT_COMPUTED]
    if not uncomputed:
        return
    # Often only a row of totals has formulas.
    n_last = sum(row >= table.first + uncomputed[0] for row in table.filled)
    are_totals = n_last <= _MAX_TOTALS and n_last < len(table.filled)
    offers = (leave_out_last(n_last, "row", table.skip_last),) if are_totals else ()
    raise UnreadableError(
        f"column {name!r} of the file {label!r} has {counted(len(uncomputed), 'formula')} without a computed value, "
        f"the first in {table.address(number, uncomputed[0])}: open the file in Excel and save it, then the values are "
        "there.",
        offers,
    )


def _cell_text(cell: Any) -> str:
    """Text of a cell in a column that becomes text."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, Code):
        return cell.text
    if isinstance(cell, dt.datetime):
        return str(cell.date()) if cell.time() == dt.time() else f"{cell.date()} {_cell_text(cell.time())}"
    if isinstance(cell, dt.time):
        return cell.isoformat("milliseconds" if cell.microsecond else "seconds")
    if isinstance(cell, dt.timedelta):
        return clock(cell.total_seconds())
    # Excel does not distinguish 2.0 from 2.
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _TOO_MANY_DIGITS else float.__repr__(cell)
    return str(cell)


class _Column:
    """The cells of a column, and notices on them. ``address`` is the address of a record's cell, such as ``B2``."""

    def __init__(self, name: str, cells: list[Any], address: Callable[[int], str]) -> None:
        self.notices: list[Notice] = []
        self._name, self._cells, self._address = name, cells, address

    def leave_out(self, missing: Sequence[str]) -> None:
        """Remove missing values, among them the texts ``missing``, with a notice if they may be values."""
        types = set(map(type, self._cells))
        if Fault in types:
            self._without(lambda cell: type(cell) is Fault and cell == "#N/A")
            faults = self._without(lambda cell: type(cell) is Fault)
            self._say("errors", faults, "has {count} of Excel, such as {example} in {at}: read as missing.", "error")
        if str not in types:
            return
        absent_words = (*MISSING, *missing)
        # Among numbers, NA is always a missing value; among texts, it may be Namibia.
        others = any(cell is not None and type(cell) is not str for cell in self._cells)
        if others and not self._find(lambda cell: type(cell) is str and not (cell.isspace() or cell in absent_words)):
            self._without(lambda cell: type(cell) is str and cell in absent_words)
            self._without(lambda cell: type(cell) is str)
            return
        absent = self._without(lambda cell: type(cell) is str and cell in missing)
        text = "has {count} with a text that stands for a missing value, such as {example!r} in {at}: read as missing, "
        text += "though it may be a name or a code, as NA is for Namibia."
        words = set(absent.values())
        offer = Offer(f"Take {', '.join(sorted(words))} as text", {"missing": [w for w in missing if w not in words]})
        self._say("missing-words", absent, text, "cell", offer)

    def read(self) -> Any:
        """The n values, None if missing."""
        types = {type(cell) for cell in self._cells if cell is not None}
        if types <= {int, float, Percent}:
            return self._numbers()
        if types <= {int, float, Percent, Code}:
            codes = self._find(lambda cell: type(cell) is Code)
            text = "shows {count} with leading zeros, such as {example} for {number} in {at}: "
            self._say("leading-zeros", codes, f"{text}the column is kept as the text that is shown.", "number")
        elif types == {dt.datetime}:
            return np.array([np.datetime64("NaT") if cell is None else cell for cell in self._cells], dtype="M8[us]")
        elif types == {str}:
            return texts(self._cells)
        elif types == {bool}:
            return self._cells if None in self._cells else np.array(self._cells, dtype=bool)
        else:
            kinds = Counter(_KINDS[type(cell)] for cell in self._cells if cell is not None).most_common()
            counts = listing([f"{count:,} {singular if count == 1 else plural}" for (singular, plural), count in kinds])
            rarest = self._find(lambda cell: cell is not None and _KINDS[type(cell)] == kinds[-1][0])
            if len(kinds) > 1:
                self._say("mixed", rarest, f"has {counts}, such as {{example!r}} in {{at}}: all are kept as text.")
            else:  # times of day or durations
                code = kinds[0][0][1].partition(" ")[0]
                self._say(code, rarest, f"has {counts}, such as {{example}} in {{at}}: kept as text.")
        return self._texts()

    def _numbers(self) -> Any:
        cells = self._cells
        if any(type(cell) is float and not np.isfinite(cell) for cell in cells):
            raise DataError(f"column {self._name!r} holds a number that is too large: make it smaller, or a text.")
        # Zeros last: they are no good example.
        percents = dict(sorted(self._find(lambda cell: type(cell) is Percent).items(), key=lambda item: not item[1]))
        text = "has {count} shown as a percentage, such as {percent} in {at}, which is read as {example}."
        self._say("percent", percents, text, "number")
        long = self._find(lambda cell: type(cell) is int and abs(cell) >= _TOO_MANY_DIGITS)
        present = [cell for cell in cells if cell is not None]
        whole = all(type(cell) is int for cell in present) and all(-(2**63) <= cell < 2**63 for cell in long.values())
        exact = whole or all(abs(cell) <= EXACT_WHOLE for cell in long.values())
        text = "has {count} of 16 digits or more, such as {example} in {at}"
        if not exact:
            text += ": the column is kept as text, because a column of numbers would change some of them"
        text += "; Excel itself keeps 15 digits, so the last ones of codes may be lost in the file already."
        self._say("long-numbers", long, text, "whole number")
        if not exact:
            return self._texts()
        if whole and present:
            values = np.array([cell or 0 for cell in cells], dtype=np.int64)
            return whole_numbers(values, np.array([cell is None for cell in cells]))
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)

    def _texts(self) -> pd.Series[Any]:
        return texts([cell if cell is None or type(cell) is str else _cell_text(cell) for cell in self._cells])

    def _find(self, fits: Callable[[Any], bool]) -> dict[int, Any]:
        return {i: cell for i, cell in enumerate(self._cells) if fits(cell)}

    def _without(self, fits: Callable[[Any], bool]) -> dict[int, Any]:
        """Make cells missing, and return them by record."""
        removed = self._find(fits)
        if removed:
            self._cells = [None if i in removed else cell for i, cell in enumerate(self._cells)]
        return removed

    def _say(self, code: str, cells: dict[int, Any], form: str, noun: str = "cell", *offers: Offer) -> None:
        """Add a notice about cells, by record, if there are any. ``form`` is its text with placeholders."""
        if not cells:
            return
        i, cell = next(iter(cells.items()))
        example = shortened(_cell_text(cell))
        # As a text of few digits: 0.07 times 100 is 7.000000000000001.
        percent = f"{100 * cell:.12g} %" if type(cell) is Percent else ""
        number = cell.number if type(cell) is Code else cell
        address, count = self._address(i), counted(len(cells), noun)
        text = form.format(count=count, example=example, at=address, percent=percent, number=number)
        text = f"Column {self._name!r} {text}"
        notice = Notice(code, text, column=self._name, count=len(cells), example=example, offers=offers)
        self.notices.append(notice)
