"""The page Choose k: curves, polishing, what a search finds and proves, and what it says of impossible choices."""

from __future__ import annotations

import re
import time

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import microagg
from microagg import ALGORITHMS, datasets, metrics, optimum
from microagg.algorithms.method import VARIANTS
from microagg.optimum import schedule
from microagg.optimum.certificate import Certificate
from microagg.studies import experiment
from pages.choose_k import comparison, search
from pages.shared import jobs, searched, state
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

LOWEST, USUAL = "lowest of the methods", {"MDAV", "MDAV+", "V-MDAV", "MDAV*"}
RANGE = r"k = {} to {}: .* at most ([\d.]+) to ([\d.]+) % above the optimum"


def wine():
    return microagg.standardize(datasets.load("wine").X)


def losses(key, ks, X, **params):
    return [metrics.information_loss(X, microagg.make(key, k=k, **params).fit_predict(X)) for k in ks]


def table(app):
    return app.dataframe[0].value


# --- curves of numbers ------------------------------------------------------------------------------------------------


def test_loss_curves_are_the_published_ones_and_the_difference_view_is_relative_to_the_lowest():
    app = open_page("choose_k", data="tarragona", ks="3-5")
    assert set(lines(app)) >= USUAL
    assert np.allclose(lines(app)["MDAV*"], [16.143, 19.189, 22.250], atol=0.0005)
    assert np.allclose(lines(app)[FLOOR], [14.467, 17.080, 20.144], atol=0.0005)
    assert len(app.dataframe) == 1
    excess = lines(choose(app, w_measure="excess"))
    assert np.allclose(excess["MDAV*"], 0)
    assert np.allclose(excess["MDAV+"][:2], [100 * (16.951 / 16.143 - 1), 100 * (19.767 / 19.189 - 1)], atol=0.02)
    best = open_page("choose_k", data="tarragona", ks="3, 4", best="1", methods="v-mdav")
    assert np.allclose(lines(best)["V-MDAV (best γ)"], [15.849, 19.695], atol=0.0005)


def test_polished_curves_lie_below_and_show_what_was_before():
    app = open_page("choose_k", data="wine", ks="3-5", methods="mdav", polish="1")
    assert np.allclose(lines(app)["thin: before polishing"], losses("mdav", (3, 4, 5), wine()))
    assert (lines(app)["MDAV, polished"] < lines(app)["thin: before polishing"]).all()
    assert table(app).query("title != 'Best found'").iloc[0][["title", "k"]].tolist() == ["MDAV, polished", 3]


def test_what_guarantees_cost_is_drawn_over_the_same_floor():
    query = {"data": "wine", "ks": "3-5", "methods": ["mdav", "md"], "method": "mdav", "k": "4"}
    before = lines(open_page("choose_k", **query))
    app = open_page("choose_k", **query, diversity="target=2", closeness="target=0.3")
    found, frame = lines(app), datasets.load("wine").frame
    asked = {"diversity": {"target": 2}, "closeness": {"target": 0.3}, "confidential": "target", "method": "mdav"}
    quasi = [name for name in frame.columns if name != "target"]
    releases = [microagg.microaggregate(frame, k=k, quasi_identifiers=quasi, **asked) for k in (3, 4, 5)]
    expected = [release.report.loss.information_loss for release in releases]
    assert np.allclose(found["MDAV, guaranteed"], expected)
    assert (found["MDAV, guaranteed"] > found["MDAV"]).all()
    assert "MD, guaranteed" not in found
    for name in (FLOOR, LOWEST, "MDAV", "MD"):
        assert np.allclose(found[name], before[name])
    assert f"{percent(expected[1])} instead of {percent(before['MDAV'][1])} at k = 4" in plain(app)
    assert np.allclose(table(app)[table(app)["title"] == "MDAV"]["guaranteed"], expected)
    refused = open_page("choose_k", data="wine", ks="3-5", methods="mdav", diversity="target=4")
    assert "ask for 3 or less" in plain(refused)
    assert "MDAV, guaranteed" not in lines(refused)


