"""A few records on a line, once for each partition of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from microagg.experiment import Result
from pages.ui.charts import theme
from pages.ui.charts.layout import finish
from pages.ui.text import number, percent


def number_line(values: np.ndarray, results: Sequence[Result]) -> go.Figure:
    """Draw the records ``values``, shape (n, 1), on a line, once for each of ``results``."""
    figure = go.Figure()
    values, rows = values[:, 0], len(results)
    for place, result in enumerate(results):
        labels = result.partition.labels
        level = rows - 1 - place
        figure.add_annotation(
            text=f"<b>{result.method.label}: SSE {number(result.sse)}, IL {percent(result.information_loss)}</b>",
            xref="paper",
            x=0,
            xanchor="left",
            y=level + 0.42,
            showarrow=False,
            font={"color": theme.style(result.method.key).color, "size": 14},
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
    figure.update_xaxes(title="value of the record", range=[values.min() - 0.04 * span, values.max() + 0.04 * span])
    figure.update_yaxes(visible=False, range=[-0.45, rows - 0.35])
    return finish(figure, 90 + 115 * rows)
