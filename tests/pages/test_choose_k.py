"""The page Choose k: curves, polishing, what a search finds and proves, and what it says of impossible choices."""

from __future__ import annotations

import re

import numpy as np
import pytest

import microagg
from microagg import ALGORITHMS, datasets, metrics
from pages.ui.runs import certificate
from tests.pages.helpers import (
    button,
    decode,
    figures,
    open_page,
    settle,
    words,
)


def test_loss_curves_are_the_published_ones():
    app = open_page("choose_k", data="tarragona", k_from="3", k_to="5")
    [figure] = figures(app)
    lines = {trace["name"]: trace for trace in figure["data"]}
    assert {"MDAV", "MDAV+", "V-MDAV", "MDAV*"} <= set(lines)
    assert np.allclose(decode(lines["MDAV*"]["y"]), [16.143, 19.189, 22.250], atol=0.0005)
    assert np.allclose(decode(lines["floor: no method can get below"]["y"]), [9.855, 12.167, 13.927], atol=0.0005)
    assert "Two rules of thumb" in words(app)
    assert len(app.dataframe) == 1


def test_loss_curves_with_the_best_gamma_are_the_published_ones():
    app = open_page("choose_k", data="tarragona", k_from="3", k_to="4", best="1", methods="v-mdav")
    [figure] = figures(app)
    [line] = [trace for trace in figure["data"] if trace["name"] == "V-MDAV (best γ)"]
    assert np.allclose(decode(line["y"]), [15.849, 19.695], atol=0.0005)


def test_difference_view_is_relative_to_the_lowest():
    app = open_page("choose_k", data="tarragona", k_from="3", k_to="4", view="excess")
    [figure] = figures(app)
    [star] = [trace for trace in figure["data"] if trace["name"] == "MDAV*"]
    [plus] = [trace for trace in figure["data"] if trace["name"] == "MDAV+"]
    assert np.allclose(decode(star["y"]), 0)
    assert np.allclose(decode(plus["y"]), [100 * (16.951 / 16.143 - 1), 100 * (19.767 / 19.189 - 1)], atol=0.02)


def test_polished_curves_lie_below_and_show_what_was_before():
    app = open_page("choose_k", data="wine", k_from="3", k_to="5", methods="mdav", polish="1")
    [figure] = figures(app)
    lines = {trace["name"]: decode(trace["y"]) for trace in figure["data"]}
    X = microagg.standardize(datasets.load("wine").X)
    assert np.allclose(
        lines["thin: before polishing"],
        [metrics.information_loss(X, microagg.make("mdav", k=k).fit_predict(X)) for k in (3, 4, 5)],
    )
    assert (lines["MDAV, polished"] < lines["thin: before polishing"]).all()
    assert {"label": "MDAV, polished", "k": 3}.items() <= app.dataframe[0].value.iloc[0].to_dict().items()
    # The other pages work on the polished partition too.
    assert "MDAV, polished" in words(open_page("clusters", data="wine", method="mdav", polish="1"))


@pytest.mark.slow
def test_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(certificate, "SECONDS", 2)
    app = open_page("choose_k", data="wine", scale="minmax", k_from="3", k_to="5", k="3")
    [figure] = figures(app)
    before = {trace["name"]: decode(trace["y"]) for trace in figure["data"]}
    assert "How far from the optimum?" in [heading.value for heading in app.subheader]
    button(app, "Search for 2 s").click()
    settle(app)
    curves, narrowing = figures(app)
    after = {trace["name"]: decode(trace["y"]) for trace in curves["data"]}
    floor, best = "floor: no method can get below", "best known; the optimum lies between it and the floor"
    assert after[floor][0] > before[floor][0]
    assert (np.diff(after[floor]) >= 0).all()
    assert (after[floor] <= after[best]).all()
    assert after[best][0] < before[best][0]
    found, proven = (
        decode(trace["y"])
        for name in ("best found", "proven floor")
        for trace in narrowing["data"]
        if trace["name"] == name
    )
    assert (np.diff(found) <= 0).all()
    assert (np.diff(proven) >= 0).all()
    assert found[-1] == pytest.approx(after[best][0])
    assert proven[-1] == pytest.approx(after[floor][0])
    assert re.search("at most .* above the optimum", words(app).replace("\\", ""))
    gaps = app.dataframe[0].value
    assert np.allclose(gaps["gap"], 100 * (gaps["information_loss"] / after[floor][gaps["k"] - 3] - 1))


def test_search_says_when_it_has_found_the_optimum():
    app = open_page("choose_k", data="toy", k_from="3", k_to="3", k="3")
    assert "this is the optimum" in app.success[0].value
    assert not [button for button in app.button if "Search" in button.label]


def test_no_algorithm_chosen_is_said():
    app = open_page("choose_k", data="wine")
    app.multiselect[0].set_value([]).run()
    assert "Choose at least one algorithm" in words(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"k_from": "9", "k_to": "4"}, "the first must not exceed the second"),
        ({"k_from": "500", "k_to": "600"}, "there are only 178 records"),
        ({"k_to": "500"}, "ends at k = 178"),
    ],
)
def test_impossible_range_of_k_is_said(query, says):
    app = open_page("choose_k", data="wine", methods="mdav", **query)
    assert says in words(app).replace("\\", "")


def test_algorithms_can_be_picked_family_by_family():
    app = open_page("choose_k", data="wine", k_to="4")
    family = ALGORITHMS["md"].info.family
    group = app.pills(key=f"w_family_{family}") if hasattr(app, "pills") else app.button_group(key=f"w_family_{family}")
    group.set_value(["md"]).run()
    settle(app)
    assert app.query_params["methods"] == ["mdav", "mdav-plus", "v-mdav", "mdav-star", "md"]
    assert "MD" in {trace["name"] for trace in figures(app)[0]["data"]}
