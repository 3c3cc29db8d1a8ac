"""Clusters: the groups of the chosen partition on a plane, beside another method's."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.coordinates import principal_components, principal_coordinates
from microagg.experiment import Result
from microagg.partition import Partition
from microagg.records import Records
from microagg.release.recoding import group_texts
from microagg.taxonomy import ANYTHING
from microagg.variants import VARIANTS
from pages.ui import shell, state, widgets
from pages.ui.charts.clusters import Axis, View, clusters, group_sizes
from pages.ui.charts.layout import show_figure
from pages.ui.data import methods
from pages.ui.data.workspace import Workspace, chosen_workspace
from pages.ui.runs import certificate, figures, floor, jobs
from pages.ui.text import count, escape_markdown, gap_in_words, listing, value

_COMPONENTS = ("PC 1", "PC 2")


@dataclass(frozen=True)
class _Side:
    """A partition as the page shows it."""

    name: str
    label: str
    result: Result


def body() -> None:
    """Draw the page."""
    st.markdown(
        "Each group is outlined, its records in one color. Tight groups lose little. Groups may overlap here although "
        "they are apart in the other attributes."
    )
    workspace = chosen_workspace()
    _scope(workspace)
    _controls(workspace)
    sides = _sides(workspace)
    if not sides:
        return
    _verdict(sides)
    view = _view(workspace)
    for column, side in zip(st.columns(len(sides)), sides, strict=True):
        labels = side.result.partition.labels
        shares = metrics.record_shares(workspace.data, labels)
        with column:
            _figures(workspace, side.result)
            show_figure(
                clusters(
                    view, labels, shares, workspace.frame.index, loss=_loss(workspace), centroids=workspace.is_numeric
                ),
                title=f"{side.label} at k = {side.result.k}, {count(workspace.n, 'record')}",
                key=f"clusters_{side.name}",
                alt=f"Records of {workspace.table.title} on {state.current().x} and {state.current().y}, "
                f"grouped by {side.label} with k = {side.result.k}.",
            )
    _remarks(view, workspace)
    show_figure(
        group_sizes([(side.name, side.label, side.result.partition.sizes) for side in sides]),
        title=_sizes_in_words(sides),
        key="sizes",
        alt="How many groups have how many records, per method.",
    )
    _losers(workspace, sides[0])
    shell.link("release", "**Release →**")


def _loss(workspace: Workspace) -> str:
    return "SSE" if workspace.is_numeric else "Total-IL"


def _scope(workspace: Workspace) -> None:
    says = []
    if workspace.is_sample:
        says.append(
            f"This is a sample: {workspace.n:,} of {workspace.n_complete:,} records; on all of them losses are lower."
        )
    if workspace.schema.strata:
        within = listing([escape_markdown(name) for name in workspace.schema.strata])
        says.append(f"Groups are formed within {within}: all records of a group agree on it.")
    if says:
        st.caption(" ".join(says))


def _controls(workspace: Workspace) -> None:
    planes = _COMPONENTS[:1] if workspace.is_numeric and workspace.d == 1 else _COMPONENTS
    axes = [*planes, *(str(a.name) for a in workspace.records.attributes if a.kind != "nominal")]
    for field, usual in (("x", axes[0]), ("y", axes[min(1, len(axes) - 1)])):
        if getattr(state.current(), field) not in axes:
            state.update(**{field: usual})
    beside, across, up, frame = st.columns(4, vertical_alignment="bottom")
    with beside:
        label = f"Beside {escape_markdown(methods.title(methods.chosen(workspace)))}"
        widgets.pick_method(label, "second", methods.fitting(workspace), methods.second(workspace), methods.title)
    with across:
        says = "PC: principal component of the scaled attributes."
        if not workspace.is_numeric:
            says = "PC: principal coordinate; records that differ much lie far apart. Attributes without an order are no axes."
        state.bound(st.selectbox, "Across", "x", options=axes, help=says)
    with up:
        state.bound(st.selectbox, "Up", "y", options=axes)
    with frame:
        titles = {"all": "All records", "center": "The dense middle"}
        says = "The dense middle leaves out the outer 2 % on each side, so that skewed data can be seen."
        state.bound(st.selectbox, "Frame", "frame", options=list(titles), format_func=titles.get, help=says)


@st.cache_resource(scope="session", max_entries=4, show_spinner="Placing the records on a plane …")
def _plane(digest: str, _workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal components or coordinates of the records, NaN for those left out, and what each explains."""
    found = principal_coordinates(_workspace.records) if _workspace.X is None else principal_components(_workspace.X)
    points = np.full((_workspace.n, 2), np.nan)
    points[found.rows] = found.points
    return points, found.shares


def _view(workspace: Workspace) -> View:
    choices = state.current()
    return View.of(_axis(workspace, choices.x), _axis(workspace, choices.y), central=choices.frame == "center")


def _axis(workspace: Workspace, name: str) -> Axis:
    if name in workspace.columns:
        place = workspace.columns.index(name)
        return Axis.of(workspace.records.attributes[place], workspace.records.values[:, place])
    points, shares = _plane(workspace.digest, workspace)
    place = _COMPONENTS.index(name)
    what, of = ("component", "variance") if workspace.is_numeric else ("coordinate", "squared distances")
    return Axis(f"principal {what} {place + 1}\n({100 * shares[place]:.0f} % of the {of})", points[:, place])


