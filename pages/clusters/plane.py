"""The plane on which records are drawn: its axes, the choice of planes, and the chosen one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from microagg import metrics
from microagg.columns.records import Attribute
from microagg.explain.coordinates import (
    asinh_unit,
    on_scale,
    principal_components,
    principal_coordinates,
    suited_scale,
)
from microagg.partition import Partition, group_means
from pages.shared import state
from pages.shared.text import escape_html, number
from pages.shared.workspace import Workspace

MOST_POINTS = 5_000  # of more records a random sample is drawn
_MILLISECONDS = 86_400_000  # in a day: dates are in days, Plotly's in milliseconds
_MOST_TICKS = 9  # of an axis; labels of more would touch


@dataclass(frozen=True)
class Axis:
    """The positions of the records along an axis, NaN for none; ``ticks`` are Plotly's settings if it is linear."""

    name: str
    values: np.ndarray
    ticks: dict[str, Any] = field(default_factory=dict)
    scale: str = "linear"

    @classmethod
    def of(cls, attribute: Attribute, values: np.ndarray) -> Axis:
        """The axis of a numeric or ordinal attribute; skewed numbers have a scale that suits them."""
        name = str(attribute.name)
        if attribute.kind == "ordinal":
            texts = [escape_html(level) for level in attribute.levels]
            return cls(name, values, {"tickvals": list(range(len(texts))), "ticktext": texts})
        if getattr(attribute, "unit", ""):
            return cls(name, values * _MILLISECONDS, {"type": "date"})
        return cls(name, values, scale=suited_scale(values))

    def places(self, values: np.ndarray) -> np.ndarray:
        """Return the coordinates of ``values``, in Plotly's units along the axis."""
        return on_scale(values, self.scale, asinh_unit(self.values))

    def drawn(self, values: np.ndarray) -> np.ndarray:
        """Return ``values`` as Plotly takes them: on a logarithmic axis as they are."""
        return values if self.scale == "log" else self.places(values)

    def centroids(self, labels: np.ndarray) -> np.ndarray:
        """Return the mean of each group."""
        return group_means(self.values, labels)[:, 0]

    def layout(self) -> dict[str, Any]:
        title = escape_html(self.name).replace("\n", "<br>")
        if self.scale == "log":
            finite = self.values[np.isfinite(self.values)]
            # Over few powers of ten there are also ticks at 2 and 5 times each.
            dtick = 1 if np.log10(finite.max() / finite.min()) > 2 else "D2"
            return {"title": f"{title} (log scale)", "type": "log", "dtick": dtick}
        if self.scale == "asinh":
            ticks = self._asinh_ticks()
            at = self.places(ticks).tolist()
            return {"title": f"{title} (asinh scale)", "tickvals": at, "ticktext": [number(tick) for tick in ticks]}
        return {"title": title, **self.ticks}

    def _asinh_ticks(self) -> np.ndarray:
        """Return 0 and powers of ten within the axis, far enough from each other for their labels."""
        finite = self.values[np.isfinite(self.values)]
        low, high = float(finite.min()), float(finite.max())
        top = int(np.floor(np.log10(max(abs(low), abs(high)))))
        sizes = 10.0 ** np.arange(top, top - 8, -1)
        candidates = [0.0, *sizes, *(-sizes)]
        taken: list[float] = []
        distance = float(np.ptp(self.places(np.array([low, high])))) / _MOST_TICKS
        for tick in candidates:
            near = np.abs(self.places(np.array([*taken, np.inf])) - self.places(np.array([tick])))
            if low <= tick <= high and near.min() >= distance:
                taken.append(tick)
        return np.sort(taken)


@dataclass(frozen=True)
class View:
    """A plane for all partitions: ``rows`` are the records drawn, ascending; ranges are in units of :meth:`Axis.places`."""

    x: Axis
    y: Axis
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    rows: np.ndarray

    @classmethod
    def of(cls, x: Axis, y: Axis, seed: int = 0) -> View:
        """Return a view of all records."""
        rows = np.flatnonzero(np.isfinite(x.values) & np.isfinite(y.values))
        ranges = []
        for axis in (x, y):
            places = axis.places(axis.values[rows])
            low, high = places.min(), places.max()
            pad = 0.05 * (high - low) or 0.5
            ranges.append((float(low - pad), float(high + pad)))
        if len(rows) > MOST_POINTS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_POINTS, replace=False))
        return cls(x, y, ranges[0], ranges[1], rows)


