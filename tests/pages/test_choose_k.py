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
    SURVEY,
    button,
    decode,
    figures,
    go_to,
    open_page,
    open_survey,
    plain,
    settle,
    words,
)

FLOOR, LOWEST = "floor: no method can get below", "lowest of the methods"


def lines(app, place=0):
    """Return the lines of a figure by name, each as its values."""
    return {trace["name"]: decode(trace["y"]) for trace in figures(app)[place]["data"]}


def wine():
    return microagg.standardize(datasets.load("wine").X)


def losses(key, ks, X, **params):
    return [metrics.information_loss(X, microagg.make(key, k=k, **params).fit_predict(X)) for k in ks]


# --- curves of numbers ------------------------------------------------------------------------------------------------


def test_loss_curves_are_the_published_ones():
    app = open_page("choose_k", data="tarragona", ks="3-5")
    found = lines(app)
    assert {"MDAV", "MDAV+", "V-MDAV", "MDAV*"} <= set(found)
    assert np.allclose(found["MDAV*"], [16.143, 19.189, 22.250], atol=0.0005)
    assert np.allclose(found[FLOOR], [14.467, 17.080, 20.144], atol=0.0005)
    assert "What to choose" in [heading.value for heading in app.subheader]
    assert len(app.dataframe) == 1


def test_loss_curves_with_the_best_gamma_are_the_published_ones():
    app = open_page("choose_k", data="tarragona", ks="3, 4", best="1", methods="v-mdav")
    assert np.allclose(lines(app)["V-MDAV (best γ)"], [15.849, 19.695], atol=0.0005)


def test_difference_view_is_relative_to_the_lowest():
    found = lines(open_page("choose_k", data="tarragona", ks="3, 4", measure="excess"))
    assert np.allclose(found["MDAV*"], 0)
    assert np.allclose(found["MDAV+"], [100 * (16.951 / 16.143 - 1), 100 * (19.767 / 19.189 - 1)], atol=0.02)


def test_polished_curves_lie_below_and_show_what_was_before():
    app = open_page("choose_k", data="wine", ks="3-5", methods="mdav", polish="1")
    found = lines(app)
    assert np.allclose(found["thin: before polishing"], losses("mdav", (3, 4, 5), wine()))
    assert (found["MDAV, polished"] < found["thin: before polishing"]).all()
    table = app.dataframe[0].value
    assert table.query("title != 'Best found'").iloc[0][["title", "k"]].tolist() == ["MDAV, polished", 3]


@pytest.mark.parametrize(("method", "title"), [("mdav", "MDAV"), ("least-loss", "Least loss")])
def test_what_guarantees_cost_is_drawn_over_the_same_floor(method, title):
    ks, query = (3, 4, 5), {"data": "wine", "ks": "3-5", "methods": [method, "md"], "method": method, "k": "4"}
    before = lines(open_page("choose_k", **query))
    app = open_page("choose_k", **query, diversity="target=2", closeness="target=0.3")
    found, frame = lines(app), datasets.load("wine").frame
    asked = {"diversity": {"target": 2}, "closeness": {"target": 0.3}, "confidential": "target", "method": method}
    quasi = [name for name in frame.columns if name != "target"]
    made = [microagg.microaggregate(frame, k=k, quasi_identifiers=quasi, **asked) for k in ks]
    expected = [release.report.loss.information_loss for release in made]
    assert np.allclose(found[f"{title}, guaranteed"], expected)
    assert (found[f"{title}, guaranteed"] > found[title]).all()
    assert "MD, guaranteed" not in found
    for name in (FLOOR, LOWEST, title, "MD"):
        assert np.allclose(found[name], before[name])
    said = f"{title}, guaranteed loses {percent(expected[1])} instead of {percent(before[title][1])} at k = 4"
    assert said in plain(app)
    table = app.dataframe[0].value
    assert np.allclose(table[table["title"] == title]["guaranteed"], expected)
    assert "asked for beyond k" not in plain(open_page("choose_k", **query))


def test_guarantees_that_cannot_be_had_are_said_with_the_nearest_and_cost_nothing():
    app = open_page("choose_k", data="wine", ks="3-5", methods="mdav", diversity="target=4")
    assert "What is asked for beyond k cannot be had. Diversity of 'target' cannot be 4" in plain(app).replace("*", "")
    assert "ask for 3 or less" in plain(app)
    assert "MDAV, guaranteed" not in lines(app)