def _sides(workspace: Workspace) -> list[_Side]:
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
            return []
        results[state.FOUND] = found
    others = [name for name in names if name not in results]
    cells = [(methods.method(workspace, name), k) for name in others]
    results |= dict(zip(others, jobs.partitions(workspace, cells), strict=True))
    return [_Side(name, _label(name, results[name]), results[name]) for name in names]


def _label(name: str, result: Result) -> str:
    """Return a method's title, with its parameters where the title does not stand for them."""
    return result.method.label if name in VARIANTS and name == VARIANTS[name].key else methods.title(name)


def _verdict(sides: list[_Side]) -> None:
    if len(sides) == 1:
        return
    better, worse = sorted(sides, key=lambda side: side.result.information_loss)
    low, high = better.result.information_loss, worse.result.information_loss
    if high <= low * (1 + 1e-9):
        says = f"{better.label} and {worse.label} lose the same at k = {better.result.k}."
    else:
        says = f"At k = {better.result.k}, {better.label} loses {100 * (1 - low / high):.3g} % less than {worse.label}."
    st.markdown(f"**{escape_markdown(says)}**")


def _figures(workspace: Workspace, result: Result) -> None:
    if workspace.is_numeric:
        floor.while_rising(workspace, [result.k], lambda: _metrics(workspace, result))
    else:
        _metrics(workspace, result)


def _metrics(workspace: Workspace, result: Result) -> None:
    loss, sizes, measures = result.information_loss, result.partition.sizes, result.measures
    if workspace.is_numeric:
        least = certificate.floors(workspace, [result.k])[0].information_loss
        figures.show(loss, None, sizes, floor=least)
        said = gap_in_words(loss, least)
        if rising := floor.rising_in_words(workspace):
            said += f". {rising}"
    else:
        figures.show(None, measures, sizes)
        said = f"Total-IL is {measures['total_information_loss']:,.1f} of at most {workspace.n * workspace.d:,}"
    st.caption(f"{said[0].upper()}{said[1:]}.")


def _remarks(view: View, workspace: Workspace) -> None:
    if len(view.shown) < workspace.n:
        st.info(
            f"{workspace.n:,} records are more than can be drawn without lag: a random sample of {len(view.shown):,} is "
            f"shown, without outlines. All figures are for all {workspace.n:,}."
        )
    if outside := view.outside():
        st.caption(f"{count(outside, 'record')} lie outside the frame; drag the chart, or choose “All records”.")


def _sizes_in_words(sides: list[_Side]) -> str:
    parts = []
    for side in sides:
        exact = 100 * float((side.result.partition.sizes == side.result.k).mean())
        parts.append(f"{side.label}: {exact:.0f} % have exactly k")
    return "Group sizes. " + "; ".join(parts)


def _losers(workspace: Workspace, side: _Side) -> None:
    numeric, loss, partition = workspace.is_numeric, _loss(workspace), side.result.partition
    st.subheader(f"{'Records' if numeric else 'Groups'} that lose most")
    if workspace.X is not None:
        found = metrics.records_losing_most(workspace.X, partition.labels)
        all_of, why = count(workspace.n, "record"), "Outliers have no near neighbors, so their groups are wide."
    else:
        found = metrics.groups_losing_most(workspace.records, partition.labels)
        all_of = count(partition.n_groups, "group")
        why = (
            "Their records have little in common. Of each group that record is named which is furthest from the others."
        )
    if not found.shares.any():
        st.caption("No record loses anything: all members of each group are equal.")
        return
    st.caption(
        f"By {escape_markdown(side.label)}, {found.shares.sum():.3g} % of the {loss} falls on {len(found.records)} of "
        f"{all_of}. {why}"
    )
    groups = partition.labels[found.records]
    rows = {
        "record": [str(workspace.frame.index[record]) for record in found.records],
        "group": [f"{group + 1} ({count(int(partition.sizes[group]), 'record')})" for group in groups],
        "share": found.shares,
        "attribute": [str(workspace.records.attributes[j].name) for j in found.attributes],
        "change": _changes(workspace, partition, found),
    }
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        column_order=list(rows) if numeric else ["group", "share", "attribute", "record", "change"],
        column_config={
            "record": "Record" if numeric else "Record furthest from the others",
            "group": "Group",
            "share": st.column_config.ProgressColumn(
                f"Share of the {loss} (%)", format="%.3f", min_value=0.0, max_value=float(found.shares[0])
            ),
            "attribute": "Attribute changed most" if numeric else "Attribute that loses most",
            "change": f"Value → {'mean of the group' if numeric else 'what the group has in common'}",
        },
    )


def _changes(workspace: Workspace, partition: Partition, found: metrics.Losing) -> list[str]:
    """Return what becomes of the value of each record that loses most, in the attribute that does."""
    # Of many attributes few are shown.
    chosen, places = np.unique(found.attributes, return_inverse=True)
    records = Records(tuple(workspace.records.attributes[j] for j in chosen), workspace.records.values[:, chosen])
    cells = list(zip(found.records, places, strict=True))
    before = [value(records.attributes[j], records.values[i, j]) for i, j in cells]
    if workspace.is_numeric:
        means = partition.centroids(records.values)[partition.labels]
        after = [value(records.attributes[j], means[i, j]) for i, j in cells]
    else:
        texts = group_texts(workspace.frame, records, partition)
        after = [texts[j][partition.labels[i]] for i, j in cells]
    return [f"{old} → {'anything' if new == ANYTHING else new}" for old, new in zip(before, after, strict=True)]


shell.show(body)
