"""Workbooks on the page Data: what is said of them, and other ways to read them where one fails."""

from __future__ import annotations

from tests.pages.helpers import settle, upload, words
from tests.tables.common import xlsx
from tests.tables.workbooks import book, sheet, styled, text

HEADER, RECORDS = ["id", "age"], [[i, 20 + i] for i in range(1, 7)]


def offered(app):
    return [button.label for button in app.button if button.key and button.key.startswith("offer_")]


def take(app, label):
    next(button for button in app.button if button.label == label).click()
    settle(app)
    assert not app.exception
    return app


def columns(app):
    keys = [box.key for box in app.selectbox if box.key and box.key.startswith("column_role_")]
    return [key.removeprefix("column_role_") for key in keys]


def test_a_title_is_skipped_by_a_button():
    app = upload("a.xlsx", xlsx([["Patients"], [], HEADER, *RECORDS]))
    assert not app.exception
    assert "seems to have a title above its header, 'Patients' in row 1" in app.error[0].value.replace("\\", "")
    assert offered(app) == ["Skip 2 lines above the header"]
    take(app, "Skip 2 lines above the header")
    assert not app.error
    assert columns(app) == HEADER


def test_merged_cells_are_filled_by_a_button():
    rows = [[text("region"), text("n")], [text("North"), 1], [None, 2], [text("South"), 3], [text("West"), 4]]
    merged = '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    app = upload("a.xlsx", book(sheet(*rows, after=merged)))
    assert "1 cell of records is blank because the file has their value only once" in words(app)
    take(app, "Fill merged cells with their value")
    assert "only once" not in words(app)
    assert columns(app) == ["region", "n"]


def test_the_sheet_can_be_chosen_where_one_cannot_be_read():
    sheets = [sheet(), sheet([text("a")], *([i] for i in range(5))), sheet([text("b")], *([i] for i in range(5)))]
    app = upload("a.xlsx", book(*sheets, states=["visible", "visible", "hidden"]))
    assert "he sheet 'Sheet1' of the file 'a.xlsx' is empty: choose another" in app.error[0].value.replace("\\", "")
    picker = app.selectbox(key="u_sheet")
    assert picker.options == ["Sheet1", "Sheet2", "Sheet3 [hidden]"]
    assert offered(app) == ["Read the sheet 'Sheet2'", "Read the hidden sheet 'Sheet3'"]
    picker.set_value("Sheet3 [hidden]")
    settle(app)
    assert not app.error
    assert columns(app) == ["b"]


def test_what_cells_show_is_said():
    rows = [[text("zip"), text("rate")], *([styled(1, 1000 + i), styled(2, i / 100)] for i in range(5))]
    app = upload("a.xlsx", book(sheet(*rows), formats=["00000", "0%"]))
    said = words(app).replace("\\", "")
    assert "Column 'zip' shows 5 numbers with leading zeros or signs, such as 01000 for 1000 in A2" in said
    assert "Column 'rate' has 5 numbers shown as a percentage" in said
