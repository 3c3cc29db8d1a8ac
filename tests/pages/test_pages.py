"""Every page, run without a browser on several data sets, and what it says about input that cannot be used."""

from __future__ import annotations

import dataclasses
import json
import re
import time

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import microagg
from benchmarks import quality
from microagg import ALGORITHMS, datasets, experiment, literature, metrics, microaggregate
from microagg.taxonomy import Taxonomy
from pages.ui import shell, state, text, variants
from pages.ui.charts import clusters, measures, taxonomy, theme
from pages.ui.published import adult as stored_adult
from pages.ui.published import beyond
from pages.ui.runs import certificate, preview
from tests.conftest import ROOT, load_benchmark

APP = ROOT / "app.py"
PAGES = {name: path for name, (path, _) in shell.PAGES.items()}
DATA_SETS = ["wine", "simc", "census", "eia"]


def open_page(name, **query):
    """Open a page as a link would, and wait until no run is under way."""
    if query.get("data") in {"census", "tarragona", "eia"}:
        load_benchmark(query["data"])
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in query.items():
        app.query_params[key.replace("__", ".")] = value
    app.switch_page(PAGES[name])
    return settle(app)


def settle(app):
    app.run()
    for _ in range(200):
        assert not app.exception, [exception.value for exception in app.exception]
        if not app.get("progress"):
            return app
        time.sleep(0.1)
        app.run()
    raise AssertionError("a job did not end")


def figures(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def decode(values):
    """Return the numbers of a figure's array, which Plotly writes as base64."""
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.array(values)


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption, *app.info, *app.warning, *app.error])


@pytest.mark.parametrize("data", DATA_SETS)
@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page, data):
    app = open_page(page, data=data, k_to=6)
    assert not app.error
    assert len(app.title) == 1
    assert app.query_params["data"] == data


def test_start_shows_the_toy_example_of_the_paper():
    app = open_page("start")
    [figure] = figures(app)
    said = " ".join(note["text"] for note in figure["layout"]["annotations"])
    assert "SSE 258.8, IL 1.440 %" in said
    assert "SSE 21.2, IL 0.1180 %" in said


def test_toy_page_shows_the_numbers_of_the_paper_and_follows_the_records():
    app = open_page("toy")
    assert [metric.value for metric in app.metric] == ["258.8", "1.440 %", "21.2", "0.1180 %"]
    app.text_input[0].set_value("1 2 3 10 11 12").run()
    assert [metric.value for metric in app.metric] == ["4", "3.187 %", "4", "3.187 %"]
    app.slider[0].set_value(6).run()
    assert [metric.value for metric in app.metric] == ["125.5", "100.00 %"] * 2


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("1, 2, x", "'x' is not a number"),
        ("1", "1 record is too few"),
        ("1, nan, 3", "NaN"),
        ("1, 2", "fewer than k=3"),
    ],
)
def test_toy_page_says_what_is_wrong(typed, says):
    app = open_page("toy")
    app.text_input[0].set_value(typed).run()
    assert not app.exception
    assert says in app.error[0].value.replace("\\", "")


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


def button(app, label):
    return next(button for button in app.button if label in button.label)


def test_search_narrows_what_lies_between_found_and_proven(monkeypatch):
    monkeypatch.setattr(certificate, "SECONDS", 3)
    app = open_page("choose_k", data="wine", k_from="3", k_to="5", k="3")
    [figure] = figures(app)
    before = {trace["name"]: decode(trace["y"]) for trace in figure["data"]}
    assert "How far from the optimum?" in [heading.value for heading in app.subheader]
    button(app, "Search for 3 s").click()
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


@pytest.mark.parametrize(
    ("loss", "floor", "says"),
    [
        (0.0, 0.0, "nothing"),
        (2.0, 2.0, "the optimum"),
        (2.1, 2.0, "at most 5 % above"),
        (14.4833, 14.4588, "at most 0.17 % above"),
        (6.0, 2.0, "at most 3 times"),
        (6.0, 0.0, "not known"),
    ],
)
def test_gap_in_words(loss, floor, says):
    assert says in text.gap_in_words(loss, floor)


def test_no_algorithm_chosen_is_said():
    app = open_page("choose_k", data="wine")
    app.multiselect[0].set_value([]).run()
    assert "Choose at least one algorithm" in words(app)


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


