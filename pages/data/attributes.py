"""The values of one column, drawn by kind, and editors for orders and taxonomies: as text or by a click."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from microagg import MicroaggError
from microagg.columns import bin_edges
from microagg.columns.schema import check_levels
from microagg.columns.taxonomy import Taxonomy
from pages.shared import columns, state, theme
from pages.shared.figures import finish, show_figure
from pages.shared.tables import Table
from pages.shared.text import count, escape_html, escape_markdown, named, number, sentence
from pages.shared.workspace import Workspace

_MOST_BINS = 40
_MOST_BARS, _MOST_VALUES = (
    12,
    1_000,
)  # that are drawn of categories; of a column that is not grouped on, of so many at most

_TAXONOMY = "Taxonomy: indent each name below the one it belongs to"


def bars(counts: Mapping[str, int]) -> go.Figure:
    """Draw the number of records with each value, the first on top."""
    figure = go.Figure().add_bar(
        x=list(counts.values()),
        y=[escape_html(value) for value in counts],
        orientation="h",
        marker={"color": theme.NEUTRAL},
        hovertemplate="<b>%{y}</b><br>%{x:,} records<extra></extra>",
    )
    figure.update_xaxes(title="records")
    figure.update_yaxes(type="category", autorange="reversed")
    figure.update_layout(bargap=0.25)
    return finish(figure, min(max(160, 24 * len(counts) + 60), 900))


def numbers(values: np.ndarray, example: tuple[float, float], *, dates: bool = False) -> go.Figure:
    """Draw the distribution of numbers, or ``dates`` as days since 1970; ``example`` is a range that a group might become."""
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
    low, high = (end * unit for end in example)
    figure.add_vrect(x0=low, x1=high, fillcolor=theme.BLUE, opacity=0.35, line_width=0)
    how = {"type": "date", "title": "date"} if dates else {"title": "value"}
    figure.update_xaxes(**how, range=[edges[0] * unit, edges[-1] * unit])
    figure.update_yaxes(title="records")
    figure.update_layout(bargap=0)
    return finish(figure, 260)


def show(table: Table, workspace: Workspace | None, name: str) -> None:
    """Draw the values of a column, with the editor of its order or taxonomy; ``workspace`` has numbers and dates."""
    column = columns.columns(table)[name]
    is_grouped = column.is_quasi_identifier and bool(column.kind)
    if is_grouped and column.kind == "ordinal":
        _ordinal(table, name)
    elif is_grouped and column.kind == "nominal":
        _frequencies(table, name)
        _edit_taxonomy(table, name)
    elif is_grouped and workspace is not None:
        values = workspace.source.records.values[:, workspace.columns.index(name)]
        _numbers(values, name, is_date=column.is_date, as_range=not workspace.is_numeric)
    elif (finite := columns.numbers_of(table, name)) is not None:
        _numbers(finite, name)
    elif column.n_distinct <= _MOST_VALUES:
        _frequencies(table, name)


def _frequencies(table: Table, name: str) -> None:
    """Draw the most frequent values."""
    counts = columns.counts(table, name)
    first = dict(sorted(counts.items(), key=lambda pair: -pair[1])[:_MOST_BARS])
    if first:
        most, n = next(iter(first.items()))
        title = f"{count(len(counts), 'value')}, most frequent {most}: {count(n, 'record')}"
        alt = f"How many records have each of the most frequent values of {name}."
        show_figure(bars(first), title=title, key="attribute_values", alt=alt)


def _numbers(values: np.ndarray, name: str, *, is_date: bool = False, as_range: bool = False) -> None:
    """Draw the distribution of numbers or dates; ``as_range`` tells whether groups become ranges."""
    low, first, third, high = (float(value) for value in np.quantile(values, [0, 0.25, 0.75, 1], method="nearest"))
    loses = ""
    if as_range and high > low:
        loses = f"; released as that range, they lose {100 * (third - first) / (high - low):.0f} %"
    write: Callable[[float], str] = _day if is_date else number
    show_figure(
        numbers(values, (first, third), dates=is_date),
        title=f"{name}: {write(low)} to {write(high)}; half of the records between {write(first)} and "
        f"{write(third)}{loses}",
        key="attribute_numbers",
        alt=f"How many records have which {name}; the middle half is marked.",
    )


def _day(days: float) -> str:
    return str(np.datetime64(round(days), "D"))


def _drafts() -> dict[tuple[str, str, str], tuple[str, str]]:
    return st.session_state.setdefault("category_drafts", {})


def _take(at: tuple[str, str, str], text: str, keep: Callable[[], None]) -> None:
    """Run ``keep``; if it fails, keep ``text`` as a draft with the reason."""
    try:
        keep()
        _drafts().pop(at, None)
    except MicroaggError as error:
        _drafts()[at] = (text, str(error))


def _editor(table: Table, name: str, label: str, now: str, keep: Callable[[str], None], **options: Any) -> None:
    """Draw a text area whose text goes to ``keep``, or stays as a draft under the reason."""
    key, at = f"text_{label}_{name}", (table.identity, name, label)
    text, problem = _drafts().get(at, (now, ""))

    def take(entered: str) -> None:
        _take(at, entered, lambda: keep(entered))

    height = min(max(160, 20 * text.count("\n") + 60), 460)
    state.tied(st.text_area, label, key, text, take, height=height, **options)
    if problem:
        st.error(sentence(problem))
        st.caption("The version before it stays in use until this is corrected.")

        def discard() -> None:
            _drafts().pop(at, None)

        st.button("Discard what I entered", on_click=discard)


def _say_uncovered(table: Table, name: str, what: str, add: Callable[[list[str]], None]) -> None:
    lacking = columns.uncovered(table, name)
    if not lacking:
        return
    st.warning(f"The {what} lacks {escape_markdown(named(lacking))}, which occur in the data.")
    st.button(f"Add {'it' if len(lacking) == 1 else 'them'}", on_click=add, args=(lacking,), type="primary")


def _ordinal(table: Table, name: str) -> None:
    levels = columns.levels_of(table, name)

    def keep(text: str) -> None:
        levels = check_levels(name, [line.strip() for line in text.splitlines() if line.strip()])
        columns.enter(table, "ordinal", name, levels)

    if not columns.is_entered(table, name):
        st.info("The categories are in alphabetical order. Move lines below to put them in theirs.")
    says = "A group becomes a range of this order; each step counts the same."
    _editor(table, name, "The order: one category on each line, the lowest first", "\n".join(levels), keep, help=says)
    _say_uncovered(table, name, "order", lambda lacking: keep("\n".join([*levels, *lacking])))
    counts = columns.counts(table, name)
    in_order = bars({level: counts.get(level, 0) for level in levels})
    alt = f"How many records have each category of {name}, in its order."
    show_figure(
        in_order, title=f"{name}: {count(len(levels), 'category', 'categories')}", key="attribute_order", alt=alt
    )


def _edit_taxonomy(table: Table, name: str) -> None:
    tree = columns.taxonomy_of(table, name)

    def enter(entered: Taxonomy) -> None:
        columns.enter(table, "taxonomies", name, entered.to_nested())

    def put(make: Callable[[], Taxonomy]) -> None:
        _take((table.identity, name, _TAXONOMY), tree.to_text(), lambda: enter(make()))

    _one_click(table, name, tree, put)
    _editor(
        table,
        name,
        _TAXONOMY,
        tree.to_text(),
        lambda text: enter(Taxonomy.from_text(text)),
        help="The root on the first line; two blanks more for each level below. All values must be equally deep: where a "
        "branch has fewer levels, repeat its name (Private below Private).",
    )
    _say_uncovered(table, name, "taxonomy", lambda lacking: put(lambda: tree.with_values(lacking)))


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
