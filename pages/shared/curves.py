"""Measures against k or the number of records, and how a search narrows what lies between found and proven.

Where the pointer rests, all methods at that place are listed, the lowest first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg.optimum import bounds
from microagg.optimum.bounds import Bound
from microagg.optimum.certificate import Certificate
from microagg.studies import sweeps
from microagg.studies.pareto import RULES
from pages.shared import measures, state, strip, theme
from pages.shared.figures import finish, ring
from pages.shared.measures import Measure
from pages.shared.strip import End, name_ends
from pages.shared.text import count, escape_html, gap_in_words, percent

# At most so many methods are listed.
_MOST = 14


# At most so many values of k have a tick each.
_MOST_TICKS = 25

# Of the figures, in pixels: how high they are, and what of that is above and below the axes.
_HEIGHT, _BESIDE = 500, 62

_K = "k, the minimum group size (records)"


class _Line(NamedTuple):
    value: float
    title: str
    variant: str


class Hover:
    """The texts for the rows of a sweep.

    Parameters
    ----------
    rows : DataFrame
        With the columns variant, title and ``name``.
    name : str
        The measure's column.
    across : {"k", "n_records"}
    measure : Measure
    floor : sequence of Bound
    best : mapping
        The lowest IL or Total-IL known at each k, in percent.
    """

    def __init__(
        self,
        rows: pd.DataFrame,
        name: str,
        across: str,
        measure: Measure,
        floor: Sequence[Bound] = (),
        best: Mapping[int, float] | None = None,
    ) -> None:
        self._across, self._measure = across, measure
        self._floor, self._best = {bound.k: bound for bound in floor}, best or {}
        # One pass over all rows: a table of its own for each k takes a second where there are hundreds.
        self._at: dict[int, list[_Line]] = {int(place): [] for place in sorted(rows[across].unique())}
        known = rows.dropna(subset=name).sort_values(name, kind="stable")
        for place, *line in known[[across, name, "title", "variant"]].itertuples(index=False, name=None):
            self._at[int(place)].append(_Line(*line))

    def texts(self) -> dict[int, str]:
        """Return what is said of each place, ascending."""
        return {place: self._of(place) for place in self._at}

    def of(self, row: Mapping[str, Any]) -> str:
        """Return what is said of the point of a row: its place, with its own line in bold and how it was made."""
        sizes = f"{row['n_groups']:,} groups of {row['smallest_group']:,} to {row['largest_group']:,} records"
        if "total_information_loss" in row:
            further = f"Total-IL {row['total_information_loss']:,.1f} on {row['n_records']:,} records"
        else:
            further = escape_html(row["params"])
        return "<br>".join(filter(None, [self._of(row[self._across], row["variant"]), "", sizes, further]))

    def _of(self, place: int, own: str = "") -> str:
        said = [f"<b>k = {place:,}</b>" if self._across == "k" else f"<b>{count(place, 'record')}</b>"]
        lines = self._at[place]
        for line in lines[:_MOST]:
            value = self._measure.digits.format(self._measure.factor * line.value)
            text = f"{value}  {escape_html(line.title)}"
            color = theme.style(line.variant).color
            said.append(f'<span style="color:{color}">■</span> {f"<b>{text}</b>" if line.variant == own else text}')
        if len(lines) > _MOST:
            said.append(f"… and {len(lines) - _MOST} more")
        if place in self._floor:
            least = self._floor[place].information_loss
            said.append(f"■ {percent(least)}  no method can lose less")
            if place in self._best:
                said.append(f"best known {percent(self._best[place])},<br>{gap_in_words(self._best[place], least)}")
        return "<br>".join(said)


def measure_curves(
    rows: pd.DataFrame,
    name: str,
    *,
    against: str = "k",
    floor: Sequence[bounds.Bound] = (),
    proven: Sequence[bounds.Bound] = (),
    best: Mapping[int, float] | None = None,
    limit: float | None = None,
    line: tuple[str, Mapping[int, float]] | None = None,
    selected: tuple[str, int] | None = None,
) -> go.Figure:
    """Draw a measure against k or the number of records, a line for each method; against k, each k can be clicked.

    Parameters
    ----------
    rows : DataFrame
        Rows of a sweep, with the columns variant and title besides.
    name : str
        The measure, of :data:`pages.shared.measures.NUMBERS` or ``CATEGORIES``.
    against : {"k", "records"}
    floor, best
        Of the loss: what no method can get below, and the lowest IL or Total-IL known at each k, in percent, a search's
        among them. The optimum lies between them.
    proven
        Floors that a search has proven at single values of k, which are marked there.
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
    # What a search has found at single values of k is compared with the curves, not one of them.
    methods = rows[rows["variant"] != state.FOUND]
    if name == "excess":
        rows = _above_best(rows, methods)
    figure = go.Figure()
    places = sorted({int(place) for place in rows[across]} | {bound.k for bound in floor})
    hover = Hover(rows, name, across, measure, floor, best)
    if floor:
        _floor(figure, floor, proven, _envelope(methods))
    if line:
        _helper(figure, line[0], list(line[1]), [measure.factor * value for value in line[1].values()], theme.NEUTRAL)
    for variant, part in rows.groupby("variant", sort=False):
        _line(figure, str(variant), part.sort_values(across), across, name, measure, hover)
    if name == "information_loss" and numeric:
        _before_polishing(figure, rows)
    if limit is not None:
        _limit(figure, rows, places, limit)
    at = rows[(rows["variant"] == selected[0]) & (rows["k"] == selected[1])] if selected else rows.iloc[:0]
    if not at.empty:
        ring(figure, at[across], measure.factor * at[name], "chosen")
    up = _measure_axis(figure, rows, name, measure, floor, line)
    along = _across_axis(figure, places, against)
    figure.update_layout(clickmode="event+select", showlegend=False, hovermode="closest")
    figure.update_layout(hoverlabel={"bgcolor": theme.INK, "bordercolor": theme.NEUTRAL, "font": {"color": "white"}})
    if against == "k":
        _below(figure, methods, name, measure, hover, along, selected)
    finish(figure, _HEIGHT)
    _name_lines(figure, rows[rows[across] == places[-1]], places[-1], name, measure, up, floor, line)
    return figure


