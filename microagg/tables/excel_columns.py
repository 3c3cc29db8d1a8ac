"""Columns of a sheet: numbers, dates, yes or no, or text, and what is said where cells are not what they show."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.tables import excel_formats as formats
from microagg.tables.columns import EXACT_WHOLE
from microagg.tables.excel_cells import Absent, Fault, letters_of
from microagg.tables.excel_dates import day_text, is_before_march_1900, moment_text, moments, time_text
from microagg.tables.excel_formats import Format
from microagg.tables.notices import Notice, Offer
from microagg.validation import counted

# Excel keeps 15 digits of a number.
_MOST_DIGITS = 10**15

# What the cells of a column may be.
_NUMBER, _BOOLEAN, _DATE, _TIME, _DURATION, _CODE, _TEXT = range(7)
_NAMES = {
    _NUMBER: ("number", "numbers"),
    _BOOLEAN: ("TRUE or FALSE", "cells with TRUE or FALSE"),
    _DATE: ("date", "dates"),
    _TIME: ("time of day", "times of day"),
    _DURATION: ("duration", "durations"),
    _CODE: ("code", "codes"),
    _TEXT: ("text", "texts"),
}
_OF_FORMAT = {formats.DATE: _DATE, formats.TIME: _TIME, formats.DURATION: _DURATION, formats.ZEROS: _CODE}


@dataclass(frozen=True)
class Rules:
    """What holds for all columns of a sheet.

    Attributes
    ----------
    formats : sequence of Format
        The number format of each style.
    from_1904 : bool
        Whether days are counted from 1904-01-01.
    missing : frozenset of str
        The texts that are missing values.
    """

    formats: Sequence[Format]
    from_1904: bool
    missing: frozenset[str]

    def format(self, style: int) -> Format:
        """Return the number format of a style; styles that the workbook lacks have none."""
        return self.formats[style] if 0 <= style < len(self.formats) else Format()


@dataclass
class Taken:
    """The cells of a column that belong to records.

    Attributes
    ----------
    name : str
        The column's name.
    number : int
        The column's number in the sheet, counting from 1.
    rows : array of int, shape (m,)
        The numbers of the rows in the sheet.
    cells : list
        The m values; see :class:`microagg.tables.excel_cells.Column`.
    styles : array of int, shape (m,)
        The numbers of their styles.
    """

    name: str
    number: int
    rows: NDArray[np.int64]
    cells: list[Any]
    styles: NDArray[np.int64]

    def at(self, i: int) -> str:
        """Return the address of the cell ``i``."""
        return f"{letters_of(self.number)}{self.rows[i]}"

    def without(self, left_out: NDArray[np.bool_]) -> Taken:
        """Return the column without the cells ``left_out``, shape (m,)."""
        if not left_out.any():
            return self
        cells = [cell for cell, out in zip(self.cells, left_out, strict=True) if not out]
        return Taken(self.name, self.number, self.rows[~left_out], cells, self.styles[~left_out])


def read_column(taken: Taken, first: int, n: int, rules: Rules) -> tuple[pd.Series[Any], list[Notice]]:
    """Return a column of ``n`` records, of which row ``first`` is the first, and what there is to say of it."""
    taken, notices = _without_missing(taken, rules)
    column = _Column(taken, rules)
    series, said = column.read(n)
    notices += said
    full: pd.Series[Any] = _spread(series, taken.rows - first, n)
    return full, notices


def cell_text(cell: Any, shown: Format, from_1904: bool) -> str:
    """Return a cell as the text of a column in which not all cells are numbers, or all are dates."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, dt.datetime):
        return moment_text(cell)
    if isinstance(cell, (int, float)):
        return _number_text(cell, shown, from_1904)
    return str(cell)


def _number_text(number: float, shown: Format, from_1904: bool) -> str:
    kind = _kind_of_number(number, shown.kind)
    if kind == _CODE:
        return shown.code(int(number))
    if kind in (_TIME, _DURATION):
        return time_text(number)
    if kind == _DATE:
        moment = moments(np.array([number], dtype=np.float64), from_1904)[0]
        if not np.isnat(moment):
            return moment_text(moment)
        if not from_1904 and (text := day_text(number)):
            return text
    # Excel tells no 2.0 from 2.
    return str(int(number)) if isinstance(number, float) and number.is_integer() and abs(number) < 1e15 else str(number)


