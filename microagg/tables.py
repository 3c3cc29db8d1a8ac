"""Tables from and to files: nothing guessed in silence on the way in, nothing lost on the way out.

What a file does not say unmistakably is either an error that tells what to do, or a rule written down in
:func:`read_table`. Row order is kept, no column becomes an index, and no column is dropped or renamed.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import hashlib
import io
import itertools
import os
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.validation import check_unique_columns

if TYPE_CHECKING:
    import openpyxl
    import pandas as pd

#: The endings of the files that :func:`read_table` reads.
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")

#: The cells that count as missing in text files and workbooks, beside empty ones.
MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")

#: The delimiters among which one is found when none is given; the comma last, as it may also be a decimal comma.
DELIMITERS = (";", "\t", "|", ",")

#: How many bytes the parts of a workbook may have together once they are unpacked.
MAX_UNPACKED = 1 << 28

# Further characters that somebody may have separated fields with; never chosen, only named in an error.
_RARE_DELIMITERS = (":", "^", "~", " ")

_SPOKEN = {"\t": "tab", " ": "space"}

# How much of a text file is looked at to find its delimiter: enough for many lines, cheap for any file.
_SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 50

# Whole numbers with more digits may be rounded when they become floats.
_EXACT_DIGITS = 15

# How files begin that people rename to .csv, what they are, and the ending that would be right.
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook", ".xlsx"),
    # The fifth byte sets it apart from text whose first column is called PAR1.
    (b"PAR1\x15", "a Parquet file", ".parquet"),
    (b"\xd0\xcf\x11\xe0", "an old or password-protected Excel file", None),
    (b"\x1f\x8b", "a gzip archive", None),
)

# A spreadsheet takes text that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def read_table(
    source: str | os.PathLike[str] | bytes | BinaryIO | None,
    *,
    name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    sheet: str | None = None,
    max_cells: int = 50_000_000,
) -> pd.DataFrame:
    """Read a table from a CSV, Parquet or Excel file; the ending of its name says which.

    Parameters
    ----------
    source : path, bytes or binary file
        The file. A binary file is read from its beginning.
    name : str, optional
        The file's name; needed for bytes, and for binary files that have none.
    delimiter : str, optional
        The character between the fields of a text file. If not given, it is found among comma, semicolon, tab and
        ``|`` from the header and the first lines.
    encoding : str, optional
        The encoding of a text file. If not given, it is UTF-16 or UTF-32 where a byte order mark says so and UTF-8
        otherwise; no other is guessed.
    decimal : {".", ","}
        The decimal mark of a text file; see :func:`decimal_comma_columns`.
    sheet : str, optional
        The sheet of a workbook, the first one if not given; see :func:`sheet_names`.
    max_cells : int
        How many cells, i.e. records times columns, the table may have. Compressed files are checked before or
        while they are unpacked.

    Returns
    -------
    DataFrame, shape (n records, number of columns)
        With a plain 0..n-1 index.

    Raises
    ------
    DataError
        If the file is missing, empty, damaged, too large or ambiguous: a wrong delimiter or encoding, lines of
        different lengths, columns with equal names, no records.
    ParameterError
        If a parameter is of the wrong kind, or the sheet does not exist.

    Notes
    -----
    - Column names of text files and workbooks lose surrounding blanks; one that is empty becomes ``column 3``, by
      its position counting from 1.
    - Empty cells and those in :data:`MISSING` are missing values; whole numbers beside them become floats.
    - Lines without anything on them are skipped, except inside a table with one column, where they are missing values.
    - A column of digits only stays text if a cell starts with a superfluous 0 or has more digits than a float
      can hold beside missing values: such columns are codes, and ``01067`` must not be released as ``1067``.
    - In a workbook, the first row with any content is the header, rows and columns without any content around the
      table do not count, and formulas have their last computed values.
    """
    data, label = _read_bytes(source, name)
    ending = PurePath(label).suffix.lower()
    if ending not in ENDINGS:
        hint = "save it as .xlsx" if ending == ".xls" else "rename or convert it"
        raise DataError(f"cannot tell what kind of file {label!r} is: its name must end in {_or(ENDINGS)}, so {hint}.")
    if not data:
        raise DataError(f"the file {label!r} is empty (0 bytes): choose a file with a header and at least one record.")
    _check_signature(data, label, ending)
    if ending == ".parquet":
        return _read_parquet(data, label, max_cells)
    if ending == ".xlsx":
        return _read_xlsx(data, label, sheet, max_cells)
    return _read_text(data, label, delimiter, encoding, decimal, max_cells)


def sheet_names(source: str | os.PathLike[str] | bytes | BinaryIO, *, name: str | None = None) -> list[str]:
    """Return the names of the sheets of an Excel workbook, in its own order.

    Raises
    ------
    DataError
        If it is not a workbook, or a damaged or too large one.
    """
    data, label = _read_bytes(source, name)
    _check_signature(data, label, ".xlsx")
    with _workbook(data, label) as workbook:
        return [str(sheet.title) for sheet in workbook.worksheets]


def decimal_comma_columns(frame: pd.DataFrame) -> list[str]:
    """Return the text columns that look like numbers with a decimal comma, such as ``3,14``.

    Reading the file again with ``decimal=","`` turns them into numbers. Columns in which every comma could as well
    separate thousands, such as ``1,234``, are left out.
    """
    from pandas.api.types import is_numeric_dtype

    found = []
    for position, column in enumerate(frame.columns):
        series = frame.iloc[:, position]
        if is_numeric_dtype(series):
            continue
        cells = series.dropna()
        if not all(isinstance(cell, str) for cell in cells):
            continue
        with_comma = [cell for cell in cells if "," in cell]
        if (
            with_comma
            and all(re.fullmatch(r"\s*[+-]?\d+(,\d+)?\s*", cell) for cell in cells)
            and not all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in with_comma)
        ):
            found.append(str(column))
    return found


def to_csv(frame: pd.DataFrame) -> str:
    """Return ``frame`` as the text of a CSV file that loses no digit and runs no formula.

    Numbers are written with the fewest digits that read back as the same number. Text cells and column names that
    start with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return get a leading ``'``, because a spreadsheet would
    take them for formulas; numbers never do, and neither does text that is a negative number. The index is left out
    unless it has a name.

    Parameters
    ----------
    frame : DataFrame
        Any columns; missing values become empty cells.

    Returns
    -------
    str
        With a header line; to be encoded as UTF-8.
    """
    plain = frame
    if any(name is not None for name in frame.index.names):
        plain = frame.reset_index(allow_duplicates=True)
    table = plain.reset_index(drop=True)
    # Columns are replaced by position, because an arbitrary frame may hold two of one name.
    for j in range(table.shape[1]):
        if _may_hold_text(table.iloc[:, j]):
            cells: Any = table.iloc[:, j].astype(object).map(_harmless)
            table.isetitem(j, cells)
    table.columns = [_harmless(str(name)) for name in plain.columns]
    # Only with this line ending does the writer put quotes around a bare carriage return within a cell.
    returns = any("\r" in cell for cell in (*table.columns, *_texts(table)))
    return table.to_csv(index=False, lineterminator="\r\n" if returns else "\n")


def digest_bytes(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 sum of ``data`` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_array(X: ArrayLike) -> str:
    """Return the SHA-256 sum of an array's type, shape and values as 64 hexadecimal digits.

    Arrays with the same values give the same digest however they lie in memory.

    Raises
    ------
    ParameterError
        If the array holds Python objects, whose bytes say nothing about their values.
    """
    array = np.asarray(X)
    if array.dtype.hasobject:
        raise ParameterError(f"X must be an array of numbers, not of {array.dtype}.")
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


# --- what every kind of file has in common ---------------------------------------------------------------------------


def _read_bytes(source: Any, name: str | None) -> tuple[bytes, str]:
    """Return the bytes of ``source`` and the file's name, without its folder."""
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
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DataError(f"the file {str(path)!r} cannot be read ({reason}): check its permissions.") from None
    if not hasattr(source, "read"):
        raise ParameterError(f"source must be a path, bytes or a binary file, not {type(source).__name__}.")
    label = _base_name(name or getattr(source, "name", None))
    # An upload that was read before stands at its end, and would look empty.
    if getattr(source, "seekable", lambda: False)():
        source.seek(0)
    data = source.read()
    if not isinstance(data, bytes):
        raise ParameterError(f"the file {label!r} is open as text: open it in binary mode ('rb').")
    return data, label