def _envelope(methods: pd.DataFrame) -> pd.Series:
    """Return the lowest IL of all methods at each k; what serves a larger k serves a smaller one, too."""
    lowest = methods.groupby("k")["information_loss"].min()
    return lowest[::-1].cummin()[::-1]


def _above_best(rows: pd.DataFrame, methods: pd.DataFrame) -> pd.DataFrame:
    lowest = rows["k"].map(methods.groupby("k")["information_loss"].min())
    # Where the lowest loses nothing there is no ratio to show.
    return rows.assign(excess=100 * (rows["information_loss"] / lowest.where(lowest > 0) - 1))


def waiting(ks: Sequence[int]) -> go.Figure:
    """Draw what stands in the place of curves of which there is none yet, with the axis that they will have."""
    figure = go.Figure()
    _across_axis(figure, list(ks), "k")
    figure.add_annotation(
        text="The first curve appears here in a moment.", xref="paper", yref="paper", x=0.5, y=0.5, showarrow=False
    )
    figure.update_yaxes(range=[0, 1], showticklabels=False, title=" ")
    return finish(figure, _HEIGHT)


# --- lines ------------------------------------------------------------------------------------------------------------


def _floor(figure: go.Figure, floor: Sequence[bounds.Bound], proven: Sequence[bounds.Bound], lowest: pd.Series) -> None:
    figure.add_scatter(
        x=[bound.k for bound in floor],
        y=[bound.information_loss for bound in floor],
        name="floor: no method can get below",
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"},
        fill="tozeroy",
        fillcolor=theme.FLOOR_FILL,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=lowest.index,
        y=lowest,
        name="lowest of the methods",
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 0},
        fill="tonexty",
        fillcolor=theme.BAND,
        hoverinfo="skip",
    )
    if proven:
        figure.add_scatter(
            x=[bound.k for bound in proven],
            y=[bound.information_loss for bound in proven],
            name="floor proven by a search",
            mode="markers",
            marker={"symbol": "line-ew", "size": 18, "line": {"width": 3, "color": theme.NEUTRAL}},
            unselected={"marker": {"opacity": 1}},
            customdata=[["", bound.k] for bound in proven],
            hovertext=[
                f"<b>k = {bound.k:,}</b><br>a search has proven that no method<br>can lose less than "
                f"{percent(bound.information_loss)} here"
                for bound in proven
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )


def _helper(figure: go.Figure, name: str, x: list[int], y: list[float], color: str, dash: str = "dot") -> None:
    figure.add_scatter(
        x=x, y=y, name=name, mode="lines", line={"color": color, "width": 1.5, "dash": dash}, hoverinfo="skip"
    )


def _limit(figure: go.Figure, rows: pd.DataFrame, places: Sequence[int], limit: float) -> None:
    """Draw the largest acceptable loss, its words at the end that is farther from the curves."""
    _helper(figure, f"limit {limit:g} %", [places[0], places[-1]], [limit, limit], theme.HIGHLIGHT, "dash")
    free = [(rows.loc[rows["k"] == k, "information_loss"] - limit).abs().min() for k in (places[0], places[-1])]
    at_left = not free[1] > free[0]
    figure.add_annotation(
        text=f"largest acceptable loss, {limit:g} %",
        xref="paper",
        x=0 if at_left else 1,
        xanchor="left" if at_left else "right",
        y=limit,
        yanchor="bottom",
        showarrow=False,
        font={"size": 11},
    )


def _line(
    figure: go.Figure, variant: str, part: pd.DataFrame, across: str, name: str, measure: measures.Measure, hover: Hover
) -> None:
    style = theme.style(variant)
    found = variant == state.FOUND
    points: list[dict[str, Any]] = [{str(key): row[key] for key in row} for row in part.to_dict("records")]
    figure.add_scatter(
        x=part[across],
        y=measure.factor * part[name],
        name=escape_html(part["title"].iloc[0]),
        # A search is for single values of k: a line between them would say something of those where there was none.
        mode="markers+text" if found else "lines+markers",
        text=["found by search"] * len(part) if found else None,
        textposition="middle right",
        line={"color": style.color, "dash": style.dash, "width": 2},
        marker={
            "symbol": style.symbol,
            "size": 9,
            "color": style.color,
            "line": {"width": 2 if style.symbol.endswith("-open") else 0, "color": style.color},
        },
        # A click must not fade the rest: the choice is marked by a ring.
        unselected={"marker": {"opacity": 1}},
        customdata=[[row["variant"], row["k"]] for row in points],
        hovertext=[hover.of(row) for row in points],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _before_polishing(figure: go.Figure, rows: pd.DataFrame) -> None:
    """Draw the IL that polished methods had before, thinly."""
    polished = rows[rows["unpolished"] > rows["information_loss"]]
    for variant, part in polished.groupby("variant", sort=False):
        part = part.sort_values("k")
        figure.add_scatter(
            x=part["k"],
            y=part["unpolished"],
            name="thin: before polishing",
            mode="lines",
            line={"color": theme.style(str(variant)).color, "width": 1, "dash": "dot"},
            hoverinfo="skip",
        )


def _name_lines(
    figure: go.Figure,
    last: pd.DataFrame,
    place: int,
    name: str,
    measure: measures.Measure,
    span: tuple[float, float],
    floor: Sequence[bounds.Bound],
    line: tuple[str, Mapping[int, float]] | None,
) -> None:
    """Write the names of all lines that reach the last place beside their ends."""
    steep = figure.layout.yaxis.type == "log"
    ends = [(row["title"], measure.factor * row[name], row["variant"]) for row in last.to_dict("records")]
    found = [End(title, y, theme.style(variant).color) for title, y, variant in ends if math.isfinite(y)]
    found.sort(key=lambda end: end.y)
    if floor:
        found.append(End("proven floor", floor[-1].information_loss, theme.NEUTRAL))
    if line:
        found.append(End(line[0], measure.factor * list(line[1].values())[-1], theme.NEUTRAL))
    if steep:
        found = [End(end.name, math.log10(end.y), end.color) for end in found if end.y > 0]
    part = strip.CURVES if figure.layout.yaxis.domain else (0, 1)
    x = math.log10(place) if figure.layout.xaxis.type == "log" else place
    room = name_ends(figure, found, x, span, (part[1] - part[0]) * (_HEIGHT - _BESIDE))
    figure.update_layout(margin_r=room)


# --- axes -------------------------------------------------------------------------------------------------------------


def _measure_axis(
    figure: go.Figure,
    rows: pd.DataFrame,
    name: str,
    measure: measures.Measure,
    floor: Sequence[bounds.Bound],
    line: tuple[str, Mapping[int, float]] | None,
) -> tuple[float, float]:
    """Set the axis of the measure, and return its range in its unit."""
    values = measure.factor * rows[name].dropna()
    steep = measure.steep and bool((values > 0).all())
    more = [measure.factor * value for value in line[1].values()] if line else []
    ticks: dict[str, object] = {}
    if name == "excess":
        top = 1.08 * float(values.max(skipna=True)) if len(values) else 1.0
        top = max(top, 0.0) or 1.0
        span = (min(-0.04 * top, 1.08 * float(min(values, default=0))), top)
    elif steep:  # a tick for each power of ten, or for 1, 2 and 5
        seen = [math.log10(value) for value in (*values, *(value for value in more if value > 0))]
        pad = 0.06 * (max(seen) - min(seen)) or 0.1
        span = (min(seen) - pad, max(seen) + pad)
        ticks = {"dtick": 1 if span[1] - span[0] > 1.5 else "D2"}
    else:
        # The acceptable loss may be far above all curves: it does not stretch the axis.
        if "unpolished" in rows and name == "information_loss":
            more += list(rows["unpolished"])
        span = (0.0, 1.06 * max([*values, *more, *(bound.information_loss for bound in floor)], default=1) or 1.0)
    figure.update_layout(
        yaxis={"title": measure.axis, "type": "log" if steep else "linear", "range": list(span), **ticks}
    )
    return span


def _across_axis(figure: go.Figure, places: list[int], against: str) -> tuple[float, float]:
    """Set the axis of k or records, and return its range as values."""
    first, last = places[0], places[-1]
    title = _K if against == "k" else "records"
    ticks = {"tickvals": places, "ticktext": [f"{place:,}" for place in places]} if len(places) <= _MOST_TICKS else {}
    # Values of k are chosen like 2, 5, 10, 20, …: a logarithmic axis gives each its room.
    if against == "k" and last >= 4 * first and len(places) <= (last - first) / 2:
        pad = (last / first) ** 0.03
        span = (first / pad, last * pad)
        figure.update_xaxes(title=title, type="log", range=[math.log10(end) for end in span], **ticks)
        return span
    pad = max(0.4, (last - first) * 0.025)
    figure.update_xaxes(title=title, range=[first - pad, last + pad], **ticks)
    return first - pad, last + pad


def _below(
    figure: go.Figure,
    methods: pd.DataFrame,
    name: str,
    measure: measures.Measure,
    hover: Hover,
    span: tuple[float, float],
    selected: tuple[str, int] | None,
) -> None:
    """Draw what stands below the curves, and have all of it and the plot take clicks."""
    steep = figure.layout.xaxis.type == "log"
    figure.update_layout(yaxis_domain=strip.CURVES)
    titles = dict(zip(methods["variant"], methods["title"], strict=True))
    # Who is above the best by least is who loses least.
    won = sweeps.winners(methods, "information_loss" if name == "excess" else name)
    if len(titles) > 1:
        strip.add_strip(figure, won, titles, span, what=measure.lowest, steep=steep)
    said = hover.texts()
    seen = [rule for rule in RULES if span[0] <= rule.k <= span[1]]
    chosen = selected[1] if selected and span[0] <= selected[1] <= span[1] else None
    strip.add_axis(figure, list(said), seen, chosen, span, steep=steep)
    strip.add_targets(figure, said, span, steep=steep)
    if chosen is not None:
        figure.add_vline(chosen, line={"color": theme.HIGHLIGHT, "width": 1, "dash": "dot"}, layer="below")


# --- a search ---------------------------------------------------------------------------------------------------------


def certificate(own: Certificate) -> go.Figure:
    """Draw by how many percent the best partition found may lie above the optimum, against the seconds spent."""
    course = [(at, found, proven) for at, found, proven in own.course if proven > 0]
    gaps = np.array([100 * (found / proven - 1) for _, found, proven in course])
    # What is closed to within rounding is drawn at the lowest end of the axis, which has no 0.
    least = max(gaps[gaps > 1e-4].min(initial=100) / 3, 1e-4)
    figure = go.Figure(
        go.Scatter(
            x=[at for at, _, _ in course],
            y=np.maximum(gaps, least),
            name="gap",
            mode="lines",
            line={"color": theme.HIGHLIGHT, "width": 2.5, "shape": "hv"},
            customdata=[[percent(found), percent(proven)] for _, found, proven in course],
            hovertemplate="after %{x:.1f} s at most %{y:.3~g} % above the optimum:<br>found %{customdata[0]}, "
            "proven floor %{customdata[1]}<extra></extra>",
        )
    )
    high = max(gaps.max(initial=least), least)
    figure.update_xaxes(title="time spent searching (seconds)", rangemode="tozero")
    span = [math.log10(least) - 0.1, math.log10(high) + 0.15]
    figure.update_yaxes(
        title="above the optimum at most (%)", type="log", range=span, dtick=1 if span[1] - span[0] > 2.2 else "D2"
    )
    return finish(figure, 300)
