"""Parts that figures share: margins, legend, title, a menu that saves picture and data; tables; small figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
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

_FONT = "Source Sans, sans-serif"
_AXIS = {"gridcolor": theme.GRID, "zerolinecolor": theme.GRID, "title": {"font": {"size": 14}, "standoff": 20}}

# What Streamlit's theme and Plotly's template would set. Streamlit copies a figure once it is there, and Plotly would
# take the copy of a template for a change, draw all anew, and so with arrays, unless they are lists with a revision.
pio.templates.default = None
_LOOK: dict[str, Any] = {
    "datarevision": 1,
    "autotypenumbers": "strict",
    "hovermode": "closest",
    "font": {"color": theme.TEXT, "family": _FONT, "size": 12},
    "paper_bgcolor": "rgba(0, 0, 0, 0)",
    "plot_bgcolor": "rgba(0, 0, 0, 0)",
    "hoverlabel": {
        "align": "left",
        "bgcolor": theme.INK,
        "bordercolor": theme.NEUTRAL,
        "font": {"color": "white", "family": _FONT, "size": 12},
    },
    "modebar": {"bgcolor": "rgba(0, 0, 0, 0)", "color": theme.NEUTRAL, "activecolor": theme.BLUE},
    "margin": {"pad": 8},
    "xaxis": {"showgrid": False, "zeroline": False},
    "yaxis": {},
}

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


def finish(figure: go.Figure, height: int, margin: Mapping[str, int] | None = None) -> go.Figure:
    """Return ``figure`` with the common margins and legend. A finger scrolls the page unless ``dragmode`` is set.

    Without a ``margin`` that has room for the texts at the axes, Plotly finds one, and draws all marks once more.
    """
    layout = figure.layout  # set one by one: update_layout and its like take five times as long
    scrolls = layout.dragmode is None
    usual = {"l": 10, "r": 10, "t": 12, "b": 10, "autoexpand": not margin}
    layout.height, layout.margin, layout.legend = height, {**usual, **(margin or {})}, _LEGEND
    if scrolls:
        layout.dragmode = False
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.automargin, axis.separatethousands, axis.exponentformat = not margin, True, "none"
        if scrolls:
            axis.fixedrange = True
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
    figure.update_xaxes(side="top", autotickangles=[0, -40])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return finish(figure, _AROUND + _ROW * len(rows))


def add_line(figure: go.Figure, x: Any, y: Any, name: str | None, line: Mapping[str, Any], **how: Any) -> None:
    figure.add_scatter(x=x, y=y, name=name, mode="lines", line=dict(line), hoverinfo="skip", **how)


def ring(
    figure: go.Figure,
    x: Sequence[Any] | pd.Series,
    y: Sequence[Any] | pd.Series,
    name: str,
    color: str = theme.HIGHLIGHT,
) -> None:
    marker = {"symbol": "circle-open", "size": 20, "color": color, "line": {"width": 3}}
    figure.add_scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip", name=name, showlegend=True)


def show_figure(
    figure: go.Figure, *, title: str, key: str, alt: str, buttons: Sequence[str] = (), **options: Any
) -> None:
    """Draw a figure under its title, which is its conclusion, with Plotly's ``buttons``. ``alt`` is for screen readers."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(f"**{escape_markdown(title)}**", width="stretch")
        menu(figure, title=title, key=key)
    # Without buttons the bar is hidden; the menu uses its button that saves the figure as a picture.
    bar = {"displayModeBar": True, "modeBarButtons": [[*buttons], ["toImage"]] if buttons else [["toImage"]]}
    config = {"displaylogo": False, "responsive": True, "scrollZoom": False, **bar}
    layout = _filled(figure.layout.to_plotly_json(), _LOOK)
    layout |= {name: _filled(part, _AXIS) for name, part in layout.items() if "axis" in name}
    spec = {"data": [_filled(trace.to_plotly_json()) for trace in figure.data], "layout": layout}
    # As a dictionary it would be checked once more, value by value.
    figure.to_dict = lambda: spec
    st.plotly_chart(figure, theme=None, key=key, alt=alt, config=config, **options)


