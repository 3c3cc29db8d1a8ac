"""Stored results stand in for what has not been computed yet."""

from __future__ import annotations

import pytest
import streamlit as st

from microagg.studies import landscape
from microagg.studies.experiment import Method
from pages.shared import jobs
from pages.shared.job_queue import Job
from tests.pages.helpers import decode, figures, open_page, plain


@pytest.fixture(autouse=True)
def new_session():
    """Forget what the tests before have computed: all of them run in one session."""
    st.cache_resource.clear()


@pytest.fixture
def nothing_runs(monkeypatch):
    """Have no sweep begin."""
    monkeypatch.setattr(jobs, "sweep", lambda *_: Job("none", 0))


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("data", ["census", "simu"])
def test_curves_of_benchmarks_are_there_before_anything_is_computed(data):
    app = open_page("choose_k", data=data, ks="3-6", methods="mdav-star")
    assert "4 points of 4 came with the package" in plain(app)
    own = landscape.stored(data, 0, Method("mdav-star", {}), [3, 4, 5, 6])
    [line] = [trace for trace in figures(app)[0]["data"] if trace.get("mode") == "lines+markers"]
    assert decode(line["y"]).tolist() == pytest.approx(own["information_loss"].tolist())


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("choices", [{"scale": "minmax"}, {"polish": "1"}, {"v_mdav__gamma": "0.35"}])
def test_nothing_stored_stands_in_for_another_setting(choices):
    choices = {key.replace("v_mdav", "v-mdav"): value for key, value in choices.items()}
    app = open_page("choose_k", data="wine", ks="3-6", methods="v-mdav", **choices)
    assert "came with the package" not in plain(app)


def test_what_is_computed_here_replaces_what_is_stored():
    app = open_page("choose_k", data="simu", ks="3-6", methods="mdav-star")
    assert "came with the package" not in plain(app)
    assert landscape.stored("simu", 0, Method("mdav-star", {}), [3]).shape[0] == 1


@pytest.mark.usefixtures("nothing_runs")
def test_the_map_has_the_stored_points_where_their_risk_follows_from_k():
    query = {"data": "simu", "ks": "3-6", "methods": "mdav-star", "measure": "risk"}
    app = open_page("choose_k", **query)
    own = landscape.stored("simu", 0, Method("mdav-star", {}), [3, 4, 5, 6])
    [line] = [trace for trace in figures(app)[0]["data"] if trace["name"] == "MDAV*"]
    assert decode(line["x"]).tolist() == pytest.approx((100 / own["smallest_group"]).tolist())
    assert decode(line["y"]).tolist() == pytest.approx(own["information_loss"].tolist())
    # Who is found again only a partition can tell, and none is stored.
    app = open_page("choose_k", **query, risk="record_linkage")
    [figure] = figures(app)
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["The first points appear here in a moment."]


def test_points_of_which_a_risk_is_not_known_yet_are_counted(monkeypatch):
    query = {"data": "simu", "ks": "3-4", "methods": "mdav-star", "measure": "risk", "risk": "record_linkage"}
    open_page("choose_k", **query)
    monkeypatch.setattr(jobs, "sweep", lambda *_: Job("none", 0))
    app = open_page("choose_k", **query | {"ks": "3-6"})
    assert "Of 2 runs this risk is not known yet" in plain(app)
