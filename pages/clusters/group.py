"""The chosen group on the page Clusters: its members' values, what is released of them, and the other side's groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.columns.records import Records
from microagg.columns.taxonomy import ANYTHING
from microagg.partition import Partition
from microagg.release.recoding import group_texts
from pages.clusters.figures import Side, tenth_in_words
from pages.shared.figures import show_table
from pages.shared.text import count, escape_markdown, listing, value
from pages.shared.workspace import Workspace

_CHOSEN = "clusters_chosen"
_MOST_MEMBERS = 100  # that are listed
_MOST_ATTRIBUTES = 50  # likewise


def choose(workspace: Workspace, choice: tuple[int, int] | None) -> None:
    """Make the group of a record stand out, by the number of the side and the position of the record; None for no group."""
    st.session_state[_CHOSEN] = None if choice is None else (workspace.digest, *choice)


def chosen(workspace: Workspace, sides: Sequence[Side]) -> tuple[int, int] | None:
    """Return the chosen group: the number of the side, and that of the group there."""
    digest, side, record = st.session_state.get(_CHOSEN) or ("", 0, 0)
    if digest != workspace.digest or side >= len(sides) or record >= workspace.n:
        return None
    return side, int(sides[side].partition.labels[record])


def show(workspace: Workspace, sides: Sequence[Side], *, differences: bool) -> None:
    group = chosen(workspace, sides)
    if group is None:
        where = " on both sides" if len(sides) > 1 else ""
        marks = "Joined to their mean: the groups with the largest loss."
        if differences:
            marks = "Colored: records whose loss is lower on this side; gray: not lower. Faded: grouped alike on both sides."
        st.caption(f"{marks} Click a record, or a row of the table below, to see its group{where} with its values.")
        return
    place, number = group
    side = sides[place]
    members = np.flatnonzero(side.partition.labels == number)
    st.markdown(
        f"**{escape_markdown(f'Group {number + 1} of {side.label}')}:** {count(len(members), 'record')}, "
        f"{side.shares[members].sum():.3g} % of the loss. {_elsewhere(sides, place, members)}"
    )
    if len(members) > _MOST_MEMBERS:
        st.caption(f"The first {_MOST_MEMBERS} of {count(len(members), 'record')} are listed.")
    _table(workspace, sides, place, members)


def _elsewhere(sides: Sequence[Side], side: int, members: np.ndarray) -> str:
    if len(sides) == 1:
        return ""
    other = sides[1 - side]
    groups, counts = np.unique(other.partition.labels[members], return_counts=True)
    label = escape_markdown(other.label)
    if len(groups) == 1:
        further = int(other.partition.sizes[groups[0]]) - len(members)
        company = f"with {count(further, 'further record')}" if further else "alone"
        return f"{label} has them all in group {groups[0] + 1}, {company}."
    order = np.argsort(-counts, kind="stable")
    parts = [f"{counts[at]} in group {groups[at] + 1}" for at in order[:4]]
    if len(order) > 4:
        parts.append(f"{counts[order[4:]].sum()} in {count(len(order) - 4, 'further group')}")
    return f"{label} divides them among {count(len(groups), 'group')}: {listing(parts)}."


def _table(workspace: Workspace, sides: Sequence[Side], side: int, members: np.ndarray) -> None:
    records = workspace.records
    listed = members[:_MOST_MEMBERS]
    columns = {"record": ["→ released", *(str(workspace.frame.index[i]) for i in listed)]}
    text: Any = st.column_config.TextColumn
    drawn: dict[str, Any] = {"record": text("Record", pinned=True, width=100)}
    if len(sides) > 1:
        other = sides[1 - side]
        columns["other"] = ["", *(str(label + 1) for label in other.partition.labels[listed])]
        drawn["other"] = text(f"Group by {other.label}", alignment="right")
    after = _released(workspace, members)
    if records.d > _MOST_ATTRIBUTES:
        st.caption(f"The first {_MOST_ATTRIBUTES} of {count(records.d, 'attribute')} are listed.")
    for j, attribute in enumerate(records.attributes[:_MOST_ATTRIBUTES]):
        columns[f"a{j}"] = [after[j], *(value(attribute, records.values[i, j]) for i in listed)]
        drawn[f"a{j}"] = text(str(attribute.name), alignment="right" if attribute.kind == "numeric" else "left")
    show_table(pd.DataFrame(columns), drawn, most=8, tall=330)


def _released(workspace: Workspace, members: np.ndarray) -> list[str]:
    """Return the released value of each attribute of a group: the mean, or the common ancestor."""
    records, whole = workspace.records.take(members), Partition(np.zeros(len(members), dtype=int), 1)
    if workspace.is_numeric:
        means = whole.centroids(records.values)[0]
        return [value(attribute, mean) for attribute, mean in zip(records.attributes, means, strict=True)]
    texts = group_texts(workspace.frame.iloc[members], records, whole)
    return ["anything" if text == ANYTHING else text for [text] in texts]


def losing_most(workspace: Workspace, sides: Sequence[Side]) -> None:
    """Draw the table of the records, or groups of mixed attributes, with the largest losses; a click chooses a group."""
    side = sides[0]
    numeric, partition = workspace.is_numeric, side.partition
    st.header(f"{'Records' if numeric else 'Groups'} with the largest loss")
    if workspace.X is not None:
        worst = metrics.records_losing_most(workspace.X, partition.labels)
        all_of, why = count(workspace.n, "record"), "Outliers have no near neighbors."
    else:
        worst = metrics.groups_losing_most(workspace.records, partition.labels)
        all_of, why = count(partition.n_groups, "group"), "Their records have little in common."
    if not worst.shares.any():
        st.caption("The loss is 0: all records of each group are equal.")
        return
    st.caption(
        f"{escape_markdown(side.label)}: {len(worst.records)} of {all_of} cause {worst.shares.sum():.3g} % of the loss. "
        f"{why} {escape_markdown(tenth_in_words(sides))}."
    )
    key = f"losing_most_{workspace.digest}_{side.key}_{partition.k}"

    def clicked() -> None:
        rows = st.session_state[key].selection.rows
        choose(workspace, (0, int(worst.records[rows[0]])) if rows else None)

    groups = partition.labels[worst.records]
    rows = {
        "record": [str(workspace.frame.index[record]) for record in worst.records],
        "group": [f"{group + 1} ({count(int(partition.sizes[group]), 'record')})" for group in groups],
        "share": worst.shares,
        "attribute": [workspace.table.with_label(workspace.records.attributes[j].name) for j in worst.attributes],
        "change": _changes(workspace, partition, worst),
    }
    show_table(
        pd.DataFrame(rows),
        key=key,
        on_select=clicked,
        selection_mode="single-row",
        height="auto",
        column_order=list(rows) if numeric else ["group", "share", "attribute", "change"],
        columns={
            "record": "Record",
            "group": "Group",
            "share": st.column_config.ProgressColumn(
                "Share of the loss (%)", format="%.2f", min_value=0.0, max_value=float(worst.shares[0])
            ),
            "attribute": "Attribute changed most" if numeric else "Attribute with the largest loss",
            "change": "Value → mean of the group" if numeric else "Common value of the group",
        },
    )


def _changes(workspace: Workspace, partition: Partition, worst: metrics.LargestLosses) -> list[str]:
    """The released value of each record or group listed, in the attribute with the highest loss; of numbers, with the original."""
    # Only the attributes that are listed.
    attributes, places = np.unique(worst.attributes, return_inverse=True)
    every = workspace.records
    records = Records(tuple(every.attributes[j] for j in attributes), every.values[:, attributes])
    cells = list(zip(worst.records, places, strict=True))
    if workspace.is_numeric:
        means = partition.centroids(records.values)[partition.labels]
        pairs = [(records.attributes[j], records.values[i, j], means[i, j]) for i, j in cells]
        return [f"{value(attribute, old)} → {value(attribute, mean)}" for attribute, old, mean in pairs]
    texts = group_texts(workspace.frame, records, partition)
    common = [texts[j][partition.labels[i]] for i, j in cells]
    return ["anything" if text == ANYTHING else text for text in common]
