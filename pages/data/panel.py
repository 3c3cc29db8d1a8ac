"""The panel of one column: role, kind, missing values, distribution, order or taxonomy, and what its values become."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.api.types import is_datetime64_any_dtype

from microagg import MicroaggError
from microagg.columns import Column, bin_edges, recodes
from microagg.columns.records import is_number
from microagg.columns.schema import check_levels
from microagg.columns.taxonomy import Taxonomy, category
from microagg.validation import FloatArray
from pages.data import table
from pages.shared import columns, recodings, state, theme
from pages.shared.figures import finish, show_figure
from pages.shared.tables import Table
from pages.shared.text import count, escape_html, escape_markdown, kind_title, listing, named, number, sentence
from pages.shared.workspace import Workspace

_MOST_VALUES = 1_000  # that stand in a table, or are drawn of a column that is not grouped on
_MOST_BINS, _MOST_BARS = 40, 12  # of numbers, and of categories

_TAXONOMY = "Taxonomy: indent each name below the one it belongs to"


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
        _role_and_kind(source, column)
        _offers(source, column)
        if column.is_quasi_identifier:
            _missing(source, column)
        _values(source, workspace, column)
        _recoding(source, name)


def _figures(source: Table, workspace: Workspace | None, column: Column) -> str:
    figures = columns.figures(source, None if workspace is None else workspace.source.declared).loc[column.name]
    parts = [count(column.n_distinct - len(column.missing_codes), "distinct value")]
    parts += [f"{column.n_missing:,} missing"] if column.n_missing else []
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
    message = f"**{'Needs a decision' if needs_decision else 'Suggested'}**: {escape_markdown(reason)}{'' if reason.endswith('?') else '.'}"
    (st.warning if needs_decision else st.caption)(message)
    label = f"Accept the role {columns.ROLES[column.role]}"
    st.button(label, key="accept_one", on_click=columns.accept, args=(source, [column.name]))


def _role_and_kind(source: Table, column: Column) -> None:
    roles = {key: message for key, message in columns.ROLES.items() if column.kinds or key != "quasi_identifiers"}
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
        message = {"drop": "Leave the record out", "category": "A category of its own", "impute": fill}
        options = {key: f"{message[key]} ({column.n_missing:,})" for key in column.possible_gaps}
        st.markdown(":small[**Missing values**]")
        label, how = f"Missing values of {column.name}", {"options": list(options), "format_func": options.get}
        _tie(st.selectbox, source, column, "gaps", column.gaps, label, **how)


# --- values: distribution, order and taxonomy ------------------------------------------------------------------------


def _values(table: Table, workspace: Workspace | None, column: Column) -> None:
    """Draw the values of a column, with the editor of its order or taxonomy; ``workspace`` has numbers and dates."""
    name = column.name
    is_grouped = column.is_quasi_identifier and bool(column.kind)
    if is_grouped and column.kind == "ordinal":
        _ordinal(table, name)
    elif is_grouped and column.kind == "nominal":
        _frequencies(table, name)
        _edit_taxonomy(table, name)
    elif is_grouped and workspace is not None:
        _numbers(workspace.source.records.values[:, workspace.columns.index(name)], name, is_date=column.is_date)
    elif (finite := columns.numbers_of(table, name)) is not None:
        _numbers(finite, name)
    elif column.n_distinct <= _MOST_VALUES:
        _frequencies(table, name)


def bars(counts: Mapping[str, int]) -> go.Figure:
    """Draw the number of records with each value, the first on top."""
    figure = go.Figure().add_bar(
        x=list(counts.values()),
        y=[escape_html(value) for value in counts],
        orientation="h",
        marker={"color": theme.NEUTRAL},
        hovertemplate="<b>%{y}</b><br>%{x:,} records<extra></extra>",
    )
    figure.update_xaxes(title="records", showgrid=True)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_layout(bargap=0.25)
    return finish(figure, min(max(160, 24 * len(counts) + 60), 900))


def numbers(values: np.ndarray, *, dates: bool = False) -> go.Figure:
    """Draw the distribution of numbers, or ``dates`` as days since 1970."""
    counts, edges = np.histogram(values, bin_edges(values, _MOST_BINS))
    ends = [[_day(edge) if dates else f"{edge:.4g}" for edge in pair] for pair in itertools.pairwise(edges)]
    unit = 86_400_000 if dates else 1  # Plotly counts dates in milliseconds
    figure = go.Figure().add_bar(
        x=(edges[:-1] + edges[1:]) / 2 * unit,
        y=counts,
        width=np.diff(edges) * unit,
        marker={"color": theme.NEUTRAL},
        customdata=ends,
        hovertemplate="%{customdata[0]} to %{customdata[1]}<br>%{y:,} records<extra></extra>",
    )
    how = {"type": "date", "title": "date"} if dates else {"title": "value"}
    figure.update_xaxes(**how, range=[edges[0] * unit, edges[-1] * unit])
    figure.update_yaxes(title="records")
    figure.update_layout(bargap=0)
    return finish(figure, 260)


def _frequencies(table: Table, name: str) -> None:
    """Draw the most frequent values."""
    counts = columns.counts(table, name)
    first = dict(sorted(counts.items(), key=lambda pair: -pair[1])[:_MOST_BARS])
    if first:
        most, n = next(iter(first.items()))
        title = f"{count(len(counts), 'value')}, most frequent {most}: {count(n, 'record')}"
        alt = f"How many records have each of the most frequent values of {name}."
        show_figure(bars(first), title=title, key="attribute_values", alt=alt)


def _numbers(values: np.ndarray, name: str, *, is_date: bool = False) -> None:
    """Draw the distribution of numbers or dates."""
    write: Callable[[float], str] = _day if is_date else number
    low, first, third, high = (write(float(end)) for end in np.quantile(values, [0, 0.25, 0.75, 1], method="nearest"))
    title = f"{name}: {low} to {high}"
    if (first, third) != (low, high):
        title += f"; half of the records between {first} and {third}"
    alt = f"How many records have which {name}."
    show_figure(numbers(values, dates=is_date), title=title, key="attribute_numbers", alt=alt)


def _day(days: float) -> str:
    return str(np.datetime64(round(days), "D"))


def _drafts() -> dict[tuple[str, str, str], tuple[str, str]]:
    return st.session_state.setdefault("category_drafts", {})


def _take(draft_key: tuple[str, str, str], text: str, save: Callable[[], None]) -> None:
    """Run ``save``; if it fails, keep ``text`` as a draft with the reason."""
    try:
        save()
        _discard(draft_key)
    except MicroaggError as error:
        _drafts()[draft_key] = (text, str(error))


def _discard(draft_key: tuple[str, str, str]) -> None:
    _drafts().pop(draft_key, None)


def _editor(
    table: Table, name: str, label: str, current_text: str, save: Callable[[str], None], **options: Any
) -> None:
    """Draw a text area whose text goes to ``save``, or stays as a draft under the reason."""
    widget_key, draft_key = f"text_{label}_{name}", (table.identity, name, label)
    text, problem = _drafts().get(draft_key, (current_text, ""))

    def take(entered: str) -> None:
        _take(draft_key, entered, partial(save, entered))

    height = min(max(160, 20 * text.count("\n") + 60), 460)
    state.tied(st.text_area, label, widget_key, text, take, height=height, **options)
    if problem:
        st.error(sentence(problem))
        st.caption("The version before it stays in use until this is corrected.")
        st.button("Discard what I entered", on_click=_discard, args=(draft_key,))


def _show_uncovered(table: Table, name: str, what: str, add: Callable[[list[str]], None]) -> None:
    lacking = columns.uncovered(table, name)
    if not lacking:
        return
    st.warning(f"The {what} lacks {escape_markdown(named(lacking))}, which occur in the data.")
    st.button(f"Add {'it' if len(lacking) == 1 else 'them'}", on_click=add, args=(lacking,), type="primary")


def _ordinal(table: Table, name: str) -> None:
    levels = columns.levels_of(table, name)

    def save(text: str) -> None:
        levels = check_levels(name, [line.strip() for line in text.splitlines() if line.strip()])
        columns.enter(table, "ordinal", name, levels)

    if not columns.is_entered(table, name):
        st.info("The categories are in alphabetical order. Move lines below to put them in theirs.")
    label = "The order: one category on each line, the lowest first"
    message = "A group becomes a range of this order; each step counts the same."
    _editor(table, name, label, "\n".join(levels), save, help=message)
    _show_uncovered(table, name, "order", lambda lacking: save("\n".join([*levels, *lacking])))
    counts = columns.counts(table, name)
    in_order = bars({level: counts.get(level, 0) for level in levels})
    title = f"{name}: {count(len(levels), 'category', 'categories')}"
    alt = f"How many records have each category of {name}, in its order."
    show_figure(in_order, title=title, key="attribute_order", alt=alt)


def _edit_taxonomy(table: Table, name: str) -> None:
    tree = columns.taxonomy_of(table, name)

    def enter(entered: Taxonomy) -> None:
        columns.enter(table, "taxonomies", name, entered.to_nested())

    def put(make: Callable[[], Taxonomy]) -> None:
        _take((table.identity, name, _TAXONOMY), tree.to_text(), lambda: enter(make()))

    _one_click(table, name, tree, put)
    message = (
        "The root on the first line; two blanks more for each level below. All values must be equally deep: where a "
        "branch has fewer levels, repeat its name (Private below Private)."
    )
    _editor(table, name, _TAXONOMY, tree.to_text(), lambda text: enter(Taxonomy.from_text(text)), help=message)
    _show_uncovered(table, name, "taxonomy", lambda lacking: put(lambda: tree.with_values(lacking)))


def _one_click(table: Table, name: str, tree: Taxonomy, put: Callable[[Callable[[], Taxonomy]], None]) -> None:
    ready = {"The data set's own": columns.declared_taxonomy(table, name), **dict(columns.suggested(table, name))}
    if not any(other and other.is_flat for other in ready.values()):
        ready["All side by side"] = Taxonomy.flat(columns.counts(table, name))
    with st.container(horizontal=True):
        for title, other in ready.items():
            if other and not _same(other, tree):
                st.button(title, key=f"ready_{name}_{title}", on_click=put, args=(lambda other=other: other,))


def _same(one: Taxonomy, other: Taxonomy) -> bool:
    return one == other or (one.is_flat and other.is_flat and set(one.values) == set(other.values))


# --- what values become ------------------------------------------------------------------------------------------------


def _recoding(table: Table, name: str) -> None:
    """Draw what the values of a column can become."""
    if sets := columns.alike(table).get(name):
        _offer_to_merge(table, name, sets)
    column = columns.columns(table.original)[name]
    if name in columns.recodes() or sets or _is_listed(column, table.original.frame[name].dtype):
        with st.expander("Recode values"):
            _recode(table, name)


def _is_listed(column: Column, dtype: Any) -> bool:
    """Whether the values of a column can be recoded: few values or numbers, but no dates with times."""
    numeric = is_number(dtype) or column.as_numbers is not None
    few = bool(column.kinds) and column.n_distinct <= _MOST_VALUES and not is_datetime64_any_dtype(dtype)
    return column.role != "identifiers" and (few or numeric)


def _offer_to_merge(table: Table, name: str, sets: Sequence[Sequence[str]]) -> None:
    counts = columns.counts(table, name)
    n_more = len(sets) - recodings.MOST_SAID
    each = [*map(named, sets[: recodings.MOST_SAID]), *([count(n_more, "more set")] if n_more > 0 else [])]
    listed = escape_markdown("; ".join(each))
    st.warning(f"Spelling variants in **{escape_markdown(name)}** count as different values: {listed}.")
    changes: dict[str, str | None] = {value: values[0] for values in sets for value in values[1:]}
    n = sum(counts.get(value, 0) for value in changes)
    into = named([values[0] for values in sets]) if len(sets) <= recodings.MOST_SAID else f"each set of {len(sets):,}"
    label = f"Merge into {into} ({count(n, 'record')} changed)"
    st.button(escape_markdown(label), key=f"alike_{name}", on_click=columns.recode, args=(name, changes))


def _recode(table: Table, name: str) -> None:
    original, k = table.original, state.current().k
    numbers, few = columns.numbers_of(table, name), columns.columns(original)[name].n_distinct <= _MOST_VALUES
    if numbers is not None:
        _suggest(name, [*recodes.extreme_recodings(numbers, k), *recodes.interval_recodings(numbers)])
        _intervals(name, numbers)
    elif few:
        _suggest(name, recodes.category_recodings(columns.counts(table, name), k))
    if few:
        _edit_values(table, name)


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

    label, message = "Your intervals, by the numbers at which they begin", "18, 40, 65 makes <18, 18–39, 40–64 and 65+."
    text = st.text_input(label, key=key, placeholder="18, 40, 65", help=message, on_change=take)
    if text and not _limits(text):
        st.error(f"{escape_markdown(repr(text))} is not a list of numbers: enter numbers such as 18, 40, 65.")


def _limits(text: str) -> list[float]:
    """Return the finite numbers in a text with commas or blanks between; none if it holds anything else."""
    try:
        limits = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        return []
    return limits if np.isfinite(limits).all() else []


def _edit_values(table: Table, name: str) -> None:
    st.caption(
        "Type what a value becomes. The same text merges several values; an empty cell makes the value missing. The release "
        "has the new values; recipe, program and report have the recoding."
    )
    counts, changes = columns.counts(table.original, name), columns.recodes().get(name, {})
    each = pd.DataFrame({"old": table.original.frame[name], "new": table.frame[name]}).drop_duplicates("old")
    becomes = {category(old): None if pd.isna(new) else category(new) for old, new in each.itertuples(index=False)}
    names = [value if value and value == value.strip() else repr(value) for value in counts]
    rows = pd.DataFrame({"Value": names, "Records": counts.values(), "Becomes": map(becomes.get, counts)})
    key = f"values_{name}_{hash(tuple(changes.items()))}"
    st.data_editor(
        rows,
        key=key,
        on_change=partial(_take_values, key, name, [(value, becomes[value]) for value in counts]),
        hide_index=True,
        disabled=["Value", "Records"],
        width="stretch",
        height=min(36 * len(rows) + 38, 400),
    )


def _take_values(key: str, name: str, values: Sequence[tuple[str, str | None]]) -> None:
    """Take the typed values; ``values`` are the values, each with what it became before."""
    changes = dict(columns.recodes().get(name, {}))
    for row, edited in st.session_state[key]["edited_rows"].items():
        value, now = values[int(row)]
        changes.pop(value, None)
        if edited["Becomes"] not in (now, value):
            changes[value] = edited["Becomes"] or None
    columns.set_recoding(name, changes)
