"""The map of risk and loss on the page Choose k: a point for each run, the front, the acceptable region and the impossible one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import metrics
from microagg.studies import sweeps
from microagg.studies.sweeps import MOST_CONFIDENTIAL
from pages.choose_k.comparison import Picture, waiting
from pages.shared import certificate, limits, measures, methods, state, theme
from pages.shared.figures import Axis, add_line, finish, ring
from pages.shared.measures import RISKS, Measure, losses
from pages.shared.text import count, escape_html, escape_markdown, named, percent
from pages.shared.workspace import Workspace

#: The figure's key, under which Streamlit keeps a click.
CHART = "risk_map"


def options(workspace: Workspace) -> tuple[str, str]:
    risks = measures.risks(numeric=workspace.is_numeric, confidential=bool(workspace.exposed.counted))
    losses = measures.losses(numeric=workspace.is_numeric, classes=workspace.classes is not None)
    with st.container(horizontal=True, vertical_alignment="center", key="map_options"):
        risk = _pick("Risk", "risk", risks, named=len(losses) > 1)
        loss = _pick("Loss", "lost", losses, named=True) if len(losses) > 1 else next(iter(losses))
    return risk, loss


def _pick(label: str, field: str, available: Mapping[str, measures.Measure], *, named: bool) -> str:
    labels = {name: measure.label for name, measure in available.items()}
    with st.container(horizontal=True, vertical_alignment="center", width="content", wrap=False):
        if named:
            st.caption(label, width="content")
        return methods.pick_one(labels, f"w_{field}", field, label)


def picture(
    workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int], what: tuple[str, str], select: Callable[[], None]
) -> Picture:
    """Return the map of ``what``, a risk and a loss; ``select`` is called after a click."""
    risk, loss = what
    choices, measure = state.current(), measures.RISKS[risk]
    rows = certificate.with_best(workspace, rows, ks, risks=risk != "max_reidentification")
    measured = rows.dropna(subset=[risk, loss]) if risk in rows else rows.iloc[:0]
    if measured.empty:
        return waiting(measure, HEIGHT)
    missing = len(rows) - len(measured)
    drawn, chosen = _shown_limits(workspace, ks, risk, loss), (methods.chosen(workspace), choices.k)
    runs = measured.replace({"title": {methods.title(state.FOUND): "the best known partition"}})
    return Picture(
        risk_map(measured, risk, loss, drawn, chosen),
        sweeps.risk_summary(runs, risk, loss, limits.current().risk),
        CHART,
        f"A loss against a risk, {measure.label}: {count(len(measured), 'run')}, which the table below lists, too.",
        captions=(
            f"The risk of {count(missing, 'run')} is not computed yet." if missing else "",
            "Click a point to choose its method and k. Strong points are on the front: no other run is as low in both. Lines "
            "join the values of k of a method. "
            f"{measure.meaning}{_not_counted(workspace, risk)}",
        ),
        options={"on_select": select, "selection_mode": "points"},
    )


def _not_counted(workspace: Workspace, risk: str) -> str:
    """Return in Markdown what a risk does not count; empty if it counts all."""
    exposed = workspace.exposed
    if risk == "record_linkage" and exposed.n_looked_up < workspace.n:
        return f" Estimated by {exposed.n_looked_up:,} of {workspace.n:,} records, drawn at random."
    left_out = [name for name in exposed.frame.columns if name not in exposed.counted]
    if risk in ("homogeneous", "t_closeness", "distinct_l") and left_out:
        further = "one value only" if len(exposed.counted) < MOST_CONFIDENTIAL else "too many"
        return f" Not counted: {escape_markdown(named(left_out))} (missing values, or {further})."
    return ""


def _shown_limits(workspace: Workspace, ks: Sequence[int], risk: str, loss: str) -> Limits:
    k, acceptable = state.current().k, limits.current()
    floors = _floors(workspace, ks, loss)
    follows = risk == "max_reidentification"
    return Limits(
        risk=acceptable.risk,
        loss=acceptable.loss if loss == "information_loss" and acceptable.loss < limits.NONE else None,
        floors=floors if follows else {},
        k=k,
        least=None if follows else floors.get(k),
        # A record shares its released values with at least k - 1 others, so linkage finds it with probability at most 1/k.
        cap=100 / k if risk == "record_linkage" else None,
    )


def _floors(workspace: Workspace, ks: Sequence[int], loss: str) -> dict[int, float]:
    if loss == "discernibility":
        return {k: float(metrics.generalization.least_discernibility(workspace.n, k)) for k in ks}
    return {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks) if bound.sse > 0}


HEIGHT = 500  # pixels

# The values of k that get a label.
_ROUND = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

_FADED = "73"  # the last digits of a color: its opacity


@dataclass(frozen=True)
class Limits:
    """What a map shows besides the runs; risks in percent, losses in the unit of their axis."""

    risk: float  # the largest acceptable; 100 for no limit
    loss: float | None  # likewise; None if the shown loss has no limit
    floors: Mapping[int, float] = field(default_factory=dict)  # lower bounds of the loss by k, if the risk is 1/k
    k: int = 0  # the chosen one, to which the next two belong
    least: float | None = None  # lower bound of the loss; None if the lower bounds say it, or nothing is proven
    cap: float | None = None  # upper bound of the risk; None if it does not follow from k


def risk_map(
    rows: pd.DataFrame, risk: str, loss: str, limits: Limits, selected: tuple[str, int] | None = None
) -> go.Figure:
    """Draw a loss against a risk: a point for each run of a sweep that has both, a thin line for each method."""
    of_risk, of_loss = RISKS[risk], losses(numeric="sse" in rows)[loss]
    runs = rows.dropna(subset=[risk, loss]).sort_values(["variant", "k"], kind="stable")
    runs = runs.assign(x=of_risk.factor * runs[risk], y=of_loss.factor * runs[loss])
    runs["front"] = sweeps.front(runs["x"], runs["y"])
    across = Axis.of(runs["x"].to_numpy(float), steep=of_risk.steep, from_zero=False)
    floors = [floor for floor in (*limits.floors.values(), limits.least) if floor]
    heights = np.array([*runs["y"], *(floors if of_loss.steep else ())], dtype=float)
    upward = Axis.of(heights, steep=of_loss.steep, from_zero=not of_loss.steep)
    figure = go.Figure()
    _acceptable(figure, limits, across, upward)
    _impossible(figure, limits, across, upward)
    risks = [(name, measure) for name, measure in RISKS.items() if name in runs]
    runs["hover"] = [_hover_text(row, risks, loss, of_loss) for _, row in runs.iterrows()]
    runs["label"] = _labels(runs, across, upward)
    for variant, part in runs.groupby("variant", sort=False):
        # Results at single values of k are no line.
        _method(figure, str(variant), part, single=variant == state.FOUND and len(part) < runs["k"].nunique())
    front = runs[runs["front"]].sort_values(["x", "y"])
    line = {"color": theme.FLOOR_FILL, "width": 1.5, "shape": "hv"}
    add_line(figure, front["x"], front["y"], "lowest loss at each risk", line)
    at = runs[(runs["variant"] == selected[0]) & (runs["k"] == selected[1])] if selected else runs.iloc[:0]
    if selected and not at.empty:
        ring(figure, at["x"], at["y"], "chosen", theme.style(selected[0]).color)
    figure.update_xaxes(title=of_risk.axis, **across.layout())
    figure.update_yaxes(title=of_loss.axis, **upward.layout())
    figure.update_layout(clickmode="event+select", showlegend=True)
    return finish(figure, HEIGHT)


def _acceptable(figure: go.Figure, limits: Limits, across: Axis, upward: Axis) -> None:
    if limits.risk >= 100 and limits.loss is None:
        return
    right = across.within(limits.risk)
    top = upward.high if limits.loss is None else upward.within(limits.loss)
    if right <= across.low or top <= upward.low:
        return
    # Beyond the axes where there is no limit, so that the border is seen at the limits only.
    (left, most), (bottom, highest) = across.beyond(), upward.beyond()
    edges = {
        "x0": left,
        "x1": most if limits.risk >= 100 else right,
        "y0": bottom,
        "y1": highest if limits.loss is None else top,
    }
    figure.add_shape(type="rect", **edges, layer="below", name="acceptable", **theme.ACCEPTABLE)
    x, y = across.coordinate(across.low), upward.coordinate(top)
    what = "meets the limits" if limits.risk < 100 and limits.loss is not None else "meets the limit"
    _note(figure, what, x, y, xanchor="left", yanchor="top")


def _note(figure: go.Figure, text: str, x: float, y: float, **where: str) -> None:
    figure.add_annotation(text=text, x=x, y=y, showarrow=False, font={"size": 12}, **where)


def _impossible(figure: go.Figure, limits: Limits, across: Axis, upward: Axis) -> None:
    """Draw where no method can be: below a curve, or beyond lines of the chosen k."""
    if limits.floors:
        _floor_curve(figure, limits.floors, across)
    if limits.least:
        figure.add_hline(limits.least, line=theme.DOTTED, layer="below")
        message, y = f"lower bound at k = {limits.k:,}", upward.coordinate(limits.least)
        _note(figure, message, 0, y, xref="paper", xanchor="left", yanchor="bottom")
    if limits.cap is not None and across.low < limits.cap < across.high:
        figure.add_vline(limits.cap, line=theme.DOTTED, layer="below")
        message, x = f"at most 1/{limits.k:,} at k = {limits.k:,}", across.coordinate(limits.cap)
        # On the left no run has so low a loss.
        anchor = "right" if across.share(limits.cap) > 0.5 else "left"
        _note(figure, message, x, 0, yref="paper", xanchor=anchor, yanchor="bottom")


def _floor_curve(figure: go.Figure, floors: Mapping[int, float], across: Axis) -> None:
    """Shade the losses below the lower bounds, where the risk is 1/k."""
    ks = sorted(floors, reverse=True)
    # Between two k the smaller one counts.
    line = theme.DOTTED | {"shape": "vh"}
    figure.add_scatter(
        x=[across.low, *(100 / k for k in ks)],
        y=[floors[ks[0]], *(floors[k] for k in ks)],
        name="lower bound",
        mode="lines",
        line=line,
        fill="tozeroy",
        fillcolor=theme.FLOOR_FILL,
        hoverinfo="skip",
    )
    _note(figure, "below the lower bound", 0, 0, xref="paper", yref="paper", xanchor="left", yanchor="bottom")


def _method(figure: go.Figure, variant: str, part: pd.DataFrame, *, single: bool) -> None:
    """Draw the runs of a method, those that are not on the front faded, joined in the order of k unless ``single``."""
    style = theme.style(variant)
    colors = [style.color if front else f"{style.color}{_FADED}" for front in part["front"]]
    border = 2 if style.symbol.endswith("-open") else 0
    figure.add_scatter(
        x=part["x"],
        y=part["y"],
        name=escape_html(part["title"].iloc[0]),
        mode="markers+text" if single else "lines+markers+text",
        text=part["label"],
        textposition="bottom left",
        textfont={"size": 12},
        line={"color": f"{style.color}80", "dash": style.dash, "width": 1},
        marker={
            "symbol": style.symbol,
            "size": [11 if front else 8 for front in part["front"]],
            "color": colors,
            "line": {"width": border, "color": colors},
        },
        cliponaxis=False,
        customdata=part[["variant", "k"]].to_numpy().tolist(),
        hovertext=part["hover"],
        hovertemplate="%{hovertext}<extra></extra>",
        # A click must not fade the rest: the choice is marked by a ring.
        unselected={"marker": {"opacity": 1}, "textfont": {"color": None}},
    )


def _labels(runs: pd.DataFrame, across: Axis, upward: Axis) -> list[str]:
    """Name k at points of the front, but not at two that are so near that their labels overlap on a phone."""
    texts, places = [], list[tuple[float, float]]()
    for k, is_front, *point in runs[["k", "front", "x", "y"]].itertuples(index=False):
        x, y = across.share(point[0]), upward.share(point[1])
        is_named = is_front and k in _ROUND and all(abs(x - u) > 0.14 or abs(y - v) > 0.04 for u, v in places)
        texts.append(f"k = {k:,}" if is_named else "")
        places += [(x, y)] if is_named else []
    return texts


def _hover_text(row: pd.Series, risks: Iterable[tuple[str, Measure]], loss: str, of_loss: Measure) -> str:
    lines = [
        f"<b>{escape_html(row['title'])}, k = {row['k']:,}</b>",
        f"{of_loss.text(of_loss.factor * row[loss])}  {of_loss.label}",
        *(f"{percent(of.factor * row[name])}  {of.label}" for name, of in risks if not math.isnan(row[name])),
    ]
    lines.append(f"{row['n_groups']:,} groups, the smallest of {count(row['smallest_group'], 'record')}")
    if row["front"]:
        lines.append("no other run is as low in both")
    return "<br>".join(lines)
