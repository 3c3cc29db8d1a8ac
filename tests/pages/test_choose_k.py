"""The page Choose k: curves, polishing, what a search finds and proves, and what it says of impossible choices."""

import math
import re
import threading

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import microagg
from microagg import ALGORITHMS, datasets, metrics, optimum
from microagg.algorithms.method import VARIANTS
from microagg.optimum.certificate import Certificate
from microagg.studies import experiment, landscape
from pages.choose_k import comparison, search
from pages.shared import certificate, limits, state
from pages.shared.text import percent
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    APP,
    FLOOR,
    FRAME,
    button,
    choose,
    figures,
    go_to,
    labels,
    lines,
    open_page,
    open_survey,
    plain,
    press,
    roles,
    settle,
    traces,
    visit,
    words,
)

LOWEST, USUAL = "lowest loss", {"MDAV", "MDAV+", "V-MDAV", "MDAV*"}


def wine():
    return microagg.standardize(datasets.load("wine").X)


def losses(key, ks, X, **params):
    return [metrics.information_loss(X, microagg.make(key, k=k, **params).fit_predict(X)) for k in ks]


def table(app):
    return app.dataframe[0].value


def test_loss_curves_are_the_published_ones():
    app = open_page("choose_k", data="tarragona", ks="3-5")
    assert set(lines(app)) >= USUAL
    assert np.allclose(lines(app)["MDAV*"], [16.143, 19.189, 22.250], atol=0.0005)
    assert np.allclose(lines(app)[FLOOR], [14.467, 17.080, 20.144], atol=0.0005)
    assert len(app.dataframe) == 1


@pytest.mark.parametrize("measure", ["gap", "excess"])  # the second is of earlier addresses
def test_gaps_are_relative_to_the_lower_bound_everywhere_on_the_page(measure):
    app = open_page("choose_k", data="tarragona", ks="3, 4", k="4", measure=measure)
    floor = landscape.limits().query("data == 'tarragona' and k in (3, 4)").sort_values("k")["floor"].to_numpy()
    assert app.query_params["measure"] == "gap"
    gaps = lines(app)
    assert np.allclose(gaps["MDAV+"], 100 * (np.array([16.951, 19.767]) / floor - 1), atol=0.01)
    for title in ("MDAV+", "MDAV*", "Best known"):
        assert np.allclose(gaps[title], table(app)[table(app)["title"] == title].sort_values("k")["gap"])
    gap = percent(gaps["MDAV*"][1])
    assert re.search(rf"At k = 4, MDAV\* has .*: {gap}", plain(app))
    assert f"MDAV* at k = 4: gap {gap} (loss " in plain(app)


def test_polished_curves_lie_below_and_the_table_has_what_was_before():
    app = open_page("choose_k", data="wine", ks="3-5", methods="mdav", polish="1")
    polished = table(app).query("title == 'MDAV, polished'").sort_values("k")
    assert np.allclose(polished["unpolished"], losses("mdav", (3, 4, 5), wine()))
    assert (lines(app)["MDAV, polished"] < polished["unpolished"].to_numpy()).all()
    assert table(app).query("title != 'Best known'").iloc[0][["title", "k"]].tolist() == ["MDAV, polished", 3]


def test_what_guarantees_cost_stands_below_the_curves():
    query = {"data": "wine", "ks": "3-5", "methods": ["mdav", "md"], "method": "mdav", "k": "4"}
    before = lines(open_page("choose_k", **query))
    app = open_page("choose_k", **query, diversity="target=2", closeness="target=0.3")
    found, frame = lines(app), datasets.load("wine").frame
    asked = {"diversity": {"target": 2}, "closeness": {"target": 0.3}, "confidential": "target", "method": "mdav"}
    quasi = [name for name in frame.columns if name != "target"]
    releases = [microagg.microaggregate(frame, k=k, quasi_identifiers=quasi, **asked) for k in (3, 4, 5)]
    expected = [release.report.loss.information_loss for release in releases]
    for name in (FLOOR, LOWEST, "MDAV", "MD"):
        assert np.allclose(found[name], before[name])
    assert f"{percent(expected[1])} instead of {percent(before['MDAV'][1])} at k = 4" in plain(app)
    assert np.allclose(table(app)[table(app)["title"] == "MDAV"]["guaranteed"], expected)
    assert f"loss {percent(expected[1])} (no limit)" in plain(app)  # what is released is judged
    assert f"(loss {percent(expected[1])}, lower bound " in plain(app)
    refused = open_page("choose_k", data="wine", ks="3-5", methods="mdav", diversity="target=4")
    assert "ask for 3 or less" in plain(refused)