def test_of_strata_and_categories_guarantees_have_a_price_too():
    roles = ["stratum..:region", "confidential..:satisfaction", "quasi-identifier.ordered.drop.0:education"]
    roles += ["quasi-identifier.number.drop.0:age"]
    roles += [f"identifier..:{name}" for name in pd.read_csv(SURVEY).columns if name not in str(roles)]
    app = open_survey("choose_k", columns=roles, ks="2, 4", methods="k-member", diversity="satisfaction=2")
    found = lines(app)
    [title] = [name for name in found if name.endswith(", guaranteed")]
    assert (found[title] >= found[title.removesuffix(", guaranteed")]).all()
    assert found[title][0] > found[title.removesuffix(", guaranteed")][0]


def test_parameters_are_set_beside_the_curves_or_in_the_line_above_but_not_twice():
    app = open_page("choose_k", data="wine", ks="3-5", methods="v-mdav")
    app.number_input(key="w_v-mdav.gamma").set_value(0.6)
    settle(app)
    assert np.allclose(lines(app)["V-MDAV (γ = 0.6)"], losses("v-mdav", (3, 4, 5), wine(), gamma=0.6))
    app.selectbox(key="w_method_chosen").set_value("v-mdav")
    settle(app)
    assert app.number_input(key="w_v-mdav.gamma").value == 0.6


def test_methods_can_be_picked_family_by_family():
    app = open_page("choose_k", data="wine", ks="2-4")
    app.button_group(key=f"w_family_{ALGORITHMS['md'].info.family}").set_value(["md"])
    settle(app)
    assert app.query_params["methods"] == ["mdav", "mdav-plus", "v-mdav", "mdav-star", "md"]
    assert "MD" in lines(app)


def test_without_a_chosen_method_there_are_the_usual_ones():
    app = open_page("choose_k", data="wine", ks="3", methods="md")
    assert "MDAV" not in lines(app)
    app.multiselect(key="w_methods").set_value([])
    settle(app)
    assert {"MDAV", "MDAV+", "V-MDAV", "MDAV*"} <= set(lines(app))


# --- the search -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_page("choose_k", data="wine", scale="minmax", ks="3-5", k="3")
    before = lines(app)
    own, floor = before["MDAV*"][0], before[FLOOR][0]
    assert "How far from the optimum?" in [heading.value for heading in app.subheader]
    assert f"MDAV* loses {own:.1f} %, the least that is known; less than " in plain(app)
    button(app, "Search for 2 s").click()
    settle(app)
    after, gaps = lines(app), lines(app, 1)["gap"]
    # What a search finds and proves at one k bends no curve: both are marks there.
    assert np.array_equal(after[FLOOR], before[FLOOR])
    assert np.array_equal(after[LOWEST], before[LOWEST])
    [found], [proven] = after["Best found"], after["floor proven by a search"]
    assert floor < proven <= found < own
    assert (np.diff(gaps) <= 0).all()
    assert gaps[0] > gaps[-1]
    assert gaps[-1] == pytest.approx(100 * (found / proven - 1))
    assert re.search(r"at most .* above the optimum, after [123](\.\d+)? s of search", plain(app))
    says = re.search(
        r"MDAV\* loses [\d.]+ %; ([\d.]+) % is possible and ([\d.]+) % is not: (\d+) % of it is", plain(app)
    )
    assert float(says[1]) == pytest.approx(found, abs=0.1)
    assert float(says[2]) == pytest.approx(proven, abs=0.1)
    assert int(says[3]) == pytest.approx(100 * (1 - found / own), abs=0.5)
    # What is proven for k = 3 holds for 4 and 5, so the table counts it there.
    table = app.dataframe[0].value
    proven_for = dict(zip((3, 4, 5), np.maximum(before[FLOOR], proven), strict=True))
    assert np.allclose(table["gap"], 100 * (table["information_loss"] / table["k"].map(proven_for) - 1))

    # What it has found is a method like any other, and the pages that follow take it.
    assert table["title"].tolist().count("Best found") == 1
    button(app, "Show this partition in Clusters").click()
    settle(app)
    # Only a browser follows to the other page.
    choices = app.session_state["choices"]
    assert (choices.method, choices.k) == ("found", 3)
    go_to(app, "choose_k")
    settle(app)
    assert app.selectbox(key="w_method_chosen").value == "found"
    assert lines(app)["chosen"] == pytest.approx([found])
    assert "Chosen now: **Best found, k = 3**" in plain(app)
    assert not button(app, "Release this partition").disabled
    # At another k there is none yet.
    app.number_input(key="w_k_chosen").set_value(4)
    settle(app)
    assert "has not searched there" in app.warning[0].value