def _base_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"name must be the file's name, ending in {_or(ENDINGS)}, if source is not a path.")
    return PurePath(name).name


def _check_signature(data: bytes, label: str, ending: str) -> None:
    """Refuse a file whose first bytes belong to another kind than its name."""
    for signature, kind, right in _SIGNATURES:
        if data.startswith(signature) and ending != right:
            advice = "unpack it, or save it as .csv or as .xlsx without a password"
            if right is not None:
                advice = f"give it the ending {right}"
            raise DataError(f"the file {label!r} is not a {ending} file but {kind}: {advice}.")
    if ending == ".parquet" and not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise DataError(f"the file {label!r} is not a Parquet file, or only a part of one: export it again.")
    if ending == ".xlsx" and not zipfile.is_zipfile(io.BytesIO(data)):
        raise DataError(f"the file {label!r} is not an Excel workbook, or a damaged one: save it as .xlsx again.")


def _check_cells(records: int, columns: int, max_cells: int, label: str, *, at_least: bool = False) -> None:
    if records * columns > max_cells:
        raise DataError(
            f"the file {label!r} has {'at least ' if at_least else ''}{records:,} records with {columns:,} columns, "
            f"over the limit of {max_cells:,} cells: leave out columns, or split the file."
        )


def _no_records(label: str) -> NoReturn:
    raise DataError(f"the file {label!r} has a header but no records: choose a file with at least one record.")


