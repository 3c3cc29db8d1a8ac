"""Tables from Excel workbooks: which sheet, where the table is on it, and notices of what stands around it.

Rows and columns of a sheet count from 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.tables.excel_cells import (
    NOT_COMPUTED,
    Sheet,
    SheetRows,
    Workbook,
    cell_text,
    column_letters,
    open_workbook,
    read_column,
)
from microagg.tables.notices import (
    MISSING,
    Attempt,
    LayoutOptions,
    Notice,
    Offer,
    Reading,
    UnreadableError,
    check_cells,
    column_names,
    is_total,
    leave_out_last,
    refuse_no_records,
    ways_on,
    with_ways,
)
from microagg.validation import counted, listing, quoted, shortened

# The maximum number of sheets that are offered.
_MAX_OFFERS = 5

# Limits for previews of offers: the number of times that a workbook is read, and the total of bytes.
_MAX_ATTEMPTS, _MAX_TRIED_BYTES = 12, 1_000_000

# The number of first rows that are searched for titles and units, and of last rows for totals.
_N_FIRST, _N_LAST = 50, 10

# More blank rows, and more than records, separate a table from something else.
_MAX_BLANK = 100


@dataclass(frozen=True, kw_only=True)
class SheetOptions(LayoutOptions):
    """Options for reading a workbook (see :func:`microagg.tables.read_file`)."""

    sheet: str | None = None
    fill_merged: bool = False


class _Table(NamedTuple):
    """A table on a sheet."""

    row: int  # the row of the header
    header: dict[int, Any]  # its cells by column
    first: int  # the row of the first record
    records: list[list[Any]]  # the cells from column A on; blank rows between records are empty lists
    filled: list[int]  # the rows of records that are not blank
    columns: list[int]  # the columns with a name or a value, ascending

    def column(self, number: int) -> list[Any]:
        """Cells of a column."""
        return [_cell_at(cells, number) for cells in self.records]

    def address(self, number: int, record: int) -> str:
        """Address of a cell, such as ``B2``, in a column. Records count from 0."""
        return f"{column_letters(number)}{self.first + record}"


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
    with open_workbook(data, label) as book:
        sheet = _choose_sheet(book, label, options.sheet)
        rows = book.rows(sheet, max_cells)
    notices = _hidden_sheets(book, sheet) if options.sheet is None else []
    if not rows.numbers:
        # What Excel hides comes last.
        other_sheets = sorted((other for other in book.sheets if other != sheet), key=lambda other: other.hidden)
        advice = "choose another sheet" if other_sheets else "choose another file"
        offers = tuple(map(_offer, other_sheets[:_MAX_OFFERS]))
        raise UnreadableError(f"the sheet {sheet.title!r} of the file {label!r} is empty: {advice}.", offers)
    table = _lay_out(rows, label, options, max_cells)
    names = _column_names(table, label)
    notices += _layout_notices(rows, table, names, options)
    columns = {}
    for number, name in names.items():
        cells = table.column(number)
        _check_computed(table, cells, name, number, label)
        columns[number], further = read_column(name, cells, partial(table.address, number), options.missing)
        notices += further
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index(list(names.values()))
    return Reading(frame, tuple(notices), tuple(_applied_options(options)))


class SheetCells(NamedTuple):
    """The cells of a sheet as they were read, by column names."""

    title: str
    columns: dict[str, list[Any]]  # cells of each record, as in SheetRows
    formats: dict[str, list[str]]  # their number formats
    widths: dict[str, float]


def cells_of_sheet(data: bytes, label: str, options: SheetOptions) -> SheetCells:
    """Read the cells of a sheet again, with the errors of :func:`read_xlsx`."""
    with open_workbook(data, label) as book:
        sheet = _choose_sheet(book, label, options.sheet)
        rows = book.rows(sheet, sys.maxsize, formats=True)
    table = _lay_out(rows, label, options, sys.maxsize)
    names = _column_names(table, label)
    by_row = [rows.formats.get(table.first + i, []) for i in range(len(table.records))]
    formats = {name: [_cell_at(row, number) or "General" for row in by_row] for number, name in names.items()}
    widths = {name: w for low, high, w in rows.widths for number, name in names.items() if low <= number <= high}
    return SheetCells(sheet.title, {name: table.column(number) for number, name in names.items()}, formats, widths)


def _cell_at(cells: Sequence[Any], number: int) -> Any:
    """The cell of a row in a column, None beyond its last one."""
    return cells[number - 1] if number <= len(cells) else None


def _choose_sheet(book: Workbook, label: str, title: str | None) -> Sheet:
    """The sheet with this title, or the first one that is not hidden."""
    if not book.sheets:
        raise DataError(f"the file {label!r} has no sheet with cells: save the table in one.")
    if title is None:
        return next((sheet for sheet in book.sheets if not sheet.hidden), book.sheets[0])
    if titled := [sheet for sheet in book.sheets if sheet.title == title]:
        return titled[0]
    titles = ", ".join(repr(sheet.title) for sheet in book.sheets)
    raise ParameterError(f"the file {label!r} has no sheet {title!r}: choose one of {titles}.")


def _hidden_sheets(book: Workbook, chosen: Sheet) -> list[Notice]:
    """Notice of hidden sheets before the chosen one."""
    hidden = book.sheets[: book.sheets.index(chosen)]
    if not hidden:
        return []
    subject = f"The sheet {hidden[0].title!r} is hidden" if len(hidden) == 1 else f"{len(hidden)} sheets are hidden"
    text = f"{subject} in the file and not read; the first one that Excel shows is {chosen.title!r}."
    return [Notice("hidden-sheets", text, offers=tuple(map(_offer, hidden[:_MAX_OFFERS])))]


def _offer(sheet: Sheet) -> Offer:
    return Offer(f"Read the {'hidden ' if sheet.hidden else ''}sheet {sheet.title!r}", {"sheet": sheet.title})


# --- layout -----------------------------------------------------------------------------------------------------------


def _lay_out(rows: SheetRows, label: str, options: SheetOptions, max_cells: int) -> _Table:
    """Locate the table on a sheet. DataError or UnreadableError if it is not clear where it is, or it is too large."""
    skip_lines, skip_last = options.skip_lines, options.skip_last
    n_above = sum(number <= skip_lines for number in rows.numbers[: skip_lines + 1])
    numbers, cells = rows.numbers[n_above:], rows.cells[n_above:]
    if not numbers:
        raise DataError(f"the sheet in the file {label!r} ends before row {skip_lines + 1}: skip fewer lines.")
    _check_titles(rows, label, numbers, list(map(_by_column, cells[:_N_FIRST])), skip_lines)
    start, end = 1 + options.units_row, len(numbers) - skip_last
    if start >= end:
        refuse_no_records(label)
    first, filled = numbers[start - 1] + 1, numbers[start:end]
    _check_gaps(label, filled, first, skip_last)
    records: list[list[Any]] = [[] for _ in range(filled[-1] - first + 1)]
    for number, row in zip(filled, cells[start:end], strict=True):
        records[number - first] = row
    header = _by_column(cells[0])
    used = set(header).union(*map(_by_column, records))
    check_cells(len(records), len(used), max_cells, label)
    table = _Table(numbers[0], header, first, records, filled, sorted(used))
    if options.fill_merged:
        for _, value, blank in _merged(rows, table):
            for row, number in blank:
                row += [None] * (number - len(row))
                row[number - 1] = value
    return table


def _by_column(cells: Sequence[Any]) -> dict[int, Any]:
    return {number: cell for number, cell in enumerate(cells, start=1) if cell is not None}


def _merged(rows: SheetRows, table: _Table) -> Iterator[tuple[str, Any, list[tuple[list[Any], int]]]]:
    """Yield merged ranges among the records: address, value, and the row and the column of each blank cell."""
    last = table.first + len(table.records) - 1
    for left, top, right, bottom in rows.merged:
        if not table.first <= top <= last:
            continue
        value = _cell_at(table.records[top - table.first], left)
        blank = [
            (cells, number)
            for cells in table.records[top - table.first : bottom - table.first + 1]
            for number in table.columns
            if left <= number <= right and _cell_at(cells, number) is None
        ]
        if value is not None and blank:
            yield f"{column_letters(left)}{top}:{column_letters(right)}{min(bottom, last)}", value, blank


def _check_titles(
    rows: SheetRows, label: str, numbers: Sequence[int], first_rows: Sequence[Mapping[int, Any]], skip_lines: int
) -> None:
    """Refuse a title or merged names instead of a header."""
    header, row = first_rows[0], numbers[0]
    below = {number for cells in first_rows[1:] for number in cells}
    span = [
        f"{column_letters(left)}{top}:{column_letters(right)}{bottom}"
        for left, top, right, bottom in rows.merged
        if top <= row <= bottom and left in header and sum(left <= number <= right for number in below) > 1
    ]
    # The first of the widest rows, if it has a different text in each column.
    width = max(map(len, first_rows))
    i = next(i for i, cells in enumerate(first_rows) if len(cells) == width)
    texts = {cell for cell in first_rows[i].values() if type(cell) is str}
    if len(texts) < width or (width < 2 and not span):
        i = 0
    n_above = numbers[i] - 1
    offers = (Offer(f"Skip {counted(n_above, 'line')} above the header", {"skip_lines": n_above}),) if i else ()
    if span:
        raise UnreadableError(
            f"in the file {label!r}, the cells {span[0]} are merged where the names of the columns should be: skip the "
            "lines above the header, or write a name into each column.",
            offers,
        )
    # A choice of the user is not questioned.
    if not i or skip_lines:
        return
    is_sparse = all(2 * len(cells) <= width for cells in first_rows[:i])
    is_separate = numbers[i] - row > i and all(len(cells) < width for cells in first_rows[:i])
    if min(header) == min(first_rows[i]) and (is_sparse or is_separate):
        title = str(next(iter(header.values())))
        raise UnreadableError(
            f"the file {label!r} seems to have a title above its header, {shortened(title)!r} in row {row}, while row "
            f"{numbers[i]} has the names: skip the lines above the header, or write a name into each column of row "
            f"{row}.",
            offers,
        )


def _check_gaps(label: str, filled: Sequence[int], first: int, skipped: int) -> None:
    """Refuse records far below the others, which would mean very many blank records."""
    steps = np.diff(filled, prepend=first - 1) - 1
    if steps.sum() <= max(_MAX_BLANK, len(filled)):
        return
    i = int(steps.argmax())
    n_last = len(filled) - i
    offers = (leave_out_last(n_last, "row", skipped),) if i and n_last <= _N_LAST else ()
    raise UnreadableError(
        f"in the file {label!r}, {counted(int(steps[i]), 'blank row')} stand between row "
        f"{filled[i - 1] if i else first - 1} and row {filled[i]}: delete what does not belong to the table, or the "
        "blank rows.",
        offers,
    )


def _layout_notices(
    rows: SheetRows, table: _Table, names: Mapping[int, str], options: SheetOptions
) -> Iterator[Notice]:
    """Yield notices of units, totals, and of blank, hidden and merged cells."""
    if not options.units_row:
        yield from _units_row(table)
    yield from _last_rows(table, options.skip_last)
    blank = [table.first + i for i, cells in enumerate(table.records) if not cells]
    # In a table with one column, they can be nothing but missing values.
    if blank and len(table.columns) > 1:
        text = f"{counted(len(blank), 'blank row')} between records, from row {blank[0]} on"
        yield Notice("blank-rows", f"{text}: read as records without values.")
    if hidden := sorted(rows.hidden_rows.intersection(table.filled)):
        text = f"{counted(len(hidden), 'hidden row')}, from row {hidden[0]} on: read like the others."
        yield Notice("hidden-rows", text)
    spans = rows.hidden_columns
    if hidden_names := [name for j, name in names.items() if any(low <= j <= high for low, high in spans)]:
        yield Notice("hidden-columns", f"Hidden in the file, and read like the others: {quoted(hidden_names)}.")
    if merged := [] if options.fill_merged else list(_merged(rows, table)):
        count = sum(len(cells) for _, _, cells in merged)
        place = "a merged range" if len(merged) == 1 else f"{len(merged):,} merged ranges"
        text = f"{counted(count, 'cell')} of records {'is' if count == 1 else 'are'} blank because the file has their "
        text += f"value only once, in {place} such as {merged[0][0]}: read as missing."
        offer = Offer("Fill merged cells with their value", {"fill_merged": True})
        yield Notice("merged-cells", text, offers=(offer,))


def _units_row(table: _Table) -> Iterator[Notice]:
    """Yield a notice if the first record has text where all others have numbers, and no number."""
    first = _by_column(table.records[0])
    if any(type(cell) is not str or cell in MISSING for cell in first.values()):
        return
    records = list(map(_by_column, table.records[1:_N_FIRST]))
    units = []
    for number, unit in first.items():
        below = [cells[number] for cells in records if number in cells]
        if len(below) > 1 and all(isinstance(cell, (int, float)) and cell is not True for cell in below):
            units.append(repr(shortened(unit)))
    if units:
        text = f"Row {table.first} has text where the records below have numbers, such as units: {listing(units, 3)}."
        offer = Offer(f"Leave out row {table.first}", {"units_row": True})
        yield Notice("units-row", text, offers=(offer,))


def _last_rows(table: _Table, skipped: int) -> Iterator[Notice]:
    """Yield a notice on notes below the table, or totals."""
    ends = [_by_column(table.records[number - table.first]) for number in table.filled[-_N_LAST:]]
    first_column, n_notes = table.columns[0], 0
    while n_notes < len(ends) - 1 and len(table.columns) > 2 and set(ends[-1 - n_notes]) == {first_column}:
        if type(ends[-1 - n_notes][first_column]) is not str:
            break
        n_notes += 1
    total = next((cell for cell in ends[-1 - n_notes].values() if type(cell) is str and is_total(cell)), None)
    count = n_notes + (total is not None)
    if count and count < len(table.filled):
        example = total if total is not None else str(ends[-n_notes][first_column])
        kind = "a total" if total is not None else "a note below the table"
        text = f"Row {table.filled[-count]} seems to be {kind}, not a record: {shortened(example)!r}."
        yield Notice("last-records", text, offers=(leave_out_last(count, "row", skipped),))


def _applied_options(options: SheetOptions) -> Iterator[Notice]:
    """Yield notices of the rows that the options left out and the cells they filled in."""
    if options.skip_lines:
        yield Notice("skipped", f"Left out above the header: {counted(options.skip_lines, 'row')}.")
    if options.units_row:
        yield Notice("units", "The row of units below the header was left out.")
    if options.skip_last:
        yield Notice("last", f"Left out at the end: {counted(options.skip_last, 'row')}.")
    if options.fill_merged:
        yield Notice("merged", "All cells of a merged range have its value.")


# --- columns ----------------------------------------------------------------------------------------------------------


def _column_names(table: _Table, label: str) -> dict[int, str]:
    for number, cell in table.header.items():
        if cell is NOT_COMPUTED:
            raise DataError(
                f"in the file {label!r}, the column name in {column_letters(number)}{table.row} is a formula "
                "without a computed value: open the file in Excel and save it, then the value is there."
            )
    texts = {number: cell_text(cell) for number, cell in table.header.items()}
    names = column_names([(number, texts.get(number)) for number in table.columns], label)
    return dict(zip(table.columns, names, strict=True))


def _check_computed(table: _Table, cells: list[object], name: str, number: int, label: str) -> None:
    uncomputed = [i for i, cell in enumerate(cells) if cell is NOT_COMPUTED]
    if uncomputed:
        raise DataError(
            f"column {name!r} of the file {label!r} has {counted(len(uncomputed), 'formula')} without a computed "
            f"value, the first in {table.address(number, uncomputed[0])}: open the file in Excel and save it, then the "
            "values are there."
        )
