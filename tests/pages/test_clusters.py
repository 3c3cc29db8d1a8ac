"""The page Clusters."""

from __future__ import annotations

import pytest

from tests.conftest import load_benchmark
from tests.pages.helpers import (
    figures,
    open_page,
    plain,
    words,
)


def test_clusters_show_both_partitions_on_the_same_axes():
    app = open_page("clusters", data="tarragona", k="5", second="mdav-plus")
    one, two, _ = figures(app)
    assert one["layout"]["xaxis"]["range"] == two["layout"]["xaxis"]["range"]
    assert one["layout"]["yaxis"]["range"] == two["layout"]["yaxis"]["range"]
    assert [metric.value for metric in app.metric] == ["22.25 %", "13.93 %", "147", "22.87 %", "13.93 %", "166"]
    assert "MDAV\\* loses 2\\.72 % less than MDAV\\+" in words(app)


def test_clusters_say_that_k_is_too_large():
    app = open_page("clusters", data="wine", k="179")
    assert "fewer than k=179" in app.error[0].value


def test_parameters_of_the_address_are_used():
    app = open_page("clusters", data="tarragona", k="3", method="v-mdav", **{"v-mdav__gamma": "0.3"})
    assert app.metric[0].value == "15.85 %"
    assert app.query_params["v-mdav.gamma"] == "0.3"


@pytest.mark.slow
def test_the_pages_for_numbers_take_the_numbers_of_adult():
    load_benchmark("adult")
    app = open_page(
        "clusters", data="adult", k="100", method="mdav-plus", second="cbfs", columns=["age", "hours-per-week"]
    )
    assert "the categories (workclass, education, marital-status, occupation and 3 more) stay as they are" in plain(app)
    assert app.get("page_link")
    app = open_page("data", data="adult")
    assert not app.error
    roles = app.dataframe[0].value.set_index("attribute")["role"]
    assert roles["age"] == roles["hours-per-week"] == "quasi-identifier"
    assert roles["fnlwgt"] == roles["education"] == "left as it is"


def test_the_pages_for_numbers_hide_what_needs_classes():
    app = open_page("clusters", data="wine", k="5", method="k-member", **{"k-member__class_penalty": "2"})
    assert not app.error
    assert [box.label for box in app.number_input if "penalty" in box.label] == []
    assert "class" not in " ".join(box.label for box in app.sidebar.number_input)
