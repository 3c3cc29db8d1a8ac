"""What a file may mean otherwise than it says: records that are totals of the others, text that reads as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from microagg.columns import AsNumbers, Decision
from microagg.tables.ends import leave_out_last
from pages.ui.data import columns, sources, tables
from pages.ui.data.table import Table
from pages.ui.text import escape_markdown, listing

# Columns and records that are named together, the others as a number.
_NAMED = 6


def say_totals(table: Table) -> None:
    """Say which records of a file look like totals of the others."""
    found, upload = columns.totals_of(table), tables.uploaded()
    # The reader of the file may have said and offered the same already.
    if not found or (upload and any(notice.code == "last-records" for notice in upload.notices)):
        return
    st.warning(
        f"Records that look like totals of the others: {_first([f'{record:,}' for record in found])} (counting from 0). "
        "Leave them out, or remove them from the file and choose it again: as it is, they count like all others."
    )
    at_end = found == list(range(len(table.frame) - len(found), len(table.frame)))
    if at_end and str(table.origin.get("file", "")).lower().endswith(sources.WITH_LAST_RECORDS):
        offer = leave_out_last(len(found), "record")
        st.button(offer.label, key="leave_out_totals", on_click=sources.leave_out_last, args=(len(found),))


def say_numbers(found: Mapping[str, Decision]) -> None:
    """Say which columns are text that reads as numbers, and what they are until somebody decides."""
    upload = tables.uploaded()
    # The reader of the file may have said of a column, and offered for all of them, the same already.
    said = {notice.column for notice in upload.notices if notice.code == "decimal-comma"} if upload else set()
    each = [
        f"{name!r} ({_in_words(column)})"
        for name, column in found.items()
        if name not in said
        and not column.decided
        and _is_offered(column)
        and not column.guess.as_numbers[0].is_like_code
    ]
    if each:
        st.warning(
            f"Text that reads as numbers: {escape_markdown(_first(each))}. Nothing is read as numbers unasked: until you "
            "do so below, such a column counts as categories, or is left out where nearly every record has a text of its own."
        )


def offer_numbers(table: Table, column: Decision) -> None:
    """Offer to read a column of text as numbers, in the two ways where nothing shows which."""
    if not _is_offered(column):
        return
    with st.container(horizontal=True):
        for kind, title in kinds(column).items():
            if kind in ("number", "comma"):
                st.button(
                    f"Read as numbers{escape_markdown(title.removeprefix('Number'))}",
                    key=f"read_{kind}_{column.name}",
                    on_click=columns.decide,
                    args=(table, column.name),
                    kwargs={"role": "quasi-identifier", "kind": kind},
                )


def read_in_words(read: AsNumbers) -> str:
    """Return how text is read as numbers, and what of it is none, as Markdown."""
    lost = f"; no numbers are {read.lost}" if read.lost else ""
    return escape_markdown(f"Text that is read as numbers: {read.example!r} is {read.number}{lost}")


def kinds(column: Decision) -> dict[str, str]:
    """Return what the screen calls the kinds that a column can have, with an example where a comma can be two things."""
    titles = {kind: columns.KINDS[kind] for kind in column.kinds}
    if len(column.guess.as_numbers) > 1:
        for kind, read in zip(("number", "comma"), column.guess.as_numbers, strict=True):
            titles[kind] = f"Number: {read.example} is {read.number}"
    return titles


def _is_offered(column: Decision) -> bool:
    usual = column.role in ("quasi-identifier", "identifier")
    return bool(column.guess.as_numbers) and usual and not column.is_number


def _in_words(column: Decision) -> str:
    first = column.guess.as_numbers[0]
    return f"{first.example!r} for {' or for '.join(read.number for read in column.guess.as_numbers)}"


def _first(each: Sequence[str]) -> str:
    rest = [f"{len(each) - _NAMED:,} more"] if len(each) > _NAMED else []
    return listing([*each[:_NAMED], *rest])
