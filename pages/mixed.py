"""Mixed data: files with categories, from the kinds of their columns to a release whose values are generalized."""

from typing import Any

import streamlit as st

from microagg import datasets
from pages.ui import shell, state
from pages.ui.data import attributes, kinds, sources, tables
from pages.ui.data.tables import Table, chosen_table
from pages.ui.published import adult
from pages.ui.runs import compare, release
from pages.ui.text import count, escape_markdown

_STEPS = {
    "attributes": "Attributes",
    "compare": "Compare methods",
    "release": "Before and after",
    "adult": "All of Adult",
}


def body() -> None:
    """Draw the page."""
    st.title("Mixed data")
    st.markdown(
        "For files with **categories**. The records of a group are released with what they have in common: a range "
        "of ages, the common ancestor of their occupations in a **taxonomy**, a tree that says which categories are alike."
    )
    table = _table()
    if table is None:
        return
    steps = _steps()
    with steps["attributes"] as tab:
        if tab.open:
            attributes.show(table)
    with steps["compare"] as tab:
        if tab.open:
            compare.show(table)
    with steps["release"] as tab:
        if tab.open:
            release.show(table)
    with steps["adult"] as tab:
        if tab.open:
            adult.show()


def _steps() -> dict[str, Any]:
    key = "w_step"
    st.session_state[key] = _STEPS[state.current().step]
    names = {label: name for name, label in _STEPS.items()}
    tabs = st.tabs(list(names), key=key, on_change=lambda: state.update(step=names[st.session_state[key]]))
    return dict(zip(_STEPS, tabs, strict=True))


# --- the data ---------------------------------------------------------------------------------------------------------


def _table() -> Table | None:
    """Draw the picker of data, and return what is picked if it is on this machine."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        sources.pick_data("Data set", key="w_data_mixed")
    name = state.current().data
    if name == state.UPLOAD:
        if tables.uploaded() is None:
            sources.upload()
            st.button("Try the sample survey: 300 fictitious persons", on_click=sources.use_survey)
            return None
    elif not datasets.is_available(name):
        sources.download(name)
        return None
    table = chosen_table()
    with right:
        if name == state.UPLOAD:
            size = f"{count(len(table.frame), 'record')}, {count(table.frame.shape[1], 'column')}"
            st.markdown(f"**{escape_markdown(table.title)}**: {size}")
            shell.link("data", "Look at it, or use another file: Data")
        else:
            st.markdown(escape_markdown(table.description))
    if not any(kind != "numeric" for kind in kinds.setup(table).kinds.values()):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(
                f"{escape_markdown(table.title)} holds numbers only. These methods take it, but are made for categories:"
            )
            st.button("Use Adult", on_click=_use_adult, type="primary")
            st.button("Use the sample survey", on_click=sources.use_survey)
    return table


def _use_adult() -> None:
    state.update(data="adult")
    state.reset_columns()


shell.show(body)
