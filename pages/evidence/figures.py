"""The stored tables of the page Evidence, and its figures: matrices, loss against time, and ours against the printed results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import datasets
from microagg.optimum.bounds import CLOSED
from microagg.studies import landscape
from pages.shared import theme
from pages.shared.figures import add_line, finish, matrix
from pages.shared.text import escape_html, percent

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"

_NEAR = 0.1  # percent: the lowest loss that is drawn, as a logarithmic axis has no zero
_MAX_GAP = 30.0  # percent: larger gaps have the same color

# Green up to 1 %, cream at 10 %, red from 100 % on, all light enough for dark text.
_LOSS_SCALE = [
    [0.0, theme.tint(theme.GREEN, 0.6)],
    [0.35, theme.tint(theme.GREEN, 0.25)],
    [0.5, "#F7F3DC"],
    [0.68, theme.tint(theme.ORANGE, 0.6)],
    [1.0, theme.tint(theme.VERMILLION, 0.75)],
]
_GAP_SCALE = [[0.0, theme.tint(theme.GREEN, 0.6)], [0.3, "#F7F3DC"], [1.0, theme.tint(theme.VERMILLION, 0.75)]]


def stored_table(name: str) -> pd.DataFrame:
    """Rows of a CSV file that the benchmarks store; empty if this installation does not have it."""
    path = RESULTS / name
    return _read(str(path), path.stat().st_mtime) if path.is_file() else pd.DataFrame()


@st.cache_data(show_spinner=False)
def _read(path: str, stamp: float) -> pd.DataFrame:
    return pd.read_csv(path)


def data_title(data: str) -> str:
    return datasets.describe(data).title


def loss_matrix(table: pd.DataFrame, missing: pd.DataFrame) -> go.Figure:
    """Draw the tables ``matrix`` and ``incomplete`` of :mod:`microagg.studies.landscape`: a row for each method."""
    columns = [str(name) if name == "mean" else data_title(str(name)) for name in table.columns]
    rows = [escape_html(landscape.title(str(name))) for name in table.index]
    values = table.to_numpy(dtype=float)
    measured = {(row["method"], row["data"]): row["ks"] for row in missing.to_dict("records")}
    hover = [
        [_hover(value, measured.get((method, data))) for data, value in zip(table.columns, row, strict=True)]
        for method, row in zip(table.index, values, strict=True)
    ]
    text = [["" if np.isnan(value) else _short(value) for value in row] for row in values]
    colors = np.log10(np.clip(values, _NEAR, None))
    figure = matrix(colors, columns, rows, most=2, scale=_LOSS_SCALE, text=text, hover=hover)
    figure.add_vline(x=len(columns) - 1.5, line={"color": theme.NEUTRAL, "width": 2})
    return figure


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.05 else "<0.1"


def _hover(value: float, ks: tuple[int, ...] | None) -> str:
    if not np.isnan(value):
        return f"{value:.3g} % above"
    return f"only measured at k = {', '.join(map(str, ks))}" if ks else "not measured"


def gap_matrix(table: pd.DataFrame) -> go.Figure:
    """Draw the gap of each data set at each k in percent; columns data, k and gap, of several seeds the largest counts."""
    largest = table.groupby(["data", "k"], sort=False)["gap"].max().unstack("data", sort=False).sort_index()
    values = largest.to_numpy(dtype=float)
    proven = 100 * CLOSED
    text = [["" if np.isnan(gap) else "★" if gap <= proven else _short(gap) for gap in row] for row in values]
    hover = [["proven optimal" if gap <= proven else f"gap {gap:.3g} %" for gap in row] for row in values]
    columns, rows = [data_title(str(name)) for name in largest.columns], [f"k = {k}" for k in largest.index]
    colors = np.minimum(values, _MAX_GAP)
    return matrix(colors, columns, rows, most=_MAX_GAP, scale=_GAP_SCALE, text=text, hover=hover)


def loss_and_time(table: pd.DataFrame) -> go.Figure:
    """Draw the table of :func:`microagg.studies.landscape.pareto`: loss against seconds, and the Pareto front."""
    figure = go.Figure()
    table = table.assign(height=table["above_best"].clip(lower=_NEAR))
    front, others = table[table["front"]], table[~table["front"]]
    line = {"color": theme.HIGHLIGHT, "width": 1.5, "shape": "hv", "dash": "dot"}
    add_line(figure, front["seconds"], front["height"], None, line, showlegend=False)
    _methods(figure, others, "another one is as good in both", surpassed=True)
    _methods(figure, front, "worth trying", surpassed=False)
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
        mode="markers" if surpassed else "markers+text",
        # To the left of the first one, the quickest, there is nothing; its name leaves room for that of the next one.
        textposition=["middle left", *["bottom left"] * len(table)],
        marker={"color": colors, "size": 9 if surpassed else 13},
        text=table["title"].map(escape_html),
        cliponaxis=False,
        customdata=table["above_best"],
        hovertemplate="<b>%{text}</b><br>%{customdata:.3~g} % above the lowest known loss<br>%{x:.2~g} seconds"
        "<extra></extra>",
    )


def lines(table: pd.DataFrame, x: str, y: str, titles: tuple[str, str]) -> go.Figure:
    """Draw column ``y`` against ``x``, a line for each ``label`` in its ``color``; column ``note`` is the hover text."""
    figure = go.Figure()
    for (label, color), part in table.groupby(["label", "color"], sort=False):
        figure.add_scatter(
            x=part[x],
            y=part[y],
            name=escape_html(label),
            mode="lines+markers",
            line={"color": color, "width": 2},
            customdata=part["note"],
            hovertemplate="<b>%{fullData.name}</b><br>%{customdata}<extra></extra>",
        )
    figure.update_xaxes(title=titles[0])
    figure.update_yaxes(title=titles[1], rangemode="tozero")
    return finish(figure, 420)


def against_printed(table: pd.DataFrame) -> go.Figure:
    """Draw how far the best known loss is below the lowest printed figure, and how far the lower bound is below it."""
    figure = go.Figure()
    cells = [[data_title(name) for name in table["data"]], [str(k) for k in table["k"]]]
    lower, possible = table["printed"] - table["best"], table["best"] - table["floor"]
    notes = [
        f"{percent(best, 5)}, the lowest printed is {percent(printed, 5)} ({by})"
        for best, printed, by in zip(table["best"], table["printed"], table["printed_by"], strict=True)
    ]
    bars = (
        (lower, "best known partition", theme.HIGHLIGHT, notes),
        (possible, "between it and the lower bound", theme.NEUTRAL, [f"gap {gap:.3g} %" for gap in table["gap"]]),
    )
    for height, name, color, texts in bars:
        look = {"name": name, "marker": {"color": color, "line_width": 0}, "customdata": texts}
        hover = f"<b>%{{x}}</b><br>{name}: %{{customdata}}<extra></extra>"
        figure.add_bar(x=cells, y=100 * height / table["printed"], hovertemplate=hover, **look)
    figure.update_layout(barmode="stack", bargap=0.25)
    figure.update_xaxes(title="data set and k", tickangle=0)
    figure.update_yaxes(title="IL below the lowest printed (% of it)")
    return finish(figure, 360)
