"""What each column of the data set is: a row for each, and what a file may mean otherwise than it says.

Some records may be totals of the others, and columns of text may read as numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from microagg.columns import AsNumbers, Column
from microagg.tables.notices import leave_out_last
from pages.data import sources
from pages.shared import columns, shell, state, tables
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, listing, named, sentence

# Columns and records that are named together, the others as a number.
_NAMED = 6


#: How many columns stand on the screen at a time: with twice as many, a browser takes seconds to redraw them.
PER_PAGE = 20

_GUESS = ":orange-badge[guess]"

_MEANINGS = {
    "identifier": "names a person by itself, such as a name or the number of a document. It is left out of the release.",
    "quasi-identifier": "somebody could know it from elsewhere and recognize a person by it together with others, such "
    "as age and place. Records are grouped on it, and it is released as what a group has in common.",
    "confidential": "what nobody should learn of a person, such as a diagnosis. It is released as it is.",
    "stratum": "groups never mix its values, such as regions. It is released as it is.",
    "weight": "how many persons a record of a sample stands for. Means and the loss count it so often.",
    "other": "none of these. It is released as it is.",
}


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


def say_numbers(found: Mapping[str, Column]) -> None:
    """Say which columns are text that reads as numbers, and what they are until somebody decides."""
    upload = tables.uploaded()
    # The reader of the file may have said of a column, and offered for all of them, the same already.
    said = {notice.column for notice in upload.notices if notice.code == "decimal-comma"} if upload else set()
    each = [
        f"{name!r} ({_in_words(column)})"
        for name, column in found.items()
        if name not in said and not column.decided and _is_offered(column) and not column.offers[0].is_like_code
    ]
    if each:
        st.warning(
            f"Text that reads as numbers: {escape_markdown(_first(each))}. Nothing is read as numbers unasked: until you "
            "do so below, such a column counts as categories, or is left out where nearly every record has a text of its own."
        )


def offer_numbers(table: Table, column: Column) -> None:
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


def kinds(column: Column) -> dict[str, str]:
    """Return what the screen calls the kinds that a column can have, with an example where a comma can be two things."""
    titles = {kind: columns.KINDS[kind] for kind in column.kinds}
    if len(column.offers) > 1:
        for kind, read in zip(("number", "comma"), column.offers, strict=True):
            titles[kind] = f"Number: {read.example} is {read.number}"
    return titles


def _is_offered(column: Column) -> bool:
    usual = column.role in ("quasi-identifier", "identifier")
    return bool(column.offers) and usual and not column.is_number


def _in_words(column: Column) -> str:
    first = column.offers[0]
    return f"{first.example!r} for {' or for '.join(read.number for read in column.offers)}"


def _first(each: Sequence[str]) -> str:
    rest = [f"{len(each) - _NAMED:,} more"] if len(each) > _NAMED else []
    return listing([*each[:_NAMED], *rest])


# A row for each column of the file: what it is, to be agreed to or changed.


def show(table: Table) -> None:
    """Draw the rows."""
    st.subheader("Columns")
    _say_lost(table)
    found = columns.columns(table)
    say_totals(table)
    say_numbers(found)
    _agree(table, found)
    with st.expander("What the roles mean"):
        st.markdown("\n".join(f"- **{columns.ROLES[role]}**: {says}" for role, says in _MEANINGS.items()))
    first, last = _on_screen(len(found))
    examples = columns.figures(table, first, last)["examples"]
    with st.container(gap="xsmall"):
        for column, shown in zip(list(found.values())[first:last], examples, strict=True):
            _row(table, column, shown)
    for name, sets in columns.alike(table).items():
        st.warning(_alike_in_words(name, sets))


def _say_lost(table: Table) -> None:
    """Say which columns of the address are not there, and which orders and taxonomies it could not carry."""
    if state.is_too_long():
        st.info(
            "So much has been decided about the columns that the address cannot hold it: it stays in this session, and a "
            "link does not carry it."
        )
    unknown, lacking = columns.unknown(table), columns.not_carried(table)
    if unknown:
        are = "is no column" if len(unknown) == 1 else "are no columns"
        st.warning(
            f"The address speaks of {escape_markdown(named(unknown))}, but there {are} of that name in this file."
        )
    changed = columns.changed(table)
    if changed or columns.is_agreed_of_another(table):
        which = f"of {escape_markdown(named(changed))} " if changed else ""
        st.warning(
            f"What was decided {which}was decided of other values: the file is another one, or it is read in another way than "
            "then (decimal comma, codes for missing values). It counts as a guess again: look at how the file is read, and decide anew."
        )
    if lacking:
        st.warning(
            f"The order or taxonomy that was entered for {escape_markdown(named(lacking))} is lost: the server was restarted, the page "
            "was reloaded, or a link led here, and the address cannot carry it. Enter it again under “One by one”, or go on with the usual one."
        )
    if unknown or lacking or changed or columns.is_agreed_of_another(table):
        st.button("Go on without", on_click=columns.forget, args=(table,))


def _agree(table: Table, found: Mapping[str, Column]) -> None:
    guesses, all_columns = len(columns.undecided(table)), count(len(found), "column")
    are = "is a guess" if guesses == 1 else "are guesses"
    says = f"**{guesses:,} of {all_columns} {are}.** Change what is wrong, then agree."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(says if guesses else "Every column is decided.", width="content")
        if guesses:
            st.button("Agree to all guesses", type="primary", on_click=columns.agree, args=(table,))
        shell.link("choose_k", "**Choose k →**")


def _on_screen(n: int) -> tuple[int, int]:
    """Return the first of the ``n`` columns that stands on the screen, and the one after the last."""
    pages = -(-n // PER_PAGE)
    if pages < 2:
        return 0, n
    page = min(st.pagination(pages, key="w_columns_page"), pages)
    first = (page - 1) * PER_PAGE
    last = min(first + PER_PAGE, n)
    st.caption(f"Columns {first + 1:,} to {last:,} of {n:,}")
    return first, last


# --- one row ----------------------------------------------------------------------------------------------------------


def _row(table: Table, column: Column, examples: str) -> None:
    # On a narrow screen a column without content still takes room.
    widths = [5, 3, 3, 3] if column.is_quasi_identifier else [5, 3, 6]
    with st.container(border=True):
        about, role, *further = st.columns(widths, vertical_alignment="center")
        with about:
            st.markdown(_about(table, column, examples))
            offer_numbers(table, column)
        roles = {key: says for key, says in columns.ROLES.items() if column.kinds or key != "quasi-identifier"}
        _pick(role, table, column, "role", roles)
        if not column.is_quasi_identifier:
            return
        if len(column.kinds) > 1:
            _pick(further[0], table, column, "kind", kinds(column))
        else:
            unfit = "Neither numbers, dates nor categories: it cannot be grouped on."
            further[0].caption(columns.KINDS.get(column.kind, unfit))
        with further[1]:
            _gaps(table, column)


def _about(table: Table, column: Column, examples: str) -> str:
    figures = f"{column.n_distinct:,} distinct" + (f", {column.n_empty:,} missing" if column.n_empty else "")
    lines = [f"**{escape_markdown(column.name)}** {'' if column.decided else _GUESS}"]
    lines += [f":small[{figures}{f': {escape_markdown(examples)}' if examples else ''}]"]
    if column.as_numbers:
        lines.append(f":small[:gray[{read_in_words(column.as_numbers)}]]")
    elif column.reasons and (table.schema is None or column.role == "identifier"):
        lines.append(f":small[:gray[{sentence('; '.join(column.reasons))}]]")
    return "  \n".join(lines)


def _gaps(table: Table, column: Column) -> None:
    if column.n_codes:
        label = f"Treat {named(column.possible_codes)} ({column.n_codes:,}) as missing"
        with st.container(horizontal=True, gap="xsmall"):
            _tie(st.toggle, table, column, "codes", label)
            st.markdown(escape_markdown(label))
    if column.n_missing:
        fill = "Fill in the most frequent" if column.kind == "category" else "Fill in the median"
        says = {"drop": "Leave the record out", "category": "A category of its own", "impute": fill}
        _pick(st, table, column, "gaps", {key: f"{says[key]} ({column.n_missing:,})" for key in column.possible_gaps})


def _pick(place: Any, table: Table, column: Column, field: str, options: Mapping[str, str]) -> None:
    # A link or the data set itself may say what is not among the options.
    shown = getattr(column, field)
    texts = {**options, shown: options.get(shown, shown)}
    label = f"{field.capitalize()} of {column.name}"
    _tie(place.selectbox, table, column, field, label, options=list(texts), format_func=texts.get)


def _tie(widget: Any, table: Table, column: Column, field: str, label: str, **options: Any) -> None:
    """Draw ``widget`` tied to the attribute ``field`` of a column; ``label`` is not shown but read out, see :mod:`.text`."""
    key = f"column_{field}_{column.name}"
    st.session_state[key] = getattr(column, field)

    def commit() -> None:
        columns.decide(table, column.name, **{field: st.session_state[key]})

    widget(label, key=key, on_change=commit, label_visibility="collapsed", **options)


def _alike_in_words(name: str, sets: tuple[tuple[str, ...], ...]) -> str:
    shown = "; ".join(named(values) for values in sets[:4])
    others = f"; and {count(len(sets) - 4, 'more set')}" if len(sets) > 4 else ""
    return escape_markdown(
        f"In {name!r} there are categories that hardly differ: {shown}{others}. If they mean the same, make them one in "
        "the file: as it is, they count as different."
    )
