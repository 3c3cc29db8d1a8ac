"""Step by step: one or two algorithms decide, record by record, and say why."""

from __future__ import annotations

from typing import Any

import streamlit as st

from microagg import ALGORITHMS, explain
from microagg.explain import Step, optimum, player
from microagg.validation import check_enough_records
from pages.shared import methods, shell, state
from pages.shared.figures import download
from pages.shared.text import escape_markdown
from pages.steps import records
from pages.steps.records import Watched, watched

_KEY, _WATCHED = "steps_player", "steps_watched"

_RECORDS = {"line": "Line", "plane": "Plane", "data": "Data set"}

#: The field and the label of records that are typed, by their kind.
_TYPED = {
    "line": ("line", "Records, with commas between"),
    "plane": ("points", "Points: x, a blank, y; semicolons between"),
}


def body() -> None:
    seen = _choices()
    check_enough_records(len(seen.X), state.current().steps.k, "the list")
    keys = _keys()
    drawn = _player(seen, keys)
    _take_away(keys, drawn)
    if "v-mdav" in keys:
        records.show(seen)


def _choices() -> Watched:
    """Draw the choice of algorithms and records in two rows, and return the records."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="steps_choices"):
        keys = list(explain.EXPLAINED)
        state.bound(st.selectbox, "Algorithm", "watched", options=keys, format_func=methods.title_of, width=140)
        titles = {state.NOTHING: "nothing", **{key: methods.title_of(key) for key in keys}}
        state.bound(st.selectbox, "Compared with", "beside", options=list(titles), format_func=titles.get, width=140)
        state.bound(st.number_input, "k", "watch_k", min_value=1, step=1, width=90)
        if with_params := [key for key in _keys() if ALGORITHMS[key].params]:
            with st.popover("Settings", width="content"):
                for key in with_params:
                    methods.params_of(key)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        state.either("Records", "records", _RECORDS, width="content", label_visibility="collapsed")
        # Before watched(), which raises on wrong input: the field must stay to correct it.
        _draw_record_input()
        seen = watched()
    if seen.remark:
        st.caption(escape_markdown(seen.remark))
    return seen


def _keys() -> list[str]:
    choices = state.current()
    return [key for key in dict.fromkeys([choices.steps.first, choices.steps.second]) if key != state.NOTHING]


def _draw_record_input() -> None:
    """Draw the field of typed records with a button to reset it, or the number of records of the data set."""
    source = state.current().steps.records
    if source not in _TYPED:
        most = explain.MOST_RECORDS
        state.bound(st.slider, "How many records of the data set", "few", min_value=2, max_value=most, width=420)
        return
    field, label = _TYPED[source]
    state.bound(st.text_input, label, field, width="stretch", label_visibility="collapsed")
    default = state.Choices().value(field)
    if state.current().value(field) != default:
        st.button("Reset", on_click=state.update, kwargs={field: default})


@st.cache_resource(scope="session", max_entries=24, show_spinner="Running the algorithm step by step …")
def _steps(key: str, _seen: Watched, identity: str, k: int, params: tuple[tuple[str, Any], ...]) -> list[Step]:
    return list(explain.steps(key, _seen.X, k=k, names=_seen.names, attributes=_seen.attributes, **dict(params)))


def _player(seen: Watched, keys: list[str]) -> dict[str, Any]:
    """Draw the player, and return its scene."""
    choices = state.current()
    identity = f"{seen.identity}/{choices.steps.k}"
    params = {key: tuple(choices.params_of(key).items()) for key in keys}
    watched_now = identity, tuple(params.items())
    if st.session_state.get(_WATCHED, watched_now) != watched_now:
        state.update(tick=0)
    st.session_state[_WATCHED] = watched_now
    runs = {key: _steps(key, seen, identity, choices.steps.k, params[key]) for key in keys}
    best = optimum.optimum(seen.X, choices.steps.k)
    drawn = player.scene(
        seen.X,
        choices.steps.k,
        [player.Watched(key, dict(params[key]), steps) for key, steps in runs.items()],
        names=seen.names,
        attributes=seen.attributes,
        optimum=None if best is None else best.labels,
        at=state.current().steps.tick,
    )

    def keep() -> None:
        if (tick := st.session_state[_KEY].tick) is not None:
            state.update(tick=int(tick))

    records.PLAYER(key=_KEY, data=drawn, on_tick_change=keep)
    return drawn


def _take_away(keys: list[str], drawn: dict[str, Any]) -> None:
    title = " and ".join(methods.title_of(key) for key in keys)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name, message = f"{'_and_'.join(keys)}_step_by_step.html", "One file that plays in any browser, offline."
        download("Animation (HTML)", lambda: player.page(drawn, f"{title} step by step"), name, help=message)
        st.caption("The address of this page opens this step.")


shell.show(body)
