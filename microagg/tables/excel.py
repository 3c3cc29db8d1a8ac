"""Tables from Excel workbooks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.tables.checks import MISSING, check_cells, column_names
from microagg.tables.excel_cells import Cells, Column, NotComputed, letters_of, read_cells
from microagg.tables.excel_columns import Rules, Taken, cell_text, read_column
from microagg.tables.excel_layout import Layout, lay_out, notices_of, skip_last_offer
from microagg.tables.excel_merged import Merged, merged_cells
from microagg.tables.excel_parts import Sheet, Workbook, open_workbook
from microagg.tables.notices import Notice, Offer, Reading, UnreadableError
from microagg.validation import counted, is_whole

# How many sheets are offered in place of one that cannot be read.
_MOST_OFFERS = 5

# How many rows at the end may be totals.
_MOST_TOTALS = 3

# Text is copied into the table, which grows in steps, beside the texts of the file.
_COPIES = 2.5


@dataclass(frozen=True)
class SheetOptions:
    """How a workbook is read; see :func:`microagg.tables.read_file`."""

    sheet: str | None = None
    skip_lines: int = 0
    skip_last: int = 0
    units_row: bool = False
    fill_merged: bool = False
    missing: Sequence[str] = MISSING

    def __post_init__(self) -> None:
        for name in ("skip_lines", "skip_last"):
            value = getattr(self, name)
            if not is_whole(value) or value < 0:
                raise ParameterError(f"{name} must be a whole number of at least 0, not {value!r}.")


def read_xlsx(data: bytes, label: str, options: SheetOptions, max_cells: int) -> Reading:
    """Return a sheet of a workbook; see :func:`microagg.tables.read_file`."""
    notices: list[Notice] = []
    with open_workbook(data, label) as book:
        sheet = _chosen(book, label, options.sheet, notices)
        rules = Rules(book.formats(), book.from_1904, frozenset(options.missing))
        cells = read_cells(book, sheet, max_cells)
    if not cells.filled:
        _refuse_empty(book, sheet, label)
    layout = lay_out(cells, label, options.skip_lines, options.skip_last, options.units_row)
    check_cells(layout.records, len(layout.columns), max_cells, label)
    merged = merged_cells(cells, layout, book.meter)
    book.meter.check(_frame_bytes(cells, layout, merged if options.fill_merged else Merged()))
    names = _names(cells, layout, rules, label)
    notices += notices_of(cells, layout, names, units_row=options.units_row)
    if not options.fill_merged:
        notices += [notice] if (notice := merged.notice()) else []
        merged = Merged()
    if book.recalculates:
        notices += _zeros(cells, names)
    columns = {}
    for number in layout.columns:
        taken = _taken(cells.columns.pop(number), layout, number, names[number], merged.columns.get(number))
        _refuse_not_computed(taken, layout, label)
        columns[number], said = read_column(taken, layout.first, layout.records, rules)
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
        notices.append(Notice("hidden_sheets", text, "", len(before), before[0].title, offers))
    return chosen


def _refuse_empty(book: Workbook, sheet: Sheet, label: str) -> NoReturn:
    others = [other for other in book.sheets if other != sheet]
    advice = "choose another sheet" if others else "choose another file"
    offers = tuple(_offer(other) for other in others[:_MOST_OFFERS])
    raise UnreadableError(f"the sheet {sheet.title!r} of the file {label!r} is empty: {advice}.", offers)


def _offer(sheet: Sheet) -> Offer:
    return Offer(f"Read the sheet {sheet.title!r}", {"sheet": sheet.title})


def _names(cells: Cells, layout: Layout, rules: Rules, label: str) -> dict[int, str]:
    """Return the names of the columns by their numbers in the sheet."""
    header: dict[int, Any] = {}
    for number in layout.columns:
        column = cells.columns[number]
        i = bisect_left(column.rows, layout.header)
        if i < len(column.rows) and column.rows[i] == layout.header:
            cell, style = column.cells[i], rules.format(column.styles[i])
            if isinstance(cell, NotComputed):
                raise DataError(
                    f"in the file {label!r}, the column name in {letters_of(number)}{layout.header} is a formula "
                    "without a computed value: open the file in Excel and save it, then the value is there."
                )
            header[number] = cell_text(cell, style, rules.from_1904)
    found = column_names([(number, header.get(number)) for number in layout.columns], label)
    return dict(zip(layout.columns, found, strict=True))


def _taken(column: Column, layout: Layout, number: int, name: str, fills: Column | None) -> Taken:
    """Return the cells of a column that belong to records, with those that are filled in at the end."""
    part = slice(bisect_left(column.rows, layout.first), bisect_right(column.rows, layout.last))
    rows, styles, values = column.rows[part], column.styles[part], column.cells[part]
    if fills is not None:
        rows, styles, values = rows + fills.rows, styles + fills.styles, values + fills.cells
    return Taken(name, number, np.array(rows, dtype=np.int64), values, np.array(styles, dtype=np.int64))


def _refuse_not_computed(taken: Taken, layout: Layout, label: str) -> None:
    lacking = [i for i, cell in enumerate(taken.cells) if isinstance(cell, NotComputed)]
    if not lacking:
        return
    # A row of totals is often all that is computed.
    rest = int((layout.filled >= taken.rows[lacking[0]]).sum())
    offers = (skip_last_offer(rest),) if rest <= _MOST_TOTALS and rest < len(layout.filled) else ()
    raise UnreadableError(
        f"column {taken.name!r} of the file {label!r} has {counted(len(lacking), 'formula')} without a computed value, "
        f"the first in {taken.at(lacking[0])}: open the file in Excel and save it, then the values are there.",
        offers,
    )


def _zeros(cells: Cells, names: dict[int, str]) -> Iterator[Notice]:
    """Say where a program that computes nothing may have written 0 as the result of every formula."""
    for number, name in names.items():
        column = cells.columns[number]
        if column.formulas and column.formulas == column.zeros:
            text = f"Column {name!r} has {counted(column.formulas, 'formula')} with no result but 0, and the file asks "
            text += "Excel to compute them anew: open it in Excel and save it if they should not be 0."
            yield Notice("formula_zeros", text, name, column.formulas, "0")


def _frame_bytes(cells: Cells, layout: Layout, merged: Merged) -> int:
    """Return how much memory the table takes while it is made, beside its cells."""
    sizes: dict[str, int] = {}
    text = 0
    for number in layout.columns:
        fills = merged.columns.get(number, Column()).cells
        for cell in (*cells.columns[number].cells, *fills):
            if type(cell) is str:
                size = sizes.get(cell)
                if size is None:
                    size = sizes[cell] = len(cell) if cell.isascii() else len(cell.encode("utf-8", "surrogatepass"))
                text += size
    return int(_COPIES * text) + 24 * layout.records * len(layout.columns)
