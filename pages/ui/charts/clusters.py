"""Groups of records on a plane, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.spatial import ConvexHull, KDTree, QhullError

from microagg.records import Attribute
from pages.ui.charts import theme
from pages.ui.charts.layout import finish
from pages.ui.text import escape_html

#: The most records that are drawn; of more, a random sample is drawn, and the page says so.
MOST_POINTS = 20_000

# Dates are counted in days, and Plotly counts them in milliseconds.
_MILLISECONDS = 86_400_000


@dataclass(frozen=True)
class Axis:
    """Where the records lie along an axis, NaN for those that have no place on it; its title may have several lines.

    ``ticks`` say how Plotly is to label it, if not by the numbers themselves.
    """

    name: str
    values: np.ndarray
    ticks: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, attribute: Attribute, values: np.ndarray) -> Axis:
        """Return the axis of a numeric or ordinal attribute, whose ``values``, shape (n,), are those of records."""
        name = str(attribute.name)
        if attribute.kind == "ordinal":
            ranks = list(range(len(attribute.levels)))
            return cls(
                name, values, {"tickvals": ranks, "ticktext": [escape_html(level) for level in attribute.levels]}
            )
        if getattr(attribute, "unit", ""):
            return cls(name, values * _MILLISECONDS, {"type": "date"})
        return cls(name, values)


@dataclass(frozen=True)
class View:
    """The plane on which records are drawn, so that two charts can share it; of many a sample is ``shown``, ascending."""

    x: Axis
    y: Axis
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    shown: np.ndarray

    @classmethod
    def of(cls, x: Axis, y: Axis, *, central: bool = False, seed: int = 0) -> View:
        """Return a view of all records, or with ``central`` framed around the middle 96 % along each axis."""
        shown = np.flatnonzero(np.isfinite(x.values) & np.isfinite(y.values))
        ranges = []
        for axis in (x, y):
            low, high = np.percentile(axis.values[shown], (2, 98) if central else (0, 100))
            pad = 0.05 * (high - low) or 0.5
            ranges.append((float(low - pad), float(high + pad)))
        if len(shown) > MOST_POINTS:
            shown = np.sort(np.random.default_rng(seed).choice(shown, MOST_POINTS, replace=False))
        return cls(x, y, ranges[0], ranges[1], shown)

    def outside(self) -> int:
        """Return how many records lie outside the frame."""
        places = ((self.x.values, self.x_range), (self.y.values, self.y_range))
        return int(np.logical_or.reduce([(at < low) | (at > high) for at, (low, high) in places]).sum())


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


def _outline(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, closed; a segment where the points lie on a line."""
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        along = points[:, np.argmax(np.ptp(points, axis=0))]
        return points[[along.argmin(), along.argmax()]]
    return np.vstack([corners, corners[:1]])


def clusters(
    view: View,
    labels: np.ndarray,
    shares: np.ndarray,
    record_names: Sequence[object] | pd.Index,
    *,
    loss: str = "SSE",
    centroids: bool = True,
) -> go.Figure:
    """Draw the records of a partition, groups colored and outlined, their ``centroids`` on top if asked for.

    ``labels`` number the groups from 0, ``shares`` are each record's part in percent of the measure ``loss``, both of
    shape (n,).
    """
    points = np.stack([view.x.values, view.y.values], axis=1)
    placed = np.isfinite(points).all(axis=1)
    groups, members = np.unique(labels[placed], return_inverse=True)
    sums = np.stack([np.bincount(members, weights=axis) for axis in points[placed].T], axis=1)
    centers = sums / np.bincount(members)[:, np.newaxis]
    colors = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    colors[groups] = group_colors(centers)
    figure = go.Figure()
    if len(view.shown) == len(labels):
        _outlines(figure, points, labels, colors)
    own, sizes = labels[view.shown], np.bincount(labels)
    names = [escape_html(record_names[record]) for record in view.shown]
    said = [f"{share:.3g}" for share in shares[view.shown]]
    _records(figure, view, colors[own], np.stack([names, own + 1, sizes[own], said], axis=1), loss)
    if centroids:
        _centroids(figure, centers, sizes)
    figure.update_xaxes(title=_title(view.x), range=view.x_range, zeroline=False, **view.x.ticks)
    figure.update_yaxes(title=_title(view.y), range=view.y_range, zeroline=False, **view.y.ticks)
    figure.update_layout(dragmode="pan")
    return finish(figure, 540)


def _title(axis: Axis) -> str:
    return escape_html(axis.name).replace("\n", "<br>")


def _outlines(figure: go.Figure, points: np.ndarray, labels: np.ndarray, colors: np.ndarray) -> None:
    sizes = np.bincount(labels)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    gap = np.full((1, 2), np.nan)
    for number, color in enumerate(theme.GROUP_COLORS):
        groups = np.flatnonzero((colors == number) & (sizes > 1))
        if len(groups):
            path = np.vstack([part for group in groups for part in (_outline(points[members[group]]), gap)])
            figure.add_scatter(
                x=path[:, 0],
                y=path[:, 1],
                mode="lines",
                line={"color": color, "width": 1},
                fill="toself",
                fillcolor=_faint(color),
                hoverinfo="skip",
                showlegend=False,
            )


def _records(figure: go.Figure, view: View, colors: np.ndarray, notes: np.ndarray, loss: str) -> None:
    figure.add_scattergl(
        x=view.x.values[view.shown],
        y=view.y.values[view.shown],
        mode="markers",
        name="record, colored by group",
        marker={
            "size": 6 if len(view.shown) < 2500 else 4,
            "color": np.array(theme.GROUP_COLORS)[colors],
            "line": {"width": 0},
        },
        customdata=notes,
        hovertemplate="<b>record %{customdata[0]}</b><br>group %{customdata[1]} of %{customdata[2]} records"
        f"<br>%{{customdata[3]}} % of the {loss}<extra></extra>",
    )


def _centroids(figure: go.Figure, centers: np.ndarray, sizes: np.ndarray) -> None:
    many = len(sizes) > 200
    figure.add_scattergl(
        x=centers[:, 0],
        y=centers[:, 1],
        mode="markers",
        # More than 200 crosses would hide the records.
        visible="legendonly" if many else True,
        name="centroid" + (" (click here to show)" if many else ""),
        marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.4, "color": theme.NEUTRAL}},
        hovertemplate="centroid of group %{customdata[0]}, %{customdata[1]} records<extra></extra>",
        customdata=np.stack([np.arange(len(sizes)) + 1, sizes], axis=1),
    )


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.14)"


def group_sizes(partitions: Sequence[tuple[str, str, np.ndarray]]) -> go.Figure:
    """Draw how many groups have each size; ``partitions`` are (variant, label, sizes)."""
    figure = go.Figure()
    for key, label, sizes in partitions:
        values, counts = np.unique(sizes, return_counts=True)
        figure.add_bar(
            x=values,
            y=counts,
            name=escape_html(label),
            marker={"color": theme.style(key).color},
            hovertemplate=f"<b>{escape_html(label)}</b><br>%{{y}} groups of %{{x}} records<extra></extra>",
        )
    widest = max(int(sizes.max()) for _, _, sizes in partitions)
    least = min(int(sizes.min()) for _, _, sizes in partitions)
    # Bars of a few sizes stay as narrow as those of many.
    few = {"dtick": 1, "range": (least - 1, max(widest, least + 6) + 1)} if widest - least <= 20 else {}
    figure.update_xaxes(title="records in the group", fixedrange=True, **few)
    figure.update_yaxes(title="groups", fixedrange=True)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=True)
    return finish(figure, 300)
