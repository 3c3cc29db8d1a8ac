"""What the page Clusters draws of partitions: the map of records, what is lost, and how large the groups are.

The panels of the map are linked in the browser: records stand out, fade and slide without asking the server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.offline import get_plotlyjs

from microagg import metrics
from pages.clusters.map_figure import Side
from pages.shared import theme
from pages.shared.figures import finish
from pages.shared.text import escape_html, percent

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
    css=Path(__file__).with_name("clusters.css").read_text(encoding="utf-8"),
    js=Path(__file__).with_name("clusters.js").read_text(encoding="utf-8"),
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


# Points of a curve beyond these would lie on each other.
_MOST_POINTS = 200


def load_plotly() -> None:
    """Send Plotly to the browser, once in a session: what :func:`show` draws waits for it."""
    _plotly(key="plotly")


def show_linked(
    scene: Mapping[str, Any], chosen: Mapping[str, int] | None, choose: Callable[[Any], None], key: str
) -> None:
    """Draw what :func:`pages.clusters.map_figure.linked_planes` returns.

    ``chosen`` is the ``side``, the ``record`` and its ``group`` that stands out, or None; it goes its own way, so that the figure
    is not sent again. ``choose`` is called with what is clicked.
    """

    def clicked() -> None:
        choose(st.session_state[key].chosen)

    _linked(key=key, data=scene, on_chosen_change=clicked)
    _chosen(key=f"{key}_chosen", data={"chosen": None if chosen is None else dict(chosen)})


def show(
    loss: float | None, common: Mapping[str, Any] | None, sizes: np.ndarray, *, floor: float | None = None
) -> None:
    """Draw the information loss in percent, the measures of :class:`microagg.metrics.generalization.Summary`, the groups.

    Those that are None are left out; ``sizes`` are those of the groups, ``floor`` the loss that is proven to be the least.
    """
    shown: list[tuple[str, str, str]] = []
    if loss is not None:
        shown.append(("Information loss", percent(loss), "IL = 100 · SSE / SST of the numbers, on the scaled data."))
    if common is not None:
        lost, total = common["information_loss"], common["total_information_loss"]
        says = f"What ranges and common ancestors lose; 100 % if all values became “anything”. The sum is {total:,.1f}."
        shown.append(("Total-IL", percent(lost), says))
    if floor is not None:
        says = "Proven: whatever the method, less cannot be lost at this k."
        says += "" if loss is None else " A search on the page Choose k raises it."
        shown.append(("Floor", percent(floor), says))
    if common is not None:
        says = "DM, the sum of the squared group sizes: how many others each record cannot be told from, summed."
        shown.append(("Discernibility", f"{common['discernibility']:,}", says))
        if common["classification"] is not None:
            says = "CM, the records outside the majority class of their group."
            shown.append(("Classification", percent(100 * common["classification"]), says))
    says = f"Of {sizes.min():,} to {sizes.max():,} records, {sizes.mean():.3g} on average."
    shown.append(("Groups", f"{len(sizes):,}", says))
    with st.container(horizontal=True, gap="medium"):
        for label, figure, says in shown:
            st.metric(label, figure, help=says, width="content")


def loss_curve(sides: Sequence[Side], loss: str) -> go.Figure:
    """Draw what part of the ``loss`` the groups lose that lose most, against how many of all they are."""
    figure = go.Figure()
    for side in sides:
        lost = np.concatenate([[0.0], metrics.cumulated(side.group_shares())])
        among = np.unique(np.linspace(0, len(lost) - 1, _MOST_POINTS).round().astype(int))
        style, label = theme.style(side.key), escape_html(side.label)
        figure.add_scatter(
            x=100 * among / (len(lost) - 1),
            y=lost[among],
            mode="lines",
            name=label,
            line={"color": style.color, "dash": style.dash, "width": 2.5},
            hovertemplate=f"<b>{label}</b><br>%{{x:.3g}} % of the groups lose %{{y:.3g}} %<extra></extra>",
        )
    figure.add_vline(x=10, line={"color": theme.NEUTRAL, "width": 1, "dash": "dot"})
    figure.update_xaxes(title="groups that lose most, % of all", range=(0, 100))
    figure.update_yaxes(title=f"% of the {escape_html(loss)}", range=(0, 102))
    figure.update_layout(showlegend=True)
    return finish(figure, 270)


def tenth_in_words(sides: Sequence[Side]) -> str:
    """Return what part of its loss falls on the tenth of each partition's groups that lose most, of few on one."""
    parts = []
    for side in sides:
        lost = metrics.cumulated(side.group_shares())
        parts.append(f"{lost[-(-len(lost) // 10) - 1]:.3g} % by {side.label}")
    few = any(side.partition.n_groups < 10 for side in sides)
    return f"{'One group' if few else 'A tenth of the groups'} loses {' and '.join(parts)}"


def group_sizes(sides: Sequence[Side]) -> go.Figure:
    """Draw how many groups have each size."""
    figure = go.Figure()
    most = 0
    sizes = [side.partition.sizes for side in sides]
    for side, own in zip(sides, sizes, strict=True):
        values, counts = np.unique(own, return_counts=True)
        most = max(most, int(counts.max()))
        label = escape_html(side.label)
        figure.add_bar(
            x=values,
            y=counts,
            name=label,
            marker={"color": theme.style(side.key).color},
            hovertemplate=f"<b>{label}</b><br>%{{y}} groups of %{{x}} records<extra></extra>",
        )
    widest, least = max(int(own.max()) for own in sizes), min(int(own.min()) for own in sizes)
    # Bars of a few sizes stay as narrow as those of many.
    few = {"dtick": -(-(widest - least + 1) // 8), "range": (least - 1, max(widest, least + 6) + 1)}
    figure.update_xaxes(title="records in the group", **(few if widest - least <= 20 else {}))
    figure.update_yaxes(title="groups", **({"dtick": 1} if most <= 5 else {}))
    figure.update_layout(barmode="group", bargap=0.25, showlegend=False)
    return finish(figure, 210)