def _check_names(names: Sequence[str], label: str) -> None:
    try:
        check_unique_columns(names)
    except DataError as error:
        raise DataError(f"in the file {label!r}, {error}") from None


def _column_names(header: Iterable[tuple[int, Any]], label: str) -> list[str]:
    """Return the names in a header of (position from 1, cell); where a cell is empty, the position is the name."""
    texts = [(position, "" if cell is None else str(cell).strip()) for position, cell in header]
    names = [text or f"column {position}" for position, text in texts]
    _check_names(names, label)
    return names


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


# --- text files ------------------------------------------------------------------------------------------------------


def _read_text(
    data: bytes, label: str, delimiter: str | None, encoding: str | None, decimal: str, max_cells: int
) -> pd.DataFrame:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(f"delimiter must be one character such as ',' or ';', not {delimiter!r}.")
    if decimal not in (".", ","):
        raise ParameterError(f"decimal must be '.' or ',', not {decimal!r}.")
    text = _decode(data, label, encoding)
    body = text.lstrip("\r\n")
    first_line = 1 + len(text[: len(text) - len(body)].splitlines())
    body = body.rstrip("\r\n")
    if not body.strip():
        raise DataError(f"the file {label!r} holds blank lines only: choose a file with a header and records.")
    sample = body[:_SAMPLE_CHARACTERS]
    if delimiter is None:
        delimiter = _find_delimiter(sample)
    names, n = _check_rows(body, label, delimiter, first_line, max_cells)
    if len(names) == 1 and (rival := _rival(sample, delimiter)):
        raise DataError(
            f"divided by {_spoken(delimiter)}, the file {label!r} has only one column, but {_spoken(rival)} divides "
            f"all its lines alike: choose {_spoken(rival)} as the delimiter."
        )
    if n == 0:
        _no_records(label)
    frame = _parse(body, delimiter, decimal, len(names))
    if len(frame) != n:
        raise DataError(
            f"the file {label!r} has {n} records by one way of counting and {len(frame)} by another: "
            "put double quotes around cells that contain quotes, delimiters or line breaks."
        )
    frame.columns = names
    return frame


