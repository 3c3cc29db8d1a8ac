"""Clusters: the groups of the chosen partition on a plane, beside another method's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.algorithms.method import VARIANTS
from microagg.release import guarantees
from microagg.studies.experiment import Result
from microagg.tables import digest_array, to_csv
from pages.clusters import figures, group, plane
from pages.clusters.figures import Side
from pages.clusters.plane import View
from pages.shared import certificate, jobs, methods, searched, shell, state, tables
from pages.shared.figures import download, show_figure, show_tiles
from pages.shared.text import count, describe_gap, escape_markdown, listing, percent
from pages.shared.workspace import Workspace, chosen_workspace


def body() -> None:
    workspace = chosen_workspace()
    figures.load_plotly()
    _controls(workspace)
    results = _results(workspace)
    if not results:
        return
    sides = [_side(workspace, name, result) for name, result in results.items()]
    loss = "SSE" if workspace.is_numeric else "Total-IL"
    _verdict(sides)
    view = plane.view(workspace, sides[0].partition)
    scene = figures.linked_planes(
        view,
        sides,
        workspace.frame.index,
        loss=loss,
        unit="% of the SST" if workspace.is_numeric else "% of the most that can be lost",
        centroids=workspace.is_numeric,
        by_group={"loss": False, "group": True}.get(state.current().clusters.colors),
    )
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="stretch"):
            _linked(workspace, sides, scene, loss)
            _remarks(view, workspace)
            _save(workspace, view, sides)
        with st.container(width=340):
            _distributions(sides, loss)
    for column, side, result in zip(st.columns(len(sides)), sides, results.values(), strict=True):
        with column:
            st.markdown(f"**{escape_markdown(side.label)}**")
            certificate.while_rising(workspace, [result.k], partial(_metrics, workspace, result))
    shell.link("release", "**Release →**")


def _controls(workspace: Workspace) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", width=660):
        label = f"Beside {methods.title(methods.chosen(workspace))}"
        fitting = methods.fitting(workspace)
        second = methods.second(workspace)
        state.bound(st.selectbox, label, "second", selected=second, options=fitting, format_func=methods.title)
        plane.pick(workspace)
        with st.popover("More", width="content"):
            titles = {"": "What suits", "loss": "Loss of the record", "group": "Its group"}
            says = "What suits: of up to 8 groups each has its color; of more, colors show what records lose."
            state.bound(st.selectbox, "Color", "colors", options=list(titles), format_func=titles.get, help=says)
            plane.pick_details(workspace)


def _results(workspace: Workspace) -> dict[str, Result]:
    """Return the chosen partition and the one beside it; say so and return none if another session found it."""
    k, names = state.current().k, list(dict.fromkeys([methods.chosen(workspace), methods.second(workspace)]))
    results: dict[str, Result] = {}
    if names[0] == state.FOUND:
        best = searched.best(workspace, k)
        if best is None:
            st.info(
                f"The chosen partition is the best that a search has found at k = {k}, but this session has not searched "
                "there: run the search again on the page Choose k, or choose another method."
            )
            shell.link("choose_k", "Choose k →")
            return {}
        results[state.FOUND] = best
    others = [name for name in names if name not in results]
    cells = [(methods.method(workspace, name), k) for name in others]
    results |= dict(zip(others, jobs.partitions(workspace, cells), strict=True))
    results = {name: results[name] for name in names}
    if not workspace.rules[0]:
        return results
    message = "Forming groups that keep what is guaranteed"
    keys, digests = (
        [result.method.key for result in results.values()],
        [digest_array(result.partition.labels) for result in results.values()],
    )
    identity = (workspace.digest, workspace.exposed.digest, k, *keys, *digests)
    held = jobs.once("held", identity, keys, message, lambda: list(map(workspace.held, results.values())), workspace.n)
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
    says = f"At k = {k}, {better.label} loses {less:.3g} % less than {worse.label}."
    if worse.loss <= better.loss * (1 + 1e-9):
        says = f"{better.label} and {worse.label} lose the same at k = {k}."
    st.markdown(f"**{escape_markdown(says)}**")


@st.fragment
def _linked(workspace: Workspace, sides: list[Side], scene: dict[str, object], loss: str) -> None:
    """Draw the figure and the chosen group: a click draws only this anew, and the figure is not sent again."""
    chosen = group.of_figure(group.chosen(workspace, sides), sides)
    figures.show_linked(scene, chosen, lambda choice: group.choose(workspace, choice), key="clusters_figure")
    group.show(workspace, sides, loss)
    group.losing_most(workspace, sides[0], loss)


def _remarks(view: View, workspace: Workspace) -> None:
    says = []
    if len(view.rows) < workspace.n:
        says.append(
            f"{workspace.n:,} records are more than can be drawn without lag: a random sample of {len(view.rows):,} is "
            f"shown, without outlines. All figures are for all {workspace.n:,}."
        )
    tables.say_sample(workspace.table)
    if workspace.is_sample:
        says.append(
            f"This is a sample: {workspace.n:,} of {workspace.n_complete:,} records; on all of them losses are lower."
        )
    if workspace.rules[0]:
        says.append(
            f"Groups are drawn as they are released: {escape_markdown(guarantees.describe(workspace.requested))}."
        )
    elif workspace.rules[1]:
        says.append(f"What is asked for beyond k cannot be had, so groups are drawn without it. {workspace.rules[1]}")
    if workspace.schema.strata:
        within = listing([escape_markdown(name) for name in workspace.schema.strata])
        says.append(f"Groups are formed within {within}: all records of a group agree on it.")
    if outside := view.outside():
        says.append(f"{count(outside, 'record')} lie outside the frame; drag the chart, or choose “All records”.")
    if says:
        st.caption(" ".join(says))


def _save(workspace: Workspace, view: View, sides: list[Side]) -> None:
    def table() -> str:
        across, up = (" ".join(axis.name.split()) for axis in (view.x, view.y))
        columns = {"record": workspace.frame.index, f"across: {across}": view.x.values, f"up: {up}": view.y.values}
        for side in sides:
            columns |= {f"group by {side.label}": side.partition.labels + 1, f"loss by {side.label} (%)": side.shares}
        return to_csv(pd.DataFrame(columns))

    download("What the figure shows (CSV)", table, "groups.csv", type="tertiary")


def _distributions(sides: list[Side], loss: str) -> None:
    alt = "What part of the loss falls on the groups that lose most, against how many of all groups they are."
    show_figure(figures.loss_curve(sides, loss), title=figures.tenth_in_words(sides), key="loss_curve", alt=alt)
    exact = [100 * float(np.mean(side.partition.sizes == side.partition.k)) for side in sides]
    parts = [f"{share:.0f} % by {side.label}" for share, side in zip(exact, sides, strict=True)]
    title = f"Groups of exactly k records: {' and '.join(parts)}"
    show_figure(
        figures.group_sizes(sides), title=title, key="sizes", alt="How many groups have how many records, per method."
    )


def _metrics(workspace: Workspace, result: Result) -> None:
    loss, sizes, measures = result.information_loss, result.partition.sizes, result.measures
    numeric, remarks = workspace.is_numeric, []
    if numeric:
        tiles = [("Information loss", percent(loss), "IL = 100 · SSE / SST of the numbers, on the scaled data.")]
    else:
        total = measures["total_information_loss"]
        says = f"What ranges and common ancestors lose; 100 % if all values became “anything”. The sum is {total:,.1f}."
        tiles = [("Total-IL", percent(measures["information_loss"]), says)]
        remarks = [f"Total-IL is {total:,.1f} of at most {workspace.n * workspace.d:,}"]
    if workspace.is_whole:
        least = certificate.floors(workspace, [result.k])[0].information_loss
        says = "Proven: whatever the method, less cannot be lost at this k. A search on the page Choose k raises it."
        tiles.append(("Floor", percent(least), says))
        remarks.append(describe_gap(loss, least))
    if not numeric:
        says = "DM, the sum of the squared group sizes: how many others each record cannot be told from, summed."
        tiles.append(("Discernibility", f"{measures['discernibility']:,}", says))
        if measures["classification"] is not None:
            says = "CM, the records outside the majority class of their group."
            tiles.append(("Classification", percent(100 * measures["classification"]), says))
    says = f"Of {sizes.min():,} to {sizes.max():,} records, {sizes.mean():.3g} on average."
    tiles.append(("Groups", f"{len(sizes):,}", says))
    show_tiles(tiles, gap="medium")
    if text := ", ".join(filter(None, remarks)):
        rising = certificate.describe_progress(workspace) if workspace.is_whole else ""
        text += f". {rising}" if rising else ""
        st.caption(f"{text[0].upper()}{text[1:]}.")


shell.show(body)
