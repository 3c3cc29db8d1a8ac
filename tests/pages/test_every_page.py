"""Every page on numbers and on categories, and the choices that go with the visitor from page to page."""

from __future__ import annotations

import pytest

from pages.shared import shell
from tests.pages.helpers import (
    go_to,
    open_page,
    open_survey,
    plain,
    settle,
)

#: The pages that show the chosen data; the others are the same on any.
ON_DATA = ("data", "choose_k", "clusters", "release")
OTHERS = tuple(page for page in shell.PAGES if page not in ON_DATA)
CASES = [(page, data) for page in ON_DATA for data in ("wine", "census")] + [(page, "wine") for page in OTHERS]


def check(app, data):
    # Of an upload nothing is decided yet, which holds up its release.
    assert [error.value for error in app.error if "holds up the release" not in error.value] == []
    assert len(app.title) == 1
    assert app.query_params["data"] == data


@pytest.mark.parametrize(("page", "data"), CASES)
def test_page_runs(page, data):
    check(open_page(page, data=data, ks="3-6"), data)


@pytest.mark.parametrize("page", ON_DATA)
def test_page_runs_on_categories(page):
    check(open_survey(page, ks="5, 10"), "upload")


@pytest.mark.slow
@pytest.mark.parametrize("page", ON_DATA)
def test_page_runs_on_a_sample_of_categories(page):
    # A release is that of all records: what is said of it takes a minute where there are very many groups.
    check(open_page(page, data="adult", sample="300", ks="5, 10", k="100"), "adult")


def test_choices_are_kept_on_the_next_page():
    app = open_page("choose_k", data="wine", ks="3, 4")
    app.selectbox(key="w_method_chosen").set_value("cbfs").run()
    app.number_input(key="w_k_chosen").set_value(7).run()
    go_to(app, "clusters")
    settle(app)
    assert "At k = 7" in plain(app)
    assert "less than CBFS." in plain(app)
    assert app.query_params["method"] == "cbfs"
    assert app.query_params["k"] == "7"


def test_nonsense_in_the_address_is_said_and_the_usual_value_shown():
    nonsense = {
        "k": "0",
        "sample": "abc",
        "method": "nonsense",
        "scale": "log",
        "v-mdav.gamma": "-1",
        "mdav.gamma": "1",
        "least-loss.effort": "30",
    }
    app = open_page("clusters", data="wine", **nonsense)
    assert "which cannot be used" in app.warning[0].value
    for name, value in nonsense.items():
        assert f"{name}={value}" in app.warning[0].value
    assert set(app.query_params) == {"data"}
    assert app.metric[0].value == open_page("clusters", data="wine").metric[0].value


@pytest.mark.parametrize(
    ("data", "method", "says"),
    [
        ("adult", "mondrian", "30,162 of 32,561 records (2,399 with gaps are left out) in groups of at least **5**"),
        ("wine", "mdav", "All 178 records in groups of at least **5**"),
    ],
)
def test_all_records_are_said_of_all_only(data, method, says):
    assert says in plain(open_page("release", data=data, k="5", method=method))
