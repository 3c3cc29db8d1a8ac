"""The layout of a table on a sheet: its header, its records, and other rows and columns around and between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from microagg.errors import DataError
from microagg.tables.excel_cells import SheetRows, column_letters
from microagg.tables.notices import (
    MISSING,
    LayoutOptions,
    Notice,
    Offer,
    UnreadableError,
    check_cells,
    is_total,
    leave_out_last,
    refuse_no_records,
)
from microagg.validation import counted, listing, quoted, shortened

# The number of first rows that are searched for titles and units, and of last rows for totals.
_N_FIRST, _N_LAST = 50, 10

# More blank rows, and more than records, separate a table from something else.
_MAX_BLANK = 100


@dataclass(frozen=True, kw_only=True)
class SheetOptions(LayoutOptions):
    """Options for reading a workbook (see :func:`microagg.tables.read_file`)."""

    sheet: str | None = None
    fill_merged: bool = False


class SheetTable(NamedTuple):
    """A table on a sheet. Rows and columns count from 1."""

    row: int  # the row of the header
    header: dict[int, Any]  # its cells by column
    first: int  # the row of the first record
    records: list[list[Any]]  # the cells from column A on; blank rows between records are empty lists
    filled: list[int]  # the rows of records that are not blank
    columns: list[int]  # the columns with a name or a value, ascending
    skip_last: int  # the number of omitted rows below the records

    def column(self, number: int) -> list[Any]:
        """Cells of a column."""
        return [cells[number - 1] if number <= len(cells) else None for cells in self.records]

    def address(self, number: int, record: int) -> str:
        """Address of a cell, such as ``B2``, in a column. Records count from 0."""
        return f"{column_letters(number)}{self.first + record}"


def lay_out(rows: SheetRows, label: str, options: SheetOptions, max_cells: int) -> SheetTable:
    """Locate the table on a sheet, with the ``options`` on rows that are not records.

    DataError if no records are left, or there are too many cells; UnreadableError if there is a title, or names merged
    over several columns, instead of the header, or hundreds of blank rows among the records.
    """
    skip_lines, skip_last = options.skip_lines, options.skip_last
    n_above = sum(number <= skip_lines for number in rows.numbers[: skip_lines + 1])
    numbers, cells = rows.numbers[n_above:], rows.cells[n_above:]
    if not numbers:
        raise DataError(f"the sheet in the file {label!r} ends before row {skip_lines + 1}: skip fewer lines.")
    _check_titles(rows, label, numbers, [_by_column(row) for row in cells[:_N_FIRST]], skip_lines)
    start = 1 + int(options.units_row)
    end = len(numbers) - skip_last
    if start >= end:
        refuse_no_records(label)
    first, filled = numbers[start - 1] + 1, numbers[start:end]
    _check_gaps(label, filled, first, skip_last)
    records: list[list[Any]] = [[] for _ in range(filled[-1] - first + 1)]
    for number, row in zip(filled, cells[start:end], strict=True):
        records[number - first] = row
    header = _by_column(cells[0])
    used = set(header).union(*(_by_column(row) for row in records))
    check_cells(len(records), len(used), max_cells, label)
    return SheetTable(numbers[0], header, first, records, filled, sorted(used), skip_last)


def notices_of(rows: SheetRows, table: SheetTable, names: Mapping[int, str], options: SheetOptions) -> Iterator[Notice]:
    """Yield notices on the layout, and fill merged cells if the options require it."""
    if not options.units_row:
        yield from _units_row(table)
    yield from _last_rows(table)
    blank = [table.first + i for i, cells in enumerate(table.records) if not cells]
    # In a table with one column, they can be nothing but missing values.
    if blank and len(table.columns) > 1:
        text = f"{counted(len(blank), 'blank row')} between records, from row {blank[0]} on: "
        text += "read as records without values."
        yield Notice("blank-rows", text, count=len(blank), example=f"row {blank[0]}")
    hidden = sorted(set(table.filled).intersection(rows.survey.hidden_rows))
    if hidden:
        text = f"{counted(len(hidden), 'hidden row')}, from row {hidden[0]} on: read like the others."
        yield Notice("hidden-rows", text, count=len(hidden), example=f"row {hidden[0]}")
    boxes = rows.survey.hidden_columns
    hidden_names = [name for number, name in names.items() if any(low <= number <= high for low, high in boxes)]
    if hidden_names:
        text = f"Hidden in the file, and read like the others: {quoted(hidden_names)}."
        yield Notice("hidden-columns", text, count=len(hidden_names), example=hidden_names[0])
    yield from _merged_cells(rows, table, fill=options.fill_merged)


def applied_options(options: SheetOptions) -> Iterator[Notice]:
    """Yield notices of the rows that the options left out and the cells they filled in."""
    if options.skip_lines:
        yield Notice("skipped", f"Left out above the header: {counted(options.skip_lines, 'row')}.")
    if options.units_row:
        yield Notice("units", "The row of units below the header was left out.")
    if options.skip_last:
        yield Notice("last", f"Left out at the end: {counted(options.skip_last, 'row')}.")
    if options.fill_merged:
        yield Notice("merged", "All cells of a merged range have its value.")


def _merged_cells(rows: SheetRows, table: SheetTable, *, fill: bool) -> Iterator[Notice]:
    """Yield a notice on cells that are blank because they are merged with others, or fill them."""
    last = table.first + len(table.records) - 1
    count, ranges = 0, []
    boxes = [box for box in rows.survey.merged if table.first <= box[1] <= last]
    for left, top, right, bottom in boxes:
        bottom = min(bottom, last)
        corner = table.records[top - table.first]
        value = corner[left - 1] if left <= len(corner) else None
        numbers = [number for number in table.columns if left <= number <= right]
        blank = [
            (cells, number)
            for cells in table.records[top - table.first : bottom - table.first + 1]
            for number in numbers
            if value is not None and (number > len(cells) or cells[number - 1] is None)
        ]
        if blank:
            count += len(blank)
            ranges.append(f"{column_letters(left)}{top}:{column_letters(right)}{bottom}")
        for cells, number in blank if fill else ():
            cells += [None] * (number - len(cells))
            cells[number - 1] = value
    if count and not fill:
        location = "a merged range" if len(ranges) == 1 else f"{len(ranges):,} merged ranges"
        text = f"{counted(count, 'cell')} of records {'is' if count == 1 else 'are'} blank because the file has their "
        text += f"value only once, in {location} such as {ranges[0]}: read as missing."
        offer = Offer("Fill merged cells with their value", {"fill_merged": True})
        yield Notice("merged-cells", text, count=count, example=ranges[0], offers=(offer,))


def _by_column(cells: Sequence[Any]) -> dict[int, Any]:
    return {number: cell for number, cell in enumerate(cells, start=1) if cell is not None}


def _check_titles(
    rows: SheetRows, label: str, numbers: Sequence[int], first_rows: Sequence[Mapping[int, Any]], skip_lines: int
) -> None:
    """Refuse a title or merged names instead of a header."""
    header, row = first_rows[0], numbers[0]
    below = {number for cells in first_rows[1:] for number in cells}
    span = [
        f"{column_letters(left)}{top}:{column_letters(right)}{bottom}"
        for left, top, right, bottom in rows.survey.merged
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
    sparse = all(2 * len(cells) <= len(first_rows[i]) for cells in first_rows[:i])
    is_separate = numbers[i] - row > i and all(len(cells) < len(first_rows[i]) for cells in first_rows[:i])
    if min(header) == min(first_rows[i]) and (sparse or is_separate):
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


def _units_row(table: SheetTable) -> Iterator[Notice]:
    """Yield a notice if the first record has text where all others have numbers, and no number."""
    units = _by_column(table.records[0])
    if any(type(cell) is not str or cell in MISSING for cell in units.values()):
        return
    records = [_by_column(cells) for cells in table.records[1:_N_FIRST]]
    units_found = []
    for number, unit in units.items():
        below = [cells[number] for cells in records if number in cells]
        if len(below) > 1 and all(isinstance(cell, (int, float)) and cell is not True for cell in below):
            units_found.append(unit)
    if units_found:
        text = f"Row {table.first} has text where the records below have numbers, such as units: "
        text += f"{listing([repr(shortened(text)) for text in units_found], 3)}."
        offer = Offer(f"Leave out row {table.first}", {"units_row": True})
        yield Notice("units-row", text, count=len(units_found), example=units_found[0], offers=(offer,))


def _last_rows(table: SheetTable) -> Iterator[Notice]:
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
        offers = (leave_out_last(count, "row", table.skip_last),)
        yield Notice("last-records", text, count=count, example=example, offers=offers)
