"""Tables from Excel workbooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.tables.checks import column_names
from microagg.tables.ends import leave_out_last
from microagg.tables.excel_cells import NOT_COMPUTED, Rows, Sheet, Workbook, letters_of, open_workbook
from microagg.tables.excel_columns import cell_text, read_column
from microagg.tables.excel_layout import Table, lay_out, merged_cells, notices_of
from microagg.tables.notices import Notice, Offer, Reading, UnreadableError
from microagg.tables.options import LayoutOptions
from microagg.validation import counted

# How many sheets are offered in place of one that cannot be read.
_MOST_OFFERS = 5

# How many rows at the end may be totals.
_MOST_TOTALS = 3


@dataclass(frozen=True, kw_only=True)
class SheetOptions(LayoutOptions):
    """How a workbook is read; see :func:`microagg.tables.read_file`."""

    sheet: str | None = None
    fill_merged: bool = False


def read_xlsx(data: bytes, label: str, options: SheetOptions, max_cells: int) -> Reading:
    """Return a sheet of a workbook; see :func:`microagg.tables.read_file`."""
    notices: list[Notice] = []
    with open_workbook(data, label) as book:
        sheet = _chosen(book, label, options.sheet, notices)
        rows = book.rows(sheet, max_cells)
        from_1904, recalculates = book.from_1904, book.recalculates
    if not rows.numbers:
        _refuse_empty(book, sheet, label)
    table = lay_out(rows, label, options.skip_lines, options.skip_last, options.units_row, max_cells)
    names = _names(table, label)
    notices += notices_of(rows, table, names, units_row=options.units_row)
    if merged := merged_cells(rows, table, fill=options.fill_merged):
        notices.append(merged)
    if recalculates:
        notices += _zeros(rows, names)
    columns = {}
    for number, name in names.items():
        cells = table.column(number)
        _refuse_not_computed(table, cells, name, number, label)
        address = partial(table.address, number)
        columns[number], said = read_column(name, cells, address, tuple(options.missing), from_1904)
        notices += said
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(list(names.values()))
    return Reading(frame, tuple(notices))


def sheets_of(data: bytes, label: str, *, hidden: bool | None = None) -> list[str]:
    """Return the names of the sheets of a workbook, of those only that are ``hidden`` or not if that is given."""
    with open_workbook(data, label) as book:
        return [sheet.title for sheet in book.sheets if hidden is None or sheet.hidden == hidden]


def _chosen(book: Workbook, label: str, title: str | None, notices: list[Notice]) -> Sheet:
    """Return the sheet that is read: the one with this title, or the first one that is not hidden."""
    if not book.sheets:
        raise DataError(f"the file {label!r} has no sheet with cells: save the table in one.")
    if title is not None:
        for sheet in book.sheets:
            if sheet.title == title:
                return sheet
        listed = ", ".join(repr(sheet.title) for sheet in book.sheets)
        raise ParameterError(f"the file {label!r} has no sheet {title!r}: choose one of {listed}.")
    chosen = next((sheet for sheet in book.sheets if not sheet.hidden), book.sheets[0])
    before = book.sheets[: book.sheets.index(chosen)]
    if before:
        one = f"The sheet {before[0].title!r} is hidden" if len(before) == 1 else f"{len(before)} sheets are hidden"
        text = f"{one} in the file and not read; the first one that Excel shows is {chosen.title!r}."
        offers = tuple(_offer(sheet) for sheet in before[:_MOST_OFFERS])
        notices.append(Notice("hidden-sheets", text, "", len(before), before[0].title, offers))
    return chosen


def _refuse_empty(book: Workbook, sheet: Sheet, label: str) -> NoReturn:
    # What Excel hides comes last.
    others = sorted((other for other in book.sheets if other != sheet), key=lambda other: other.hidden)
    advice = "choose another sheet" if others else "choose another file"
    offers = tuple(_offer(other) for other in others[:_MOST_OFFERS])
    raise UnreadableError(f"the sheet {sheet.title!r} of the file {label!r} is empty: {advice}.", offers)


def _offer(sheet: Sheet) -> Offer:
    return Offer(f"Read the {'hidden ' if sheet.hidden else ''}sheet {sheet.title!r}", {"sheet": sheet.title})


def _names(table: Table, label: str) -> dict[int, str]:
    """Return the names of the columns by their numbers in the sheet."""
    for number, cell in table.header.items():
        if cell is NOT_COMPUTED:
            raise DataError(
                f"in the file {label!r}, the column name in {letters_of(number)}{table.row} is a formula "
                "without a computed value: open the file in Excel and save it, then the value is there."
            )
    texts = {number: cell_text(cell) for number, cell in table.header.items()}
    found = column_names([(number, texts.get(number)) for number in table.columns], label)
    return dict(zip(table.columns, found, strict=True))


def _refuse_not_computed(table: Table, cells: list[object], name: str, number: int, label: str) -> None:
    lacking = [i for i, cell in enumerate(cells) if cell is NOT_COMPUTED]
    if not lacking:
        return
    # A row of totals is often all that is computed.
    rest = sum(row >= table.first + lacking[0] for row in table.filled)
    offers = (
        (leave_out_last(rest, "row", table.skip_last),) if rest <= _MOST_TOTALS and rest < len(table.filled) else ()
    )
    raise UnreadableError(
        f"column {name!r} of the file {label!r} has {counted(len(lacking), 'formula')} without a computed value, "
        f"the first in {table.address(number, lacking[0])}: open the file in Excel and save it, then the values are "
        "there.",
        offers,
    )


def _zeros(rows: Rows, names: dict[int, str]) -> Iterator[Notice]:
    """Say where a program that computes nothing may have written 0 as the result of every formula."""
    for number, name in names.items():
        formulas = rows.survey.formulas.get(number, 0)
        if formulas and formulas == rows.survey.zeros.get(number):
            text = f"Column {name!r} has {counted(formulas, 'formula')} with no result but 0, and the file asks "
            text += "Excel to compute them anew: open it in Excel and save it if they should not be 0."
            yield Notice("formula-zeros", text, name, formulas, "0")
