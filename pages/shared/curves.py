"""Charts of a measure against k or the number of records; hovering lists all methods at a place, the lowest first."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg.optimum.bounds import Bound
from microagg.studies.sweeps import RULES
from pages.shared import measures, state, theme
from pages.shared.figures import Axis, add_line, finish, ring
from pages.shared.measures import Measure
from pages.shared.text import count, describe_gap, escape_html, percent

_MOST = 14  # methods in a list
_WIDEST = 18  # characters of a line of a name beside the plot
_LINE, _AROUND = 15, 70  # pixels: the height of such a line, and that of what is above and below a plot
_MOST_TICKS = 12  # with more values of k, not each has a tick
HEIGHT = 420  # pixels
_K = "k, the minimum group size (records)"


class _Line(NamedTuple):
    value: float
    title: str
    variant: str


@dataclass
class _Chart:
    """A chart of a measure, as :func:`measure_curves` draws it."""

    figure: go.Figure
    rows: pd.DataFrame
    name: str
    across: str  # the column: k or n_records
    measure: Measure
    floor: Sequence[Bound]
    best: Mapping[int, float]
    helper: Sequence[float]  # the values of a reference line, in the unit of the axis

    def __post_init__(self) -> None:
        self._floors = {bound.k: bound for bound in self.floor}
        # One pass over all rows: a table for each k would take a second for hundreds of k.
        self._at: dict[int, list[_Line]] = {int(x): [] for x in sorted(self.rows[self.across].unique())}
        rows = self.rows.dropna(subset=self.name).sort_values(self.name, kind="stable")
        for x, *line in rows[[self.across, self.name, "title", "variant"]].itertuples(index=False, name=None):
            self._at[int(x)].append(_Line(*line))

    def _list(self, x: int, variant: str = "") -> str:
        texts = [f"<b>k = {x:,}</b>" if self.across == "k" else f"<b>{count(x, 'record')}</b>"]
        lines = self._at[x]
        for line in lines[:_MOST]:
            value = self.measure.text(self.measure.factor * line.value)
            text = f"{value}  {escape_html(line.title)}"
            color = theme.style(line.variant).color
            texts.append(
                f'<span style="color:{color}">■</span> {f"<b>{text}</b>" if line.variant == variant else text}'
            )
        if len(lines) > _MOST:
            texts.append(f"… and {len(lines) - _MOST} more")
        if x in self._floors:
            bound = self._floors[x].information_loss
            texts.append(f"■ {percent(bound)}  lower bound")
            if x in self.best:
                texts.append(f"best known {percent(self.best[x])}, {describe_gap(self.best[x], bound)}")
        return "<br>".join(texts)

    def line(self, variant: str, part: pd.DataFrame) -> None:
        """Draw the line of a variant, or the marks of a search."""
        style = theme.style(variant)
        edge = {"width": 2 if style.symbol.endswith("-open") else 0, "color": style.color}
        single = variant == state.FOUND and len(part) < len(self._at)
        self.figure.add_scatter(
            x=part[self.across],
            y=self.measure.factor * part[self.name],
            name=escape_html(part["title"].iloc[0]),
            # A line would also pass through values of k without a search.
            mode="markers" if single else "lines+markers",
            cliponaxis=False,
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={"symbol": style.symbol, "size": 9, "color": style.color, "line": edge},
            # A click must not fade the rest: the choice is marked by a ring.
            unselected={"marker": {"opacity": 1}},
            customdata=[[variant, k] for k in part["k"]],
            hovertext=[self._list(x, variant) for x in part[self.across]],
            hovertemplate="%{hovertext}<extra></extra>",
        )

    def measure_axis(self) -> Axis:
        """Set the axis of the measure, and return it."""
        values = self.measure.factor * self.rows[self.name].dropna()
        # The acceptable loss may be far above all curves, and does not stretch the axis.
        drawn = np.array([*values, *self.helper, *(bound.information_loss for bound in self.floor)] or [1.0])
        axis = Axis.of(drawn, steep=self.measure.steep, from_zero=True)
        self.figure.update_yaxes(title=self.measure.axis, **axis.layout())
        return axis

    def targets(self, span: tuple[float, float], *, rules: bool) -> None:
        """Make each place of the plot choose the nearest k; with ``rules`` mark the thresholds used in practice."""
        ks = list(self._at)
        bounds = edges(ks, span, steep=self.figure.layout.xaxis.type == "log")
        axis: dict[str, Any] = {"yaxis": "y2", "showlegend": False}
        look = {"marker": {"color": "rgba(0, 0, 0, 0)", "line": {"width": 0}}, "unselected": {"marker": {"opacity": 1}}}
        lists = [self._list(k) for k in ks]
        # A bar has its label at its end: they end halfway up, and overlap, as an end takes no click.
        for base, height in ((0.0, 0.52), (1.0, -0.52)):
            self.figure.add_bar(
                x=ks,
                y=[height] * len(ks),
                base=base,
                offset=[left - k for left, k in zip(bounds, ks, strict=False)],
                width=[right - left for left, right in itertools.pairwise(bounds)],
                name="k",
                customdata=[["", k] for k in ks],
                hovertext=lists,
                hovertemplate="%{hovertext}<extra></extra>",
                **axis,
                **look,
            )
        if marked := [rule for rule in RULES if rules and span[0] <= rule.k <= span[1]]:
            self.figure.add_scatter(
                x=[rule.k for rule in marked],
                y=[0.02] * len(marked),
                mode="markers",
                marker={"symbol": "triangle-up", "size": 10, "color": theme.NEUTRAL},
                name="rules",
                customdata=[["", rule.k] for rule in marked],
                hovertext=[
                    f"<b>k = {rule.k}, {escape_html(rule.authority)}</b>: {escape_html(rule.text)}" for rule in marked
                ],
                hovertemplate="%{hovertext}<br>Check your own rules<extra></extra>",
                unselected={"marker": {"opacity": 1}},
                **axis,
            )
        self.figure.update_layout(yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})


def measure_curves(
    rows: pd.DataFrame,
    name: str,
    *,
    against: str = "k",
    floor: Sequence[Bound] = (),
    best: Mapping[int, float] | None = None,
    limits: tuple[int | None, float | None] | None = None,
    line: tuple[str, Mapping[int, float]] | None = None,
    selected: tuple[str, int] | None = None,
    height: int = HEIGHT,
) -> go.Figure:
    """Draw a measure against k or the number of records, a line for each method.

    ``rows`` are those of a sweep with variant and title, ``name`` is one of :func:`pages.shared.measures.measures`.
    ``floor`` and ``best`` are lower bounds and lowest known losses by k, in percent; ``limits`` are the smallest k whose
    risk is acceptable and the largest acceptable loss, None for none: with them, thresholds used in practice are marked,
    too. ``line`` is a reference line: name, and value at each place.
    """
    numeric = "sse" in rows
    measure = measures.measures(numeric=numeric, bounded=True)[name]
    across = "k" if against == "k" else "n_records"
    figure = go.Figure()
    positions = sorted({int(x) for x in rows[across]} | {bound.k for bound in floor})
    helper = [measure.factor * value for value in line[1].values()] if line else []
    chart = _Chart(figure, rows, name, across, measure, floor, best or {}, helper)
    if floor:
        _floor(figure, floor, rows)
    if line:
        add_line(figure, list(line[1]), helper, line[0], theme.DOTTED)
    for variant, part in rows.groupby("variant", sort=False):
        chart.line(str(variant), part.sort_values(across))
    chosen = rows[(rows["variant"] == selected[0]) & (rows["k"] == selected[1])] if selected else rows.iloc[:0]
    if selected and not chosen.empty:
        ring(figure, chosen[across], measure.factor * chosen[name], "chosen", theme.style(selected[0]).color)
    up = chart.measure_axis()
    along = _across_axis(figure, positions, against)
    lines = [trace for trace in figure.data if trace.name not in ("lowest loss", "chosen")]
    if limits and limits != (None, None):
        _acceptable(figure, along, up, *limits)
    if against == "k":
        chart.targets(along, rules=limits is not None)
        if selected:
            figure.add_vline(selected[1], line=theme.DOTTED, layer="below", name="chosen k")
    figure.update_layout(clickmode="event+select")
    finish(figure, height)
    _name_lines(figure, lines, along[1], up)
    return figure


def _name_lines(figure: go.Figure, lines: Sequence[go.Scatter], end: float, up: Axis) -> None:
    """Write the names of ``lines`` to the right of the plot, each at the height of its line's end and joined to it."""
    ends = sorted(
        (float(y), x, textwrap.wrap(line.name, _WIDEST, break_on_hyphens=False), line.line.color)
        for line in lines
        for x, y in [(x, y) for x, y in zip(line.x, line.y, strict=True) if not math.isnan(y)][-1:]
    )
    if not ends:
        return
    names = [name for *_, name, _ in ends]
    gap = _LINE * max(map(len, names)) / (figure.layout.height - _AROUND)
    if gap * len(names) > 1:
        figure.update_layout(showlegend=True)
        return
    (low, high), last = up.range(), max(x for _, x, *_ in ends)
    across = math.log10 if figure.layout.xaxis.type == "log" else float
    for (y, x, name, color), share in zip(ends, spread([up.share(y) for y, *_ in ends], gap), strict=True):
        figure.add_annotation(
            text=f'<span style="color:{color}">■</span> {"<br>".join(name)}',
            align="left",
            x=across(x if x == last else end),
            y=up.coordinate(y),
            ax=across(end),
            ay=low + share * (high - low),
            axref="x",
            ayref="y",
            xanchor="left",
            arrowhead=0,
            arrowcolor=color,
            font={"size": 12},
        )
    figure.update_layout(showlegend=False, margin_r=24 + 7 * max(map(len, itertools.chain(*names))))


