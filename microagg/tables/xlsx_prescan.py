"""What openpyxl does not say of a workbook that it reads row by row, and what it would take in memory.

Each part of a workbook is streamed once before openpyxl parses it: nothing of the part is kept but counts, merged
cells, hidden rows and columns, and formulas without a result.
"""

from __future__ import annotations

import sys
import zipfile
from array import array
from collections.abc import Callable
from xml.etree.ElementTree import XMLParser

# How many rows and columns a sheet has at most, and how deep elements stand in each other.
_MOST_ROWS, _MOST_COLUMNS, _DEEPEST = 1 << 20, 1 << 14, 50

# How many bytes are parsed at a time. No tag and no text is as long; Excel takes 32,767 characters.
_CHUNK = 1 << 20

# What openpyxl keeps of an element, in bytes: of rows and texts that cells share, of what stands in them until they
# end, and of any other.
_EMPTIED, _INSIDE, _OTHER = 100, 600, 500


class DamagedError(ValueError):
    """A workbook is not as Excel writes them; the message says how, after ``it``."""


class Survey:
    """What a part of a workbook holds, filled by a parser that calls ``start``, ``data`` and ``end``.

    Attributes
    ----------
    kept, passing : int
        How many bytes openpyxl keeps of the part, and of the row or text that it reads at the moment.
    events : int
        How many calls there were.
    strict : bool
        Whether it is a part of a Strict Open XML Spreadsheet, which openpyxl does not read.
    escapes : bool
        Whether a text escapes what would be the code of a character otherwise.
    merged : list of (int, int, int, int)
        Merged cells of a sheet: first column, first row, last column, last row, all counting from 1.
    hidden_rows : array of int
        The numbers of the rows that Excel does not show, in ascending order.
    hidden_columns : list of (int, int)
        The first and the last of columns that Excel does not show.
    lacking : set of (int, int)
        The rows and columns of formulas without a result.
    formulas, zeros : dict
        How many formulas the columns have, and how many of these have the result 0, by the columns' numbers.
    """

    def __init__(self) -> None:
        self.kept = self.passing = self.events = 0
        self.strict = self.escapes = False
        self.merged: list[tuple[int, int, int, int]] = []
        self.hidden_rows: array[int] = array("i")
        self.hidden_columns: list[tuple[int, int]] = []
        self.lacking: set[tuple[int, int]] = set()
        self.formulas: dict[int, int] = {}
        self.zeros: dict[int, int] = {}
        self._columns: dict[str, int] = {}
        self._depth = self._length = self._row = self._column = 0
        self._inside = self._is_sheet = self._formula = self._in_value = False
        self._kind = self._value = ""

    def doctype(self, *_: str | None) -> None:
        """Refuse what may declare texts that grow without end."""
        raise DamagedError("it declares a document type")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the beginning of an element."""
        self.events += 1
        self._depth += 1
        self._length = 0
        name = tag.rpartition("}")[2]
        if self._inside:
            self.passing += _INSIDE
        else:
            self._outside(tag, name, attributes)
        if not self._is_sheet:
            return
        if name == "c":
            self._start_cell(attributes)
        elif name == "v":
            self._in_value = True
        elif name == "f":
            self._formula = True
        elif name == "row":
            self._start_row(attributes)

    def data(self, text: str) -> None:
        """Take a piece of text."""
        self.events += 1
        self._length += len(text)
        if self._length > _CHUNK:
            raise DamagedError(f"it has a text of more than {_CHUNK:,} characters")
        if self._in_value:
            self._value += text
        self.escapes |= "x005F_" in text
        self.kept += 0 if self._is_sheet and self._inside else sys.getsizeof(text)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self.events += 1
        self._depth -= 1
        name = tag.rpartition("}")[2]
        if name == "v":
            self._in_value = False
        elif name == "c":
            if self._formula:
                self._end_formula()
        elif name in ("row", "si"):
            self._inside, self.passing = False, 0

    def _outside(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        """Take an element that stands neither in a row nor in a text that cells share."""
        if self._depth > _DEEPEST:
            raise DamagedError("its elements stand too deep in each other")
        if self._depth == 1:
            self.strict = "purl.oclc.org/ooxml" in tag
            self._is_sheet = name == "worksheet"
        self._inside = name in ("row", "si")
        self.kept += _EMPTIED if self._inside else _OTHER
        # openpyxl keeps the attributes of rows that have more than a number.
        if name == "row" and not attributes.keys() <= {"r", "spans"}:
            self.kept += 300 + 60 * len(attributes)
        if name == "mergeCell" and ":" in attributes["ref"]:
            self._merge(attributes["ref"])
        elif name == "col" and (_is_true(attributes.get("hidden")) or attributes.get("width") == "0"):
            self.hidden_columns.append((int(attributes["min"]), int(attributes["max"])))

    def _start_row(self, attributes: dict[str, str]) -> None:
        number = int(attributes.get("r", self._row + 1))
        # openpyxl leaves out, in silence, what is not in order.
        if self._depth != 3 or not self._row < number <= _MOST_ROWS:
            raise DamagedError(f"its row {number} is out of order")
        self._row, self._column = number, 0
        if _is_true(attributes.get("hidden")) or attributes.get("ht") == "0":
            self.hidden_rows.append(number)

    def _start_cell(self, attributes: dict[str, str]) -> None:
        address = attributes.get("r")
        column = self._column + 1 if address is None else self._column_of(address.rstrip("0123456789"))
        if self._depth != 4 or not self._column < column <= _MOST_COLUMNS:
            raise DamagedError(f"it has a cell out of order in row {self._row}")
        self._column = column
        self._formula, self._value = False, ""
        self._kind = attributes.get("t", "n")

    def _merge(self, ref: str) -> None:
        from openpyxl.utils.cell import range_boundaries

        self.merged.append(range_boundaries(ref))

    def _column_of(self, letters: str) -> int:
        if letters not in self._columns:
            from openpyxl.utils.cell import column_index_from_string

            self._columns[letters] = column_index_from_string(letters)
        return self._columns[letters]

    def _end_formula(self) -> None:
        column = self._column
        self.formulas[column] = self.formulas.get(column, 0) + 1
        if self._value == "0" and self._kind == "n":
            self.zeros[column] = self.zeros.get(column, 0) + 1
        # A formula whose result is an empty text says that it is a text.
        if not self._value and self._kind != "str":
            self.kept += 200
            self.lacking.add((self._row, column))


def survey(archive: zipfile.ZipFile, part: str, check: Callable[[int], None]) -> Survey:
    """Return what a part of a workbook holds.

    ``check`` is called with the bytes that openpyxl will take, and raises an error if they are too many.

    Raises
    ------
    DamagedError
        If Excel does not write such parts.
    """
    found = Survey()
    parser = XMLParser(target=found)
    with archive.open(part) as stream:
        while chunk := stream.read(_CHUNK):
            before = found.events
            parser.feed(chunk)
            # The parser keeps a tag until it ends.
            if found.events == before and len(chunk) == _CHUNK:
                raise DamagedError("a tag is too long")
            check(found.kept + found.passing)
    parser.close()
    return found


def _is_true(value: str | None) -> bool:
    return value in ("1", "true")
