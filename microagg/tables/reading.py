"""Tables from files of any kind: the kind is recognized by the first bytes, and checked against the name."""

from __future__ import annotations

import contextlib
import gzip
import inspect
import io
import os
import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.tables.excel import SheetOptions, read_xlsx
from microagg.tables.excel_cells import open_workbook
from microagg.tables.notices import MISSING, Reading, Source, check_memory
from microagg.tables.parquet import read_parquet
from microagg.tables.stata_spss import read_statistics
from microagg.tables.text import read_text
from microagg.tables.text_lines import TextOptions
from microagg.validation import listing


class Kind(NamedTuple):
    """A kind of file, as sentences name it: ``a PNG image``."""

    name: str
    advice: str = "choose a table instead"  # for a file with another ending
    endings: tuple[str, ...] = ()  # its possible endings among the files that are read


def _read(name: str, *endings: str) -> Kind:
    return Kind(name, f"give it the ending {endings[0]}", endings)


_UNPACK, _EXPORT = "unpack it, and choose the table in it", "export the table as .csv or .xlsx"
_SAVE = "open it, and save the table as .csv or .xlsx"

_SIGNATURES: tuple[tuple[bytes, Kind], ...] = (
    # The fifth byte distinguishes it from text whose first column is called PAR1.
    (b"PAR1\x15", _read("a Parquet file", ".parquet")),
    (b"<stata_dta>", _read("a Stata file", ".dta")),
    (b"$FL2@(#)", _read("an SPSS file", ".sav", ".zsav")),
    (b"$FL3@(#)", _read("an SPSS file", ".zsav", ".sav")),
    (
        b"\xd0\xcf\x11\xe0",
        Kind("an old or password-protected Excel file", "save it as .csv or as .xlsx without a password"),
    ),
    (b"\x1f\x8b", Kind("a gzip archive in a gzip archive", _UNPACK)),
    (b"\x89PNG\r\n", Kind("a PNG image")),
    (b"\xff\xd8\xff", Kind("a JPEG image")),
    (b"%PDF-", Kind("a PDF document", _EXPORT)),
    (b"{\\rtf", Kind("an RTF document", _SAVE)),
    (b"SQLite format 3\0", Kind("an SQLite database", _EXPORT)),
    (b"version https://git-lfs", Kind("a pointer of Git LFS, not the file itself", "get the file with git lfs pull")),
    (b"ARROW1\0\0", Kind("an Arrow or Feather file", "save it as .parquet or .csv")),
)

# First members of the archives of office documents, and their kinds.
_OFFICE = (
    ("xl/", _read("an Excel workbook", ".xlsx")),
    ("word/", Kind("a Word document", _SAVE)),
    ("content.xml", Kind("an OpenDocument file", _SAVE)),
)

# Beginnings of texts that are not tables, and their kinds.
_MARKED_UP = (
    (
        re.compile(rb"<(?:!doctype html|html|head|body|table|meta|script|!--)", re.IGNORECASE),
        Kind("a web page (HTML)", "it may be an error message in place of the file: download that again"),
    ),
    (re.compile(rb"<\?xml"), Kind("an XML file", _EXPORT)),
    (re.compile(rb'(?:\{\s*(?:"[^"\n]*"\s*:|\})|\[\s*(?:[\[{]|\]))'), Kind("a JSON file", _EXPORT)),
)


def kind_of(data: bytes) -> Kind | None:
    """The kind of file of ``data``. None if it may be text or is unknown."""
    if data.startswith(b"PK\x03\x04"):
        return _archive(data)
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    start = data[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((kind for pattern, kind in _MARKED_UP if pattern.match(start)), None)


def _archive(data: bytes) -> Kind:
    damaged = (zipfile.BadZipFile, NotImplementedError, OSError, ValueError)
    with contextlib.suppress(*damaged), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for start, kind in _OFFICE:
            if any(name.startswith(start) for name in archive.namelist()):
                return kind
        return Kind("a zip archive", _UNPACK, (".xlsx",))  # it may be a workbook
    # It may be a part of a workbook.
    return _read("a damaged zip archive or Excel workbook", ".xlsx")


#: The endings of the files that :func:`read_file` reads, first those of text.
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".xlsx", ".dta", ".sav", ".zsav")
_ENDINGS_TEXT = listing(ENDINGS, joint="or")

_CHUNK = 1 << 24  # the number of bytes unpacked at a time

