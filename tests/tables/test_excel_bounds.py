"""Workbooks that claim or hold more than a machine can take, and damaged ones: refused in one sentence, in time."""

import io
import re
import zipfile

import pytest

from microagg import tables
from tests.cases import for_each
from tests.corpus.case import Case
from tests.corpus.memory import FIGURES, check_in_processes
from tests.tables.common import fails
from tests.tables.workbooks import book, read, sheet, text, zipped

OPEN = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'


def rows_of(cells, count, first=2):
    """Return a sheet with ``count`` rows of equal cells below a header."""
    rows = "".join(f"<row>{cells}</row>" for _ in range(count))
    return f"{OPEN}<sheetData>{HEADER}{rows}</sheetData></worksheet>"


def constant_numbers():
    return book(rows_of("<c><v>1</v></c>" * 100, 1_000))


def long_emoji():
    # One character makes all others take four bytes.
    return book(sheet([text("a")], [text("x" * 30_000_000 + "😀")]))


def shared_emoji():
    return book(sheet([text("a")], [' t="s"><v>0</v>']), shared=[f"<t>{'x' * 30_000_000}😀</t>"])


def shared_runs():
    return book(sheet([text("a")], [' t="s"><v>0</v>']), shared=["<r><t>x</t></r>" * 1_900_000])


def scattered():
    """Return a sheet with a cell in each of 16,384 columns, and 4,000 rows."""
    letters = [tables.excel_cells.column_letters(j) for j in range(1, 16_385)]
    first = "".join(f'<c r="{letter}1" t="str"><v>{letter}</v></c>' for letter in letters)
    rest = "<row><c><v>1</v></c></row>" * 4_000
    return book(f'{OPEN}<sheetData><row r="1">{first}</row>{rest}</sheetData></worksheet>')


def deep():
    return book(f"{OPEN}<sheetData>{'<a>' * 1_000_000}")


def long_tag():
    return book(f'{OPEN}<sheetData x="{"y" * 10_000_000}"></sheetData></worksheet>')


def many_names():
    return book(OPEN + "".join(f"<a{i}/>" for i in range(100_000)))


def overlapping():
    boxes = '<mergeCell ref="A2:A500001"/>' * 20_000
    rows = rows_of("<c/><c><v>1</v></c>", 5_000).replace("<c/>", "<c><v>1</v></c>", 1)
    return book(rows.replace("</worksheet>", f"<mergeCells>{boxes}</mergeCells></worksheet>"))


def many_formats():
    return book(sheet([text("a")], [1]), formats=[1] * 20_000)


TOO_LONG = "a text of more than 1,048,576 characters"
CASES = [
    Case("constant numbers", "x.xlsx", constant_numbers, shape=(1_000, 100)),
    Case("a long text with an emoji", "x.xlsx", long_emoji, refuses=TOO_LONG),
    Case("a shared text with an emoji", "x.xlsx", shared_emoji, refuses=TOO_LONG),
    Case("a shared text of many runs", "x.xlsx", shared_runs, refuses="MB of memory"),
    Case("cells in all columns", "x.xlsx", scattered, refuses="over the limit of 50,000,000 cells"),
    Case("deep elements", "x.xlsx", deep, refuses="elements stand too deep in each other"),
    Case("a long tag", "x.xlsx", long_tag, refuses="a tag is too long"),
    Case("many names of elements", "x.xlsx", many_names, refuses="a damaged one"),
    Case("overlapping merged cells", "x.xlsx", overlapping, refuses="merged cells of the sheet overlap"),
    Case("many number formats", "x.xlsx", many_formats, shape=(1, 1)),
]


@pytest.mark.slow
@pytest.mark.skipif(not FIGURES.exists(), reason="only Linux says how much a process took")
def test_outcome_and_memory(tmp_path):
    check_in_processes(__name__, range(len(CASES)), tmp_path)


# --- damaged ---------------------------------------------------------------------------------------------------------