def test_all_values_of_k_are_searched_without_being_asked_and_further_when_asked(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 4.0)
    monkeypatch.setattr(schedule, "_TURN", dict.fromkeys(schedule._TURN, 0.5))
    monkeypatch.setattr(schedule, "_FIRST", 0.5)
    monkeypatch.setattr(search, "NEAR", 0.0)
    app = open_page("choose_k", data="wine", scale="minmax", ks="3-5", k="4")
    data = datasets.load("wine").X
    neighbors = optimum.bounds.nearest_neighbor_curve((data - data.min(axis=0)) / np.ptp(data, axis=0), [3, 4, 5])
    least = [bound.information_loss for bound in neighbors]
    for _ in range(8):  # on a busy machine a few seconds do not suffice for each k
        if len(lines(app).get("Best found", ())) == 3 and (lines(app)[FLOOR] > least).all():
            break
        button(app, "Go on").click()
        settle(app)
    says = r"k = 3 to 5: the best partitions known are at most ([\d.]+) to ([\d.]+) % above the optimum"
    low, high = map(float, re.search(says, plain(app)).groups())
    after = lines(app)
    best, floor, methods = after["Best found"], after[FLOOR], [after[f"MDAV{end}"] for end in ("", "+", "*")]
    gaps = 100 * (best / floor - 1)
    assert [low, high] == pytest.approx([gaps.min(), gaps.max()], rel=0.05)
    assert all((best < own).all() for own in methods)
    # Both lines are at every k: nothing is marked at single ones, and the band reaches from one to the other.
    assert "floor proven by a search" not in after
    assert np.allclose(after[LOWEST], np.minimum.accumulate(best[::-1])[::-1])
    # The floor of the neighbors, which was the only one before, is below it.
    assert (floor > least).all()
    button(app, "Go on").click()
    settle(app)
    assert float(re.search(says, plain(app))[2]) <= high


def test_while_all_values_of_k_are_searched_what_is_said_of_the_chosen_one_keeps_up(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 60.0)
    monkeypatch.setattr(search, "NEAR", 0.0)
    again, draw = [], search._draw
    monkeypatch.setattr(search, "_draw_again", lambda *arguments: again.append(1) or draw(*arguments))
    app = AppTest.from_file(APP, default_timeout=120)
    app.query_params.update({"data": "wine", "scale": "minmax", "ks": "3-9", "k": "6"})
    go_to(app, "choose_k")
    for _ in range(100):
        app.run()
        assert not app.exception
        says = [bar.proto.text for bar in app.get("progress")]
        if "more than is needed at k = 6; the best found" in plain(app) and "Searching further" in " ".join(says):
            break
        time.sleep(0.1)
    assert "Searching further" in " ".join(says)
    assert again  # a browser draws it anew every few seconds
    button(app, "Cancel").click()
    again.clear()
    settle(app)
    assert not again
    assert "more than is needed at k = 6; the best found" in plain(app)


def test_nothing_is_searched_without_being_asked_where_that_is_switched_off():
    app = open_page("choose_k", data="wine", scale="none", ks="3-5")
    assert search.BUDGET == 0
    assert "the best partitions known" not in plain(app)
    assert "Best found" not in lines(app)


def test_search_says_when_it_has_found_the_optimum():
    app = open_page("choose_k", data="toy", ks="3", k="3")
    assert "Proven optimal" in app.success[0].value
    assert not [button for button in app.button if "Search" in button.label]


def test_a_link_to_what_a_search_found_says_that_it_has_to_be_run_again():
    app = open_page("choose_k", data="wine", scale="none", ks="3-5", method="found", k="4")
    assert "best that a search has found at k = 4, and this session has not searched there" in app.warning[0].value
    assert button(app, "Search for 30 s")


@pytest.mark.usefixtures("searches")
def test_of_categories_a_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_survey("choose_k", ks="6, 12", k="12")
    before = lines(app)
    button(app, "Search for 2 s").click()
    settle(app)
    after, gaps = lines(app), lines(app, 1)["gap"]
    [found], [proven] = after["Best found"], after["floor proven by a search"]
    assert before[FLOOR][1] < proven <= found < before["Greedy k-member"][1]
    assert gaps[-1] == pytest.approx(100 * (found / proven - 1))
    assert "narrowest ranges and common ancestors" in plain(app)
    # The best is a method's like any other.
    assert app.dataframe[0].value["title"].tolist().count("Best found") == 1
    assert "Chosen now: **Best found, k = 12**" in plain(app)


