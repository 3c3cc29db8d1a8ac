"""A handful of records on a plane: where their release moves them, and how they are grouped."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.ui.charts import theme
from pages.ui.charts.layout import finish


def persons(before: pd.DataFrame, after: pd.DataFrame, groups: np.ndarray, x: str, y: str) -> go.Figure:
    """Draw records before and after by two of their columns; ``groups``, shape (n,), number their groups from 0."""
    figure = go.Figure()
    for group in range(int(groups.max()) + 1):
        color = theme.GROUP_COLORS[group % len(theme.GROUP_COLORS)]
        old, new = before[groups == group], after[groups == group]
        gap = np.full(len(old), np.nan)
        figure.add_scatter(
            x=np.column_stack([old[x], new[x], gap]).ravel(),
            y=np.column_stack([old[y], new[y], gap]).ravel(),
            mode="lines",
            line={"color": color, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=old[x],
            y=old[y],
            mode="markers+text",
            text=[str(name) for name in old.index],
            textposition="top center",
            marker={"color": color, "size": 12},
            hovertemplate=f"person %{{text}}: {x} %{{x}}, {y} %{{y:,}}<extra></extra>",
            name="person",
            showlegend=group == 0,
        )
        figure.add_scatter(
            x=new[x].iloc[:1],
            y=new[y].iloc[:1],
            mode="markers",
            marker={"color": color, "size": 16, "symbol": "x"},
            hovertemplate=f"released for all {len(new)}: {x} %{{x}}, {y} %{{y:,}}<extra></extra>",
            name="what is released for each of its group",
            showlegend=group == 0,
        )
    figure.update_xaxes(title=f"{x} (years)")
    figure.update_yaxes(title=f"{y} (a year)", tickformat=",")
    return finish(figure, 330)


def groups_on_plane(points: np.ndarray, labels: np.ndarray) -> go.Figure:
    """Draw records on a plane, ``points`` of shape (n, 2), each joined to the mean of its group."""
    figure = go.Figure()
    for group in range(int(labels.max()) + 1):
        color = theme.GROUP_COLORS[group % len(theme.GROUP_COLORS)]
        members = points[labels == group]
        center = members.mean(axis=0)
        spokes = np.stack([members, np.broadcast_to(center, members.shape), np.full(members.shape, np.nan)], axis=1)
        figure.add_scatter(
            x=spokes[..., 0].ravel(),
            y=spokes[..., 1].ravel(),
            mode="lines",
            line={"color": color, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=members[:, 0],
            y=members[:, 1],
            mode="markers",
            marker={"color": color, "size": 9},
            hovertemplate=f"group {group + 1} of {len(members)} records<extra></extra>",
            name="record",
            showlegend=group == 0,
        )
        figure.add_scatter(
            x=[center[0]],
            y=[center[1]],
            mode="markers",
            marker={"color": color, "size": 10, "symbol": "x"},
            hovertemplate=f"mean of group {group + 1}<extra></extra>",
            name="its group's mean",
            showlegend=group == 0,
        )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return finish(figure, 380)
