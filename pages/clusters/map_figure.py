"""Groups of records on a plane: its axes, and what is drawn on them for each of the partitions compared."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from microagg import metrics
from microagg.columns.records import Attribute
from microagg.explain.coordinates import asinh_unit, on_scale, suited_scale
from microagg.partition import Partition, group_means
from pages.shared import theme
from pages.shared.text import count, escape_html, number, percent

#: The most records that are drawn; of more, a random sample is drawn, and the page says so.
MOST_POINTS = 20_000

#: Up to how many groups each has a color of its own unless losses are asked for, and an outline.
FEW_GROUPS = 8

# Dates are counted in days, and Plotly counts them in milliseconds.
_MILLISECONDS = 86_400_000

# Losses of records below this share of the largest are not told apart, nor are the least twentieth.
_LEAST = 0.01
_FEWEST = 5

# Of more ticks on an axis than this, labels would touch.
_MOST_TICKS = 9


@dataclass(frozen=True)
class Axis:
    """Where the records lie along an axis, NaN for those that have no place on it; its title may have several lines.

    ``scale`` is one of :func:`microagg.explain.coordinates.suited_scale`; ``ticks`` say how Plotly is to label a linear axis, if
    not by the numbers themselves.
    """

    name: str
    values: np.ndarray
    ticks: dict[str, Any] = field(default_factory=dict)
    scale: str = "linear"

    @classmethod
    def of(cls, attribute: Attribute, values: np.ndarray, *, scaled: bool = False) -> Axis:
        """Return the axis of a numeric or ordinal attribute, whose ``values``, shape (n,), are those of records.

        With ``scaled``, one of skewed numbers gets the scale on which they can be told apart.
        """
        name = str(attribute.name)
        if attribute.kind == "ordinal":
            ranks = list(range(len(attribute.levels)))
            return cls(
                name, values, {"tickvals": ranks, "ticktext": [escape_html(level) for level in attribute.levels]}
            )
        if getattr(attribute, "unit", ""):
            return cls(name, values * _MILLISECONDS, {"type": "date"})
        return cls(name, values, scale=suited_scale(values) if scaled else "linear")

    def places(self, values: np.ndarray) -> np.ndarray:
        """Return where ``values`` are drawn, in the units in which Plotly counts along the axis."""
        return on_scale(values, self.scale, asinh_unit(self.values))

    def layout(self) -> dict[str, Any]:
        """Return how Plotly is to draw it."""
        title = escape_html(self.name).replace("\n", "<br>")
        if self.scale == "log":
            known = self.values[np.isfinite(self.values)]
            # Over few powers of ten there are ticks at 2 and 5 times each, too.
            dtick = 1 if np.log10(known.max() / known.min()) > 2 else "D2"
            return {"title": f"{title} (log scale)", "type": "log", "dtick": dtick}
        if self.scale == "asinh":
            ticks = self._asinh_ticks()
            at = self.places(ticks).tolist()
            return {"title": f"{title} (asinh scale)", "tickvals": at, "ticktext": [number(tick) for tick in ticks]}
        return {"title": title, **self.ticks}

    def _asinh_ticks(self) -> np.ndarray:
        """Return 0 and powers of ten within the axis, those apart enough for their labels."""
        known = self.values[np.isfinite(self.values)]
        low, high = float(known.min()), float(known.max())
        top = int(np.floor(np.log10(max(abs(low), abs(high)))))
        sizes = 10.0 ** np.arange(top, top - 8, -1)
        candidates = [0.0, *sizes, *(-sizes)]
        taken: list[float] = []
        apart = float(np.ptp(self.places(np.array([low, high])))) / _MOST_TICKS
        for tick in candidates:
            near = np.abs(self.places(np.array([*taken, np.inf])) - self.places(np.array([tick])))
            if low <= tick <= high and near.min() >= apart:
                taken.append(tick)
        return np.sort(taken)


@dataclass(frozen=True)
class View:
    """The plane on which records are drawn, the same for all partitions; of many a sample is ``shown``, ascending.

    Ranges are in the units of :meth:`Axis.places`.
    """

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
            low, high = np.percentile(axis.places(axis.values[shown]), (2, 98) if central else (0, 100))
            pad = 0.05 * (high - low) or 0.5
            ranges.append((float(low - pad), float(high + pad)))
        if len(shown) > MOST_POINTS:
            shown = np.sort(np.random.default_rng(seed).choice(shown, MOST_POINTS, replace=False))
        return cls(x, y, ranges[0], ranges[1], shown)

    def points(self) -> np.ndarray:
        """Return where all records lie, shape (n, 2), NaN for those without a place."""
        return np.stack([axis.places(axis.values) for axis in (self.x, self.y)], axis=1)

    def centroids(self, labels: np.ndarray) -> np.ndarray:
        """Return where the centroid of each group lies, shape (g, 2): the place of the mean, not the mean of places."""
        return np.stack([axis.places(group_means(axis.values, labels)[:, 0]) for axis in (self.x, self.y)], axis=1)

    def outside(self) -> int:
        """Return how many records lie outside the frame."""
        ranges = np.array([self.x_range, self.y_range])
        points = self.points()
        return int(((points < ranges[:, 0]) | (points > ranges[:, 1])).any(axis=1).sum())


@dataclass(frozen=True)
class Side:
    """A partition as one panel shows it.

    Attributes
    ----------
    key, label : str
        Its variant, and what the screen calls it.
    partition : Partition
    shares : array of float, shape (n,)
        Each record's part of the partition's loss, in percent.
    loss : float
        The partition's loss, in percent of the most there is.
    """

    key: str
    label: str
    partition: Partition
    shares: np.ndarray
    loss: float

    @property
    def title(self) -> str:
        """What stands above the panel."""
        return f"{self.label}: {percent(self.loss)} lost, {count(self.partition.n_groups, 'group')}"

    def group_shares(self) -> np.ndarray:
        """Return each group's part of the loss, in percent, shape (g,)."""
        return np.bincount(self.partition.labels, weights=self.shares)


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
    """Return a color number for each of ``n_others`` groups: that of its counterpart, else one used least.

    ``colors`` and ``partners``, shape (g,), are the colors of the other side's groups, and their counterparts here, -1
    for none.
    """
    found = np.full(n_others, -1)
    matched = partners >= 0
    found[partners[matched]] = colors[matched]
    counts = np.bincount(colors, minlength=len(theme.GROUP_COLORS))
    for group in np.flatnonzero(found < 0):
        found[group] = counts.argmin()
        counts[found[group]] += 1
    return found


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
    """Return what the browser needs to draw one or two partitions of the same records on linked planes.

    Parameters
    ----------
    view : View
    sides : sequence of Side
    record_names : Index of n names
    loss, unit : str
        What a partition loses, as "SSE", and what losses of records are percent of.
    centroids : bool
        Whether groups have a centroid: then records have spokes to it, and can slide into it.
    by_group : bool, optional
        Whether colors tell groups apart; by default they do where groups are few, and losses otherwise.
    """
    labels = [side.partition.labels for side in sides]
    if by_group is None:
        by_group = max(side.partition.n_groups for side in sides) <= FEW_GROUPS
    points = view.points()[view.shown]
    colors, ends = _levels([side.shares * side.loss / 100 for side in sides])
    if by_group:
        colors = [own[of] for own, of in zip(_group_colors(view, labels), labels, strict=True)]
    names = None if isinstance(record_names, pd.RangeIndex) else [str(record_names[i]) for i in view.shown]
    scene = {
        "figure": json.loads(_planes(view, sides).to_json()),
        "axes": f"{view.x.name}|{view.y.name}|{view.x.scale}{view.y.scale}{view.x_range}{view.y_range}",
        "rows": _packed(view.shown, "i4"),
        "names": names,
        "x": _packed(points[:, 0], "f4"),
        "y": _packed(points[:, 1], "f4"),
        "alike": _packed(metrics.grouped_alike(labels[0], labels[-1])[view.shown], "u1"),
        "palette": theme.GROUP_COLORS if by_group else theme.LOSS_COLORS,
        "scale": None if by_group else {"ends": [f"≤ {ends[0]:.3g}", f"{ends[1]:.3g}"], "of": unit},
        "loss": loss,
        "alt": f"Records on {view.x.name} and {view.y.name}, grouped: {'; '.join(side.title for side in sides)}.",
        "whole": len(view.shown) == len(labels[0]),
        "sides": [_side(view, side, own, centroids) for side, own in zip(sides, colors, strict=True)],
    }
    return {"id": hashlib.sha256(json.dumps(scene).encode()).hexdigest()[:16], **scene}


