"""The sidebar of the pages that work on the chosen partition: which data, which algorithm, which k."""

from __future__ import annotations

import streamlit as st

from microagg import MicroaggError
from pages.ui import shell, state, widgets
from pages.ui.data.sources import pick_data
from pages.ui.data.workspace import chosen_workspace
from pages.ui.text import count, escape_markdown

_SCALES = {"zscore": "z\u2011scores", "minmax": "min\u2011max scaled", "none": "unscaled"}


def show() -> None:
    """Draw the sidebar."""
    choices = state.current()
    with st.sidebar:
        st.markdown("#### Data")
        pick_data("Data set", key="w_data_sidebar")
        st.caption(_about_data())
        shell.link("data", "Attributes, scaling, upload")
        st.markdown("#### Chosen partition")
        widgets.pick_method("Algorithm", "method", key="w_method_sidebar")
        widgets.params_of(choices.method)
        widgets.polish("w_polish_sidebar")
        state.bound(
            st.number_input,
            "k, the minimum group size",
            "k",
            key="w_k_sidebar",
            min_value=1,
            step=1,
            help="Every group gets at least k records, so each released combination of values occurs at least k times.",
        )


def _about_data() -> str:
    try:
        workspace = chosen_workspace()
    except MicroaggError:
        return "Not ready: see the page Data."
    about = f"{count(workspace.n, 'record')} × {count(workspace.d, 'quasi-identifier')}"
    return escape_markdown(f"{about}, {_SCALES[state.current().scale]}")
