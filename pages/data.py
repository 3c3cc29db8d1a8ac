"""Data: pick or upload a data set, look at it, choose the quasi-identifiers and how they are scaled."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import MicroaggError, datasets
from microagg.scaling import SCALES, scale_effect
from pages.ui import shell, state
from pages.ui.data import sources, tables
from pages.ui.data.tables import Table, chosen_table
from pages.ui.data.workspace import Workspace, chosen_workspace
from pages.ui.text import count, escape_markdown, listing, sentence

_SHOWN_ROWS = 5_000
_SCALE_NAMES = {"zscore": "z-score", "minmax": "min-max", "none": "none"}


def body() -> None:
    """Draw the page."""
    st.title("Data")
    choices = state.current()
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        sources.pick_data("Data set", key="w_data_page")
        if choices.data in tables.SYNTHETIC:
            state.bound(
                st.number_input,
                "Seed",
                "seed",
                min_value=0,
                step=1,
                help="The set is generated; the same seed gives the same records.",
            )
    if choices.data == state.UPLOAD:
        sources.upload()
        if tables.uploaded() is None:
            return
    elif not datasets.is_available(choices.data):
        sources.download(choices.data)
        return
    table = chosen_table()
    with right:
        st.markdown(escape_markdown(table.description))
    _quasi_identifiers(table)
    _scaling()
    workspace = _workspace(table)
    if workspace:
        for note in workspace.notes:
            st.warning(escape_markdown(note))
    _attributes(table)
    _records(table)
    if table.source:
        st.caption(f"Source: {escape_markdown(table.source)}")


def _quasi_identifiers(table: Table) -> None:
    st.subheader("Quasi-identifiers")
    st.caption(
        "The attributes by which somebody could recognize a record. They are grouped on and replaced by group means; "
        "all other attributes stay as they are."
    )
    shell.mention_categories(table.categories)
    choices = state.current()
    numeric = tables.numeric_columns(table.frame)
    st.session_state["w_columns"] = [c for c in (choices.columns or table.quasi_identifiers) if c in numeric]

    def commit() -> None:
        chosen = tuple(column for column in numeric if column in st.session_state["w_columns"])
        if not chosen:
            st.toast("At least one quasi-identifier is needed: there is nothing to protect otherwise.")
            return
        state.update(columns=() if set(chosen) == set(table.quasi_identifiers) else chosen)

    if not numeric:
        return
    st.pills(
        "Quasi-identifiers",
        numeric,
        selection_mode="multi",
        key="w_columns",
        format_func=escape_markdown,
        on_change=commit,
        label_visibility="collapsed",
    )
    unknown = [column for column in choices.columns if column not in numeric]
    if unknown:
        st.warning(
            f"There is no numeric column {escape_markdown(listing([repr(name) for name in unknown]))} in this data set."
        )
        st.button("Use the usual quasi-identifiers", on_click=state.reset_columns)


def _scaling() -> None:
    state.bound(
        st.segmented_control,
        "Scaling",
        "scale",
        options=list(SCALES),
        format_func=_SCALE_NAMES.get,
        required=True,
    )
    how = state.current().scale
    says = escape_markdown(scale_effect(how))
    if how == "none":
        st.warning(says)
    else:
        st.caption(says)


def _workspace(table: Table) -> Workspace | None:
    try:
        return chosen_workspace()
    except MicroaggError as error:
        st.error(sentence(error))
    numeric = tables.numeric_columns(table.frame)
    complete = tuple(
        column for column in numeric if np.isfinite(table.frame[column].to_numpy(float, na_value=np.nan)).all()
    )
    if 0 < len(complete) < len(numeric):
        st.button("Use only the complete columns", on_click=state.update, kwargs={"columns": complete})
    return None


def _attributes(table: Table) -> None:
    st.subheader("Attributes")
    chosen = state.current().columns or table.quasi_identifiers
    numeric = tables.numeric_columns(table.frame)
    rows = []
    for column in table.frame.columns:
        series = table.frame[column]
        row: dict[str, Any] = {
            "attribute": str(column),
            "distribution": [],
            "role": "quasi-identifier" if column in chosen else "left as it is",
            "least": None,
            "mean": None,
            "greatest": None,
            "distinct": int(series.nunique()),
            "missing": int(series.isna().sum()),
        }
        if column in numeric:
            values = series.to_numpy(float, na_value=np.nan)
            values = values[np.isfinite(values)]
            if len(values):
                row |= {
                    "least": values.min(),
                    "mean": values.mean(),
                    "greatest": values.max(),
                    "distribution": np.histogram(values, bins=24)[0].tolist(),
                }
        else:
            row["distribution"] = series.value_counts().head(24).tolist()
        rows.append(row)
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        height="content" if len(rows) <= 16 else 560,
        column_config={
            "attribute": "Attribute",
            "role": "Role",
            "missing": "Missing",
            "distinct": "Distinct values",
            "least": st.column_config.NumberColumn("Least", format="localized"),
            "mean": st.column_config.NumberColumn("Mean", format="localized"),
            "greatest": st.column_config.NumberColumn("Greatest", format="localized"),
            "distribution": st.column_config.BarChartColumn(
                "Distribution",
                help="Numbers: records in each 24th of the range. Text: the most frequent values.",
                color="blue",
            ),
        },
    )


def _records(table: Table) -> None:
    st.subheader("Records")
    n = len(table.frame)
    about = f"{count(n, 'record')}, {count(table.frame.shape[1], 'attribute')}."
    st.caption(about if n <= _SHOWN_ROWS else f"{about} The first {_SHOWN_ROWS:,} are shown.")
    st.dataframe(table.frame.head(_SHOWN_ROWS), width="stretch", height=360)


shell.show(body)