@st.cache_resource(scope="session", max_entries=4, show_spinner="Placing the records on a plane …")
def _components(digest: str, _workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal components or coordinates of the records, NaN for those left out, and their shares."""
    numbers = _workspace.X
    placed = principal_coordinates(_workspace.records) if numbers is None else principal_components(numbers)
    points = np.full((_workspace.n, 2), np.nan)
    points[placed.rows] = placed.points
    return points, placed.shares


def _with_order(workspace: Workspace) -> list[str]:
    return [str(attribute.name) for attribute in workspace.records.attributes if attribute.kind != "nominal"]


def _planes(workspace: Workspace) -> dict[str, str]:
    _, shares = _components(workspace.digest, workspace)
    what = "components" if workspace.is_numeric else "coordinates"
    titles = {"components": f"Principal {what} ({100 * shares.sum():.0f} %)"}
    if len(_with_order(workspace)) > 1:
        titles |= {"loss": "Two attributes with the largest loss", "attributes": "Two attributes"}
    return titles


def pick(workspace: Workspace) -> None:
    titles, plane = _planes(workspace), _chosen(workspace)
    what = "variance" if workspace.is_numeric else "squared distances"
    says = (
        f"Records differ most along the two principal axes, which have this share of the {what}. Groups that overlap on "
        "the plane may differ in other attributes."
    )
    state.bound(st.selectbox, "Plane", "plane", selected=plane, options=list(titles), format_func=titles.get, help=says)


def pick_attributes(workspace: Workspace) -> None:
    """Draw the choice of the attributes on the axes, if the plane is that of two attributes."""
    if _chosen(workspace) == "attributes":
        for field, label, name in zip(("x", "y"), ("Across", "Up"), _pair(workspace), strict=True):
            state.update(**{field: name})
            state.bound(st.selectbox, label, field, options=_with_order(workspace))


def view(workspace: Workspace, partition: Partition) -> View:
    """Return the chosen plane; ``partition`` says which attributes lose most."""
    plane = _chosen(workspace)
    if plane == "components":
        across, up = _principal(workspace)
    else:
        names = _pair(workspace) if plane == "attributes" else _losing_most(workspace, partition)
        across, up = (_attribute(workspace, name) for name in names)
    return View.of(across, up)


def _chosen(workspace: Workspace) -> str:
    choices, there = state.current().clusters, _planes(workspace)
    if choices.plane in there:
        return choices.plane
    named = {choices.x, choices.y} & set(_with_order(workspace))
    return "attributes" if named and "attributes" in there else "components"


def _pair(workspace: Workspace) -> list[str]:
    names, choices = _with_order(workspace), state.current().clusters
    across = choices.x if choices.x in names else next(name for name in names if name != choices.y)
    return [across, choices.y if choices.y in names else next(name for name in names if name != across)]


def _principal(workspace: Workspace) -> list[Axis]:
    if workspace.is_numeric and workspace.d == 1:
        return [_attribute(workspace, workspace.columns[0]), Axis("", np.zeros(workspace.n), {"showticklabels": False})]
    points, shares = _components(workspace.digest, workspace)
    what = "component" if workspace.is_numeric else "coordinate"
    return [Axis(f"principal {what} {place + 1} ({100 * shares[place]:.0f} %)", points[:, place]) for place in range(2)]


def _losing_most(workspace: Workspace, partition: Partition) -> list[str]:
    shares = metrics.attribute_shares(workspace.data, partition.labels)
    able = [j for j in np.argsort(-shares, kind="stable") if workspace.records.attributes[j].kind != "nominal"]
    return [str(workspace.records.attributes[j].name) for j in able[:2]]


def _attribute(workspace: Workspace, name: str) -> Axis:
    place = [str(column) for column in workspace.columns].index(name)
    return Axis.of(workspace.records.attributes[place], workspace.records.values[:, place])
