"""Charts of a measure against k or the number of records; hovering lists all methods at a place, the lowest first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from microagg.optimum.bounds import Bound
from microagg.studies import sweeps
from microagg.studies.sweeps import RULES, Rule
from pages.shared import measures, state, theme
from pages.shared.figures import HOVER, End, add_line, finish, name_ends, ring
from pages.shared.measures import Measure
from pages.shared.text import count, describe_gap, escape_html, percent

_MOST = 14  # methods in a list
_MOST_TICKS = 25  # with more values of k, not each has a tick
HEIGHT, _MARGIN = 404, 62  # pixels: the height, and the part of it above and below the axes
_K = "k, the minimum group size (records)"
_DOTTED = {"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"}


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
    helper: tuple[str, list[float]] | None  # a line in the unit of the axis: its name, and its values

    def __post_init__(self) -> None:
        self._floors = {bound.k: bound for bound in self.floor}
        # One pass over all rows: a table for each k would take a second for hundreds of k.
        self._at: dict[int, list[_Line]] = {int(x): [] for x in sorted(self.rows[self.across].unique())}
        rows = self.rows.dropna(subset=self.name).sort_values(self.name, kind="stable")
        for x, *line in rows[[self.across, self.name, "title", "variant"]].itertuples(index=False, name=None):
            self._at[int(x)].append(_Line(*line))

    def _hover(self, row: Mapping[str, Any]) -> str:
        """Return the hover text of a point: its place, with its method in bold, and the parameters."""
        smallest, largest = row["smallest_group"], row["largest_group"]
        sizes = f"{row['n_groups']:,} groups of {smallest:,}{f' to {largest:,}' if largest > smallest else ''} records"
        if row["variant"] == state.GUARANTEED:
            sizes, further = "", "groups are merged until each meets the guarantees"
        elif "total_information_loss" in row:
            further = f"Total-IL {row['total_information_loss']:,.1f} on {row['n_records']:,} records"
        else:
            further = escape_html(row["params"])
        return "<br>".join(filter(None, [self._list(row[self.across], row["variant"]), "", sizes, further]))

    def _list(self, x: int, variant: str = "") -> str:
        texts = [f"<b>k = {x:,}</b>" if self.across == "k" else f"<b>{count(x, 'record')}</b>"]
        lines = self._at[x]
        for line in lines[:_MOST]:
            value = self.measure.digits.format(self.measure.factor * line.value)
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
        last = part[self.across].iloc[-1]
        points: list[dict[str, Any]] = [{str(key): row[key] for key in row} for row in part.to_dict("records")]
        self.figure.add_scatter(
            x=part[self.across],
            y=self.measure.factor * part[self.name],
            name=escape_html(part["title"].iloc[0]),
            # A line would also pass through values of k without a search.
            mode="markers+text" if single else "lines+markers",
            # At the last place all names stand, see name_lines.
            text=[""] * (len(part) - 1) + ["best known"] if single and last < max(self._at) else None,
            textposition="middle right",
            cliponaxis=False,
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={"symbol": style.symbol, "size": 9, "color": style.color, "line": edge},
            # A click must not fade the rest: the choice is marked by a ring.
            unselected={"marker": {"opacity": 1}},
            customdata=[[row["variant"], row["k"]] for row in points],
            hovertext=[self._hover(row) for row in points],
            hovertemplate="%{hovertext}<extra></extra>",
        )

    def name_lines(self, place: int, span: tuple[float, float]) -> None:
        """Write the names of all lines that reach the last place beside their ends."""
        last = self.rows[self.rows[self.across] == place]
        steep = self.figure.layout.yaxis.type == "log"
        ends = [(row["title"], self.measure.factor * row[self.name], row["variant"]) for row in last.to_dict("records")]
        labels = [End(title, y, theme.style(variant).color) for title, y, variant in ends if math.isfinite(y)]
        labels.sort(key=lambda end: end.y)
        if self.floor:
            labels.append(End("lower bound", self.floor[-1].information_loss, theme.NEUTRAL))
        if self.helper:
            labels.append(End(self.helper[0], self.helper[1][-1], theme.NEUTRAL))
        if steep:
            labels = [End(end.name, math.log10(end.y), end.color) for end in labels if end.y > 0]
        part = CURVES if self.figure.layout.yaxis.domain else (0, 1)
        x = math.log10(place) if self.figure.layout.xaxis.type == "log" else place
        room = name_ends(self.figure, labels, x, span, (part[1] - part[0]) * (HEIGHT - _MARGIN))
        self.figure.update_layout(margin_r=room)

    def measure_axis(self) -> tuple[float, float]:
        """Set the axis of the measure, and return its range in its unit."""
        values = self.measure.factor * self.rows[self.name].dropna()
        steep = self.measure.steep and bool((values > 0).all())
        more = list(self.helper[1]) if self.helper else []
        ticks: dict[str, object] = {}
        if steep:  # a tick for each power of ten, or for 1, 2 and 5
            seen = [math.log10(value) for value in (*values, *(value for value in more if value > 0))]
            pad = 0.06 * (max(seen) - min(seen)) or 0.1
            span = (min(seen) - pad, max(seen) + pad)
            ticks = {"dtick": 1 if span[1] - span[0] > 1.5 else "D2"}
        else:
            # The acceptable loss may be far above all curves, and does not stretch the axis.
            span = (
                0.0,
                1.06 * max([*values, *more, *(bound.information_loss for bound in self.floor)], default=1) or 1.0,
            )
        self.figure.update_layout(
            yaxis={"title": self.measure.axis, "type": "log" if steep else "linear", "range": list(span), **ticks}
        )
        return span

    def below(self, methods: pd.DataFrame, span: tuple[float, float], selected: tuple[str, int] | None) -> None:
        """Draw the strips below the curves, and make them and the plot take clicks."""
        steep = self.figure.layout.xaxis.type == "log"
        self.figure.update_layout(yaxis_domain=CURVES)
        titles = dict(zip(methods["variant"], methods["title"], strict=True))
        won = sweeps.winners(methods, self.name)
        if len(titles) > 1:
            _add_strip(self.figure, won, titles, span, what=self.measure.lowest, steep=steep)
        texts = {x: self._list(x) for x in self._at}
        seen = [rule for rule in RULES if span[0] <= rule.k <= span[1]]
        chosen = selected[1] if selected and span[0] <= selected[1] <= span[1] else None
        _add_axis(self.figure, list(texts), seen, chosen, span, steep=steep)
        _add_targets(self.figure, texts, span, steep=steep)
        if chosen is not None:
            self.figure.add_vline(chosen, line={"color": theme.HIGHLIGHT, "width": 1, "dash": "dot"}, layer="below")


def measure_curves(
    rows: pd.DataFrame,
    name: str,
    *,
    against: str = "k",
    floor: Sequence[Bound] = (),
    best: Mapping[int, float] | None = None,
    limits: tuple[int | None, float | None] = (None, None),
    line: tuple[str, Mapping[int, float]] | None = None,
    selected: tuple[str, int] | None = None,
) -> go.Figure:
    """Draw a measure against k or the number of records, a line for each method.

    ``rows`` are those of a sweep with variant and title, ``name`` is one of :func:`pages.shared.measures.measures`.
    ``floor`` and ``best`` are lower bounds and lowest known losses by k, in percent; ``limits`` are the smallest k whose
    risk is acceptable and the largest acceptable loss, None for none; ``line`` is a reference line: name, and value at
    each place.
    """
    numeric = "sse" in rows
    measure = measures.measures(numeric=numeric, bounded=True)[name]
    across = "k" if against == "k" else "n_records"
    # Partitions of searches and merged groups are compared with the curves of the methods.
    free = rows[rows["variant"] != state.GUARANTEED]
    methods = free[free["variant"] != state.FOUND]
    figure = go.Figure()
    positions = sorted({int(x) for x in rows[across]} | {bound.k for bound in floor})
    helper = (line[0], [measure.factor * value for value in line[1].values()]) if line else None
    chart = _Chart(figure, rows, name, across, measure, floor, best or {}, helper)
    if floor:
        _floor(figure, floor, free)
    if line and helper:
        add_line(figure, list(line[1]), helper[1], line[0], _DOTTED)
    for variant, part in rows.groupby("variant", sort=False):
        chart.line(str(variant), part.sort_values(across))
    chosen = rows[(rows["variant"] == selected[0]) & (rows["k"] == selected[1])] if selected else rows.iloc[:0]
    if not chosen.empty:
        ring(figure, chosen[across], measure.factor * chosen[name], "chosen")
    up = chart.measure_axis()
    along = _across_axis(figure, positions, against)
    if limits != (None, None):
        _acceptable(figure, along, up, *limits)
    figure.update_layout(clickmode="event+select", showlegend=False, hovermode="closest")
    figure.update_layout(hoverlabel=HOVER)
    if against == "k":
        chart.below(methods, along, selected)
    finish(figure, HEIGHT)
    chart.name_lines(positions[-1], up)
    return figure


def _floor(figure: go.Figure, floor: Sequence[Bound], rows: pd.DataFrame) -> None:
    # A partition for a larger k serves a smaller one, too.
    lowest = rows.groupby("k")["information_loss"].min()[::-1].cummin()[::-1]
    ks, least = [bound.k for bound in floor], [bound.information_loss for bound in floor]
    fill = {"fill": "tozeroy", "fillcolor": theme.FLOOR_FILL}
    add_line(figure, ks, least, "lower bound", _DOTTED, **fill)
    line = {"color": theme.NEUTRAL, "width": 0}
    add_line(figure, lowest.index, lowest, "lowest loss", line, fill="tonexty", fillcolor=theme.BAND)


def _acceptable(
    figure: go.Figure, along: tuple[float, float], up: tuple[float, float], k: int | None, limit: float | None
) -> None:
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
        y0=up[0] / 2 if up[0] > 0 else up[0] - up[1],
        y1=2 * up[1] if limit is None else limit,
        name="acceptable",
        layer="below",
        **theme.ACCEPTABLE,
    )
    figure.add_annotation(
        text="meets the limits" if None not in (k, limit) else "meets the limit",
        xref="paper",
        x=0.995,
        xanchor="right",
        y=up[0],
        yanchor="bottom",
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


# --- below the curves: the lowest method at each k, and the axis with thresholds ----------------------------------------

# The parts of a figure's height: the curves, the lowest method, and the axis with its thresholds.
CURVES, _LOWEST, _AXIS = (0.19, 1.0), (0.105, 0.155), (0.0, 0.09)
_WIDTH_OF_A_LETTER = 0.023  # of a name: its share of the strip on a narrow screen
_MOST_NUMBERS, _NEAREST = 11, 0.08  # of values of k, and the share of the axis between two
_CLEAR = "rgba(0, 0, 0, 0)"


def edges(places: Sequence[int], span: tuple[float, float], *, steep: bool) -> list[float]:
    """Return the ends of the parts of an axis around ``places``, halfway between them on the screen."""
    between = [math.sqrt(a * b) if steep else (a + b) / 2 for a, b in itertools.pairwise(places)]
    return [span[0], *between, span[1]]


def runs(won: Mapping[int, Sequence[str]]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return neighboring places with the same winners: first and last, counted from 0, and the winners."""
    stretches: list[tuple[int, int, tuple[str, ...]]] = []
    for i, names in enumerate(won.values()):
        if stretches and stretches[-1][2] == tuple(names):
            stretches[-1] = (stretches[-1][0], i, tuple(names))
        else:
            stretches.append((i, i, tuple(names)))
    return stretches


