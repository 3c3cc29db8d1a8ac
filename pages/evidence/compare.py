"""Compare methods: the loss and the time of each algorithm on seven data sets, stored beforehand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import datasets
from microagg.studies import landscape
from microagg.studies.landscape import conclusions
from microagg.tables import to_csv
from pages.evidence import figures
from pages.shared import methods, state, theme
from pages.shared.figures import download, finish, show_figure
from pages.shared.text import count, escape_html, escape_markdown, sentence

_ACROSS = 4  # panels of a duel side by side


def section() -> None:
    labels = {name: label for name, (label, _) in _VIEWS.items()}
    _, draw = _VIEWS[methods.pick_one(labels, "w_view", "view", "View")]
    draw()
    _source()


def _duel() -> None:
    choices = state.current().evidence
    first, second = choices.first, choices.rival
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, field, name in (("Method", "first", first), ("Compared with", "rival", second)):
            keys = sorted(landscape.METHODS, key=lambda method: landscape.title(method).casefold())
            state.bound(st.selectbox, label, field, selected=name, options=keys, format_func=landscape.title, width=260)
    table = landscape.duel(first, second)
    st.markdown(f"**{escape_markdown(conclusions.describe_duel(table, first, second))}**")
    if table.empty or first == second:
        return
    span = _duel_range(table)
    # All data sets count the same.
    means = table.groupby("k", as_index=False)[["first", "second", "less"]].mean()
    means = means.assign(less_sd=float("nan"), winner="")
    parts = [("all", means), *((str(data), part) for data, part in table.groupby("data", sort=False))]
    with st.container(key="duel"):
        for start in range(0, len(parts), _ACROSS):
            for column, (data, part) in zip(
                st.columns(_ACROSS, vertical_alignment="bottom"), parts[start : start + _ACROSS], strict=False
            ):
                with column:
                    title = "All data sets" if data == "all" else datasets.describe(data).title
                    show_figure(
                        _duel_panel(part, first, second, span, with_names=data == "all"),
                        # A narrow title does not break within the name of a method.
                        title=f"{title}: {conclusions.describe_panel(part, first, second)}".replace("-", "\u2011"),
                        key=f"duel_{data}",
                        alt=f"{title}: {conclusions.describe_wins(part, first, second)}.",
                    )
    st.caption(
        f"Bars above zero: by how many percent the loss of {escape_markdown(landscape.title(first))} is lower; below zero: that of "
        f"{escape_markdown(landscape.title(second))}. Beyond 20 the axis of k is not to scale. "
        f"{sentence(conclusions.describe_wins(table, first, second))}, over {count(table['data'].nunique(), 'data set')}. "
        f"SimU and SimC: mean and standard deviation (whisker) over {landscape.SEEDS} random data sets."
    )


def duel_colors(first: str, second: str) -> tuple[str, str]:
    """Return the colors of two methods. The second is gray if both are settings of one algorithm."""
    color, second_color = (theme.style(landscape.METHODS[name].key).color for name in (first, second))
    return color, theme.NEUTRAL if color == second_color else second_color


def _duel_range(table: pd.DataFrame) -> tuple[float, float]:
    """Return the common limits of the axis of all panels of a duel, in percent, with room for labels."""
    low, high = min(float(table["less"].min()), 0.0), max(float(table["less"].max()), 0.0)
    pad = 0.2 * max(high - low, 1.0)
    return low - pad, high + pad


def _duel_panel(
    part: pd.DataFrame, first: str, second: str, span: tuple[float, float], *, with_names: bool
) -> go.Figure:
    """Draw the differences of losses at each k by :func:`.landscape.duel`, ``with_names`` with those of both sides."""
    colors = duel_colors(first, second)
    titles = [escape_html(landscape.title(name)) for name in (first, second)]
    one_run, sd = part["less_sd"].isna().all(), part["less_sd"].fillna(0)
    whiskers = {"type": "data", "array": sd, "width": 2, "thickness": 1, "color": theme.NEUTRAL}
    figure = go.Figure().add_bar(
        x=[str(k) for k in part["k"]],
        y=part["less"],
        marker={"color": [colors[0] if less >= 0 else colors[1] for less in part["less"]], "line": {"width": 0}},
        error_y=None if one_run else whiskers,
        customdata=np.stack([part["first"], part["second"], part["less"].abs()], axis=1),
        text=[titles[0] if less >= 0 else titles[1] for less in part["less"]],
        textposition="none",
        hovertemplate=f"<b>k = %{{x}}</b><br>{titles[0]}: loss %{{customdata[0]:.4~g}} %<br>{titles[1]}: loss "
        "%{customdata[1]:.4~g} %<br>%{text} has %{customdata[2]:.2~g} % lower loss"
        f"{'' if one_run else '<br>whisker: standard deviation over the seeds'}<extra></extra>",
    )
    figure.add_hline(y=0, line={"color": theme.NEUTRAL, "width": 1})
    if with_names:
        # The first stands above the plot, where no line of the grid crosses it.
        for name, color, y in ((titles[0], colors[0], 1), (titles[1], colors[1], 0)):
            if abs(span[y]) < 0.2 * (span[1] - span[0]):
                continue  # without bars on its side, a label would touch the axis
            look = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
            look["yshift"] = -4 * y  # as high as there is room
            text = f'<span style="color:{color}">{"▲" if y else "▼"}</span> {name} has lower loss'
            figure.add_annotation(text=text, font={"size": 12}, x=0.02, y=y, **look)
    _broken_axis(figure)
    figure.update_yaxes(range=span, ticksuffix=" %", nticks=5, zeroline=False)
    figure.update_layout(bargap=0.15, showlegend=False)
    return finish(figure, 215)


def _broken_axis(figure: go.Figure) -> None:
    """Draw the axis of k with a break after the unbroken series, and room around larger k."""
    end = max(k for k in landscape.KS if k - landscape.KS[0] == landscape.KS.index(k))
    positions = [str(k) for k in landscape.KS if k <= end]
    ticks, position = ["2", "5", "10", str(end)], len(positions)  # none where the title of the axis stands
    for blanks, k in enumerate((k for k in landscape.KS if k > end), 1):
        positions += [" " * blanks, str(k)]
        ticks.append(str(k))
    figure.update_xaxes(type="category", categoryarray=positions, range=[-0.7, len(positions) - 0.3], title="k")
    figure.update_xaxes(tickvals=ticks, tickangle=0, title_standoff=2)
    line = {"color": theme.NEUTRAL, "width": 1, "dash": "dot"}
    figure.add_shape(type="line", x0=position, x1=position, y0=0, y1=1, yref="paper", line=line)
    look = {"xref": "x", "yref": "paper", "showarrow": False, "yanchor": "middle", "font": {"size": 12}}
    figure.add_annotation(text="//", x=position, y=0, **look)


def _matrix() -> None:
    choices = state.current().evidence
    with st.container(horizontal=True, vertical_alignment="top"):
        _pick_k()
        state.either("Loss above", "above", {"best": "the lowest known loss", "floor": "the lower bound"})
    k, above = choices.at_k or None, choices.above
    table = landscape.matrix(k, above)
    title = conclusions.describe_matrix(table, above, k)
    alt = "Loss of each method above a reference in percent, by data set; the file to download has the numbers."
    show_figure(figures.loss_matrix(table, landscape.incomplete()), title=title, key="matrix", alt=alt)
    reference = "the lowest known loss" if above == "best" else "the lower bound: the gap"
    st.caption(
        f"Each cell: how many percent the loss is above {reference}, "
        f"{f'at k = {k}' if k else 'mean over k = 2 to 20, 25, 50 and 100'}. Sorted by the mean over all data sets. "
        "Methods that took too long on a data set come last, with an empty cell."
    )


def _time() -> None:
    choices = state.current().evidence
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {"": "all data sets", **{name: datasets.describe(name).title for name in landscape.DATA}}
        state.bound(st.selectbox, "Data set", "on", options=list(titles), format_func=titles.get, width=260)
        _pick_k()
    k = choices.at_k or None
    table = landscape.pareto(choices.on or None, k)
    alt = "Loss above the lowest known one against seconds, a point per method."
    show_figure(figures.loss_and_time(table), title=conclusions.describe_pareto(table, k), key="time", alt=alt)
    st.caption(
        "Dotted line: the Pareto front, on which a lower loss takes more time. It leaves out a method if another one is "
        f"as good in both, to within {landscape.LESS_LOSS:g} % of loss and {landscape.LESS_TIME:g} % of time. Methods that "
        "took too long on a data set are not shown."
    )


def _pick_k() -> None:
    label, options = "k, the minimum group size", [0, *landscape.KS]
    titles = {k: f"k = {k}" if k else "mean over all k" for k in options}
    state.bound(st.selectbox, label, "at_k", options=options, format_func=titles.get, width=200)


def _source() -> None:
    st.caption(
        f"Source: results of {landscape.about()['date']}, stored by benchmarks/landscape.py and read by "
        f"microagg.studies.landscape. {len(landscape.METHODS)} methods at their default parameters (best γ: the lowest loss "
        f"of γ = 0, 0.1, …, 2), on z-scores of all quasi-identifiers, at {len(landscape.KS)} values of k. Information loss "
        "IL = 100 · SSE / SST. Seconds of one core, with compiled kernels."
    )
    download("Download all results (CSV)", lambda: to_csv(landscape.results()), "landscape.csv")


_VIEWS = {
    "duel": ("Two methods", _duel),
    "matrix": ("All methods", _matrix),
    "time": ("Loss and time", _time),
}
