"""The stored comparison of all algorithms: a matrix, and loss against time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from microagg import datasets
from microagg.studies import landscape
from pages.shared import theme
from pages.shared.figures import add_line, finish
from pages.shared.figures import matrix as cells
from pages.shared.text import escape_html

_CLOSE = 0.25  # in powers of ten: names of nearer points on the front stand one below another
_NEAR = 0.1  # percent: the least loss that is drawn, as a logarithmic axis has no zero

# Green up to 1 %, cream at 10 %, red from 100 % on, all light enough for dark text.
_SCALE = [
    [0.0, theme.tint(theme.GREEN, 0.6)],
    [0.35, theme.tint(theme.GREEN, 0.25)],
    [0.5, "#F7F3DC"],
    [0.68, theme.tint(theme.ORANGE, 0.6)],
    [1.0, theme.tint(theme.VERMILLION, 0.75)],
]


def matrix(table: pd.DataFrame, missing: pd.DataFrame) -> go.Figure:
    """Draw the tables ``matrix`` and ``incomplete`` of :mod:`microagg.studies.landscape`: a row for each method."""
    columns = [str(name) if name == "mean" else datasets.describe(str(name)).title for name in table.columns]
    rows = [escape_html(landscape.title(str(name))) for name in table.index]
    values = table.to_numpy(dtype=float)
    colors = np.log10(np.clip(values, _NEAR, None))
    where = {(row["method"], row["data"]): row["ks"] for row in missing.to_dict("records")}
    hover = [
        [_cell(value, where.get((method, data))) for data, value in zip(table.columns, line, strict=True)]
        for method, line in zip(table.index, values, strict=True)
    ]
    text = [[_short(value) for value in line] for line in values]
    figure = cells(colors, columns, rows, most=2, scale=_SCALE, text=text, hover=hover)
    figure.add_vline(x=len(columns) - 1.5, line={"color": theme.NEUTRAL, "width": 2})
    return figure


def _short(value: float) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def _cell(value: float, ks: tuple[int, ...] | None) -> str:
    if not np.isnan(value):
        return f"loses {value:.3g} % more"
    return f"only measured at k = {', '.join(map(str, ks))}" if ks else "not measured"


def loss_and_time(table: pd.DataFrame) -> go.Figure:
    """Draw the table of :func:`microagg.studies.landscape.pareto`: loss against seconds, and the Pareto front."""
    figure = go.Figure()
    table = table.assign(height=table["above_best"].clip(lower=_NEAR))
    front, others = table[table["front"]], table[~table["front"]]
    line = {"color": theme.HIGHLIGHT, "width": 1.5, "shape": "hv", "dash": "dot"}
    add_line(figure, front["seconds"], front["height"], None, line, showlegend=False)
    _methods(figure, others, "one of those is as good in both", surpassed=True)
    _methods(figure, front, "worth trying", surpassed=False)
    _names(figure, front)
    low, high = (float(np.log10(table["seconds"].agg(end))) for end in ("min", "max"))
    width = max(high - low, 0.5)
    title = "time for one partition (seconds of one core)"
    figure.update_xaxes(
        title=title, type="log", dtick=1, exponentformat="none", range=[low - 0.35 * width, high + 0.06 * width]
    )
    figure.update_yaxes(
        title="loss above the lowest known (%)",
        type="log",
        tickvals=[_NEAR, 1, 10, 100, 1000],
        ticktext=[f"≤ {_NEAR:g}", "1", "10", "100", "1,000"],
    )
    return finish(figure, 480)


def _methods(figure: go.Figure, table: pd.DataFrame, name: str, *, surpassed: bool) -> None:
    keys = [landscape.METHODS[method].key for method in table["method"]]
    colors = [theme.NEUTRAL if surpassed else theme.style(key).color for key in keys]
    figure.add_scatter(
        x=table["seconds"],
        y=table["height"],
        name=name,
        legendrank=1001 if surpassed else 1000,
        mode="markers",
        marker={"color": colors, "size": 9 if surpassed else 13, "opacity": 0.6 if surpassed else 1},
        text=table["title"].map(escape_html),
        cliponaxis=False,
        customdata=table["above_best"],
        hovertemplate="<b>%{text}</b><br>%{customdata:.3~g} % above the lowest loss known<br>%{x:.2~g} seconds"
        "<extra></extra>",
    )


def _names(figure: go.Figure, front: pd.DataFrame) -> None:
    before, row = -np.inf, 0
    look = {"xanchor": "right", "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": theme.NEUTRAL}
    for point in front.to_dict("records"):
        x, y = float(np.log10(point["seconds"])), float(np.log10(point["height"]))
        row = row + 1 if x - before < _CLOSE else 0
        before = x
        figure.add_annotation(x=x, y=y, text=escape_html(point["title"]), ax=-16, ay=14 + 17 * row, **look)
