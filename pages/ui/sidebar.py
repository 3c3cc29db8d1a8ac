"""The sidebar of the pages that work on the chosen partition: which data, which algorithm, which k."""

from __future__ import annotations

import streamlit as st

from microagg import MicroaggError, datasets
from pages.ui import data, shell, state, widgets
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


def pick_data(label: str, key: str) -> None:
    """Draw the picker of data sets; another choice forgets the columns of the one before."""
    st.session_state[key] = state.current().data

    def commit() -> None:
        state.update(data=st.session_state[key])
        state.reset_columns()

    st.selectbox(label, (*data.PICKABLE, state.UPLOAD), format_func=_label, key=key, on_change=commit)


def _label(name: str) -> str:
    if name == state.UPLOAD or datasets.is_available(name):
        return data.title(name)
    return f"{data.title(name)} (to be downloaded)"


def _about_data() -> str:
    try:
        workspace = data.workspace()
    except MicroaggError:
        return "Not ready: see the page Data."
    about = f"{count(workspace.n, 'record')} × {count(workspace.d, 'quasi-identifier')}"
    return escape_markdown(f"{about}, {_SCALES[state.current().scale]}")
