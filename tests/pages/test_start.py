"""Start: six persons before and after, and the ways in."""

from __future__ import annotations

import pytest

from tests.pages.helpers import SURVEY, button, decode, figures, open_page, settle


def test_six_persons_become_two_groups_of_three():
    app = open_page("start")
    shown = app.table[0].value
    assert shown["age"].tolist() == ["52 → 56", "23 → 27", "61 → 56", "31 → 27", "27 → 27", "55 → 56"]
    assert shown["income"].tolist()[:2] == ["48,000 → 54,000", "21,000 → 25,000"]
    assert shown["diagnosis"].tolist() == ["asthma", "flu", "diabetes", "migraine", "flu", "asthma"]
    released = [trace for trace in figures(app)[0]["data"] if trace.get("name", "").startswith("what is released")]
    assert [(float(decode(trace["x"])[0]), float(decode(trace["y"])[0])) for trace in released] == [
        (56.0, 54_000.0),
        (27.0, 25_000.0),
    ]


@pytest.mark.parametrize("data", ["wine", "simu"])
def test_a_file_of_ones_own_is_one_click_away(data):
    app = open_page("start", data=data)
    button(app, "Protect my file").click()
    settle(app)
    assert app.query_params["data"] == "upload"
    app.file_uploader[0].upload("survey.csv", SURVEY.read_bytes())
    settle(app)
    assert app.get("page_link")[0].proto.label.startswith(":material/table: survey")


def test_an_example_is_one_click_away():
    app = open_page("start", data="simc", k="7")
    button(app, "Try ").click()
    settle(app)
    assert app.title[0].value == "Choose k"
    assert app.query_params["k"] == "7"
