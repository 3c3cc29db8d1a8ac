"""The player of steps: what microagg.explain draws, within the page."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from microagg.explain import player
from pages.ui import state

_KEY = "steps_player"
_WATCHED = "steps_watched"

_component = st.components.v2.component(
    "microagg_steps", html="<div></div>", css=player.style(), js=player.script(), isolate_styles=False
)


def begin_again(identity: Hashable) -> None:
    """Go back to the first step where other records or algorithms are watched than before in this session."""
    if st.session_state.get(_WATCHED, identity) != identity:
        state.update(tick=0)
    st.session_state[_WATCHED] = identity


def forget() -> None:
    """Open what is watched next at the step of the choices, whatever was watched before."""
    st.session_state.pop(_WATCHED, None)


def show(scene: Mapping[str, Any]) -> None:
    """Draw the player; the step at which it rests becomes the one of the choices."""

    def keep() -> None:
        tick = st.session_state[_KEY].tick
        if tick is not None:
            state.update(tick=int(tick))

    _component(key=_KEY, data=dict(scene), on_tick_change=keep)
