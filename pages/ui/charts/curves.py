"""Loss against k, and what a search finds and proves in time. Colors of text and grid come from Streamlit's theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg.metrics import bounds
from pages.ui.charts import theme
from pages.ui.charts.layout import finish, ring
from pages.ui.text import escape_html, gap_in_words, percent


def loss_curve(
    rows: pd.DataFrame,
    floor: Sequence[bounds.Bound],
    *,
    ks: tuple[int, int],
    best: Mapping[int, float] | None = None,
    selected: tuple[str, int] | None = None,
    limit: float | None = None,
) -> go.Figure:
    """Draw IL against k, one line per algorithm, over the floor that no method can get below.

    ``rows`` are rows of a sweep; ``best`` is the lowest IL known at each k, in percent, between which and the floor the
    optimum lies; ``selected`` is (algorithm key, k); ``limit`` is a largest acceptable IL in percent.
    """
    figure = go.Figure()
    x = [bound.k for bound in floor]
    figure.add_scatter(
        x=x,
        y=[bound.information_loss for bound in floor],
        name="floor: no method can get below",
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"},
        fill="tozeroy",
        fillcolor=theme.FLOOR_FILL,
        hovertemplate="k = %{x}: no method can lose less than %{y:.4~g} %<extra></extra>",
    )
    if best:
        figure.add_scatter(
            x=list(best),
            y=list(best.values()),
            name="best known; the optimum lies between it and the floor",
            mode="lines",
            line={"color": theme.NEUTRAL, "width": 1.5},
            fill="tonexty",
            fillcolor=theme.BAND,
            customdata=[gap_in_words(best[bound.k], bound.information_loss) for bound in floor if bound.k in best],
            hovertemplate="k = %{x}: best known %{y:.4~g} %, %{customdata}<extra></extra>",
        )
    for key, part in rows.groupby("method", sort=False):
        _line(figure, str(key), part, part["information_loss"], "%{y:.4~g} % lost")
    _before_polishing(figure, rows)
    if limit is not None:
        figure.add_scatter(
            x=ks,
            y=[limit, limit],
            mode="lines",
            line={"color": theme.HIGHLIGHT, "width": 1.2, "dash": "dash"},
            name=f"largest acceptable loss, {limit:g} %",
            hoverinfo="skip",
        )
    _mark(figure, rows, selected, "information_loss")
    top = max([*rows["unpolished"], *(bound.information_loss for bound in floor)], default=1) * 1.06
    figure.update_yaxes(title="Information loss IL = 100 · SSE / SST (%)", range=[0, top or 1], fixedrange=True)
    return _k_axis(figure, ks)


def excess_curve(rows: pd.DataFrame, *, ks: tuple[int, int], selected: tuple[str, int] | None = None) -> go.Figure:
    """Draw by how many percent each algorithm's IL lies above the lowest at the same k."""
    lowest = rows.groupby("k")["information_loss"].transform("min")
    # Where the lowest loses nothing there is no ratio to show.
    excess = 100 * (rows["information_loss"] / lowest.where(lowest > 0) - 1)
    rows = rows.assign(excess=excess)
    figure = go.Figure()
    for key, part in rows.groupby("method", sort=False):
        _line(figure, str(key), part, part["excess"], "%{y:.3~g} % above the lowest IL")
    _mark(figure, rows, selected, "excess")
    top = float(np.nanmax(excess, initial=0)) * 1.08 or 1
    figure.update_yaxes(title="IL above the lowest of these (%)", range=[-0.04 * top, top], fixedrange=True)
    return _k_axis(figure, ks)


def _line(figure: go.Figure, key: str, part: pd.DataFrame, y: pd.Series, says: str) -> None:
    style = theme.style(key)
    part = part.sort_values("k")
    figure.add_scatter(
        x=part["k"],
        y=y.loc[part.index],
        name=escape_html(part["label"].iloc[0]),
        mode="lines+markers",
        line={"color": style.color, "dash": style.dash, "width": 2},
        marker={"symbol": style.symbol, "size": 9, "color": style.color},
        # A click must not fade the rest: the choice is marked by a ring.
        unselected={"marker": {"opacity": 1}},
        customdata=np.stack(
            [part["method"], part["n_groups"], part["smallest_group"], part["largest_group"], part["params"]], axis=1
        ),
        hovertemplate="<b>%{fullData.name}, k = %{x}</b><br>"
        + says
        + "<br>%{customdata[1]} groups of %{customdata[2]} to %{customdata[3]} records<br>%{customdata[4]}"
        "<extra></extra>",
    )


