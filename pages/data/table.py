"""The columns in one table: role, kind, distribution and reason of each; a row opens its panel, ticked rows are set together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from microagg.columns import Column
from pages.shared import columns, state
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, kind_title, listing
from pages.shared.workspace import Workspace

_ROW, _HEADER = 32, 38  # pixels
_MOST_ROWS = 25  # with more, the table scrolls
_MOST_NAMES = 12  # that are listed
_MEASURED = 10  # rows to which Streamlit fits the width of a column
_MARKED = "background-color: rgba(230, 159, 0, 0.16)"  # legible on a light and on a dark page
_TOOLS = "selected_columns"


def order(table: Table) -> list[str]:
    """Return the columns, those that need a decision first: the order stays when they are decided."""
    first = columns.doubts(table)
    return sorted(columns.columns(table), key=lambda name: name not in first)


def tools(table: Table, names: Sequence[str]) -> None:
    """Draw what sets role and kind of the ticked rows."""
    all_columns = columns.columns(table)
    ticked = [all_columns[name] for name in _ticked(names)]
    roles = [role for role in columns.ROLES if role != "quasi_identifiers" or all(column.kinds for column in ticked)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=_TOOLS):
        _set(table, names, "role", {role: columns.ROLES[role] for role in roles}, disabled=not ticked)
        _set(table, names, "kind", _common_kinds(ticked), disabled=not _common_kinds(ticked))
        if suggested := [column.name for column in ticked if not column.decided]:
            label = f"Accept {count(len(suggested), 'suggestion')}"
            st.button(label, key="accept_ticked", on_click=_accept, args=(table, names, suggested))
        st.caption("Click a row to open its column. Tick rows to set several columns.", width="content")


def _set(table: Table, names: Sequence[str], field: str, options: Mapping[Any, str], *, disabled: bool) -> None:
    """Draw the choice of a role or kind for the ticked rows."""

    def take(entered: Any) -> None:
        for name in _ticked(names):
            decide_field(table, name, field, entered)
        _clear(names, "rows")

    how = {"options": list(options), "format_func": options.get, "index": None, "disabled": disabled, "width": 220}
    label = f"Set {field} of ticked rows"
    key = f"w_set_{field}"
    state.tied(st.selectbox, label, key, None, take, placeholder=label, label_visibility="collapsed", **how)


def decide_field(table: Table, name: str, field: str, entered: Any) -> None:
    """Decide the value of a widget for one field of a column; kinds are entered with their forms."""
    changes = dict(zip(("kind", "form"), entered, strict=True)) if field == "kind" else {field: entered}
    columns.decide(table, name, **changes)


def _common_kinds(ticked: Sequence[Column]) -> dict[tuple[str, str], str]:
    """Return the kinds that all of these columns can have, with their titles."""
    if not ticked:
        return {}
    first, *others = ticked
    common = [pair for pair in first.kinds if all(pair in other.kinds for other in others)]
    return {pair: kind_title(first, *pair) for pair in common}


def _accept(table: Table, names: Sequence[str], suggested: Collection[str]) -> None:
    columns.accept(table, suggested)
    _clear(names, "rows")


def show(table: Table, workspace: Workspace | None, names: Sequence[str], reasons_to_look: Mapping[str, str]) -> None:
    """Draw the table of the columns ``names``, those with reasons to look at them in color."""
    rows = _rows(table, workspace, names, reasons_to_look)
    tint = [_MARKED if name in reasons_to_look else "" for name in names]
    is_open = state.current().attribute in names  # the panel has the label, which leaves room for the reason
    empty = {name for name in ("label", "why") if not rows[name].any() or (name == "label" and is_open)}
    longest = max(map(len, rows["why"]), default=0)
    # Streamlit fits a column to its first rows only, and a long name would hide the other columns.
    longest_name = max(names, key=len)
    fits = longest_name in names[:_MEASURED] and len(longest_name) <= 28
    width = None if fits else min(9 * len(longest_name) + 20, 200)
    height = "content" if len(names) <= _MOST_ROWS else _HEADER + _MOST_ROWS * _ROW
    selectable: Any = st.dataframe  # whose annotations do not know such options of columns
    selectable(
        rows.style.apply(lambda column: tint, axis=0),
        key=_key(names),
        hide_index=True,
        width="stretch",
        height=height,
        row_height=_ROW,
        on_select=lambda: _open(names),
        selection_mode=["multi-row", "single-cell"],
        placeholder="",
        alt="The columns of the file with role, kind, distribution and the reason for the suggestion.",
        column_order=[name for name in rows.columns if name not in empty],
        column_config={
            "mark": st.column_config.TextColumn(
                "", width=28, pinned=True, help="⚠ needs a decision or a look · ○ suggested · ✓ decided"
            ),
            "column": st.column_config.TextColumn("Column", pinned=True, width=width),
            "label": st.column_config.TextColumn("Label", help="The label of the variable in the file.", width=150),
            "role": "Role",
            "kind": "Kind",
            "distribution": st.column_config.BarChartColumn(
                "Distribution",
                width=90,
                y_min=0,
                help="Numbers: records in equal parts of the range. Others: the most frequent values.",
            ),
            "distinct": st.column_config.NumberColumn("Distinct", format="localized", width=70),
            "missing": st.column_config.NumberColumn("Missing", format="localized", width=70),
            "why": st.column_config.TextColumn("Why", width=min(6 * longest + 20, 560)),
        },
    )


def _rows(
    table: Table, workspace: Workspace | None, names: Sequence[str], reasons_to_look: Mapping[str, str]
) -> pd.DataFrame:
    """Return a row for each of the columns ``names``, with the reason to look at it or for its suggestion."""
    all_columns = columns.columns(table)
    shown_columns = [all_columns[name] for name in names]
    figures = columns.figures(table, None if workspace is None else workspace.source.declared)
    reasons = {**columns.why(table), **reasons_to_look}
    return pd.DataFrame(
        {
            # ⚠ needs a look, ✓ is decided, ○ has suggestions only.
            "mark": ["⚠" if each.name in reasons_to_look else "✓" if each.decided else "○" for each in shown_columns],
            "column": list(names),
            # On a phone the first column that can be seen beside the names is the role.
            "role": [columns.ROLES[column.role] for column in shown_columns],
            "label": [table.variable_labels.get(name, "") for name in names],
            "kind": [kind_title(column, column.kind, column.form) for column in shown_columns],
            "why": [reasons[name][:1].upper() + reasons[name][1:] for name in names],
            "distribution": [figures["distribution"][name] for name in names],
            "distinct": [column.n_distinct - len(column.missing_codes) for column in shown_columns],
            "missing": [column.n_missing for column in shown_columns],
        }
    )


def _key(names: Sequence[str]) -> str:
    # Rows are selected by their numbers, which mean other columns in another order.
    return f"columns_{hash(tuple(names)):x}"


def _selection(names: Sequence[str]) -> Mapping[str, Any]:
    return st.session_state.get(_key(names), {}).get("selection", {})


def _ticked(names: Sequence[str]) -> list[str]:
    return [names[row] for row in _selection(names).get("rows", ())]


def _open(names: Sequence[str]) -> None:
    """Look at the column of the selected cell; a callback."""
    for row, _ in _selection(names).get("cells", ()):
        state.update(attribute=names[row])


def _clear(names: Sequence[str], part: str) -> None:
    """Select no rows, or no cells."""
    empty: dict[str, Any] = {"rows": [], "columns": [], "cells": []}
    st.session_state[_key(names)] = {"selection": {**empty, **_selection(names), part: []}}


def close(names: Sequence[str]) -> None:
    """Look at no column; a callback."""
    _clear(names, "cells")
    state.update(attribute="")


def some(names: Collection[str]) -> str:
    """Return names as Markdown, those beyond a dozen as a number."""
    return escape_markdown(listing([str(name) for name in names], _MOST_NAMES))
