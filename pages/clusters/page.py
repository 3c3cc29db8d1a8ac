"""Clusters: the groups of the chosen partition on a plane, beside another method's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.algorithms.method import VARIANTS
from microagg.release import guarantees
from microagg.studies import landscape
from microagg.studies.experiment import Result
from microagg.tables import digest_array, to_csv
from pages.clusters import figures, group, plane
from pages.clusters.figures import Side
from pages.clusters.plane import View
from pages.shared import certificate, curves, jobs, methods, shell, state
from pages.shared.figures import download, show_figure
from pages.shared.text import count, describe_gap, escape_markdown, listing, percent
from pages.shared.workspace import Workspace, chosen_workspace

#: Plotly's buttons to zoom and to move.
ZOOM = ("zoomIn2d", "zoomOut2d", "pan2d", "resetScale2d")

_MOST_K = 20  # of the curves against k


def body() -> None:
    workspace = chosen_workspace()
    is_demo = state.current().clusters.demo
    if not is_demo:
        _controls(workspace)
    results = _results(workspace)
    if not results:
        return
    sides = [_side(workspace, name, result) for name, result in results.items()]
    _verdict(sides)
    _describe(workspace, sides, list(results.values()))
    certificate.watch_floor(workspace)
    if is_demo and len(sides) > 1:
        _against_k(workspace, sides)
    view = plane.view(workspace, sides[0].partition)
    _linked(workspace, view, sides)
    _remarks(view, workspace)
    if is_demo:
        _controls(workspace)
    with st.container(horizontal=True, vertical_alignment="center"):
        _save(workspace, view, sides)
        shell.link("release", "**Release →**")


def _controls(workspace: Workspace) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", width=660, key="clusters_choices"):
        label = f"Compare {methods.title(methods.chosen(workspace))} with"
        fitting = methods.fitting(workspace)
        second = methods.second(workspace)
        state.bound(st.selectbox, label, "second", selected=second, options=fitting, format_func=methods.title)
        plane.pick(workspace)
        plane.pick_attributes(workspace)
        state.bound(st.toggle, "Curves by k", "demo")


def _results(workspace: Workspace) -> dict[str, Result]:
    """The chosen partition and the one beside it; none if the chosen one is of another session's search."""
    k, names = state.current().k, list(dict.fromkeys([methods.chosen(workspace), methods.second(workspace)]))
    results: dict[str, Result] = {}
    if names[0] == state.FOUND:
        best = certificate.best(workspace, k)
        if best is None:
            st.info(
                f"The chosen partition is the best known one at k = {k}, but this session has not searched at this k: "
                "search again on Choose k, or choose another method."
            )
            shell.link("choose_k", "Choose k →")
            return {}
        results[names.pop(0)] = best
    partitions = jobs.partitions(workspace, [(methods.method(workspace, name), k) for name in names])
    results |= dict(zip(names, partitions, strict=True))
    if not workspace.rules[0]:
        return results
    keys = [result.method.key for result in results.values()]
    digests = [digest_array(result.partition.labels) for result in results.values()]
    identity = (workspace.digest, workspace.exposed.digest, k, *keys, *digests)
    message, first = "Forming groups that meet the guarantees", list(results.values())
    held = jobs.once("held", identity, keys, message, lambda: [*map(workspace.with_guarantees, first)], workspace.n)
    return dict(zip(results, held or [], strict=bool(held)))


def _side(workspace: Workspace, name: str, result: Result) -> Side:
    # Parameters are named where the method's title does not stand for them.
    label = result.method.label if name in VARIANTS and name == VARIANTS[name].key else methods.title(name)
    shares = metrics.record_shares(workspace.data, result.partition.labels)
    return Side(name, label, result.partition, shares, result.information_loss)


def _verdict(sides: list[Side]) -> None:
    if len(sides) == 1:
        return
    better, worse = sorted(sides, key=lambda side: side.loss)
    k, less = better.partition.k, 100 * (1 - better.loss / worse.loss) if worse.loss else 0.0
    message = f"At k = {k}, {better.label} has {percent(less, 2)} lower loss than {worse.label}."
    if worse.loss <= better.loss * (1 + 1e-9):
        message = f"At k = {k}, {better.label} and {worse.label} have the same loss."
    st.header(escape_markdown(message))


def _against_k(workspace: Workspace, sides: list[Side]) -> None:
    """Draw the curves of both methods and their difference by k; stored results of a benchmark serve."""
    ks = [k for k in landscape.KS if k <= min(_MOST_K, workspace.n)]
    variants = {methods.method(workspace, side.key): side.key for side in sides if side.key != state.FOUND}
    rows = certificate.rows(workspace, variants, ks)
    computed = set() if rows.empty else set(zip(rows["variant"], rows["k"], strict=True))
    missing = [(method, k) for k in ks for method, name in variants.items() if (name, k) not in computed]
    job = jobs.losses(workspace, missing) if missing else None
    if job and job.running:
        jobs.watch(job)
    if len({name for name, _ in computed}) < len(sides):
        return
    k, less = state.current().k, figures.lower_losses(rows, sides)
    [one, two], wins = [side.label for side in sides], int((less > 0).sum())
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        alt = f"Information loss of {one} and {two} by k, with the lower bound."
        bounds = [bound for bound in certificate.floors(workspace, ks) if bound.information_loss]
        chosen = (sides[0].key, k)
        figure = curves.measure_curves(rows, "information_loss", floor=bounds, selected=chosen, height=figures.HEIGHT)
        show_figure(figure, title=f"Loss of {one} and {two} by k", key="losses_by_k", alt=alt)
    with right:
        title = f"{one} has lower loss than {two} at {wins} of {len(less)} values of k" if not missing else "Difference"
        figure = figures.difference_by_k(rows, sides, k)
        show_figure(figure, title=title, key="difference_by_k", alt=f"{title}.")


