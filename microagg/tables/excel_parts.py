"""The parts of an Excel workbook beside the cells: its sheets, its texts and its number formats."""

from __future__ import annotations

import contextlib
import io
import posixpath
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from microagg.errors import DataError, MicroaggError
from microagg.tables.excel_formats import Format, format_of
from microagg.tables.meter import Meter
from microagg.tables.xml_stream import DamagedError, Depth, local_name, parse

#: How many bytes a part of a workbook that is read may have once it is unpacked.
MAX_UNPACKED = 1 << 28

# Excel takes no more cell formats than these.
_MOST_FORMATS = 1 << 16

# What the archives of other programs contain, and what they are.
_OTHERS = (
    ("xl/workbook.bin", "a binary workbook (.xlsb)"),
    ("word/document.xml", "a document of Word"),
    ("ppt/presentation.xml", "a presentation of PowerPoint"),
    ("content.xml", "an OpenDocument file (.ods)"),
    ("index/document.iwa", "a document of Numbers or Pages"),
)


@dataclass(frozen=True)
class Sheet:
    """A sheet with cells.

    Attributes
    ----------
    title : str
        Its name.
    hidden : bool
        Whether Excel does not show it.
    part : str
        Where its cells are in the archive.
    """

    title: str
    hidden: bool
    part: str


class Workbook:
    """An open workbook.

    Attributes
    ----------
    sheets : list of Sheet
        In the order of the workbook; sheets that are charts have no cells, and are left out.
    from_1904 : bool
        Whether days are counted from 1904-01-01, as on old Macs.
    recalculates : bool
        Whether the workbook asks Excel to compute all formulas when it is opened.
    meter : Meter
        What reading has taken.
    """

    def __init__(self, archive: zipfile.ZipFile, meter: Meter, label: str) -> None:
        self.meter = meter
        self.label = label
        self._archive = archive
        self._members = {name.replace("\\", "/").lower(): name for name in archive.namelist()}
        self._refuse_others()
        part = next((to for kind, to in self._relations("").values() if kind == "officeDocument"), "xl/workbook.xml")
        relations = self._relations(part)
        found = _Tags(meter, "workbookPr", "sheet", "calcPr")
        self.parse(part, found)
        self._texts_part = _target(relations, "sharedStrings")
        self._styles_part = _target(relations, "styles")
        self.from_1904 = any(tag == "workbookPr" and _is_true(at.get("date1904")) for tag, at in found.tags)
        self.recalculates = any(tag == "calcPr" and _is_true(at.get("fullCalcOnLoad")) for tag, at in found.tags)
        self.sheets = []
        for tag, at in found.tags:
            kind, to = relations.get(_relation_id(at), ("", "")) if tag == "sheet" else ("", "")
            if kind == "worksheet":
                self.sheets.append(Sheet(spelled_out(at["name"]), at.get("state", "visible") != "visible", to))

    def texts(self) -> list[str]:
        """Return the texts that cells share, by their number."""
        shared = _Texts(self.meter)
        if self._texts_part:
            self.parse(self._texts_part, shared)
        return shared.found

    def formats(self) -> list[Format]:
        """Return the number format of each style of cells, by its number."""
        styles = _Styles(self.meter)
        if self._styles_part:
            self.parse(self._styles_part, styles)
        return [format_of(number, styles.codes.get(number)) for number in styles.numbers]

    def parse(self, part: str, handler: Any, after_chunk: Any = lambda: None) -> None:
        """Parse a part of the workbook with ``handler``; see :func:`microagg.tables.xml_stream.parse`."""
        with self._open(part) as stream:
            parse(stream, handler, after_chunk)

    def _open(self, part: str) -> IO[bytes]:
        name = self._members.get(part.lower())
        if name is None:
            raise DamagedError(f"it has no part {part}")
        size = self._archive.getinfo(name).file_size
        if size > MAX_UNPACKED:
            raise DataError(
                f"the file {self.label!r} unpacks to {size / 1e6:,.0f} MB, over the limit of "
                f"{MAX_UNPACKED / 1e6:,.0f} MB for workbooks: save the table as .csv or .parquet."
            )
        return self._archive.open(name)

    def _relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return which parts a part refers to: their kinds, without the address of the standard, and where they are."""
        folder, name = posixpath.split(part)
        where = posixpath.join(folder, "_rels", f"{name}.rels")
        if where.lower() not in self._members:
            return {}
        found = _Tags(self.meter, "Relationship")
        self.parse(where, found)
        return {
            at.get("Id", ""): (
                at.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, at.get("Target", ""))).lstrip("/"),
            )
            for _, at in found.tags
        }

    def _refuse_others(self) -> None:
        for part, kind in _OTHERS:
            if part in self._members:
                raise DataError(f"the file {self.label!r} is not an Excel workbook but {kind}: save it as .xlsx.")


@contextlib.contextmanager
def open_workbook(data: bytes, label: str) -> Iterator[Workbook]:
    """Open an Excel workbook; what goes wrong within is a damaged file.

    Raises
    ------
    DataError
        If it is no workbook, a damaged one, or one that takes too much memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield Workbook(archive, Meter(len(data), label), label)
    except MicroaggError:
        raise
    except Exception as error:  # whatever the parsers of archives, XML and numbers raise
        reason = str(error) if isinstance(error, DamagedError) else type(error).__name__
        raise DataError(
            f"the file {label!r} is not an Excel workbook, or a damaged one ({reason}): save it as .xlsx again."
        ) from None


