"""The line above every page: its heading, and what is chosen for all of them: the data, the method, k."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from microagg import MicroaggError
from microagg.algorithms.method import VARIANTS
from pages.shared import methods, shell, state, tables, widgets
from pages.shared.text import count, escape_markdown, listing, shortened
from pages.shared.workspace import Workspace, chosen_workspace

_SCALES = {"zscore": "z\u2011scores", "minmax": "min\u2011max scaled", "none": "unscaled"}


def line(heading: str) -> DeltaGenerator:
    """Draw a page's heading, and beside it what is chosen, each where it can be changed; return the line."""
    try:
        workspace = chosen_workspace()
    except MicroaggError:
        workspace = None  # the page says what is wrong
    whole = st.container(horizontal=True, vertical_alignment="center", key="chosen")
    with whole:
        st.title(heading, anchor=False, width="content")
        shell.link(
            "data", f":material/table: {escape_markdown(_about(workspace))}", tip=escape_markdown(_further(workspace))
        )
        if workspace is not None:
            with st.popover(methods.title(methods.chosen(workspace)), icon=":material/hub:", key="chosen_method"):
                _method(workspace)
        with st.popover(f"k = {state.current().k:,}", icon=":material/groups:", key="chosen_k"):
            state.bound(
                st.number_input,
                "k, the minimum group size",
                "k",
                key="w_k_chosen",
                min_value=1,
                step=1,
                help="Every group gets at least k records, so each released combination of values occurs at least k times.",
            )
            shell.link("choose_k", "What is lost at each k →")
    return whole


def _method(workspace: Workspace) -> None:
    name = methods.chosen(workspace)
    able = methods.fitting(workspace)
    options = [state.FOUND, *able] if name == state.FOUND else able
    widgets.pick_method("Method", "method", options, name, methods.title, key="w_method_chosen")
    asked = state.current().method
    if asked not in ("", name):
        st.caption(escape_markdown(f"{methods.title(asked)} does not fit: {methods.reasons(workspace)[asked]}"))
    if not asked and workspace.is_wide:
        st.caption("Chosen at first as it is quick with so many columns. Others lose less, and take minutes.")
    if name != state.FOUND:
        fixed = set(VARIANTS[name].fixed)
        widgets.params_of(VARIANTS[name].key, classes=VARIANTS[name].needs_classes, without=fixed)
        if workspace.is_numeric:
            widgets.polish("w_polish_chosen")
    shell.link("choose_k", "Compare methods →")


def _about(workspace: Workspace | None) -> str:
    title = shortened(tables.chosen_title(), 40)
    if workspace is None:
        return f"{title}, not ready"
    return f"{title}, {count(workspace.d, 'quasi-identifier')}"


def _further(workspace: Workspace | None) -> str:
    """Return what there is to say about the data beyond their name."""
    if workspace is None:
        return "The page Data says what is missing."
    says = [count(workspace.n_complete, "record")]
    if workspace.is_numeric:
        says.append(_SCALES[state.current().scale])
    if workspace.schema.strata:
        says.append(f"within {listing([shortened(name, 24) for name in workspace.schema.strata])}")
    return f"{', '.join(says)}. The page Data has columns, scaling and other files."
