"""The choices in the address."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import streamlit as st

from microagg import DataError
from microagg.release.choices import OPTIONS
from pages.data import sources
from pages.shared import shell, state, tables


def loaded(monkeypatch, **query):
    """Return the choices that a session begins with at this address, and what it could not use."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", Address(query))
    state.load()
    return state.current(), st.session_state.get("address_problems")


class Address(dict):
    def get_all(self, name):
        value = self[name]
        return value if isinstance(value, list) else [value]


def test_the_address_holds_every_choice_that_is_not_usual(monkeypatch):
    query = {
        "data": "wine",
        "seed": "3",
        "columns": ["other.number.drop.0:ash", "stratum...0:x"],
        "k": "7",
        "method": state.FOUND,
        "methods": ["md", "cbfs"],
        "polish": "1",
        "limit": "12.5",
        "sample": "0",
        "shuffle": "1",
        "diversity": ["pay=2", "a=b=entropy:1.5"],
        "closeness": ["pay=0.2"],
        "format": ".xlsx",
        "v-mdav.gamma": "0.3",
    }
    choices, problems = loaded(monkeypatch, **query)
    assert not problems
    assert (choices.seed, choices.k, choices.release.shuffle) == (3, 7, True)
    assert (choices.compare.limit, choices.compare.sample) == (12.5, 0)
    assert choices.polish is True
    assert choices.compare.methods == ("md", "cbfs")
    assert choices.params_of("v-mdav") == {"gamma": 0.3, "leftovers": "centroid"}
    assert state.to_query() == query


# What links that were sent before say; a choice may move in the code, its key in the address may not.
KEYS = """
    data seed reading digest columns agreed entered overridden cut classes attribute scale k method polish
    explained
    methods ks measure limit risk lost risk_limit sample sample_seed
    second plane x y demo
    statistic exact weights shuffle diversity closeness format
    records line points few watch_k watched beside tick
    stored view first rival above at_k on
    paper table against best_of best_k
"""


def test_the_keys_of_the_address_are_those_of_old_links(monkeypatch):
    query = {"few": "40", "watch_k": "4", "watched": "mdav", "rival": "mdav", "on": "eia", "at_k": "5"}
    query |= {"lost": "discernibility"}
    choices, problems = loaded(monkeypatch, data="wine", stored="adult", **query)
    assert not problems
    assert (choices.steps.n_records, choices.steps.k, choices.steps.first) == (40, 4, "mdav")
    assert (choices.evidence.rival, choices.evidence.on, choices.evidence.at_k) == ("mdav", "eia", 5)
    assert (choices.compare.loss, choices.data) == ("discernibility", "wine")
    # What was a part of its own is a paper among the printed figures.
    assert state.to_query() == {"data": "wine", "stored": "printed", "paper": state.BYUN, **query}
    state.update(**dict.fromkeys(KEYS.split(), "changed"))
    assert sorted(state.to_query()) == sorted(KEYS.split())
    assert {state.current().value(key) for key in KEYS.split()} == {"changed"}


def test_options_of_a_release_are_read_as_they_are_declared(monkeypatch):
    choices, problems = loaded(monkeypatch, data="wine", scale="minmax", weights="keep", shuffle="3")
    assert not problems
    # A link may hold a seed of the order.
    assert choices.options() == {"scale": "minmax", "release_weights": "keep", "ranges": "text", "shuffle": True}
    assert state.to_query()["shuffle"] == "1"
    assert state.Choices().options() == {o.name: o.default for o in OPTIONS if o.name in choices.options()}
    _, problems = loaded(monkeypatch, weights="none", shuffle="-1", statistic="generalize")
    assert problems == ["weights=none", "shuffle=-1", "statistic=generalize"]


def test_what_the_address_cannot_mean_is_the_usual_value(monkeypatch):
    bad = {
        "data": "nowhere",
        "k": "0",
        "watch_k": "0",
        "seed": "-1",
        "limit": "-1",
        "few": "301",
        "watched": "md",
        "method": "nothing",
        "methods": ["md", "nothing"],
        "scale": "none at all",
        "format": ".exe",
        "diversity": ["pay=many"],
        "closeness": ["pay=2"],
        "polish": "yes",
        "v-mdav.gamma": "-1",
        "v-mdav.nothing": "1",
    }
    choices, problems = loaded(monkeypatch, **bad, unknown="is ignored", params="too")
    assert choices == state.Choices()
    assert sorted(problem.split("=")[0] for problem in problems) == sorted(bad)
    assert state.to_query() == {"data": state.default_data()}


