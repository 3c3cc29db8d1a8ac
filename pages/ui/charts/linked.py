"""The figure whose panels are linked in the browser: records that stand out, fade and slide without asking the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from plotly.offline import get_plotlyjs

from pages.ui.navigation import ASSETS

_HTML = """
<div class="mg-clusters">
  <div class="mg-bar">
    <button class="mg-play" title="All records slide into the centroid of their group, which is what is released of them, and back.">▶ Play the release</button>
    <label class="mg-differ" title="Fades the records that are grouped with the same others on both sides."><input type="checkbox"><span></span></label>
    <span class="mg-scale"><span></span><span></span><i></i><span></span></span>
  </div>
  <div class="mg-stage"><div class="mg-plot"></div><canvas role="img"></canvas><div class="mg-tip" hidden></div>
    <button class="mg-clear" hidden>× All groups</button></div>
</div>
"""

# Plotly stands alone, so that its text is sent once, not with each figure.
_plotly = st.components.v2.component("microagg_plotly", js=f"{get_plotlyjs()}\nexport default function () {{}}")
_linked = st.components.v2.component(
    "microagg_clusters",
    html=_HTML,
    css=(ASSETS / "clusters.css").read_text(encoding="utf-8"),
    js=(ASSETS / "clusters.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # Plotly's styles are the document's
)
_chosen = st.components.v2.component(
    "microagg_chosen",
    js="""
export default function ({ data }) {
  window.microaggChosen = data.chosen;
  window.dispatchEvent(new CustomEvent("microagg-chosen", { detail: data.chosen }));
}
""",
)


def load_plotly() -> None:
    """Send Plotly to the browser, once in a session: what :func:`show` draws waits for it."""
    _plotly(key="plotly")


def show(scene: Mapping[str, Any], chosen: Mapping[str, int] | None, choose: Callable[[Any], None], key: str) -> None:
    """Draw what :func:`pages.ui.charts.clusters.linked_planes` returns.

    ``chosen`` is the ``side``, the ``record`` and its ``group`` that stands out, or None; it goes its own way, so that the figure
    is not sent again. ``choose`` is called with what is clicked.
    """

    def clicked() -> None:
        choose(st.session_state[key].chosen)

    _linked(key=key, data=scene, on_chosen_change=clicked)
    _chosen(key=f"{key}_chosen", data={"chosen": None if chosen is None else dict(chosen)})
