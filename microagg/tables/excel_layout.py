"""Where the table is on a sheet: its header, its records, and what stands above, below and between them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.tables.checks import refuse_no_records
from microagg.tables.excel_cells import Cells, letters_of
from microagg.tables.notices import Notice, Offer, UnreadableError
from microagg.validation import counted, listing

# How many rows are looked at to tell titles and units from names and records, and how many at the end.
_LOOKED_AT, _AT_END = 50, 10

# So many blank rows, and more of them than records, stand between a table and something else.
_MANY_BLANK = 100

_TOTAL = re.compile(
    r"(grand |sub)?totals?|sum|mean|average|(gesamt|end|zwischen)?summe|gesamt|insgesamt|mittelwert|durchschnitt|"
    r"somme|moyenne|totale|media|suma|promedio|totaal|gemiddelde",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Layout:
    """A table on a sheet; rows and columns count from 1.

    Attributes
    ----------
    header : int
        The row of the header.
    first, last : int
        The rows of the first and the last record.
    filled : array of int
        The rows of records that are not blank.
    columns : list of int
        The columns with a name or a value, in ascending order.
    """

    header: int
    first: int
    last: int
    filled: NDArray[np.int64]
    columns: list[int]

    @property
    def records(self) -> int:
        """How many records there are, blank ones too."""
        return self.last - self.first + 1


def lay_out(cells: Cells, label: str, skip_lines: int, skip_last: int, units_row: bool) -> Layout:
    """Return where the table is, as far as it has been said.

    Raises
    ------
    DataError
        If there are no records left.
    UnreadableError
        If a title, or names merged over several columns, stand where the header should be, or hundreds of blank rows
        among the records.
    """
    filled = np.array(cells.filled, dtype=np.int64)
    rows = filled[filled > skip_lines]
    if not len(rows):
        raise DataError(f"the sheet in the file {label!r} ends before row {skip_lines + 1}: skip fewer lines.")
    header, records = int(rows[0]), rows[1 + int(units_row) : max(len(rows) - skip_last, 0)]
    first_rows = [row_of(cells, int(row)) for row in rows[:_LOOKED_AT]]
    _refuse_titles(cells, label, rows, first_rows, skip_lines)
    if not len(records):
        refuse_no_records(label)
    first, last = int(rows[int(units_row)]) + 1, int(records[-1])
    _refuse_gaps(label, records, first)
    columns = [
        number
        for number, column in sorted(cells.columns.items())
        if number in first_rows[0] or bisect_left(column.rows, first) < bisect_right(column.rows, last)
    ]
    return Layout(header, first, last, records, columns)


def row_of(cells: Cells, row: int) -> dict[int, Any]:
    """Return the values of a row by their columns."""
    found = {}
    for number, column in sorted(cells.columns.items()):
        i = bisect_left(column.rows, row)
        if i < len(column.rows) and column.rows[i] == row:
            found[number] = column.cells[i]
    return found


def skip_last_offer(count: int) -> Offer:
    """Return the offer to leave out the last rows."""
    label = "Leave out the last row" if count == 1 else f"Leave out the last {count} rows"
    return Offer(label, {"skip_last": count})


def notices_of(cells: Cells, layout: Layout, names: Mapping[int, str], *, units_row: bool) -> Iterator[Notice]:
    """Yield what there is to say of the layout; ``names`` are those of the columns by their numbers."""
    if not units_row and (notice := _units_row(cells, layout)):
        yield notice
    if notice := _last_rows(cells, layout):
        yield notice
    if blank := layout.records - len(layout.filled):
        missing = np.setdiff1d(np.arange(layout.first, layout.last + 1), layout.filled)
        text = f"{_ranges('Row', missing)} {'is' if blank == 1 else 'are'} blank between records, and read as "
        text += f"{counted(blank, 'record')} without values."
        yield Notice("blank_rows", text, "", blank, f"row {missing[0]}")
    yield from _blank_columns(layout)
    hidden = np.array(cells.hidden_rows, dtype=np.int64)
    if len(hidden := hidden[(hidden >= layout.first) & (hidden <= layout.last)]):
        text = f"{_ranges('Row', hidden)} {'is' if len(hidden) == 1 else 'are'} hidden in the file, and read like the "
        text += "others."
        yield Notice("hidden_rows", text, "", len(hidden), f"row {hidden[0]}")
    hidden_names = [
        names[number]
        for number in layout.columns
        if any(first <= number <= last for first, last in cells.hidden_columns)
    ]
    if hidden_names:
        text = f"Hidden in the file, and read like the others: {listing(list(map(repr, hidden_names)))}."
        yield Notice("hidden_columns", text, "", len(hidden_names), hidden_names[0])


def _refuse_titles(
    cells: Cells, label: str, rows: NDArray[np.int64], first_rows: Sequence[Mapping[int, Any]], skip_lines: int
) -> None:
    """Refuse a title or merged names in place of a header."""
    header, row = first_rows[0], int(rows[0])
    merged = [box for box in cells.merged if box[0] <= row <= box[2] and box[3] > box[1] and box[1] in header]
    below = {number for found in first_rows[1:] for number in found}
    over = [box for box in merged if sum(box[1] <= number <= box[3] for number in below) > 1]
    h = _header_among(first_rows, merged=bool(over))
    offers = (Offer(_skips(int(rows[h]) - 1), {"skip_lines": int(rows[h]) - 1}),) if h else ()
    if over:
        top, left, bottom, right = over[0]
        raise UnreadableError(
            f"in the file {label!r}, the cells {letters_of(left)}{top}:{letters_of(right)}{bottom} are merged where "
            "the names of the columns should be: skip the lines above the header, or write a name into each column.",
            offers,
        )
    # What somebody has chosen is not asked about again.
    if not h or skip_lines:
        return
    sparse = all(2 * len(found) <= len(first_rows[h]) for found in first_rows[:h])
    apart = int(rows[h]) - row > h and all(len(found) < len(first_rows[h]) for found in first_rows[:h])
    if min(header) == min(first_rows[h]) and (sparse or apart):
        shown = str(next(iter(header.values())))
        raise UnreadableError(
            f"the file {label!r} seems to have a title above its header, {_shortened(shown)} in row {row}, while row "
            f"{rows[h]} has the names: skip the lines above the header, or write a name into each column of row {row}.",
            offers,
        )


def _header_among(first_rows: Sequence[Mapping[int, Any]], *, merged: bool) -> int:
    """Return which of the first rows has a different text in each column, 0 if none below the first has."""
    width = max(map(len, first_rows))
    if width < 2 and not merged:
        return 0
    for h, found in enumerate(first_rows):
        if len(found) == width:
            texts = [cell for cell in found.values() if type(cell) is str]
            return h if len(set(texts)) == width else 0
    return 0


def _refuse_gaps(label: str, records: NDArray[np.int64], first: int) -> None:
    """Refuse records far below the others, which would be very many blank records."""
    steps = np.diff(records, prepend=first - 1) - 1
    if steps.sum() <= max(_MANY_BLANK, len(records)):
        return
    i = int(steps.argmax())
    above = int(records[i - 1]) if i else first - 1
    rest = len(records) - i
    offers = (Offer(_leaves_out(rest), {"skip_last": rest}),) if i > 0 and rest <= _AT_END else ()
    raise UnreadableError(
        f"in the file {label!r}, {counted(int(steps[i]), 'blank row')} stand between row {above} and row {records[i]}: "
        "delete what does not belong to the table, or the blank rows.",
        offers,
    )


def _units_row(cells: Cells, layout: Layout) -> Notice | None:
    """Return a notice if the first record has text where all others have numbers, and a number nowhere."""
    units = row_of(cells, layout.first)
    if not units or any(type(cell) is not str for cell in units.values()):
        return None
    odd = []
    for number in units:
        column = cells.columns[number]
        start = bisect_right(column.rows, layout.first)
        others = column.cells[start : min(start + _LOOKED_AT, bisect_right(column.rows, layout.last))]
        if len(others) > 1 and all(type(cell) in (int, float) for cell in others):
            odd.append(units[number])
    if not odd:
        return None
    listed = listing([repr(text) for text in odd], 3)
    text = f"Row {layout.first} has text where the records below have numbers, such as units: {listed}."
    offer = Offer(f"Leave out row {layout.first}", {"units_row": True})
    return Notice("units_row", text, "", len(odd), odd[0], (offer,))


def _last_rows(cells: Cells, layout: Layout) -> Notice | None:
    """Return a notice if there are notes below the table, or totals."""
    ends = [row_of(cells, int(row)) for row in layout.filled[-_AT_END:]]
    left, notes = layout.columns[0], 0
    while notes < len(ends) - 1 and len(layout.columns) > 2 and _is_note(ends[-1 - notes], left):
        notes += 1
    total = next((cell for cell in ends[-1 - notes].values() if _is_total(cell)), None)
    count = notes + (total is not None)
    if not count or count == len(layout.filled):
        return None
    row = int(layout.filled[-count])
    shown = total if total is not None else str(ends[-notes][left])
    kind = "a total" if total is not None else "a note below the table"
    text = f"Row {row} seems to be {kind}, not a record: {_shortened(shown)}."
    return Notice("last_rows", text, "", count, shown, (skip_last_offer(count),))


def _is_note(row: Mapping[int, Any], left: int) -> bool:
    return len(row) == 1 and type(row.get(left)) is str


def _is_total(cell: Any) -> bool:
    return type(cell) is str and _TOTAL.fullmatch(cell.strip().rstrip(":").strip()) is not None


def _blank_columns(layout: Layout) -> Iterator[Notice]:
    numbers = np.array(layout.columns)
    gaps = np.setdiff1d(np.arange(numbers[0], numbers[-1] + 1), numbers)
    if len(gaps):
        letters = listing([letters_of(int(number)) for number in gaps], 5)
        blank = "Column {} is" if len(gaps) == 1 else "Columns {} are"
        text = f"{blank.format(letters)} blank between others: if these are two tables, they are read as one."
        yield Notice("blank_columns", text, "", len(gaps), letters_of(int(gaps[0])))


def _ranges(noun: str, rows: NDArray[np.int64]) -> str:
    """Return rows in ascending order as words: ``Rows 5–9, 12``."""
    breaks = np.flatnonzero(np.diff(rows) > 1)
    starts, ends = rows[np.r_[0, breaks + 1]], rows[np.r_[breaks, len(rows) - 1]]
    named = [str(a) if a == b else f"{a}–{b}" for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    return f"{noun}{'' if len(rows) == 1 else 's'} {listing(named, 5)}"


def _skips(count: int) -> str:
    return f"Skip {counted(count, 'line')} above the header"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
