"""Which pages there are, and the way to each; it imports nothing that takes long."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

ASSETS = Path(__file__).parent / "assets"
ICON = str(ASSETS / "icon.svg")

PAGES = {
    "start": "Start",
    "data": "Data",
    "choose_k": "Choose k",
    "clusters": "Clusters",
    "release": "Release",
    "steps": "Step by step",
    "methods": "Methods",
    "landscape": "Landscape",
    "published": "Published results",
}

#: The path from a file to its release stands open, at the top of every page; the others below what they are for.
SECTIONS = {
    "": ("start", "data", "choose_k", "clusters", "release"),
    "Learn": ("steps", "methods"),
    "Evidence": ("landscape", "published"),
}

# What draws charts in the browser, the largest file that it loads. Streamlit would ask for it once there is a chart.
_CHARTS = "PlotlyChart.*.js"


def path_of(name: str) -> str:
    """Return where a page's script stands, from the folder of pages/router/script.py on."""
    return f"../{name}/page.py"


def navigation() -> StreamlitPage:
    """Configure the page and return the one that the address asks for."""
    # The local icon must come before the navigation: otherwise the browser is sent to a font server.
    st.set_page_config(page_title="microagg", page_icon=ICON, layout="wide", initial_sidebar_state="collapsed")
    st.html(ASSETS / "style.css")
    pages = {
        name: st.Page(path_of(name), title=title, url_path=name, default=name == "start")
        for name, title in PAGES.items()
    }
    return st.navigation(
        {section: [pages[name] for name in names] for section, names in SECTIONS.items()}, position="top"
    )


def fetch_charts() -> None:
    """Have the browser load what draws charts while the server still imports what computes them."""
    static = Path(st.__file__).parent / "static" / "static" / "js"
    for path in static.glob(_CHARTS):
        st.html(f'<script>import("./static/js/{path.name}")</script>', unsafe_allow_javascript=True)