def test_choices_are_kept_on_the_next_page():
    app = open_page("choose_k", data="wine", k_to="4")
    app.selectbox(key="w_method_sidebar").set_value("cbfs").run()
    app.number_input(key="w_k_sidebar").set_value(7).run()
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert "CBFS at k \\= 7" in words(app) or "CBFS at k = 7" in words(app)
    assert app.query_params["method"] == "cbfs"
    assert app.query_params["k"] == "7"


@pytest.mark.parametrize(
    "query", [{"k": "abc"}, {"k": "0"}, {"method": "nonsense"}, {"scale": "log"}, {"v-mdav__gamma": "-1"}]
)
def test_nonsense_in_the_address_is_said_and_the_usual_value_shown(query):
    app = open_page("clusters", data="wine", **query)
    assert "cannot be used" in app.warning[0].value
    assert app.metric[0].value == open_page("clusters", data="wine").metric[0].value


def test_unknown_column_in_the_address_is_said():
    app = open_page("data", data="wine", columns="nonsense")
    assert "nonsense" in words(app)
    assert "there is no column" in app.error[0].value.lower().replace("\\", "")


def test_scaling_none_warns_what_it_does():
    app = open_page("data", data="wine", scale="none")
    assert "largest" in app.warning[0].value


def test_missing_benchmark_is_offered_for_download(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setattr(datasets.benchmarks, "cache_folder", lambda: tmp_path / "cache")
    st.cache_resource.clear()  # what an earlier test has loaded stays usable otherwise
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "census"
    app.switch_page(PAGES["data"])
    app.run()
    assert not app.exception
    assert "can be fetched once" in words(app)
    assert any(button.label == "Download Census" for button in app.button)
    app.switch_page(PAGES["clusters"])
    app.run()
    assert not app.exception
    assert "Census" in app.error[0].value


def upload(name, content):
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "upload"
    app.switch_page(PAGES["data"])
    app.run()
    app.file_uploader[0].upload(name, content)
    return app.run()


def test_uploaded_table_is_used_on_all_pages():
    app = upload("my *data*.csv", b"name;a;b\nx;1;2\ny;2;3\nz;3;4\nv;4;5\nw;9;9\nu;8;8\n")
    assert not app.exception
    assert not app.error
    assert "6 records, 3 attributes" in words(app).replace("\\", "")
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert not app.error
    assert app.metric[2].value == "2"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "empty (0 bytes)"),
        ("a.csv", b"a,b\n", "record"),
        ("a.csv", b"a,a\n1,2\n", "'a'"),
        ("a.csv", "a,b\n1,é\n".encode("latin-1"), "UTF-8"),
        ("a.csv", b"a,b\nx,y\nz,w\n", "no numeric column"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "Line 3"),
        ("a.xlsx", b"not a workbook", "a.xlsx"),
        ("a.parquet", b"not a table", "a.parquet"),
    ],
)
def test_bad_upload_is_said_in_one_sentence(name, content, says):
    app = upload(name, content)
    assert not app.exception
    assert len(app.error) == 1
    assert says in app.error[0].value.replace("\\", "")


def test_upload_read_with_the_wrong_delimiter_is_said():
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "upload"
    app.switch_page(PAGES["data"])
    app.run()
    app.selectbox(key="u_delimiter").set_value("comma")
    app.file_uploader[0].upload("a.csv", b"a;b\n1;2\n3;4\n")
    app.run()
    assert not app.exception
    assert "choose ';' as the delimiter" in app.error[0].value


def test_upload_with_missing_values_offers_the_complete_columns():
    app = upload("a.csv", b"a,b\n1,2\n,3\n3,4\n4,5\n")
    assert "column 'a' has NaN" in app.error[0].value.replace("\\", "").lower().replace("nan", "NaN")
    [button] = [button for button in app.button if button.label == "Use only the complete columns"]
    button.click().run()
    assert not app.error