def _add_strip(
    figure: go.Figure,
    won: Mapping[int, Sequence[str]],
    titles: Mapping[str, str],
    span: tuple[float, float],
    *,
    what: str,
    steep: bool,
) -> None:
    """Draw the best method at each k in its color. ``what`` is the measure."""
    bounds = edges(list(won), span, steep=steep)
    colors, texts, lefts, widths = [], [], [], []
    for first, end, names in runs(won):
        left, right = bounds[first], bounds[end + 1]
        is_single = len(names) == 1
        text = titles[names[0]] if is_single else "equal"
        colors.append(theme.style(names[0]).color if is_single else theme.NEUTRAL)
        fits = _share(left, right, span, steep=steep) >= _WIDTH_OF_A_LETTER * len(text)
        texts.append(escape_html(text) if fits else "")
        lefts.append(left)
        widths.append(right - left)
    look = {
        "marker": {"color": colors, "line": {"width": 0}},
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "hoverinfo": "skip",
        "showlegend": False,
        "name": what,
        "yaxis": "y2",
        "unselected": {"marker": {"opacity": 1}},
    }
    figure.add_bar(x=lefts, y=[1] * len(lefts), offset=0, width=widths, text=texts, **look)
    look = {"xref": "paper", "xanchor": "right", "yref": "paper", "yanchor": "middle", "showarrow": False}
    figure.add_annotation(text=what, x=0, xshift=-6, y=sum(_LOWEST) / 2, **look)
    figure.update_layout(yaxis2={"domain": _LOWEST, "range": [0, 1], "visible": False, "fixedrange": True})