def _kind_of_number(number: float, shown: int) -> int:
    """Return what a number is that a format shows."""
    kind = _OF_FORMAT.get(shown, _NUMBER)
    if kind == _CODE and not (number >= 0 and number == int(number)):
        return _NUMBER
    if kind == _TIME and number >= 1:
        return _DATE
    return _NUMBER if kind in (_DATE, _TIME) and number < 0 else kind


def _without_missing(taken: Taken, rules: Rules) -> tuple[Taken, list[Notice]]:
    """Return the cells that are no missing values, and what there is to say of the others."""
    types = set(map(type, taken.cells))
    notices = []
    if Fault in types:
        faults = _of(taken, lambda cell: isinstance(cell, Fault))
        i, count = int(faults.argmax()), int(faults.sum())
        says = f"has {counted(count, 'error')} of Excel, such as {taken.cells[i]} in {taken.at(i)}: read as missing."
        notices.append(_notice("errors", taken, i, count, says))
        taken = taken.without(faults)
    if Absent in types:
        taken = taken.without(_of(taken, lambda cell: isinstance(cell, Absent)))
    if str not in types:
        return taken, notices
    absent = _of(taken, lambda cell: isinstance(cell, str) and cell in rules.missing)
    present = taken.without(absent)
    blank = _of(present, lambda cell: isinstance(cell, str) and not cell.strip())
    texts = _of(present, lambda cell: isinstance(cell, str))
    # Among numbers, NA can be nothing but a missing value; among texts, it may be Namibia.
    if absent.any() and (texts & ~blank).any():
        notices.append(_missing_texts(taken, absent))
    if blank.any() and not blank.all() and (blank == texts).all():
        i, count = int(blank.argmax()), int(blank.sum())
        says = f"has {counted(count, 'cell')} with nothing but blanks beside numbers, such as {present.at(i)}"
        notices.append(_notice("blank_cells", present, i, count, f"{says}: read as missing."))
        present = present.without(blank)
    return present, notices


def _of(taken: Taken, fits: Callable[[Any], bool]) -> NDArray[np.bool_]:
    return np.fromiter(map(fits, taken.cells), dtype=bool, count=len(taken.cells))


def _missing_texts(taken: Taken, absent: NDArray[np.bool_]) -> Notice:
    i, count = int(absent.argmax()), int(absent.sum())
    says = f"has {counted(count, 'cell')} with a text that stands for a missing value, such as {taken.cells[i]!r} in "
    says += f"{taken.at(i)}: read as missing."
    return _notice("missing_texts", taken, i, count, says, (Offer("Keep such cells as text", {"missing": []}),))


def _notice(code: str, taken: Taken, i: int, count: int, says: str, offers: tuple[Offer, ...] = ()) -> Notice:
    """Return a notice about ``count`` cells of a column, of which ``i`` is one."""
    return Notice(code, f"Column {taken.name!r} {says}", taken.name, count, str(taken.cells[i]), offers)


