"""Which pages there are, and the way to each through app.py; it imports nothing that takes long."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

ASSETS = Path(__file__).parent / "assets"
ICON = str(ASSETS / "icon.svg")

PAGES = {
    "start": ("pages/start.py", "Start"),
    "data": ("pages/data.py", "Data"),
    "choose_k": ("pages/choose_k.py", "Choose k"),
    "clusters": ("pages/clusters.py", "Clusters"),
    "release": ("pages/release.py", "Release"),
    "steps": ("pages/steps.py", "Step by step"),
    "methods": ("pages/methods.py", "Methods"),
    "landscape": ("pages/landscape.py", "Landscape"),
    "published": ("pages/published.py", "Published results"),
}

#: The path from a file to its release stands open, at the top of every page; the others below what they are for.
SECTIONS = {
    "": ("start", "data", "choose_k", "clusters", "release"),
    "Learn": ("steps", "methods"),
    "Evidence": ("landscape", "published"),
}

_VIA_APP = "_via_app"

# What draws charts in the browser, the largest file that it loads. Streamlit would ask for it once there is a chart.
_CHARTS = "PlotlyChart.*.js"


def navigation() -> StreamlitPage:
    """Configure the page and return the one that the address asks for."""
    # The local icon must come before the navigation: otherwise the browser is sent to a font server.
    st.set_page_config(page_title="microagg", page_icon=ICON, layout="wide", initial_sidebar_state="collapsed")
    st.html(ASSETS / "style.css")
    pages = {name: st.Page(path, title=title, default=name == "start") for name, (path, title) in PAGES.items()}
    return st.navigation(
        {section: [pages[name] for name in names] for section, names in SECTIONS.items()}, position="top"
    )


def run(page: StreamlitPage) -> None:
    """Run ``page`` so that :func:`through_app` lets it pass."""
    st.session_state[_VIA_APP] = True
    page.run()


def through_app() -> None:
    """Send a visitor who did not come through app.py there, before a page has imported what takes long.

    Until ``st.navigation`` has run once in a process, Streamlit serves files in pages/ by itself. So a link to any page
    works on a cold server.
    """
    if not st.session_state.pop(_VIA_APP, False):
        navigation()
        st.rerun()


def fetch_charts() -> None:
    """Have the browser load what draws charts while the server still imports what computes them."""
    static = Path(st.__file__).parent / "static" / "static" / "js"
    for path in static.glob(_CHARTS):
        st.html(f'<script>import("./static/js/{path.name}")</script>', unsafe_allow_javascript=True)