def test_untrusted_names_are_shown_letter_by_letter():
    hostile = b"![x](http://example.org/x.png),$b$,<b>c</b>\n1,2,3\n2,3,5\n3,4,1\n4,5,2\n"
    app = upload("![x](http://example.org).csv", hostile)
    assert not app.exception
    assert not app.error
    for label in [option for group in app.get("button_group") for option in group.options]:
        assert "![x](http" not in getattr(label, "content", str(label))
    app.switch_page(PAGES["clusters"])
    app.query_params["x"] = "<b>c</b>"
    settle(app)
    app.selectbox(key="w_x").set_value("<b>c</b>").run()
    assert figures(app)[0]["layout"]["xaxis"]["title"]["text"] == "&lt;b&gt;c&lt;/b&gt;"


def test_markdown_is_escaped():
    assert text.escape_markdown("a*b [c](d)\n$e$") == r"a\*b \[c\]\(d\) \$e\$"


def test_every_algorithm_has_a_color_and_look_of_its_own():
    styles = [theme.style(key) for key in ALGORITHMS]
    assert len(set(styles)) == len(styles)
    fixed = [theme.style(key).color for key in state.DEFAULT_METHODS]
    assert len(set(fixed)) == len(fixed)


def test_a_large_set_is_drawn_as_a_sample_that_is_said_to_be_one():
    points = np.random.default_rng(0).normal(size=(clusters.MOST_POINTS + 5, 2))
    view = clusters.View.of(points, ("a", "b"))
    assert len(view.shown) == clusters.MOST_POINTS
    labels = np.arange(len(points)) // 5
    figure = clusters.clusters(view, labels, np.ones(len(points)), range(len(points)))
    [records] = [trace for trace in figure.data if trace.name.startswith("record")]
    assert len(records.x) == clusters.MOST_POINTS


def test_outlines_survive_points_on_a_line_and_duplicates():
    points = np.array([[0, 0], [1, 1], [2, 2], [5, 5], [5, 5], [7, 1], [8, 1], [7, 3], [8, 3]], dtype=float)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    figure = clusters.clusters(clusters.View.of(points, ("a", "b")), labels, np.zeros(9), range(9))
    assert len(figure.data) == 5


@pytest.mark.parametrize("paper", literature.PAPERS)
def test_published_results_of_every_paper_and_table(paper):
    tables = dict.fromkeys(figure.table for figure in literature.figures() if figure.paper == paper)
    for table in tables:
        app = open_page("published", paper=paper, table=table)
        assert not app.error
        assert "of 406 printed figures are reproduced to the last digit" in words(app)
        shown = app.dataframe[0].value
        assert len(shown) == sum(f.paper == paper and f.table == table for f in literature.figures())


def test_published_results_say_why_pairwise_systematic_is_not_comparable():
    load_benchmark("tarragona")
    app = open_page("published", paper="kabir-2010")
    assert "they lie under the floor" in words(app)
    readings = app.table[0].value
    assert readings["Printed"].tolist() == ["5.494 %", "8.329 %", "10.87 %", "17.01 %"]
    assert readings["Floor, scaled data"].tolist() == ["9.855 %", "12.17 %", "13.93 %", "19.22 %"]


def test_losses_and_floors_are_set_against_the_lowest_printed_figures(monkeypatch, tmp_path):
    app = open_page("published")
    rows = quality.stored()
    below = sum(float(row["search_60"]) < float(row["printed"]) for row in rows.values())
    assert f"In {below} of {len(rows)} cells" in words(app)
    [table] = [frame.value for frame in app.dataframe if "Proven floor" in frame.value]
    assert len(table) == len(rows)
    assert (table["Proven floor"] <= table["60 s"]).all()
    monkeypatch.setattr(beyond, "RESULTS", tmp_path / "quality.csv")
    assert "benchmarks/quality.py makes them" in words(open_page("published"))


def test_published_results_can_be_computed_here():
    app = open_page("published", paper="thaeter-reischuk", table="One-dimensional example")
    [button] = [button for button in app.button if button.label.startswith("Compute this table")]
    button.click()
    settle(app)
    assert "2 figures computed here" in words(app)
    assert app.dataframe[0].value["verdict"].tolist() == ["to the last digit"] * 2


def test_methods_page_describes_every_algorithm():
    app = open_page("methods")
    assert len(app.expander) == len(ALGORITHMS)
    assert "Genetic algorithm" in words(app)


