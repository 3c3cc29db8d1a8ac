"""Our figures against the printed ones, and curves of stored results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg import ALGORITHMS, datasets
from pages.shared import theme
from pages.shared.figures import finish
from pages.shared.text import escape_html, percent


def _key_by_title() -> dict[str, str]:
    return {cls.info.title: key for key, cls in ALGORITHMS.items()}


def differences(table: pd.DataFrame) -> go.Figure:
    """Draw by how many percent our figures differ from the printed ones, a row per method.

    ``table`` has the columns data, method, k, difference, printed, ours and verdict.
    """
    figure = go.Figure()
    keys = _key_by_title() | {"mu-Approx": "mu-approx"}
    for method, part in table.groupby("method", sort=False):
        key = keys.get(str(method))
        figure.add_scatter(
            x=part["difference"],
            y=part["method"],
            mode="markers",
            marker={"size": 10, "opacity": 0.75, "color": theme.style(key).color if key else theme.NEUTRAL},
            customdata=part[["data", "k", "printed", "ours", "verdict"]].to_numpy(),
            hovertemplate="<b>%{y}, %{customdata[0]}, k = %{customdata[1]}</b><br>printed %{customdata[2]}, "
            "ours %{customdata[3]}<br>%{customdata[4]}<extra></extra>",
            showlegend=False,
        )
    widest = max(float(table["difference"].abs().max()) * 1.15, 0.01)
    figure.update_xaxes(title="ours minus printed (% of the printed figure)", range=[-widest, widest])
    figure.update_yaxes(autorange="reversed")
    return finish(figure, 90 + 34 * table["method"].nunique())


def gamma_curves(table: pd.DataFrame) -> go.Figure:
    """Draw mean IL against γ, a line per k; columns k, gamma, information_loss and sd."""
    figure = go.Figure()
    for place, (k, part) in enumerate(table.groupby("k")):
        figure.add_scatter(
            x=part["gamma"],
            y=part["information_loss"],
            name=f"k = {k}",
            mode="lines+markers",
            line={"color": theme.GROUP_COLORS[place % len(theme.GROUP_COLORS)]},
            customdata=part["sd"],
            hovertemplate=f"k = {k}, γ = %{{x}}<br>IL %{{y:.3f}} % (sd %{{customdata:.3f}})<extra></extra>",
        )
    figure.update_xaxes(title="γ of V-MDAV")
    figure.update_yaxes(title="mean IL over 25 sets (%)", rangemode="tozero")
    return finish(figure, 400)


def mean_curves(table: pd.DataFrame) -> go.Figure:
    """Draw mean IL against k, a line per algorithm; columns method, label, k, information_loss and sd."""
    figure = go.Figure()
    for key, part in table.groupby("method", sort=False):
        style = theme.style(str(key))
        figure.add_scatter(
            x=part["k"],
            y=part["information_loss"],
            name=escape_html(part["label"].iloc[0]) + (" (best γ)" if key == "v-mdav" else ""),
            mode="lines",
            line={"color": style.color, "dash": style.dash, "width": 2},
            customdata=part["sd"],
            hovertemplate="<b>%{fullData.name}, k = %{x}</b><br>IL %{y:.3f} % (sd %{customdata:.3f})<extra></extra>",
        )
    figure.update_xaxes(title="k, the minimum group size (records)")
    figure.update_yaxes(title="mean IL over 25 sets (%)", rangemode="tozero")
    return finish(figure, 420)


def convergence(table: pd.DataFrame) -> go.Figure:
    """Draw IL after each step of an iterative algorithm; columns data, k, round, step and information_loss."""
    figure = go.Figure()
    for place, ((data, k), part) in enumerate(table.groupby(["data", "k"], sort=False)):
        figure.add_scatter(
            x=np.arange(len(part)),
            y=100 * part["information_loss"] / part["information_loss"].iloc[0],
            name=f"{escape_html(str(data).capitalize())}, k = {k}",
            mode="lines+markers",
            line={"color": theme.GROUP_COLORS[place % len(theme.GROUP_COLORS)]},
            customdata=part[["step", "information_loss"]].to_numpy(),
            hovertemplate="<b>%{fullData.name}</b>, step %{x}: %{customdata[0]}<br>IL %{customdata[1]:.4f} %"
            "<extra></extra>",
        )
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="IL (% of that of the start)")
    return finish(figure, 420)


def against_lowest(table: pd.DataFrame) -> go.Figure:
    """Draw, in percent of the lowest printed figure, the loss found and the floor, a column per data set and k."""
    figure = go.Figure()
    cells = [[datasets.describe(name).title for name in table["data"]], [f"k = {k}" for k in table["k"]]]
    found, floor = 100 * table["search"] / table["printed"], 100 * table["floor"] / table["printed"]
    figure.add_bar(
        x=cells,
        y=floor,
        name="impossible: below the proven floor",
        marker={"color": theme.FLOOR_FILL, "line": {"width": 0}},
        customdata=table["floor"],
        hovertemplate="%{x}: proven floor %{customdata:.5~g} %<extra></extra>",
    )
    figure.add_bar(
        x=cells,
        y=found - floor,
        name="open: the optimum lies here",
        marker={"color": theme.BAND, "line": {"width": 0}},
        customdata=table["gap"],
        hovertemplate="%{x}: at most %{customdata:.3~g} % above the optimum<extra></extra>",
    )
    figure.add_scatter(
        x=cells,
        y=found,
        name="best found",
        mode="markers",
        marker={"color": theme.HIGHLIGHT, "symbol": "line-ew-open", "size": 14, "line": {"width": 3}},
        customdata=table["search"],
        hovertemplate="%{x}: found %{customdata:.5~g} %<extra></extra>",
    )
    proven = (table["optimal"] == 1).to_numpy()
    figure.add_scatter(
        x=[[name for name, own in zip(names, proven, strict=True) if own] for names in cells],
        y=found[proven],
        name="proven optimal",
        mode="markers",
        marker={"color": theme.HIGHLIGHT, "symbol": "star", "size": 13},
        customdata=table.loc[proven, "search"],
        hovertemplate="%{x}: %{customdata:.7~g} % is proven to be the least possible<extra></extra>",
    )
    figure.add_scatter(
        x=cells,
        y=[100] * len(table),
        name="lowest printed figure",
        mode="lines+markers",
        line={"color": theme.NEUTRAL, "width": 1, "dash": "dash"},
        marker={"size": 5},
        customdata=[
            f"{percent(loss, 4)} ({by})" for loss, by in zip(table["printed"], table["printed_by"], strict=True)
        ],
        hovertemplate="%{x}: lowest printed %{customdata}<extra></extra>",
    )
    figure.update_layout(barmode="stack", bargap=0.25)
    figure.update_yaxes(title="IL (% of the lowest printed)", range=[0, 106])
    return finish(figure, 440)
