"""Every page on numbers and on categories, what stands around it, and the choices that go with the visitor."""

import gc
import time
import tomllib

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import microagg
from microagg import ALGORITHMS
from microagg.algorithms import registry
from pages.shared import jobs, shell, state
from tests.algorithms.test_registry import as_before, by_first, make_class  # noqa: F401 - a fixture
from tests.conftest import ROOT
from tests.pages.helpers import (
    APP,
    choose,
    decode,
    errors,
    figures,
    go_to,
    open_page,
    open_survey,
    partitions,
    plain,
    press,
    unescaped,
    visit,
    words,
)

#: The pages that show the chosen data; the others are the same on any.
ON_DATA = ("data", "choose_k", "clusters", "release")


def check(app, data):
    assert errors(app) == []
    assert len(app.title) == 1
    assert app.query_params["data"] == data


@pytest.mark.parametrize("data", ["wine", "census"])
def test_pages_run(data):
    for page in shell.PAGES if data == "wine" else ON_DATA:
        check(open_page(page, data=data, ks="3-6"), data)


def test_pages_run_on_categories():
    app = open_survey("data", ks="5, 10")
    for page in ON_DATA:
        check(visit(app, page), "upload")


def test_choices_are_kept_on_the_next_page():
    app = open_page("choose_k", data="wine", ks="3, 4")
    choose(app, w_method_chosen="cbfs", w_k_chosen=7)
    visit(app, "clusters")
    assert unescaped(app.header[0].value).startswith("At k = 7, ")
    assert "lower loss than CBFS" in app.header[0].value
    assert (app.query_params["method"], app.query_params["k"]) == ("cbfs", "7")


def test_nonsense_in_the_address_is_said_and_the_usual_value_shown():
    nonsense = {"k": "0", "sample": "abc", "method": "nonsense", "scale": "log", "v-mdav.gamma": "-1"}
    nonsense |= {"mdav.gamma": "1", "least-loss.effort": "30"}
    app = open_page("clusters", data="wine", **nonsense)
    assert all(f"{name}={value}" in app.warning[0].value for name, value in nonsense.items())
    assert set(app.query_params) == {"data"}
    assert partitions(app) == partitions(open_page("clusters", data="wine"))


@pytest.mark.parametrize("page", ["start", "methods"])
def test_nobody_gets_in_without_the_login_that_is_asked_for(page):
    app = AppTest.from_file(APP, default_timeout=60)
    app.user = {"is_logged_in": False}
    assert not go_to(app, page).run().exception
    assert [button.label for button in app.button] == ["Log in"]
    assert not app.markdown
    app.user = {"is_logged_in": True, "email": "a@b.c"}
    app.run()
    assert "Log in" not in [button.label for button in app.button]
    assert app.markdown


def test_garbage_is_collected_now_and_then_and_not_after_each_run(monkeypatch):
    collected = []
    monkeypatch.setattr(gc, "collect", lambda: collected.append(1))
    monkeypatch.setattr(shell, "_collected", [time.monotonic()])
    shell.collect_garbage()
    assert not collected
    monkeypatch.setattr(shell, "_collected", [time.monotonic() - 60])
    shell.collect_garbage()
    shell.collect_garbage()
    assert len(collected) == 1
    # Streamlit would do it twice a second wherever a job is watched, and all other threads would wait each time.
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False


def test_start_shows_six_persons_in_the_groups_of_a_method_before_anything_is_compiled(monkeypatch):
    monkeypatch.setattr(jobs, "once", lambda *_: pytest.fail("the page waits for a job"))
    app = open_page("start", data="simc", k="7")
    shown = app.table[0].value
    persons = {"age": [52, 22, 61, 33, 26, 55], "income": [48_000, 22_000, 53_000, 31_000, 22_000, 61_000]}
    names = list(persons)
    released = microagg.microaggregate(pd.DataFrame(persons), k=3, method="mdav-star", quasi_identifiers=names).frame
    for name, before in persons.items():
        pairs = zip(before, released[name], strict=True)
        assert shown[name].tolist() == [f"{old:,} → {new:,.0f}" for old, new in pairs]
    assert shown["diagnosis"].tolist() == ["asthma", "flu", "diabetes", "migraine", "flu", "asthma"]
    means = [line for line in figures(app)[0]["data"] if line.get("name") == "mean of its group"]
    places = [(float(decode(line["x"])[0]), float(decode(line["y"])[0])) for line in means]
    assert places == [(56.0, 54_000.0), (27.0, 25_000.0)]


def test_start_leads_to_a_file_to_an_example_and_to_two_methods_side_by_side():
    app = press(open_page("start", data="simc", k="7"), "Protect my file")
    assert (app.query_params["data"], app.query_params["k"]) == ("upload", "7")
    assert press(open_page("start", data="simc"), "Try ").query_params["data"] == state.default_data()
    app = press(open_page("start", data="simc", k="7"), "MDAV* against V-MDAV")
    assert [title.value for title in app.title] == ["Clusters"]
    query = {"data": state.default_data(), "method": "mdav-star", "second": "v-mdav", "demo": "1"}
    assert dict(app.query_params) == query


def test_what_is_chosen_stands_above_the_pages_that_show_its_results_only():
    for page in shell.PAGES:
        app = open_page(page, data="wine", ks="3-4")
        has_k = "w_k_chosen" in [field.key for field in app.number_input]
        assert has_k == (page in ("choose_k", "clusters", "release")), page


def test_all_algorithms_stand_in_one_table():
    app = open_page("methods")
    assert app.table[-1].value["Algorithm"].tolist() == [cls.info.title for cls in ALGORITHMS.values()]
    choose(app, w_explained="cbfs")
    assert app.query_params["explained"] == "cbfs"
    assert "CBFS forms" in plain(app)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("mdav-star", "C is the existing group whose SSE grows least"),
        ("mondrian", "lower median"),
        ("t-closeness-first", "Needs a confidential column"),
    ],
)
def test_a_method_is_explained_step_by_step_and_by_a_picture(key, says):
    app = open_page("methods", explained=key)
    assert says in plain(app)
    assert "Source: " in plain(app)
    [plane] = figures(app)
    assert f"{ALGORITHMS[key].info.title} forms" in plain(app)
    assert len(plane["data"]) % 3 == 0


TITLE = "By the first attribute (your own)"


def test_the_pages_compare_an_algorithm_of_ones_own():
    microagg.register(make_class(lambda X, k: by_first(X, k) if len(X) < 100 or k < 5 else 1 / 0))
    registry.left_out.append("the algorithm of x.py is left out: there is no Python file x.py.")
    app = open_page("choose_k", data="wine", ks="3, 5")
    assert "x\\.py is left out" in words(app)
    assert TITLE in app.selectbox(key="w_method_chosen").options
    # An error in it is told, and takes no page down.
    assert "an algorithm of your own, failed" in words(app)
    app = open_page("clusters", data="wine", k="3", method="by-first")
    assert "By the first attribute" in words(app)
    assert "an algorithm of your own, failed" in words(choose(app, w_k_chosen=5))
    assert "By the first attribute" in words(open_page("methods", explained="by-first"))