# The first byte of a Stata file before version 13 is the number of its format; the second is 1 or 2.
_OLD_STATA = (102, 103, 104, 105, 108, 110, 111, 112, 113, 114, 115)


def read_table(
    source: str | os.PathLike[str] | bytes | BinaryIO | None, *, name: str | None = None, **reading: Any
) -> pd.DataFrame:
    """Read the table of a file.

    Parameters
    ----------
    source, name, **reading
        As in :func:`read_file`, which also returns notices on the file.

    Returns
    -------
    DataFrame of shape (n records, number of columns)
        With a plain 0..n-1 index.

    Raises
    ------
    DataError, ParameterError
        As :func:`read_file`.
    """
    return read_file(source, name=name, **reading).frame


def read_file(
    source: str | os.PathLike[str] | bytes | BinaryIO | None,
    *,
    name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    quote: str = '"',
    inner_quotes: str = "doubled",
    skip_blanks: bool = False,
    drop_zeros: bool = False,
    header: bool | None = None,
    header_lines: int = 1,
    number_names: bool = False,
    repeated_header: bool = False,
    unnamed: str = "keep",
    uneven: str = "error",
    comment: str | None = None,
    sheet: str | None = None,
    fill_merged: bool = False,
    skip_lines: int = 0,
    skip_last: int = 0,
    units_row: bool = False,
    missing: Sequence[str] = MISSING,
    labels: bool | None = None,
    max_cells: int = 50_000_000,
) -> Reading:
    """Read a table from a CSV, Parquet, Excel, Stata or SPSS file. The ending of its name sets the kind.

    Files packed by gzip are unpacked. The ending .xls is accepted for text, and for workbooks that should end in .xlsx.

    Parameters
    ----------
    source : path, bytes or binary file
        The file. A binary file is read from its beginning.
    name : str, optional
        The file's name; needed for bytes, and for binary files that have none.
    delimiter : str, optional
        The character between the fields of a text file, found in the file by default. A blank stands for one or
        several. The candidates are comma, semicolon, tab and ``|`` in the header and the first lines; a line ``sep=;``
        declares it. With ``fixed width`` a column ends where all lines have a blank.
    encoding : str, optional
        The encoding of a text file, such as cp1252. By default UTF-16 or UTF-32 by its byte order mark, else UTF-8.
    decimal : {".", ","}
        The decimal mark of a text file.
    quote : {'"', "'", "curly", "none"}
        The quotes around cells of a text file that contain delimiters or line breaks.
    inner_quotes : {"doubled", "escaped", "plain"}
        How quotes inside quoted cells of a text file are written: twice (doubled), after a backslash (escaped), or as
        they are (plain).
    skip_blanks : bool
        Ignore blanks after the delimiters of a text file.
    drop_zeros : bool
        Remove zero characters (NUL), which are no text, from a text file.
    header : bool, optional
        Whether the first record of a text file contains the column names. Otherwise they are ``column 1``, ``column 2``
        and so on. By default it does, and an :class:`UnreadableError` asks if it looks like data.
    header_lines : int
        The number of header lines of a text file, whose texts are joined to column names.
    number_names : bool
        Number the repeated column names of a text file: the second ``age`` becomes ``age (2)``.
    repeated_header : bool
        Leave out lines of a text file that repeat the header.
    unnamed : {"keep", "first", "last", "drop"}
        The treatment of fields of a text file beyond the header: the first columns have no name and are called ``row``
        (first), the last columns have no name (last), or fields and columns without a name and any value are left out
        (drop).
    uneven : {"error", "drop", "mend"}
        The treatment of lines of a text file with more or fewer fields than the header: leave them out (drop) or mend
        them (mend). Fields that lack are then missing values, and the parts of a cell that seems to have delimiters are
        joined.
    comment : str, optional
        The beginning of lines of a text file to leave out, such as ``#``.
    sheet : str, optional
        The sheet of a workbook, by default the first visible one; see :func:`sheet_names`.
    fill_merged : bool
        Give all records of merged cells the value that a workbook stores only once.
    skip_lines : int
        The number of lines, or rows of a sheet, to skip before the header, such as a title (blank ones count).
    skip_last : int
        The number of lines, or rows of a sheet, to skip below the records, such as a total (blank ones do not count).
    units_row : bool
        Skip the first line or row below the header, which contains the units of the columns.
    missing : sequence of str
        The cells of text columns that count as missing in text files and workbooks, besides empty cells. In columns of
        numbers, those in :data:`MISSING` do as well.
    labels : bool, optional
        Whether columns of codes with value labels, in a Stata or SPSS file, become categories named by the labels. By
        default they do unless they hold numbers of which few have labels, such as 85 "85 and over" among ages.
    max_cells : int
        The maximum number of cells: records times columns. Compressed files are checked before or while they are
        unpacked, and may not take more memory than 20 times their size and 200 MB, nor more than a quarter of the
        machine's.

    Returns
    -------
    Reading
        The table, notices on unexpected content, and the omissions and repairs by the chosen options.

    Raises
    ------
    DataError
        If the file is missing, empty, damaged, too large or ambiguous: a wrong delimiter or encoding, lines of
        different lengths, columns with equal names, no records. An :class:`UnreadableError` has offers of other
        options.
    ParameterError
        If a parameter is of the wrong kind or not for this kind of file, or the sheet does not exist.

    Notes
    -----
    - Column names of text files and workbooks lose surrounding blanks; one that is empty becomes ``column 3``, by
      its position counting from 1.
    - Whole numbers with missing values have pandas' nullable types. A notice names words in a column of text that
      count as missing, as ``NA`` may be Namibia.
    - Blank lines are skipped, except inside a table with one column, where they are missing values.
    - A column of a text file becomes numbers only if these keep all information of its cells: ``01067`` must not be
      released as ``1067``. It stays text, with a notice, if a cell starts with a superfluous 0 or a plus sign, has more
      digits than a number of 64 bits holds, is infinite or ends with a point, or if all cells with an exponent are
      without a point: ``10E2`` may be a code. Blanks around numbers do not count.
    - ``True`` and ``False``, as Python and pandas write them, are booleans; ``TRUE`` is text.
    - In a workbook, the first row with any content is the header, empty rows and columns around the table do not
      count, and formulas have their last computed values; those without any are refused.
    - Cells of a workbook are what the file holds, however their number format rounds it, with these exceptions: whole
      numbers that Excel shows with leading zeros, times of day, durations, and columns in which not all cells are
      numbers, or all are dates, become text. Errors such as ``#DIV/0!`` are missing values.
    - In Parquet files, decimals are numbers if these are exact, and times of day are text. A notice names
      columns kept as text because no number or date is exact: longer decimals, dates after the year 9999.
    - In Stata and SPSS files, missing values of every kind (``.a`` to ``.z``, user-missing values) and empty texts are
      missing values. Dates are dates, also those of weeks, months and quarters in Stata (by their first day); times of
      day of SPSS are text such as ``14:05:00``. Whole numbers of Stata's integer types and of SPSS formats without
      decimals are integers if none is missing.
    - Codes with value labels become categories in the order of the codes, an ordered Categorical if an SPSS file says
      that the variable is ordinal. Codes without a label become categories named by the number. A variable with few
      labels, for values at its ends or for at most a fifth of its values, stays a column of numbers, with a notice, as
      does one on a scale according to SPSS. Codes that share a label get their number in brackets after it.
    """
    arguments = locals()
    data, label = _unpack(*_read_bytes(source, name))
    ending = PurePath(label).suffix.lower()
    kind = kind_of(data) if ending == ".xls" and data else None
    # Many programs use this ending for text and for newer workbooks.
    ending = ending if ending != ".xls" or not data else ".csv" if kind is None else (*kind.endings, ending)[0]
    if ending not in ENDINGS:
        hint = "save it as .xlsx" if ending in (".xls", ".xlsm", ".xlsb", ".ods") else "rename or convert it"
        raise DataError(f"cannot tell what kind of file {label!r} is: its name must end in {_ENDINGS_TEXT}, so {hint}.")
    if not data:
        raise DataError(f"the file {label!r} is empty (0 bytes): choose a file with a header and at least one record.")
    _check_signature(data, label, ending)
    options_class: Any = SheetOptions if ending == ".xlsx" else TextOptions
    used = {field.name for field in fields(options_class)}
    if ending not in (*TEXT_ENDINGS, ".xlsx"):
        used = set() if ending == ".parquet" else {"labels"}
    for option, parameter in inspect.signature(read_file).parameters.items():
        if option not in {*used, "source", "name", "max_cells"} and arguments[option] != parameter.default:
            raise ParameterError(f"{option} is not for {ending} files such as {label!r}: leave it out.")
    if ending == ".parquet":
        return replace(read_parquet(data, label, max_cells), source=Source(data, label))
    if ending in (".dta", ".sav", ".zsav"):
        return replace(read_statistics(data, label, labels, max_cells), source=Source(data, label))
    options = options_class(**{field.name: arguments[field.name] for field in fields(options_class)})
    read: Any = read_xlsx if ending == ".xlsx" else read_text
    return replace(read(data, label, options, max_cells), source=Source(data, label, options))