def test_of_strata_and_categories_guarantees_have_a_price_too():
    columns = roles({"education": "ordered", "age": "number"}, region="stratum", satisfaction="confidential")
    app = open_survey("choose_k", columns=columns, ks="2, 4", methods="k-member", diversity="satisfaction=2")
    [title] = [name for name in lines(app) if name.endswith(", guaranteed")]
    price = lines(app)[title] - lines(app)[title.removesuffix(", guaranteed")]
    assert (price >= 0).all()
    assert price[0] > 0


def test_methods_and_their_parameters_are_chosen_in_one_place_for_all():
    app = open_page("choose_k", data="wine", ks="3-5", methods="v-mdav")
    choose(app, **{"w_v-mdav.gamma": 0.6})
    assert np.allclose(lines(app)["V-MDAV (γ = 0.6)"], losses("v-mdav", (3, 4, 5), wine(), gamma=0.6))
    choose(app, w_method_chosen="v-mdav")
    assert app.number_input(key="w_v-mdav.gamma").value == 0.6
    choose(app, **{f"w_family_{ALGORITHMS['md'].info.family}": ["md"]})
    assert set(app.query_params["methods"]) == {"v-mdav", "md"}
    assert "MD" in lines(app)
    assert "MDAV" not in lines(app)
    choose(app, w_methods=[])
    assert {"MDAV", "MDAV+", "MDAV*"} <= set(lines(app))


# --- the search -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_page("choose_k", data="wine", scale="minmax", ks="3-5", k="3")
    before = lines(app)
    own, floor = before["MDAV*"][0], before[FLOOR][0]
    press(app, "Search for 2 s")
    after, gaps = lines(app), lines(app, 1)["gap"]
    # What a search finds and proves at one k bends no curve: both are marks there.
    assert np.array_equal(after[FLOOR], before[FLOOR])
    assert np.array_equal(after[LOWEST], before[LOWEST])
    [found], [proven] = after["Best found"], after["floor proven by a search"]
    assert floor < proven <= found < own
    assert (np.diff(gaps) <= 0).all()
    assert gaps[0] > gaps[-1] == pytest.approx(100 * (found / proven - 1))
    assert re.search(r"at most .* above the optimum, after [123](\.\d+)? s of search", plain(app))
    says = re.search(r"([\d.]+) % is possible and ([\d.]+) % is not: (\d+) % of it", plain(app))
    assert [float(says[1]), float(says[2])] == pytest.approx([found, proven], abs=0.1)
    assert int(says[3]) == pytest.approx(100 * (1 - found / own), abs=0.5)
    # What is proven for k = 3 holds for 4 and 5, so the table counts it there.
    rows = table(app)
    proven_for = dict(zip((3, 4, 5), np.maximum(before[FLOOR], proven), strict=True))
    assert np.allclose(rows["gap"], 100 * (rows["information_loss"] / rows["k"].map(proven_for) - 1))

    # What it has found is a method like any other, and the pages that follow take it.
    assert rows["title"].tolist().count("Best found") == 1
    press(app, "Show this partition in Clusters")
    # Only a browser follows to the other page.
    assert (app.session_state["choices"].method, app.session_state["choices"].k) == ("found", 3)
    visit(app, "choose_k")
    assert app.selectbox(key="w_method_chosen").value == "found"
    assert lines(app)["chosen"] == pytest.approx([found])
    assert "**Best found, k = 3**" in plain(app)
    assert not button(app, "Release this partition").disabled
    # At another k there is none yet.
    assert "has not searched there" in choose(app, w_k_chosen=4).warning[0].value


def searched_everywhere(app, is_done):
    """Go on until it is done: on a busy machine a few seconds do not suffice for each k."""
    for _ in range(8):
        if is_done(app):
            return
        press(app, "Go on")
    raise AssertionError("the search did not come to that")


