"""What kind of file some bytes are, told from how they begin."""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    name : str
        As sentences call it: ``a PNG image``.
    endings : tuple of str
        Those it may have among the files that are read; none if it is not read.
    advice : str
        What to do with one that has another ending.
    """

    name: str
    endings: tuple[str, ...] = ()
    advice: str = "choose a table instead"

    @classmethod
    def read(cls, name: str, *endings: str) -> Kind:
        """Return a kind that is read under its own endings."""
        return cls(name, endings, f"give it the ending {endings[0]}")


_UNPACK = "unpack it, and choose the table in it"
_EXPORT = "export the table as .csv or .xlsx"
_SAVE = "open it, and save the table as .csv or .xlsx"

_SIGNATURES: tuple[tuple[bytes, Kind], ...] = (
    # The fifth byte sets it apart from text whose first column is called PAR1.
    (b"PAR1\x15", Kind.read("a Parquet file", ".parquet")),
    (b"<stata_dta>", Kind.read("a Stata file", ".dta")),
    (b"$FL2@(#)", Kind.read("an SPSS file", ".sav", ".zsav")),
    (b"$FL3@(#)", Kind.read("an SPSS file", ".zsav", ".sav")),
    (
        b"\xd0\xcf\x11\xe0",
        Kind("an old or password-protected Excel file", advice="save it as .csv or as .xlsx without a password"),
    ),
    (b"\x1f\x8b", Kind("a gzip archive", advice="unpack it, or save it as .csv")),
    (b"BZh", Kind("a bzip2 archive", advice=_UNPACK)),
    (b"\xfd7zXZ\0", Kind("an xz archive", advice=_UNPACK)),
    (b"\x28\xb5\x2f\xfd", Kind("a Zstandard archive", advice=_UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Kind("a 7-Zip archive", advice=_UNPACK)),
    (b"Rar!\x1a\x07", Kind("a RAR archive", advice=_UNPACK)),
    (b"\x89PNG\r\n", Kind("a PNG image")),
    (b"\xff\xd8\xff", Kind("a JPEG image")),
    (b"GIF8", Kind("a GIF image")),
    (b"%PDF-", Kind("a PDF document", advice=_EXPORT)),
    (b"{\\rtf", Kind("an RTF document", advice=_SAVE)),
    (b"SQLite format 3\0", Kind("an SQLite database", advice=_EXPORT)),
    (
        b"version https://git-lfs",
        Kind("a pointer of Git LFS, not the file itself", advice="get the file with git lfs pull"),
    ),
    (b"\x89HDF\r\n", Kind("an HDF5 file", advice=_EXPORT)),
    (b"ARROW1\0\0", Kind("an Arrow or Feather file", advice="save it as .parquet or .csv")),
    (b"RDX", Kind("an R data file", advice=_EXPORT)),
    (b"\x7fELF", Kind("a program")),
    (b"MZ\x90\0", Kind("a program")),
)

# What the archive of an office document holds, and what it is.
_OFFICE = (
    ("xl/", Kind.read("an Excel workbook", ".xlsx")),
    ("word/", Kind("a Word document", advice=_SAVE)),
    ("ppt/", Kind("a PowerPoint presentation", advice=_SAVE)),
    ("content.xml", Kind("an OpenDocument file", advice=_SAVE)),
)

_HTML = re.compile(rb"<(?:!doctype html|html|head|body|table|meta|script|!--)", re.IGNORECASE)
_JSON = re.compile(rb'(?:\{\s*(?:"[^"\n]*"\s*:|\})|\[\s*(?:[\[{]|\]))')


def kind_of(data: bytes) -> Kind | None:
    """Return the kind of file that ``data`` is, or None if it may be text or is not known."""
    if data.startswith(b"PK\x03\x04"):
        return _archive(data)
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    # The protocols of pickle that are bytes; each file ends with a full stop.
    if re.match(rb"\x80[\x02-\x05]", data) and data.endswith(b"."):
        return Kind("a pickle of Python, which may run any program", advice="save the table as .csv or .parquet")
    return _marked_up(data[:1000].removeprefix(b"\xef\xbb\xbf").lstrip())


def _archive(data: bytes) -> Kind:
    with contextlib.suppress(zipfile.BadZipFile, OSError, ValueError), zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        for start, kind in _OFFICE:
            if any(name.startswith(start) for name in names):
                return kind
        return Kind("a zip archive", (".xlsx",), _UNPACK)  # a workbook has to be looked at
    # A part of one may be that of a workbook.
    return Kind.read("a damaged zip archive or Excel workbook", ".xlsx")


def _marked_up(start: bytes) -> Kind | None:
    if _HTML.match(start):
        return Kind("a web page (HTML)", advice="it may be an error message in place of the file: download that again")
    if start.startswith(b"<?xml"):
        return Kind("an XML file", advice=_EXPORT)
    if _JSON.match(start):
        return Kind("a JSON file", advice=_EXPORT)
    return None
