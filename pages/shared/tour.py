"""The player of steps, and the guided tour: a stop sets choices, leads to its page and asks the class a question.

Figures in the texts of the stops are computed once more by the tests.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from microagg.explain import player
from pages.shared import shell, state
from pages.shared.text import escape_markdown

_KEY = "steps_player"
_WATCHED = "steps_watched"

_component = st.components.v2.component(
    "microagg_steps", html="<div></div>", css=player.style(), js=player.script(), isolate_styles=False
)

_BEFORE = "before_tour"  # the choices before the tour

# The choices that a stop resets.
_USUAL = ("records", "line", "points", "watch_k", "watched", "beside", "activity", "tick", "v-mdav.gamma")


@dataclass(frozen=True)
class Stop:
    """One stop of the tour."""

    title: str
    says: str  # two or three sentences, to be read aloud
    question: str  # for the class
    answer: str
    source: str  # who found it
    choices: Mapping[str, Any]  # changes of pages.shared.state.Choices, parameters as ``v-mdav.gamma``
    page: str = "steps"  # a name in pages.shared.shell.PAGES
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # changes of views, by the labels of buttons


# Records on a line, besides those of Thaeter & Reischuk (2018), which are the default.
NEAR = "1, 2, 3, 4, 19, 20, 21, 98, 99, 100"
WITH_SEVEN = "1, 2, 3, 5, 6, 7, 19, 20, 21, 98, 99, 100"
TWO_FIVES = "1, 2, 3, 4, 5, 20, 21, 22, 23, 24"

#: Records on a plane for which no method has the optimum.
PLANE = "7 19; 2 20; 7 16; 4 15; 2 16; 20 13; 18 16; 18 12; 19 16; 14 13; 14 15; 14 11; 13 15; 13 14"

_STAR_ALONE = {"watched": "mdav-star", "beside": "-"}

STOPS: tuple[Stop, ...] = (
    Stop(
        title="Why groups of k",
        says="These are the ages of eleven persons, without names. But anyone who knows that a neighbor is 100 years old can "
        "find her row, and read everything else in it. So similar persons are put into groups of at least k = 3, "
        "and each is released with the mean age of the group.",
        question="Who is 100 in the release, and how sure can one be?",
        answer="{98, 99, 100} are all released as 99, so 3 persons fit. Nobody is found with a probability above 1/3: "
        "the release is k-anonymous.",
        source="Samarati 2001; Sweeney 2002",
        choices={**_STAR_ALONE, "tick": 13},
    ),
    Stop(
        title="Why averaging loses",
        says="A mean hides how its records differ. The SSE adds up the squared distance of each record to the mean of its "
        "group. Divided by the SST, which is the SSE of one group of all records, it is the information loss. Here "
        "k = 2: SSE 6.5, a loss of 0.0362 %.",
        question="There are 11 records. What is the information loss with k = 6?",
        answer="Two groups of 6 need 12 records, so all 11 form one group, released as 34. Its SSE is the SST, 17,966: the "
        "loss is 100 %. With k = 3 it is 0.118 %. Microaggregation looks for groups with low loss.",
        source="Domingo-Ferrer & Mateo-Sanz 2002",
        choices={**_STAR_ALONE, "watch_k": 2, "tick": 18},
    ),
    Stop(
        title="Groups of one size, or of several",
        says="MDAV makes groups of exactly k; only at the end may one get more. V-MDAV may add another record to a "
        "group that is close to it. Play both, and watch record 4.",
        question="Where does 4 go, and what does it cost?",
        answer="MDAV leaves it over for {4, 19, 20, 21}: SSE 198. V-MDAV makes {1, 2, 3, 4}: SSE 9, 22 times lower. One "
        "record in the wrong place may cost more than all others together.",
        source="Solanas & Martínez-Ballesté 2006; Domingo-Ferrer & Torra 2005 for MDAV",
        choices={"watched": "mdav", "beside": "v-mdav", "line": NEAR},
    ),
    Stop(
        title="Where the rule of V-MDAV fails",
        says="V-MDAV adds a record to a group if its squared distance to the group, d_in, is less than γ times its squared "
        "distance to the nearest record outside, d_out. For 5 and the group {1, 2, 3} these are 4 and 1, as 6 is next to "
        "it. So 5 is not added, and ends up in {5, 6, 19, 20, 21}.",
        question="With which γ is 5 added? Is it still right if there is a record 7?",
        answer="γ must be above 4, such as 5: then 6 is added, too, and the SSE falls from 258.8 to 21.2. The papers try 0 "
        "to 2. But with a 7, γ = 0.2 makes {5, 6, 7}, SSE 8, and γ = 5 makes {7, 19, 20, 21}, SSE 147.9. No γ is right for "
        "both.",
        source="Thaeter & Reischuk 2018, whose example it is",
        choices={"watched": "v-mdav", "beside": "-", "v-mdav.gamma": 0.2, "tick": 6},
        further={"With a record 7": {"line": WITH_SEVEN}, "With γ = 5": {"v-mdav.gamma": 5.0}},
    ),
    Stop(
        title="MDAV*: what does each choice cost?",
        says="MDAV* compares costs, not distances, and needs no γ. A new group costs SSE{5, 6, 19} / 3 = 122 / 3 ≈ 40.67 a "
        "record. Or 5 joins its neighbors, and the next group begins with 6: (growth of {1, 2, 3} + SSE{6, 19, 20}) / 4 = "
        "(6.75 + 122) / 4 = 32.1875.",
        question="What does MDAV* do with 5, and then with 6?",
        answer="5 joins {1, 2, 3}: 32.1875 is less than 40.67. 6 joins {1, 2, 3, 5}: 2.6125 is less than 40.67. So MDAV* "
        "takes into account what happens to the other records. The SSE is 21.2; with V-MDAV it was 258.8.",
        source="Thaeter & Reischuk 2018",
        choices={**_STAR_ALONE, "tick": 7},
        further={"Answer before it decides": {"activity": "ask"}},
    ),
    Stop(
        title="Why scaling matters",
        says="A table printed in 2010: on Tarragona with k = 3, the authors' method P-S has a loss of 5.494 %. The best of 12 "
        "others, DBA-2, has 16.15 %: 2.94 times as much.",
        question="What would you check before you believe it?",
        answer="Whether it is possible, and whether all were measured on the same scale. This is proven: no partition of "
        "records scaled to variance 1 has a loss below 9.85 %, as each record has at least 2 others in its group, none "
        "nearer than its 2 nearest. So no method has a loss of 5.494 % on scaled records. On raw ones P-S gives 5.493 %: "
        "there, attributes in large numbers decide alone. On scaled records it gives 17.26 %, and MDAV 16.93 %.",
        source="Kabir, Wang & Zhang 2010, Table I: Tarragona",
        choices={"stored": "printed", "paper": "kabir-2010", "table": "Table I: Tarragona"},
        page="evidence",
    ),
    Stop(
        title="How far from the optimum?",
        says="On a line dynamic programming finds the optimum. With two "
        "attributes or more the problem is NP-hard, so methods are heuristics. On the eleven records MDAV* has an SSE of "
        "21.2, and the optimum is 21.2. The picture shows 10 other records.",
        question="Which groups of at least 3 would you make, and which will MDAV* make?",
        answer="{1, 2, 3, 4, 5} and {20, 21, 22, 23, 24}: SSE 20, the lowest of all 2,557 ways to form such groups. MDAV* "
        "makes {1, 2, 3, 4}, {5, 20, 21} and {22, 23, 24}: SSE 167.7, 8.38 times as much; V-MDAV has 261. In the plane 14 "
        "records have 2,169,246 ways: MDAV* has 71.9, and the optimum is 66. For many records only a lower bound can be "
        "proven, as at stop 6.",
        source="Hansen & Mukherjee 2003; Oganian & Domingo-Ferrer 2001",
        choices={"line": TWO_FIVES},
        further={"In the plane": {"records": "plane", "points": PLANE}},
    ),
    Stop(
        title="What is still at risk",
        says="An attacker may know true values, and look for the nearest released record. On Wine, with k = 3, MDAV* has a "
        "loss of 16.5 %, and 28.0 % of the records are linked this way. The map shows risk against loss, a line for each "
        "method.",
        question="What changes with k = 10? And what does no k protect?",
        answer="7.73 % are linked, for a loss of 35.2 %. But if all persons of a group have the same diagnosis, it is known "
        "without finding anyone: look at the confidential attributes before you release.",
        source="Domingo-Ferrer & Torra 2001; Machanavajjhala et al. 2007",
        choices={"data": "wine", "scale": "zscore", "k": 3, "measure": "risk", "risk": "record_linkage"},
        page="choose_k",
    ),
)


# --- the player -------------------------------------------------------------------------------------------------------


def begin_again(identity: Hashable) -> None:
    """Go back to the first step if other records or algorithms are watched than before."""
    if st.session_state.get(_WATCHED, identity) != identity:
        state.update(tick=0)
    st.session_state[_WATCHED] = identity


def show(scene: Mapping[str, Any]) -> None:
    def keep() -> None:
        tick = st.session_state[_KEY].tick
        if tick is not None:
            state.update(tick=int(tick))

    _component(key=_KEY, data=dict(scene), on_tick_change=keep)


# --- the tour ---------------------------------------------------------------------------------------------------------


def choices_of(number: int, further: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the changes of choices at a stop, from 1. With ``further`` changes it starts at the first step."""
    default = state.Choices()
    changes = {key: default.value(key) for key in _USUAL} | dict(STOPS[number - 1].choices) | {"stop": number}
    return changes | {"tick": 0, **further} if further else changes


