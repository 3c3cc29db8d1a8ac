"""Stored results stand in for what has not been computed yet."""

import pytest

from microagg.studies import landscape
from microagg.studies.experiment import Method
from pages.choose_k import search
from pages.shared import jobs, state
from pages.shared.job_queue import Job
from pages.shared.text import percent
from tests.pages.helpers import choose, lines, open_page, partitions, plain, press, settle, traces, visit


@pytest.fixture
def nothing_runs(monkeypatch):
    monkeypatch.setattr(jobs, "sweep", lambda *_, **how: Job("none", 0))


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("data", ["census", "wine"])
def test_curves_and_best_known_partitions_of_benchmarks_are_there_before_anything_is_computed(data):
    app = open_page("choose_k", data=data, ks="4,5,22", k="5", methods="mdav-star")
    own = landscape.stored(data, 0, Method("mdav-star", {}), [4, 5])
    assert lines(app)["MDAV*"][:2] == pytest.approx(own["information_loss"].tolist())
    line = traces(app)["Best known"]
    # For k = 22 the one for 25 is the best.
    best = [landscape.best(data, k).information_loss for k in (4, 5, 22)]
    assert lines(app)["Best known"].tolist() == pytest.approx(best, rel=1e-9)
    assert line["mode"] == "lines+markers"
    # The demonstration is what it was: the best is offered.
    assert "MDAV* at k = 5 meets" in plain(app)
    assert "Best known" in app.selectbox(key="w_method_chosen").options
    press(app, "Use the best known partition")
    assert app.session_state["choices"].method == state.FOUND
    assert "Best known at k = 5 meets" in plain(visit(app, "choose_k"))
    assert "4 of 4 runs stored with microagg" in plain(choose(app, w_ks="3-6"))
    # Nothing stored stands in for another setting.
    for choices in ({"scale": "minmax"}, {"polish": "1"}, {"v-mdav__gamma": "0.35"}):
        app = open_page("choose_k", data="wine", ks="3-6", methods="v-mdav", **choices)
        assert "stored with microagg" not in plain(app)


@pytest.mark.parametrize(("data", "second"), [("tarragona", "mdav"), ("adult", "mondrian")])
def test_clusters_has_the_best_known_partition(data, second):
    app = open_page("clusters", data=data, k="50", method=state.FOUND, second=second)
    assert partitions(app)[0][0] == percent(landscape.best(data, 50).information_loss)
    # Of larger groups nothing is stored, and nothing of other records.
    others = {"k": "5", "data": "wine", "scale": "minmax"} if data == "tarragona" else {"k": "5", "sample": "500"}
    for none in (choose(app, w_k_chosen=101), open_page("clusters", method=state.FOUND, **{"data": data} | others)):
        assert "this session has not searched at this k" in none.info[0].value


def test_a_search_begins_with_the_best_known_partition(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 1)
    began, make = [], search.Certificate
    monkeypatch.setattr(search, "Certificate", lambda *how: began.append(make(*how)) or began[-1])
    press(open_page("choose_k", data="wine", ks="9-10", k="10"), "Search for 1 s")
    [own] = began
    assert own.losses[0][1] == pytest.approx(landscape.best("wine", 10).information_loss, rel=1e-9)


def test_the_map_has_the_stored_points_where_their_risk_follows_from_k(monkeypatch):
    query = {"data": "simu", "methods": "mdav-star", "measure": "risk"}
    with monkeypatch.context() as patch:
        patch.setattr(jobs.experiment, "run_one", None)  # the partitions are stored, only their risks are not
        app = open_page("choose_k", **query, ks="3-4", risk="record_linkage")
    assert "not computed yet" not in plain(app)
    monkeypatch.setattr(jobs, "sweep", lambda *_, **how: Job("none", 0))
    # Who is found again only a partition can tell, and that of the best is stored.
    app = settle(choose(app, w_ks="3-6"))
    assert "The risk of 1 run is not computed yet" in plain(app)
    assert "Best known" in traces(app)
    choose(app, w_risk="max_reidentification")
    own = landscape.stored("simu", 0, Method("mdav-star", {}), [3, 4, 5, 6])
    assert lines(app)["MDAV*"].tolist() == pytest.approx(own["information_loss"].tolist())
    assert traces(app)["MDAV*"]["customdata"] == [["mdav-star", k] for k in (3, 4, 5, 6)]
