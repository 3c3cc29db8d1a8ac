"""Measures against k or the number of records, and what a search finds and proves in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg.certificate import Certificate
from microagg.metrics import bounds
from pages.ui.charts import measures, theme
from pages.ui.charts.layout import finish, ring
from pages.ui.text import escape_html, gap_in_words, percent

# At most so many values of k have a tick each.
_MOST_TICKS = 25


def measure_curves(
    rows: pd.DataFrame,
    name: str,
    *,
    against: str = "k",
    floor: Sequence[bounds.Bound] = (),
    best: Mapping[int, float] | None = None,
    limit: float | None = None,
    line: tuple[str, Mapping[int, float]] | None = None,
    selected: tuple[str, int] | None = None,
) -> go.Figure:
    """Draw a measure against k or the number of records, a line for each method.

    Parameters
    ----------
    rows : DataFrame
        Rows of a sweep, with the columns variant and title besides.
    name : str
        The measure, of :data:`pages.ui.charts.measures.NUMBERS` or ``CATEGORIES``.
    against : {"k", "records"}
    floor, best
        Of the loss of numbers: what no method can get below, and the lowest IL known at each k, in percent. The optimum
        lies between them.
    limit
        The largest acceptable information loss, in percent.
    line
        A line that belongs to the measure, in the unit of the column: its name, and its value at each place.
    selected
        The chosen variant and k.
    """
    numeric = "sse" in rows
    measure = measures.measures(numeric=numeric)[name]
    across = "k" if against == "k" else "n_records"
    if name == "excess":
        lowest = rows.groupby("k")["information_loss"].transform("min")
        # Where the lowest loses nothing there is no ratio to show.
        rows = rows.assign(excess=100 * (rows["information_loss"] / lowest.where(lowest > 0) - 1))
    figure = go.Figure()
    places = sorted({int(place) for place in rows[across]} | {bound.k for bound in floor})
    if floor:
        _floor(figure, floor, best or {})
    if line:
        _helper(figure, line[0], list(line[1]), [measure.factor * value for value in line[1].values()], theme.NEUTRAL)
    for variant, part in rows.groupby("variant", sort=False):
        _line(figure, str(variant), part.sort_values(across), across, name, measure)
    if name == "information_loss" and numeric:
        _before_polishing(figure, rows)
    if limit is not None:
        says = f"largest acceptable loss, {limit:g} %"
        _helper(figure, says, [places[0], places[-1]], [limit, limit], theme.HIGHLIGHT, "dash")
    at = rows[(rows["variant"] == selected[0]) & (rows["k"] == selected[1])] if selected else rows.iloc[:0]
    if not at.empty:
        ring(figure, at[across], measure.factor * at[name], "chosen")
    _measure_axis(figure, rows, name, measure, floor)
    _across_axis(figure, places, against)
    figure.update_layout(clickmode="event+select")
    return finish(figure, 500)


def _floor(figure: go.Figure, floor: Sequence[bounds.Bound], best: Mapping[int, float]) -> None:
    known = [
        f"<br>best known {percent(best[bound.k])}, {gap_in_words(best[bound.k], bound.information_loss)}"
        if bound.k in best
        else ""
        for bound in floor
    ]
    figure.add_scatter(
        x=[bound.k for bound in floor],
        y=[bound.information_loss for bound in floor],
        name="floor: no method can get below",
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"},
        fill="tozeroy",
        fillcolor=theme.FLOOR_FILL,
        customdata=known,
        hovertemplate="k = %{x}: no method can lose less than %{y:.4~g} %%{customdata}<extra></extra>",
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
            # It runs through points of methods, and would take the clicks meant for them.
            hoverinfo="skip",
        )


def _helper(figure: go.Figure, name: str, x: list[int], y: list[float], color: str, dash: str = "dot") -> None:
    line = {"color": color, "width": 1.3, "dash": dash}
    figure.add_scatter(x=x, y=y, name=name, mode="lines", line=line, hoverinfo="skip")


def _line(
    figure: go.Figure, variant: str, part: pd.DataFrame, across: str, name: str, measure: measures.Measure
) -> None:
    style = theme.style(variant)
    details = [
        f"{row['n_groups']:,} groups of {row['smallest_group']:,} to {row['largest_group']:,} records<br>"
        + (
            f"Total-IL {row['total_information_loss']:,.1f} on {row['n_records']:,} records"
            if "total_information_loss" in row
            else escape_html(row["params"])
        )
        for row in part.to_dict("records")
    ]
    figure.add_scatter(
        x=part[across],
        y=measure.factor * part[name],
        name=escape_html(part["title"].iloc[0]),
        mode="lines+markers",
        line={"color": style.color, "dash": style.dash, "width": 2},
        marker={
            "symbol": style.symbol,
            "size": 9,
            "color": style.color,
            "line": {"width": 2 if style.symbol.endswith("-open") else 0, "color": style.color},
        },
        # A click must not fade the rest: the choice is marked by a ring.
        unselected={"marker": {"opacity": 1}},
        customdata=np.stack([part["variant"], part["k"], np.array(details, dtype=object)], axis=1),
        hovertemplate=f"<b>%{{fullData.name}}, k = %{{customdata[1]}}</b><br>{measure.hover}<br>%{{customdata[2]}}"
        "<extra></extra>",
    )


def _before_polishing(figure: go.Figure, rows: pd.DataFrame) -> None:
    """Draw the IL that polished methods had before, thinly."""
    polished = rows[rows["unpolished"] > rows["information_loss"]]
    for place, (variant, part) in enumerate(polished.groupby("variant", sort=False)):
        part = part.sort_values("k")
        figure.add_scatter(
            x=part["k"],
            y=part["unpolished"],
            name="thin: before polishing",
            legendgroup="before",
            showlegend=place == 0,
            mode="lines",
            line={"color": theme.style(str(variant)).color, "width": 1, "dash": "dot"},
            customdata=100 * (1 - part["information_loss"] / part["unpolished"]),
            hovertemplate="k = %{x}, before polishing: %{y:.4~g} % lost; polishing saves %{customdata:.3g} % of it"
            "<extra></extra>",
        )


def _measure_axis(
    figure: go.Figure, rows: pd.DataFrame, name: str, measure: measures.Measure, floor: Sequence[bounds.Bound]
) -> None:
    steep = measure.steep and bool((rows[name] > 0).all())
    span: dict[str, object] = {"rangemode": "normal" if steep else "tozero"}
    if name == "information_loss":
        # The acceptable loss may be far above all curves: it does not stretch the axis.
        seen = rows["unpolished"] if "unpolished" in rows else rows[name]
        span = {"range": [0, 1.06 * max([*seen, *(bound.information_loss for bound in floor)]) or 1]}
    elif name == "excess":
        top = 1.08 * float(np.nanmax(rows[name], initial=0)) or 1
        span = {"range": [-0.04 * top, top]}
    elif steep:  # a tick for each power of ten, or for 1, 2 and 5
        span["dtick"] = 1 if rows[name].max() > 30 * rows[name].min() else "D2"
    figure.update_yaxes(title=measure.axis, type="log" if steep else "linear", **span)


def _across_axis(figure: go.Figure, places: list[int], against: str) -> None:
    first, last = places[0], places[-1]
    title = "k, the minimum group size (records)" if against == "k" else "records"
    ticks = {"tickvals": places, "ticktext": [f"{place:,}" for place in places]} if len(places) <= _MOST_TICKS else {}
    # Values of k are chosen like 2, 5, 10, 20, …: a logarithmic axis gives each its room.
    if against == "k" and last >= 4 * first and len(places) <= (last - first) / 2:
        figure.update_xaxes(title=title, type="log", **ticks)
        return
    pad = max(0.4, (last - first) * 0.025)
    figure.update_xaxes(title=title, range=[first - pad, last + pad], **ticks)


def certificate(own: Certificate) -> go.Figure:
    """Draw the IL of the best partition found and the proven floor against the seconds spent."""
    figure = go.Figure()
    for series, name, color, says in (
        (own.proven, "proven floor", theme.NEUTRAL, "no partition loses less than"),
        (own.found, "best found", theme.HIGHLIGHT, "a partition loses"),
    ):
        seconds, values = zip(*series, (own.seconds, series[-1][1]), strict=True)
        figure.add_scatter(
            x=seconds,
            y=values,
            name=name,
            mode="lines",
            line={"color": color, "width": 2, "shape": "hv"},
            fill=None if series is own.proven else "tonexty",
            fillcolor=theme.BAND,
            hovertemplate=f"after %{{x:.1f}} s {says} %{{y:.5~g}} %<extra></extra>",
        )
    low, high = own.proven[0][1], own.found[0][1]
    pad = 0.06 * (high - low) or 0.05 * high
    figure.update_xaxes(title="time spent searching (seconds)", rangemode="tozero")
    figure.update_yaxes(title=f"IL at k = {own.k} (%)", range=[max(low - pad, 0), high + pad])
    return finish(figure, 340)