def go_to(number: int, further: Mapping[str, Any] | None = None) -> None:
    """Callback: take the choices of a stop, and go to its page."""
    if not state.current().stop:
        st.session_state[_BEFORE] = state.current()
    changes = choices_of(number, further)
    if changes.get("data", state.current().data) != state.current().data:
        state.choose_data(changes["data"])
    _restore_and_go(state.current().with_values(changes), STOPS[number - 1].page)


def end() -> None:
    """Callback: take the choices from before the tour."""
    before = st.session_state.pop(_BEFORE, None)
    _restore_and_go(before or state.current().with_values({"stop": 0}), "steps")


def _restore_and_go(choices: state.Choices, page: str) -> None:
    state.restore(choices)
    st.session_state.pop(_WATCHED, None)
    shell.lead_to(page)


def way_in() -> None:
    number = min(state.current().stop, len(STOPS))
    label = f"Tour, stop {number} →" if number else "Guided tour →"
    text = f"A lecture in {len(STOPS)} stops: why groups of k, how they come about, what they lose. About 20 minutes."
    st.button(label, on_click=go_to, args=(max(number, 1),), help=text)


def draw(page: str) -> bool:
    """Draw the stop of the tour if its page is ``page``, and return whether it is."""
    number = min(state.current().stop, len(STOPS))
    if is_here := number > 0 and STOPS[number - 1].page == page:
        _draw_stop(number)
    return is_here


def _draw_stop(number: int) -> None:
    stop = STOPS[number - 1]
    with st.container(border=True, key="tour", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{number} of {len(STOPS)} · {escape_markdown(stop.title)}**", width="stretch")
            with st.container(horizontal=True, width="content"):
                st.button("← Back", on_click=go_to, args=(number - 1,), disabled=number == 1)
                st.button("Next →", on_click=go_to, args=(number + 1,), disabled=number == len(STOPS), type="primary")
                st.button("End the tour", on_click=end)
        st.markdown(escape_markdown(stop.says))
        _views(number)
        with st.expander(f"**{escape_markdown(stop.question)}**", key=f"tour_question_{number}"):
            st.markdown(escape_markdown(stop.answer))
            st.markdown(f"*{escape_markdown(stop.source)}*")


def _views(number: int) -> None:
    views: dict[str, Mapping[str, Any] | None] = dict(STOPS[number - 1].further)
    now = state.current()
    if any(now.value(name) != value for name, value in choices_of(number).items() if name != "tick"):
        views = {"The view of this stop": None, **views}
    if views:
        with st.container(horizontal=True):
            for label, further in views.items():
                st.button(escape_markdown(label), on_click=go_to, args=(number, further), key=f"tour_view_{label}")