def spelled_out(text: str) -> str:
    """Return a text with the characters that workbooks spell, such as ``_x000D_``, as themselves."""
    return re.sub(r"_x([0-9A-Fa-f]{4})_", _character, text) if "_x" in text else text


def _character(spelled: re.Match[str]) -> str:
    code = int(spelled[1], 16)
    return spelled[0] if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code)


def _target(relations: dict[str, tuple[str, str]], kind: str) -> str:
    return next((to for found, to in relations.values() if found == kind), "")


def _relation_id(attributes: dict[str, str]) -> str:
    return next((value for name, value in attributes.items() if ":" in name and local_name(name) == "id"), "")


def _is_true(value: str | None) -> bool:
    return value in ("1", "true", "on")


class _Tags:
    """A handler that keeps some elements and their attributes."""

    def __init__(self, meter: Meter, *kept: str) -> None:
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._kept = kept
        self._meter = meter
        self._depth = Depth()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth.down()
        if tag in self._kept:
            self._meter.take(500 + sum(map(sys.getsizeof, attributes.values())))
            self.tags.append((tag, attributes))

    def end(self, tag: str) -> None:
        self._depth.up()

    def text(self, text: str) -> None:
        pass


class _Texts:
    """A handler for the texts that cells share: their runs joined, without the notes of how they are spoken."""

    def __init__(self, meter: Meter) -> None:
        self.found: list[str] = []
        self._meter = meter
        self._depth = Depth()
        self._collects = self._spoken = False
        self._pieces: list[str] = []
        self._length = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth.down()
        if tag == "si":
            self._pieces = []
            self._length = 0
        elif tag == "rPh":
            self._spoken = True
        elif tag == "t":
            self._collects = not self._spoken

    def end(self, tag: str) -> None:
        self._depth.up()
        if tag == "t":
            self._collects = False
        elif tag == "rPh":
            self._spoken = False
        elif tag == "si":
            text = spelled_out("".join(self._pieces))
            self._meter.take(sys.getsizeof(text) + 16)
            self.found.append(text)

    def text(self, text: str) -> None:
        if self._collects:
            self._pieces.append(text)
            self._length += len(text)
            # Joined, a text may take four bytes a character beside its pieces.
            self._meter.check(100 * len(self._pieces) + 8 * self._length)


class _Styles:
    """A handler for number formats: their codes, and the number of the format of each style of cells."""

    def __init__(self, meter: Meter) -> None:
        self.codes: dict[int, str] = {}
        self.numbers: list[int] = []
        self._depth = Depth()
        self._meter = meter
        self._of_cells = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth.down()
        if tag == "numFmt" and "numFmtId" in attributes:
            code = attributes.get("formatCode", "")
            self._meter.take(200 + sys.getsizeof(code))
            self.codes.setdefault(int(attributes["numFmtId"]), code)
        elif tag == "cellXfs":
            self._of_cells = True
        elif tag == "xf" and self._of_cells:
            self.numbers.append(int(attributes.get("numFmtId", 0)))
            if len(self.numbers) > _MOST_FORMATS:
                raise DamagedError("it has more cell formats than Excel takes")

    def end(self, tag: str) -> None:
        self._depth.up()
        if tag == "cellXfs":
            self._of_cells = False

    def text(self, text: str) -> None:
        pass