def sheet_names(
    source: str | os.PathLike[str] | bytes | BinaryIO, *, name: str | None = None, hidden: bool | None = None
) -> list[str]:
    """Names of the sheets of an Excel workbook.

    Parameters
    ----------
    source, name
        As in :func:`read_file`.
    hidden : bool, optional
        Whether to return only the sheets that Excel hides, or only those that it shows; by default all.

    Returns
    -------
    list of str
        In the order of the workbook.

    Raises
    ------
    DataError
        If it is not a workbook, or a damaged or too large one.
    """
    data, label = _unpack(*_read_bytes(source, name))
    _check_signature(data, label, ".xlsx")
    with open_workbook(data, label) as book:
        return [sheet.title for sheet in book.sheets if hidden is None or sheet.hidden == hidden]


def _read_bytes(source: Any, name: str | None) -> tuple[bytes, str]:
    """Bytes and name of a file."""
    if source is None:
        raise DataError("no file was chosen: choose a file with a header and at least one record.")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), _base_name(name)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        try:
            return path.read_bytes(), _base_name(name or path.name)
        except FileNotFoundError:
            raise DataError(f"there is no file {str(path)!r}: check its name and folder.") from None
        except IsADirectoryError:
            raise DataError(f"{str(path)!r} is a folder: name a file in it.") from None
        except (OSError, ValueError) as error:  # a name may have impossible characters
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise DataError(f"the file {str(path)!r} cannot be read ({reason}): check its permissions.") from None
    if not hasattr(source, "read"):
        raise ParameterError(f"source must be a path, bytes or a binary file, not {type(source).__name__}.")
    label = _base_name(name or getattr(source, "name", None))
    # An upload that was read before is at its end, and would look empty.
    if getattr(source, "seekable", lambda: False)():
        source.seek(0)
    data = source.read()
    if not isinstance(data, bytes):
        raise ParameterError(f"the file {label!r} is open as text: open it in binary mode ('rb').")
    return data, label


