"""Tables from Excel workbooks."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.tables.checks import MISSING, check_cells, column_names, refuse_no_records
from microagg.tables.notices import Reading

if TYPE_CHECKING:
    import openpyxl

#: How many bytes the parts of a workbook may have together once they are unpacked.
MAX_UNPACKED = 1 << 28


@contextlib.contextmanager
def workbook(data: bytes, label: str) -> Iterator[openpyxl.Workbook]:
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


def read_xlsx(data: bytes, label: str, sheet: str | None, max_cells: int) -> Reading:
    """Return a sheet of a workbook; see :func:`microagg.tables.read_file`."""
    with workbook(data, label) as book:
        sheets = {str(found.title): found for found in book.worksheets}
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
        refuse_no_records(label)
    width = max(len(row) for row in rows)
    check_cells(len(rows) - 1, width, max_cells, label)
    header, *records = (row + [None] * (width - len(row)) for row in rows)
    columns = [list(column) for column in zip(*records, strict=True)]
    used = [j for j in range(width) if header[j] is not None or any(cell is not None for cell in columns[j])]
    names = column_names([(j + 1, header[j]) for j in used], label)
    frame = pd.DataFrame({i: [None if cell in MISSING else cell for cell in columns[j]] for i, j in enumerate(used)})
    frame.columns = names
    return Reading(frame)


def _sheet_rows(sheet: Any, label: str, max_cells: int) -> list[list[Any]]:
    """Return the rows of a sheet, without blank rows around them and without empty cells at their ends."""
    # A sheet may claim any size, and would be padded to it: a small file could become a huge table.
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
        row = [_decoded(cell) for cell in cells]
        while row and row[-1] is None:
            row.pop()
        if row or rows:
            rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _decoded(cell: Any) -> Any:
    """Return a cell, empty ones as None, with the characters that workbooks spell out such as ``_x000D_``."""
    if not isinstance(cell, str):
        return cell
    return re.sub(r"_x([0-9A-Fa-f]{4})_", _character, cell) or None


def _character(spelled: re.Match[str]) -> str:
    code = int(spelled[1], 16)
    return spelled[0] if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code)
