"""The player of steps: what microagg.explain draws, within the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from microagg.explain import player
from pages.ui import state

_KEY = "steps_player"
# The scene that is shown, and the tick at which it was opened: a step forward must not send all steps again.
_SHOWN = "steps_shown"

_component = st.components.v2.component(
    "microagg_steps", html=player.HTML, css=player.css(), js=player.js(), isolate_styles=False
)


def begin_again(identity: object) -> None:
    """Go back to the first step where other records or algorithms are watched than before in this session."""
    before, _ = st.session_state.get(_SHOWN, (identity, 0))
    if before != identity:
        state.update(tick=0)
    if st.session_state.get(_SHOWN, (None, 0))[0] != identity:
        st.session_state[_SHOWN] = (identity, state.current().tick)


def opened_at() -> int:
    """Return the tick at which what is shown was opened."""
    return int(st.session_state[_SHOWN][1])


def show(scene: Mapping[str, Any]) -> None:
    """Draw the player."""

    def keep() -> None:
        tick = st.session_state[_KEY].tick
        if tick is not None:
            state.update(tick=int(tick))

    _component(key=_KEY, data=dict(scene), on_tick_change=keep)
