"""The figures of the page Clusters: the records on a plane, and losses against k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg import metrics
from microagg.partition import Partition
from microagg.validation import FloatArray, IntArray
from pages.clusters.plane import View
from pages.shared import theme
from pages.shared.figures import finish
from pages.shared.text import count, escape_html, percent

HEIGHT = 250  # pixels, of the curves against k
_WORST_GROUPS = 5  # those with the largest losses, which stand out

# Losses below this share of the largest get one color, and so does the least twentieth.
_LEAST = 0.01
_FEWEST = 5
_DENSE, _LIGHT, _FADED = 300, 0.45, 0.1  # of more records than the first those that do not stand out are light


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


def planes(
    view: View,
    sides: Sequence[Side],
    names: pd.Index,
    *,
    unit: str,
    group: tuple[int, int] | None = None,
    differences: bool = False,
) -> list[go.Figure]:
    """Draw each partition on a plane, with spokes from the records of groups that stand out to their centroids.

    These are the groups with the largest losses, unless a ``group`` is chosen by its side and its number, or
    the ``differences`` stand out: the records that the sides group differently. ``names`` are those of all records.
    """
    chosen = None if group is None else sides[group[0]].partition.labels == group[1]
    differs = ~metrics.grouped_alike(sides[0].partition.labels, sides[-1].partition.labels)
    levels, ends = _levels([side.shares * side.loss / 100 for side in sides])
    texts = np.array([escape_html(name) for name in names])
    hover = (
        "Record %{hovertext}: %{customdata[1]:.3~g} % of the loss<br>"
        "Group %{customdata[2]} (%{customdata[3]:,} records)<extra></extra>"
    )
    figures = []
    for side, other, level in zip(sides, sides[::-1], levels, strict=True):
        labels = side.partition.labels
        if chosen is not None:
            standing, groups = chosen, np.unique(labels[chosen])
        elif differences:
            standing, groups = differs, np.empty(0, dtype=np.int64)
        else:
            order = np.argsort(-side.group_shares(), kind="stable")
            groups = order[:_WORST_GROUPS]
            standing = np.isin(labels, groups)
        marker: dict[str, Any] = {"color": level, "cmin": 0.0, "cmax": 1.0, "colorscale": theme.LOSS_COLORS}
        if differences:
            lower = side.shares * side.loss < other.shares * other.loss * (1 - 1e-6)
            marker = {"color": np.where(lower, theme.style(side.key).color, theme.NEUTRAL)}
        light = _LIGHT if len(view.rows) > _DENSE else 1.0
        faded = _FADED if chosen is not None or differences else light
        data, shapes = [_spokes(view, labels, groups)], []
        sizes = side.partition.sizes[labels]
        told = np.column_stack([np.arange(len(labels)), side.shares.round(7), labels + 1, sizes])
        for is_standing, opacity in ((False, faded), (True, 1.0)):
            rows = view.rows[standing[view.rows] == is_standing]
            look = {**marker, "color": marker["color"][rows], "opacity": opacity, "size": 6 + 2 * is_standing}
            if len(rows) > _DENSE:
                shapes += _dots(view, rows, look)
                look["maxdisplayed"] = 1
            data.append({"type": "scatter", "mode": "markers", "x": view.x.values[rows], "y": view.y.values[rows]})
            data[-1] |= {"marker": look, "unselected": {"marker": {"opacity": opacity}}}
            data[-1] |= {"hovertext": texts[rows], "customdata": told[rows], "hovertemplate": hover}
        if "cmin" in marker:
            ticks = {"tickvals": [0, 1], "ticktext": [f"≤ {ends[0]:.3g}", f"{ends[1]:.3g}"]}
            title = {"text": f"loss of a record, {unit}", "side": "right"}
            bar = {**ticks, "title": title, "thickness": 8, "len": 0.85, "y": 0, "yanchor": "bottom"}
            data[-1]["marker"] |= {"showscale": True, "colorbar": bar}
        x, y = ({"range": axis.range(), "zeroline": False, **axis.layout()} for axis in (view.x, view.y))
        # Without a mode a finger scrolls the page; the buttons zoom.
        layout = {"clickmode": "event+select", "dragmode": False, "showlegend": False, "shapes": shapes}
        figures.append(finish(go.Figure(data, {**layout, "xaxis": x, "yaxis": y}), 430, _margin(view)))
    return figures


def _margin(view: View) -> dict[str, int] | None:
    """Return the room that the numbers at the axes take; None for the names of categories."""
    if any("ticktext" in axis.ticks for axis in (view.x, view.y)):
        return None
    widest = 8 if view.y.ticks else max(5, len(f"{np.nanmax(np.abs(view.y.values)):,.0f}"))
    return {"l": 32 + 8 * widest, "r": 105, "b": 50}


def _dots(view: View, rows: IntArray, marker: dict[str, Any]) -> list[dict[str, Any]]:
    """Draw records as one path of each color: with a mark for each a browser needs a second longer for thousands."""
    across, up = view.x.texts(rows), view.y.texts(rows)
    colors = marker["color"]
    if "cmin" in marker:
        colors = np.array(theme.LOSS_COLORS)[np.rint(colors * (len(theme.LOSS_COLORS) - 1)).astype(int)]
    look = {"type": "path", "name": "dots", "layer": "between", "opacity": marker["opacity"]}
    # The color of what loses most, or less than on the other side, is on top.
    order = dict.fromkeys([theme.NEUTRAL, *theme.LOSS_COLORS, *colors])
    places = {color: np.flatnonzero(colors == color) for color in order}
    return [
        {
            **look,
            "line": {"color": color, "width": marker["size"]},
            "path": "".join(f"M{across[i]},{up[i]}Z" for i in at),
        }
        for color, at in places.items()
        if len(at)
    ]


def _spokes(view: View, labels: IntArray, groups: IntArray) -> dict[str, Any]:
    rows = view.rows[np.isin(labels[view.rows], groups)]
    across, up = (
        np.stack([axis.values[rows], axis.centroids(labels)[labels[rows]], np.full(len(rows), np.nan)], axis=1)
        for axis in (view.x, view.y)
    )
    line = {"color": theme.NEUTRAL, "width": 1}
    return {"x": across.ravel(), "y": up.ravel(), "mode": "lines", "line": line, "hoverinfo": "skip"}


def _levels(losses: Sequence[FloatArray]) -> tuple[list[FloatArray], tuple[float, float]]:
    """Return each record's place among the colors of losses, 0 to 1 by the logarithm of its loss, and the losses at both ends."""
    top = max(float(lost.max()) for lost in losses)
    if top == 0.0:
        return [np.zeros(len(lost)) for lost in losses], (0.0, 0.0)
    low = float(np.clip(np.percentile(np.concatenate(losses), _FEWEST), _LEAST * top, top / 2))
    return [np.log(np.clip(lost, low, top) / low) / np.log(top / low) for lost in losses], (low, top)