def _decode(data: bytes, label: str, encoding: str | None) -> str:
    if encoding is None:
        # The mark of UTF-32 begins with that of UTF-16, so it comes first.
        marks = (
            (codecs.BOM_UTF32_LE, "utf-32"),
            (codecs.BOM_UTF32_BE, "utf-32"),
            (codecs.BOM_UTF16_LE, "utf-16"),
            (codecs.BOM_UTF16_BE, "utf-16"),
        )
        chosen = next((codec for mark, codec in marks if data.startswith(mark)), "utf-8")
    else:
        chosen = encoding
    try:
        text = data.decode(chosen)
    except LookupError:
        raise ParameterError(f"there is no text encoding {chosen!r}: try 'utf-8', 'cp1252' or 'latin-1'.") from None
    except UnicodeError as error:
        where = "in it"
        if isinstance(error, UnicodeDecodeError):
            where = f"at byte {error.start} (0x{data[error.start]:02x})"
        advice = "choose another encoding, or save it as UTF-8"
        if encoding is None:
            advice = "choose its encoding, which is often cp1252 (Windows) or latin-1, or save it as UTF-8"
        raise DataError(f"the file {label!r} is not valid {chosen.upper()} {where}: {advice}.") from None
    text = text.removeprefix("\ufeff")
    if (zero := text.find("\0")) >= 0:
        raise DataError(
            f"the file {label!r} holds a zero character at position {zero}, so it is no text in {chosen.upper()}: "
            "choose its encoding, which may be utf-16-le, or save it as UTF-8."
        )
    return text


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of every line that is not blank, or of every line if there is one column.

    Lines count from 0, and a record over several lines has the number of its last.
    """
    # Python's own reader is strict about quotes and says where it stands; pandas is neither, but much faster.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    single = None
    for row in reader:
        blank = not row or (len(row) == 1 and not row[0].strip())
        if single is None:
            if blank:
                continue
            single = len(row) == 1
        if single or not blank:
            yield reader.line_num - 1, row or [""]


def _widths(sample: str, delimiter: str) -> list[int]:
    """Return how many fields each of the first records has."""
    widths = []
    # What was read before a broken quote still tells the delimiter.
    with contextlib.suppress(csv.Error):
        for _, row in itertools.islice(_rows(sample, delimiter), _SAMPLE_LINES):
            widths.append(len(row))
    # The sample may end in the middle of a record.
    return widths[:-1] if len(sample) == _SAMPLE_CHARACTERS and len(widths) > 1 else widths


def _consistent(widths: Sequence[int]) -> bool:
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _find_delimiter(sample: str) -> str:
    """Return the delimiter that divides header and records alike; else the header; else nothing at all."""
    widths = {delimiter: _widths(sample, delimiter) for delimiter in DELIMITERS}
    for fits in (_consistent, lambda found: max(found[:1], default=0) > 1, lambda found: max(found, default=0) == 1):
        if candidates := [delimiter for delimiter in DELIMITERS if fits(widths[delimiter])]:
            # max keeps the first of equals, and so prefers a comma least: "1,5;2,5" has two readings.
            return max(candidates, key=lambda delimiter: widths[delimiter][0])
    return ","


def _rival(sample: str, delimiter: str) -> str | None:
    """Return another delimiter that divides every one of the first lines into equally many fields, if there is one."""
    for other in (*DELIMITERS, *_RARE_DELIMITERS):
        if other == delimiter or not _consistent(_widths(sample, other)):
            continue
        # Two words in every cell are no two columns, unless they are numbers.
        records = sample.splitlines()[1:_SAMPLE_LINES]
        if other != " " or all(re.fullmatch(r'[-+\d.,eE"\s]*', record) for record in records):
            return other
    return None


def _check_rows(text: str, label: str, delimiter: str, first_line: int, max_cells: int) -> tuple[list[str], int]:
    """Return the column names and the number of records, if all lines of ``text`` have equally many fields."""
    names: list[str] = []
    n, line = 0, -1
    ragged: tuple[int, int] | None = None
    widths: set[int] = set()
    try:
        for line, row in _rows(text, delimiter):
            if not names:
                names = _column_names(enumerate(row, start=1), label)
                continue
            n += 1
            if len(row) != len(names) or ragged:
                ragged = ragged or (line + first_line, len(row))
                widths.add(len(row))
                # The further lines matter only for the advice, so some of them are enough.
                if len(widths) > 1 or n > _SAMPLE_LINES:
                    break
            if n * len(names) > max_cells:
                _check_cells(n, len(names), max_cells, label, at_least=True)
    except csv.Error as error:
        reason = "a quote that is never closed, or a cell of unusual length"
        if "expected after" in str(error):
            reason = "characters between a closing quote and the next delimiter"
        raise DataError(
            f"the file {label!r} cannot be divided into cells after line {line + first_line}, because of {reason}: "
            "put double quotes around the whole cell, and double those within it."
        ) from None
    if ragged:
        number, width = ragged
        if rival := _rival(text[:_SAMPLE_CHARACTERS], delimiter):
            advice = f"choose {_spoken(rival)} as the delimiter, which divides all lines alike"
        elif widths == {len(names) + 1} and number == first_line + 1 and n > 1:
            advice = (
                "as the other lines have one more too, add the missing column name (often that of the row numbers) to "
                "the header, or remove the delimiter at the end of the lines"
            )
        else:
            advice = f"check the delimiter ({_spoken(delimiter)}), and put double quotes around cells that contain it"
        raise DataError(
            f"line {number} of the file {label!r} has {_fields(width)}, but the header has {_fields(len(names))}: "
            f"{advice}."
        )
    return names, n


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"


def _spoken(delimiter: str) -> str:
    return _SPOKEN.get(delimiter, repr(delimiter))


def _parse(body: str, delimiter: str, decimal: str, width: int) -> pd.DataFrame:
    """Return a text that :func:`_check_rows` has passed as a frame whose columns are numbered from 0."""
    import pandas as pd

    options: dict[str, Any] = {
        "sep": delimiter,
        "header": 0,
        "names": list(range(width)),
        "index_col": False,
        "decimal": decimal,
        # In place of pandas' own list, which would make text such as "None" missing.
        "na_values": ["", *MISSING],
        "keep_default_na": False,
        "skip_blank_lines": width > 1,
        "low_memory": False,
    }
    # Newer versions always read floats exactly, and warn of the option that older ones need for it.
    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
        options["float_precision"] = "round_trip"
    frame: pd.DataFrame = pd.read_csv(io.StringIO(body, newline=""), **options)
    if codes := _possible_codes(frame, body, delimiter):
        texts = pd.read_csv(io.StringIO(body, newline=""), usecols=codes, dtype=str, **options)
        for column in codes:
            cells = texts[column].dropna().str.strip()
            rounded = frame[column].dtype.kind == "f" and bool((cells.str.len() > _EXACT_DIGITS).any())
            if cells.str.fullmatch(r"\d+").all() and (rounded or cells.str.match(r"0\d").any()):
                frame[column] = texts[column]
    return frame


def _possible_codes(frame: pd.DataFrame, body: str, delimiter: str) -> list[int]:
    """Return the columns that came out as whole numbers, but may have been codes such as 01067 or very long ones."""
    zeros = re.search(rf'(?:^|[\r"{re.escape(delimiter)}])[ ]*0\d', body, re.MULTILINE) is not None
    found = []
    for column in range(frame.shape[1]):
        values = frame[column].dropna().to_numpy()
        if not len(values) or values.dtype.kind not in "iuf":
            continue
        rounded = values.dtype.kind == "f" and np.abs(values).max() >= 10.0**_EXACT_DIGITS
        if (zeros or rounded) and np.isfinite(values).all() and (values == np.floor(values)).all():
            found.append(column)
    return found


# --- Parquet ---------------------------------------------------------------------------------------------------------


def _read_parquet(data: bytes, label: str, max_cells: int) -> pd.DataFrame:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            f"reading {label!r} needs the package pyarrow: install microagg[files], or save the table as .csv."
        ) from None
    try:
        with pq.ParquetFile(io.BytesIO(data)) as file:
            schema = file.schema_arrow
            for column in schema:
                if pa.types.is_nested(column.type):
                    raise DataError(
                        f"column {column.name!r} of the file {label!r} holds lists or records ({column.type}): "
                        "leave it out, or unfold it into columns of single values."
                    )
            _check_names(schema.names, label)
            # Sizes in bytes are what a malicious file lies about; what it takes to hold the table is its cells.
            _check_cells(file.metadata.num_rows, len(schema.names), max_cells, label)
            if file.metadata.num_rows == 0:
                _no_records(label)
            table = file.read()
        for j, column in enumerate(table.schema):
            if pa.types.is_decimal(column.type):
                table = table.set_column(j, column.name, table.column(j).cast(pa.float64()))
        # Without the notes that pandas leaves in its files, which would turn columns into an index.
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    except MicroaggError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise DataError(f"the file {label!r} is a damaged Parquet file ({reason}): export it again.") from None
    return frame


# --- Excel -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _workbook(data: bytes, label: str) -> Iterator[openpyxl.Workbook]:
    """Open an Excel workbook once its unpacked size has been checked; what goes wrong within is a damaged file."""
    try:
        import openpyxl
    except ImportError:
        raise DataError(
            f"reading {label!r} needs the package openpyxl: install microagg[files], or save the table as .csv."
        ) from None
    # openpyxl warns of styles and extensions that it leaves out; none of them touches a value.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > MAX_UNPACKED:
                raise DataError(
                    f"the file {label!r} unpacks to {unpacked / 1e6:,.0f} MB, over the limit of "
                    f"{MAX_UNPACKED / 1e6:,.0f} MB for workbooks: save the table as .csv or .parquet."
                )
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            try:
                yield book
            finally:
                book.close()
        except MicroaggError:
            raise
        except Exception as error:  # openpyxl lets through whatever its parsers raise, cells included
            raise DataError(
                f"the file {label!r} is not an Excel workbook, or a damaged one ({type(error).__name__}): "
                "save it as .xlsx again."
            ) from None


def _read_xlsx(data: bytes, label: str, sheet: str | None, max_cells: int) -> pd.DataFrame:
    import pandas as pd

    with _workbook(data, label) as workbook:
        sheets = {str(found.title): found for found in workbook.worksheets}
        if not sheets:
            raise DataError(f"the file {label!r} has no sheet with cells: save the table in one.")
        title = next(iter(sheets)) if sheet is None else sheet
        if title not in sheets:
            listed = ", ".join(repr(known) for known in sheets)
            raise ParameterError(f"the file {label!r} has no sheet {title!r}: choose one of {listed}.")
        rows = _sheet_rows(sheets[title], label, max_cells)
    if not rows:
        raise DataError(f"the sheet {title!r} of the file {label!r} is empty: choose another sheet or file.")
    if len(rows) == 1:
        _no_records(label)
    width = max(len(row) for row in rows)
    _check_cells(len(rows) - 1, width, max_cells, label)
    header, *records = (row + [None] * (width - len(row)) for row in rows)
    columns = [list(column) for column in zip(*records, strict=True)]
    used = [j for j in range(width) if header[j] is not None or any(cell is not None for cell in columns[j])]
    names = _column_names([(j + 1, header[j]) for j in used], label)
    frame = pd.DataFrame({i: [None if cell in MISSING else cell for cell in columns[j]] for i, j in enumerate(used)})
    frame.columns = names
    return frame


def _sheet_rows(sheet: Any, label: str, max_cells: int) -> list[list[Any]]:
    """Return the rows of a sheet, without blank rows around them and without empty cells at their ends."""
    # The sheet's own claim about its size is not to be trusted: padding to it makes a large table of a small file.
    sheet.reset_dimensions()
    rows: list[list[Any]] = []
    seen = 0
    for cells in sheet.iter_rows(values_only=True):
        seen += max(1, len(cells))
        if seen > max_cells:
            raise DataError(
                f"the sheet {sheet.title!r} of the file {label!r} has more than {max_cells:,} cells, the limit: "
                "leave out columns, or split the file."
            )
        row = [None if cell == "" else cell for cell in cells]
        while row and row[-1] is None:
            row.pop()
        if row or rows:
            rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return rows


# --- writing ---------------------------------------------------------------------------------------------------------


def _harmless(cell: Any) -> Any:
    formula = isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not re.fullmatch(r"-\d+(\.\d+)?", cell)
    return f"'{cell}" if formula else cell


def _may_hold_text(series: pd.Series[Any]) -> bool:
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

    return not (is_numeric_dtype(series) or is_datetime64_any_dtype(series))


def _texts(frame: pd.DataFrame) -> Iterator[str]:
    """Yield every text cell."""
    for j in range(frame.shape[1]):
        if _may_hold_text(frame.iloc[:, j]):
            yield from (cell for cell in frame.iloc[:, j] if isinstance(cell, str))