def spread(places: Sequence[float], gap: float) -> np.ndarray:
    """Return ascending ``places`` between 0 and 1, moved as little as need be to be ``gap`` apart."""
    n = len(places)
    steps = gap * np.arange(n)
    # Without the gaps, the places must not descend: isotonic regression, without importing scikit-learn for it.
    free = np.asarray(places) - steps
    level = [max(min(free[i : j + 1].mean() for j in range(at, n)) for i in range(at + 1)) for at in range(n)]
    return np.clip(level, 0, 1 - steps[-1]) + steps


def _floor(figure: go.Figure, floor: Sequence[Bound], rows: pd.DataFrame) -> None:
    # A partition for a larger k serves a smaller one, too.
    lowest = rows.groupby("k")["information_loss"].min()[::-1].cummin()[::-1]
    ks, least = [bound.k for bound in floor], [bound.information_loss for bound in floor]
    fill = {"fill": "tozeroy", "fillcolor": theme.FLOOR_FILL}
    add_line(figure, ks, least, "lower bound", theme.DOTTED, **fill)
    line = {"color": theme.NEUTRAL, "width": 0}
    band = {"fill": "tonexty", "fillcolor": theme.BAND, "showlegend": False}
    add_line(figure, lowest.index, lowest, "lowest loss", line, **band)


