"""Tables to files of every kind, without loss of digits and without formulas."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.errors import DataError, ParameterError
from microagg.tables import limits, lossless
from microagg.tables.excel_cells import column_letters
from microagg.tables.frames import as_pandas
from microagg.tables.notices import Written, has_surrogates
from microagg.tables.parquet import write_parquet
from microagg.tables.stata_spss_writer import write_statistics
from microagg.validation import check_unique_columns, listing, widened

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


#: The endings of the files that :func:`write_table` writes.
WRITTEN_ENDINGS = (".csv", ".parquet", ".xlsx", ".dta", ".sav")

# The number of cells pandas writes at a time: each time it converts every column again, which takes most of the time
# with thousands of columns and few records.
_CELLS = 2_000_000

# A spreadsheet reads text that starts with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_table(frame: IntoDataFrame, name: str) -> bytes:
    """Write ``frame`` as a CSV (in UTF-8), Parquet, Excel, Stata or SPSS file. The ending of ``name`` sets the kind.

    Equal frames give equal bytes with the same versions of the packages: no file has the time of writing. The index is
    left out.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n records, number of columns)
        Names of columns must be unique as text: 1 and "1" are the same in a file.
    name : str
        The name of the file, ending in one of :data:`WRITTEN_ENDINGS`.

    Raises
    ------
    DataError
        If there is no column, names are blank or not unique, the kind of file cannot contain the table
        (:func:`microagg.tables.limits.check`), or a package is missing.
    ParameterError
        If the ending is another one.

    Notes
    -----
    - What each kind of file can hold, and what becomes of more, stands in :data:`microagg.tables.limits.LIMITS`.
    - Columns keep their names in .csv (but see :func:`to_csv`), .parquet and .xlsx. Stata and SPSS do not allow every
      name; those changed keep the full name, or its beginning, as the variable's label, and :func:`renamed_columns`
      lists them.
    - A column of objects is written by the common type of its values: booleans, numbers, dates or text. Numbers
      beside text become text, and so do dates with a time zone and durations in .xlsx, .dta and .sav, and periods and
      intervals.
    - Text is never a formula: .xlsx files hold it as text whatever it starts with, and only .csv files need a ``'``
      before it. An empty text is a missing value but for .parquet; SPSS also drops blanks at the end of a text.
    - Whole numbers that would lose digits become text. In a column with missing values, or beyond 2^31 in .dta, whole
      numbers are read again as floats.
    - Dates outside the format's calendar become text, and so do columns of times finer than a millisecond in .xlsx,
      .dta and .sav. The other dates are dates.
    - Booleans become 0 and 1 in .dta and .sav.
    - Categories that are text keep their names and order in .parquet, .dta and .sav, but Stata does not know whether
      the order means something. They become text where a label is too long, and in .csv and .xlsx. Categories that are
      numbers become numbers.
    """
    return written(frame, name).data


def written(frame: IntoDataFrame, name: str) -> Written:
    """Like :func:`write_table`, but also reports the changes that the format requires."""
    columns = check_table(frame, name)
    ending = written_ending(name)
    table = pd.DataFrame(columns, copy=False)
    renamed = renamed_columns(table, ending)
    if ending == ".csv":
        return Written(to_csv(table).encode(), renamed=renamed)
    if ending == ".parquet":
        return Written(write_parquet(columns, name))
    if ending == ".xlsx":
        data = workbook(list(columns), [sheet_cells(series) for series in columns.values()])
        return Written(data, {"missing": ()})
    data, notices = write_statistics(columns, name)
    return Written(data, renamed=renamed, notices=notices)


def check_table(frame: IntoDataFrame, name: str) -> dict[str, pd.Series[Any]]:
    """Return the columns of ``frame`` by their names as text; raises as :func:`write_table`, without writing."""
    ending = written_ending(name)
    plain = as_pandas(frame).reset_index(drop=True)
    columns = {column: plain.iloc[:, j] for j, column in enumerate(_names(plain))}
    limits.check(columns, ending)
    return columns


def renamed_columns(frame: IntoDataFrame, ending: str) -> dict[str, str]:
    """New names of columns whose names a kind of file cannot contain.

    Stata and SPSS allow only letters, digits and ``_``, in at most 32 characters and 64 bytes: ``education-num``
    becomes ``education_num``, and ``2020`` becomes ``v_2020``. In .csv files, names that look like formulas get a ``'``
    before them. The other files allow every name.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.
    ending : str
        One of :data:`WRITTEN_ENDINGS`.

    Returns
    -------
    dict of str to str
        New names by the name in ``frame`` as text; without names that stay.

    Raises
    ------
    DataError
        If names are blank or not unique.
    ParameterError
        If the ending is another one.
    """
    written_ending(f"table{ending}")
    names = _names(as_pandas(frame))
    finals = [_harmless(name) for name in names] if ending == ".csv" else limits.file_names(names, ending)
    return {name: final for name, final in zip(names, finals, strict=True) if name != final}


def to_csv(frame: IntoDataFrame) -> str:
    """Text of a CSV file of ``frame`` that loses no digit and runs no formula.

    Numbers are written with the fewest digits that read back as the same number. Text cells and column names that start
    with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return get a leading ``'``, because a spreadsheet would take
    them for formulas; numbers never do, and neither does text that is a negative number. Missing values become empty
    cells. The index is left out unless it has a name.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.

    Returns
    -------
    str
        With a header; to be encoded as UTF-8.

    Raises
    ------
    DataError
        If ``frame`` is no table.
    """
    # Names of a frame of pandas are not checked, as it may have two columns of one name.
    plain = frame if isinstance(frame, pd.DataFrame) else as_pandas(frame)
    if any(name is not None for name in plain.index.names):
        plain = plain.reset_index(allow_duplicates=True)
    table = plain.reset_index(drop=True)
    names = [_harmless(str(name)) for name in plain.columns]
    returns = any("\r" in name for name in names)
    columns: dict[int, Any] = {}
    for j, (_, series) in enumerate(table.items()):
        columns[j] = series
        if isinstance(series.dtype, pd.StringDtype) and not series.str.startswith(_FORMULA_STARTS, na=False).any():
            returns = returns or bool(series.str.contains("\r", regex=False, na=False).any())
        elif not (is_numeric_dtype(series) or is_datetime64_any_dtype(series)):
            cells = [_harmless(cell) for cell in series.astype(object)]
            columns[j] = pd.Series(cells, index=table.index, dtype=object)
            returns = returns or any(isinstance(cell, str) and "\r" in cell for cell in cells)
    written = pd.DataFrame(columns, index=table.index).set_axis(names, axis=1)
    # Only with this line ending does the writer put quotes around a bare carriage return within a cell.
    rows = max(1, _CELLS // max(1, written.shape[1]))
    return written.to_csv(index=False, lineterminator="\r\n" if returns else "\n", chunksize=rows)


def _harmless(cell: Any) -> Any:
    formula = isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not re.fullmatch(r"-\d+(\.\d+)?", cell)
    return f"'{cell}" if formula else cell


def columns_with_formulas(frame: pd.DataFrame) -> list[str]:
    """Columns with texts that a spreadsheet computes when it opens them in a CSV file, by name."""
    texts = {str(name): series for name, series in frame.items() if lossless.is_text(series)}
    computed = r"[=@\t\r]|[+-].*[A-Za-z(]"
    return [name for name, series in texts.items() if series.astype("str").str.match(computed).any()]


def written_ending(name: str) -> str:
    """Ending of a file to write.

    Parameters
    ----------
    name : str
        Name of the file.

    Returns
    -------
    str
        In lower case.

    Raises
    ------
    ParameterError
        If the ending is none of :data:`WRITTEN_ENDINGS`.
    """
    ending = PurePath(name).suffix.lower()
    if ending not in WRITTEN_ENDINGS:
        raise ParameterError(
            f"the name of a file to write must end in {listing(WRITTEN_ENDINGS, joint='or')}, not {name!r}."
        )
    return ending


def _names(frame: pd.DataFrame) -> list[str]:
    """Column names as text."""
    names = [str(column) for column in frame.columns]
    if not names:
        raise DataError("the table has no columns: choose at least one to write.")
    check_unique_columns(names)
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"column {position} (counting from 1) has no name: give it one.")
        if has_surrogates(name) or "\0" in name:
            raise DataError(f"the column name {name!r} holds a character that no file can hold: rename the column.")
    return names


# --- workbooks --------------------------------------------------------------------------------------------------------

# Day 1 of Excel's calendar is 1900-01-01; it has a 29th of February in that year, so days are right from March on.
_DAY_ZERO = np.datetime64("1899-12-30", "ms")

# Characters that XML lacks or changes, and an underscore that would begin an escaped character.
_ESCAPED = re.compile(r"[\x01-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

# The styles of cells, by their position in cellXfs.
_DATE, _TIME, _QUOTED = 1, 2, 3

# The number of the first number format after those in every file.
_FIRST_FORMAT = 166

_SPACE = "http://schemas.openxmlformats.org"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_SPACE}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_SPACE}/package/2006/relationships"><Relationship Id="rId1" '
        f'Type="{_SPACE}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_SPACE}/spreadsheetml/2006/main" xmlns:r="{_SPACE}/officeDocument/2006/relationships">'
        '<sheets><sheet name="{title}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_SPACE}/package/2006/relationships"><Relationship Id="rId1" '
        f'Type="{_SPACE}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_SPACE}/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
        "</Relationships>"
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_SPACE}/spreadsheetml/2006/main"><numFmts count="{{formats}}">'
        '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
        '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/>{codes}</numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/>'
        '</fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="{styles}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1"/>{uses}'
        '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    ),
}


def workbook(
    names: Sequence[str],
    bodies: Sequence[Sequence[str]],
    title: str = "Sheet1",
    formats: Sequence[str] = (),
    widths: Sequence[float | None] = (),
) -> bytes:
    """Write a workbook with one sheet ``title`` of columns: names, cells of :func:`sheet_cells`, and widths.

    Cells with the j-th of the number ``formats`` have the style :func:`style` (j).
    """
    numbered = [(_FIRST_FORMAT + j, html.escape(code)) for j, code in enumerate(formats)]
    xfs = '<xf numFmtId="{}" fontId="0" fillId="0" borderId="0" xfId="0"{} applyNumberFormat="1"/>'
    replacements = {
        "{formats}": str(2 + len(formats)),
        "{styles}": str(4 + 2 * len(formats)),
        "{uses}": "".join(xfs.format(number, quoted) for number, _ in numbered for quoted in ("", ' quotePrefix="1"')),
        "{codes}": "".join(f'<numFmt numFmtId="{number}" formatCode="{code}"/>' for number, code in numbered),
        "{title}": html.escape(title),
    }
    # Not by openpyxl, which rounds numbers to 16 digits and reads "=1+1" as a formula.
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in _PARTS.items():
            for marker, text in replacements.items():
                part = part.replace(marker, text)
            archive.writestr(_member(name), _HEAD + part)
        with archive.open(_member("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as sheet:
            for chunk in _sheet(names, bodies, widths):
                sheet.write(chunk.encode())
    return stream.getvalue()


def style(j: int, *, text: bool = False) -> int:
    """Number of the style of cells with the j-th further number format."""
    return 4 + 2 * j + text


def _member(name: str) -> zipfile.ZipInfo:
    """An entry of the archive with a constant date."""
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _sheet(names: Sequence[str], bodies: Sequence[Sequence[str]], widths: Sequence[float | None]) -> Iterator[str]:
    wide = [(j, width) for j, width in enumerate(widths, start=1) if width is not None]
    cols = "".join(f'<col min="{j}" max="{j}" width="{width:g}" customWidth="1"/>' for j, width in wide)
    columns = f"<cols>{cols}</cols>" if cols else ""
    yield f'{_HEAD}<worksheet xmlns="{_SPACE}/spreadsheetml/2006/main">{columns}<sheetData>'
    letters = [column_letters(j) for j in range(1, len(names) + 1)]
    header = (text_cell(name) for name in names)
    for number, cells in enumerate((header, *zip(*bodies, strict=True)), start=1):
        # A cell is the XML after its address; empty cells are left out.
        row = "".join(f'<c r="{letter}{number}"{cell}</c>' for letter, cell in zip(letters, cells, strict=True) if cell)
        # A record without any value would be lost at the end of the sheet.
        missing = f'<c r="A{number}" t="e"><v>#N/A</v></c>'
        yield f'<row r="{number}">{row or missing}</row>'
    yield "</sheetData></worksheet>"


def sheet_cells(series: pd.Series[Any], number_style: int | None = None) -> list[str]:
    """Cells of a column, without addresses, "" for missing values; numbers and dates in the style ``number_style``."""
    column = limits.exact(lossless.plain_column(series), ".xlsx")
    if lossless.is_date(column):
        return _dates(column, number_style)
    if lossless.is_text(column) or lossless.is_category(column):
        # Most columns have few distinct texts, so each is escaped once.
        escaped = {text: text_cell(text) for text in column.dropna().unique()}
        return ["" if absent else escaped[text] for text, absent in zip(column, column.isna(), strict=True)]
    absences = column.isna()
    if is_bool_dtype(column.dtype):
        return ["" if absent else f' t="b"><v>{int(cell)}</v>' for cell, absent in zip(column, absences, strict=True)]
    # str gives the fewest digits that read back as the same number; the full stop tells 2.0 from 2.
    attribute = "" if number_style is None else f' s="{number_style}"'
    cells = zip(widened(column), absences, strict=True)
    return ["" if absent else f"{attribute}><v>{cell!s}</v>" for cell, absent in cells]


def _dates(column: pd.Series[Any], number_style: int | None) -> list[str]:
    are_days = lossless.is_midnight(column)
    style = number_style if number_style is not None else _DATE if are_days else _TIME
    elapsed = column.to_numpy().astype("M8[ms]") - _DAY_ZERO
    days, milliseconds = np.divmod(elapsed.astype(np.int64), 86_400_000)
    serials = [
        str(day) if are_days else repr(day + time / 86_400_000)
        for day, time in zip(days.tolist(), milliseconds.tolist(), strict=True)
    ]
    absences = column.isna()
    return ["" if absent else f' s="{style}"><v>{serial}</v>' for serial, absent in zip(serials, absences, strict=True)]


def text_cell(text: str, styled: int = _QUOTED) -> str:
    """A text cell, in a style that keeps it text when a user edits it."""
    if not text:
        return ""
    escaped = _ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    return f' s="{styled}" t="inlineStr"><is><t xml:space="preserve">{html.escape(escaped, quote=False)}</t></is>'
