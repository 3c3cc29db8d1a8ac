"""The map of risk and loss on the page Choose k: its axes, figure and sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.studies import pareto
from microagg.studies.sweeps import MOST_CONFIDENTIAL
from pages.choose_k import risk_map_figure
from pages.choose_k.comparison import Picture, waiting
from pages.shared import certificate, limits, measures, methods, state
from pages.shared.text import count, escape_markdown, named
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
    rows = _with_best(workspace, rows, ks, risk)
    measured = rows if rows.empty else rows.dropna(subset=[risk, loss])
    if measured.empty:
        return waiting(measure, risk_map_figure.HEIGHT)
    missing = len(rows) - len(measured)
    drawn, chosen = _limits(workspace, ks, risk, loss), (methods.chosen(workspace), choices.k)
    return Picture(
        risk_map_figure.risk_map(measured, risk, loss, drawn, chosen),
        pareto.summary(measured, risk, loss, limits.current().risk),
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


def _with_best(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int], risk: str) -> pd.DataFrame:
    """Return the rows with those of searches, and with a column of the risk, NaN if it is unknown."""
    rows = certificate.with_best(workspace, rows, ks, risks=True)
    return rows if risk in rows else rows.assign(**{risk: np.nan})


def _not_counted(workspace: Workspace, risk: str) -> str:
    """Return in Markdown what a risk does not count; empty if it counts all."""
    exposed = workspace.exposed
    if risk == "record_linkage" and exposed.n_looked_up < workspace.n:
        return f" Estimated by {exposed.n_looked_up:,} of {workspace.n:,} records, drawn at random."
    left_out = [name for name in exposed.frame.columns if name not in exposed.counted]
    if risk in ("homogeneous", "t_closeness", "distinct_l") and left_out:
        why = (
            "missing values, or one value only"
            if len(exposed.counted) < MOST_CONFIDENTIAL
            else "missing values, or too many"
        )
        return f" Not counted: {escape_markdown(named(left_out))} ({why})."
    return ""


def _limits(workspace: Workspace, ks: Sequence[int], risk: str, loss: str) -> risk_map_figure.Limits:
    k, acceptable = state.current().k, limits.current()
    floors = _floors(workspace, ks, loss)
    follows = risk == "max_reidentification"
    return risk_map_figure.Limits(
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
