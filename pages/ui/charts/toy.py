"""A few records on a line, once for each partition of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.charts import theme
from pages.ui.charts.layout import finish
from pages.ui.text import number


def number_line(values: np.ndarray, partitions: Sequence[tuple[str, str, np.ndarray]]) -> go.Figure:
    """Draw one-dimensional records on a line, once per partition; ``partitions`` are (key, caption, labels)."""
    figure = go.Figure()
    rows = len(partitions)
    for place, (key, caption, labels) in enumerate(partitions):
        level = rows - 1 - place
        figure.add_annotation(
            text=f"<b>{caption}</b>",
            xref="paper",
            x=0,
            xanchor="left",
            y=level + 0.42,
            showarrow=False,
            font={"color": theme.style(key).color, "size": 14},
        )
        for group in range(labels.max() + 1):
            color = theme.GROUP_COLORS[group % len(theme.GROUP_COLORS)]
            members = values[labels == group]
            center = float(members.mean())
            sse = float(np.square(members - center).sum())
            text = f"{{{', '.join(f'{value:g}' for value in members)}}}"
            says = f"group {text}<br>centroid {number(center)}, SSE {number(sse)}"
            figure.add_scatter(
                x=[members.min(), members.max()],
                y=[level, level],
                mode="lines",
                line={"color": color, "width": 20},
                opacity=0.3,
                hoverinfo="skip",
                showlegend=False,
            )
            figure.add_scatter(
                x=members,
                y=np.full(len(members), level),
                mode="markers",
                marker={"color": color, "size": 11, "line": {"width": 1, "color": "rgba(255,255,255,0.7)"}},
                hovertemplate=f"<b>%{{x}}</b><br>{says}<extra></extra>",
                name="record",
                showlegend=place == 0 and group == 0,
            )
            figure.add_scatter(
                x=[center],
                y=[level - 0.2],
                mode="markers",
                marker={"symbol": "triangle-up", "color": color, "size": 11},
                hovertemplate=f"{says}<extra></extra>",
                name="its group's centroid",
                showlegend=place == 0 and group == 0,
            )
    span = float(np.ptp(values)) or 1.0
    figure.update_xaxes(
        title="value of the record", range=[values.min() - 0.04 * span, values.max() + 0.04 * span], fixedrange=True
    )
    figure.update_yaxes(visible=False, range=[-0.45, rows - 0.35], fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 90 + 115 * rows)
