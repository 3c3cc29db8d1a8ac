"""Step by step: one or two algorithms decide, record by record, and say why."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from microagg import ALGORITHMS, explain
from microagg.explain import Step
from microagg.explain.player import page, scene
from microagg.tables import to_csv
from microagg.validation import check_enough_records
from pages.shared import methods, shell, state, tour
from pages.shared.figures import download
from pages.shared.text import escape_markdown
from pages.steps import records
from pages.steps.handout import handout
from pages.steps.records import Watched, watched

_ACTIVITIES = {"watch": "Watch", "ask": "Answer questions", "exercise": "Group by hand"}
_RECORDS = {"line": "Line", "plane": "Plane", "data": "Data set"}


def body() -> None:
    if st.context.is_embedded:
        tour.draw("steps")
        seen = watched()
        check_enough_records(len(seen.X), state.current().steps.k, "the list")
        _draw(seen, _player)
        return
    if tour.draw("steps"):
        # What the class looks at comes first.
        with st.expander("Other records, algorithms, k"):
            seen = _chosen(on_tour=True)
    else:
        seen = _chosen(on_tour=False)
    check_enough_records(len(seen.X), state.current().steps.k, "the list")
    _draw(seen, _watch)


def _draw(seen: Watched, watch: Callable[[Watched, list[str]], object]) -> None:
    if state.current().steps.activity == "exercise":
        records.draw_exercise(seen)
    else:
        watch(seen, _keys())


def _chosen(on_tour: bool) -> Watched:
    """Draw the choice of algorithms and records in two rows, with the way into the tour, and return the records."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="steps_choices"):
        if state.current().steps.activity != "exercise":
            _algorithms()
        state.bound(st.number_input, "k", "watch_k", min_value=1, step=1, width=90)
        state.either("Activity", "activity", _ACTIVITIES, width="content", label_visibility="collapsed")
        if state.current().steps.activity != "exercise":
            _settings_of_algorithms()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        state.either("Records", "records", _RECORDS, width="content", label_visibility="collapsed")
        seen = watched()
        _change(seen)
        if not on_tour:
            tour.way_in()
            tour.lecture()
    if seen.remark:
        st.caption(escape_markdown(seen.remark))
    return seen


def _algorithms() -> None:
    keys = list(explain.EXPLAINED)
    state.bound(st.selectbox, "Algorithm", "watched", options=keys, format_func=methods.title_of, width=140)
    titles = {state.NOTHING: "nothing", **{key: methods.title_of(key) for key in keys}}
    state.bound(st.selectbox, "Compared with", "beside", options=list(titles), format_func=titles.get, width=140)


def _settings_of_algorithms() -> None:
    if with_params := [key for key in _keys() if ALGORITHMS[key].params]:
        with st.popover("Settings", width="content"):
            for key in with_params:
                methods.params_of(key, without=("start",))
                if key == "local-search":
                    [start] = ALGORITHMS[key].params
                    label = f"Start of {methods.title_of(key)}"
                    options = list(start.choices)
                    state.bound(st.selectbox, label, "watch_start", options=options, format_func=methods.title_of)


def _keys() -> list[str]:
    choices = state.current()
    return [key for key in dict.fromkeys([choices.steps.first, choices.steps.second]) if key != state.NOTHING]


def _params_of(key: str) -> dict[str, Any]:
    # Local search improves MDAV's groups more than its usual start.
    params = state.current().params_of(key)
    return params | {"start": state.current().steps.start} if key == "local-search" else params


def _change(seen: Watched) -> None:
    kind = state.current().steps.records
    if kind == "line":
        state.bound(
            st.text_input, "Records, with commas between", "line", width="stretch", label_visibility="collapsed"
        )
        first = state.Choices().steps.line
        if state.current().steps.line != first:
            st.button("Reset", on_click=state.update, kwargs={"line": first})
    elif kind == "plane":
        with st.popover("Change the points", width="content"):
            records.edit(seen)
    else:
        state.bound(
            st.slider, "How many records of the data set", "few", min_value=2, max_value=explain.MOST_RECORDS, width=420
        )


@st.cache_resource(scope="session", max_entries=24, show_spinner="Running the algorithm step by step …")
def _steps(key: str, _seen: Watched, identity: str, k: int, params: tuple[tuple[str, Any], ...]) -> list[Step]:
    return list(explain.steps(key, _seen.X, k=k, names=_seen.names, attributes=_seen.attributes, **dict(params)))


def _watch(seen: Watched, keys: list[str]) -> None:
    _take_away(seen, *_player(seen, keys))
    records.find(seen)
    if "v-mdav" in keys:
        records.show(seen)


def _player(seen: Watched, keys: list[str]) -> tuple[dict[str, list[Step]], dict[str, Any]]:
    """Draw the player, and return the steps of each algorithm and the scene."""
    choices = state.current()
    identity = f"{seen.identity}/{choices.steps.k}"
    params = {key: tuple(_params_of(key).items()) for key in keys}
    tour.begin_again((identity, tuple(params.items())))
    runs = {key: _steps(key, seen, identity, choices.steps.k, params[key]) for key in keys}
    drawn = scene(
        seen.X,
        choices.steps.k,
        [(methods.title_of(key), _settings(key), explain.pseudo_code(key), steps) for key, steps in runs.items()],
        names=seen.names,
        attributes=seen.attributes,
        optimum=records.best_labels(seen),
        at=choices.steps.tick,
        ask=choices.steps.activity == "ask",
    )
    tour.show(drawn)
    return runs, drawn


def _settings(key: str) -> str:
    values = _params_of(key)
    names = {param.name: param.symbol or param.name.replace("_", " ") for param in ALGORITHMS[key].params}
    texts = {name: f"{value:g}" if isinstance(value, float) else value for name, value in values.items()}
    texts |= {name: methods.title_of(value) for name, value in values.items() if value in ALGORITHMS}
    return ", ".join(f"{names[name]} = {value}" for name, value in texts.items())


def _take_away(seen: Watched, runs: dict[str, list[Step]], drawn: dict[str, Any]) -> None:
    title = " and ".join(methods.title_of(key) for key in runs)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        download(
            "Animation (HTML)",
            lambda: page(drawn, f"{title} step by step"),
            f"{'_and_'.join(runs)}_step_by_step.html",
            help="One file that plays in any browser, offline.",
        )
        for key, steps in runs.items():
            table = partial(explain.table, steps, seen.names)
            label = f"Steps of {escape_markdown(methods.title_of(key))} (CSV)"
            # By key: in a file name the titles MDAV* and MDAV are the same.
            download(label, lambda table=table: to_csv(table()), f"{key}_steps.csv")
        says = "The stops with pictures and questions, for printing; the solutions start on a new page."
        download("Handout of the tour (HTML)", handout, "microaggregation_handout.html", help=says)
        st.caption("The address of this page opens this step.")


shell.show(body)