def test_what_is_too_long_for_an_address_stays_in_the_session(monkeypatch):
    few = [f"other.number.drop.0:question {i}" for i in range(100)]
    loaded(monkeypatch, data="wine", k="7", columns=few)
    assert not state.is_too_long()
    assert state.to_query()["columns"] == few
    many = [f"other.number.drop.0:Über question {i}" for i in range(200)]
    state.update(columns=tuple(many))
    assert state.is_too_long()
    assert state.to_query() == {"data": "wine", "cut": "1", "k": "7"}
    assert state.current().columns == tuple(many)


def test_the_address_counts_once_for_each_time_that_the_browser_went_back(monkeypatch):
    loaded(monkeypatch, data="wine", k="7")
    state.update(k=8)
    st.query_params.update(k="7")  # as a browser says that has not heard of the last choice
    assert not state.load()
    assert state.current().k == 8
    st.query_params.update(went="1")
    assert not state.load()
    assert state.current().k == 7
    state.update(k=9)
    assert not state.load()
    assert state.current().k == 9


# An order with a name, a value and a digest in all alphabets; it stands for whatever an option says of a column.
ORDER = 'ordinal.3fa2b1:["Maß: a=b", ["klein", "groß, größer"]]'
READING = ['decimal=","', 'missing=["999,0", "k. A."]', "header=false", "skip_lines=2"]


def test_how_a_file_is_read_and_what_was_entered_stands_in_the_address(monkeypatch):
    query = {"data": "upload", "reading": READING, "digest": "12345678"}
    query |= {"entered": [ORDER], "overridden": ["ab:why: so"]}
    _, problems = loaded(monkeypatch, **query)
    assert not problems
    assert state.to_query() == query
    read = {"decimal": ",", "missing": ["999,0", "k. A."], "header": False, "skip_lines": 2}
    assert tables.reading("12345678") == read
    assert tables.reading("another") == {}
    tables.read_with("12345678", skip_lines=None, header=None)
    assert state.current().reading == tuple(READING[:2])
    state.choose_data("wine")
    assert state.to_query() == {"data": "wine"}


NO_READING = ["skip_lines=-1", "skip_lines=true", f"skip_last={10**30}", "missing=[1]", "max_cells=9", "source=null"]
NO_READING += ["decimal", "skip_lines=" + "[" * 100_000]
NOT_ENTERED = ["12345678:ash", 'no_option.ab:["a", 1]', "ordinal.ab:[1]", 'diversity.ab:["a", 2]']
NOT_ENTERED += ['ordinal.ab:["a", 5]', 'ordinal.ab:["a", ["x", "x"]]', 'ordinal.ab:[["a"], ["b"]]']
NOT_ENTERED += ['taxonomies.ab:["a", 5]', 'taxonomies.ab:["a", {"*": {"x": null}, "y": null}]']


@pytest.mark.parametrize("name", ["reading", "entered"])
def test_what_is_no_reading_and_says_nothing_of_a_column_is_not_taken(monkeypatch, name):
    for text in NO_READING if name == "reading" else NOT_ENTERED:
        choices, [problem] = loaded(monkeypatch, **{name: text})
        assert problem == f"{name}={text}"
        assert (choices.reading, choices.entered) == ((), ())


def test_a_project_holds_all_choices_also_what_is_too_long_for_an_address(monkeypatch):
    many = [f"other.number.drop.0:Über question {i}" for i in range(200)]
    query = {"data": "upload", "k": "7", "reading": READING, "digest": "12345678", "columns": many}
    query |= {"v-mdav.gamma": "0.3"}
    before, _ = loaded(monkeypatch, **query)
    held = json.dumps({"choices": state.to_query(whole=True)})
    monkeypatch.setattr(st, "session_state", {})
    sources.take_project(held.encode())
    assert state.current() == before
    assert not st.session_state["address_problems"]


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"choices": 1}', b'{"choices": {"k": 7}}', b"[" * 100_000])
def test_what_is_no_project_is_refused(monkeypatch, content):
    before, _ = loaded(monkeypatch, data="wine")
    with pytest.raises(DataError, match="no project"):
        sources.take_project(content)
    assert state.current() == before


def test_links_of_the_lecture_are_addresses_of_the_dashboard(monkeypatch):
    lecture = (Path(__file__).parents[2] / "docs" / "teacher.md").read_text(encoding="utf-8")
    links = re.findall(r"localhost:8501/(\w+)\?([^)\s]+)\)", lecture)
    assert len(links) >= 8
    for page, query in links:
        assert page in shell.PAGES
        assert not loaded(monkeypatch, **parse_qs(query))[1]
