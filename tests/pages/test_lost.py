"""Sessions that are lost, by a restart of the server or a reload: what is gone is said, nothing stands in for it."""

from __future__ import annotations

import pytest

from tests.pages.helpers import SURVEY, go_to, open_page, open_survey, plain, settle

TOWNS = "*\n  all\n    Southport\n    Midland\n    Eastmere\n    Northvale\n    Westhill"
ORDER = ["primary", "secondary", "vocational", "bachelor", "master"]


def look_at(app, name):
    app.selectbox(key="w_attribute").set_value(name)
    return settle(app)


def again(app, page):
    """Open a page in a new session, with the address that the browser has kept."""
    return open_page(page, **{name.replace(".", "__"): app.query_params[name] for name in app.query_params})


@pytest.mark.parametrize("page", ["choose_k", "clusters", "release"])
def test_no_other_data_stand_in_for_a_file_that_is_lost(page):
    app = again(open_survey(page, k="7"), page)
    assert "This session has no file: the server was restarted" in plain(app)
    assert "Choose the same file again on the page Data" in plain(app)
    assert app.query_params["data"] == "upload"
    assert app.query_params["k"] == "7"
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

    monkeypatch.setattr("pages.shared.shell.line", draw)
    go_to(app, "clusters")
    app.run()
    assert seen[0] == {"data": "upload", "k": "7"}


def test_what_was_entered_is_not_replaced_by_the_usual_order_or_taxonomy():
    app = look_at(open_survey(), "region")
    app.text_area[0].set_value(TOWNS)
    look_at(settle(app), "education")
    app.selectbox(key="column_kind_education").set_value("ordered")
    settle(app)
    app.text_area[0].set_value("\n".join(ORDER))
    settle(app)
    new = again(app, "data")
    new.file_uploader[0].upload("survey.csv", SURVEY.read_bytes())
    settle(new)
    go_to(new, "release")
    settle(new)
    assert "entered for 'region' and 'education' is not in this session" in plain(new)
    assert not new.get("plotly_chart")
    # What is entered again for one of both does not make the other one be forgotten.
    go_to(new, "data")
    look_at(settle(new), "region")
    new.text_area[0].set_value(TOWNS)
    settle(new)
    assert "entered for 'education' is lost" in plain(new)
    look_at(new, "education")
    new.text_area[0].set_value("\n".join(ORDER))
    settle(new)
    go_to(new, "clusters")
    settle(new)
    assert not new.error
    assert new.get("plotly_chart")


def test_a_partition_found_in_another_session_is_asked_for():
    for page in ("choose_k", "clusters", "release"):
        app = open_page(page, data="wine", scale="none", method="found", k="4", ks="4")
        assert "search" in plain(app)
        assert "this session" in plain(app)
        assert app.query_params["method"] == "found"