def _filled(part: Any, look: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return a part of a figure with lists for arrays, and with what only ``look`` sets."""
    if isinstance(part, np.ndarray):
        return (part.astype(str) if part.dtype.kind == "M" else part).tolist()
    if isinstance(part, dict):
        return {**look, **{key: _filled(value, look.get(key) or {}) for key, value in part.items()}}
    return part


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


def groups_on_plane(
    points: np.ndarray, labels: np.ndarray, titles: tuple[str, str] | None = None, names: Sequence[object] = ()
) -> go.Figure:
    """Draw records on a plane, ``points`` of shape (n, 2), each joined to the mean of its group.

    ``names`` are written beside the records. Without ``titles`` the axes are hidden, and have one scale.
    """
    figure = go.Figure()
    for group in range(int(labels.max()) + 1):
        rows = np.flatnonzero(labels == group)
        members, mean, color = points[rows], points[rows].mean(axis=0), theme.group_color(group)
        spokes = np.stack([members, np.broadcast_to(mean, members.shape), np.full(members.shape, np.nan)], axis=1)
        line = {"color": color, "width": 1.5}
        add_line(figure, spokes[..., 0].ravel(), spokes[..., 1].ravel(), None, line, showlegend=False)
        figure.add_scatter(
            x=members[:, 0],
            y=members[:, 1],
            name="record",
            mode="markers+text",
            text=[str(names[int(row)]) for row in rows] if len(names) else None,
            # Away from the mean: a spoke would cross the label.
            textposition=[f"{'top' if up else 'bottom'} center" for up in members[:, 1] > mean[1]],
            cliponaxis=False,
            marker={"color": color, "size": 10},
            hovertemplate=f"group {group + 1}: {len(rows)} records<extra></extra>",
            showlegend=group == 0,
        )
        figure.add_scatter(
            x=[mean[0]],
            y=[mean[1]],
            name="mean of its group",
            mode="markers",
            marker={"color": color, "size": 12, "symbol": "x"},
            hovertemplate=f"mean of group {group + 1}<extra></extra>",
            showlegend=group == 0,
        )
    if titles is None:
        figure.update_xaxes(visible=False).update_yaxes(visible=False, scaleanchor="x")
    else:
        figure.update_xaxes(title=titles[0]).update_yaxes(title=titles[1], showgrid=False)
    return finish(figure, 350)


# --- axes ---------------------------------------------------------------------------------------------------------------

_STEEP = 4  # an axis is logarithmic if its largest value is at least this many times the smallest
_BEFORE, _BEYOND = 0.18, 0.06  # the room of an axis before and beyond its values, as a share of their range
_TICKS = (1, 2, 3, 5)  # ticks of a logarithmic axis over few decades: these, times powers of ten


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``, logarithmic if ``steep``."""

    low: float
    high: float
    steep: bool

    @classmethod
    def of(cls, values: np.ndarray, *, steep: bool, from_zero: bool) -> Axis:
        """Return the axis of ``values``, with room for labels to the left of or below a point."""
        low, high = float(values.min()), float(values.max())
        if steep and low > 0 and high >= _STEEP * low:
            return cls(low / (high / low) ** _BEFORE, high * (high / low) ** _BEYOND, steep=True)
        span = max(high - low, 0.5 * abs(high)) or 1.0
        return cls(0.0 if from_zero else low - _BEFORE * span, high + _BEYOND * span, steep=False)

    def coordinate(self, value: float) -> float:
        """Return a value in the coordinates of annotations: its logarithm on a logarithmic axis."""
        return math.log10(value) if self.steep else value

    def range(self) -> tuple[float, float]:
        return self.coordinate(self.low), self.coordinate(self.high)

    def share(self, value: float) -> float:
        low, high = self.range()
        return (self.coordinate(value) - low) / (high - low)

    def beyond(self) -> tuple[float, float]:
        """Return a value below the axis and one above, as far away as it is long."""
        low, high = self.range()
        ends = 2 * low - high, 2 * high - low
        return (10 ** ends[0], 10 ** ends[1]) if self.steep else ends

    def within(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def layout(self) -> dict[str, Any]:
        """Return the settings of the axis in Plotly."""
        # With more there would be a tick in the room before 0.
        ticks: dict[str, Any] = {"nticks": 8}
        if self.steep:
            low, high = (math.floor(end) for end in self.range())
            firsts = _TICKS if high - low < 3 else _TICKS[:1]
            values = [first * 10.0**decade for decade in range(low, high + 1) for first in firsts]
            ticks = {"type": "log", "tickvals": values, "ticktext": [f"{value:,g}" for value in values]}
        return {"range": self.range(), "zeroline": False, **ticks}
