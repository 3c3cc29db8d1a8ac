"""The step Attributes of the page Mixed data: who is protected by what, and how categories compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import MicroaggError
from microagg.records import KINDS, Kind
from microagg.taxonomy import Taxonomy
from pages.ui import state
from pages.ui.charts import taxonomy
from pages.ui.charts.layout import show_figure
from pages.ui.data import kinds
from pages.ui.data.tables import Table
from pages.ui.text import count, escape_markdown, file_name, listing, number, sentence

_TALL = 520  # pixels; a taller drawing scrolls


def show(table: Table) -> None:
    """Draw the step."""
    setup = kinds.setup(table)
    _roles(table, setup)
    setup = kinds.setup(table)
    if not setup.quasi_identifiers:
        st.info("Choose at least one quasi-identifier above: there is nothing to protect otherwise.")
        return
    _overview(table, setup)
    chosen = state.current().attribute
    if chosen not in setup.quasi_identifiers:
        chosen = setup.quasi_identifiers[0]
        state.update(attribute=chosen)
    st.subheader("One by one")
    state.bound(
        st.pills,
        "Attribute",
        "attribute",
        options=list(setup.quasi_identifiers),
        format_func=escape_markdown,
        required=True,
        label_visibility="collapsed",
    )
    _attribute(table, state.current().attribute)


def _roles(table: Table, setup: kinds.Setup) -> None:
    possible = kinds.candidates(table)
    st.session_state["m_quasi"] = list(setup.quasi_identifiers)
    st.session_state["m_left_out"] = list(setup.identifiers)

    def choose() -> None:
        chosen = tuple(column for column in possible if column in st.session_state["m_quasi"])
        left_out = tuple(column for column in setup.identifiers if column not in chosen)
        label = None if setup.class_column in chosen else setup.class_column
        kinds.change(table, quasi_identifiers=chosen, identifiers=left_out, class_column=label)

    def leave_out() -> None:
        chosen = tuple(st.session_state["m_left_out"])
        kept = tuple(column for column in setup.quasi_identifiers if column not in chosen)
        label = None if setup.class_column in chosen else setup.class_column
        kinds.change(table, quasi_identifiers=kept, identifiers=chosen, class_column=label)

    st.pills(
        "Quasi-identifiers: by these somebody could be recognized, so they are protected",
        possible,
        selection_mode="multi",
        key="m_quasi",
        format_func=escape_markdown,
        on_change=choose,
    )
    left, right = st.columns(2)
    with left:
        st.multiselect(
            "Left out of the release",
            list(table.frame.columns),
            key="m_left_out",
            on_change=leave_out,
            placeholder="Nothing",
            help="Names, numbers of documents and whatever else names a person by itself.",
        )
    options = ["", *kinds.class_candidates(table, setup)]
    st.session_state["m_class"] = setup.class_column if setup.class_column in options else ""

    def choose_class() -> None:
        kinds.change(table, class_column=st.session_state["m_class"] or None)

    with right:
        st.selectbox(
            "Class",
            options,
            key="m_class",
            on_change=choose_class,
            format_func=lambda column: column or "None",
            help="What users of the release will want to predict, such as an income bracket. It is released as it is; "
            "methods with a class penalty keep its values together, and the classification metric says how well.",
        )


def _overview(table: Table, setup: kinds.Setup) -> None:
    frame = table.frame[list(setup.quasi_identifiers)]
    incomplete = int(frame.isna().any(axis=1).sum())
    rows = []
    for column in setup.quasi_identifiers:
        kind = setup.kinds[column]
        lacking = kinds.uncovered(table, column)
        rows.append(
            {
                "attribute": column,
                "kind": kind,
                "problem": f"not covered: {listing(lacking[:3])}{' …' if len(lacking) > 3 else ''}" if lacking else "",
                "values": kinds.columns(table)[column].distinct,
                "missing": kinds.columns(table)[column].missing,
                "released": _released_as(table, column, kind),
            }
        )
    shown = pd.DataFrame(rows)
    if not shown["problem"].any():
        shown = shown.drop(columns="problem")
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        height="content",
        column_config={
            "attribute": "Quasi-identifier",
            "kind": st.column_config.TextColumn(
                "Kind", help="numeric, ordinal (in an order) or nominal (in a taxonomy)"
            ),
            "values": st.column_config.NumberColumn("Distinct values", format="localized", width="small"),
            "missing": st.column_config.NumberColumn("Missing", format="localized", width="small"),
            "released": st.column_config.TextColumn("What a group of records may become", width="large"),
            "problem": "To be mended",
        },
    )
    n = len(table.frame)
    if incomplete:
        st.caption(
            f"{count(n, 'record')}. {incomplete:,} of them lack a quasi-identifier and are left out, of comparisons and of "
            f"the release; {n - incomplete:,} remain."
        )
    else:
        st.caption(f"{count(n, 'record')}, none of which lacks a quasi-identifier.")


def _released_as(table: Table, column: str, kind: str) -> str:
    """Return an example of what a group's values become."""
    if kind == "numeric":
        series = table.frame[column]
        low, high = series.min(), series.max()
        return f"a range within [{number(float(low))}, {number(float(high))}]" if pd.notna(low) else ""
    if kind == "ordinal":
        levels = kinds.levels_of(table, column)
        return f"a range of the order {levels[0]} < … < {levels[-1]}" if len(levels) > 1 else levels[0]
    tree = kinds.taxonomy_of(table, column)
    if tree.is_flat:
        return "the value, or anything: its taxonomy is flat"
    inner = [tree.names[node] for node in tree.children[0] if tree.children[node]]
    return f"the value, {', '.join(inner[:4])}{', …' if len(inner) > 4 else ''}, or anything"


