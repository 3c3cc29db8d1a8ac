"""The panel of one column: role, kind, missing values, distribution, order or taxonomy, and what its values become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from microagg.columns import Column
from pages.data import attributes, table, values
from pages.shared import columns, state
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, kind_title, listing, named, number, sentence
from pages.shared.workspace import Workspace


def show(source: Table, workspace: Workspace | None, name: str, names: Sequence[str]) -> None:
    """Draw all that can be seen and decided of a column; ``names`` are the rows of the table."""
    column = columns.columns(source)[name]
    with st.container(border=True, key="panel"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.header(escape_markdown(name), anchor=False, width="stretch")
            st.button("Close", icon=":material/close:", type="tertiary", on_click=table.close, args=(names,))
        if label := source.variable_labels.get(name):
            st.markdown(escape_markdown(label))
        st.caption(escape_markdown(_figures(source, workspace, column)))
        _suggestion(source, column)
        _suppressed(source, column)
        _role_and_kind(source, column)
        _offers(source, column)
        if column.is_quasi_identifier:
            _missing(source, column)
        attributes.show(source, workspace, name)
        values.show(source, name)


def _figures(source: Table, workspace: Workspace | None, column: Column) -> str:
    figures = columns.figures(source, None if workspace is None else workspace.source.declared).loc[column.name]
    parts = [count(column.n_distinct, "distinct value")]
    parts += [f"{column.n_empty:,} missing"] if column.n_empty else []
    if figures["least"] == figures["least"]:
        parts += [f"{each} {number(figures[each])}" for each in ("least", "mean", "greatest")]
    elif figures["examples"]:
        parts.append(f"for example {figures['examples']}")
    return ", ".join(parts)


def _suggestion(source: Table, column: Column) -> None:
    if (read := column.as_numbers) and column.role in ("quasi_identifiers", "weights"):
        lost = f"; {read.lost} count as missing" if read.lost and column.codes else ""
        st.caption(escape_markdown(f"Text that is read as numbers: {read.example!r} is {read.number}{lost}."))
    elif column.unclear and column.is_date and column.is_quasi_identifier:
        st.caption(escape_markdown(f"Text that is read as dates: {_as_dates(column, column.form)}."))
    reason = columns.why(source)[column.name]
    if column.decided:
        st.caption(sentence(reason))
        return
    needs_decision = column.name in columns.doubts(source)
    says = f"**{'Needs a decision' if needs_decision else 'Suggested'}**: {escape_markdown(reason)}{'' if reason.endswith('?') else '.'}"
    (st.warning if needs_decision else st.caption)(says)
    label = f"Accept the role {columns.ROLES[column.role]}"
    st.button(label, key="accept_one", on_click=columns.accept, args=(source, [column.name]))


def _suppressed(source: Table, column: Column) -> None:
    """Offer the two meanings of marks among numbers, where nobody has decided."""
    if column.decided or not column.suppressed or not column.is_quasi_identifier:
        return
    numeric = next(pair for pair in column.kinds if pair[0] == "numeric")
    answers: dict[str, dict[str, Any]] = {
        "Count as missing": {"kind": "numeric", "form": numeric[1], "codes": True},
        "Make them a category": {"kind": "nominal", "form": "", "codes": False},
    }
    with st.container(horizontal=True):
        for label, changes in answers.items():
            st.button(
                label, key=f"suppressed_{label}", on_click=columns.decide, args=(source, column.name), kwargs=changes
            )


def _role_and_kind(source: Table, column: Column) -> None:
    roles = {key: says for key, says in columns.ROLES.items() if column.kinds or key != "quasi_identifiers"}
    _pick(st.pills, source, column, "role", column.role, roles)
    if len(column.kinds) > 1:
        kinds = {pair: kind_title(column, *pair) for pair in column.kinds}
        _pick(st.pills, source, column, "kind", (column.kind, column.form), kinds)
    elif column.is_quasi_identifier and not column.kind:
        st.caption("Neither numbers, dates nor categories: it cannot be a quasi-identifier.")


def _pick(widget: Any, source: Table, column: Column, field: str, value: Any, options: Mapping[Any, str]) -> None:
    # A link or the data set may hold what is not among the options.
    texts = {**options, value: options.get(value) or str(value)}
    how = {"required": True} if widget is st.pills else {}
    st.markdown(f":small[**{field.capitalize()}**]")
    label = f"{field.capitalize()} of {column.name}"
    _tie(widget, source, column, field, value, label, options=list(texts), format_func=texts.get, **how)


def _tie(widget: Any, source: Table, column: Column, field: str, value: Any, label: str, **options: Any) -> None:
    """Draw ``widget`` tied to a field of a column; ``label`` is hidden but read out, see :mod:`.text`."""

    def take(entered: Any) -> None:
        table.decide_field(source, column.name, field, entered)

    key = f"column_{field}_{column.name}"
    state.tied(widget, label, key, value, take, label_visibility="collapsed", **options)


def _offers(source: Table, column: Column) -> None:
    """Offer the ways to read text as numbers or dates, where nobody has decided on one."""
    if column.may_be_numbers:
        for read in column.offers:
            title = kind_title(column, "numeric", read.notation).removeprefix("Numeric")
            _offer(source, column, read.notation, f"Read as numbers{escape_markdown(title)}")
    if column.may_be_dates:
        for form, first in (("day d/m", "day"), ("day m/d", "month")):
            with st.container(gap="xxsmall"):
                _offer(source, column, form, f"Read as dates, {first} first")
                st.caption(escape_markdown(_as_dates(column, form)))


def _offer(source: Table, column: Column, form: str, label: str) -> None:
    changes = {"role": "quasi_identifiers", "kind": "numeric", "form": form}
    key = f"read_{form}_{column.name}"
    st.button(label, key=key, on_click=columns.decide, args=(source, column.name), kwargs=changes)


def _as_dates(column: Column, form: str) -> str:
    return listing([f"{text!r} is {day}" for text, day in column.as_dates(form)], len(column.unclear))


def _missing(source: Table, column: Column) -> None:
    if column.n_codes:
        label = f"Treat {named(column.possible_codes)} ({column.n_codes:,}) as missing"
        with st.container(horizontal=True, gap="xsmall"):
            _tie(st.toggle, source, column, "codes", column.codes, label)
            st.markdown(escape_markdown(label))
    if column.n_missing:
        fill = "Fill in the most frequent" if column.kind == "nominal" else "Fill in the median"
        says = {"drop": "Leave the record out", "category": "A category of its own", "impute": fill}
        options = {key: f"{says[key]} ({column.n_missing:,})" for key in column.possible_gaps}
        st.markdown(":small[**Missing values**]")
        _tie(
            st.selectbox,
            source,
            column,
            "gaps",
            column.gaps,
            f"Missing values of {column.name}",
            options=list(options),
            format_func=options.get,
        )