def test_algorithms_can_be_picked_family_by_family():
    app = open_page("choose_k", data="wine", k_to="4")
    family = ALGORITHMS["md"].info.family
    group = app.pills(key=f"w_family_{family}") if hasattr(app, "pills") else app.button_group(key=f"w_family_{family}")
    group.set_value(["md"]).run()
    settle(app)
    assert app.query_params["methods"] == ["mdav", "mdav-plus", "v-mdav", "mdav-star", "md"]
    assert "MD" in {trace["name"] for trace in figures(app)[0]["data"]}


# --- mixed data -------------------------------------------------------------------------------------------------------

SURVEY = ROOT / "sample_data" / "survey.csv"


def plain(app):
    """Return the words of a page without the backslashes that keep them from being Markdown."""
    return words(app).replace("\\", "")


def open_survey(step="attributes"):
    """Open the page Mixed data with the sample survey uploaded there."""
    return upload_mixed("survey.csv", SURVEY.read_bytes(), step)


def upload_mixed(name, content, step="attributes"):
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "upload"
    app.query_params["step"] = step
    app.switch_page(PAGES["mixed"])
    app.run()
    app.file_uploader[0].upload(name, content)
    return settle(app)


def look_at(app, column):
    app.button_group(key="w_attribute").set_value(column)
    return settle(app)


def adult_sample(size, seed=0):
    """Return the records that the page compares, found without it."""
    adult = load_benchmark("adult")
    complete = np.flatnonzero(adult.frame[list(adult.quasi_identifiers)].notna().all(axis=1))
    rows = np.sort(np.random.default_rng(seed).choice(complete, size, replace=False))
    return adult, adult.frame.iloc[rows]


@pytest.mark.parametrize("step", state.STEPS)
def test_every_step_of_mixed_data_runs_on_adult(step):
    app = open_page("mixed", data="adult", step=step, sample="300", ks="5, 10")
    assert not app.error
    assert app.query_params["sample"] == "300"


@pytest.mark.parametrize("step", state.STEPS)
def test_every_step_of_mixed_data_runs_on_the_survey(step):
    app = open_survey(step)
    assert not app.error
    assert "survey.csv: 300 records, 11 columns" in plain(app).replace("**", "")


def test_adult_comes_with_its_kinds_its_taxonomies_and_its_class():
    app = open_page("mixed", data="adult", attribute="native-country")
    table = app.dataframe[0].value.set_index("attribute")
    assert table["kind"].to_dict() == {
        "age": "numeric",
        "workclass": "nominal",
        "education": "ordinal",
        **dict.fromkeys(["marital-status", "occupation", "race", "sex", "native-country"], "nominal"),
    }
    assert table.loc["workclass", "missing"] == 1836
    assert "2,399 of them lack a quasi-identifier" in words(app)
    assert app.selectbox(key="m_class").value == "income"
    [tree] = figures(app)[0]["data"]
    taxonomy = load_benchmark("adult").schema.taxonomies["native-country"]
    assert tree["labels"][0] == "anything"
    assert set(taxonomy.values) <= {label.replace("&amp;", "&") for label in tree["labels"]}
    assert app.text_area[0].value == taxonomy.to_text()


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


def test_curves_are_those_of_the_experiment():
    app = open_page("mixed", data="adult", step="compare", sample="400", sample_seed="3", ks="4, 12")
    adult, part = adult_sample(400, 3)
    methods = {name: state.Choices().method_of_variant(name) for name in variants.VARIANTS}
    table = experiment.sweep(
        adult.schema.records(part), methods.values(), [4, 12], classes=part["income"].to_numpy()
    ).set_index(["label", "k"])
    lines = {trace["name"]: trace for trace in figures(app)[0]["data"]}
    for name, method in methods.items():
        line = lines[variants.VARIANTS[name].title]
        assert np.allclose(decode(line["y"]), table.loc[method.label, "information_loss"])
    app.button_group(key="w_measure").set_value("classification")
    settle(app)
    lines = {trace["name"]: trace for trace in figures(app)[0]["data"]}
    assert np.allclose(decode(lines["Greedy k-member"]["y"]), 100 * table.loc["Greedy k-member", "classification"])
    whole = 100 * (part["income"].value_counts(normalize=True).min())
    assert np.allclose(decode(lines["all records in one group"]["y"]), whole)
    assert "This is a sample: 400 of 30,162 records" in words(app)