def numbered(places: Sequence[int], chosen: int | None, span: tuple[float, float], *, steep: bool) -> list[int]:
    """Return some evenly spaced ``places`` and the ``chosen`` one, for numbers on a narrow screen."""
    some = list(places)[:: math.ceil(len(places) / _MOST_NUMBERS)]
    if chosen is None:
        return some
    far = [k for k in some if _share(min(k, chosen), max(k, chosen), span, steep=steep) >= _NEAREST]
    return sorted({chosen, *far})


def _share(left: float, right: float, span: tuple[float, float], *, steep: bool) -> float:
    if steep:
        return math.log(right / left) / math.log(span[1] / span[0])
    return (right - left) / (span[1] - span[0])


def _add_axis(
    figure: go.Figure,
    places: Sequence[int],
    rules: Sequence[Rule],
    chosen: int | None,
    span: tuple[float, float],
    *,
    steep: bool,
) -> None:
    """Write the numbers of an axis, the ``rules`` and the chosen k into a clickable part of the figure."""
    numbers = numbered(places, chosen, span, steep=steep)
    texts = [f"<b>{k:,}</b>" if k == chosen else f"{k:,}" for k in numbers]
    look: dict[str, Any] = {"mode": "text", "textfont": {"size": 12}, "unselected": {"textfont": {"color": None}}}
    look |= {"yaxis": "y3", "hoverinfo": "skip", "cliponaxis": False}
    figure.add_scatter(x=numbers, y=[0.3] * len(numbers), name="numbers", text=texts, **look)
    look = {"yaxis": "y3", "mode": "markers", "unselected": {"marker": {"opacity": 1}}}
    if rules:
        figure.add_scatter(
            x=[rule.k for rule in rules],
            y=[0.82] * len(rules),
            marker={"symbol": "triangle-up", "size": 10, "color": theme.NEUTRAL},
            name="rules",
            customdata=[["", rule.k] for rule in rules],
            hovertext=[
                f"<b>k = {rule.k}, {escape_html(rule.authority)}</b>: {escape_html(rule.text)}<br>Check your own rules"
                for rule in rules
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            **look,
        )
    if chosen is not None:
        marker = {"symbol": "circle-open", "size": 24, "color": theme.HIGHLIGHT, "line": {"width": 2}}
        look |= {"marker": marker, "hoverinfo": "skip", "cliponaxis": False}
        figure.add_scatter(x=[chosen], y=[0.3], name="chosen k", **look)
    figure.update_layout(yaxis3={"domain": _AXIS, "range": [0, 1], "visible": False, "fixedrange": True})
    figure.update_xaxes(anchor="y3", showticklabels=False, ticks="", showline=False, zeroline=False)


def _add_targets(figure: go.Figure, texts: Mapping[int, str], span: tuple[float, float], *, steep: bool) -> None:
    """Make each k clickable in the plot, in the strip and on the axis, with hover ``texts``."""
    ks = list(texts)
    bounds = edges(ks, span, steep=steep)
    figure.update_layout(yaxis4={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})
    # A bar has its label at its end: those of the plot end halfway up, and overlap, as an end takes no click.
    parts = [("y4", 0.0, 0.52), ("y4", 1.0, -0.52), ("y3", 0.0, 1.0)]
    if "yaxis2" in figure.layout:
        parts.append(("y2", 0.0, 1.0))
    offsets = [left - k for left, k in zip(bounds, ks, strict=False)]
    widths = [right - left for left, right in itertools.pairwise(bounds)]
    look = {"marker": {"color": _CLEAR, "line": {"width": 0}}, "unselected": {"marker": {"opacity": 1}}}
    hover: dict[str, Any] = {"hovertext": list(texts.values()), "hovertemplate": "%{hovertext}<extra></extra>"}
    hover |= {"customdata": [["", k] for k in ks], "hoverlabel": HOVER, "name": "k", "showlegend": False}
    for axis, base, height in parts:
        figure.add_bar(x=ks, y=[height] * len(ks), base=base, offset=offsets, width=widths, yaxis=axis, **look, **hover)
