"""Sessions that are lost, by a restart of the server or a reload: what is gone is said, nothing stands in for it."""

import json

import pytest

from tests.pages.helpers import (
    SURVEY,
    decide,
    go_to,
    open_page,
    open_survey,
    plain,
    press,
    settle,
    table_of_columns,
    upload,
)

ROWS = "".join(f"P{i};{'k.A.' if i % 20 == 3 else 20 + i % 9};{1000 + 37 * i % 900},5\n" for i in range(200))
PAY = f"Staff of 2024\nperson;age;pay\n{ROWS}".encode()


def again(app, page):
    """Open a page in a new session, with the address that the browser has kept."""
    return open_page(page, **{name.replace(".", "__"): app.query_params[name] for name in app.query_params})


@pytest.mark.parametrize("page", ["choose_k", "clusters", "release"])
def test_no_other_data_stand_in_for_a_file_that_is_lost(page):
    app = again(open_survey(page, k="7"), page)
    assert "This session has no file" in plain(app)
    assert (app.query_params["data"], app.query_params["k"]) == ("upload", "7")
    assert not app.get("plotly_chart")
    assert next(link.proto.label for link in app.get("page_link")).endswith("Your own file, not ready")


def test_the_address_has_the_choices_before_a_page_is_drawn(monkeypatch):
    app = open_survey("choose_k", k="7")
    # The browser asks for another page without a query, and the server goes away while that is drawn.
    app.query_params.clear()
    seen = []

    def draw(*_):
        import streamlit as st

        seen.append(dict(st.query_params))
        return st.container()

    monkeypatch.setattr("pages.shared.shell.draw_header", draw)
    go_to(app, "clusters")
    app.run()
    assert seen[0] == {"data": "upload", "k": "7"}


def read_and_decided():
    """Return a session in which a file is read with two clicks that are offered, and a role is changed."""
    app = upload("pay.csv", PAY)
    while [button for button in app.button if button.key == "offer_0"]:
        app.button(key="offer_0").click()
        settle(app)
    return decide(app, age="confidential")


def look(app):
    return app.session_state["uploaded_table"].read.frame, table_of_columns(app)["role"].to_dict()


def upload_again(app, name, content):
    """Upload a file in a new session, with the address that the browser has kept."""
    new = again(app, "data")
    new.file_uploader(key="w_file").upload(name, content)
    return settle(new)


def test_a_file_that_is_uploaded_again_is_read_as_it_was():
    app = read_and_decided()
    assert {"skip_lines=1", 'decimal=","'} <= set(app.query_params["reading"])
    assert look(app)[0]["pay"].dtype == float
    new = upload_again(app, "renamed.csv", PAY)
    assert look(new)[0].equals(look(app)[0])
    assert look(new)[1] == look(app)[1]
    assert "Read with your settings" in plain(new)
    assert not any("other values" in warning.value for warning in new.warning)
    # So does a project that is opened.
    new = upload("pay.csv", PAY)
    new.file_uploader(key="w_project").upload("no.json", b"{}")
    assert "This file is no project" in plain(settle(new))
    assert "reading" not in new.query_params
    project = {"choices": {name: app.query_params[name] for name in app.query_params}}
    new.file_uploader(key="w_project").upload("pay_project.json", json.dumps(project).encode())
    assert "no project" not in plain(settle(new))
    assert look(new)[0].equals(look(app)[0])
    assert look(new)[1] == look(app)[1]


def test_another_file_is_read_as_usual_until_somebody_says_otherwise():
    new = upload_again(read_and_decided(), "pay.csv", PAY.replace(b";20;", b";21;"))
    assert "uploaded_table" not in new.session_state  # as usual its title is in the way
    press(new, "Read it as that one")
    frame, roles = look(new)
    assert frame["pay"].dtype == float
    assert frame["age"].min() == "21"
    assert "decisions on 'age' were made for other values" in plain(new)
    assert roles["age"] != "Confidential"
    press(new, "Repeat the decisions")
    assert look(new)[1]["age"] == "Confidential"
    assert "for other values" not in plain(new)


def test_what_any_option_says_of_a_column_lasts():
    entered = 'missing_codes:["age", ["20"]]'
    app = upload("survey.csv", SURVEY.read_bytes(), entered=entered)
    assert app.query_params["entered"] == entered
    # Four persons of 20 have no age then, of whom nobody has said what becomes of them.
    assert "Column 'age' has NaN (a missing value) in record 99" in plain(app)