def _side(view: View, side: Side, colors: np.ndarray, centroids: bool) -> dict[str, Any]:
    labels, sizes = side.partition.labels, side.partition.sizes
    places = view.centroids(labels) if centroids else None
    return {
        "groups": _packed(labels[view.shown], "i4"),
        "sizes": _packed(sizes, "i4"),
        "shares": _packed(side.shares[view.shown], "f4"),
        "colors": _packed(colors[view.shown], "u1"),
        "outlined": np.argsort(-side.group_shares(), kind="stable")[:FEW_GROUPS].tolist(),
        "centroids": None if places is None else [_packed(axis, "f4") for axis in places.T],
    }


def _packed(values: ArrayLike, kind: str) -> dict[str, str]:
    """Return numbers as the browser reads them at once, without a text for each."""
    return {"kind": kind, "bytes": base64.b64encode(np.asarray(values, dtype=f"<{kind}").tobytes()).decode()}


def _levels(losses: Sequence[np.ndarray]) -> tuple[list[np.ndarray], tuple[float, float]]:
    """Return the color number of each record of each side by the logarithm of its loss, and the losses at both ends."""
    top = max(float(lost.max()) for lost in losses)
    if top == 0.0:
        return [np.zeros(len(lost), dtype=np.int64) for lost in losses], (0.0, 0.0)
    low = float(np.clip(np.percentile(np.concatenate(losses), _FEWEST), _LEAST * top, top / 2))
    last = len(theme.LOSS_COLORS) - 1
    places = [np.log(np.clip(lost, low, top) / low) / np.log(top / low) for lost in losses]
    return [(last * place).round().astype(np.int64) for place in places], (low, top)


