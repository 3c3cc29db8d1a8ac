"""Parts that all figures share: margins, legend, the title above, a menu that saves picture and data; and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg.tables import to_csv
from pages.shared import theme
from pages.shared.text import escape_markdown, file_name

_ASSETS = Path(__file__).parent / "assets"

_MIMES = {".csv": "text/csv", ".html": "text/html", ".json": "application/json", ".txt": "text/plain"}
_FURTHER = ("text", "z")  # of a trace, besides x and y

_CSS = """
.export { display: flex; gap: var(--gap-2); }
.export button {
  flex: 1; min-height: 2.5rem; font: inherit; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius); cursor: pointer;
}
.export button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""

_picture = st.components.v2.component(
    "export", html='<div class="export"></div>', css=_CSS, js=(_ASSETS / "export.js").read_text(encoding="utf-8")
)

_ROW, _AROUND = 21, 95  # pixels: a row of a matrix, and the space around all rows

# The hidden bar of a figure has the button that saves it as a picture.
_BAR = {"displaylogo": False, "displayModeBar": True, "modeBarButtons": [["toImage"]]}

STILL = {**_BAR, "responsive": True, "scrollZoom": False}

# Below the axis a legend may have several lines without touching the title.
_LEGEND = {
    "orientation": "h",
    "yref": "container",
    "yanchor": "bottom",
    "y": 0,
    "xanchor": "left",
    "x": 0,
    "title": None,
    # Plotly would reverse the legend of a figure with filled areas.
    "traceorder": "normal",
}


def table(figure: go.Figure) -> pd.DataFrame:
    """Return the data of a figure: a row for each mark, with trace and coordinates."""
    parts = [part for trace in figure.data for part in _part(figure, trace)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _part(figure: go.Figure, trace: Any) -> Iterator[pd.DataFrame]:
    drawn = trace.to_plotly_json()
    columns = {
        _axis(figure, drawn, letter): np.asarray(drawn[letter])
        for letter in ("x", "y")
        if drawn.get(letter) is not None
    }
    if not columns:
        return
    if np.ndim(drawn.get("z")) == 2:  # a matrix of which x names the columns and y the rows
        columns = dict(zip(columns, (each.ravel() for each in np.meshgrid(*columns.values())), strict=True))
        drawn["z"] = np.asarray(drawn["z"]).ravel()
    length = max(map(len, columns.values()))
    for name in _FURTHER:
        if np.ndim(drawn.get(name)) == 1 and len(drawn[name]) == length:
            columns[name] = np.asarray(drawn[name])
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    frame.insert(0, "shown", _plain(drawn.get("name")))
    # Gaps between the lines of one trace are no data.
    yield frame.dropna(how="all", subset=list(columns))


def _axis(figure: go.Figure, trace: dict[str, Any], letter: str) -> str:
    axis = figure.layout[f"{letter}axis{trace.get(f'{letter}axis', letter)[1:]}"]
    return _plain(axis.title.text) or letter


def _plain(text: str | None) -> str:
    return re.sub("<[^>]*>", " ", text or "").strip()


def menu(figure: go.Figure, *, title: str, key: str) -> None:
    """Draw the menu that saves the figure of ``key`` as PNG or SVG, and its data as CSV."""
    name = file_name(title)[:60]
    text = "Save this figure"  # for screen readers: the style hides the words
    with st.popover(text, icon=":material/download:", type="tertiary", help=text, key=f"{key}_export"):
        text = "What it shows (CSV)"
        download(text, lambda: to_csv(table(figure)), f"{name}.csv", key=f"{key}_csv", width="stretch")
        _picture(data={"figure": key, "name": name}, key=f"{key}_picture")


def finish(figure: go.Figure, height: int) -> go.Figure:
    """Return ``figure`` with the common margins and legend. A finger scrolls the page unless ``dragmode`` is set."""
    if figure.layout.dragmode is None:
        figure.update_layout(dragmode=False).update_xaxes(fixedrange=True).update_yaxes(fixedrange=True)
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 12, "b": 10}, legend=_LEGEND, hoverlabel={"align": "left"}
    )
    figure.update_xaxes(automargin=True, separatethousands=True)
    figure.update_yaxes(automargin=True, separatethousands=True)
    return figure


def matrix(
    z: Any, columns: Sequence[str], rows: Sequence[str], *, most: float, scale: Any, text: Any, hover: Any
) -> go.Figure:
    """Draw a matrix of cells colored by ``z``, 0 to ``most``. All arrays have shape (rows, columns)."""
    figure = go.Figure().add_heatmap(
        z=z,
        x=columns,
        y=rows,
        zmin=0,
        zmax=most,
        colorscale=scale,
        showscale=False,
        xgap=2,
        ygap=2,
        text=text,
        texttemplate="%{text}",
        textfont={"color": theme.INK, "size": 12},
        customdata=hover,
        hovertemplate="<b>%{y}, %{x}</b><br>%{customdata}<extra></extra>",
        hoverongaps=False,
    )
    figure.update_xaxes(side="top", tickangle=-40, showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return finish(figure, _AROUND + _ROW * len(rows))


def add_line(figure: go.Figure, x: Any, y: Any, name: str | None, line: Mapping[str, Any], **how: Any) -> None:
    figure.add_scatter(x=x, y=y, name=name, mode="lines", line=dict(line), hoverinfo="skip", **how)


def ring(figure: go.Figure, x: Sequence[Any] | pd.Series, y: Sequence[Any] | pd.Series, name: str) -> None:
    marker = {"symbol": "circle-open", "size": 20, "color": theme.HIGHLIGHT, "line": {"width": 3}}
    figure.add_scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip", name=name, showlegend=True)


def show_figure(figure: go.Figure, *, title: str, key: str, alt: str, **options: Any) -> None:
    """Draw a figure under its title, which is its conclusion. ``alt`` is for screen readers."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(f"**{escape_markdown(title)}**", width="stretch")
        menu(figure, title=title, key=key)
    st.plotly_chart(figure, key=key, alt=alt, **({"config": STILL} | options))


def show_table(
    table: Any, columns: Mapping[str, Any], *, most: int = 14, tall: int = 500, height: Any = None, **options: Any
) -> None:
    """Draw a table as wide as the page, which scrolls beyond ``most`` rows without a ``height``."""
    height = height or ("content" if len(table) <= most else tall)
    how: dict[str, Any] = {"hide_index": True, "width": "stretch", "placeholder": "–", **options}
    st.dataframe(table, height=height, column_config=dict(columns), **how)


def show_tiles(tiles: Sequence[tuple[str, str, str | None]], **options: Any) -> None:
    """Draw figures in one row, each with its label, text and tooltip."""
    with st.container(horizontal=True, **options):
        for label, figure, text in tiles:
            st.metric(label, figure, help=text, width="content")


def download(label: str, data: Any, name: str, **options: Any) -> None:
    """Draw the download of a file, from its content or a function, without a new run of the page."""
    kind = _MIMES.get(Path(name).suffix, "application/octet-stream")
    st.download_button(label, data, file_name=name, mime=kind, on_click="ignore", **options)
