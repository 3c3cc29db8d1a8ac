"""What the values of columns become before anything else is done: spellings made one, one by one or as suggested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from pages.shared import columns, state
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, listing, named

_MOST = 1_000  # distinct values that stand in a table
_MOST_SAID = 4
_COLUMN = "w_values_column"


def show(table: Table) -> None:
    """Draw what hardly differs, the table of a column's values with what each becomes, and what was changed so far."""
    if table.whole is not None:
        return
    alike = columns.alike(table)
    for name, sets in alike.items():
        _offer(table, name, sets)
    changed = {name: own for name, own in state.recodes().items() if name in table.frame.columns}
    for name, changes in changed.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Values of **{escape_markdown(name)}**: {_in_words(changes)}.", width="content")
            st.button("Undo", key=f"undo_{name}", on_click=state.recode, args=(name, {}))
    _table(table, [*changed, *alike])


def _in_words(changes: Mapping[str, str | None]) -> str:
    """Return what values become, for Markdown."""
    became: dict[str | None, list[str]] = {}
    for value, new in changes.items():
        became.setdefault(new, []).append(value)
    each = [
        f"{named(values)} {'is' if len(values) == 1 else 'are'} {'missing' if new is None else f'now {new!r}'}"
        for new, values in became.items()
    ]
    return escape_markdown(listing(each, _MOST_SAID))


def _offer(table: Table, name: str, sets: Sequence[Sequence[str]]) -> None:
    """Offer to make one of values that hardly differ, and say what becomes of how many records."""
    known = columns.counts(table, name)
    each = [f"{named(values)}" for values in sets]
    st.warning(
        f"In **{escape_markdown(name)}** there are values that hardly differ: {escape_markdown(listing(each, _MOST_SAID))}. "
        "As they are, they count as different."
    )
    changes = {value: values[0] for values in sets for value in values[1:]}
    n = sum(known.get(value, 0) for value in changes)
    into = named([values[0] for values in sets]) if len(sets) <= _MOST_SAID else f"each set of {len(sets):,}"
    st.button(
        escape_markdown(f"Make them one: {into} ({count(n, 'record')} changed)"),
        key=f"alike_{name}",
        on_click=_add,
        args=(name, changes),
    )


def _add(name: str, changes: Mapping[str, str | None]) -> None:
    """Have values of a column become others on top of what became of them before."""
    before = state.recodes().get(name, {})
    after = {value: new if new is None else changes.get(new, new) for value, new in before.items()}
    state.recode(name, after | {value: new for value, new in changes.items() if value not in before})


def _table(table: Table, first: Sequence[str]) -> None:
    """Draw the values of a column, each with what it becomes, to be typed over."""
    original = table.original
    found = columns.columns(original)
    names = [
        name
        for name, column in found.items()
        if column.kinds and column.role != "identifier" and column.n_distinct <= _MOST
    ]
    if not names:
        return
    names = list(dict.fromkeys([*(name for name in first if name in names), *names]))
    with st.expander("Values and what they become"):
        st.caption(
            "Type over what a value becomes: the same for several makes them one; nothing makes it missing. Recipe, program "
            "and report have it, and what is released are the new values."
        )
        name = st.selectbox("Column", names, key=_COLUMN)
        known, changes = columns.counts(original, name), state.recodes().get(name, {})
        shown = pd.DataFrame(
            {
                "value": [_visible(value) for value in known],
                "records": list(known.values()),
                "becomes": [changes.get(value, value) for value in known],
            }
        )
        key = f"values_{name}_{hash(tuple(changes.items()))}"
        st.data_editor(
            shown,
            key=key,
            on_change=partial(_take, key, name, list(known), changes),
            hide_index=True,
            disabled=["value", "records"],
            width="stretch",
            height=min(36 * len(shown) + 38, 400),
            column_config={"value": "Value", "records": "Records", "becomes": "Becomes"},
        )


def _visible(value: str) -> str:
    return value if value == value.strip() and value else repr(value)


def _take(key: str, name: str, values: Sequence[str], before: Mapping[str, str | None]) -> None:
    changes = dict(before)
    for row, edited in st.session_state[key]["edited_rows"].items():
        value = values[int(row)]
        changes.pop(value, None)
        if edited.get("becomes", value) != value:
            changes[value] = edited["becomes"] or None
    state.recode(name, changes)
