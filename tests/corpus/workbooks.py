"""Bad workbooks: what Excel shows otherwise than it stores, and small ones that claim to hold much."""

from __future__ import annotations

import datetime as dt
import io
import zipfile

import openpyxl

from tests.corpus.case import Case
from tests.tables.common import xlsx

TOO_MUCH = "would take at least .* MB of memory, over the limit of|over the limit|more than .* cells"


def book(*rows, change=None):
    """Return a function that makes a workbook of one sheet, changed by a function of the sheet."""

    def make():
        workbook = openpyxl.Workbook()
        for row in rows:
            workbook.active.append(row)
        if change:
            change(workbook.active)
        stream = io.BytesIO()
        workbook.save(stream)
        return stream.getvalue()

    return make


OFFICE = "http://schemas.openxmlformats.org"
SPACE = f'xmlns="{OFFICE}/spreadsheetml/2006/main"'
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
RELATIONS = f'<Relationships xmlns="{OFFICE}/package/2006/relationships">'
TYPE = f'Type="{OFFICE}/officeDocument/2006/relationships'
STRINGS = f"<sst {SPACE}><si><t>a</t></si></sst>"


def with_parts(sheet, strings=STRINGS):
    """Return a workbook of one sheet and its shared texts, as XML."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{OFFICE}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{KIND}.worksheet+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{KIND}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'{RELATIONS}<Relationship Id="rId1" {TYPE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {SPACE} xmlns:r="{OFFICE}/officeDocument/2006/relationships">'
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{RELATIONS}<Relationship Id="rId1" {TYPE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" {TYPE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": sheet,
        "xl/sharedStrings.xml": strings,
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return stream.getvalue()


def sheet(rows):
    return f'<?xml version="1.0"?><worksheet {SPACE}><sheetData>{rows}</sheetData></worksheet>'


def shared_text(characters, cells):
    """Return a workbook in which many cells have one text."""
    strings = f'<?xml version="1.0"?><sst {SPACE}><si><t>a</t></si><si><t>{"x" * characters}</t></si></sst>'
    rows = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>1</v></c></row>' for i in range(2, cells + 2))
    return with_parts(strings=strings, sheet=sheet(f'<row r="1"><c r="A1" t="s"><v>0</v></c></row>{rows}'))


def last_row():
    first, second = '<row r="1"><c r="A1"><v>7</v></c></row>', '<row r="2"><c r="A2"><v>8</v></c></row>'
    return with_parts(sheet=sheet(f'{first}{second}<row r="1048576"><c r="XFD1048576"><v>9</v></c></row>'))


def laughs():
    """Return a workbook whose text would be a billion words."""
    entities = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    return with_parts(sheet=f'<?xml version="1.0"?><!DOCTYPE x [{entities}]><worksheet {SPACE}><sheetData><row r="1"><c t="inlineStr"><is><t>&i;</t></is></c></row></sheetData></worksheet>')  # fmt: skip


def formatted(form):
    def change(found):
        for row in found.iter_rows(min_row=2, min_col=1, max_col=1):
            row[0].number_format = form

    return change


def merged(found):
    found.merge_cells("A2:A4")


def title(found):
    found.insert_rows(1)
    found["A1"] = "Table 1: persons"
    found.merge_cells("A1:B1")


def hidden_first(found):
    found.sheet_state = "hidden"
    other = found.parent.create_sheet("data")
    other.append(["b"])
    other.append([2])
    found.parent.active = 1


def hidden_rows(found):
    found.row_dimensions[3].hidden = True


PERSONS = (["name", "age"], ["Anna", 31], ["Bob", 42], ["Cleo", 53])

WORKBOOKS = [
    Case("formulas without values", "x.xlsx", book(["a", "b"], [1, "=A2*2"], [2, "=A3*2"]), says="formula", refuses="formula", page=True),
    Case("merged cells", "x.xlsx", book(["a", "b"], ["x", 1], [None, 2], [None, 3], change=merged), says="merged", refuses="merged", page=True),
    Case("a merged title", "x.xlsx", book(*PERSONS, change=title), says="title|above|merged|header", refuses="title|merged|header", page=True),
    Case("codes shown with zeros", "x.xlsx", book(["a"], [123], [4567], change=formatted("00000")), {"a": ["00123", "04567"]}, says="00123", page=True),
    Case("shares shown as percent", "x.xlsx", book(["a"], [0.125], [0.5], change=formatted("0%")), {"a": ["0.125", "0.5"]}, says="%|percent"),
    Case("a hidden first sheet", "x.xlsx", book(["a"], [1], change=hidden_first), {"b": ["2"]}, says="hidden", page=True),
    Case("hidden rows", "x.xlsx", book(*PERSONS, change=hidden_rows), {"name": ["Anna", "Bob", "Cleo"], "age": ["31", "42", "53"]}, says="hidden"),
    Case("errors", "x.xlsx", book(["a", "b"], [1, "#DIV/0!"], [2, 5]), says="DIV/0"),
    Case("numbers beside words", "x.xlsx", book(["a"], [1], ["unknown"], [2.5]), {"a": ["1", "unknown", "2.5"]}, says="'a'"),
    Case("numbers as text", "x.xlsx", book(["a"], ["00123"], ["00124"]), {"a": ["00123", "00124"]}),
    Case("dates before 1900-03-01", "x.xlsx", book(["a"], ["1899-12-31"], ["1850-05-01"]), {"a": ["1899-12-31", "1850-05-01"]}),
    Case("dates beside numbers", "x.xlsx", book(["a"], [dt.datetime(2024, 5, 1)], [7]), says="'a'"),
    Case("blank rows between records", "x.xlsx", book(["a", "b"], [1, 2], [], [3, 4]), says="blank|empty"),
    Case("a row of units", "x.xlsx", book(["age", "mass"], ["years", "kg"], [31, 70], [42, 80]), says="unit"),
    Case("a total at the end", "x.xlsx", book(["n", "c"], ["x", 10], ["y", 20], ["Total", 30]), says="total|last"),
    Case("whole numbers beyond 2^53", "x.xlsx", lambda: with_parts(sheet=sheet('<row r="1"><c t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c><v>12345678901234567890</v></c></row>')), says="'a'"),
    Case("cells with line breaks", "x.xlsx", book(["a"], ["x\ny"]), {"a": ["x\ny"]}),
    Case("characters spelled out", "x.xlsx", book(["a"], ["x_x000D_y"]), {"a": ["x\ry"]}),
    Case("equal names", "x.xlsx", book(["a", "a"], [1, 2]), refuses="more than once"),
    Case("a header only", "x.xlsx", book(["a", "b"]), refuses="no records"),
    Case("an empty sheet", "x.xlsx", book(), refuses="empty"),
    Case("a sheet with one column of gaps", "x.xlsx", book(["a", "b"], [1, None], [2, None]), {"a": ["1", "2"], "b": [None, None]}),
    Case("half of a workbook", "x.xlsx", lambda: xlsx([["a"], [1]])[:-200], refuses="damaged"),
    Case("a damaged sheet", "x.xlsx", lambda: with_parts(sheet="<worksheet"), refuses="damaged"),
    Case("a billion laughs", "x.xlsx", laughs, refuses="damaged|entit", heavy=True, page=True),
    Case("one text of 30,000 characters in 100,000 cells", "x.xlsx", lambda: shared_text(30_000, 100_000), refuses=TOO_MUCH, heavy=True, page=True),
    Case("one text of 100,000 characters in 20,000 cells", "x.xlsx", lambda: shared_text(100_000, 20_000), refuses=TOO_MUCH, heavy=True),
    Case("a cell in the last row", "x.xlsx", last_row, says="blank|empty|row", refuses="rows|cells|records", heavy=True, page=True),
    Case("a sheet of 400 MB of blanks", "x.xlsx", lambda: with_parts(sheet=sheet(" " * 400_000_000)), refuses="MB", heavy=True),
]  # fmt: skip

CASES = WORKBOOKS
