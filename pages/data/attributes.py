"""The values of one column, drawn by kind, and editors for orders and taxonomies: as text, from a file, by a click."""

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
from microagg.columns.taxonomy import ANYTHING, Taxonomy
from pages.shared import columns, state, theme
from pages.shared.figures import download, finish, show_figure
from pages.shared.tables import Table
from pages.shared.text import count, escape_html, escape_markdown, file_name, named, number, sentence
from pages.shared.workspace import Workspace

_MOST_BINS = 40
MOST_NODES = 400  # that are drawn of a taxonomy
_TALL = 520  # pixels; a taller drawing scrolls
_MOST_BARS, _MOST_VALUES = 12, 1_000  # that are drawn of a column that is not grouped on; of so many at most

_TAXONOMY = "Taxonomy: indent each name below the one it belongs to"


def order(counts: Mapping[str, int], example: tuple[int, int]) -> go.Figure:
    """Draw the number of records in each ordered category, the lowest on top; the ranks of ``example`` stand out."""
    low, high = example
    colors = [theme.BLUE if low <= rank <= high else theme.NEUTRAL for rank in range(len(counts))]
    figure = go.Figure().add_bar(
        x=list(counts.values()),
        y=[escape_html(level) for level in counts],
        orientation="h",
        marker={"color": colors},
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


def taxonomy(tree: Taxonomy, counts: Mapping[str, int]) -> tuple[go.Figure, int]:
    """Draw the upper levels of a taxonomy, at most :data:`MOST_NODES` nodes, and return how many levels are drawn."""
    names = ["anything" if tree.names[0] == ANYTHING else tree.names[0], *tree.names[1:]]
    levels = np.bincount(tree.depths)
    depth = max(1, int(np.searchsorted(np.cumsum(levels), MOST_NODES, side="right")) - 1)
    depth = min(depth, tree.height)
    nodes = [node for node in range(len(tree.names)) if tree.depths[node] <= depth]
    records = np.zeros(len(tree.names))
    for leaf in tree.leaves:
        for node in tree.ancestors(leaf):
            records[node] += counts.get(tree.names[leaf], 0)
    whole = records[0] or 1
    branch = {child: theme.group_color(place) for place, child in enumerate(tree.children[0])}
    colors, texts = [], []
    for node in nodes:
        above = [other for other in tree.ancestors(node) if other]
        color = branch[above[-1]] if above and not tree.is_flat else theme.NEUTRAL
        share = 0.12 if not records[node] else 0.25 if not tree.children[node] else 0.5
        colors.append(theme.tint(color, share))
        height = tree.height_of(node)
        says = "the value itself" if height == 0 else f"loses {100 * height / tree.height:.0f} %"
        unused = "" if records[node] else ", in no record"
        texts.append(f"{says}<br>{records[node]:,.0f} records ({100 * records[node] / whole:.1f} %){unused}")
    # A cell is as high as the cells at its right end together.
    heights = np.zeros(len(tree.names), dtype=int)
    for node in nodes:
        if tree.depths[node] == depth or not tree.children[node]:
            heights[list(tree.ancestors(node))] += 1
    figure = go.Figure().add_icicle(
        ids=[str(node) for node in nodes],
        labels=[escape_html(names[node]) for node in nodes],
        parents=[str(tree.parents[node]) if node else "" for node in nodes],
        values=heights[nodes],
        branchvalues="total",
        customdata=texts,
        hovertemplate="<b>%{label}</b><br>%{customdata}<extra></extra>",
        tiling={"orientation": "h", "pad": 2},
        leaf={"opacity": 1},
        marker={"colors": colors, "line": {"width": 0}},
        textposition="top left",
        # Cells are light in both themes.
        textfont={"color": theme.INK},
        pathbar={"visible": False},
        sort=False,
    )
    finish(figure, max(180, 26 * int(levels[depth]) + 20))
    figure.update_layout(margin={"l": 0, "r": 0, "t": 4, "b": 4}, uniformtext={"minsize": 9, "mode": "show"})
    return figure, depth


def show(table: Table, workspace: Workspace | None, name: str) -> None:
    """Draw the values of a column, with the editor of its order or taxonomy; ``workspace`` has numbers and dates."""
    column = columns.columns(table)[name]
    is_grouped = column.is_quasi_identifier and bool(column.kind)
    if is_grouped and column.kind == "ordinal":
        _ordinal(table, name)
    elif is_grouped and column.kind == "nominal":
        _nominal(table, name)
    elif is_grouped and workspace is not None:
        values = workspace.source.records.values[:, workspace.columns.index(name)]
        _numbers(values, name, is_date=column.is_date, as_range=not workspace.is_numeric)
    elif (finite := columns.numbers_of(table, name)) is not None:
        _numbers(finite, name)
    elif column.n_distinct <= _MOST_VALUES:
        _frequencies(table, name)


def _frequencies(table: Table, name: str) -> None:
    """Draw the most frequent values of a column that is not grouped on."""
    counts = columns.counts(table, name)
    first = dict(sorted(counts.items(), key=lambda pair: -pair[1])[:_MOST_BARS])
    if first:
        most, n = next(iter(first.items()))
        show_figure(
            order(first, (-1, -1)),
            title=f"Most frequent: {most}, {count(n, 'record')}",
            key="attribute_values",
            alt=f"How many records have each of the most frequent values of {name}.",
        )


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
    _draw_order(table, name, levels)


def _draw_order(table: Table, name: str, levels: tuple[str, ...]) -> None:
    counts = columns.counts(table, name)
    ranks = (len(levels) // 3, 2 * len(levels) // 3)
    share = 100 * (ranks[1] - ranks[0]) / max(len(levels) - 1, 1)
    show_figure(
        order({level: counts.get(level, 0) for level in levels}, ranks),
        title=f"A range such as [{levels[ranks[0]]}, {levels[ranks[1]]}] loses {share:.0f} % of {name}",
        key="attribute_order",
        alt=f"How many records have each category of {name}, in its order; a range in the middle is marked.",
    )


def _nominal(table: Table, name: str) -> None:
    tree = columns.taxonomy_of(table, name)
    figure, depth = taxonomy(tree, columns.counts(table, name))
    levels = f"on {tree.height} levels below “anything”"
    levels = "side by side; any two have only “anything” in common" if tree.is_flat else levels
    with st.container(height=_TALL) if figure.layout.height > _TALL else st.container():
        alt = (
            f"The taxonomy of {name}, its root at the left, its {len(tree.values)} values at the right; "
            "the text below says the same."
        )
        title = f"{name}: {count(len(tree.values), 'value')} {levels}"
        show_figure(figure, title=title, key="attribute_tree", alt=alt)
    if depth < tree.height:
        st.caption(f"The upper {depth} of {tree.height} levels: the whole tree is too large to be drawn.")
    _edit_taxonomy(table, name)


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
        "branch has fewer levels, repeat its name (Private below Private). Nested JSON is understood too.",
    )
    _say_uncovered(table, name, "taxonomy", lambda lacking: put(lambda: tree.with_values(lacking)))
    download("Download as text", tree.to_text(), f"{file_name(name)}.txt")
    _from_file(name, put)


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


def _from_file(name: str, put: Callable[[Callable[[], Taxonomy]], None]) -> None:
    key = f"taxonomy_file_{name}"

    def read() -> None:
        if (file := st.session_state[key]) is not None:
            put(lambda: Taxonomy.from_bytes(file.getvalue(), name=file.name))

    with st.expander("Use a file"):
        says = "It is read into the memory of this session and goes nowhere else."
        st.file_uploader("Indented text (.txt)", type=["txt"], key=key, on_change=read, help=says)
