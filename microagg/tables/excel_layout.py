"""Where the table is on a sheet: its header, its records, and what stands above, below, between and hidden in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from microagg.errors import DataError
from microagg.tables.excel_cells import SheetRows, letters_of
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

# How many rows are looked at to tell titles and units from names and records, and how many at the end.
_LOOKED_AT, _AT_END = 50, 10

# So many blank rows, and more of them than records, stand between a table and something else.
_MANY_BLANK = 100

# What rows of averages are called; of totals, see :func:`microagg.tables.notices.is_total`.
_AVERAGES = frozenset(("mean", "average", "mittelwert", "durchschnitt", "moyenne", "media", "promedio", "gemiddelde"))


@dataclass(frozen=True, kw_only=True)
class SheetOptions(LayoutOptions):
    """How a workbook is read; see :func:`microagg.tables.read_file`."""

    sheet: str | None = None
    fill_merged: bool = False


class SheetTable(NamedTuple):
    """A table on a sheet; rows and columns count from 1."""

    row: int  # that of the header
    header: dict[int, Any]  # its cells by their columns
    first: int  # the row of the first record
    records: list[list[Any]]  # the cells from column A on; blank rows between records are empty lists
    filled: list[int]  # the rows of the records that are not blank
    columns: list[int]  # those with a name or a value, in ascending order
    skip_last: int  # how many rows below the records have been left out

    def column(self, number: int) -> list[Any]:
        """Return the cells of a column."""
        return [cells[number - 1] if number <= len(cells) else None for cells in self.records]

    def address(self, number: int, record: int) -> str:
        """Return the address of a cell, such as ``B2``, in a column; records count from 0."""
        return f"{letters_of(number)}{self.first + record}"


def lay_out(rows: SheetRows, label: str, options: SheetOptions, max_cells: int) -> SheetTable:
    """Locate the table on a sheet, with the ``options`` on what is no record.

    Raises DataError if no records are left, or there are too many cells; UnreadableError if a title, or names merged
    over several columns, stand in place of the header, or hundreds of blank rows among the records.
    """
    skip_lines, skip_last = options.skip_lines, options.skip_last
    above = sum(number <= skip_lines for number in rows.numbers[: skip_lines + 1])
    numbers, cells = rows.numbers[above:], rows.cells[above:]
    if not numbers:
        raise DataError(f"the sheet in the file {label!r} ends before row {skip_lines + 1}: skip fewer lines.")
    _check_titles(rows, label, numbers, [_by_column(row) for row in cells[:_LOOKED_AT]], skip_lines)
    begin = 1 + int(options.units_row)
    end = len(numbers) - skip_last
    if begin >= end:
        refuse_no_records(label)
    first, filled = numbers[begin - 1] + 1, numbers[begin:end]
    _check_gaps(label, filled, first, skip_last)
    records: list[list[Any]] = [[] for _ in range(filled[-1] - first + 1)]
    for number, row in zip(filled, cells[begin:end], strict=True):
        records[number - first] = row
    header = _by_column(cells[0])
    used = set(header).union(*(_by_column(row) for row in records))
    check_cells(len(records), len(used), max_cells, label)
    return SheetTable(numbers[0], header, first, records, filled, sorted(used), skip_last)


def notices_of(
    rows: SheetRows, table: SheetTable, names: Mapping[int, str], options: SheetOptions, recalculates: bool
) -> Iterator[Notice]:
    """Yield notices on the layout, and fill merged cells if the options say so.

    ``names`` are those of the columns; ``recalculates`` tells whether Excel is asked to compute all formulas anew.
    Raises DataError if merged cells overlap.
    """
    if not options.units_row:
        yield from _units_row(table)
    yield from _last_rows(table)
    blank = [table.first + i for i, cells in enumerate(table.records) if not cells]
    # In a table with one column, they can be nothing but missing values.
    if blank and len(table.columns) > 1:
        text = f"{_ranges(blank)} blank between records, and read as {counted(len(blank), 'record')} without values."
        yield Notice("blank-rows", text, "", len(blank), f"row {blank[0]}")
    gaps = sorted(set(range(table.columns[0], table.columns[-1])) - set(table.columns))
    if gaps:
        letters = listing([letters_of(number) for number in gaps], 5)
        are = f"Column {letters} is" if len(gaps) == 1 else f"Columns {letters} are"
        text = f"{are} blank between others: if these are two tables, they are read as one."
        yield Notice("blank-columns", text, "", len(gaps), letters_of(gaps[0]))
    hidden = sorted(set(table.filled).intersection(rows.survey.hidden_rows))
    if hidden:
        text = f"{_ranges(hidden)} hidden in the file, and read like the others."
        yield Notice("hidden-rows", text, "", len(hidden), f"row {hidden[0]}")
    boxes = rows.survey.hidden_columns
    unseen = [name for number, name in names.items() if any(left <= number <= right for left, right in boxes)]
    if unseen:
        text = f"Hidden in the file, and read like the others: {quoted(unseen)}."
        yield Notice("hidden-columns", text, "", len(unseen), unseen[0])
    yield from _merged_cells(rows, table, fill=options.fill_merged)
    for number, name in names.items() if recalculates else ():
        # A program that computes nothing may have written 0 as the result of every formula.
        formulas = rows.survey.formulas[number]
        if formulas and formulas == rows.survey.zeros[number]:
            text = f"Column {name!r} has {counted(formulas, 'formula')} with no result but 0, and the file asks "
            text += "Excel to compute them anew: open it in Excel and save it if they should not be 0."
            yield Notice("formula-zeros", text, name, formulas, "0")


def done_of(options: SheetOptions) -> Iterator[Notice]:
    """Yield notices of what the options left out and filled in."""
    if options.skip_lines:
        yield Notice("skipped", f"Left out above the header: {counted(options.skip_lines, 'row')}.")
    if options.units_row:
        yield Notice("units", "The row of units below the header was left out.")
    if options.skip_last:
        yield Notice("last", f"Left out at the end: {counted(options.skip_last, 'row')}.")
    if options.fill_merged:
        yield Notice("merged", "All cells of a merged range have its value.")


def _merged_cells(rows: SheetRows, table: SheetTable, *, fill: bool) -> Iterator[Notice]:
    """Say how many cells of records are blank because they are merged with others, or fill them with their value."""
    last = table.first + len(table.records) - 1
    count, ranges = 0, []
    boxes = [box for box in rows.survey.merged if table.first <= box[1] <= last]
    width = table.columns[-1]
    area = sum((min(bottom, last) - top + 1) * (min(right, width) - left + 1) for left, top, right, bottom in boxes)
    if area > len(table.records) * width:
        raise DataError("merged cells of the sheet overlap: save the file as .xlsx again.")
    for left, top, right, bottom in boxes:
        bottom = min(bottom, last)
        corner = table.records[top - table.first]
        value = corner[left - 1] if left <= len(corner) else None
        inside = [number for number in table.columns if left <= number <= right]
        blank = [
            (cells, number)
            for cells in table.records[top - table.first : bottom - table.first + 1]
            for number in inside
            if value is not None and (number > len(cells) or cells[number - 1] is None)
        ]
        if blank:
            count += len(blank)
            ranges.append(f"{letters_of(left)}{top}:{letters_of(right)}{bottom}")
        for cells, number in blank if fill else ():
            cells += [None] * (number - len(cells))
            cells[number - 1] = value
    if count and not fill:
        among = "a merged range" if len(ranges) == 1 else f"{len(ranges):,} merged ranges"
        text = f"{counted(count, 'cell')} of records {'is' if count == 1 else 'are'} blank because the file has their "
        text += f"value only once, in {among} such as {ranges[0]}: read as missing."
        offer = Offer("Fill merged cells with their value", {"fill_merged": True})
        yield Notice("merged-cells", text, "", count, ranges[0], (offer,))


def _by_column(cells: Sequence[Any]) -> dict[int, Any]:
    return {number: cell for number, cell in enumerate(cells, start=1) if cell is not None}


def _check_titles(
    rows: SheetRows, label: str, numbers: Sequence[int], first_rows: Sequence[Mapping[int, Any]], skip_lines: int
) -> None:
    """Refuse a title or merged names in place of a header."""
    header, row = first_rows[0], numbers[0]
    below = {number for cells in first_rows[1:] for number in cells}
    over = [
        f"{letters_of(left)}{top}:{letters_of(right)}{bottom}"
        for left, top, right, bottom in rows.survey.merged
        if top <= row <= bottom and left in header and sum(left <= number <= right for number in below) > 1
    ]
    # Of the first rows, the one that has a different text in each column.
    width = max(map(len, first_rows))
    h = next(h for h, cells in enumerate(first_rows) if len(cells) == width)
    texts = {cell for cell in first_rows[h].values() if type(cell) is str}
    if len(texts) < width or (width < 2 and not over):
        h = 0
    skipped = numbers[h] - 1
    offers = (Offer(f"Skip {counted(skipped, 'line')} above the header", {"skip_lines": skipped}),) if h else ()
    if over:
        raise UnreadableError(
            f"in the file {label!r}, the cells {over[0]} are merged where the names of the columns should be: skip the "
            "lines above the header, or write a name into each column.",
            offers,
        )
    # What somebody has chosen is not asked about again.
    if not h or skip_lines:
        return
    sparse = all(2 * len(cells) <= len(first_rows[h]) for cells in first_rows[:h])
    is_separate = numbers[h] - row > h and all(len(cells) < len(first_rows[h]) for cells in first_rows[:h])
    if min(header) == min(first_rows[h]) and (sparse or is_separate):
        title = str(next(iter(header.values())))
        raise UnreadableError(
            f"the file {label!r} seems to have a title above its header, {shortened(title)!r} in row {row}, while row "
            f"{numbers[h]} has the names: skip the lines above the header, or write a name into each column of row "
            f"{row}.",
            offers,
        )


def _check_gaps(label: str, filled: Sequence[int], first: int, skipped: int) -> None:
    """Refuse records far below the others, which would be very many blank records."""
    steps = np.diff(filled, prepend=first - 1) - 1
    if steps.sum() <= max(_MANY_BLANK, len(filled)):
        return
    i = int(steps.argmax())
    rest = len(filled) - i
    offers = (leave_out_last(rest, "row", skipped),) if i and rest <= _AT_END else ()
    raise UnreadableError(
        f"in the file {label!r}, {counted(int(steps[i]), 'blank row')} stand between row "
        f"{filled[i - 1] if i else first - 1} and row {filled[i]}: delete what does not belong to the table, or the "
        "blank rows.",
        offers,
    )


def _units_row(table: SheetTable) -> Iterator[Notice]:
    """Say if the first record has text where all others have numbers, and a number nowhere."""
    units = _by_column(table.records[0])
    if any(type(cell) is not str or cell in MISSING for cell in units.values()):
        return
    others = [_by_column(cells) for cells in table.records[1:_LOOKED_AT]]
    odd = []
    for number, unit in units.items():
        below = [cells[number] for cells in others if number in cells]
        if len(below) > 1 and all(isinstance(cell, (int, float)) and cell is not True for cell in below):
            odd.append(unit)
    if odd:
        text = f"Row {table.first} has text where the records below have numbers, such as units: "
        text += f"{listing([repr(shortened(text)) for text in odd], 3)}."
        offer = Offer(f"Leave out row {table.first}", {"units_row": True})
        yield Notice("units-row", text, "", len(odd), odd[0], (offer,))


def _last_rows(table: SheetTable) -> Iterator[Notice]:
    """Say if there are notes below the table, or totals."""
    ends = [_by_column(table.records[number - table.first]) for number in table.filled[-_AT_END:]]
    left, notes = table.columns[0], 0
    while notes < len(ends) - 1 and len(table.columns) > 2 and set(ends[-1 - notes]) == {left}:
        if type(ends[-1 - notes][left]) is not str:
            break
        notes += 1
    total = next((cell for cell in ends[-1 - notes].values() if _is_total(cell)), None)
    count = notes + (total is not None)
    if count and count < len(table.filled):
        example = total if total is not None else str(ends[-notes][left])
        kind = "a total" if total is not None else "a note below the table"
        text = f"Row {table.filled[-count]} seems to be {kind}, not a record: {shortened(example)!r}."
        yield Notice("last-records", text, "", count, example, (leave_out_last(count, "row", table.skip_last),))


def _is_total(cell: Any) -> bool:
    return type(cell) is str and (is_total(cell) or cell.strip().rstrip(":").strip().casefold() in _AVERAGES)


def _ranges(rows: Sequence[int]) -> str:
    """Return rows in ascending order as the beginning of a sentence: ``Rows 5–9, 12 are``."""
    starts = [row for i, row in enumerate(rows) if not i or rows[i - 1] < row - 1]
    ends = [row for i, row in enumerate(rows) if i + 1 == len(rows) or rows[i + 1] > row + 1]
    named = [str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True)]
    return f"Row {named[0]} is" if len(rows) == 1 else f"Rows {listing(named, 5)} are"
