"""What all figures have in common: margins, legend, and the title above.

Titles are not part of a figure, because Plotly does not break long lines: :func:`show_figure` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui.charts import export, theme
from pages.ui.text import escape_markdown

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
        export.menu(figure, title=title, key=key)
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