def _unpack(data: bytes, label: str) -> tuple[bytes, str]:
    """Content of a gzip archive, and its name without .gz. Other files unchanged."""
    if not data.startswith(b"\x1f\x8b"):
        return data, label
    parts, size = [], 0
    try:
        with gzip.open(io.BytesIO(data)) as archive:
            while part := archive.read(_CHUNK):
                parts.append(part)
                size += len(part)
                check_memory(size, len(data), label)
    except (EOFError, OSError, zlib.error):
        raise DataError(f"the file {label!r} is a gzip archive that is damaged or cut off: get it anew.") from None
    inner = label[:-3] if label.lower().endswith(".gz") else label
    return b"".join(parts), inner if PurePath(inner).suffix else f"{inner}.csv"


def _base_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"name must be the file's name, ending in {_ENDINGS_TEXT}, if source is not a path.")
    return PurePath(name).name


def _check_signature(data: bytes, label: str, ending: str) -> None:
    """Refuse a file whose first bytes belong to another kind than its name."""
    kind = kind_of(data)
    if kind is not None and ending not in kind.endings:
        raise DataError(f"the file {label!r} is not a {ending} file but {kind.name}: {kind.advice}.")
    expected = ""
    if ending == ".parquet" and not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        expected = "a Parquet file, or only a part of one: export it again"
    elif ending == ".xlsx" and not zipfile.is_zipfile(io.BytesIO(data)):
        expected = "an Excel workbook, or a damaged one: save it as .xlsx again"
    elif ending == ".dta" and kind is None and not (data[0] in _OLD_STATA and data[1:2] in (b"\1", b"\2")):
        expected = "a Stata file: save it as .dta again"
    elif ending in (".sav", ".zsav") and not data.startswith((b"$FL2", b"$FL3")):
        expected = "an SPSS file: save it as .sav again"
    if expected:
        raise DataError(f"the file {label!r} is not {expected}.")
