"""The player of steps, and the guided tour: a stop sets choices, leads to its page and asks the class a question."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from microagg import datasets, explain
from microagg.explain import Step, player
from pages.shared import shell, state
from pages.shared.text import escape_markdown
from pages.shared.tour_stops import LAST, SCALED, STOPS

_KEY = "steps_player"
_WATCHED = "steps_watched"

_component = st.components.v2.component(
    "microagg_steps", html="<div></div>", css=player.style(), js=player.script(), isolate_styles=False
)

_BEFORE = "before_tour"  # the choices before the tour

# The choices that a stop resets.
_USUAL = ("records", "line", "points", "watch_k", "watched", "beside", "watch_start", "activity", "v-mdav.gamma")


def begin_again(identity: Hashable) -> None:
    """Go back to the first step if other records or algorithms are watched than before."""
    if st.session_state.get(_WATCHED, identity) != identity:
        state.update(tick=0)
    st.session_state[_WATCHED] = identity


def forget() -> None:
    st.session_state.pop(_WATCHED, None)


def show(scene: Mapping[str, Any]) -> None:
    def keep() -> None:
        tick = st.session_state[_KEY].tick
        if tick is not None:
            state.update(tick=int(tick))

    _component(key=_KEY, data=dict(scene), on_tick_change=keep)


def choices_of(number: int, further: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the changes of choices at a stop, from 1. With ``further`` changes it starts at the first step."""
    stop, default = STOPS[number - 1], state.Choices()
    usual = {key: default.value(key) for key in _USUAL}
    changes = {**usual, **stop.choices, **(further or {}), "stop": number}
    return changes | {"tick": 0 if further else _tick(stop.at, changes)}


def _tick(moment: str, choices: Mapping[str, Any]) -> int:
    """Return the tick of the player whose step has the words ``moment``."""
    if not moment:
        return 0
    runs = list(runs_of(choices).values())
    if not runs:
        return 0
    ticks = explain.lockstep(runs[0], runs[-1])
    if moment == LAST:
        return len(ticks) - 1
    return next((i for i, (a, b) in enumerate(ticks) if _says(moment, runs[0][a], runs[-1][b])), 0)


def runs_of(choices: Mapping[str, Any]) -> dict[str, list[Step]]:
    """Return the steps of each watched algorithm on the records on a line, by its key."""
    X = np.array([[float(word)] for word in choices["line"].split(",")])
    params = {"v-mdav": {"gamma": choices["v-mdav.gamma"]}}
    keys = (key for key in (choices["watched"], choices["beside"]) if key in explain.EXPLAINED)
    return {key: list(explain.steps(key, X, k=choices["watch_k"], **params.get(key, {}))) for key in keys}


def _says(words: str, *steps: Step) -> bool:
    texts = [step.text for step in steps]
    texts += [f"{each.name} = {explain.value(each.value)}" for step in steps for each in step.quantities]
    return any(words in text for text in texts)


def go_to(number: int, further: Mapping[str, Any] | None = None) -> None:
    """Callback: take the choices of a stop, and go to its page."""
    if not state.current().stop:
        st.session_state[_BEFORE] = state.current()
    changes = choices_of(number, further)
    if changes.get("data", state.current().data) != state.current().data:
        state.choose_data(changes["data"])
    state.update(**changes)
    forget()
    shell.lead_to(STOPS[number - 1].page)


def end() -> None:
    before = st.session_state.pop(_BEFORE, None)
    state.restore(before or state.current().with_values({"stop": 0}))
    forget()
    shell.lead_to("steps")


@st.cache_data(show_spinner="Computing the figures of this stop …")
def _written(number: int, available: bool) -> dict[str, str]:
    # The figures of one stop need a data set that may be loaded later.
    del available
    stop = STOPS[number - 1]
    figures = stop.figures()
    return {name: getattr(stop, name).format(**figures) for name in ("says", "question", "answer", "source")}


def written(number: int) -> dict[str, str]:
    return _written(number, datasets.is_available(SCALED))


def draw(page: str) -> bool:
    """Draw the stop of the tour if its page is ``page``, and return whether it is."""
    number = min(state.current().stop, len(STOPS))
    if is_here := number > 0 and STOPS[number - 1].page == page:
        _box(number)
    return is_here


def way_in() -> None:
    number = min(state.current().stop, len(STOPS))
    label = f"Tour, stop {number} →" if number else "Guided tour →"
    text = f"A lecture in {len(STOPS)} stops: why groups of k, how they come about, what they lose. About 20 minutes."
    st.button(label, on_click=go_to, args=(max(number, 1),), help=text)


def lecture() -> None:
    """Draw the link that opens the player alone, large, for a lecture."""
    text = "The player alone in a window of its own, large, for a projector."
    address = f"?{urlencode({'embed': 'true', **state.to_query()}, doseq=True)}"
    st.link_button("Lecture mode", address, help=text, icon=":material/open_in_new:")


def _box(number: int) -> None:
    slim = bool(st.context.is_embedded)  # for a lecture, where the text is folded
    stop, says = STOPS[number - 1], {name: escape_markdown(text) for name, text in written(number).items()}
    with st.container(border=True, key="tour", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{number} of {len(STOPS)} · {escape_markdown(stop.title)}**", width="stretch")
            with st.container(horizontal=True, width="content", wrap=not slim):
                st.button("← Back", on_click=go_to, args=(number - 1,), disabled=number == 1)
                st.button("Next →", on_click=go_to, args=(number + 1,), disabled=number == len(STOPS), type="primary")
                if not slim:
                    st.button("End the tour", on_click=end)
                    lecture()
        with st.container(horizontal=slim, gap="small"):
            with st.expander("Text", key=f"tour_text_{number}", width=120) if slim else st.container(gap="small"):
                st.markdown(says["says"])
                _views(number)
            with st.expander(f"**{says['question']}**", key=f"tour_question_{number}"):
                st.markdown(says["answer"])
                st.markdown(f"*{says['source']}*")


def _views(number: int) -> None:
    views: dict[str, Mapping[str, Any] | None] = dict(STOPS[number - 1].further)
    now = state.current()
    if any(now.value(name) != value for name, value in choices_of(number).items() if name != "tick"):
        views = {"The view of this stop": None, **views}
    if views:
        with st.container(horizontal=True):
            for label, further in views.items():
                st.button(escape_markdown(label), on_click=go_to, args=(number, further), key=f"tour_view_{label}")
