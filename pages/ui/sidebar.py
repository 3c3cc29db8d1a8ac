"""The sidebar of the pages that work on the chosen partition: which data, which method, which k."""

from __future__ import annotations

import streamlit as st

from microagg import MicroaggError
from microagg.variants import VARIANTS
from pages.ui import shell, state, widgets
from pages.ui.data import methods, tables
from pages.ui.data.workspace import Workspace, chosen_workspace
from pages.ui.text import count, escape_markdown, listing

_SCALES = {"zscore": "z\u2011scores", "minmax": "min\u2011max scaled", "none": "unscaled"}


def show() -> None:
    """Draw the sidebar."""
    try:
        workspace = chosen_workspace()
    except MicroaggError:
        workspace = None  # the page says what is wrong
    with st.sidebar:
        st.markdown("#### Data")
        st.markdown(f"**{escape_markdown(tables.chosen_title())}**")
        st.caption("Not ready: see the page Data." if workspace is None else _about(workspace))
        shell.link("data", "Columns, scaling, another file")
        st.markdown("#### Chosen partition")
        if workspace is not None:
            _method(workspace)
        state.bound(
            st.number_input,
            "k, the minimum group size",
            "k",
            key="w_k_sidebar",
            min_value=1,
            step=1,
            help="Every group gets at least k records, so each released combination of values occurs at least k times.",
        )


def _method(workspace: Workspace) -> None:
    name = methods.chosen(workspace)
    able = methods.fitting(workspace)
    options = [state.FOUND, *able] if name == state.FOUND else able
    widgets.pick_method("Method", "method", options, name, methods.title, key="w_method_sidebar")
    asked = state.current().method
    if asked not in ("", name):
        st.caption(escape_markdown(f"{methods.title(asked)} does not fit: {methods.reasons(workspace)[asked]}"))
    if name == state.FOUND:
        return
    if not asked and workspace.is_wide:
        st.caption("Chosen at first as it is quick with so many columns. Others lose less, and take minutes.")
    fixed = set(VARIANTS[name].fixed)
    widgets.params_of(VARIANTS[name].key, classes=VARIANTS[name].needs_classes, without=fixed)
    if workspace.is_numeric:
        widgets.polish("w_polish_sidebar")


def _about(workspace: Workspace) -> str:
    about = f"{count(workspace.n_complete, 'record')} × {count(workspace.d, 'quasi-identifier')}"
    if workspace.is_numeric:
        about += f", {_SCALES[state.current().scale]}"
    if workspace.schema.strata:
        about += f", within {listing([str(name) for name in workspace.schema.strata])}"
    return escape_markdown(about)
