"""Clusters: the groups of the chosen partition on a plane, beside another method's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.algorithms.method import VARIANTS
from microagg.studies.experiment import Result
from microagg.tables import to_csv
from pages.clusters import figures, group, planes
from pages.clusters.figures import group_sizes, loss_curve, tenth_in_words
from pages.clusters.map_figure import Side, View, linked_planes
from pages.shared import certificate, floor, jobs, methods, shell, state, tables, widgets
from pages.shared.figures import show_figure
from pages.shared.text import count, escape_markdown, gap_in_words, listing
from pages.shared.workspace import Workspace, chosen_workspace


def body() -> None:
    """Draw the page."""
    workspace = chosen_workspace()
    figures.load_plotly()
    _controls(workspace)
    results = _results(workspace)
    if not results:
        return
    sides = [_side(workspace, name, result) for name, result in results.items()]
    _verdict(sides)
    view = planes.view(workspace, sides[0].partition)
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="stretch"):
            _linked(workspace, sides, _scene(workspace, view, sides))
            _remarks(view, workspace)
            _save(workspace, view, sides)
        with st.container(width=340):
            _distributions(workspace, sides)
    for column, side, result in zip(st.columns(len(sides)), sides, results.values(), strict=True):
        with column:
            st.markdown(f"**{escape_markdown(side.label)}**")
            _figures(workspace, result)
    shell.link("release", "**Release →**")


def _loss(workspace: Workspace) -> str:
    return "SSE" if workspace.is_numeric else "Total-IL"


def _controls(workspace: Workspace) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", width=660):
        label = f"Beside {methods.title(methods.chosen(workspace))}"
        fitting = methods.fitting(workspace)
        widgets.pick_method(label, "second", fitting, methods.second(workspace), methods.title)
        planes.pick(workspace)
        with st.popover("More", width="content"):
            titles = {"": "What suits", "loss": "Loss of the record", "group": "Its group"}
            says = "What suits: of up to 8 groups each has its color; of more, colors show what records lose."
            state.bound(st.selectbox, "Color", "colors", options=list(titles), format_func=titles.get, help=says)
            planes.pick_details(workspace)


def _results(workspace: Workspace) -> dict[str, Result]:
    """Return the chosen partition and the one beside it; none, saying so, if it was found in another session."""
    k, names = state.current().k, list(dict.fromkeys([methods.chosen(workspace), methods.second(workspace)]))
    results: dict[str, Result] = {}
    if names[0] == state.FOUND:
        found = certificate.found(workspace, k)
        if found is None:
            st.info(
                f"The chosen partition is the best that a search has found at k = {k}, but this session has not searched "
                "there: run the search again on the page Choose k, or choose another method."
            )
            shell.link("choose_k", "Choose k →")
            return {}
        results[state.FOUND] = found
    others = [name for name in names if name not in results]
    cells = [(methods.method(workspace, name), k) for name in others]
    results |= dict(zip(others, jobs.partitions(workspace, cells), strict=True))
    return {name: results[name] for name in names}


def _side(workspace: Workspace, name: str, result: Result) -> Side:
    # Parameters are named where the method's title does not stand for them.
    label = result.method.label if name in VARIANTS and name == VARIANTS[name].key else methods.title(name)
    shares = metrics.record_shares(workspace.data, result.partition.labels)
    return Side(name, label, result.partition, shares, result.information_loss)


def _verdict(sides: list[Side]) -> None:
    if len(sides) == 1:
        return
    better, worse = sorted(sides, key=lambda side: side.loss)
    if worse.loss <= better.loss * (1 + 1e-9):
        says = f"{better.label} and {worse.label} lose the same at k = {better.partition.k}."
    else:
        less = 100 * (1 - better.loss / worse.loss)
        says = f"At k = {better.partition.k}, {better.label} loses {less:.3g} % less than {worse.label}."
    st.markdown(f"**{escape_markdown(says)}**")


def _scene(workspace: Workspace, view: View, sides: list[Side]) -> dict[str, object]:
    return linked_planes(
        view,
        sides,
        workspace.frame.index,
        loss=_loss(workspace),
        unit="% of the SST" if workspace.is_numeric else "% of the most that can be lost",
        centroids=workspace.is_numeric,
        by_group={"loss": False, "group": True}.get(state.current().clusters.colors),
    )


@st.fragment
def _linked(workspace: Workspace, sides: list[Side], scene: dict[str, object]) -> None:
    """Draw the figure and what is chosen in it: a click draws only this anew, and the figure is not sent again."""
    found, loss = group.chosen(workspace, sides), _loss(workspace)
    figures.show_linked(
        scene, group.of_figure(found, sides), lambda choice: group.choose(workspace, choice), key="clusters_figure"
    )
    group.show(workspace, sides, loss)
    group.losing_most(workspace, sides[0], loss)


def _remarks(view: View, workspace: Workspace) -> None:
    says = []
    if len(view.shown) < workspace.n:
        says.append(
            f"{workspace.n:,} records are more than can be drawn without lag: a random sample of {len(view.shown):,} is "
            f"shown, without outlines. All figures are for all {workspace.n:,}."
        )
    tables.say_sample(workspace.table)
    if workspace.is_sample:
        says.append(
            f"This is a sample: {workspace.n:,} of {workspace.n_complete:,} records; on all of them losses are lower."
        )
    if workspace.schema.strata:
        within = listing([escape_markdown(name) for name in workspace.schema.strata])
        says.append(f"Groups are formed within {within}: all records of a group agree on it.")
    if outside := view.outside():
        says.append(f"{count(outside, 'record')} lie outside the frame; drag the chart, or choose “All records”.")
    if says:
        st.caption(" ".join(says))


def _save(workspace: Workspace, view: View, sides: list[Side]) -> None:
    """Offer what the figure shows as a table."""

    def table() -> str:
        across, up = (" ".join(axis.name.split()) for axis in (view.x, view.y))
        columns = {"record": workspace.frame.index, f"across: {across}": view.x.values, f"up: {up}": view.y.values}
        for side in sides:
            columns |= {f"group by {side.label}": side.partition.labels + 1, f"loss by {side.label} (%)": side.shares}
        return to_csv(pd.DataFrame(columns))

    st.download_button(
        "What the figure shows (CSV)",
        table,
        file_name="groups.csv",
        mime="text/csv",
        on_click="ignore",
        type="tertiary",
    )


def _distributions(workspace: Workspace, sides: list[Side]) -> None:
    show_figure(
        loss_curve(sides, _loss(workspace)),
        title=f"{tenth_in_words(sides)}",
        key="loss_curve",
        alt="What part of the loss falls on the groups that lose most, against how many of all groups they are.",
    )
    show_figure(
        group_sizes(sides),
        title=_sizes_in_words(sides),
        key="sizes",
        alt="How many groups have how many records, per method.",
    )


def _sizes_in_words(sides: list[Side]) -> str:
    exact = [100 * float(np.mean(side.partition.sizes == side.partition.k)) for side in sides]
    parts = [f"{share:.0f} % by {side.label}" for share, side in zip(exact, sides, strict=True)]
    return f"Groups of exactly k records: {' and '.join(parts)}"


def _figures(workspace: Workspace, result: Result) -> None:
    floor.while_rising(workspace, [result.k], lambda: _metrics(workspace, result))


def _metrics(workspace: Workspace, result: Result) -> None:
    loss, sizes, measures = result.information_loss, result.partition.sizes, result.measures
    least = certificate.floors(workspace, [result.k])[0].information_loss
    if workspace.is_numeric:
        figures.show(loss, None, sizes, floor=least if workspace.is_whole else None)
        said = gap_in_words(loss, least) if workspace.is_whole else ""
    else:
        figures.show(None, measures, sizes, floor=least if workspace.is_whole else None)
        said = f"Total-IL is {measures['total_information_loss']:,.1f} of at most {workspace.n * workspace.d:,}"
        said += f", {gap_in_words(loss, least)}" if workspace.is_whole else ""
    if not said:
        return
    if workspace.is_whole and (rising := floor.rising_in_words(workspace)):
        said += f". {rising}"
    st.caption(f"{said[0].upper()}{said[1:]}.")


shell.show(body)