def test_of_strata_and_categories_guarantees_have_a_price_too():
    columns = roles({"education": "ordered", "age": "number"}, region="stratum", satisfaction="confidential")
    app = open_survey("choose_k", columns=columns, ks="2, 4", methods="k-member", diversity="satisfaction=2")
    rows = table(app).query("title == 'Greedy k-member'").sort_values("k")
    price = rows["guaranteed"] - rows["information_loss"]
    assert (price >= 0).all()
    assert price.iloc[0] > 0


def test_methods_and_their_parameters_are_chosen_in_one_place_for_all():
    app = open_page("choose_k", data="wine", ks="3-5", methods="v-mdav")
    choose(app, w_method_chosen="v-mdav")
    choose(app, **{"w_v-mdav.gamma": 0.6})
    assert np.allclose(lines(app)["V-MDAV (γ = 0.6)"], losses("v-mdav", (3, 4, 5), wine(), gamma=0.6))
    choose(app, w_methods=["v-mdav", "md"])
    assert set(app.query_params["methods"]) == {"v-mdav", "md"}
    assert "MD" in lines(app)
    assert "MDAV" not in lines(app)
    choose(app, w_methods=[])
    assert {"MDAV", "MDAV+", "MDAV*"} <= set(lines(app))


@pytest.mark.slow
def test_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_page("choose_k", data="wine", scale="minmax", ks="3-5", k="3", risk_limit="0")
    before = lines(app)
    own, floor = before["MDAV*"][0], before[FLOOR][0]
    press(app, "Search for 2 s")
    after = lines(app)
    [found], proven = after["Best known"], after[FLOOR][0]
    assert floor < proven <= found < own
    assert after[LOWEST].tolist() == [found, *before[LOWEST][1:]]
    gap = percent(100 * (found / proven - 1))
    assert f"gap {gap} (loss {percent(found)}, lower bound {percent(proven)})" in plain(app)
    # What is proven for k = 3 holds for 4 and 5, so the table counts it there.
    rows = table(app)
    proven_for = np.maximum(before[FLOOR], proven)
    assert np.allclose(after[FLOOR], proven_for)
    assert np.allclose(rows["gap"], 100 * (rows["information_loss"] / proven_for[rows["k"] - 3] - 1))

    # What it has found is a method like any other, and the pages that follow take it.
    assert rows["title"].tolist().count("Best known") == 1
    press(app, "Use the best known partition")
    assert (app.session_state["choices"].method, app.session_state["choices"].k) == ("found", 3)
    assert app.selectbox(key="w_method_chosen").value == "found"
    assert lines(app)["chosen"] == pytest.approx([found])
    assert "Best known at k = 3: risk 33.3 %" in plain(app)
    assert f"lower bound for groups of at least 3 is {percent(proven)}" in plain(visit(app, "release"))
    # At another k there is none yet.
    visit(app, "choose_k")
    assert "has not searched there" in plain(choose(app, w_k_chosen=4))


def test_nothing_is_searched_or_taken_for_found_unless_it_is_asked_for():
    app = open_page("choose_k", data="wine", scale="none", ks="3-5", method="found", k="4")
    assert "Best known" not in lines(app)
    assert "this session has not searched there" in plain(app)
    assert button(app, "Search for 30 s")
    app = open_page("choose_k", data="toy", ks="3", k="3")
    assert "Proven optimal" in app.success[0].value
    assert not [label for label in labels(app) if "Search" in label]


def test_of_categories_a_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_survey("choose_k", ks="6, 12", k="12", risk_limit="0")
    before = lines(app)
    [row] = table(app).query("k == 12 and title == 'Greedy k-member'").to_dict("records")
    gap, loss = percent(row["gap"]), percent(row["information_loss"])
    assert f"Greedy k-member at k = 12: gap {gap} (loss {loss}" in plain(app)
    press(app, "Search for 2 s")
    after = lines(app)
    [found], proven = after["Best known"], after[FLOOR][1]
    assert 0 < before[FLOOR][1] < proven <= found < before["Greedy k-member"][1]