def test_all_values_of_k_are_searched_without_being_asked_and_further_when_asked(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 4.0)
    monkeypatch.setattr(schedule, "_TURN", dict.fromkeys(schedule._TURN, 0.5))
    monkeypatch.setattr(schedule, "_FIRST", 0.5)
    monkeypatch.setattr(search, "NEAR", 0.0)
    app = open_page("choose_k", data="wine", scale="minmax", ks="3-5", k="4")
    data = datasets.load("wine").X
    neighbors = optimum.bounds.nearest_neighbor_curve((data - data.min(axis=0)) / np.ptp(data, axis=0), [3, 4, 5])
    least = [bound.information_loss for bound in neighbors]
    # The floor of the neighbors, which was the only one before, is below the one that is proven.
    searched_everywhere(
        app, lambda app: len(lines(app).get("Best found", ())) == 3 and (lines(app)[FLOOR] > least).all()
    )
    after = lines(app)
    best, gaps = after["Best found"], 100 * (after["Best found"] / after[FLOOR] - 1)
    low, high = map(float, re.search(RANGE.format(3, 5), plain(app)).groups())
    assert [low, high] == pytest.approx([gaps.min(), gaps.max()], rel=0.05)
    assert all((best < after[f"MDAV{end}"]).all() for end in ("", "+", "*"))
    # Both lines are at every k: nothing is marked at single ones, and the band reaches from one to the other.
    assert "floor proven by a search" not in after
    assert np.allclose(after[LOWEST], np.minimum.accumulate(best[::-1])[::-1])
    press(app, "Go on")
    assert float(re.search(RANGE.format(3, 5), plain(app))[2]) <= high


def test_while_all_values_of_k_are_searched_what_is_said_of_the_chosen_one_keeps_up(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 60.0)
    monkeypatch.setattr(search, "NEAR", 0.0)
    again, draw = [], search._draw
    monkeypatch.setattr(search, "_draw_again", lambda *arguments: again.append(1) or draw(*arguments))
    app = AppTest.from_file(APP, default_timeout=120)
    app.query_params.update({"data": "wine", "scale": "minmax", "ks": "3-9", "k": "6"})
    go_to(app, "choose_k")
    needless = re.compile(r"than is needed at k = 6; the best found")
    for _ in range(100):
        assert not app.run().exception
        bars = " ".join(bar.proto.text for bar in app.get("progress"))
        if needless.search(plain(app)) and "Searching further" in bars:
            break
        time.sleep(0.1)
    assert "Searching further" in bars
    assert again  # a browser draws it anew every few seconds
    button(app, "Cancel").click()
    again.clear()
    settle(app)
    assert not again
    assert needless.search(plain(app))


def test_nothing_is_searched_or_taken_for_found_unless_it_is_asked_for():
    app = open_page("choose_k", data="wine", scale="none", ks="3-5", method="found", k="4")
    assert search.BUDGET == 0
    assert "Best found" not in lines(app)
    assert not re.search(RANGE.format(3, 5), plain(app))
    assert "this session has not searched there" in app.warning[0].value
    assert button(app, "Search for 30 s")
    app = open_page("choose_k", data="toy", ks="3", k="3")
    assert "Proven optimal" in app.success[0].value
    assert not [label for label in labels(app) if "Search" in label]


def test_of_categories_a_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_survey("choose_k", ks="6, 12", k="12")
    before, (best, least, gap) = lines(app), (float(metric.value.removesuffix(" %")) for metric in app.metric)
    rows = table(app).query("k == 12")
    assert best == pytest.approx(rows["information_loss"].min(), rel=1e-3)
    assert rows["gap"].min() == pytest.approx(100 * (best / least - 1), rel=1e-2)
    assert gap == pytest.approx(100 * (best / least - 1), rel=0.05)
    assert 0 < least < best
    press(app, "Search for 2 s")
    after, gaps = lines(app), lines(app, 1)["gap"]
    [found], [proven] = after["Best found"], after["floor proven by a search"]
    assert before[FLOOR][1] < proven <= found < before["Greedy k-member"][1]
    assert gaps[-1] == pytest.approx(100 * (found / proven - 1))
    # The best is a method's like any other.
    assert table(app)["title"].tolist().count("Best found") == 1
    assert "**Best found, k = 12**" in plain(app)


def test_of_categories_all_values_of_k_are_searched_without_being_asked(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 4.0)
    monkeypatch.setattr(schedule, "_TURN", dict.fromkeys(schedule._TURN, 0.5))
    monkeypatch.setattr(schedule, "_FIRST", 0.5)
    app = open_survey("choose_k", ks="3, 6, 12", k="6")
    searched_everywhere(app, lambda app: len(lines(app).get("Best found", ())) == 3)
    after = lines(app)
    assert (after["Best found"] < after["Greedy k-member"]).all()
    gaps = 100 * (after["Best found"] / after[FLOOR] - 1)
    low, high = map(float, re.search(RANGE.format(3, 12), plain(app)).groups())
    assert [low, high] == pytest.approx([gaps.min(), gaps.max()], rel=0.05)
    # More records than so many are not searched before somebody asks.
    monkeypatch.setattr(search, "MOST_MIXED", 299)
    st.cache_resource.clear()
    app = open_survey("choose_k", ks="3, 5", k="5")
    assert "Best found" not in lines(app)
    assert not re.search(RANGE.format(3, 5), plain(app))