def _acceptable(figure: go.Figure, along: tuple[float, float], up: Axis, k: int | None, limit: float | None) -> None:
    """Shade what meets the limits: values of k from ``k`` on, and losses up to ``limit``."""
    steep = figure.layout.xaxis.type == "log"
    left = along[0] if k is None else max(k - (0 if steep else 0.4), along[0])
    if left >= along[1]:
        return
    # Beyond the axes where there is no limit, so that the border is seen at the limits only.
    figure.add_shape(
        type="rect",
        x0=left,
        x1=2 * along[1],
        y0=up.low - up.high,
        y1=2 * up.high if limit is None else limit,
        name="acceptable",
        layer="below",
        **theme.ACCEPTABLE,
    )
    figure.add_annotation(
        text="meets the limits" if None not in (k, limit) else "meets the limit",
        xref="paper",
        x=0.995,
        xanchor="right",
        y=up.low,
        yanchor="bottom",
        yshift=12,  # above the marks of the thresholds used in practice
        showarrow=False,
        font={"size": 12},
    )


def _across_axis(figure: go.Figure, positions: list[int], against: str) -> tuple[float, float]:
    """Set the axis of k or records, and return its range as values."""
    first, last = positions[0], positions[-1]
    title = _K if against == "k" else "records"
    ticks = {"tickvals": positions, "ticktext": [f"{x:,}" for x in positions]} if len(positions) <= _MOST_TICKS else {}
    # For values such as 2, 5, 10, 20, … a logarithmic axis gives each its room.
    if against == "k" and last >= 4 * first and len(positions) <= (last - first) / 2:
        pad = (last / first) ** 0.03
        span = (first / pad, last * pad)
        figure.update_xaxes(title=title, type="log", range=[math.log10(end) for end in span], **ticks)
        return span
    pad = max(0.4, (last - first) * 0.025)
    figure.update_xaxes(title=title, range=[first - pad, last + pad], **ticks)
    return first - pad, last + pad


def edges(places: Sequence[int], span: tuple[float, float], *, steep: bool) -> list[float]:
    """Return the ends of the parts of an axis around ``places``, halfway between them on the screen."""
    between = [math.sqrt(a * b) if steep else (a + b) / 2 for a, b in itertools.pairwise(places)]
    return [span[0], *between, span[1]]
