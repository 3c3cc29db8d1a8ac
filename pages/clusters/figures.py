"""The figures of the page Clusters: the linked map of records, the loss curve and the group sizes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import ArrayLike
from plotly.offline import get_plotlyjs
from scipy.spatial import KDTree

from microagg import metrics
from microagg.explain.player import drawing
from microagg.optimum.bounds import Bound
from microagg.partition import Partition
from pages.clusters.plane import View
from pages.shared import theme
from pages.shared.figures import PAPER, add_line, finish
from pages.shared.text import count, escape_html, percent

FEW_GROUPS = 8  # up to this many groups get a color each, unless colors show losses, and an outline
_WORST_GROUPS = 5  # of more, those with the largest losses are outlined

# Losses below this share of the largest get one color, and so does the least twentieth.
_LEAST = 0.01
_FEWEST = 5
_MOST_POINTS = 200  # of a curve
_CLEAR = "rgba(0,0,0,0)"
_LOOK = {
    "margin": {"l": 12, "r": 12, "t": 26, "b": 12},
    "paper_bgcolor": _CLEAR,
    "plot_bgcolor": _CLEAR,
    "modebar": {"orientation": "v", "bgcolor": _CLEAR},
}
_HTML = """
<div class="mg-clusters">
  <div class="mg-bar">
    <button class="mg-play" title="All records move to the centroid of their group, which is released, and back.">▶ Play the release</button>
    <label class="mg-differ" title="Records grouped alike on both sides fade. Color marks the records whose loss is lower on this side."><input type="checkbox"><span></span></label>
    <span class="mg-won" hidden></span><span class="mg-scale"><span></span><span></span><i></i><span></span></span>
  </div>
  <div class="mg-stage"><div class="mg-plot"></div><canvas role="img"></canvas><div class="mg-tip" hidden></div>
    <button class="mg-clear" hidden>× All groups</button></div>
</div>
"""

# Plotly is a component by itself: its text is sent once, not with each figure.
_plotly = st.components.v2.component("microagg_plotly", js=f"{get_plotlyjs()}\nexport default function () {{}}")
_linked = st.components.v2.component(
    "microagg_clusters",
    html=_HTML,
    css=Path(__file__).with_name("clusters.css").read_text(encoding="utf-8"),
    js=f"{drawing()}\n{PAPER}\n{Path(__file__).with_name('clusters.js').read_text(encoding='utf-8')}",
    isolate_styles=False,  # Plotly's styles are the document's
)
_chosen = st.components.v2.component(
    "microagg_chosen",
    js="""
export default function ({ data }) {
  window.microaggChosen = data.chosen;
  window.dispatchEvent(new CustomEvent("microagg-chosen", { detail: data.chosen }));
}
""",
)


@dataclass(frozen=True)
class Side:
    """A partition as one panel shows it; ``key`` is its variant, ``shares`` each record's part of the loss in percent."""

    key: str
    label: str
    partition: Partition
    shares: np.ndarray  # shape (n,)
    loss: float  # in percent of the most there is

    @property
    def title(self) -> str:
        return f"{self.label}: loss {percent(self.loss)}, {count(self.partition.n_groups, 'group')}"

    def group_shares(self) -> np.ndarray:
        return np.bincount(self.partition.labels, weights=self.shares)


def load_plotly() -> None:
    """Send Plotly to the browser, once in a session, for :func:`show_linked`."""
    _plotly(key="plotly")


def show_linked(
    scene: Mapping[str, Any], chosen: Mapping[str, int] | None, choose: Callable[[Any], None], key: str
) -> None:
    """Draw the figure of :func:`linked_planes`; ``chosen`` goes by itself, so that a click does not send the figure again."""

    def clicked() -> None:
        choose(st.session_state[key].chosen)

    _linked(key=key, data=scene, on_chosen_change=clicked)
    _chosen(key=f"{key}_chosen", data={"chosen": None if chosen is None else dict(chosen)})


