"""Uploads that are not as they seem: what is said, what is offered, and what the other pages do meanwhile."""

import re

from tests.pages.helpers import choose, errors, plain, press, settle, table_of_columns, upload, visit
from tests.tables.workbooks import book, sheet, text

RECORDS = "plz,age,income\n" + "".join(f"0{1000 + i},{20 + i % 9},{i * i % 97}\n" for i in range(30))
PEOPLE = "name,age,town\n,years,\n" + "".join(f"P{i},{20 + i % 9},{'Rome' if i % 2 else 'Oslo'}\n" for i in range(30))


def opened(content, name="a.csv", **query):
    return upload(name, content if isinstance(content, bytes) else content.encode(), **query)


def again(app, name, content):
    app.file_uploader(key="w_file").upload(name, content.encode())
    return settle(app)


def boxes(app, words):
    return [box.value.replace("\\", "") for box in app.info if words in box.value]


def codes(app):
    return "\n".join(code.value for code in app.code)


def test_titles_are_skipped_by_one_click_and_read_again_by_another():
    content = f"Table 1\n\n{RECORDS}"
    app = opened(content)
    assert "titles above the header" in errors(app)[0]
    press(app, "Skip the first 2 lines")
    assert not app.error
    assert "30 records, 3 columns" in plain(app)
    assert app.number_input(key="u_skip_lines").value == 2
    visit(app, "release")
    assert "skip_lines=2" in codes(app)
    visit(app, "data")
    # The same file again is read as was chosen, another one is not.
    again(app, "b.csv", RECORDS)
    assert "until you say otherwise" in plain(app)
    assert app.number_input(key="u_skip_lines").value == 0
    again(app, "a.csv", content)
    assert not app.error
    assert "skip lines: 2" in plain(app)
    assert "titles above the header" in errors(press(app, "Read it as usual"))[0]


def test_no_page_goes_on_with_the_file_before():
    app = opened(RECORDS, "good.csv")
    assert not app.error
    again(app, "bad.csv", "a,b\n1,2\n1,2,3\n")
    assert "Line 3" in errors(app)[0]
    for page in ("choose_k", "clusters", "release"):
        assert "'bad.csv' could not be read" in plain(visit(app, page))
        assert "good" not in plain(app)
    visit(app, "data")
    assert any("Choose the file again" in box.value for box in app.warning)
    again(app, "good.csv", RECORDS)
    assert not app.error
    assert not [box for box in app.warning if "Choose the file again" in box.value]


def test_all_ways_to_read_a_file_can_be_chosen():
    lines = "".join(f"A{i};'{i * 7 % 30},5';{i * i % 97}\n" for i in range(30))
    app = opened(f"% note\nname;mass;age\n;kg;years\n{lines}Total;435;435\n")
    app.selectbox(key="u_comment").set_value("begin with %").run()
    app.selectbox(key="u_quote").set_value("'single quotes'").run()
    app.selectbox(key="u_decimal").set_value("comma").run()
    press(app, "Leave out the row of units")
    choose(app, u_skip_last=1)
    assert not app.error
    assert "30 records, 3 columns" in plain(app)
    assert not boxes(app, "kept as text") + boxes(app, "seem")


def test_what_needs_several_clicks_is_one_which_shows_what_it_gives():
    app = opened(f"People\n\n{PEOPLE}Total,690,\n\nSource: register\n")
    assert "titles above the header" in errors(app)[0]
    # The lines themselves, the trouble marked.
    assert re.search(r"▶\s+1 │ People\n", codes(app))
    assert re.search(r"name │ age │ town\nP0\s+│ 20\s+│ Oslo\nP1", codes(app))
    assert "It gives 30 records, 3 columns." in plain(app)
    press(app, "leave out the row of units; leave out the last record")
    assert not app.error
    assert "30 records, 3 columns" in plain(app)
    assert "row of units" in app.success[0].value
    assert "Source: register" in codes(app)
    assert not boxes(app, "seem")


def test_a_line_that_does_not_fit_is_mended_by_a_click_and_shown_with_its_number():
    app = opened(RECORDS.replace("01003,23,9\n", "01003,23,9,x\n"))
    assert "Line 5" in errors(app)[0]
    assert re.search(r"▶\s+5 │ 01003,23,9,x", codes(app))
    assert "line 5 becomes: 01003 | 23 | 9,x" in codes(app)
    press(app, "Mend the line that does not fit")
    assert not app.error
    assert "1 line (5)" in app.success[0].value.replace("\\", "")
    assert re.search(r"5 │ 01003,23,9,x\n\s+↳ 01003 \| 23 \| 9,x", codes(app))
    assert "uneven='mend'" in codes(visit(app, "release"))


def columns(app):
    return list(table_of_columns(app).index)


def test_the_sheet_can_be_chosen_where_one_cannot_be_read():
    sheets = [sheet(), sheet([text("a")], *([i] for i in range(5))), sheet([text("b")], *([i] for i in range(5)))]
    app = opened(book(*sheets, states=["visible", "visible", "hidden"]), "a.xlsx")
    assert "'Sheet1' of the file 'a.xlsx' is empty" in errors(app)[0]
    assert app.selectbox(key="u_sheet").options == ["Sheet1", "Sheet2", "Sheet3 [hidden]"]
    offered = [button.label for button in app.button if (button.key or "").startswith("offer_")]
    assert offered == ["Read the sheet 'Sheet2'", "Read the hidden sheet 'Sheet3'"]
    choose(app, u_sheet="Sheet3 [hidden]")
    assert not app.error
    assert columns(app) == ["b"]
