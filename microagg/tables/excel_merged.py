"""Merged cells among records: how many are blank because of them, and what they would be filled with."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import DataError
from microagg.tables.excel_cells import Cells, Column, letters_of
from microagg.tables.excel_layout import Layout
from microagg.tables.meter import Meter
from microagg.tables.notices import Notice, Offer
from microagg.validation import counted


@dataclass
class Merged:
    """What merged cells leave blank.

    Attributes
    ----------
    ranges : list of str
        The merged ranges among records that leave cells blank, such as ``A2:A4``.
    columns : dict
        The blank cells by the number of their column, with the values that they would be filled with.
    """

    ranges: list[str] = field(default_factory=list)
    columns: dict[int, Column] = field(default_factory=dict)

    def notice(self) -> Notice | None:
        """Return what there is to say of them, None if there are none."""
        count = sum(len(column.rows) for column in self.columns.values())
        if not count:
            return None
        among = "a merged range" if len(self.ranges) == 1 else f"{len(self.ranges):,} merged ranges"
        text = f"{counted(count, 'cell')} of records {'is' if count == 1 else 'are'} blank because the file has their "
        text += f"value only once, in {among} such as {self.ranges[0]}: read as missing."
        offer = Offer("Fill merged cells with their value", {"fill_merged": True})
        return Notice("merged_cells", text, "", count, self.ranges[0], (offer,))


def merged_cells(cells: Cells, layout: Layout, meter: Meter) -> Merged:
    """Return what merged cells leave blank among the records of a table.

    Raises
    ------
    DataError
        If they take too much memory.
    """
    found = Merged()
    columns = layout.columns
    area = 0
    for top, left, bottom, right in cells.merged:
        inside = columns[bisect_left(columns, left) : bisect_right(columns, right)]
        bottom = min(bottom, layout.last)
        if top < layout.first or not inside or bottom < top or inside[0] != left:
            continue
        area += 30 * (bottom - top + 1) * len(inside)
        meter.check(area)
        if _add(found, cells, (top, left, bottom), inside):
            found.ranges.append(f"{letters_of(left)}{top}:{letters_of(right)}{bottom}")
    for number, column in found.columns.items():
        if len(set(column.rows)) < len(column.rows):
            raise DataError(f"merged cells of column {letters_of(number)} overlap: save the file as .xlsx again.")
    return found


def _add(found: Merged, cells: Cells, corner: tuple[int, int, int], columns: list[int]) -> bool:
    """Add the blank cells of a merged range, and tell whether there are any."""
    top, left, bottom = corner
    source = cells.columns[left]
    i = bisect_left(source.rows, top)
    if i == len(source.rows) or source.rows[i] != top:
        return False
    any_blank = False
    for number in columns:
        rows = cells.columns[number].rows
        present = set(rows[bisect_left(rows, top) : bisect_right(rows, bottom)])
        blank = [row for row in range(top, bottom + 1) if row not in present]
        if blank:
            any_blank = True
            column = found.columns.setdefault(number, Column())
            _extend(column, blank, source.cells[i], source.styles[i])
    return any_blank


def _extend(column: Column, rows: list[int], cell: Any, style: int) -> None:
    column.rows.extend(array("i", rows))
    column.cells.extend([cell] * len(rows))
    column.styles.extend(array("i", [style] * len(rows)))