def _group_colors(view: View, labels: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the color number of each group of each side, the same for groups that are matched."""
    points = view.points()
    placed = np.isfinite(points).all(axis=1)
    groups, members = np.unique(labels[0][placed], return_inverse=True)
    sums = np.stack([np.bincount(members, weights=axis) for axis in points[placed].T], axis=1)
    colors = np.zeros(int(labels[0].max()) + 1, dtype=np.int64)
    colors[groups] = group_colors(sums / np.bincount(members)[:, np.newaxis])
    others = [
        matched_colors(colors, metrics.matched_groups(labels[0], other), int(other.max()) + 1) for other in labels[1:]
    ]
    return [colors, *others]


def _planes(view: View, sides: Sequence[Side]) -> go.Figure:
    """Return the axes of the panels, which are panned and zoomed together; records are drawn over them."""
    # Given at once: each further change of a figure costs Plotly milliseconds.
    layout: dict[str, Any] = {"template": "none", "dragmode": "pan", "showlegend": False, "annotations": []}
    records = []
    for place, side in enumerate(sides):
        own = str(place + 1) if place else ""
        records.append({"type": "scatter", "x": [None], "y": [None], "xaxis": f"x{own}", "yaxis": f"y{own}"})
        for letter, other, axis, span in (("x", "y", view.x, view.x_range), ("y", "x", view.y, view.y_range)):
            linked = {"matches": letter} if place else {}
            layout[f"{letter}axis{own}"] = {
                **axis.layout(),
                "range": span,
                "anchor": other + own,
                "zeroline": False,
                **linked,
            }
        swatch = f'<span style="color:{theme.style(side.key).color}">■</span>'
        note = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        layout["annotations"].append({"text": f"{swatch} {escape_html(side.title)}", "x": 0, "y": 1, **note})
    return go.Figure(records, layout)
