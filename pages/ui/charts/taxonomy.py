"""The values of one attribute: numbers, ordered categories, or categories with a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from microagg.columns import bin_edges
from microagg.taxonomy import ANYTHING, Taxonomy
from pages.ui.charts import theme
from pages.ui.charts.layout import finish
from pages.ui.text import escape_html

_MOST_BINS = 40

#: More nodes than this are not drawn one by one.
MOST_NODES = 400


def order(counts: Mapping[str, int], example: tuple[int, int]) -> go.Figure:
    """Draw how many records have each ordered category, the lowest on top; those of the ranks ``example`` stand out."""
    low, high = example
    colors = [theme.BLUE if low <= rank <= high else theme.NEUTRAL for rank in range(len(counts))]
    figure = go.Figure(
        go.Bar(
            x=list(counts.values()),
            y=[escape_html(level) for level in counts],
            orientation="h",
            marker={"color": colors},
            hovertemplate="<b>%{y}</b><br>%{x:,} records<extra></extra>",
        )
    )
    figure.update_xaxes(title="records", fixedrange=True)
    figure.update_yaxes(type="category", autorange="reversed", fixedrange=True)
    figure.update_layout(dragmode=False, bargap=0.25)
    return finish(figure, min(max(160, 24 * len(counts) + 60), 900))


def numbers(values: np.ndarray, example: tuple[float, float], axis: str) -> go.Figure:
    """Draw how numbers are distributed, and ``example``, a range that a group might become; ``axis`` is its title."""
    counts, edges = np.histogram(values, bin_edges(values, _MOST_BINS))
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=np.diff(edges),
            marker={"color": theme.NEUTRAL},
            customdata=np.stack([edges[:-1], edges[1:]], axis=1),
            hovertemplate="%{customdata[0]:.4~g} to %{customdata[1]:.4~g}<br>%{y:,} records<extra></extra>",
        )
    )
    figure.add_vrect(x0=example[0], x1=example[1], fillcolor=theme.BLUE, opacity=0.35, line_width=0)
    figure.update_xaxes(title=axis, range=[edges[0], edges[-1]], fixedrange=True)
    figure.update_yaxes(title="records", fixedrange=True)
    figure.update_layout(dragmode=False, bargap=0)
    return finish(figure, 260)


def taxonomy(tree: Taxonomy, counts: Mapping[str, int]) -> tuple[go.Figure, int]:
    """Draw a taxonomy, its root at the left and its values at the right, and return how many levels are drawn.

    ``counts`` are the records with each value. Of a large tree only the upper levels are drawn, as many as have at most
    :data:`MOST_NODES` nodes.
    """
    levels = np.bincount(tree.depths)
    depth = max(1, int(np.searchsorted(np.cumsum(levels), MOST_NODES, side="right")) - 1)
    depth = min(depth, tree.height)
    shown = [node for node in range(len(tree.names)) if tree.depths[node] <= depth]
    records = np.zeros(len(tree.names))
    for leaf in tree.leaves:
        for node in tree.ancestors(leaf):
            records[node] += counts.get(tree.names[leaf], 0)
    whole = records[0] or 1
    branch = {}
    for place, child in enumerate(tree.children[0]):
        branch[child] = theme.GROUP_COLORS[place % len(theme.GROUP_COLORS)]
    colors, texts = [], []
    for node in shown:
        above = [other for other in tree.ancestors(node) if other]
        color = branch[above[-1]] if above and not tree.is_flat else theme.NEUTRAL
        share = 0.12 if not records[node] else 0.25 if not tree.children[node] else 0.5
        colors.append(theme.tint(color, share))
        height = tree.height_of(node)
        says = "the value itself" if height == 0 else f"loses {100 * height / tree.height:.0f} %"
        unused = "" if records[node] else ", in no record"
        texts.append(f"{says}<br>{records[node]:,.0f} records ({100 * records[node] / whole:.1f} %){unused}")
    leaves = [node for node in shown if tree.depths[node] == depth]
    figure = go.Figure(
        go.Icicle(
            ids=[str(node) for node in shown],
            labels=[
                escape_html("anything" if not node and tree.names[0] == ANYTHING else tree.names[node])
                for node in shown
            ],
            parents=[str(tree.parents[node]) if node else "" for node in shown],
            values=[_leaves_below(tree, node, depth) for node in shown],
            branchvalues="total",
            customdata=texts,
            hovertemplate="<b>%{label}</b><br>%{customdata}<extra></extra>",
            tiling={"orientation": "h", "pad": 2},
            leaf={"opacity": 1},
            marker={"colors": colors, "line": {"width": 0}},
            textposition="top left",
            # Cells are light in both themes, so their text is dark in both.
            textfont={"color": theme.INK},
            pathbar={"visible": False},
            sort=False,
        )
    )
    finish(figure, max(180, 26 * len(leaves) + 20))
    figure.update_layout(margin={"l": 0, "r": 0, "t": 4, "b": 4}, uniformtext={"minsize": 9, "mode": "show"})
    return figure, depth


def _leaves_below(tree: Taxonomy, node: int, depth: int) -> int:
    if tree.depths[node] == depth or not tree.children[node]:
        return 1
    return sum(_leaves_below(tree, child, depth) for child in tree.children[node])
