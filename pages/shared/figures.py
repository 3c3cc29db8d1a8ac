"""What all figures have in common: margins, legend, the title above, and a menu that saves picture and data.

Titles are not part of a figure, because Plotly does not break long lines: :func:`show_figure` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg.tables import to_csv
from pages.shared import navigation, theme
from pages.shared.text import escape_markdown, file_name

# What a trace shows beside its place.
_FURTHER = ("text", "z", "values")


_picture = st.components.v2.component(
    "export",
    html='<div class="export"></div>',
    css=(navigation.ASSETS / "export.css").read_text(encoding="utf-8"),
    js=(navigation.ASSETS / "export.js").read_text(encoding="utf-8"),
)


#: The key of a figure that stands where there is nothing to show yet.
WAITING = "waiting"

# The bar of a figure, which is hidden, holds what saves it as a picture.
_BAR = {"displaylogo": False, "displayModeBar": True, "modeBarButtons": [["toImage"]]}

STILL = {**_BAR, "responsive": True, "scrollZoom": False}

# Below the axis a legend may take as many lines as a narrow screen makes of it, without touching the title.
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
    """Return what a figure shows, a row for each mark: of what it is one, and where, named as the axes are."""
    parts = [part for trace in figure.data for part in _part(figure, trace)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _part(figure: go.Figure, trace: Any) -> Iterator[pd.DataFrame]:
    given = trace.to_plotly_json()
    columns = {
        _axis(figure, given, letter): np.asarray(given[letter])
        for letter in ("x", "y")
        if given.get(letter) is not None
    }
    if not columns:
        return
    if np.ndim(given.get("z")) == 2:  # a matrix of which x names the columns and y the rows
        columns = dict(zip(columns, (each.ravel() for each in np.meshgrid(*columns.values())), strict=True))
        given["z"] = np.asarray(given["z"]).ravel()
    length = max(map(len, columns.values()))
    for name in _FURTHER:
        if np.ndim(given.get(name)) == 1 and len(given[name]) == length:
            columns[name] = np.asarray(given[name])
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    frame.insert(0, "shown", _plain(given.get("name")))
    # Gaps between lines that are one trace say nothing.
    yield frame.dropna(how="all", subset=list(columns))


def _axis(figure: go.Figure, trace: dict[str, Any], letter: str) -> str:
    """Return the title of the axis that a trace is drawn along."""
    axis = figure.layout[f"{letter}axis{trace.get(f'{letter}axis', letter)[1:]}"]
    return _plain(axis.title.text) or letter


def _plain(text: str | None) -> str:
    """Return a text of a figure without its marks of layout."""
    return re.sub("<[^>]*>", " ", text or "").strip()


def menu(figure: go.Figure, *, title: str, key: str) -> None:
    """Draw what saves the figure drawn under ``key``: its data as CSV, and itself as PNG or SVG."""
    name = file_name(title)[:60]
    with st.popover("", icon=":material/download:", type="tertiary", help="Save this figure", key=f"{key}_export"):
        st.download_button(
            "What it shows (CSV)",
            lambda: to_csv(table(figure)),
            file_name=f"{name}.csv",
            mime="text/csv",
            on_click="ignore",
            key=f"{key}_csv",
            width="stretch",
        )
        _picture(data={"figure": key, "name": name}, key=f"{key}_picture")


def finish(figure: go.Figure, height: int) -> go.Figure:
    """Return ``figure`` with the margins and the legend that all figures have, ``height`` pixels high.

    Unless it says what dragging does, it can be neither dragged nor zoomed, so that a finger scrolls the page.
    """
    if figure.layout.dragmode is None:
        figure.update_layout(dragmode=False).update_xaxes(fixedrange=True).update_yaxes(fixedrange=True)
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 12, "b": 10}, legend=_LEGEND, hoverlabel={"align": "left"}
    )
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    return figure


def ring(figure: go.Figure, x: Sequence[Any] | pd.Series, y: Sequence[Any] | pd.Series, name: str) -> None:
    """Mark the point or points that are chosen."""
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"symbol": "circle-open", "size": 20, "color": theme.HIGHLIGHT, "line": {"width": 3}},
        hoverinfo="skip",
        name=name,
        showlegend=True,
    )


def show_figure(figure: go.Figure, *, title: str, key: str, alt: str, **options: Any) -> None:
    """Draw a figure under its title, which says what to conclude; ``alt`` is for those who cannot see it."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(f"**{escape_markdown(title)}**", width="stretch")
        menu(figure, title=title, key=key)
    st.plotly_chart(figure, key=key, alt=alt, **({"config": STILL} | options))


@dataclass(frozen=True)
class Picture:
    """A figure with all that is drawn with it, which can be drawn again.

    Attributes
    ----------
    figure, title, key, alt
        As :func:`show_figure` takes them.
    captions : sequence of str
        What stands below it, in Markdown; empty ones are left out.
    options : mapping
        Further arguments of :func:`show_figure`.
    """

    figure: go.Figure
    title: str
    key: str
    alt: str
    captions: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def show(self) -> None:
        """Draw it."""
        show_figure(self.figure, title=self.title, key=self.key, alt=self.alt, **self.options)
        for caption in filter(None, self.captions):
            st.caption(caption)