def test_of_categories_what_is_possible_and_what_is_not_are_said_without_a_search():
    app = open_survey("choose_k", ks="5, 10", k="10")
    best, least, gap = app.metric
    assert [best.label, least.label] == ["Best found at k = 10", "Proven floor"]
    lowest, proven = (float(metric.value.removesuffix(" %")) for metric in (best, least))
    rows = app.dataframe[0].value.query("k == 10")
    assert lowest == pytest.approx(rows["information_loss"].min(), rel=1e-3)
    assert rows["gap"].min() == pytest.approx(100 * (lowest / proven - 1), rel=1e-2)
    assert 0 < proven < lowest
    assert float(gap.value.removesuffix(" %")) == pytest.approx(100 * (lowest / proven - 1), rel=0.05)


@pytest.mark.usefixtures("searches")
def test_of_categories_all_values_of_k_are_searched_without_being_asked(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 4.0)
    monkeypatch.setattr(schedule, "_TURN", dict.fromkeys(schedule._TURN, 0.5))
    monkeypatch.setattr(schedule, "_FIRST", 0.5)
    app = open_survey("choose_k", ks="3, 6, 12", k="6")
    for _ in range(8):  # on a busy machine a few seconds do not suffice for each k
        if len(lines(app).get("Best found", ())) == 3:
            break
        button(app, "Go on").click()
        settle(app)
    after = lines(app)
    assert (after["Best found"] < after["Greedy k-member"]).all()
    says = r"k = 3 to 12: the best partitions known are at most ([\d.]+) to ([\d.]+) % above the optimum"
    gaps = 100 * (after["Best found"] / after[FLOOR] - 1)
    low, high = map(float, re.search(says, plain(app)).groups())
    assert [low, high] == pytest.approx([gaps.min(), gaps.max()], rel=0.05)
    # More records than so many are not searched before somebody asks.
    monkeypatch.setattr(search, "MOST_MIXED", 299)
    st.cache_resource.clear()
    app = open_survey("choose_k", ks="3, 5", k="5")
    assert "Best found" not in lines(app)
    assert "the best partitions known" not in plain(app)


