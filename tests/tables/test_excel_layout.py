"""Where the table is on a sheet: titles, units, totals, blank and hidden rows, merged cells, hidden sheets."""

import pytest

from microagg.errors import ParameterError
from microagg.tables import UnreadableError, read_file, sheet_names
from tests.cases import for_each
from tests.tables.common import fails, xlsx
from tests.tables.workbooks import book, read, sheet, text

HEADER = ["id", "age", "city"]
RECORDS = [[1, 30, "Ulm"], [2, 40, "Bonn"], [3, 50, "Trier"], [4, 60, "Mainz"]]
TABLE = {"id": [1, 2, 3, 4], "age": [30, 40, 50, 60], "city": ["Ulm", "Bonn", "Trier", "Mainz"]}


def merged(*ranges, rows=None, **more):
    """Return a workbook of these rows, with merged cells."""
    cells = [[text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    boxes = "".join(f'<mergeCell ref="{box}"/>' for box in ranges)
    return book(sheet(*cells, after=f"<mergeCells>{boxes}</mergeCells>", **more))


def asked(data, match, **options):
    """Return what is offered in place of reading a workbook as it was asked for."""
    fails(match, data, name="x.xlsx", error=UnreadableError, **options)
    with pytest.raises(UnreadableError) as caught:
        read_file(data, name="x.xlsx", **options)
    return [dict(offer.reading) for offer in caught.value.offers]


@pytest.mark.parametrize(
    ("above", "skipped"),
    [
        ([["Patients 2024"]], 1),
        ([["Patients 2024"], []], 2),
        ([["Patients 2024"], ["Source: registry"], []], 3),
        ([["Source:", "registry"], ["Date:", "2024"], []], 3),
    ],
)
def test_titles_above_the_header_are_asked_about(above, skipped):
    data = xlsx([*above, HEADER, *RECORDS])
    says = f"title above its header, '{above[0][0]}' in row 1, while row {skipped + 1} has the names: skip"
    offers = asked(data, says)
    assert offers == [{"skip_lines": skipped}]
    assert read(data, **offers[0]) == (TABLE, {})


def test_merged_title():
    data = merged("A1:C1", rows=[["Patients"], HEADER, *RECORDS])
    offers = asked(data, "the cells A1:C1 are merged where the names of the columns should be")
    assert offers == [{"skip_lines": 1}]
    assert read(data, **offers[0]) == (TABLE, {})
    # In the middle, it is one too.
    assert asked(merged("B1:C1", rows=[[None, "Patients"], HEADER, *RECORDS]), "B1:C1 are merged") == offers


def test_names_merged_over_columns_are_refused():
    rows = [["id", "income", None], ["", "2023", "2024"], [1, 10, 20], [2, 30, 40]]
    assert asked(merged("B1:C1", rows=rows), "B1:C1 are merged.*write a name into each column") == []
    # Where only one of the columns has values, there is nothing to ask about.
    assert read(merged("A1:B1", "A2:B2", rows=[["id", None, "x"], [1, None, 5]]))[0] == {"id": [1], "x": [5]}


def test_what_is_a_header_is_not_asked_about():
    assert read(xlsx([[None, "x"], [0, 1.5], [1, 2.5]]))[0] == {"column 1": [0, 1], "x": [1.5, 2.5]}
    assert read(xlsx([[None, "x"], ["anna", "yes"], ["berta", "no"]]))[0]["x"] == ["yes", "no"]
    assert read(xlsx([["a"], ["x"], ["y"]]))[0] == {"a": ["x", "y"]}
    assert read(xlsx([["id", "note"], [1, None], [2, "x"]]))[0] == {"id": [1, 2], "note": [None, "x"]}


def test_skipped_lines():
    data = xlsx([HEADER, *RECORDS])
    assert list(read(data, skip_lines=1)[0]) == ["1", "30", "Ulm"]
    fails("ends before row 8: skip fewer lines", data, name="x.xlsx", skip_lines=7)
    for options in ({"skip_last": 4}, {"skip_last": 400}, {"skip_lines": 4, "units_row": True}):
        fails("a header but no records", data, name="x.xlsx", **options)
    for name, value in (("skip_lines", -1), ("skip_last", True)):
        says = f"{name} must be a whole number of at least 0, not {value}"
        fails(says, data, name="x.xlsx", error=ParameterError, **{name: value})


def test_units_row():
    data = xlsx([HEADER, [None, "years", None], *RECORDS])
    columns, notices = read(data)
    assert columns["age"] == ["years", "30", "40", "50", "60"]
    assert notices["units-row"].text.startswith("Row 2 has text where the records below have numbers")
    assert read(data, **notices["units-row"].offers[0].reading) == (TABLE, {})
    # One text among numbers in a record of its own is none of units.
    assert "units-row" not in read(xlsx([HEADER, [1, "unknown", "Ulm"], *RECORDS]))[1]


@for_each("word", ["Total", "TOTAL:", "Summe", "grand total", "Mean"])
def test_totals(word):
    data = xlsx([HEADER, *RECORDS, [None, 180, word]])
    notice = read(data)[1]["last-records"]
    assert notice.text == f"Row 6 seems to be a total, not a record: {word!r}."
    assert read(data, **notice.offers[0].reading) == (TABLE, {})


def test_notes_below():
    data = xlsx([HEADER, *RECORDS, ["Total", 180], [], ["Source: registry"], ["* estimated"]])
    notice = read(data)[1]["last-records"]
    assert notice.text == "Row 6 seems to be a total, not a record: 'Total'."
    assert (notice.offers[0].label, notice.offers[0].reading) == ("Leave out the last 3 rows", {"skip_last": 3})
    assert read(data, skip_last=3) == (TABLE, {})
    notice = read(xlsx([HEADER, *RECORDS, ["Source: registry"]]))[1]["last-records"]
    assert "a note below the table" in notice.text


def test_blank_rows_between_records_are_said():
    columns, notices = read(xlsx([HEADER, RECORDS[0], [], RECORDS[1], [], [], *RECORDS[2:]]))
    assert columns["id"] == [1.0, None, 2.0, None, None, 3.0, 4.0]
    assert notices["blank-rows"].text == "3 blank rows between records, from row 3 on: read as records without values."


def test_something_far_below():
    far = sheet([text("a"), text("b")], [1, 2], [3, 4]).replace(
        "</sheetData>", '<row r="1048576"><c r="A1048576"><v>9</v></c></row></sheetData>'
    )
    offers = asked(book(far), r"1,048,572 blank rows stand between row 3 and row 1048576: delete")
    assert read(book(far), **offers[0]) == ({"a": [1, 3], "b": [2, 4]}, {})


def test_merged_records():
    rows = [["region", "city", "n"], ["North", "Kiel", 1], [None, "Bremen", 2], [None, "Emden", 3], ["South", "Ulm", 4]]
    data = merged("A2:A4", rows=rows)
    columns, notices = read(data)
    assert columns["region"] == ["North", None, None, "South"]
    notice = notices["merged-cells"]
    assert notice.text.startswith("2 cells of records are blank because the file has their value only once, in a")
    assert [dict(offer.reading) for offer in notice.offers] == [{"fill_merged": True}]
    assert read(data, fill_merged=True)[0]["region"] == ["North"] * 3 + ["South"]


def test_merged_numbers_stay_whole_when_filled():
    rows = [["a", "b", "c"], [1, None, 5], [None, None, 6], [2, 3, 4]]
    columns = {"a": [1, 1, 2], "b": [1, 1, 3], "c": [5, 6, 4]}
    assert read(merged("A2:B3", rows=rows), fill_merged=True) == (columns, {})
    # What stands below a merged cell is what the file has, and is kept.
    assert read(merged("A2:A3", rows=[["a", "b"], [1, 2], [9, 3]]), fill_merged=True)[0]["a"] == [1, 9]


def test_hidden_rows_and_columns_are_read_and_said():
    xml = sheet(*([text(cell) if isinstance(cell, str) else cell for cell in row] for row in [HEADER, *RECORDS]))
    for i in (3, 4):
        xml = xml.replace(f'<row r="{i}">', f'<row r="{i}" hidden="1">')
    widths = '<cols><col min="1" max="1" width="9"/><col min="2" max="2" hidden="1"/></cols>'
    xml = xml.replace("<sheetData>", f"{widths}<sheetData>")
    columns, notices = read(book(xml))
    assert columns == TABLE
    assert notices["hidden-rows"].text == "2 hidden rows, from row 3 on: read like the others."
    assert notices["hidden-columns"].text == "Hidden in the file, and read like the others: 'age'."
    assert set(notices) == {"hidden-rows", "hidden-columns"}


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_not_taken_in_silence(state):
    sheets = [sheet([text(name)], [1]) for name in ("first", "second", "third")]
    data = book(*sheets, states=[state, "visible", state])
    columns, notices = read(data)
    assert columns == {"second": [1]}
    assert notices["hidden-sheets"].text == (
        "The sheet 'Sheet1' is hidden in the file and not read; the first one that Excel shows is 'Sheet2'."
    )
    assert read(data, **notices["hidden-sheets"].offers[0].reading) == ({"first": [1]}, {})
    assert sheet_names(data, name="x.xlsx") == ["Sheet1", "Sheet2", "Sheet3"]
    assert sheet_names(data, name="x.xlsx", hidden=False) == ["Sheet2"]
    assert sheet_names(data, name="x.xlsx", hidden=True) == ["Sheet1", "Sheet3"]
    # Hidden ones behind it do not matter.
    assert read(book(*sheets[:2], states=["visible", state])) == ({"first": [1]}, {})


def test_an_empty_sheet_offers_the_others():
    data = xlsx([], [["a"], [1]], titles=("cover", "data"))
    offers = asked(data, "the sheet 'cover' of the file 'x.xlsx' is empty: choose another sheet.")
    assert offers == [{"sheet": "data"}]
    assert asked(xlsx([]), "is empty: choose another file.") == []
