"""Workbooks that claim or hold more than a machine can take, and damaged ones: refused in one sentence, in time."""

import io
import json
import re
import subprocess
import sys
import zipfile

import pytest

from microagg import tables
from microagg.tables.notices import BESIDE, TIMES
from tests.cases import for_each
from tests.conftest import ROOT
from tests.tables.common import fails
from tests.tables.workbooks import book, read, sheet, text, zipped

OPEN = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'


def rows_of(cells, count, first=2):
    """Return a sheet with ``count`` rows of equal cells below a header."""
    rows = "".join(f"<row>{cells}</row>" for _ in range(count))
    return f"{OPEN}<sheetData>{HEADER}{rows}</sheetData></worksheet>"


def shared_string():
    rows = rows_of('<c t="s"><v>0</v></c>', 20_000)
    return book(rows, shared=[f"<t>{'x' * 100_000}</t>"])


def constant_numbers():
    return book(rows_of("<c><v>1</v></c>" * 100, 1_000))


def long_emoji():
    # One character makes all others take four bytes.
    return book(sheet([text("a")], [text("x" * 30_000_000 + "😀")]))


def shared_emoji():
    return book(sheet([text("a")], [' t="s"><v>0</v>']), shared=[f"<t>{'x' * 30_000_000}😀</t>"])


def shared_runs():
    return book(sheet([text("a")], [' t="s"><v>0</v>']), shared=["<r><t>x</t></r>" * 1_900_000])


def last_row():
    far = '<row r="1048576"><c r="A1048576"><v>1</v></c></row>'
    return book(f'{OPEN}<sheetData>{HEADER}<row r="2"><c r="A2"><v>1</v></c></row>{far}</sheetData></worksheet>')


def scattered():
    """Return a sheet with a cell in each of 16,384 columns, and 4,000 rows."""
    letters = [tables.excel_cells.letters_of(j) for j in range(1, 16_385)]
    first = "".join(f'<c r="{letter}1" t="str"><v>{letter}</v></c>' for letter in letters)
    rest = "<row><c><v>1</v></c></row>" * 4_000
    return book(f'{OPEN}<sheetData><row r="1">{first}</row>{rest}</sheetData></worksheet>')


def deep():
    return book(f"{OPEN}<sheetData>{'<a>' * 1_000_000}")


def long_tag():
    return book(f'{OPEN}<sheetData x="{"y" * 10_000_000}"></sheetData></worksheet>')


def many_names():
    return book(OPEN + "".join(f"<a{i}/>" for i in range(100_000)))


def entities():
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    laughs = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "ha">{levels}]>'
    return book(laughs + sheet([text("a")], [text("&l11;")]))


def overlapping():
    boxes = '<mergeCell ref="A2:A500001"/>' * 20_000
    rows = rows_of("<c/><c><v>1</v></c>", 5_000).replace("<c/>", "<c><v>1</v></c>", 1)
    return book(rows.replace("</worksheet>", f"<mergeCells>{boxes}</mergeCells></worksheet>"))


def many_formats():
    return book(sheet([text("a")], [1]), formats=[1] * 20_000)


MAKERS = [
    (shared_string, "would take at least .* MB of memory, over the limit"),
    (constant_numbers, None),
    (long_emoji, "a text of more than 1,048,576 characters"),
    (shared_emoji, "a text of more than 1,048,576 characters"),
    (shared_runs, "MB of memory"),
    (last_row, "1,048,573 blank rows stand between"),
    (scattered, "over the limit of 50,000,000 cells"),
    (deep, "elements stand too deep in each other"),
    (long_tag, "a tag is too long"),
    (many_names, "a damaged one"),
    (entities, "it declares a document type"),
    (overlapping, "merged cells of the sheet overlap"),
    (many_formats, None),
]

# Reads each file in a process of its own, forked once all packages are loaded; says how much memory it took and why
# it was refused.
MEASURE = """
import json, os, resource, sys
from pathlib import Path
from microagg import tables

tables.read_file(sys.argv[1])
found = {}
for path in sys.argv[1:]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            says = "read %d records" % len(tables.read_file(path).frame)
        except Exception as error:
            says = "%s: %s" % (type(error).__name__, error)
        os.write(writer, says.encode()[:4000])
        os._exit(0)
    os.close(writer)
    _, status, usage = os.wait4(child, 0)
    found[Path(path).stem] = [usage.ru_maxrss * 1024, usage.ru_utime, os.read(reader, 4000).decode()]
    os.close(reader)
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by Linux's own figures")
def test_memory_stays_within_bounds(tmp_path):
    paths = []
    for make, _ in MAKERS:
        path = tmp_path / f"{make.__name__}.xlsx"
        path.write_bytes(make())
        assert path.stat().st_size < 8_000_000
        paths.append(path)
    small = tmp_path / "small.xlsx"
    small.write_bytes(book(sheet([text("a"), text("b")], [1, text("x")])))
    command = [sys.executable, "-c", MEASURE, str(small), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    found = json.loads(done.stdout)
    for path, (_, says) in zip(paths, MAKERS, strict=True):
        peak, seconds, said = found[path.stem]
        # Beside what the packages take, as they do to read a small file.
        taken = peak - found["small"][0]
        assert taken <= TIMES * path.stat().st_size + BESIDE, (path.stem, taken, said)
        assert seconds < 30, (path.stem, seconds)
        assert re.search(says or "^read", said), (path.stem, said)
        assert says is None or re.match("(DataError|UnreadableError): ", said), (path.stem, said)


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


@pytest.mark.parametrize("ending", [".xlsm", ".xlsb", ".ods"])
def test_other_endings(ending):
    fails("so save it as .xlsx", zipped({"x": "x"}), name=f"x{ending}")


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