def tenth_in_words(sides: Sequence[Side]) -> str:
    """Describe the share of the loss in the worst tenth of each partition's groups, or in the worst one of few."""
    parts = []
    for side in sides:
        lost = metrics.cumulated(side.group_shares())
        parts.append(f"{lost[-(-len(lost) // 10) - 1]:.3g} % ({side.label})")
    few = any(side.partition.n_groups < 10 for side in sides)
    return f"{'The worst group causes' if few else 'The worst 10 % of groups cause'} {' and '.join(parts)} of the loss"


def difference_by_k(rows: pd.DataFrame, sides: Sequence[Side], k: int) -> go.Figure:
    """Draw how much lower the loss of the first side's method is than that of the second, a bar for each k."""
    less, (one, two) = lower_losses(rows, sides), sides
    colors = [theme.style(side.key).color for side in sides]
    figure = go.Figure().add_bar(
        x=less.index,
        y=less,
        marker={"color": [colors[0] if value >= 0 else colors[1] for value in less]},
        customdata=[f"{escape_html((two if v < 0 else one).label)} has {percent(abs(v), 2)} lower loss" for v in less],
        hovertemplate="k = %{x}: %{customdata}<extra></extra>",
    )
    figure.add_vline(x=k, line=theme.DOTTED)
    figure.update_xaxes(title="k, the minimum group size (records)", dtick=2)
    figure.update_yaxes(title=f"lower loss of {escape_html(one.label)} (%)")
    return finish(figure, HEIGHT)


def lower_losses(rows: pd.DataFrame, sides: Sequence[Side]) -> pd.Series:
    """Return by how many percent the first side's loss is lower at each k where both are there."""
    losses = rows.pivot_table(index="k", columns="variant", values="information_loss")
    one, two = (losses[side.key] for side in sides)
    return (100 * (1 - one / two)).dropna()
