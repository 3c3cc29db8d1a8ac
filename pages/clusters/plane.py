"""The plane on which records are drawn: its axes, the choice of planes, and the chosen one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.columns.records import Attribute
from microagg.explain.coordinates import principal_components, principal_coordinates
from microagg.partition import Partition, group_means
from pages.shared import state
from pages.shared.text import escape_html
from pages.shared.workspace import Workspace

MOST_POINTS = 5_000  # of more records a random sample is drawn
_MILLISECONDS = 86_400_000  # in a day: dates are in days, Plotly's in milliseconds
_SKEWED = 2.0  # the largest skewness of values on a linear axis


@dataclass(frozen=True)
class Axis:
    """The positions of the records along an axis, NaN for none; ``ticks`` are Plotly's settings if it is linear."""

    name: str
    values: np.ndarray
    ticks: dict[str, Any] = field(default_factory=dict)
    is_log: bool = False

    @classmethod
    def of(cls, attribute: Attribute, values: np.ndarray) -> Axis:
        """The axis of a numeric or ordinal attribute; that of skewed numbers above 0 is logarithmic."""
        name = str(attribute.name)
        if attribute.kind == "ordinal":
            texts = [escape_html(level) for level in attribute.levels]
            return cls(name, values, {"tickvals": list(range(len(texts))), "ticktext": texts})
        if getattr(attribute, "unit", ""):
            return cls(name, values * _MILLISECONDS, {"type": "date"})
        return cls(name, values, is_log=_is_skewed(values))

    def centroids(self, labels: np.ndarray) -> np.ndarray:
        """Return the mean of each group."""
        return group_means(self.values, labels)[:, 0]

    def texts(self, rows: np.ndarray) -> list[str]:
        """Return the positions of records as the paths of Plotly's shapes have them."""
        if self.ticks.get("type") == "date":
            return list(pd.to_datetime(self.values[rows], unit="ms").strftime("%Y-%m-%d_%H:%M:%S"))
        return [f"{value:.7g}" for value in self.values[rows]]

    def range(self) -> tuple[float, float]:
        """Return the ends of the axis in Plotly's units, with room around the records."""
        finite = self.values[np.isfinite(self.values)]
        places = np.log10(finite) if self.is_log else finite
        low, high = float(places.min()), float(places.max())
        pad = 0.05 * (high - low) or 0.5
        return low - pad, high + pad

    def layout(self) -> dict[str, Any]:
        title = escape_html(self.name).replace("\n", "<br>")
        if not self.is_log:
            return {"title": title, **self.ticks}
        low, high = self.range()
        # Over few powers of ten there are also ticks at 2 and 5 times each.
        return {"title": f"{title} (log scale)", "type": "log", "dtick": 1 if high - low > 2.2 else "D2"}


def _is_skewed(values: np.ndarray) -> bool:
    """Whether a logarithmic axis separates ``values`` better: all are above 0, and their skewness exceeds 2."""
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() <= 0:
        return False
    skewness = pd.DataFrame({"linear": finite, "log": np.log10(finite)}).skew().abs()
    return bool(skewness["linear"] > max(_SKEWED, 1.01 * skewness["log"]))


@dataclass(frozen=True)
class View:
    """A plane for all partitions: ``rows`` are the records drawn, ascending."""

    x: Axis
    y: Axis
    rows: np.ndarray

    @classmethod
    def of(cls, x: Axis, y: Axis, seed: int = 0) -> View:
        """Return a view of all records."""
        rows = np.flatnonzero(np.isfinite(x.values) & np.isfinite(y.values))
        if len(rows) > MOST_POINTS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_POINTS, replace=False))
        return cls(x, y, rows)


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
    message = (
        f"Records differ most along the two principal axes, which have this share of the {what}. Groups that overlap on "
        "the plane may differ in other attributes."
    )
    how: dict[str, Any] = {"options": list(titles), "format_func": titles.get, "help": message}
    state.bound(st.selectbox, "Plane", "plane", selected=plane, **how)


def pick_attributes(workspace: Workspace) -> None:
    """Draw the choice of the attributes on the axes, if the plane is that of two attributes."""
    if _chosen(workspace) == "attributes":
        for field, label, name in zip(("x", "y"), ("Across", "Up"), _pair(workspace), strict=True):
            state.update(**{field: name})
            state.bound(st.selectbox, label, field, options=_with_order(workspace))


def view(workspace: Workspace, partition: Partition) -> View:
    """Return the chosen plane; the attributes' losses are those of ``partition``."""
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
