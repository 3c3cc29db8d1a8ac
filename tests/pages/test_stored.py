"""Stored results stand in for what has not been computed yet."""

from __future__ import annotations

import re

import pytest
import streamlit as st

from microagg.studies import landscape
from microagg.studies.experiment import Method
from pages.choose_k import search
from pages.shared import jobs, state
from pages.shared.job_queue import Job
from pages.shared.text import percent
from tests.pages.helpers import button, decode, figures, go_to, open_page, plain, settle


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
    [line] = [trace for trace in figures(app)[0]["data"] if trace["name"] == "MDAV*"]
    assert decode(line["y"]).tolist() == pytest.approx(own["information_loss"].tolist())


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("data", ["census", "wine"])
def test_the_best_known_partitions_of_benchmarks_are_there_at_once(data):
    app = open_page("choose_k", data=data, ks="4,5,22", k="5")
    [line] = [trace for trace in figures(app)[0]["data"] if trace["name"] == "Best found"]
    # For k = 22 the one for 25 is the best.
    best = [landscape.best(data, k).information_loss for k in (4, 5, 22)]
    assert decode(line["y"]).tolist() == pytest.approx(best, rel=1e-9)
    assert line["mode"] == "lines+markers"
    assert re.search(r"MDAV\* loses [\d.]+ % more than is needed at k = 5; the best found, at most", plain(app))
    # The demonstration is what it was: the best is offered.
    assert "Chosen now: **MDAV*, k = 5**" in plain(app)
    assert "Best found" in app.selectbox(key="w_method_chosen").options
    button(app, "Show this partition in Clusters").click()
    settle(app)
    assert app.session_state["choices"].method == state.FOUND
    settle(go_to(app, "choose_k"))
    assert "Chosen now: **Best found, k = 5**" in plain(app)


@pytest.mark.usefixtures("nothing_runs")
def test_where_only_the_loss_of_a_better_one_is_known_that_is_said():
    known = landscape.limits().query("data == 'census'").set_index("k")
    k = int(known.index[known["best"] < 0.999 * known["stored"]][0])
    app = open_page("choose_k", data="census", ks=f"{k - 1}-{k}", k=str(k))
    best, stored = known.loc[k, ["best", "stored"]]
    says = f"only the loss is known, {percent(best, 4)}; the best one here loses {percent(stored, 4)}, at most "
    assert says in plain(app)
    k = int(known.index[known["best"] == known["stored"]][0])
    assert "only the loss is known" not in plain(open_page("choose_k", data="census", ks=f"{k}-{k + 1}", k=str(k)))


@pytest.mark.parametrize(("data", "second"), [("tarragona", "mdav"), ("adult", "mondrian")])
def test_clusters_has_the_best_known_partition(data, second):
    app = open_page("clusters", data=data, k="50", method=state.FOUND, second=second)
    assert app.metric[0].value == percent(landscape.best(data, 50).information_loss)
    assert "By Best found, " in plain(app)
    # Of larger groups nothing is stored.
    app.number_input(key="w_k_chosen").set_value(101)
    settle(app)
    assert "this session has not searched there" in app.info[0].value


def test_no_best_known_partition_stands_for_other_records():
    for query in ({"data": "wine", "scale": "minmax"}, {"data": "adult", "sample": "500"}):
        app = open_page("clusters", k="5", method=state.FOUND, **query)
        assert "this session has not searched there" in app.info[0].value


def test_a_search_begins_with_the_best_known_partition(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 1)
    began, make = [], search.Certificate
    monkeypatch.setattr(search, "Certificate", lambda *how: began.append(make(*how)) or began[-1])
    app = open_page("choose_k", data="wine", ks="9-10", k="10")
    button(app, "Search for 1 s").click()
    settle(app)
    [own] = began
    assert own.found[0][1] == pytest.approx(landscape.best("wine", 10).information_loss, rel=1e-9)


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
    # Who is found again only a partition can tell, and that of the best is stored.
    app = open_page("choose_k", **query, risk="record_linkage")
    names = {trace["name"] for trace in figures(app)[0]["data"]}
    assert "Best found" in names
    assert "MDAV*" not in names


def test_points_of_which_a_risk_is_not_known_yet_are_counted(monkeypatch):
    query = {"data": "simu", "ks": "3-4", "methods": "mdav-star", "measure": "risk", "risk": "record_linkage"}
    open_page("choose_k", **query)
    monkeypatch.setattr(jobs, "sweep", lambda *_: Job("none", 0))
    app = open_page("choose_k", **query | {"ks": "3-6"})
    assert "Of 2 runs this risk is not known yet" in plain(app)
