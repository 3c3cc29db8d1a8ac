"""Recoding of values: spelling variants made one, intervals, one by one or suggested."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from pandas.api.types import is_datetime64_any_dtype

from microagg.columns import Column, recodes
from microagg.columns.records import is_number
from microagg.columns.taxonomy import category
from microagg.validation import FloatArray
from pages.shared import columns, recodings, state
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, listing, named

_MOST = 1_000  # distinct values that stand in a table


def show(table: Table, name: str) -> None:
    """Draw what the values of a column can become."""
    if sets := columns.alike(table).get(name):
        _offer(table, name, sets)
    column = columns.columns(table.original)[name]
    if name in columns.recodes() or sets or _is_listed(column, table.original.frame[name].dtype):
        with st.expander("Recode values"):
            _column(table, name)


def _is_listed(column: Column, dtype: Any) -> bool:
    """Whether the values of a column can be recoded: few values or numbers, but no dates with times."""
    numeric = is_number(dtype) or column.as_numbers is not None
    few = bool(column.kinds) and column.n_distinct <= _MOST and not is_datetime64_any_dtype(dtype)
    return column.role != "identifiers" and (few or numeric)


def _offer(table: Table, name: str, sets: Sequence[Sequence[str]]) -> None:
    counts = columns.counts(table, name)
    each = escape_markdown(listing([named(values) for values in sets], recodings.MOST_SAID))
    st.warning(f"Spelling variants in **{escape_markdown(name)}** count as different values: {each}.")
    changes: dict[str, str | None] = {value: values[0] for values in sets for value in values[1:]}
    n = sum(counts.get(value, 0) for value in changes)
    into = named([values[0] for values in sets]) if len(sets) <= recodings.MOST_SAID else f"each set of {len(sets):,}"
    label = f"Merge into {into} ({count(n, 'record')} changed)"
    st.button(escape_markdown(label), key=f"alike_{name}", on_click=columns.recode, args=(name, changes))


def _column(table: Table, name: str) -> None:
    original, k = table.original, state.current().k
    numbers, few = columns.numbers_of(table, name), columns.columns(original)[name].n_distinct <= _MOST
    if numbers is not None:
        _suggest(name, [*recodes.extreme_recodings(numbers, k), *recodes.interval_recodings(numbers)])
        _intervals(name, numbers)
    elif few:
        _suggest(name, recodes.category_recodings(columns.counts(table, name), k))
    if few:
        _editor(table, name)


def _suggest(name: str, suggestions: Sequence[recodes.Suggestion]) -> None:
    for words, effect, changes in suggestions:
        with st.container(horizontal=True, vertical_alignment="center"):
            label = escape_markdown(f"{words[:1].upper()}{words[1:]}")
            st.button(label, key=f"suggest_{name}_{words}", on_click=columns.recode, args=(name, changes))
            st.caption(escape_markdown(effect), width="content")


def _intervals(name: str, numbers: FloatArray) -> None:
    key = f"w_values_limits_{name}"

    def take() -> None:
        limits = _limits(st.session_state[key])
        if limits:
            columns.recode(name, recodes.intervals(numbers, limits))

    label, says = (
        "Your intervals, by the numbers at which they begin",
        "18, 40, 65 makes <18, 18–39, 40–64 and 65+.",
    )
    text = st.text_input(label, key=key, placeholder="18, 40, 65", help=says, on_change=take)
    if text and not _limits(text):
        st.error(f"{escape_markdown(repr(text))} is not a list of numbers: enter numbers such as 18, 40, 65.")


def _limits(text: str) -> list[float]:
    """Return the finite numbers in a text with commas or blanks between; none if it holds anything else."""
    try:
        limits = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        return []
    return limits if np.isfinite(limits).all() else []


def _editor(table: Table, name: str) -> None:
    st.caption(
        "Type what a value becomes. The same text merges several values; an empty cell makes the value missing. The release "
        "has the new values; recipe, program and report have the recoding."
    )
    counts, changes = columns.counts(table.original, name), columns.recodes().get(name, {})
    each = pd.DataFrame({"old": table.original.frame[name], "new": table.frame[name]}).drop_duplicates("old")
    becomes = {category(old): None if pd.isna(new) else category(new) for old, new in each.itertuples(index=False)}
    rows = pd.DataFrame(
        {
            "value": [value if value and value == value.strip() else repr(value) for value in counts],
            "records": list(counts.values()),
            "becomes": [becomes[value] for value in counts],
        }
    )
    key = f"values_{name}_{hash(tuple(changes.items()))}"
    titles = {"value": "Value", "records": "Records", "becomes": "Becomes"}
    st.data_editor(
        rows,
        key=key,
        on_change=partial(_take, key, name, [(value, becomes[value]) for value in counts]),
        hide_index=True,
        disabled=["value", "records"],
        width="stretch",
        height=min(36 * len(rows) + 38, 400),
        column_config=titles,
    )


def _take(key: str, name: str, values: Sequence[tuple[str, str | None]]) -> None:
    """Take the typed values; ``values`` are the values, each with what it became before."""
    changes = dict(columns.recodes().get(name, {}))
    for row, edited in st.session_state[key]["edited_rows"].items():
        value, now = values[int(row)]
        changes.pop(value, None)
        if edited["becomes"] not in (now, value):
            changes[value] = edited["becomes"] or None
    columns.set_recoding(name, changes)
