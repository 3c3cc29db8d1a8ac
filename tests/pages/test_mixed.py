"""The page Mixed data: its steps, comparisons, releases and stored results."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from microagg import datasets, experiment, microaggregate
from microagg.variants import MIXED_VARIANTS
from pages.ui import state, text
from pages.ui.published import adult as stored_adult
from pages.ui.runs import preview
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    APP,
    PAGES,
    decode,
    figures,
    open_page,
    open_survey,
    plain,
    settle,
    words,
)


def adult_sample(size, seed=0):
    """Return the records that the page compares, found without it."""
    adult = load_benchmark("adult")
    complete = np.flatnonzero(adult.frame[list(adult.quasi_identifiers)].notna().all(axis=1))
    rows = np.sort(np.random.default_rng(seed).choice(complete, size, replace=False))
    return adult, adult.frame.iloc[rows]


@pytest.mark.slow
@pytest.mark.parametrize("step", state.STEPS)
def test_every_step_of_mixed_data_runs_on_adult(step):
    app = open_page("mixed", data="adult", step=step, sample="300", ks="5, 10")
    assert not app.error
    assert app.query_params["sample"] == "300"


@pytest.mark.slow
@pytest.mark.parametrize("step", state.STEPS)
def test_every_step_of_mixed_data_runs_on_the_survey(step):
    app = open_survey(step)
    assert not app.error
    assert "survey.csv: 300 records, 11 columns" in plain(app).replace("**", "")


def test_adult_is_offered_for_download_where_it_is_not(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setattr(datasets.benchmarks, "cache_folder", lambda: tmp_path / "cache")
    st.cache_resource.clear()
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "adult"
    app.switch_page(PAGES["mixed"])
    app.run()
    assert not app.exception
    assert any(button.label == "Download Adult" for button in app.button)


@pytest.mark.slow
def test_curves_are_those_of_the_experiment():
    app = open_page("mixed", data="adult", step="compare", sample="400", sample_seed="3", ks="4, 12")
    adult, part = adult_sample(400, 3)
    methods = {name: state.Choices().method_of_variant(name) for name in MIXED_VARIANTS}
    table = experiment.sweep(
        adult.schema.records(part), methods.values(), [4, 12], classes=part["income"].to_numpy()
    ).set_index(["label", "k"])
    lines = {trace["name"]: trace for trace in figures(app)[0]["data"]}
    for name, method in methods.items():
        line = lines[MIXED_VARIANTS[name].title]
        assert np.allclose(decode(line["y"]), table.loc[method.label, "information_loss"])
    app.button_group(key="w_measure").set_value("classification")
    settle(app)
    lines = {trace["name"]: trace for trace in figures(app)[0]["data"]}
    assert np.allclose(decode(lines["Greedy k-member"]["y"]), 100 * table.loc["Greedy k-member", "classification"])
    whole = 100 * (part["income"].value_counts(normalize=True).min())
    assert np.allclose(decode(lines["all records in one group"]["y"]), whole)
    assert "This is a sample: 400 of 30,162 records" in words(app)


def test_title_of_the_curves_says_what_to_conclude():
    app = open_survey("compare")
    [title] = [m.value for m in app.markdown if m.value.startswith("**At k = 10")]
    assert re.search(r"Greedy k\\-member loses \d+ % less than MDAV.* and \d+ % less than Mondrian", title)


def test_values_of_k_that_cannot_be_used_are_said():
    app = open_survey("compare")
    for ks, says in {
        "2, x": "'x' is no value of k",
        "0": "'0' is no value of k",
        "2.5": "'2.5' is no value of k",
        ", ".join(str(k) for k in range(1, 50)): "49 values of k are too many",
        "": "Choose at least one k",
        "5, 301": "there is no k of 301",
    }.items():
        app.text_input(key="w_ks").set_value(ks)
        settle(app)
        assert says in plain(app)
        assert len(app.error) <= 1


def test_without_a_class_there_is_no_classification():
    app = open_survey("compare")
    assert "the methods with class penalty are left out" in words(app)
    assert {trace["name"] for trace in figures(app)[0]["data"]} >= {"Greedy k-member", "Mondrian, strict"}
    assert "Classification" not in app.button_group(key="w_measure").options
    assert "classification" not in app.dataframe[0].value.columns


@pytest.mark.slow
def test_before_and_after_are_those_of_microaggregate():
    query = {"data": "adult", "step": "release", "sample": "400", "mixed_k": "8"}
    adult, part = adult_sample(400)
    roles = {
        "quasi_identifiers": adult.schema.quasi_identifiers,
        "taxonomies": adult.schema.taxonomies,
        "ordinal": adult.schema.ordinal,
        "classes": "income",
    }
    for statistic, how in preview.STATISTICS.items():
        release = microaggregate(part, k=8, method="k-member", statistic=how[0], categories=how[1], **roles)
        app = open_page("mixed", statistic=statistic, **query)
        measured = {metric.label: metric.value for metric in app.metric}
        common = release.report.generalization
        assert measured["Total-IL of the groups"] == text.percent(common.information_loss)
        assert measured["Outside the majority class"] == text.percent(100 * common.classification)
        if how[0] != "generalize":
            assert measured["IL of the numbers"] == text.percent(release.report.loss.information_loss)
        shown = app.dataframe[0].value
        order = release.partition.labels.argsort(kind="stable")[:60]
        assert shown["→ occupation"].tolist() == release.frame["occupation"].iloc[order].tolist()
        assert shown["group"].tolist() == (release.partition.labels[order] + 1).tolist()
        changed = (part["occupation"] != release.frame["occupation"]).mean()
        assert app.dataframe[1].value.set_index("attribute").loc["occupation", "changed"] == pytest.approx(
            100 * changed
        )


def test_release_is_made_on_demand_and_reported():
    app = open_survey("release")
    [protect] = [button for button in app.button if button.label == "Protect 300 records"]
    protect.click()
    settle(app)
    assert (
        "300 records protected: each combination of quasi-identifiers occurs at least 10 times" in app.success[0].value
    )
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Protected file (CSV)", "Report (JSON)", "Recipe (JSON)"]
    assert "300 records in 30 groups of at most 10" in plain(app)
    # Another choice is another release, which has to be asked for.
    app.number_input(key="w_mixed_k").set_value(20)
    settle(app)
    assert not app.success


def test_too_large_a_k_is_said():
    app = open_survey("release")
    app.number_input(key="w_mixed_k").set_value(301)
    settle(app)
    assert "fewer than k=301" in app.error[0].value


@pytest.mark.parametrize("against", state.AGAINST)
def test_stored_results_on_adult_are_drawn(against):
    if not stored_adult.RESULTS.is_file():
        pytest.skip("there are no stored results on Adult")
    stored = pd.read_csv(stored_adult.RESULTS)
    app = open_page("mixed", data="wine", step="adult", against=against)
    assert not app.error
    lines = {trace.get("name"): trace for trace in figures(app)[0]["data"]}
    part = stored[(stored["experiment"] == against) & (stored["label"] == "Greedy k-member")]
    if against == "class_penalty":
        assert len(decode(lines[None]["y"])) == (stored["experiment"] == against).sum()
    else:
        assert np.allclose(decode(lines["Greedy k-member"]["y"]), part["information_loss"])
    assert "python benchmarks/adult.py" in [code.value for code in app.code]


def test_stored_results_that_are_missing_name_their_command(monkeypatch, tmp_path):
    monkeypatch.setattr(stored_adult, "RESULTS", tmp_path / "adult.csv")
    app = open_page("mixed", data="wine", step="adult")
    assert "There are no stored results here yet" in words(app)
    assert app.code[0].value == "python benchmarks/adult.py"