def _attribute(table: Table, column: str) -> None:
    possible = kinds.possible_kinds(table, column)
    setup = kinds.setup(table)
    st.session_state["m_kind"] = setup.kinds[column]

    def choose() -> None:
        kinds.change(table, kinds={**setup.kinds, column: st.session_state["m_kind"]})

    st.segmented_control(
        f"Kind of {escape_markdown(column)}",
        [kind for kind in KINDS if kind in possible],
        key="m_kind",
        format_func=str.capitalize,
        required=True,
        on_change=choose,
        help="Numeric: a group becomes a range of numbers. Ordinal: a range of ordered categories. Nominal: the lowest "
        "common ancestor in a taxonomy.",
    )
    kind = setup.kinds[column]
    if kind == "numeric":
        _numeric(table, column, possible)
    elif kind == "ordinal":
        _ordinal(table, column)
    else:
        _nominal(table, column)


def _numeric(table: Table, column: str, possible: list[Kind]) -> None:
    values = table.frame[column].to_numpy(float, na_value=np.nan)
    values = values[np.isfinite(values)]
    if not len(values):
        st.info("This column has no finite number.")
        return
    low, high = float(values.min()), float(values.max())
    example = float(np.quantile(values, 0.4, method="nearest")), float(np.quantile(values, 0.6, method="nearest"))
    share = 100 * (example[1] - example[0]) / (high - low) if high > low else 0
    show_figure(
        taxonomy.numbers(values, example),
        title=f"{column} goes from {number(low)} to {number(high)}: a range such as [{number(example[0])}, "
        f"{number(example[1])}] loses {share:.0f} %",
        key="m_numbers",
        alt=f"How many records have which {column}; a range in the middle is marked.",
    )
    if len(possible) > 1 and kinds.columns(table)[column].distinct <= 20:
        st.caption("If the numbers are codes, choose Ordinal or Nominal.")


