"""The points of the plane, to change: by clicking into a picture of them, and in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg.explain import MOST_RECORDS
from pages.ui import state
from pages.ui.navigation import ASSETS
from pages.ui.steps.records import Watched, written

_picture = st.components.v2.component(
    "microagg_points",
    html='<div class="mg-points"></div>',
    css=(ASSETS / "points.css").read_text(encoding="utf-8"),
    js=(ASSETS / "points.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_KEY = "steps_points"


def edit(watched: Watched) -> None:
    """Draw the points, and what changes them."""
    st.caption("Click to add a point, drag to move one, double-click to remove one. By keyboard: Tab, arrows, Delete.")
    low, high = np.minimum(watched.X.min(axis=0), 0), np.maximum(watched.X.max(axis=0), 20)
    step = float(10.0 ** np.floor(np.log10(np.max(high - low) / 20)))
    data = {
        "points": watched.X.tolist(),
        "names": list(watched.names),
        "x": [float(low[0]), float(high[0])],
        "y": [float(low[1]), float(high[1])],
        "step": step,
        "most": MOST_RECORDS,
        "label": "The points. A click adds one.",
    }
    _picture(key=_KEY, data=data, on_points_change=_take_clicked)
    _table(watched)
    default = state.Choices().points
    if state.current().points != default:
        st.button("Back to the points at first", on_click=state.update, kwargs={"points": default})


def _take_clicked() -> None:
    points: Any = st.session_state[_KEY].points
    if points:
        state.update(points=written(points))


def _table(watched: Watched) -> None:
    """Draw the points as a table; what is entered there counts once both numbers of a row are there."""
    shown = pd.DataFrame(watched.X, columns=["x", "y"], index=pd.Index(watched.names, name="point"))
    # Under a key of its own for each state: what was entered before must not be entered again.
    key = f"w_points_{state.current().points}"

    def commit() -> None:
        edits = st.session_state[key]
        table = shown.drop(index=shown.index[edits["deleted_rows"]])
        for row, cells in edits["edited_rows"].items():
            for name, value in cells.items():
                table.loc[shown.index[int(row)], name] = value
        added = pd.DataFrame(edits["added_rows"], columns=["x", "y"])
        table = pd.concat([table, added]) if len(added) else table
        if table.notna().all(axis=None) and len(table) >= 2:
            state.update(points=written(table.astype(float).to_numpy().tolist()))

    st.data_editor(shown, num_rows="dynamic", key=key, on_change=commit, height=240, width="stretch")
