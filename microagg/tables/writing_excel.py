"""Tables to Excel workbooks, in which numbers keep every digit and no text is a formula."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from microagg.errors import DataError
from microagg.tables.lossless import (
    as_exact,
    as_text,
    check_finite_numbers,
    is_category,
    is_date,
    is_midnight,
    is_text,
    plain_column,
)
from microagg.validation import counted

#: How many rows and columns a sheet of Excel has.
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384

# How many UTF-16 units a cell may have; Excel would cut what is longer.
_MAX_CHARACTERS = 32_767

# Excel shows no more digits of a number than these.
_MAX_WHOLE = 10**15

# Day 1 of its calendar is 1900-01-01; it knows a 29th of February in that year, so days are right from March on.
_DAY_ZERO, _FIRST_DAY, _LAST_DAY = (np.datetime64(day, "ms") for day in ("1899-12-30", "1900-03-01", "9999-12-31"))

# Characters that XML lacks or changes; and an underscore that would seem to begin such a character.
_SPELLED = re.compile(r"[\x01-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

# The styles of cells, by their position in cellXfs.
_DATE, _TIME, _QUOTED = 1, 2, 3

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
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_SPACE}/package/2006/relationships"><Relationship Id="rId1" '
        f'Type="{_SPACE}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_SPACE}/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
        "</Relationships>"
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_SPACE}/spreadsheetml/2006/main"><numFmts count="2">'
        '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
        '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/>'
        '</fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1"/>'
        '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    ),
}


def write_xlsx(columns: Mapping[str, pd.Series[Any]]) -> bytes:
    """Return columns as a workbook with one sheet; see :func:`microagg.tables.write_table`."""
    records = len(next(iter(columns.values())))
    if records + 1 > MAX_ROWS or len(columns) > MAX_COLUMNS:
        raise DataError(
            f"the table has {counted(records, 'record')} and {counted(len(columns), 'column')}, and a sheet of Excel "
            f"holds {MAX_ROWS - 1:,} records under its header and {MAX_COLUMNS:,} columns: choose .csv or .parquet."
        )
    # Written here, and not by openpyxl, which rounds numbers to 16 digits and takes "=1+1" for a formula.
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in _PARTS.items():
            archive.writestr(_member(name), _HEAD + part)
        with archive.open(_member("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as sheet:
            for chunk in _sheet(columns):
                sheet.write(chunk.encode())
    return stream.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    """Return an entry of the archive whose date does not tell when it was written."""
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _sheet(columns: Mapping[str, pd.Series[Any]]) -> Iterator[str]:
    yield f'{_HEAD}<worksheet xmlns="{_SPACE}/spreadsheetml/2006/main"><sheetData>'
    letters = [_letters(j) for j in range(len(columns))]
    header = (_text(name) for name in columns)
    bodies = [_cells(name, series) for name, series in columns.items()]
    for number, cells in enumerate((header, *zip(*bodies, strict=True)), start=1):
        # A cell is what follows its address; one without content is left out.
        row = "".join(f'<c r="{at}{number}"{cell}</c>' for at, cell in zip(letters, cells, strict=True) if cell)
        # A record without any value would be lost at the end of the sheet.
        missing = f'<c r="A{number}" t="e"><v>#N/A</v></c>'
        yield f'<row r="{number}">{row or missing}</row>'
    yield "</sheetData></worksheet>"


def _letters(position: int) -> str:
    """Return a column's letters: A, B, ..., Z, AA, AB, ..."""
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _cells(name: str, series: pd.Series[Any]) -> list[str]:
    """Return the cells of a column, each without its address, and as "" where a value is missing."""
    column = as_exact(plain_column(series), _MAX_WHOLE)
    if is_date(column):
        days = column.dropna()
        if ((days >= _FIRST_DAY) & (days <= _LAST_DAY)).all():
            return _dates(column)
        column = as_text(column)
    if is_text(column) or is_category(column):
        # Few texts stand in most columns, so each is spelled once.
        _check_lengths(name, column)
        spelled = {text: _text(text) for text in column.dropna().unique()}
        return ["" if absent else spelled[text] for text, absent in zip(column, column.isna(), strict=True)]
    check_finite_numbers(column, name, ".xlsx", 1e308)
    absences = column.isna()
    if is_bool_dtype(column.dtype):
        return ["" if absent else f' t="b"><v>{int(cell)}</v>' for cell, absent in zip(column, absences, strict=True)]
    # str gives the fewest digits that read back as the same number; the full stop tells 2.0 from 2.
    return ["" if absent else f"><v>{cell!s}</v>" for cell, absent in zip(column, absences, strict=True)]


def _dates(column: pd.Series[Any]) -> list[str]:
    style = _DATE if is_midnight(column) else _TIME
    elapsed = column.to_numpy().astype("M8[ms]") - _DAY_ZERO
    days, rest = np.divmod(elapsed.astype(np.int64), 86_400_000)
    serials = [
        str(day) if style == _DATE else repr(day + ms / 86_400_000)
        for day, ms in zip(days.tolist(), rest.tolist(), strict=True)
    ]
    absences = column.isna()
    return ["" if absent else f' s="{style}"><v>{serial}</v>' for serial, absent in zip(serials, absences, strict=True)]


def _check_lengths(name: str, column: pd.Series[Any]) -> None:
    for text in column.dropna().unique():
        if len(text) > _MAX_CHARACTERS // 2 and len(text.encode("utf-16-le")) // 2 > _MAX_CHARACTERS:
            raise DataError(
                f"column {name!r} holds a text of more than {_MAX_CHARACTERS:,} characters, the limit of Excel: "
                "shorten it, leave the column out, or choose .csv or .parquet."
            )


def _text(text: str) -> str:
    """Return a text cell, in a style that keeps it text when somebody edits it."""
    if not text:
        return ""
    spelled = _SPELLED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return f' s="{_QUOTED}" t="inlineStr"><is><t xml:space="preserve">{html.escape(spelled, quote=False)}</t></is>'
