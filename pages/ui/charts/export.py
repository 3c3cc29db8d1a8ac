"""Figures to take away: as a picture, and what they show as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg.tables import to_csv
from pages.ui import navigation
from pages.ui.text import file_name

# What a trace shows beside its place.
_FURTHER = ("text", "z", "values")


_picture = st.components.v2.component(
    "export",
    html='<div class="export"></div>',
    css=(navigation.ASSETS / "export.css").read_text(encoding="utf-8"),
    js=(navigation.ASSETS / "export.js").read_text(encoding="utf-8"),
)


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