def group_colors(centers: np.ndarray) -> np.ndarray:
    """Return a color number for each group such that groups near each other mostly differ; shape (n_groups,)."""
    cycle = len(theme.GROUP_COLORS)
    colors = np.arange(len(centers)) % cycle
    if len(centers) <= cycle:
        return colors
    _, near = KDTree(centers).query(centers, k=min(cycle, len(centers)))
    colors[:] = -1
    for group, others in enumerate(near):
        taken = np.bincount(colors[others][colors[others] >= 0], minlength=cycle)
        colors[group] = int(taken.argmin()) if taken.any() else group % cycle
    return colors


def matched_colors(colors: np.ndarray, partners: np.ndarray, n_others: int) -> np.ndarray:
    """Return a color number for each of ``n_others`` groups: that of its partner in ``colors``, else one used least."""
    numbers = np.full(n_others, -1)
    matched = partners >= 0
    numbers[partners[matched]] = colors[matched]
    counts = np.bincount(colors, minlength=len(theme.GROUP_COLORS))
    for group in np.flatnonzero(numbers < 0):
        numbers[group] = counts.argmin()
        counts[numbers[group]] += 1
    return numbers


def linked_planes(
    view: View,
    sides: Sequence[Side],
    record_names: pd.Index,
    *,
    loss: str,
    unit: str,
    centroids: bool,
    by_group: bool | None = None,
) -> dict[str, Any]:
    """Return what the browser needs to draw one or two partitions; ``by_group`` colors groups, else losses."""
    labels = [side.partition.labels for side in sides]
    if by_group is None:
        by_group = max(side.partition.n_groups for side in sides) <= FEW_GROUPS
    points = view.points()[view.rows]
    colors, ends = _levels([side.shares * side.loss / 100 for side in sides])
    if by_group:
        colors = [numbers[groups] for numbers, groups in zip(_group_colors(view, labels), labels, strict=True)]
    names = None if isinstance(record_names, pd.RangeIndex) else [str(record_names[i]) for i in view.rows]
    scene = {
        "figure": json.loads(_planes(view, sides).to_json()),
        "axes": f"{view.x.name}|{view.y.name}|{view.x.scale}{view.y.scale}{view.x_range}{view.y_range}",
        "rows": _packed(view.rows, "i4"),
        "names": names,
        "x": _packed(points[:, 0], "f4"),
        "y": _packed(points[:, 1], "f4"),
        "alike": _packed(metrics.grouped_alike(labels[0], labels[-1])[view.rows], "u1"),
        "palette": theme.GROUP_COLORS if by_group else theme.LOSS_COLORS,
        "scale": None if by_group else {"ends": [f"≤ {ends[0]:.3g}", f"{ends[1]:.3g}"], "of": unit},
        "loss": loss,
        "alt": f"Records on {view.x.name} and {view.y.name}, grouped: {'; '.join(side.title for side in sides)}.",
        "whole": len(view.rows) == len(labels[0]),
        "sides": [_side(view, *pair, centroids, by_group) for pair in zip(sides, colors, strict=True)],
    }
    return {"id": hashlib.sha256(json.dumps(scene).encode()).hexdigest()[:16], **scene}


def _side(view: View, side: Side, colors: np.ndarray, centroids: bool, by_group: bool) -> dict[str, Any]:
    labels, sizes = side.partition.labels, side.partition.sizes
    places = view.centroids(labels) if centroids else None
    return {
        "groups": _packed(labels[view.rows], "i4"),
        "sizes": _packed(sizes, "i4"),
        "shares": _packed(side.shares[view.rows], "f4"),
        "colors": _packed(colors[view.rows], "u1"),
        "outlined": np.argsort(-side.group_shares(), kind="stable")[
            : FEW_GROUPS if by_group else _WORST_GROUPS
        ].tolist(),
        "label": side.label,
        "color": theme.style(side.key).color,
        "loss": side.loss,
        "centroids": None if places is None else [_packed(axis, "f4") for axis in places.T],
    }


def _packed(values: ArrayLike, kind: str) -> dict[str, str]:
    """Return numbers in the binary form that the browser reads."""
    return {"kind": kind, "bytes": base64.b64encode(np.asarray(values, dtype=f"<{kind}").tobytes()).decode()}


