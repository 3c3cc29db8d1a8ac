"""Risk against loss: a point for each run, those that no other surpasses, what is acceptable, and where none can be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg.studies import pareto
from pages.shared import state, theme
from pages.shared.figures import finish, ring
from pages.shared.measures import RISKS, Measure, losses
from pages.shared.strip import End, name_ends
from pages.shared.text import count, escape_html, percent

# Of the figure, in pixels: how high it is, what of that is below the axis, and how wide its plot is at least.
_HEIGHT, _BESIDE, _NARROW = 500, 62, 270

# An axis is logarithmic where its largest value is at least so many times the smallest.
_STEEP = 4

# The values of k that are written first, and how far apart two of them are at least, in pixels across and upward.
_ROUND = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_APART = (24, 15)

# How much room an axis has before its values and beyond them, as a share of what lies between.
_BEFORE, _BEYOND = 0.1, 0.06

_FADED = 0.45

_ACCEPTABLE = "rgba(0, 158, 115, 0.13)"

# What is written at a logarithmic axis: these, times powers of ten, if there are few decades.
_TICKS = (1, 2, 3, 5)


@dataclass(frozen=True)
class Limits:
    """What lies beside the runs on a map; risks in percent, losses in the unit of their axis."""

    risk: float  # the largest acceptable one
    loss: float | None  # likewise; None where there is none for the loss that is shown
    floors: Mapping[int, float] = field(
        default_factory=dict
    )  # below which no method gets at each k, if the risk is 1/k
    k: int = 0  # the chosen one, for which are:
    least: float | None = None  # below which no method gets; None where the floors say it, or nothing is proven
    cap: float | None = None  # the risk that no method can exceed; None where that does not follow from k


@dataclass(frozen=True)
class _Axis:
    """An axis: its values from ``low`` to ``high``, logarithmic if ``steep``."""

    low: float
    high: float
    steep: bool

    @classmethod
    def of(cls, values: np.ndarray, *, steep: bool, from_zero: bool) -> _Axis:
        """Return one for ``values``, with room for what is written to the left of or below a point."""
        low, high = float(values.min()), float(values.max())
        if steep and low > 0 and high >= _STEEP * low:
            return cls(low / (high / low) ** _BEFORE, high * (high / low) ** _BEYOND, steep=True)
        span = max(high - low, 0.5 * abs(high)) or 1.0
        return cls(0.0 if from_zero else low - _BEFORE * span, high + _BEYOND * span, steep=False)

    def coordinate(self, value: float) -> float:
        """Return a value as annotations have it: its logarithm, if the axis is logarithmic."""
        return math.log10(value) if self.steep else value

    def range(self) -> tuple[float, float]:
        return self.coordinate(self.low), self.coordinate(self.high)

    def share(self, value: float) -> float:
        """Return at which share of the axis a value stands."""
        low, high = self.range()
        return (self.coordinate(value) - low) / (high - low)

    def within(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def risk_map(
    rows: pd.DataFrame, risk: str, loss: str, limits: Limits, selected: tuple[str, int] | None = None
) -> go.Figure:
    """Draw a loss against a risk: a point for each run, a thin line for each method; points can be clicked.

    ``rows`` are those of a sweep with the columns variant and title, and ``risk`` and ``loss``, which are of
    :data:`pages.shared.measures.RISKS` and :func:`pages.shared.measures.losses`; those without one are left out.
    ``selected`` are the chosen variant and k.
    """
    of_risk, of_loss = RISKS[risk], losses(numeric="sse" in rows)[loss]
    known = rows.dropna(subset=[risk, loss]).sort_values(["variant", "k"], kind="stable")
    known = known.assign(x=of_risk.factor * known[risk], y=of_loss.factor * known[loss])
    known["front"] = pareto.front(known["x"], known["y"])
    across = _Axis.of(known["x"].to_numpy(float), steep=of_risk.steep, from_zero=False)
    floors = [floor for floor in (*limits.floors.values(), limits.least) if floor]
    heights = np.array([*known["y"], *(floors if of_loss.steep else ())], dtype=float)
    upward = _Axis.of(heights, steep=of_loss.steep, from_zero=not of_loss.steep)
    figure = go.Figure()
    _acceptable(figure, limits, known, across, upward)
    _impossible(figure, limits, across, upward)
    risks = [(name, measure) for name, measure in RISKS.items() if name in known]
    known["said"] = [_says(row, risks, loss, of_loss) for _, row in known.iterrows()]
    for variant, part in known.groupby("variant", sort=False):
        # What is known at single values of k only is no line.
        _method(figure, str(variant), part, single=variant == state.FOUND and len(part) < known["k"].nunique())
    _front(figure, known[known["front"]].sort_values(["x", "y"]), across, upward)
    at = known[(known["variant"] == selected[0]) & (known["k"] == selected[1])] if selected else known.iloc[:0]
    if not at.empty:
        ring(figure, at["x"], at["y"], "chosen")
    figure.update_xaxes(title=of_risk.axis, **_scale(across))
    figure.update_yaxes(title=of_loss.axis, **_scale(upward))
    figure.update_layout(clickmode="event+select", showlegend=False, hovermode="closest")
    finish(figure, _HEIGHT)
    figure.update_layout(
        hoverlabel={"bgcolor": theme.INK, "bordercolor": theme.NEUTRAL, "font": {"color": "white"}},
        margin_r=_name_lines(figure, known, across, upward),
    )
    return figure


def waiting(risk: str, loss: str, *, numeric: bool) -> go.Figure:
    """Draw what stands in the place of a map that has no point yet."""
    figure = go.Figure()
    figure.add_annotation(
        text="The first points appear here in a moment.", xref="paper", yref="paper", x=0.5, y=0.5, showarrow=False
    )
    figure.update_xaxes(title=RISKS[risk].axis, range=[0, 1], showticklabels=False)
    figure.update_yaxes(title=losses(numeric=numeric)[loss].axis, range=[0, 1], showticklabels=False)
    return finish(figure, _HEIGHT)


def _scale(axis: _Axis) -> dict[str, Any]:
    # So few that there is no tick in the room before 0.
    ticks: dict[str, Any] = {"nticks": 8}
    if axis.steep:
        low, high = (math.floor(end) for end in axis.range())
        firsts = _TICKS if high - low < 3 else _TICKS[:1]
        values = [first * 10.0**decade for decade in range(low, high + 1) for first in firsts]
        ticks = {"type": "log", "tickvals": values, "ticktext": [f"{value:,g}" for value in values]}
    return {"range": axis.range(), "zeroline": False, **ticks}


def _acceptable(figure: go.Figure, limits: Limits, known: pd.DataFrame, across: _Axis, upward: _Axis) -> None:
    """Draw the region in which both are acceptable."""
    right = across.within(limits.risk)
    top = upward.high if limits.loss is None else upward.within(limits.loss)
    if right <= across.low or top <= upward.low:
        return
    figure.add_shape(
        type="rect",
        x0=across.low,
        x1=right,
        y0=upward.low,
        y1=top,
        fillcolor=_ACCEPTABLE,
        line={"color": theme.GREEN, "width": 1, "dash": "dash"},
        layer="below",
        name="acceptable",
    )
    at_left = _is_free(known, across, upward, across.low, top) >= _is_free(known, across, upward, right, top)
    x, anchor = (across.low, "left") if at_left else (right, "right")
    _note(figure, "acceptable", across.coordinate(x), upward.coordinate(top), xanchor=anchor, yanchor="top")


def _note(figure: go.Figure, text: str, x: float, y: float, **where: str) -> None:
    figure.add_annotation(text=text, x=x, y=y, showarrow=False, font={"size": 11}, **where)


def _is_free(known: pd.DataFrame, across: _Axis, upward: _Axis, x: float, y: float) -> float:
    """Return how far a place is from the nearest point, as a share of the axes."""
    return min(
        math.hypot(across.share(own) - across.share(x), upward.share(other) - upward.share(y))
        for own, other in zip(known["x"], known["y"], strict=True)
    )


def _impossible(figure: go.Figure, limits: Limits, across: _Axis, upward: _Axis) -> None:
    """Draw where no method can be: below a curve, or below and to the right of lines for the chosen k."""
    if limits.floors:
        _floor_curve(figure, limits.floors, across)
    line = {"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"}
    if limits.least:
        figure.add_hline(limits.least, line=line, layer="below")
        says, y = f"at k = {limits.k:,} no method gets below", upward.coordinate(limits.least)
        _note(figure, says, 0, y, xref="paper", xanchor="left", yanchor="bottom")
    if limits.cap is not None and across.low < limits.cap < across.high:
        figure.add_vline(limits.cap, line=line, layer="below")
        says, x = f"at k = {limits.k:,} at most 1/{limits.k:,} is found", across.coordinate(limits.cap)
        # To the left nothing has so low a loss.
        anchor = "right" if across.share(limits.cap) > 0.5 else "left"
        _note(figure, says, x, 0, yref="paper", xanchor=anchor, yanchor="bottom")


def _floor_curve(figure: go.Figure, floors: Mapping[int, float], across: _Axis) -> None:
    """Shade what lies below the floors, where the risk is 1/k.

    A risk between two values of 1/k takes groups of at least the smaller k, so the floor has steps.
    """
    ks = sorted(floors, reverse=True)
    figure.add_scatter(
        x=[across.low, *(100 / k for k in ks)],
        y=[floors[ks[0]], *(floors[k] for k in ks)],
        name="floor: no method can get below",
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot", "shape": "vh"},
        fill="tozeroy",
        fillcolor=theme.FLOOR_FILL,
        hoverinfo="skip",
    )
    _note(figure, "no method gets here", 0, 0, xref="paper", yref="paper", xanchor="left", yanchor="bottom")


def _method(figure: go.Figure, variant: str, part: pd.DataFrame, *, single: bool) -> None:
    """Draw the runs of a method, faded where another run surpasses them, joined in the order of k unless ``single``."""
    style = theme.style(variant)
    _points(
        figure,
        part,
        name=escape_html(part["title"].iloc[0]),
        mode="markers+text" if single else "lines+markers",
        text=["found by search"] * len(part) if single else None,
        textposition="middle right",
        line={"color": f"{style.color}80", "dash": style.dash, "width": 1},
        marker={
            "symbol": style.symbol,
            "size": 8,
            "color": style.color,
            "opacity": _FADED,
            "line": {"width": _border(style), "color": style.color},
        },
        # A click must not fade the rest: the choice is marked by a ring.
        unselected={"marker": {"opacity": _FADED}},
    )


def _border(style: theme.Style) -> int:
    return 2 if style.symbol.endswith("-open") else 0


def _points(figure: go.Figure, rows: pd.DataFrame, **drawn: Any) -> None:
    """Draw a point for each row, which can be clicked and says what it is."""
    figure.add_scatter(
        x=rows["x"],
        y=rows["y"],
        cliponaxis=False,
        customdata=rows[["variant", "k"]].to_numpy().tolist(),
        hovertext=rows["said"],
        hovertemplate="%{hovertext}<extra></extra>",
        **drawn,
    )


def _front(figure: go.Figure, front: pd.DataFrame, across: _Axis, upward: _Axis) -> None:
    """Draw the runs that no other surpasses, with their k where there is room."""
    if front.empty:
        return
    figure.add_scatter(
        x=front["x"],
        y=front["y"],
        name="lowest loss at each risk",
        mode="lines",
        line={"color": theme.FLOOR_FILL, "width": 1.5, "shape": "hv"},
        hoverinfo="skip",
    )
    styles = [theme.style(variant) for variant in front["variant"]]
    colors = [style.color for style in styles]
    _points(
        figure,
        front,
        name="on the front",
        mode="markers+text",
        text=_written(front, across, upward),
        textposition="bottom left",
        textfont={"size": 11},
        marker={
            "symbol": [style.symbol for style in styles],
            "color": colors,
            "size": 11,
            "line": {"width": list(map(_border, styles)), "color": colors},
        },
        unselected={"marker": {"opacity": 1}, "textfont": {"color": None}},
    )


def _written(front: pd.DataFrame, across: _Axis, upward: _Axis) -> list[str]:
    """Return what is written beside each point: its k, or nothing where it would cover another."""
    ks = [int(k) for k in front["k"]]
    x = [_NARROW * across.share(value) for value in front["x"]]
    y = [(_HEIGHT - _BESIDE) * upward.share(value) for value in front["y"]]
    kept: list[int] = []
    for i in sorted(range(len(ks)), key=lambda i: (ks[i] not in _ROUND, ks[i])):
        if all(abs(x[i] - x[j]) >= _APART[0] or abs(y[i] - y[j]) >= _APART[1] for j in kept):
            kept.append(i)
    first = min(kept, key=ks.__getitem__)
    return [("k = " if i == first else "") + f"{k:,}" if i in kept else "" for i, k in enumerate(ks)]


def _name_lines(figure: go.Figure, known: pd.DataFrame, across: _Axis, upward: _Axis) -> int:
    """Write the name of each method beside its smallest k, at the right, and return the pixels needed for them."""
    single = (known["variant"] == state.FOUND).sum() < known["k"].nunique()
    methods = known[known["variant"] != state.FOUND] if single else known
    last = methods.loc[methods.groupby("variant", sort=False)["k"].idxmin()].sort_values("y")
    ends = [
        End(row["title"], upward.coordinate(row["y"]), theme.style(row["variant"]).color, across.coordinate(row["x"]))
        for row in last.to_dict("records")
    ]
    return name_ends(figure, ends, across.range()[1], upward.range(), _HEIGHT - _BESIDE)


def _says(row: pd.Series, risks: Iterable[tuple[str, Measure]], loss: str, of_loss: Measure) -> str:
    lines = [
        f"<b>{escape_html(row['title'])}, k = {row['k']:,}</b>",
        f"{of_loss.digits.format(of_loss.factor * row[loss])}  {of_loss.label}",
        *(f"{percent(of.factor * row[name])}  {of.label}" for name, of in risks if not math.isnan(row[name])),
    ]
    lines.append(f"{row['n_groups']:,} groups, the smallest of {count(row['smallest_group'], 'record')}")
    if row["front"]:
        lines.append("no other run is as low in both")
    return "<br>".join(lines)
