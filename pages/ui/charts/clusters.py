"""Groups of records on a plane, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.spatial import ConvexHull, KDTree, QhullError

from pages.ui.charts import theme
from pages.ui.charts.layout import finish
from pages.ui.text import escape_html

#: The most records that are drawn; of more, a random sample is drawn, and the page says so.
MOST_POINTS = 20_000


@dataclass(frozen=True)
class View:
    """The plane on which records are drawn, so that two charts can share it.

    Attributes
    ----------
    points : array of float, shape (n, 2)
    names : tuple of two str
        Axis titles.
    x_range, y_range : tuple of two floats
    shown : array of int
        The records drawn, all or a sample, ascending.
    """

    points: np.ndarray
    names: tuple[str, str]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    shown: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, names: tuple[str, str], *, central: bool = False, seed: int = 0) -> View:
        """Return a view of all records, or with ``central`` framed around the middle 96 % along each axis."""
        tails = (2, 98) if central else (0, 100)
        ranges = []
        for column in points.T:
            low, high = np.percentile(column, tails)
            pad = 0.05 * (high - low) or 0.5
            ranges.append((float(low - pad), float(high + pad)))
        n = len(points)
        shown = np.arange(n)
        if n > MOST_POINTS:
            shown = np.sort(np.random.default_rng(seed).choice(n, MOST_POINTS, replace=False))
        return cls(points, names, ranges[0], ranges[1], shown)

    def outside(self) -> int:
        """Return how many records lie outside the frame."""
        x, y = self.points.T
        inside = (x >= self.x_range[0]) & (x <= self.x_range[1]) & (y >= self.y_range[0]) & (y <= self.y_range[1])
        return int((~inside).sum())


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
    view: View, labels: np.ndarray, shares: np.ndarray, record_names: Sequence[object] | pd.Index
) -> go.Figure:
    """Draw the records of a partition, groups colored and outlined, their centroids on top.

    ``labels`` number the groups from 0, ``shares`` are each record's part of the SSE in percent, both of shape (n,).
    """
    n_groups = int(labels.max()) + 1
    sizes = np.bincount(labels)
    centers = np.stack([np.bincount(labels, weights=axis) / sizes for axis in view.points.T], axis=1)
    colors = group_colors(centers)
    figure = go.Figure()
    if len(view.shown) == len(labels):
        order = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        for color in range(len(theme.GROUP_COLORS)):
            gap = np.full((1, 2), np.nan)
            parts = [
                part
                for group in np.flatnonzero(colors == color)
                if sizes[group] > 1
                for part in (_outline(view.points[order[group]]), gap)
            ]
            if parts:
                path = np.vstack(parts)
                figure.add_scatter(
                    x=path[:, 0],
                    y=path[:, 1],
                    mode="lines",
                    line={"color": theme.GROUP_COLORS[color], "width": 1},
                    fill="toself",
                    fillcolor=_faint(theme.GROUP_COLORS[color]),
                    hoverinfo="skip",
                    showlegend=False,
                )
    shown = view.shown
    palette = np.array(theme.GROUP_COLORS)
    figure.add_scattergl(
        x=view.points[shown, 0],
        y=view.points[shown, 1],
        mode="markers",
        name="record, colored by group",
        marker={
            "size": 6 if len(shown) < 2500 else 4,
            "color": palette[colors[labels[shown]]],
            "line": {"width": 0},
        },
        customdata=np.stack(
            [
                [escape_html(record_names[record]) for record in shown],
                labels[shown] + 1,
                sizes[labels[shown]],
                [f"{share:.3g}" for share in shares[shown]],
            ],
            axis=1,
        ),
        hovertemplate="<b>record %{customdata[0]}</b><br>group %{customdata[1]} of %{customdata[2]} records"
        "<br>%{customdata[3]} % of the SSE<extra></extra>",
    )
    many = n_groups > 200
    figure.add_scattergl(
        x=centers[:, 0],
        y=centers[:, 1],
        mode="markers",
        # More than 200 crosses would hide the records.
        visible="legendonly" if many else True,
        name="centroid, what is released" + (" (click here to show)" if many else ""),
        marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.4, "color": theme.NEUTRAL}},
        hovertemplate="centroid of group %{customdata[0]}, %{customdata[1]} records<extra></extra>",
        customdata=np.stack([np.arange(n_groups) + 1, sizes], axis=1),
    )
    figure.update_xaxes(title=escape_html(view.names[0]), range=view.x_range, zeroline=False)
    figure.update_yaxes(title=escape_html(view.names[1]), range=view.y_range, zeroline=False)
    figure.update_layout(dragmode="pan")
    return finish(figure, 540)


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.14)"


def group_sizes(partitions: Sequence[tuple[str, str, np.ndarray]]) -> go.Figure:
    """Draw how many groups have each size; ``partitions`` are (algorithm key, label, sizes)."""
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
    step = {"dtick": 1} if widest - least <= 20 else {}
    figure.update_xaxes(title="records in the group", fixedrange=True, **step)
    figure.update_yaxes(title="groups", fixedrange=True)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=True)
    return finish(figure, 300)