def _before_polishing(figure: go.Figure, rows: pd.DataFrame) -> None:
    """Draw the IL that polished methods had before, thinly."""
    polished = rows[rows["unpolished"] > rows["information_loss"]]
    for place, (key, part) in enumerate(polished.groupby("method", sort=False)):
        part = part.sort_values("k")
        figure.add_scatter(
            x=part["k"],
            y=part["unpolished"],
            name="thin: before polishing",
            legendgroup="before",
            showlegend=place == 0,
            mode="lines",
            line={"color": theme.style(str(key)).color, "width": 1, "dash": "dot"},
            customdata=100 * (1 - part["information_loss"] / part["unpolished"]),
            hovertemplate="k = %{x}, before polishing: %{y:.4~g} % lost; polishing saves %{customdata:.3g} % of it"
            "<extra></extra>",
        )


def _mark(figure: go.Figure, rows: pd.DataFrame, selected: tuple[str, int] | None, column: str) -> None:
    if selected is None or rows.empty:
        return
    at = rows[(rows["method"] == selected[0]) & (rows["k"] == selected[1])]
    if not at.empty:
        ring(figure, at["k"], at[column], "chosen")


def _k_axis(figure: go.Figure, ks: tuple[int, int]) -> go.Figure:
    pad = max(0.4, (ks[1] - ks[0]) * 0.025)
    step = {"dtick": 1} if ks[1] - ks[0] <= 24 else {}
    figure.update_xaxes(
        title="k, the minimum group size (records)", range=[ks[0] - pad, ks[1] + pad], fixedrange=True, **step
    )
    figure.update_layout(clickmode="event+select", dragmode=False)
    return finish(figure, 500)


def summary_of_curve(rows: pd.DataFrame) -> str:
    """Return in one sentence what the loss curves say."""
    if rows.empty:
        return "Information loss against k"
    best = rows.loc[rows.groupby("k")["information_loss"].idxmin()]
    wins = best["label"].value_counts()
    first = wins.index[0]
    if len(rows["label"].unique()) == 1:
        loss = dict(zip(rows["k"], rows["information_loss"], strict=True))
        low, high = min(loss), max(loss)
        return f"{first} loses {percent(loss[low])} at k = {low}, {percent(loss[high])} at k = {high}"
    return f"{first} loses least at {wins.iloc[0]} of {len(best)} values of k"


def certificate(found: Sequence[tuple[float, float]], proven: Sequence[tuple[float, float]], k: int) -> go.Figure:
    """Draw the IL of the best partition found and the proven floor against the seconds spent, at one k."""
    figure = go.Figure()
    end = max(found[-1][0], proven[-1][0])
    for series, name, color, says in (
        (proven, "proven floor", theme.NEUTRAL, "no partition loses less than"),
        (found, "best found", theme.HIGHLIGHT, "a partition loses"),
    ):
        seconds, values = zip(*series, (end, series[-1][1]), strict=True)
        figure.add_scatter(
            x=seconds,
            y=values,
            name=name,
            mode="lines",
            line={"color": color, "width": 2, "shape": "hv"},
            fill=None if series is proven else "tonexty",
            fillcolor=theme.BAND,
            hovertemplate=f"after %{{x:.1f}} s {says} %{{y:.5~g}} %<extra></extra>",
        )
    low, high = proven[0][1], found[0][1]
    pad = 0.06 * (high - low) or 0.05 * high
    figure.update_xaxes(title="time spent searching (seconds)", fixedrange=True, rangemode="tozero")
    figure.update_yaxes(title=f"IL at k = {k} (%)", range=[max(low - pad, 0), high + pad], fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 340)
