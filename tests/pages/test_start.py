"""Start: six persons before and after, and the ways in."""

from __future__ import annotations

import pytest

from pages.shared import state
from tests.pages.helpers import button, decode, figures, open_page, settle


def test_six_persons_become_two_groups_of_three():
    app = open_page("start")
    shown = app.table[0].value
    assert shown["age"].tolist() == ["52 → 56", "22 → 27", "61 → 56", "33 → 27", "26 → 27", "55 → 56"]
    assert shown["income"].tolist()[:2] == ["48,000 → 54,000", "22,000 → 25,000"]
    assert shown["diagnosis"].tolist() == ["asthma", "flu", "diabetes", "migraine", "flu", "asthma"]
    released = [trace for trace in figures(app)[0]["data"] if trace.get("name", "").startswith("what is released")]
    assert [(float(decode(trace["x"])[0]), float(decode(trace["y"])[0])) for trace in released] == [
        (56.0, 54_000.0),
        (27.0, 25_000.0),
    ]


@pytest.mark.parametrize("data", ["wine", "simu"])
def test_a_file_of_ones_own_is_one_click_away(data):
    app = open_page("start", data=data, k="7")
    button(app, "Protect my file").click()
    settle(app)
    assert app.query_params["data"] == "upload"
    assert app.query_params["k"] == "7"


def test_an_example_is_one_click_away():
    app = open_page("start", data="simc")
    button(app, "Try ").click()
    settle(app)
    assert app.query_params["data"] == state.default_data()