def parts(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


GOOD = book(sheet([text("a")], [' t="s"><v>0</v>'], [1]), shared=["<t>x</t>"])


@for_each(
    ("part", "old", "new"),
    [
        ("xl/worksheets/sheet1.xml", "<v>0</v>", "<v>7</v>"),
        ("xl/worksheets/sheet1.xml", "<v>0</v>", "<v>x</v>"),
        ("xl/worksheets/sheet1.xml", 't="s"', 't="new"'),
        ("xl/worksheets/sheet1.xml", 'r="A3"', 'r="ZZZZ3"'),
        ("xl/worksheets/sheet1.xml", 'r="A3"', 'r="3"'),
        ("xl/worksheets/sheet1.xml", '<row r="3">', '<row r="2">'),
        ("xl/worksheets/sheet1.xml", '<row r="3">', '<row r="9999999">'),
        ("xl/worksheets/sheet1.xml", '<row r="3">', '<row r="3"><c r="A3"><v>5</v></c>'),
        ("xl/worksheets/sheet1.xml", "</row></sheetData>", "</sheetData>"),
        ("xl/worksheets/sheet1.xml", "<sheetData>", "<sheetData><c><v>1</v></c>"),
        ("xl/workbook.xml", "<sheets>", ""),
        ("xl/styles.xml", 'numFmtId="0"', 'numFmtId="none"'),
    ],
)
def test_damaged_parts(part, old, new):
    contents = parts(GOOD)
    assert old in contents[part]
    contents[part] = contents[part].replace(old, new, 1)
    fails("not an Excel workbook, or a damaged one", zipped(contents), name="x.xlsx")


def test_a_sheet_that_is_not_there():
    part = "xl/_rels/workbook.xml.rels"
    contents = parts(GOOD)
    contents[part] = contents[part].replace("sheet1.xml", "sheet9.xml")
    fails("has no sheet with cells", zipped(contents), name="x.xlsx")


def test_parts_that_may_be_missing():
    contents = parts(book(sheet([text("a")], [1])))
    for part in ("_rels/.rels", "xl/styles.xml", "xl/sharedStrings.xml"):
        del contents[part]
        types = contents["[Content_Types].xml"]
        contents["[Content_Types].xml"] = re.sub(f'<Override PartName="/{part}"[^>]*>', "", types)
    relations = contents["xl/_rels/workbook.xml.rels"]
    contents["xl/_rels/workbook.xml.rels"] = re.sub('<Relationship Id="rId[23]"[^>]*>', "", relations)
    assert read(zipped(contents)) == ({"a": [1]}, {})


def test_parts_that_are_not_read_do_not_count():
    # A pivot table keeps its records once more; they are neither parsed nor checked.
    records = {"xl/pivotCache/pivotCacheRecords1.xml": f"<r>{'<n/>' * 2_000_000}", "xl/theme/theme1.xml": "<damaged"}
    assert read(book(sheet([text("a")], [1]), parts=records)) == ({"a": [1]}, {})


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("xl/workbook.bin", "'x.xlsx' is not an Excel workbook, or a damaged one"),
        ("word/document.xml", "'x.xlsx' is not a .xlsx file but a Word document"),
        ("content.xml", "'x.xlsx' is not a .xlsx file but an OpenDocument file"),
    ],
)
def test_other_documents(part, says):
    fails(says, zipped({part: "x"}), name="x.xlsx")


def test_workbooks_with_macros_under_the_name_of_those_without():
    contents = parts(GOOD) | {"xl/vbaProject.bin": "macros"}
    contents["[Content_Types].xml"] = contents["[Content_Types].xml"].replace(
        "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main", "vnd.ms-excel.sheet.macroEnabled.main"
    )
    assert read(zipped(contents)) == read(GOOD)


def test_a_file_that_lies_about_its_sizes(monkeypatch):
    monkeypatch.setattr(tables.excel_cells, "MAX_UNPACKED", 1_000_000)
    data = book(rows_of("<c><v>1</v></c>", 50_000))
    size = zipfile.ZipFile(io.BytesIO(data)).getinfo("xl/worksheets/sheet1.xml").file_size
    assert size > 1_000_000
    lie = data.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    assert lie != data
    fails("not an Excel workbook, or a damaged one", lie, name="x.xlsx")
