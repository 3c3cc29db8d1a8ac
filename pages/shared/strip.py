"""The surroundings of curves against k: the lowest method at each k, thresholds and axis below, names beside."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy.optimize import isotonic_regression

from microagg.studies.pareto import Rule
from pages.shared import theme
from pages.shared.text import escape_html

#: The parts of a figure's height: the curves, the lowest method, and the axis with its thresholds.
CURVES, _LOWEST, _AXIS = (0.19, 1.0), (0.105, 0.155), (0.0, 0.09)
_WIDTH_OF_A_LETTER = 0.023  # of a name: its share of the strip on a narrow screen
_MOST_NUMBERS, _NEAREST = 11, 0.08  # of values of k, and the share of the axis between two
_CLEAR = "rgba(0, 0, 0, 0)"
HOVER = {"bgcolor": theme.INK, "bordercolor": theme.NEUTRAL, "font": {"color": "white"}}
_SIZE, _LETTER, _LINE, _LEAST = 12, 6.6, 15.0, 12.0  # pixels: size and width of a letter, height of a line, the least
_OFF, _MOST_LETTERS = 16, 16  # pixels from the end of a line to its name, and its letters in a row


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


def add_strip(
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


def add_axis(
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


def add_targets(figure: go.Figure, texts: Mapping[int, str], span: tuple[float, float], *, steep: bool) -> None:
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


@dataclass(frozen=True)
class End:
    name: str
    y: float  # where the line ends, in the unit of the axis: a logarithm where that is logarithmic
    color: str
    x: float | None = None  # if the line does not end where all do


def spread_out(targets: Sequence[float], gap: float, room: float) -> list[float]:
    """Return positions from 0 to ``room`` near ``targets``, with distances of at least ``gap`` if possible."""
    if not targets:
        return []
    gap = min(gap, room / max(len(targets) - 1, 1))
    order = np.argsort(targets, kind="stable")
    steps = gap * np.arange(len(targets))
    # Minus the steps between them, places may be equal but not fall.
    placed = (
        np.clip(isotonic_regression(np.asarray(targets, dtype=float)[order] - steps).x, 0, room - steps[-1]) + steps
    )
    positions = np.empty(len(targets))
    positions[order] = placed
    return [float(position) for position in positions]


def name_ends(figure: go.Figure, ends: Sequence[End], x: float, span: tuple[float, float], height: float) -> int:
    """Write each line's name next to its end, and return the width in pixels. ``x`` and ``span`` are in data units."""
    low, high = span
    labeled = ends[: int(height / _LEAST)]
    rows = [textwrap.wrap(end.name, _MOST_LETTERS) or [""] for end in labeled]
    natural = [(end.y - low) / (high - low) * height for end in labeled]
    gap = _LINE * max((len(row) for row in rows), default=1)
    for end, row, target, position in zip(labeled, rows, natural, spread_out(natural, gap, height), strict=True):
        elsewhere = (
            {} if end.x is None else {"axref": "x", "ax": x, "ayref": "y", "ay": low + position / height * (high - low)}
        )
        figure.add_annotation(
            x=x if end.x is None else end.x,
            y=end.y,
            **{"ax": _OFF, "ay": target - position, **elsewhere},
            text="<br>".join(escape_html(words) for words in row),
            font={"size": _SIZE},
            align="left",
            xanchor="left",
            standoff=6,
            arrowhead=0,
            arrowwidth=1.5,
            arrowcolor=end.color,
        )
    return round(_OFF + 8 + _LETTER * max((len(words) for row in rows for words in row), default=0))
