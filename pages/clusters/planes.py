"""The plane on which a page draws records: which there are, and which is chosen."""

from __future__ import annotations

import numpy as np
import streamlit as st

from microagg import metrics
from microagg.explain.coordinates import principal_components, principal_coordinates
from microagg.partition import Partition
from pages.clusters.map_figure import Axis, View
from pages.shared import state
from pages.shared.workspace import Workspace


@st.cache_resource(scope="session", max_entries=4, show_spinner="Placing the records on a plane …")
def _components(digest: str, _workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal components or coordinates of the records, NaN for those left out, and what each explains."""
    found = principal_coordinates(_workspace.records) if _workspace.X is None else principal_components(_workspace.X)
    points = np.full((_workspace.n, 2), np.nan)
    points[found.rows] = found.points
    return points, found.shares


def _with_order(workspace: Workspace) -> list[str]:
    """Return the names of the attributes that can be an axis."""
    return [str(attribute.name) for attribute in workspace.records.attributes if attribute.kind != "nominal"]


def _planes(workspace: Workspace) -> dict[str, str]:
    """Return the planes that there are, each with what the screen calls it."""
    _, shares = _components(workspace.digest, workspace)
    what = "components" if workspace.is_numeric else "coordinates"
    titles = {"components": f"Principal {what} ({100 * shares.sum():.0f} %)"}
    if len(_with_order(workspace)) > 1:
        titles |= {"loss": "The two attributes that lose most", "attributes": "Two attributes of your choice"}
    return titles


def pick(workspace: Workspace) -> None:
    """Draw the picker of the plane."""
    titles = _planes(workspace)
    st.session_state["w_plane"] = _chosen(workspace)
    what = "variance" if workspace.is_numeric else "squared distances"
    st.selectbox(
        "Plane",
        list(titles),
        key="w_plane",
        format_func=titles.__getitem__,
        help=f"Principal axes: the two along which records differ most, with their share of the {what}. Groups may overlap "
        "on a plane although they are apart in the other attributes.",
        on_change=lambda: state.update(plane=st.session_state["w_plane"]),
    )


def pick_details(workspace: Workspace) -> None:
    """Draw what else can be chosen of the plane."""
    if _chosen(workspace) == "attributes":
        for field, label, shown in zip(("x", "y"), ("Across", "Up"), _pair(workspace), strict=True):
            state.update(**{field: shown})
            state.bound(st.selectbox, label, field, options=_with_order(workspace))
    titles = {"all": "All records", "center": "The dense middle"}
    says = "The dense middle leaves out the outer 2 % on each side."
    state.bound(st.selectbox, "Frame", "frame", options=list(titles), format_func=titles.get, help=says)
    titles = {"suited": "Log or asinh where skewed", "linear": "Linear"}
    says = (
        "An axis is logarithmic where its values are skewed and all above 0, and an inverse hyperbolic sine (asinh) where "
        "some are not: like the logarithm far from 0, linear near it."
    )
    state.bound(st.selectbox, "Scale of the axes", "axes", options=list(titles), format_func=titles.get, help=says)


def view(workspace: Workspace, partition: Partition) -> View:
    """Return the chosen plane; ``partition`` says which attributes lose most."""
    plane, scaled, central = (
        _chosen(workspace),
        state.current().clusters.axes == "suited",
        state.current().clusters.frame == "center",
    )
    if plane == "components":
        across, up = _principal(workspace)
    elif plane == "attributes":
        across, up = (_attribute(workspace, name, scaled=scaled) for name in _pair(workspace))
    else:
        across, up = _losing_most(workspace, partition, scaled=scaled)
    return View.of(across, up, central=central)


def _chosen(workspace: Workspace) -> str:
    choices, there = state.current(), _planes(workspace)
    if choices.clusters.plane in there:
        return choices.clusters.plane
    named = {choices.clusters.x, choices.clusters.y} & set(_with_order(workspace))
    return "attributes" if named and "attributes" in there else "components"


def _pair(workspace: Workspace) -> list[str]:
    """Return the two chosen attributes, the first ones where none is chosen."""
    names, choices = _with_order(workspace), state.current()
    across = (
        choices.clusters.x
        if choices.clusters.x in names
        else next(name for name in names if name != choices.clusters.y)
    )
    return [
        across,
        choices.clusters.y if choices.clusters.y in names else next(name for name in names if name != across),
    ]


def _principal(workspace: Workspace) -> list[Axis]:
    if workspace.is_numeric and workspace.d == 1:
        return [_attribute(workspace, workspace.columns[0]), Axis("", np.zeros(workspace.n), {"showticklabels": False})]
    points, shares = _components(workspace.digest, workspace)
    what = "component" if workspace.is_numeric else "coordinate"
    return [Axis(f"principal {what} {place + 1} ({100 * shares[place]:.0f} %)", points[:, place]) for place in range(2)]


def _losing_most(workspace: Workspace, partition: Partition, *, scaled: bool) -> list[Axis]:
    shares = metrics.attribute_shares(workspace.data, partition.labels)
    able = [j for j in np.argsort(-shares, kind="stable") if workspace.records.attributes[j].kind != "nominal"]
    names = [str(workspace.records.attributes[j].name) for j in able[:2]]
    return [_attribute(workspace, name, scaled=scaled) for name in names]


def _attribute(workspace: Workspace, name: str, *, scaled: bool = False) -> Axis:
    place = [str(column) for column in workspace.columns].index(name)
    return Axis.of(workspace.records.attributes[place], workspace.records.values[:, place], scaled=scaled)
