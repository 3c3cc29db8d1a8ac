"""Every page, run without a browser on several data sets, and what it says about input that cannot be used."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from microagg import ALGORITHMS, datasets, literature
from pages.ui import charts, shell, state, text, theme
from tests.conftest import load_benchmark

APP = Path(__file__).parents[1] / "app.py"
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
    points = np.random.default_rng(0).normal(size=(charts.MOST_POINTS + 5, 2))
    view = charts.View.of(points, ("a", "b"))
    assert len(view.shown) == charts.MOST_POINTS
    labels = np.arange(len(points)) // 5
    figure = charts.clusters(view, labels, np.ones(len(points)), range(len(points)))
    [records] = [trace for trace in figure.data if trace.name.startswith("record")]
    assert len(records.x) == charts.MOST_POINTS


def test_outlines_survive_points_on_a_line_and_duplicates():
    points = np.array([[0, 0], [1, 1], [2, 2], [5, 5], [5, 5], [7, 1], [8, 1], [7, 3], [8, 3]], dtype=float)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    figure = charts.clusters(charts.View.of(points, ("a", "b")), labels, np.zeros(9), range(9))
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