def test_a_partition_that_is_found_while_the_page_is_drawn_is_chosen_when_it_is_drawn_anew(monkeypatch):
    app = open_survey("choose_k", ks="9", k="9")
    assert "**Greedy k-member, k = 9**" in plain(app)
    controls = comparison.controls

    def keep(workspace):
        own = Certificate(workspace.data, 9, np.minimum(np.arange(300) // 9, 32))
        searched.keep(jobs.results(), searched.all_certificates(), (workspace.digest, 9), own)
        controls(workspace)

    monkeypatch.setattr(comparison, "controls", keep)
    app.run()
    assert not app.exception  # the chosen method's parameters stand above, and not again below
    assert "**Best found, k = 9**" in plain(app)


# --- values of k ------------------------------------------------------------------------------------------------------


def test_values_of_k_that_cannot_be_used_are_said_in_place():
    app = open_page("choose_k", data="wine", methods="mdav", ks="170, 500")
    assert "178 records, so the curves end at k = 170" in plain(app)
    assert len(table(app)) == 1
    for text, says in {"500-600": "at most 178", "2, x": "'x' is no value of k"}.items():
        choose(app, w_ks=text)
        assert says in plain(app)
        assert len(app.error) == 1
    choose(app, w_ks="")
    assert sorted(table(app).query("title == 'MDAV'")["k"]) == list(range(2, 21))


# --- categories -------------------------------------------------------------------------------------------------------


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
    assert lines(app)["no method can get below"].tolist() == [100 * 4**2, 29 * 12**2 + 4 * 13**2]


def test_methods_and_measures_that_do_not_fit_are_left_out_with_their_reason():
    app = open_survey("choose_k", ks="5", measure="classification", methods=["mdav", "mondrian"])
    assert "not fit for these data: MDAV." in plain(app)
    assert "Mondrian, strict" in lines(app)
    [numbers] = [m.value for m in app.markdown if m.value.startswith("**For numbers only")]
    assert "V\\-MDAV" in numbers
    assert "Greedy" not in numbers
    [classes] = [m.value for m in app.markdown if m.value.startswith("**It needs a class")]
    assert classes.endswith("Greedy k\\-member with class penalty.")
    picker = app.button_group(key="w_measure")
    assert picker.options == ["Total-IL", "Discernibility", "Time", "Risk and loss"]
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
    # Each is searched by itself.
    monkeypatch.setattr(search, "SECONDS", 2)
    choose(app, w_k_chosen=7)
    for _ in range(15):  # until there is a floor, however busy the machine is
        own = lines(press(app, "Search for 2 s"))
        if "floor proven by a search" in own:
            break
    [found], [proven] = own["Best found"], own["floor proven by a search"]
    assert own[FLOOR][1] < proven <= found < own["MDAV"][1]
    assert "Each stratum is searched by itself" in plain(app)


# --- both -------------------------------------------------------------------------------------------------------------


def test_what_to_choose_is_one_sentence_about_the_chosen_method():
    app = open_page("choose_k", data="wine", ks="2-8", methods=["mdav", "md"], method="mdav", limit="30")
    loss = dict(zip(range(2, 9), losses("mdav", range(2, 9), wine()), strict=True))
    largest = max(k for k, value in loss.items() if value <= 30)
    [sentence] = re.findall(r"\*\*(MDAV stays within .*?)\*\*", plain(app))
    assert all(part in sentence for part in ("30 %", f"k = {largest}", f"{loss[largest]:.1f} %"))
    # The other method's stands behind an expander.
    assert [item.value.split()[1] for item in app.expander[-2].markdown] == ["MD", "Best"]
    choose(app, w_limit=99)
    assert re.search(rf"MDAV loses no more than {loss[8]:.1f} % even at k = 8", plain(app))
    choose(app, w_limit=0.1)
    assert "MDAV loses more than 0.1 % at every k" in plain(app)


def test_rules_are_marked_and_every_k_can_be_clicked_and_says_all_methods_sorted():
    loss = {key: losses(key, (3, 8, 10), wine()) for key in ("mdav", "md")}
    app = open_page("choose_k", data="wine", ks="3, 8, 10", methods=["mdav", "md"])
    assert traces(app)["rules"]["x"] == [8, 10]
    assert "8 [NHS England](https://digital.nhs.uk/" in words(app)
    assert "10 [UK LLC](https://guidebook.ukllc.ac.uk/" in words(app)
    assert "CMS" not in words(app)
    targets = [trace for trace in figures(app)[0]["data"] if trace["name"] == "k"]
    assert {trace["yaxis"] for trace in targets} == {"y2", "y3", "y4"}
    for trace in targets:
        assert trace["customdata"] == [["", 3], ["", 8], ["", 10]]
        for place, text in enumerate(trace["hovertext"]):
            lower, higher = sorted(loss, key=lambda key: loss[key][place])
            assert text.index(f"{loss[lower][place]:.4g} %") < text.index(f"{loss[higher][place]:.4g} %")
    app = open_survey("choose_k", ks="5, 6", k="6")
    assert "rules" not in lines(app)
    assert "Check your own" not in words(app)
    [title] = [m.value for m in app.markdown if re.match(r"\*\*At k = 6, .* loses", m.value)]
    assert re.search(r"k\\-member loses \d+ % less than MDAV.* and \d+ % less than Mondrian", title)
    [text] = {trace["hovertext"][1] for trace in figures(app)[0]["data"] if trace["name"] == "k"}
    # Where there are categories, too, what nobody can get below and what is known stand below the methods.
    assert len(re.findall("■", text)) == len(app.multiselect(key="w_methods").value) + 1 == 5
    assert text.rindex("■") < text.index("no method can lose less") < text.index("best known")


def test_nothing_stands_where_the_chart_will_be_but_its_axis(monkeypatch):
    monkeypatch.setattr("pages.shared.jobs.Results.table", lambda *_: pd.DataFrame())
    monkeypatch.setattr("pages.shared.jobs.Job.wait", lambda *_: None)
    app = AppTest.from_file(APP, default_timeout=120)
    app.query_params.update({"data": "wine", "ks": "3-5", "scale": "none", "methods": "imhm"})
    [figure] = figures(go_to(app, "choose_k").run())
    assert len(figure["layout"]["annotations"]) == 1
    assert figure["layout"]["xaxis"]["tickvals"] == [3, 4, 5]


def test_a_sample_is_said_to_be_one_and_all_records_can_be_taken():
    app = open_page("choose_k", data="wine", ks="3", methods="mdav", sample="60", sample_seed="1")
    assert "This is a sample: 60 of 178 records" in words(app)
    rows = np.sort(np.random.default_rng(1).choice(178, 60, replace=False))
    assert np.allclose(lines(app)["MDAV"], losses("mdav", [3], wine()[rows]))
    press(app, "Take all 178")
    assert "This is a sample" not in words(app)
    assert "Estimate from" not in plain(app)
    assert np.allclose(lines(app)["MDAV"], losses("mdav", [3], wine()))
    assert (table(app)["gap"] >= 0).all()


@pytest.mark.parametrize(("data", "whole"), [("wine", "178"), ("adult", "30,162")])
def test_of_a_sample_nothing_is_called_proven_or_impossible(data, whole):
    app = settle(open_page("choose_k", data=data, ks="5, 10", k="5", sample="60", sample_seed="1"))
    assert f"Estimate from a sample of 60 of {whole} records" in plain(app)
    # What is said of all records says so, and is no estimate.
    of_all = re.compile(rf"\*\*All {whole} records at k = 5: .*?\*\*")
    assert bool(of_all.search(plain(app))) == (data == "wine")
    rest = of_all.sub("", plain(app))
    assert not re.search(r"is not possible|[Pp]roven|floor is proven|partition loses less|% is not", rest)
    assert "Above the optimum at most" not in [metric.label for metric in app.metric]
    assert "gap" not in table(app).columns
