"""Toy example: a few records on a line, V-MDAV against MDAV*, editable."""

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.experiment import Result
from microagg.validation import check_enough_records
from pages.ui import shell, state
from pages.ui.charts.layout import show_figure
from pages.ui.charts.toy import number_line
from pages.ui.runs import toy
from pages.ui.text import count, number, percent


def body() -> None:
    """Draw the page."""
    st.markdown(
        "Change the records, k or γ, and watch who is grouped with whom. The eleven records are those of Thaeter and "
        "Reischuk (2018), who use them to show what MDAV\\* does better than V-MDAV."
    )
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    with left:
        state.bound(st.text_input, "Records, with commas between", "toy")
    with middle:
        state.bound(
            st.slider,
            "k, the minimum group size",
            "toy_k",
            min_value=1,
            max_value=max(6, state.current().toy_k),
            help="Each group gets at least k records.",
        )
    with right:
        state.bound(
            st.slider,
            "γ of V-MDAV",
            "toy_gamma",
            min_value=0.0,
            max_value=max(3.0, state.current().toy_gamma),
            step=0.1,
            help="V-MDAV takes a further record into a group if its squared distance to the group is less than γ times "
            "that to the nearest record outside. 0: never.",
        )
    if state.current().toy != state.Choices().toy:
        st.button("Back to the eleven records", on_click=state.update, kwargs={"toy": state.Choices().toy})
    values = toy.parse(state.current().toy)
    choices = state.current()
    check_enough_records(len(values), choices.toy_k, "the list")
    results = toy.compare(values, choices.toy_k, choices.toy_gamma)
    v_mdav, star = results

    show_figure(
        number_line(values, results),
        title=_verdict(v_mdav, star),
        key="toy_lines",
        alt="The records on a line, grouped by V-MDAV in the upper row and by MDAV* in the lower one.",
    )
    whole = metrics.sst(values)
    for column, result in zip(st.columns(2), results, strict=True):
        with column.container(border=True):
            st.markdown(f"**{result.method.label.replace('*', chr(92) + '*')}**")
            with st.container(horizontal=True):
                st.metric(
                    "SSE, within groups",
                    number(result.sse),
                    help="Squared distances of the records to their centroid.",
                    width="content",
                )
                st.metric(
                    "Information loss",
                    percent(result.information_loss),
                    help=f"100 · SSE / SST; SST = {number(whole)}",
                    width="content",
                )
            st.dataframe(_groups(values[:, 0], result), hide_index=True, width="stretch")
    st.caption(
        f"{count(len(values), 'record')}, used as they are, without scaling. SST, the sum of squared distances to the mean "
        f"of all, is {number(whole)}. The triangle under a group is its centroid: what is released for each of its records."
    )


def _verdict(v_mdav: Result, star: Result) -> str:
    if min(v_mdav.sse, star.sse) == max(v_mdav.sse, star.sse):
        return "Both lose the same here"
    better, worse = sorted((v_mdav, star), key=lambda result: result.sse)
    if better.sse == 0:
        return f"{better.method.label} loses nothing here"
    return f"{better.method.label} loses {worse.sse / better.sse:.3g} times less here"


def _groups(values: np.ndarray, result: Result) -> pd.DataFrame:
    rows = []
    for group in range(result.partition.n_groups):
        members = values[result.partition.labels == group]
        rows.append(
            {
                "records": ", ".join(f"{value:g}" for value in members),
                "released as": number(float(members.mean())),
                "SSE": number(float(((members - members.mean()) ** 2).sum())),
            }
        )
    return pd.DataFrame(rows)


shell.show(body)