@st.fragment
def _linked(workspace: Workspace, view: View, sides: list[Side]) -> None:
    """Draw the planes and the chosen group: a click draws only this anew."""
    chosen = group.chosen(workspace, sides)
    with st.container(horizontal=True, vertical_alignment="center"):
        differs = int(np.count_nonzero(~metrics.grouped_alike(sides[0].partition.labels, sides[-1].partition.labels)))
        label = f"Differences only ({differs:,} of {count(workspace.n, 'record')})"
        only = len(sides) > 1 and st.toggle(label, key="clusters_differences")
        if chosen is not None:
            st.button("× All groups", on_click=group.choose, args=(workspace, None))
    unit = f"% of {'variation' if workspace.is_numeric else 'the largest possible'}"
    drawn = figures.planes(view, sides, workspace.frame.index, unit=unit, group=chosen, differences=only)
    for place, (column, figure) in enumerate(zip(st.columns(len(sides)), drawn, strict=True)):
        key, title = f"plane_{place}", sides[place].title
        with column:
            click = partial(_click, workspace, place, key)
            alt = f"Records on {view.x.name} and {view.y.name}, grouped: {title}."
            how: dict[str, Any] = {"on_select": click, "selection_mode": "points"}
            show_figure(figure, title=title, key=key, alt=alt, buttons=ZOOM, **how)
    group.show(workspace, sides, differences=only)
    group.losing_most(workspace, sides)


def _click(workspace: Workspace, side: int, key: str) -> None:
    if points := st.session_state[key].selection.points:
        group.choose(workspace, (side, int(points[0]["customdata"][0])))


def _remarks(view: View, workspace: Workspace) -> None:
    message = []
    if len(view.rows) < workspace.n:
        message.append(
            f"The figure shows a random sample of {len(view.rows):,} records. All numbers are for all "
            f"{workspace.n:,} records."
        )
    if workspace.is_sample:
        message.append(
            f"This is a sample of {workspace.n:,} of {workspace.n_complete:,} records; the loss of all records is lower."
        )
    if workspace.rules[0]:
        required = escape_markdown(guarantees.describe(workspace.requested))
        message.append(f"Groups meet the guarantees of the release: {required}.")
    elif workspace.rules[1]:
        message.append(f"The guarantees beyond k cannot be met, so groups are drawn without them. {workspace.rules[1]}")
    if workspace.schema.strata:
        within = listing([escape_markdown(name) for name in workspace.schema.strata])
        message.append(f"Groups are formed within the strata of {within}.")
    if message:
        st.caption(" ".join(message))


def _save(workspace: Workspace, view: View, sides: list[Side]) -> None:
    def table() -> str:
        across, up = (" ".join(axis.name.split()) for axis in (view.x, view.y))
        columns = {"record": workspace.frame.index, f"across: {across}": view.x.values, f"up: {up}": view.y.values}
        for side in sides:
            columns |= {f"group by {side.label}": side.partition.labels + 1, f"loss by {side.label} (%)": side.shares}
        return to_csv(pd.DataFrame(columns))

    download("Data of the figure (CSV)", table, "groups.csv")


def _describe(workspace: Workspace, sides: list[Side], results: list[Result]) -> None:
    """Say for each partition its loss, its gap to the lower bound, and the sizes of its groups."""
    lines = []
    for side, result in zip(sides, results, strict=True):
        sizes, measures = side.partition.sizes, result.measures
        parts = [f"loss {percent(result.information_loss)}"]
        if not workspace.is_sample:
            least = certificate.floors(workspace, [result.k])[0].information_loss
            parts[0] = f"{describe_gap(result.information_loss, least)} ({parts[0]}, lower bound {percent(least)})"
        if not workspace.is_numeric:
            parts.append(f"Total-IL {measures['total_information_loss']:,.1f} of {workspace.n * workspace.d:,}")
            parts.append(f"discernibility {measures['discernibility']:,}")
            if measures["classification"] is not None:
                parts.append(f"classification {percent(100 * measures['classification'])}")
        span = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes.min(), sizes.max())))
        parts.append(f"{count(len(sizes), 'group')} of {span} records")
        lines.append(f"**{escape_markdown(side.label)}**: {escape_markdown(', '.join(parts))}.")
    st.markdown("  \n".join(lines))


shell.show(body)