def _drafts() -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return what was entered that could not be used, and why, by table, column and label."""
    return st.session_state.setdefault("mixed_drafts", {})


def _editor(table: Table, column: str, label: str, current: str, keep: Callable[[str], None], **options: Any) -> None:
    """Draw a text area; what is entered goes to ``keep``, or stays as a draft under a sentence that says what is wrong."""
    key, at = f"m_text_{label}_{column}", (table.identity, column, label)
    text, problem = _drafts().get(at, (current, ""))
    st.session_state[key] = text

    def commit() -> None:
        entered = st.session_state[key]
        try:
            keep(entered)
            _drafts().pop(at, None)
        except MicroaggError as error:
            _drafts()[at] = (entered, str(error))

    st.text_area(label, key=key, on_change=commit, **options)
    if problem:
        st.error(sentence(problem))
        st.caption("Until it is mended, what was there before is used.")

        def discard() -> None:
            _drafts().pop(at, None)

        st.button("Discard what I entered", on_click=discard)


def _say_uncovered(table: Table, column: str, what: str, add: Callable[[list[str]], None]) -> None:
    lacking = kinds.uncovered(table, column)
    if not lacking:
        return
    named = listing([escape_markdown(repr(value)) for value in lacking[:8]])
    others = f" and {len(lacking) - 8} more" if len(lacking) > 8 else ""
    st.warning(f"The {what} lacks {named}{others}, which occur in the data.")
    st.button(f"Add {'it' if len(lacking) == 1 else 'them'}", on_click=add, args=(lacking,), type="primary")


def _ordinal(table: Table, column: str) -> None:
    setup = kinds.setup(table)

    def keep(text: str) -> None:
        kinds.change(table, levels={**setup.levels, column: kinds.parse_levels(text)})

    def add(lacking: list[str]) -> None:
        keep("\n".join([*kinds.levels_of(table, column), *lacking]))

    left, right = st.columns([2, 3])
    levels = kinds.levels_of(table, column)
    with left:
        _editor(
            table,
            column,
            "The order: one category on each line, the lowest first",
            "\n".join(levels),
            keep,
            height=min(max(140, 20 * len(levels) + 40), 460),
            help="A group becomes a range of this order; each step counts the same.",
        )
        _say_uncovered(table, column, "order", add)
    with right:
        if column not in setup.levels:
            st.info("The categories stand in alphabetical order. Put them into their own by moving lines.")
        _draw_order(table, column, levels)


def _draw_order(table: Table, column: str, levels: tuple[str, ...]) -> None:
    known = kinds.counts(table, column)
    ranks = (len(levels) // 3, 2 * len(levels) // 3)
    share = 100 * (ranks[1] - ranks[0]) / max(len(levels) - 1, 1)
    show_figure(
        taxonomy.order({level: known.get(level, 0) for level in levels}, ranks),
        title=f"A range such as [{levels[ranks[0]]}, {levels[ranks[1]]}] loses {share:.0f} % of {column}",
        key="m_order",
        alt=f"How many records have each category of {column}, in its order; a range in the middle is marked.",
    )


def _nominal(table: Table, column: str) -> None:
    left, right = st.columns([2, 3])
    with left:
        _edit_taxonomy(table, column)
    tree = kinds.taxonomy_of(table, column)
    figure, depth = taxonomy.taxonomy(tree, kinds.counts(table, column))
    with right:
        tall = figure.layout.height > _TALL
        with st.container(height=_TALL, border=True) if tall else st.container(border=True):
            show_figure(
                figure,
                title=_tree_in_words(column, tree),
                key="m_tree",
                alt=f"The taxonomy of {column}, its root at the left, its {len(tree.values)} values at the right; "
                "the text beside it says the same.",
            )
        if depth < tree.height:
            st.caption(
                f"The tree is too large to be drawn whole: the upper {depth} of its {tree.height} levels are shown."
            )


def _tree_in_words(column: str, tree: Taxonomy) -> str:
    if tree.is_flat:
        return f"{column}: {count(len(tree.values), 'value')} side by side; any two have only “anything” in common"
    return f"{column}: {count(len(tree.values), 'value')} on {tree.height} levels below “anything”"


def _edit_taxonomy(table: Table, column: str) -> None:
    setup = kinds.setup(table)
    label = "Taxonomy: indent each name below the one it belongs to"

    def put(tree: Taxonomy) -> None:
        kinds.change(table, taxonomies={**setup.taxonomies, column: tree})

    def add(lacking: list[str]) -> None:
        put(Taxonomy.from_text(kinds.with_values(kinds.taxonomy_of(table, column), lacking)))

    _editor(
        table,
        column,
        label,
        kinds.taxonomy_of(table, column).to_text(),
        lambda text: put(Taxonomy.from_string(text)),
        height=min(max(180, 20 * len(kinds.taxonomy_of(table, column).names) + 40), 460),
        help="The root on the first line; two blanks more for each level below. All values must be equally deep: where a "
        "branch has fewer levels, repeat its name (Private below Private). Nested JSON is understood too.",
    )
    _say_uncovered(table, column, "taxonomy", add)
    uploader = f"m_file_{column}"

    def read() -> None:
        file = st.session_state[uploader]
        at = (table.identity, column, label)
        if file is None:
            return
        try:
            put(kinds.read_taxonomy(file.name, file.getvalue()))
            _drafts().pop(at, None)
        except MicroaggError as error:
            _drafts()[at] = (kinds.taxonomy_of(table, column).to_text(), str(error))

    def flatten() -> None:
        put(Taxonomy.flat(kinds.counts(table, column)))
        _drafts().pop((table.identity, column, label), None)

    known = table.schema.taxonomies.get(column) if table.schema else None

    def declared() -> None:
        assert known is not None
        put(known)
        _drafts().pop((table.identity, column, label), None)

    with st.container(horizontal=True):
        st.download_button(
            "Download as text",
            kinds.taxonomy_of(table, column).to_text(),
            file_name=f"{file_name(column)}.txt",
            mime="text/plain",
            on_click="ignore",
        )
        if not kinds.taxonomy_of(table, column).is_flat:
            st.button(
                "Make it flat", on_click=flatten, help="All values side by side: a group keeps a value or nothing."
            )
        if known and known != kinds.taxonomy_of(table, column):
            st.button("Back to the data set's own", on_click=declared)
    with st.expander("Use a file"):
        st.file_uploader(
            "Indented text (.txt) or nested JSON (.json)",
            type=["txt", "json"],
            key=uploader,
            on_change=read,
            help="It is read into the memory of this session and goes nowhere else.",
        )
