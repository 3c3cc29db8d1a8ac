"""Before and after: the values of an attribute as they were and as they are released, and correlations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from pages.ui.charts import theme
from pages.ui.charts.layout import finish
from pages.ui.text import escape_html

_MOST_CATEGORIES = 12


def distribution(counts: pd.DataFrame, released: str) -> go.Figure:
    """Draw ``counts`` of :func:`microagg.release.distribution`, the most frequent of categories; one is ``released``."""
    lies = not is_numeric_dtype(counts.index) and not is_datetime64_any_dtype(counts.index)
    if lies:
        frequent = [counts[name].nlargest(_MOST_CATEGORIES).index for name in counts]
        counts = counts.loc[list(dict.fromkeys([*frequent[0], *frequent[1]]))]
    values = [escape_html(value)[:40] for value in counts.index] if lies else counts.index.to_numpy()
    hover = "<b>%{y}</b><br>%{x:,}" if lies else "about %{x}<br>%{y:,.0f}"
    figure = go.Figure()
    for column, name, color in (("before", "before", theme.NEUTRAL), ("released", released, theme.BLUE)):
        numbers = counts[column].to_numpy()
        figure.add_bar(
            x=numbers if lies else values,
            y=values if lies else numbers,
            orientation="h" if lies else "v",
            name=name,
            marker={"color": color},
            hovertemplate=f"{hover} records {name}<extra></extra>",
        )
    figure.update_xaxes(title="records" if lies else "value", fixedrange=True)
    figure.update_yaxes(title=None if lies else "records", fixedrange=True)
    if lies:
        figure.update_yaxes(type="category", autorange="reversed")
    figure.update_layout(barmode="group", bargap=0.2, dragmode=False, showlegend=True)
    return finish(figure, max(220, 26 * len(counts) + 90) if lies else 280)


def correlations(before: np.ndarray, after: np.ndarray, names: list[str]) -> go.Figure:
    """Draw by how much the correlation of each pair of ``names`` changed; both arrays have shape (d, d)."""
    change = np.where(np.triu(np.ones_like(before, dtype=bool)), np.nan, after - before)
    largest = max(0.05, float(np.nanmax(np.abs(change), initial=0)))
    labels = [escape_html(name)[:24] for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=change,
            x=labels,
            y=labels,
            zmin=-largest,
            zmax=largest,
            colorscale=[[0, theme.VERMILLION], [0.5, "rgba(127, 140, 153, 0.12)"], [1, theme.BLUE]],
            customdata=np.stack([before, after], axis=-1),
            hovertemplate="%{y} and %{x}<br>%{customdata[0]:.3f} before, %{customdata[1]:.3f} released<extra></extra>",
            colorbar={"title": {"text": "change"}, "thickness": 12},
            hoverongaps=False,
        )
    )
    figure.update_xaxes(fixedrange=True, showgrid=False)
    figure.update_yaxes(autorange="reversed", fixedrange=True, showgrid=False)
    figure.update_layout(dragmode=False)
    return finish(figure, min(160 + 26 * len(names), 620))
