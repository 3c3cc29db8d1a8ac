"""How large the groups of partitions are, and which part of the loss falls on how many of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from microagg import metrics
from pages.ui.charts import theme
from pages.ui.charts.clusters import Side
from pages.ui.charts.layout import finish
from pages.ui.text import escape_html

# Points of a curve beyond these would lie on each other.
_MOST_POINTS = 200


def loss_curve(sides: Sequence[Side], loss: str) -> go.Figure:
    """Draw what part of the ``loss`` the groups lose that lose most, against how many of all they are."""
    figure = go.Figure()
    for side in sides:
        lost = np.concatenate([[0.0], metrics.cumulated(side.group_shares())])
        among = np.unique(np.linspace(0, len(lost) - 1, _MOST_POINTS).round().astype(int))
        style, label = theme.style(side.key), escape_html(side.label)
        figure.add_scatter(
            x=100 * among / (len(lost) - 1),
            y=lost[among],
            mode="lines",
            name=label,
            line={"color": style.color, "dash": style.dash, "width": 2.5},
            hovertemplate=f"<b>{label}</b><br>%{{x:.3g}} % of the groups lose %{{y:.3g}} %<extra></extra>",
        )
    figure.add_vline(x=10, line={"color": theme.NEUTRAL, "width": 1, "dash": "dot"})
    figure.update_xaxes(title="groups that lose most, % of all", range=(0, 100))
    figure.update_yaxes(title=f"% of the {escape_html(loss)}", range=(0, 102))
    figure.update_layout(showlegend=True)
    return finish(figure, 270)


def tenth_in_words(sides: Sequence[Side]) -> str:
    """Return what part of its loss falls on the tenth of each partition's groups that lose most, of few on one."""
    parts = []
    for side in sides:
        lost = metrics.cumulated(side.group_shares())
        parts.append(f"{lost[-(-len(lost) // 10) - 1]:.3g} % by {side.label}")
    few = any(side.partition.n_groups < 10 for side in sides)
    return f"{'One group' if few else 'A tenth of the groups'} loses {' and '.join(parts)}"


def group_sizes(sides: Sequence[Side]) -> go.Figure:
    """Draw how many groups have each size."""
    figure = go.Figure()
    most = 0
    sizes = [side.partition.sizes for side in sides]
    for side, own in zip(sides, sizes, strict=True):
        values, counts = np.unique(own, return_counts=True)
        most = max(most, int(counts.max()))
        label = escape_html(side.label)
        figure.add_bar(
            x=values,
            y=counts,
            name=label,
            marker={"color": theme.style(side.key).color},
            hovertemplate=f"<b>{label}</b><br>%{{y}} groups of %{{x}} records<extra></extra>",
        )
    widest, least = max(int(own.max()) for own in sizes), min(int(own.min()) for own in sizes)
    # Bars of a few sizes stay as narrow as those of many.
    few = {"dtick": -(-(widest - least + 1) // 8), "range": (least - 1, max(widest, least + 6) + 1)}
    figure.update_xaxes(title="records in the group", **(few if widest - least <= 20 else {}))
    figure.update_yaxes(title="groups", **({"dtick": 1} if most <= 5 else {}))
    figure.update_layout(barmode="group", bargap=0.25, showlegend=False)
    return finish(figure, 210)
