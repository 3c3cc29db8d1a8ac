"""Every page on two data sets, and the choices that go with the visitor from page to page."""

from __future__ import annotations

import pytest

from tests.pages.helpers import (
    PAGES,
    open_page,
    settle,
    words,
)

#: The pages that show the chosen data; the others are the same on any.
ON_DATA = {"data", "choose_k", "clusters", "mixed"}
CASES = [(page, data) for page in PAGES for data in (["wine", "census"] if page in ON_DATA else ["wine"])]


@pytest.mark.parametrize(("page", "data"), CASES)
def test_page_runs(page, data):
    app = open_page(page, data=data, k_to=6)
    assert not app.error
    assert len(app.title) == 1
    assert app.query_params["data"] == data


def test_choices_are_kept_on_the_next_page():
    app = open_page("choose_k", data="wine", k_to="4")
    app.selectbox(key="w_method_sidebar").set_value("cbfs").run()
    app.number_input(key="w_k_sidebar").set_value(7).run()
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert "CBFS at k \\= 7" in words(app) or "CBFS at k = 7" in words(app)
    assert app.query_params["method"] == "cbfs"
    assert app.query_params["k"] == "7"


def test_nonsense_in_the_address_is_said_and_the_usual_value_shown():
    nonsense = {"k": "0", "k_to": "abc", "method": "nonsense", "scale": "log", "v-mdav.gamma": "-1", "mdav.gamma": "1"}
    app = open_page("clusters", data="wine", **nonsense)
    assert "which cannot be used" in app.warning[0].value
    for name, value in nonsense.items():
        assert f"{name}={value}" in app.warning[0].value
    assert set(app.query_params) == {"data"}
    assert app.metric[0].value == open_page("clusters", data="wine").metric[0].value
