"""What V-MDAV loses against its γ on the records that are watched, the current γ marked."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg.explain import by_gamma, optimum
from pages.ui import state
from pages.ui.charts import theme
from pages.ui.charts.layout import finish, ring, show_figure
from pages.ui.runs import jobs
from pages.ui.steps.records import Watched
from pages.ui.text import escape_markdown, percent


def show(seen: Watched) -> None:
    """Draw the curve; computed in the background, as the algorithms may still have to be compiled."""
    choices = state.current()
    gamma = float(choices.params_of("v-mdav")["gamma"])
    st.subheader("How much hangs on γ?")
    identity = (seen.identity, choices.watch_k, gamma)
    gammas = sorted({*by_gamma.GAMMAS, gamma})
    keys = ["v-mdav", "mdav-star", *optimum.needs(seen.X, choices.watch_k)]
    rows = jobs.once("gamma", identity, keys, "Trying many γ", lambda: by_gamma.losses(seen.X, choices.watch_k, gammas))
    if rows is None:
        return
    show_figure(
        _curve(rows, gamma), title=by_gamma.in_words(rows), key="steps_gamma", alt="Information loss against γ."
    )
    st.caption(
        "γ says how readily a group takes in a further record. It has to be chosen before anything is known of what will be "
        "lost, and the best one differs from file to file: " + escape_markdown("MDAV* decides without it.")
    )


def _curve(rows: pd.DataFrame, gamma: float) -> go.Figure:
    figure = go.Figure()
    flat = {"mdav-star": ("MDAV*", "solid", theme.style("mdav-star").color), "optimum": ("best possible", "dot", None)}
    for name, (title, dash, color) in flat.items():
        if rows[name].notna().all():
            figure.add_scatter(
                x=rows["gamma"],
                y=rows[name],
                mode="lines",
                name=title,
                line={"dash": dash, "color": color or theme.NEUTRAL, "width": 2},
                hovertemplate=f"{title}: %{{y:.3g}} %<extra></extra>",
            )
    figure.add_scatter(
        x=rows["gamma"],
        y=rows["v-mdav"],
        mode="lines",
        name="V-MDAV",
        line={"shape": "hv", "color": theme.style("v-mdav").color, "width": 2.5},
        hovertemplate="V-MDAV, γ = %{x:g}: %{y:.3g} %<extra></extra>",
    )
    own = rows[rows["gamma"] == gamma]
    ring(figure, own["gamma"], own["v-mdav"], f"γ = {gamma:g}: {percent(float(own['v-mdav'].iloc[0]))}")
    figure.update_xaxes(title="γ")
    figure.update_yaxes(title="information loss (%)", rangemode="tozero")
    return finish(figure, 300)
