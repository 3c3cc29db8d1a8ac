"""Bad workbooks: what Excel shows otherwise than it stores, and small ones that claim to hold much."""

import datetime as dt
import io

import openpyxl

from tests.corpus.case import Case
from tests.tables.common import xlsx
from tests.tables.workbooks import book as by_hand

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


def sheet(rows):
    """Return the XML of a sheet of rows, which are XML."""
    return f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'


def shared_text(characters, cells):
    """Return a workbook in which many cells have one text."""
    rows = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>1</v></c></row>' for i in range(2, cells + 2))
    xml = sheet(f'<row r="1"><c r="A1" t="s"><v>0</v></c></row>{rows}')
    return by_hand(xml, shared=["<t>a</t>", f"<t>{'x' * characters}</t>"])


def last_row():
    first, second = '<row r="1"><c r="A1"><v>7</v></c></row>', '<row r="2"><c r="A2"><v>8</v></c></row>'
    return by_hand(sheet(f'{first}{second}<row r="1048576"><c r="XFD1048576"><v>9</v></c></row>'))


def laughs():
    """Return a workbook whose text would be a billion words."""
    entities = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    xml = sheet('<row r="1"><c t="inlineStr"><is><t>&i;</t></is></c></row>')
    return by_hand(f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{xml}')


def formatted(form):
    def change(worksheet):
        for row in worksheet.iter_rows(min_row=2, min_col=1, max_col=1):
            row[0].number_format = form

    return change


def merged(worksheet):
    worksheet.merge_cells("A2:A4")


def title(worksheet):
    worksheet.insert_rows(1)
    worksheet["A1"] = "Table 1: persons"
    worksheet.merge_cells("A1:B1")


def hidden_first(worksheet):
    worksheet.sheet_state = "hidden"
    other = worksheet.parent.create_sheet("data")
    other.append(["b"])
    other.append([2])
    worksheet.parent.active = 1


def hidden_rows(worksheet):
    worksheet.row_dimensions[3].hidden = True


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
    Case("whole numbers beyond 2^53", "x.xlsx", lambda: by_hand(sheet('<row r="1"><c t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c><v>12345678901234567890</v></c></row>')), says="'a'"),
    Case("cells with line breaks", "x.xlsx", book(["a"], ["x\ny"]), {"a": ["x\ny"]}),
    Case("characters spelled out", "x.xlsx", book(["a"], ["x_x000D_y"]), {"a": ["x\ry"]}),
    Case("equal names", "x.xlsx", book(["a", "a"], [1, 2]), refuses="more than once"),
    Case("a header only", "x.xlsx", book(["a", "b"]), refuses="no records"),
    Case("an empty sheet", "x.xlsx", book(), refuses="empty"),
    Case("a sheet with one column of gaps", "x.xlsx", book(["a", "b"], [1, None], [2, None]), {"a": ["1", "2"], "b": [None, None]}),
    Case("half of a workbook", "x.xlsx", lambda: xlsx([["a"], [1]])[:-200], refuses="damaged"),
    Case("a damaged sheet", "x.xlsx", lambda: by_hand("<worksheet"), refuses="damaged"),
    Case("a billion laughs", "x.xlsx", laughs, refuses="damaged|entit", heavy=True, page=True),
    Case("one text of 30,000 characters in 100,000 cells", "x.xlsx", lambda: shared_text(30_000, 100_000), refuses=TOO_MUCH, heavy=True, page=True),
    Case("one text of 100,000 characters in 20,000 cells", "x.xlsx", lambda: shared_text(100_000, 20_000), refuses=TOO_MUCH, heavy=True),
    Case("a cell in the last row", "x.xlsx", last_row, says="blank|empty|row", refuses="rows|cells|records", heavy=True, page=True),
    Case("a sheet of 400 MB of blanks", "x.xlsx", lambda: by_hand(sheet(" " * 400_000_000)), refuses="MB", heavy=True),
]  # fmt: skip

CASES = WORKBOOKS
