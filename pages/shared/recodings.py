"""The recodings of columns in words, each with a button that undoes it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.shared import columns
from pages.shared.tables import Table
from pages.shared.text import escape_markdown, listing, named

#: Changes that are named.
MOST_SAID = 4


def show(table: Table) -> list[str]:
    """Draw the recoding of each column with a button that undoes it, and return the columns."""
    changed = {name: recoding for name, recoding in columns.recodes().items() if name in table.frame.columns}
    for name, changes in changed.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Values of **{escape_markdown(name)}**: {_in_words(changes)}.", width="content")
            st.button("Undo", key=f"undo_{name}", on_click=columns.set_recoding, args=(name, {}))
    return list(changed)


def _in_words(changes: Mapping[str, str | None]) -> str:
    became: dict[str | None, list[str]] = {}
    for value, after in changes.items():
        became.setdefault(after, []).append(value)
    each = [
        f"{named(values)} {'is' if len(values) == 1 else 'are'} {'missing' if after is None else f'now {after!r}'}"
        for after, values in became.items()
    ]
    return escape_markdown(listing(each, MOST_SAID))