def _levels(losses: Sequence[np.ndarray]) -> tuple[list[np.ndarray], tuple[float, float]]:
    """Return each record's color number by the logarithm of its loss, side by side, and the losses at both ends."""
    top = max(float(lost.max()) for lost in losses)
    if top == 0.0:
        return [np.zeros(len(lost), dtype=np.int64) for lost in losses], (0.0, 0.0)
    low = float(np.clip(np.percentile(np.concatenate(losses), _FEWEST), _LEAST * top, top / 2))
    last = len(theme.LOSS_COLORS) - 1
    places = [np.log(np.clip(lost, low, top) / low) / np.log(top / low) for lost in losses]
    return [(last * place).round().astype(np.int64) for place in places], (low, top)


def _group_colors(view: View, labels: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the color number of each group of each side; matched groups have the same."""
    points = view.points()
    placed = np.isfinite(points).all(axis=1)
    groups, members = np.unique(labels[0][placed], return_inverse=True)
    sums = np.stack([np.bincount(members, weights=axis) for axis in points[placed].T], axis=1)
    colors = np.zeros(int(labels[0].max()) + 1, dtype=np.int64)
    colors[groups] = group_colors(sums / np.bincount(members)[:, np.newaxis])
    partners = [metrics.matched_groups(labels[0], other) for other in labels[1:]]
    matched = [matched_colors(colors, of, int(other.max()) + 1) for of, other in zip(partners, labels[1:], strict=True)]
    return [colors, *matched]


def _planes(view: View, sides: Sequence[Side]) -> go.Figure:
    # The layout is set at once: each further change of a figure costs Plotly milliseconds.
    layout: dict[str, Any] = {"template": "none", "showlegend": False, "annotations": [], **_LOOK}
    records = []
    for place, side in enumerate(sides):
        suffix = str(place + 1) if place else ""
        records.append({"type": "scatter", "x": [None], "y": [None], "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"})
        for letter, other, axis, span in (("x", "y", view.x, view.x_range), ("y", "x", view.y, view.y_range)):
            linked = {"matches": letter} if place else {}
            drawn = {"range": span, "anchor": other + suffix, "zeroline": False, "showline": True, "automargin": True}
            layout[f"{letter}axis{suffix}"] = {**axis.layout(), **drawn, **linked}
        swatch = f'<span style="color:{theme.style(side.key).color}">■</span>'
        note = {
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"size": 14},
        }
        layout["annotations"].append({"text": f"{swatch} {escape_html(side.title)}", "x": 0, "y": 1, **note})
    return go.Figure(records, layout)


def loss_curve(sides: Sequence[Side]) -> go.Figure:
    """Draw the share of the loss that falls on the worst groups, against their share of all groups."""
    figure = go.Figure()
    for side in sides:
        lost = np.concatenate([[0.0], metrics.cumulated(side.group_shares())])
        among = np.unique(np.linspace(0, len(lost) - 1, _MOST_POINTS).round().astype(int))
        style, label = theme.style(side.key), escape_html(side.label)
        line = {"color": style.color, "dash": style.dash, "width": 2.5}
        hover = f"<b>{label}</b><br>%{{x:.3g}} % of the groups cause %{{y:.3g}} %<extra></extra>"
        figure.add_scatter(
            x=100 * among / (len(lost) - 1), y=lost[among], mode="lines", name=label, line=line, hovertemplate=hover
        )
    figure.add_vline(x=10, line={"color": theme.NEUTRAL, "width": 1, "dash": "dot"})
    figure.update_xaxes(title="groups, by falling loss (%)", range=(0, 100))
    figure.update_yaxes(title="share of the loss (%)", range=(0, 102))
    figure.update_layout(showlegend=True)
    return finish(figure, 270)


def tenth_in_words(sides: Sequence[Side]) -> str:
    """Describe the share of the loss in the worst tenth of each partition's groups, or in the worst one of few."""
    parts = []
    for side in sides:
        lost = metrics.cumulated(side.group_shares())
        parts.append(f"{lost[-(-len(lost) // 10) - 1]:.3g} % ({side.label})")
    few = any(side.partition.n_groups < 10 for side in sides)
    return f"{'The worst group causes' if few else 'The worst 10 % of groups cause'} {' and '.join(parts)} of the loss"


def group_sizes(sides: Sequence[Side]) -> go.Figure:
    figure = go.Figure()
    most = 0
    for side in sides:
        values, counts = np.unique(side.partition.sizes, return_counts=True)
        most = max(most, int(counts.max()))
        label = escape_html(side.label)
        hover = f"<b>{label}</b><br>%{{y}} groups of %{{x}} records<extra></extra>"
        figure.add_bar(
            x=values, y=counts, name=label, marker={"color": theme.style(side.key).color}, hovertemplate=hover
        )
    sizes = np.concatenate([side.partition.sizes for side in sides])
    widest, least = int(sizes.max()), int(sizes.min())
    # Bars of a few sizes stay as narrow as those of many.
    few = {"dtick": -(-(widest - least + 1) // 8), "range": (least - 1, max(widest, least + 6) + 1)}
    figure.update_xaxes(title="records in the group", **(few if widest - least <= 20 else {}))
    figure.update_yaxes(title="groups", **({"dtick": 1} if most <= 5 else {}))
    figure.update_layout(barmode="group", bargap=0.25, showlegend=False)
    return finish(figure, 270)


def losses_against_k(rows: pd.DataFrame, k: int, bounds: Sequence[Bound]) -> go.Figure:
    """Draw the loss of each method at each k, by rows of a sweep, with the lower bound as an area."""
    figure = go.Figure()
    if any(bound.information_loss for bound in bounds):
        at, least = [bound.k for bound in bounds], [bound.information_loss for bound in bounds]
        area = {"fill": "tozeroy", "fillcolor": theme.FLOOR_FILL}
        add_line(figure, at, least, "lower bound", {"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"}, **area)
    for variant, part in rows.groupby("variant", sort=False):
        style, part = theme.style(str(variant)), part.sort_values("k")
        figure.add_scatter(
            x=part["k"],
            y=part["information_loss"],
            mode="lines+markers",
            name=escape_html(part["title"].iloc[0]),
            line={"color": style.color, "width": 2.5},
            marker={"symbol": style.symbol, "size": 8},
            hovertemplate="k = %{x}: %{y:.4~g} %<extra>%{fullData.name}</extra>",
        )
    return _by_k(figure, k, "information loss (%)")


def difference_by_k(rows: pd.DataFrame, sides: Sequence[Side], k: int) -> go.Figure:
    """Draw how much lower the loss of the first side's method is than that of the second, a bar for each k."""
    less, (one, two) = lower_losses(rows, sides), sides
    colors = [theme.style(side.key).color for side in sides]
    figure = go.Figure().add_bar(
        x=less.index,
        y=less,
        marker={"color": [colors[0] if value >= 0 else colors[1] for value in less]},
        customdata=[escape_html((one if value >= 0 else two).label) for value in less],
        hovertemplate="k = %{x}: %{customdata} by %{y:.2~g} %<extra></extra>",
    )
    return _by_k(figure, k, f"lower loss of {escape_html(one.label)} (%)")


def lower_losses(rows: pd.DataFrame, sides: Sequence[Side]) -> pd.Series:
    """Return by how many percent the first side's loss is lower at each k where both are there."""
    losses = rows.pivot_table(index="k", columns="variant", values="information_loss")
    one, two = (losses[side.key] for side in sides)
    return (100 * (1 - one / two)).dropna()


def _by_k(figure: go.Figure, k: int, title: str) -> go.Figure:
    figure.add_vline(x=k, line={"color": theme.HIGHLIGHT, "width": 1, "dash": "dot"})
    figure.update_xaxes(title="k", dtick=2)
    figure.update_yaxes(title=title, rangemode="tozero")
    figure.update_layout(showlegend=len(figure.data) > 1)
    return finish(figure, 250)