def test_a_partition_that_is_found_while_the_page_is_drawn_is_offered_and_the_method_stays(monkeypatch):
    app = open_survey("choose_k", ks="9", k="9")
    # By its groups it meets the limit; once the release is made in the background, a prediction raises its risk.
    of_run = re.compile("Greedy k-member at k = 9 (meets|exceeds)")
    assert of_run.search(plain(app))
    controls = comparison.controls

    def keep(workspace):
        own = Certificate(workspace.data, 9, np.minimum(np.arange(300) // 9, 32))
        certificate.all_certificates()[workspace.digest, 9] = own
        controls(workspace)

    monkeypatch.setattr(comparison, "controls", keep)
    app.run()
    assert not app.exception
    assert of_run.search(plain(app))
    assert "Best known" in lines(app)


def test_values_of_k_that_cannot_be_used_are_said_in_place():
    app = open_page("choose_k", data="wine", methods="mdav", ks="170, 500")
    assert "178 records, so the curves end at k = 170" in plain(app)
    assert len(table(app)) == 1
    says = "No groups of k = 200 can be formed: choose k of at most 178."
    assert says in plain(choose(app, w_k_chosen=200))
    for text, says in {"500-600": "at most 178", "2, x": "'x' is no value of k"}.items():
        choose(app, w_ks=text)
        assert says in plain(app)
        assert len(app.error) == 1
    choose(app, w_ks="")
    assert sorted(table(app).query("title == 'MDAV'")["k"]) == list(range(2, 21))


@pytest.mark.slow
def test_curves_of_categories_are_those_of_the_experiment():
    adult = load_benchmark("adult")
    complete = adult.frame.dropna(subset=list(adult.quasi_identifiers))
    rows = np.sort(np.random.default_rng(3).choice(len(complete), 400, replace=False))
    income = complete["income"].iloc[rows]
    # Those that search for some seconds, or are for closeness, are compared where somebody chooses them.
    able = [name for name, own in VARIANTS.items() if own.mixed and not ALGORITHMS[own.key].info.keeps_rules]
    methods = {name: state.Choices().method_of(name) for name in able}
    records = adult.schema.records(complete).take(rows)
    expected = experiment.sweep(records, methods.values(), [4, 12], classes=income.to_numpy()).set_index(["label", "k"])
    with_gaps = [name for name in adult.quasi_identifiers if adult.frame[name].isna().any()]
    columns = [f"quasi-identifier.category.drop.0:{name}" for name in with_gaps]
    app = open_page("choose_k", data="adult", sample="400", sample_seed="3", ks="4, 12", columns=columns)
    for name, method in methods.items():
        title = VARIANTS[name].title
        assert np.allclose(lines(app)[title], expected.loc[method.label, "information_loss"]), title
    choose(app, w_measure="classification")
    assert np.allclose(lines(app)["Greedy k-member"], 100 * expected.loc["Greedy k-member", "classification"])
    assert np.allclose(lines(app)["all records in one group"], 100 * income.value_counts(normalize=True).min())
    choose(app, w_measure="discernibility")
    assert lines(app)["lowest possible"].tolist() == [100 * 4**2, 29 * 12**2 + 4 * 13**2]


def test_methods_and_measures_that_do_not_fit_are_left_out():
    app = open_survey("choose_k", ks="5", measure="classification", methods=["mdav", "mondrian"])
    assert "to these data: MDAV." in plain(app)
    assert "Mondrian, strict" in lines(app)
    offered = app.multiselect(key="w_methods").options
    assert "Greedy k-member" in offered
    assert not {"V-MDAV", "Greedy k-member with class penalty"} & set(offered)
    picker = app.button_group(key="w_measure")
    assert picker.options == ["Loss", "Gap", "Discernibility", "Time", "Risk and loss"]
    assert picker.value == "information_loss"
    assert app.query_params["measure"] == "classification"
    assert "classification" not in table(app).columns
    app = open_survey("choose_k", ks="5", methods="mdav")
    assert "Choose at least one method above" in words(app)
    assert not figures(app)


def test_within_strata_the_floor_and_the_values_of_k_are_those_of_the_strata(monkeypatch):
    numbers, sizes = ["age", "rent"], FRAME["region"].value_counts()
    columns = roles(dict.fromkeys(numbers, "number"), other="other", region="stratum")
    app = open_survey("choose_k", columns=columns, methods="mdav", ks=f"3, 7, {sizes.min() + 1}")
    assert f"only {sizes.min()} records in the smallest stratum" in plain(app)
    assert table(app)["k"].max() == 7
    Z = microagg.standardize(FRAME[numbers].to_numpy(float))
    parts = [Z[(FRAME["region"] == region).to_numpy()] for region in sizes.index]
    least = [sum(optimum.bounds.nearest_neighbor(part, k).sse for part in parts) for k in (3, 7)]
    assert np.allclose(lines(app)[FLOOR], 100 * np.array(least) / Z.size)
    assert "No search within strata" in plain(choose(app, w_k_chosen=7))
    assert not [one for one in app.button if one.label.startswith("Search for")]


def offers(app):
    """Return the runs that the answer offers by a click."""
    return [own for own in app.button if (own.key or "").startswith("take_")]


def test_a_new_limit_of_the_risk_chooses_the_smallest_k_that_meets_it():
    app = open_page("choose_k", data="wine", methods=["mdav", "md"], method="mdav")
    assert "MDAV at k = 5 meets the limit: risk 20 % (limit 20 %), loss " in plain(app)
    for limit, k in ((12.5, 8), (9.0, 12), (33.34, 3), (2.0, 50)):  # the last one is beyond the curves
        choose(app, w_risk_limit=limit)
        [loss] = losses("mdav", [k], wine())
        assert (app.query_params["k"] if k != 5 else "5") == str(k)
        says = f"MDAV at k = {k} meets the limit: risk {100 / k:.3g} % (limit {limit:g} %), loss {percent(loss)}"
        assert says in plain(app)
    choose(app, w_risk_limit=limits.NONE)
    assert app.query_params["k"] == "50"
    assert "no limit is set" in plain(app)


def test_the_answer_offers_what_meets_both_limits_or_has_a_lower_loss():
    loss = dict(zip(range(2, 9), losses("mdav", range(2, 9), wine()), strict=True))
    query = {"data": "wine", "scale": "zscore", "ks": "2-8", "methods": ["mdav", "md"], "method": "mdav"}
    app = open_page("choose_k", **query, k="3", limit=str(math.ceil(loss[5])))
    assert "MDAV at k = 3 exceeds the largest acceptable risk: risk 33.3 % (limit 20 %)" in plain(app)
    [offer] = offers(app)
    assert offer.label == "Use MDAV at k = 5"
    offer.click()
    settle(app)
    assert f"MDAV at k = 5 meets both: risk 20 %, loss {percent(loss[5])}." in plain(app)
    best = landscape.best("wine", 5).information_loss
    [offer] = offers(app)
    assert offer.label == f"Use the best known partition: loss {percent(best)[:-2]} instead of {percent(loss[5])}"
    offer.click()
    settle(app)
    assert f"Best known at k = 5 meets both: risk 20 %, loss {percent(best)}." in plain(app)
    assert not offers(app)


def test_if_nothing_meets_both_limits_the_two_nearest_are_offered_and_the_proof_is_there():
    app = open_page("choose_k", data="wine", ks="2-8", methods="mdav", method="found", k="5", limit="15")
    found = {k: landscape.best("wine", k).information_loss for k in range(2, 9)}
    largest = max(k for k, loss in found.items() if loss <= 15)
    says = f"No k meets both. Nearest: k = 5 loses {percent(found[5])} · k = {largest} has risk {100 / largest:.3g} %."
    assert says in plain(app)
    floor = landscape.limits().query("data == 'wine' and k == 5")["floor"].item()
    assert f"No partition can: the lower bound at k = 5 is {percent(floor)}." in plain(app)
    assert [offer.label for offer in offers(app)] == ["Use Best known at k = 5", f"Use Best known at k = {largest}"]
    offers(app)[1].click()
    settle(app)
    assert app.query_params["k"] == str(largest)


def test_headlines_wait_until_all_runs_are_there(monkeypatch):
    monkeypatch.setattr("pages.shared.jobs.Job.wait", lambda *_: None)
    held = threading.Event()
    run_one = experiment.run_one
    monkeypatch.setattr(experiment, "run_one", lambda problem, method, k: held.wait() and run_one(problem, method, k))
    app = AppTest.from_file(APP, default_timeout=120)
    app.query_params.update({"data": "wine", "scale": "minmax", "ks": "3-5", "methods": ["mdav", "md"], "k": "4"})
    go_to(app, "choose_k")
    app.run()
    [figure] = figures(app)
    assert "appear here in a moment" in figure["layout"]["annotations"][0]["text"]
    assert "MDAV* at k = 4 is being computed." in plain(app)
    held.set()
    settle(app)
    assert "has the lowest loss of 2 methods at" in plain(app)
    assert "MDAV* at k = 4 meets" in plain(app) or "MDAV* at k = 4 exceeds" in plain(app)


def test_the_first_view_of_a_benchmark_computes_nothing(monkeypatch):
    st.cache_resource.clear()

    def fail(*_, **how):
        raise AssertionError("it was computed")

    monkeypatch.setattr(experiment, "run_one", fail)
    monkeypatch.setattr("microagg.metrics.risk.record_linkage", fail)
    monkeypatch.setattr("pages.shared.certificate.Floors", fail)
    for data in ("census", "simu"):
        app = open_page("choose_k", data=data, ks="5, 10", sample="0")
        assert "has the lowest loss of 4 methods at" in plain(app)
        assert "at k = 5 meets the limit: risk 20 %" in plain(app)
        assert "record_linkage" not in app.dataframe[0].value


def test_rules_are_marked_and_every_k_can_be_clicked_and_says_all_methods_sorted():
    loss = {key: losses(key, (3, 8, 10), wine()) for key in ("mdav", "md")}
    app = open_page("choose_k", data="wine", ks="3, 8, 10", methods=["mdav", "md"])
    assert traces(app)["rules"]["x"] == [8, 10]
    assert "[NHS England](https://digital.nhs.uk/" in words(app)
    options = app.selectbox(key="w_risk_limit").options
    assert {"1 in 8 · k = 8 · NHS England", "9 % · k = 12 · EMA", "none"} <= set(options)
    targets = [trace for trace in figures(app)[0]["data"] if trace["name"] == "k"]
    assert {trace["yaxis"] for trace in targets} == {"y2"}
    for trace in targets:
        assert trace["customdata"] == [["", 3], ["", 8], ["", 10]]
        for place, text in enumerate(trace["hovertext"]):
            lower, higher = sorted(loss, key=lambda key: loss[key][place])
            assert text.index(f"{loss[lower][place]:.4g} %") < text.index(f"{loss[higher][place]:.4g} %")
    app = open_survey("choose_k", ks="5, 6", k="6")
    assert "rules" not in lines(app)
    assert re.search(r"At k = 6, .*k-member has the lowest loss of 4 methods: [\d.]+ %", plain(app))
    [text] = {trace["hovertext"][1] for trace in figures(app)[0]["data"] if trace["name"] == "k"}
    # Where there are categories, too, what nobody can get below and what is known stand below the methods.
    assert len(re.findall("■", text)) == len(app.multiselect(key="w_methods").value) + 1 == 5
    assert text.rindex("■") < text.index("lower bound") < text.index("best known")


def test_a_sample_is_said_to_be_one_and_all_records_can_be_taken():
    app = open_page("choose_k", data="wine", ks="3", methods="mdav", sample="60", sample_seed="1")
    assert "Sample: 60 of 178 records" in words(app)
    rows = np.sort(np.random.default_rng(1).choice(178, 60, replace=False))
    assert np.allclose(lines(app)["MDAV"], losses("mdav", [3], wine()[rows]))
    press(app, "Use all 178")
    assert "Sample:" not in words(app)
    assert "Estimate from" not in plain(app)
    assert np.allclose(lines(app)["MDAV"], losses("mdav", [3], wine()))
    assert (table(app)["gap"] >= 0).all()


@pytest.mark.parametrize(("data", "whole"), [("wine", "178"), ("adult", "30,162")])
def test_of_a_sample_nothing_is_called_proven_or_impossible(data, whole):
    app = settle(open_page("choose_k", data=data, ks="5, 10", k="5", sample="60", sample_seed="1"))
    assert f"Estimate from a sample of 60 of {whole} records" in plain(app)
    assert not re.findall(r"gap [\d.]+ %", plain(app))
    assert "Gap" not in app.button_group(key="w_measure").options
    assert "gap" not in table(app).columns