def test_title_of_the_curves_says_what_to_conclude():
    app = open_page("mixed", data="adult", step="compare", sample="400", ks="10")
    [title] = [m.value for m in app.markdown if m.value.startswith("**At k = 10")]
    assert re.search(r"Greedy k\\-member gives away \d+ % less than MDAV.* and \d+ % less than Mondrian", title)


@pytest.mark.parametrize(
    ("ks", "says"),
    [
        ("2, x", "'x' is no value of k"),
        ("0", "'0' is no value of k"),
        ("2.5", "'2.5' is no value of k"),
        (", ".join(str(k) for k in range(1, 50)), "49 values of k are too many"),
        ("", "Choose at least one k"),
        ("5, 301", "there is no k of 301"),
    ],
)
def test_values_of_k_that_cannot_be_used_are_said(ks, says):
    app = open_survey("compare")
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


def test_kinds_of_an_upload_are_assumed_and_can_be_changed():
    app = open_survey()
    assert app.multiselect(key="m_left_out").value == ["person_id"]
    table = app.dataframe[0].value.set_index("attribute")
    assert table.loc["region", "kind"] == table.loc["education", "kind"] == "nominal"
    look_at(app, "education")
    app.button_group(key="m_kind").set_value("ordinal")
    settle(app)
    assert "alphabetical order" in words(app)
    order = ["primary", "secondary", "vocational", "bachelor", "master"]
    app.text_area[0].set_value("\n".join(order))
    settle(app)
    assert "primary < … < master" in app.dataframe[0].value.set_index("attribute").loc["education", "released"]
    app.text_area[0].set_value("primary\nprimary")
    settle(app)
    assert "has the category 'primary' twice" in app.error[0].value.replace("\\", "")


def test_taxonomy_is_edited_live_and_its_errors_are_said_in_place():
    app = look_at(open_survey(), "region")
    app.text_area[0].set_value("*\n  Coast\n    Southport\n Inland")
    settle(app)
    assert "Line 4 of the taxonomy ('Inland') is indented by 1" in app.error[0].value.replace("\\", "")
    assert "what was there before is used" in words(app)
    assert app.text_area[0].value.endswith(" Inland")
    app.text_area[0].set_value("*\n  Coast\n    Southport\n  Inland\n    Midland")
    settle(app)
    assert not app.error
    assert "lacks 'Eastmere', 'Northvale' and 'Westhill'" in plain(app)
    assert app.dataframe[0].value.set_index("attribute").loc["region", "problem"].startswith("not covered")
    assert "Coast" in figures(app)[0]["data"][0]["labels"]
    [add] = [button for button in app.button if button.label == "Add them"]
    add.click()
    settle(app)
    assert "problem" not in app.dataframe[0].value.columns
    assert app.text_area[0].value.endswith(
        "  Eastmere\n    Eastmere\n  Northvale\n    Northvale\n  Westhill\n    Westhill\n"
    )


def test_values_that_no_taxonomy_has_stop_the_other_steps_with_a_sentence():
    app = look_at(open_survey(), "region")
    app.text_area[0].set_value("*\n  Coast\n    Southport")
    settle(app)
    app.session_state["choices"] = dataclasses.replace(app.session_state["choices"], step="compare")
    settle(app)
    assert "The taxonomy of 'region' lacks 'Eastmere', 'Midland'" in app.error[0].value.replace("\\", "")


def test_taxonomy_can_be_uploaded_made_flat_and_taken_back():
    app = open_page("mixed", data="adult", attribute="sex")
    app.file_uploader(key="m_file_sex").upload("sex.json", b'{"anybody": {"women": ["Female"], "men": ["Male"]}}')
    settle(app)
    assert figures(app)[0]["data"][0]["labels"] == ["anybody", "women", "Female", "men", "Male"]
    [flat] = [button for button in app.button if button.label == "Make it flat"]
    flat.click()
    settle(app)
    assert figures(app)[0]["data"][0]["labels"] == ["anything", "Female", "Male"]
    app.file_uploader(key="m_file_sex").upload("sex.txt", b"\xff\xfe\x00")
    settle(app)
    assert "is not UTF-8 text" in app.error[0].value.replace("\\", "")


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