@pytest.mark.usefixtures("searches")
def test_a_partition_that_is_found_while_the_page_is_drawn_is_chosen_when_it_is_drawn_anew(monkeypatch):
    app = open_survey("choose_k", ks="9", k="9")
    assert "Chosen now: **Greedy k-member, k = 9**" in plain(app)
    controls = comparison.controls

    def keep(workspace):
        own = Certificate(workspace.data, 9, np.minimum(np.arange(300) // 9, 32))
        searched.keep(jobs.results(), searched.all_certificates(), (workspace.digest, 9), own)
        controls(workspace)

    monkeypatch.setattr(comparison, "controls", keep)
    app.run()
    assert not app.exception  # the chosen method's parameters stand above, and not again below
    assert "Chosen now: **Best found, k = 9**" in plain(app)


# --- values of k ------------------------------------------------------------------------------------------------------


def test_values_of_k_that_cannot_be_used_are_said_in_place():
    app = open_page("choose_k", data="wine", methods="mdav", ks="170, 500")
    assert "There are only 178 records, so the curves end at k = 170." in plain(app)
    assert len(app.dataframe[0].value) == 1
    for text, says in {"500-600": "write values of k of at most 178", "2, x": "'x' is no value of k"}.items():
        app.text_input(key="w_ks").set_value(text)
        settle(app)
        assert says in plain(app)
        assert len(app.error) == 1
    app.text_input(key="w_ks").set_value("")
    settle(app)
    assert sorted(app.dataframe[0].value.query("title == 'MDAV'")["k"]) == list(range(2, 21))


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
    table = experiment.sweep(records, methods.values(), [4, 12], classes=income.to_numpy()).set_index(["label", "k"])
    with_gaps = [name for name in adult.quasi_identifiers if adult.frame[name].isna().any()]
    columns = [f"quasi-identifier.category.drop.0:{name}" for name in with_gaps]
    app = open_page("choose_k", data="adult", sample="400", sample_seed="3", ks="4, 12", columns=columns)
    for name, method in methods.items():
        title = VARIANTS[name].title
        assert np.allclose(lines(app)[title], table.loc[method.label, "information_loss"]), title
    app.button_group(key="w_measure").set_value("classification")
    settle(app)
    assert np.allclose(lines(app)["Greedy k-member"], 100 * table.loc["Greedy k-member", "classification"])
    whole = 100 * income.value_counts(normalize=True).min()
    assert np.allclose(lines(app)["all records in one group"], whole)
    app.button_group(key="w_measure").set_value("discernibility")
    settle(app)
    assert lines(app)["no method can get below"].tolist() == [100 * 4**2, 29 * 12**2 + 4 * 13**2]


def test_title_of_the_curves_says_what_to_conclude():
    app = open_survey("choose_k", k="10")
    [title] = [m.value for m in app.markdown if re.match(r"\*\*At k = 10, .* loses", m.value)]
    assert re.search(r"Greedy k\\-member loses \d+ % less than MDAV.* and \d+ % less than Mondrian", title)


def test_without_a_class_there_is_no_classification():
    app = open_survey("choose_k", measure="classification")
    assert {"Greedy k-member", "Mondrian, strict"} <= set(lines(app))
    assert "Greedy k-member with class penalty" not in lines(app)
    picker = app.button_group(key="w_measure")
    assert picker.options == ["Total-IL", "Discernibility", "Time", "Risk and loss"]
    assert picker.value == "information_loss"
    assert app.query_params["measure"] == "classification"
    assert "classification" not in app.dataframe[0].value.columns


def test_methods_that_do_not_fit_are_named_with_their_reason():
    app = open_survey("choose_k", ks="5", methods=["mdav", "mondrian"])
    assert "Left out, as not fit for these data: MDAV." in plain(app)
    assert "Mondrian, strict" in lines(app)
    [numbers] = [m.value for m in app.markdown if m.value.startswith("**For numbers only")]
    assert "V\\-MDAV" in numbers
    assert "Greedy" not in numbers
    [classes] = [m.value for m in app.markdown if m.value.startswith("**It needs a class")]
    assert classes.endswith("Greedy k\\-member with class penalty.")


def test_where_no_chosen_method_fits_it_asks_for_one():
    app = open_survey("choose_k", ks="5", methods="mdav")
    assert "Choose at least one method above" in words(app)
    assert not figures(app)


def test_within_strata_the_floor_and_the_values_of_k_are_those_of_the_strata(monkeypatch):
    survey = pd.read_csv(SURVEY)
    numbers, sizes = ["age", "rent"], survey["region"].value_counts()
    columns = [f"other...0:{name}" for name in survey.columns if name not in (*numbers, "region")]
    columns += ["stratum...0:region", *(f"quasi-identifier.number.drop.0:{name}" for name in numbers)]
    app = open_survey("choose_k", columns=columns, methods="mdav", ks=f"3, 7, {sizes.min() + 1}")
    assert f"only {sizes.min()} records in the smallest stratum, so the curves end at k = 7" in plain(app)
    Z = microagg.standardize(survey[numbers].to_numpy(float))
    least = [
        sum(
            optimum.bounds.nearest_neighbor(Z[(survey["region"] == region).to_numpy()], k).sse for region in sizes.index
        )
        for k in (3, 7)
    ]
    assert np.allclose(lines(app)[FLOOR], 100 * np.array(least) / Z.size)
    # Each is searched by itself.
    monkeypatch.setattr(search, "SECONDS", 5)
    app.number_input(key="w_k_chosen").set_value(7)
    settle(app)
    for _ in range(6):  # until there is a floor, however busy the machine is
        button(app, "Search for 5 s").click()
        settle(app)
        own = lines(app)
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
    says = f"MDAV stays within 30 % up to k = {largest}, where it loses {loss[largest]:.1f} %"
    assert plain(app).count(f"**{says}") == 1
    # The other method's stands behind an expander.
    assert [item.value.split()[1] for item in app.expander[-2].markdown] == ["MD", "Best"]
    app.number_input(key="w_limit").set_value(99)
    settle(app)
    assert f"MDAV loses no more than {loss[8]:.1f} % even at k = 8, the largest k compared: more may be" in plain(app)


def test_where_no_k_is_within_the_limit_it_says_so():
    app = open_survey("choose_k", ks="2, 5, 10", methods="k-member", limit="0.1")
    assert "Greedy k-member loses more than 0.1 % at every k compared, at least " in plain(app)


def test_rules_are_marked_within_the_range_only_each_with_its_source():
    app = open_page("choose_k", data="wine", ks="2-10", methods="mdav")
    [marked] = [trace for trace in figures(app)[0]["data"] if trace.get("name") == "rules"]
    assert marked["x"] == [8, 10]
    assert "8 [NHS England](https://digital.nhs.uk/" in words(app)
    assert "10 [UK LLC](https://guidebook.ukllc.ac.uk/" in words(app)
    assert "Check your own." in words(app)
    assert "CMS" not in words(app)
    app = open_survey("choose_k", ks="2, 5", methods="k-member")
    assert "Check your own" not in words(app)
    assert "rules" not in lines(app)


def test_every_k_can_be_clicked_and_says_all_methods_sorted():
    loss = {key: losses(key, (3, 4), wine()) for key in ("mdav", "md")}
    app = open_page("choose_k", data="wine", ks="3, 4", methods=["mdav", "md"])
    targets = [trace for trace in figures(app)[0]["data"] if trace["name"] == "k"]
    assert {trace["yaxis"] for trace in targets} == {"y2", "y3", "y4"}
    for trace in targets:
        assert trace["customdata"] == [["", 3], ["", 4]]
        for place, text in enumerate(trace["hovertext"]):
            lower, higher = sorted(loss, key=lambda key: loss[key][place])
            assert text.index(f"{loss[lower][place]:.4g} %") < text.index(f"{loss[higher][place]:.4g} %")
    app = open_survey("choose_k", ks="5, 10", k="10")
    [text] = {trace["hovertext"][1] for trace in figures(app)[0]["data"] if trace["name"] == "k"}
    # Where there are categories, too, what nobody can get below and what is known stand below the methods.
    assert len(app.multiselect(key="w_methods").value) == 4
    assert len(re.findall("■", text)) == 4 + 1
    assert text.rindex("■") < text.index("no method can lose less") < text.index("best known")


def test_nothing_stands_where_the_chart_will_be_but_its_axis(monkeypatch):
    monkeypatch.setattr("pages.shared.jobs.Results.table", lambda *_: pd.DataFrame())
    monkeypatch.setattr("pages.shared.jobs.Job.wait", lambda *_: None)
    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in {"data": "wine", "ks": "3-5", "scale": "none", "methods": "imhm"}.items():
        app.query_params[name] = value
    go_to(app, "choose_k")
    app.run()
    [figure] = figures(app)
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["The first curve appears here in a moment."]
    assert figure["layout"]["xaxis"]["tickvals"] == [3, 4, 5]


def test_a_sample_is_said_to_be_one_and_all_records_can_be_taken():
    app = open_page("choose_k", data="wine", ks="3", methods="mdav", sample="60", sample_seed="1")
    assert "This is a sample: 60 of 178 records" in words(app)
    rows = np.sort(np.random.default_rng(1).choice(178, 60, replace=False))
    assert np.allclose(lines(app)["MDAV"], losses("mdav", [3], wine()[rows]))
    button(app, "Take all 178").click()
    settle(app)
    assert "This is a sample" not in words(app)
    assert np.allclose(lines(app)["MDAV"], losses("mdav", [3], wine()))


@pytest.mark.parametrize("data", ["wine", "adult"])
def test_of_a_sample_nothing_is_called_proven_or_impossible(data):
    app = open_page("choose_k", data=data, ks="5, 10", k="5", sample="60", sample_seed="1")
    settle(app)
    said = plain(app)
    whole = "178" if data == "wine" else "30,162"
    assert f"Estimate from a sample of 60 of {whole} records, which loses more than all would: " in said
    assert "A floor of the file takes all its records" in said
    # What is said of all records says so, and is no estimate.
    of_all = re.compile(rf"\*\*All {whole} records at k = 5: .*?\*\*")
    assert bool(of_all.search(said)) == (data == "wine")
    rest = of_all.sub("", said)
    assert not re.search(r"is not possible|[Pp]roven|floor is proven|partition loses less|% is not", rest)
    assert "Above the optimum at most" not in [metric.label for metric in app.metric]
    assert "gap" not in app.dataframe[0].value.columns


def test_of_all_records_the_gap_to_the_floor_is_said():
    app = open_page("choose_k", data="wine", ks="5, 10", k="5", methods="mdav")
    settle(app)
    assert "Estimate from" not in plain(app)
    assert (app.dataframe[0].value["gap"] >= 0).all()
