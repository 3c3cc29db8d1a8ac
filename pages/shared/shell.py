"""The frame around every page: navigation, the header, links, and errors as one sentence."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import streamlit as st
from streamlit import runtime
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx
from streamlit.runtime.state import SessionState

from microagg import MicroaggError
from microagg.algorithms.method import VARIANTS
from pages.shared import certificate, methods, state, tables
from pages.shared.text import count, escape_markdown, listing, sentence, shortened
from pages.shared.workspace import Workspace, chosen_workspace

_ASSETS = Path(__file__).parent / "assets"

#: The titles of all pages; the first is the one at the bare address.
PAGES = {
    "start": "microagg",
    "data": "Data",
    "choose_k": "Choose k",
    "clusters": "Clusters",
    "release": "Release",
    "steps": "Step by step",
    "methods": "Methods",
    "evidence": "Evidence",
}

#: The steps from a file to its release, which are numbered.
PATH = ("data", "choose_k", "clusters", "release")

#: The menu at the top: pages that stand open, then those under a heading.
SECTIONS = {"": ("start", *PATH, "evidence"), "Learn": ("steps", "methods")}

# Other addresses of pages; Streamlit has the first page at the bare address only.
_ALIASES = {"start": "start", "landscape": "evidence", "published": "evidence"}

Kind = Literal["primary", "secondary", "tertiary"]

_NEXT = "next_page"

_tab = st.components.v2.component("tab", js=(_ASSETS / "tab.js").read_text(encoding="utf-8"), isolate_styles=False)

# The menu Learn, which is closed, is marked as the page that one is on.
_LEARN = """<style>
[data-testid="stTopNavSection"] { font-weight: 600; box-shadow: inset 0 -2px light-dark(#0072b2, #56b4e9); }
</style>"""

# The seconds between two collections of garbage, and the time of the last one.
_COLLECTS_EVERY = 15.0
_collected = [time.monotonic()]

# The timers that end sessions whose tab is closed, by session.
_ends: dict[str, asyncio.TimerHandle] = {}

_SCALES = {"zscore": "z\u2011scores", "minmax": "min\u2011max scaled", "none": "unscaled"}


def _path_of(name: str) -> str:
    """Return the path of a page's script, relative to pages/router/script.py."""
    return f"../{name}/page.py"


def label(name: str) -> str:
    """Name of a page in the menu: its title, numbered if it is a step."""
    return f"{PATH.index(name) + 1} {PAGES[name]}" if name in PATH else PAGES[name]


def navigation() -> StreamlitPage:
    """Configure the page and return the one of the address."""
    # The local icon must come before the navigation: otherwise the browser asks a font server.
    icon = str(_ASSETS / "icon.svg")
    st.set_page_config(page_title="microagg", page_icon=icon, layout="wide", initial_sidebar_state="collapsed")
    st.html(_ASSETS / "style.css")
    first, *_ = PAGES
    pages = {
        name: st.Page(_path_of(name), title=label(name), url_path="" if name == first else name, default=name == first)
        for name in PAGES
    }
    sections = {section: [pages[name] for name in names] for section, names in SECTIONS.items()}
    sections[""] += [st.Page(lambda: None, title=alias, url_path=alias, visibility="hidden") for alias in _ALIASES]
    page = st.navigation(sections, position="top")
    if name_of(page) in SECTIONS["Learn"]:
        st.html(_LEARN)
    return page


def name_of(page: StreamlitPage) -> str:
    first, *_ = PAGES
    return page.url_path or first


def require_login() -> None:
    """Stop until the user has logged in, if the section ``auth`` of Streamlit's secrets asks for that."""
    if st.user.get("is_logged_in", True):
        return
    st.title("microagg")
    st.button("Log in", type="primary", on_click=st.login)
    st.stop()


def in_tab(page: StreamlitPage, *, began: bool) -> None:
    """Store the choices in the browser's tab. A session that ``began`` in an old tab takes its choices."""
    _tab(data={"page": page.title, "began": began, "address": urlencode(state.to_query(), doseq=True)}, key="tab")


def lead_to(name: str) -> None:
    """Make the next run go to a page, as callbacks cannot."""
    st.session_state[_NEXT] = name


def follow(page: StreamlitPage) -> None:
    """Go where :func:`lead_to` leads, and from a page's other address to the page."""
    alias = page.url_path
    if alias == "published" and state.current().evidence.part == "compare":
        state.update(stored="printed")  # that page began with the printed figures
    if alias in _ALIASES:
        go(_ALIASES[alias])
    # Kept until the page is there: while a job is watched, a run may end before it has changed the page.
    name = st.session_state.get(_NEXT)
    if name not in (None, name_of(page)):
        go(name)
    st.session_state.pop(_NEXT, None)


def collect_garbage() -> None:
    """Free cycles of objects now and then, as all other threads stand still meanwhile."""
    if time.monotonic() - _collected[0] > _COLLECTS_EVERY:
        _free()
        _collected[0] = time.monotonic()


def _free() -> None:
    """Free cycles of objects, and return free memory to the system."""
    gc.collect()
    tables.return_memory()


def _tab_closed(context: ScriptRunContext) -> None:
    """End a session if its tab does not come back: Streamlit would keep its data."""
    if runtime.exists() and (session := runtime.get_instance().get_app_session(context.session_id)):
        if earlier := _ends.get(session.id):
            earlier.cancel()
        seconds = max(st.get_option("server.disconnectedSessionTTL"), 1)
        _ends[session.id] = asyncio.get_running_loop().call_later(seconds, _end, session, context)


def _end(session: AppSession, context: ScriptRunContext) -> None:
    if runtime.get_instance().is_active_session(session.id):
        _tab_closed(context)  # it came back: without a run nothing tells when it is closed again
        return
    del _ends[session.id]
    with suppress(KeyError):  # Streamlit may have dropped it at the same time
        runtime.get_instance().close_session(session.id)
    session.shutdown()  # if Streamlit no longer finds it
    # Streamlit's loop holds the session that it served last until it serves another one.
    SessionState.__init__(session.session_state)
    context.fragment_storage.clear()
    session.flush_browser_queue()
    _free()


@st.cache_resource(scope="session", show_spinner=False, on_release=_tab_closed)
def free_at_end() -> ScriptRunContext | None:
    """Free the data of this session soon after its tab is closed."""
    return get_script_run_ctx()


def show(body: Callable[[], None]) -> None:
    state.show_problems()
    try:
        body()
    except MicroaggError as error:
        st.error(sentence(error))


def link(name: str, label: str, *, tip: str | None = None) -> None:
    """Draw a link to a page that carries the choices. ``tip`` is its tooltip."""
    st.page_link(_path_of(name), label=label, help=tip, query_params=state.to_query())


def button(label: str, name: str, choose: Callable[[], None], *, kind: Kind = "secondary") -> None:
    """Draw a button that calls ``choose`` and leads to a page."""

    def leave() -> None:
        choose()
        lead_to(name)

    st.button(escape_markdown(label), type=kind, on_click=leave)


def go(name: str) -> None:
    st.switch_page(_path_of(name), query_params=state.to_query())


def draw_header(page: StreamlitPage) -> None:
    """Draw a page's title. On pages whose results depend on data, method and k, draw these beside it."""
    name = name_of(page)
    with st.container(horizontal=True, vertical_alignment="center", key="chosen"):
        heading = "Protect records, keep the statistics" if name == "start" else PAGES[name]
        st.title(heading, anchor=False, width="content")
        if name in PATH and name != "data":
            _draw_choices(name)


def _draw_choices(page: str) -> None:
    """Draw data, method and k, each with its control, and on other pages than Choose k a link to it."""
    try:
        workspace = chosen_workspace()
    except MicroaggError:
        workspace = None  # the page shows the error
    details = shortened(tables.chosen_title(), 40)
    details += f", {count(workspace.d, 'quasi-identifier')}" if workspace else ", not ready"
    link("data", f":material/table: {escape_markdown(details)}", tip=escape_markdown(_describe_data(workspace)))
    if workspace is not None:
        with st.popover(methods.title(methods.chosen(workspace)), icon=":material/hub:", key="chosen_method"):
            _draw_method_settings(workspace)
            if page != "choose_k":
                link("choose_k", "Compare methods →")
    with st.popover(f"k = {state.current().k:,}", icon=":material/groups:", key="chosen_k"):
        text = "Each group has at least k records, so each released combination of values occurs at least k times."
        state.bound(st.number_input, "k, the minimum group size", "k", key="w_k_chosen", min_value=1, step=1, help=text)
        if page != "choose_k":
            link("choose_k", "Information loss at each k →")


def _draw_method_settings(workspace: Workspace) -> None:
    name = methods.chosen(workspace)
    able = methods.fitting(workspace)
    is_there = not workspace.is_sample and certificate.best(workspace, state.current().k)
    options = [state.FOUND, *able] if name == state.FOUND or is_there else able
    key = "w_method_chosen"
    state.bound(st.selectbox, "Method", "method", key=key, selected=name, options=options, format_func=methods.title)
    chosen = state.current().method
    if chosen not in ("", name):
        st.caption(escape_markdown(f"{methods.title(chosen)} does not fit: {methods.reasons(workspace)[chosen]}"))
    if not chosen and workspace.is_wide:
        st.caption("The default for so many columns: it is quick. Other methods have lower loss and take minutes.")
    if name != state.FOUND:
        fixed = set(VARIANTS[name].fixed)
        methods.params_of(VARIANTS[name].key, classes=VARIANTS[name].needs_classes, without=fixed)
        if workspace.is_numeric:
            methods.polish("w_polish_chosen")


def _describe_data(workspace: Workspace | None) -> str:
    if workspace is None:
        return "Open the page Data to complete the choices."
    texts = [count(workspace.n_complete, "record")]
    if workspace.is_numeric:
        texts.append(_SCALES[state.current().scale])
    if workspace.schema.strata:
        texts.append(f"within {listing([shortened(name, 24) for name in workspace.schema.strata])}")
    return f"{', '.join(texts)}. Change columns, scaling or file on the page Data."