def test_numbers_only_are_taken_with_a_hint():
    app = open_page("mixed", data="wine", step="compare", ks="5")
    assert "Wine" in words(app)
    assert "holds numbers only" in words(app)
    [use] = [button for button in app.button if button.label == "Use the sample survey"]
    use.click()
    settle(app)
    assert not app.error
    assert app.query_params["data"] == "upload"


def test_text_only_file_is_said_on_the_pages_for_numbers_and_taken_for_mixed_data():
    content = b"a,b\n" + b"x,y\nx,z\nw,z\nw,y\n" * 6
    app = upload_mixed("text.csv", content, "compare")
    assert not app.error
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert "the page Mixed data" in app.error[0].value


def test_missing_values_and_untrusted_names_of_an_upload():
    rows = "".join(f"<b>{'xy'[i % 2]}</b>,{i % 5 or ''},![u](http://e.org/{i % 2})\n" for i in range(40))
    content = f"![q](http://example.org/x.png),$n$,=c\n{rows}".encode()
    for step in state.STEPS:
        app = upload_mixed("![x](http://example.org).csv", content, step)
        assert not app.exception
        assert not app.error
        assert not re.search(r"(?<!\\)\]\(http", words(app))
        for label in [option for group in app.get("button_group") for option in group.options]:
            assert "![q](http" not in getattr(label, "content", str(label))
        if step == "attributes":
            assert "8 of them lack a quasi-identifier" in words(app)
            look_at(app, "![q](http://example.org/x.png)")
            assert "&lt;b&gt;x&lt;/b&gt;" in figures(app)[0]["data"][0]["labels"]


def test_a_class_with_missing_values_is_refused():
    rows = "".join(f"{'abc'[i % 3]},{i},{'yes' if i % 4 else ''}\n" for i in range(24))
    app = upload_mixed("a.csv", f"kind,size,label\n{rows}no,1,no\n".encode())
    app.button_group(key="m_quasi").set_value(["kind", "size"])
    settle(app)
    app.selectbox(key="m_class").set_value("label")
    settle(app)
    app.session_state["choices"] = dataclasses.replace(app.session_state["choices"], step="compare")
    settle(app)
    assert "'label' is missing in 6 records" in app.error[0].value.replace("\\", "")


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


@pytest.mark.parametrize(("n", "k"), [(7, 3), (12, 3), (11, 4), (5, 5), (8, 1), (5, 3)])
def test_least_discernibility_is_that_of_the_best_sizes(n, k):
    def sizes(left, least):
        if left == 0:
            yield ()
        for size in range(least, left + 1):
            yield from ((size, *others) for others in sizes(left - size, size))

    assert measures.least_discernibility(n, k) == min(sum(s * s for s in found) for found in sizes(n, k))


def test_variants_are_recognized_by_their_parameters():
    for name in variants.VARIANTS:
        method = state.Choices().method_of_variant(name)
        [settings] = method.settings()
        assert variants.recognize(method.key, {key: str(value) for key, value in settings.items()}) == name
    assert variants.recognize("k-member", {"furthest_from": "seed"}) is None
    assert variants.recognize("mdav", {}) is None
    assert len({theme.style(name) for name in variants.VARIANTS}) == len(variants.VARIANTS)


def test_a_large_taxonomy_is_drawn_down_to_a_level():
    tree = Taxonomy.from_nested(
        {"*": {f"a{i}": {f"b{i}.{j}": [f"c{i}.{j}.{h}" for h in range(9)] for j in range(9)} for i in range(9)}}
    )
    figure, depth = taxonomy.taxonomy(tree, {})
    assert depth == 2
    assert len(figure.data[0].labels) == 1 + 9 + 81


def test_whole_numbers_are_drawn_as_many_in_each_bin():
    [bars] = taxonomy.numbers(np.repeat(np.arange(17.0, 91.0), 3), (30, 40)).data
    assert list(bars.y) == [6] * 37
    assert sum(taxonomy.numbers(np.array([0.25, 0.5, 7.75]), (0, 1)).data[0].y) == 3
    assert sum(taxonomy.numbers(np.full(5, 2.0), (2, 2)).data[0].y) == 5