class _Column:
    """Cells with content, to be read as one column."""

    def __init__(self, taken: Taken, rules: Rules) -> None:
        self._taken, self._rules = taken, rules
        self._kinds = self._kinds_of_cells()

    def read(self, n: int) -> tuple[Any, list[Notice]]:
        """Return the values, shape (m,), and what there is to say of them; ``n`` is the number of records."""
        present = set(np.unique(self._kinds).tolist())
        if present <= {_NUMBER}:
            return self._numbers(gaps=len(self._kinds) < n)
        if present == {_BOOLEAN}:
            return np.array(self._taken.cells, dtype=bool), []
        if present == {_TEXT}:
            return self._taken.cells, []
        if present == {_DATE}:
            return self._dates()
        if present <= {_NUMBER, _CODE}:
            return self._codes(gaps=len(self._kinds) < n)
        if present in ({_TIME}, {_DURATION}):
            return self._times(present.pop())
        return self._texts(), [self._mixed()]

    def _kinds_of_cells(self) -> NDArray[np.int8]:
        """Return what each cell is, shape (m,)."""
        taken = self._taken
        of_type = {int: _NUMBER, float: _NUMBER, bool: _BOOLEAN, dt.datetime: _DATE}
        kinds = np.fromiter((of_type.get(type(cell), _TEXT) for cell in taken.cells), np.int8, len(taken.cells))
        shown = self._shown()
        special = np.isin(shown, list(_OF_FORMAT)) & (kinds == _NUMBER)
        for i in np.flatnonzero(special).tolist():
            kinds[i] = _kind_of_number(taken.cells[i], int(shown[i]))
        return kinds

    def _shown(self) -> NDArray[np.int64]:
        """Return the kind of each cell's number format, shape (m,)."""
        styles, where = np.unique(self._taken.styles, return_inverse=True)
        return np.array([self._rules.format(style).kind for style in styles.tolist()], dtype=np.int64)[where]

    def _texts(self) -> list[str]:
        styles = self._taken.styles.tolist()
        return [
            cell if type(cell) is str else cell_text(cell, self._rules.format(style), self._rules.from_1904)
            for cell, style in zip(self._taken.cells, styles, strict=True)
        ]

    # --- what a column is -------------------------------------------------------------------------------------------

    def _numbers(self, gaps: bool) -> tuple[Any, list[Notice]]:
        cells = self._taken.cells
        notices = list(self._shown_otherwise())
        whole = not gaps and all(type(cell) is int for cell in cells)
        long = [i for i, cell in enumerate(cells) if type(cell) is int and abs(cell) >= _MOST_DIGITS]
        values: Any = None
        if not long or (whole and all(-(2**63) <= cells[i] < 2**63 for i in long)):
            values = np.array(cells, dtype=np.int64 if whole else np.float64)
        elif all(abs(cells[i]) <= EXACT_WHOLE for i in long):
            values = np.array(cells, dtype=np.float64)
        if long:
            i = long[0]
            says = f"has {counted(len(long), 'whole number')} of 16 digits or more, such as {cells[i]} in "
            says += f"{self._taken.at(i)}"
            if values is None:
                says += ": the column is kept as text, because a column of numbers would change some of them"
            says += "; Excel itself keeps 15 digits, so the last ones of codes may be lost in the file already."
            notices.append(_notice("long_numbers", self._taken, i, len(long), says))
        return self._texts() if values is None else values, notices

    def _codes(self, gaps: bool) -> tuple[Any, list[Notice]]:
        texts, cells = self._texts(), self._taken.cells
        changed = [i for i in np.flatnonzero(self._kinds == _CODE).tolist() if str(cells[i]) != texts[i]]
        if not changed:
            return self._numbers(gaps)
        i = changed[0]
        says = (
            f"shows {counted(len(changed), 'number')} with leading zeros or signs, such as {texts[i]} for {cells[i]} "
        )
        says += f"in {self._taken.at(i)}: the column is kept as the text that is shown."
        return texts, [_notice("leading_zeros", self._taken, i, len(changed), says)]

    def _dates(self) -> tuple[Any, list[Notice]]:
        if all(isinstance(cell, dt.datetime) for cell in self._taken.cells):
            return np.array(self._taken.cells, dtype="M8[us]"), []
        if any(isinstance(cell, dt.datetime) for cell in self._taken.cells):
            return self._texts(), [self._mixed()]
        days = np.array(self._taken.cells, dtype=np.float64)
        found = moments(days, self._rules.from_1904)
        if (never := np.isnat(found)).any():
            texts = self._texts()
            i, count = int(never.argmax()), int(never.sum())
            says = f"has {counted(count, 'number')} formatted as a date that never was, such as {texts[i]} in "
            says += f"{self._taken.at(i)}: the column is kept as text."
            return texts, [_notice("no_dates", self._taken, i, count, says)]
        if (early := is_before_march_1900(days, self._rules.from_1904)).any():
            i, count = int(early.argmax()), int(early.sum())
            says = f"has {counted(count, 'date')} before March 1900, such as {moment_text(found[i])} in "
            says += f"{self._taken.at(i)}: read as Excel shows them, where other programs show the day before."
            return found, [_notice("early_dates", self._taken, i, count, says)]
        return found, []

    def _times(self, kind: int) -> tuple[Any, list[Notice]]:
        texts = self._texts()
        says = f"has {_counted_kind(kind, len(texts))}, such as {texts[0]} in {self._taken.at(0)}: kept as text."
        code = "times" if kind == _TIME else "durations"
        return texts, [_notice(code, self._taken, 0, len(texts), says)]

    # --- what is said ------------------------------------------------------------------------------------------------

    def _mixed(self) -> Notice:
        """Say that cells of several kinds stand in one column."""
        kinds, counts = np.unique(self._kinds, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        named = [_counted_kind(int(kinds[o]), int(counts[o])) for o in order]
        i = int((self._kinds == kinds[order[-1]]).argmax())
        style = self._rules.format(int(self._taken.styles[i]))
        shown = cell_text(self._taken.cells[i], style, self._rules.from_1904)
        listed = " and ".join((", ".join(named[:-1]), named[-1])) if len(named) > 1 else f"{named[0]} of two kinds"
        says = f"has {listed}, such as {shown!r} in {self._taken.at(i)}: all are kept as text."
        return _notice("mixed", self._taken, i, int(counts[order[-1]]), says)

    def _shown_otherwise(self) -> Iterator[Notice]:
        """Say where number formats show something else than the numbers that are read."""
        shown = self._shown()
        for kind, code, says in _SAID:
            of_kind = shown == kind
            if of_kind.any():
                i, count = int(of_kind.argmax()), int(of_kind.sum())
                number = self._taken.cells[i]
                # As a text of few digits: 0.07 times 100 is 7.000000000000001.
                text = says.format(percent=f"{number * 100:.12g} %", number=number, at=self._taken.at(i))
                yield _notice(code, self._taken, i, count, f"has {counted(count, 'number')} {text}")
        yield from self._units()

    def _units(self) -> Iterator[Notice]:
        """Say where cells of one column have different units or currencies beside their numbers."""
        styles, first = np.unique(self._taken.styles, return_index=True)
        units: dict[str, int] = {}
        for style, i in zip(styles.tolist(), first.tolist(), strict=True):
            if unit := self._rules.format(style).unit:
                units.setdefault(unit, i)
        if len(units) > 1:
            listed = " and ".join(f"{unit!r} ({self._taken.at(i)})" for unit, i in list(units.items())[:3])
            says = f"has numbers that their formats show with different units, {listed}: only the numbers are read."
            yield _notice("units", self._taken, next(iter(units.values())), len(self._taken.cells), says)


_SAID = (
    (formats.PERCENT, "percent", "shown as a percentage, such as {percent} in {at}, which is read as {number}."),
    (formats.SCALED, "scaled", "shown in thousands or millions, such as that in {at}, which is read as {number}."),
    (
        formats.WORDS,
        "shown_as_words",
        "in place of which Excel shows a text or nothing, such as {number} in {at}: the numbers are read.",
    ),
)


def _counted_kind(kind: int, count: int) -> str:
    one, more = _NAMES[kind]
    return f"{count:,} {one if count == 1 else more}"


def _spread(values: Any, places: NDArray[np.int64], n: int) -> pd.Series[Any]:
    """Return values, an array or a list, at their places among ``n`` records, which are missing elsewhere."""
    if len(places) == n and (np.diff(places) > 0).all():
        return pd.Series(values)
    if isinstance(values, np.ndarray) and values.dtype.kind != "b":
        # As many values as records are only out of order, so none is missing among whole numbers.
        empty = {"f": np.nan, "M": np.datetime64("NaT"), "i": 0}[values.dtype.kind]
        full = np.full(n, empty, dtype=values.dtype)
        full[places] = values
        return pd.Series(full)
    cells: list[Any] = [None] * n
    for place, value in zip(places.tolist(), values, strict=True):
        cells[place] = bool(value) if isinstance(value, np.bool_) else value
    return pd.Series(cells)
