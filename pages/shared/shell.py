"""The frame around every page: the list of pages, what leads to them, and errors as one plain sentence."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Literal
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from microagg import MicroaggError
from pages.shared import state
from pages.shared.navigation import ASSETS, PAGES, path_of
from pages.shared.text import escape_markdown, sentence

Kind = Literal["primary", "secondary", "tertiary"]

_NEXT = "next_page"

_tab = st.components.v2.component("tab", js=(ASSETS / "tab.js").read_text(encoding="utf-8"), isolate_styles=False)

# After how many seconds garbage is collected again, and when it was last.
_COLLECTS_EVERY = 15.0
_collected = [time.monotonic()]

_HEADINGS = {"start": "Protect records, keep the statistics"}


def require_login() -> None:
    """Stop until somebody has logged in, where the section ``auth`` of Streamlit's secrets asks for that."""
    if st.user.get("is_logged_in", True):
        return
    st.title("microagg")
    st.button("Log in", type="primary", on_click=st.login)
    st.stop()


def heading(page: StreamlitPage) -> str:
    """Return what stands above a page."""
    own = {PAGES[name]: text for name, text in _HEADINGS.items()}
    return own.get(page.title, page.title)


def in_tab(page: StreamlitPage, *, began: bool) -> None:
    """Have the browser's tab close the drawer of pages once another page is shown, and remember the choices.

    If this session ``began`` just now in a tab that had another one, the tab asks again with the choices of that one.
    """
    _tab(data={"page": page.title, "began": began, "address": urlencode(state.to_query(), doseq=True)}, key="tab")


def lead_to(name: str) -> None:
    """Have the next run go to a page: from within what a button calls pages cannot be changed."""
    st.session_state[_NEXT] = name


def follow(page: StreamlitPage) -> None:
    """Go where :func:`lead_to` leads, if ``page`` is another one."""
    # It is kept until the page is there: where a job is being watched, a run may end before it has changed the page.
    name = st.session_state.get(_NEXT)
    if name is not None and PAGES[name] != page.title:
        go(name)
    st.session_state.pop(_NEXT, None)


def collect_garbage() -> None:
    """Free what only cycles of objects hold, if that is some time ago: all other threads stand still meanwhile."""
    if time.monotonic() - _collected[0] > _COLLECTS_EVERY:
        gc.collect()
        _collected[0] = time.monotonic()


def show(body: Callable[[], None]) -> None:
    """Run a page's body, its errors told in one sentence."""
    state.say_problems()
    try:
        body()
    except MicroaggError as error:
        st.error(sentence(error))


def link(name: str, label: str, *, tip: str | None = None) -> None:
    """Draw a link to a page that carries the choices along; ``tip`` is said when the pointer rests on it."""
    st.page_link(path_of(name), label=label, help=tip, query_params=state.to_query())


def button(label: str, name: str, choose: Callable[[], None], *, kind: Kind = "tertiary") -> None:
    """Draw a button that leads to a page with other choices, which ``choose`` makes."""

    def leave() -> None:
        choose()
        lead_to(name)

    st.button(escape_markdown(label), type=kind, on_click=leave)


def go(name: str) -> None:
    """Go to a page, carrying the choices along; nothing below is drawn."""
    st.switch_page(path_of(name), query_params=state.to_query())
