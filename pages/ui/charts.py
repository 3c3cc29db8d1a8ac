"""Figures: pure functions from results to Plotly figures. Colors of text and grid come from Streamlit's theme.

Titles are not part of a figure, because Plotly does not break long lines: :func:`pages.ui.shell.chart` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.spatial import ConvexHull, KDTree, QhullError

from microagg import ALGORITHMS
from microagg.metrics import bounds
from pages.ui import theme
from pages.ui.text import escape_html, gap_in_words, number, percent

#: Points drawn at most; beyond, a sample is drawn and said to be one.
MOST_POINTS = 20_000

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "responsive": True}
STILL = {"displayModeBar": False, "responsive": True, "scrollZoom": False}

# Below the axis a legend may take as many lines as a narrow screen makes of it, without touching the title.
_LEGEND = {
    "orientation": "h",
    "yref": "container",
    "yanchor": "bottom",
    "y": 0,
    "xanchor": "left",
    "x": 0,
    "title": None,
    # Areas between lines would reverse it.
    "traceorder": "normal",
}


def finish(figure: go.Figure, height: int) -> go.Figure:
    """Return ``figure`` with the margins and the legend that all figures have, ``height`` pixels high."""
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 12, "b": 10}, legend=_LEGEND, hoverlabel={"align": "left"}
    )
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    return figure


def loss_curve(
    rows: pd.DataFrame,
    floor: Sequence[bounds.Bound],
    *,
    ks: tuple[int, int],
    best: Mapping[int, float] | None = None,
    selected: tuple[str, int] | None = None,
    limit: float | None = None,
) -> go.Figure:
    """Draw IL against k, one line per algorithm, over the floor that no method can get below.

    ``rows`` are rows of a sweep; ``best`` is the lowest IL known at each k, in percent, between which and the floor the
    optimum lies; ``selected`` is (algorithm key, k); ``limit`` is a largest acceptable IL in percent.
    """
    figure = go.Figure()
    x = [bound.k for bound in floor]
    figure.add_scatter(
        x=x,
        y=[bound.information_loss for bound in floor],
        name="floor: no method can get below",
        mode="lines",
        line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"},
        fill="tozeroy",
        fillcolor=theme.FLOOR_FILL,
        hovertemplate="k = %{x}: no method can lose less than %{y:.4~g} %<extra></extra>",
    )
    if best:
        figure.add_scatter(
            x=list(best),
            y=list(best.values()),
            name="best known; the optimum lies between it and the floor",
            mode="lines",
            line={"color": theme.NEUTRAL, "width": 1.5},
            fill="tonexty",
            fillcolor=theme.BAND,
            customdata=[gap_in_words(best[bound.k], bound.information_loss) for bound in floor if bound.k in best],
            hovertemplate="k = %{x}: best known %{y:.4~g} %, %{customdata}<extra></extra>",
        )
    for key, part in rows.groupby("method", sort=False):
        _line(figure, key, part, part["information_loss"], "%{y:.4~g} % lost")
    _before_polishing(figure, rows)
    if limit is not None:
        figure.add_scatter(
            x=ks,
            y=[limit, limit],
            mode="lines",
            line={"color": theme.HIGHLIGHT, "width": 1.2, "dash": "dash"},
            name=f"largest acceptable loss, {limit:g} %",
            hoverinfo="skip",
        )
    _mark(figure, rows, selected, "information_loss")
    top = max([*rows["unpolished"], *(bound.information_loss for bound in floor)], default=1) * 1.06
    figure.update_yaxes(title="Information loss IL = 100 · SSE / SST (%)", range=[0, top or 1], fixedrange=True)
    return _k_axis(figure, ks)


def excess_curve(rows: pd.DataFrame, *, ks: tuple[int, int], selected: tuple[str, int] | None = None) -> go.Figure:
    """Draw by how many percent each algorithm's IL lies above the lowest at the same k."""
    lowest = rows.groupby("k")["information_loss"].transform("min")
    # Where the lowest loses nothing there is no ratio to show.
    excess = 100 * (rows["information_loss"] / lowest.where(lowest > 0) - 1)
    rows = rows.assign(excess=excess)
    figure = go.Figure()
    for key, part in rows.groupby("method", sort=False):
        _line(figure, key, part, part["excess"], "%{y:.3~g} % above the lowest IL")
    _mark(figure, rows, selected, "excess")
    top = float(np.nanmax(excess, initial=0)) * 1.08 or 1
    figure.update_yaxes(title="IL above the lowest of these (%)", range=[-0.04 * top, top], fixedrange=True)
    return _k_axis(figure, ks)


def _line(figure: go.Figure, key: str, part: pd.DataFrame, y: pd.Series, says: str) -> None:
    style = theme.style(key)
    part = part.sort_values("k")
    figure.add_scatter(
        x=part["k"],
        y=y.loc[part.index],
        name=escape_html(part["label"].iloc[0]),
        mode="lines+markers",
        line={"color": style.color, "dash": style.dash, "width": 2},
        marker={"symbol": style.symbol, "size": 9, "color": style.color},
        # A click must not fade the rest: the choice is marked by a ring.
        unselected={"marker": {"opacity": 1}},
        customdata=np.stack(
            [part["method"], part["n_groups"], part["smallest_group"], part["largest_group"], part["params"]], axis=1
        ),
        hovertemplate="<b>%{fullData.name}, k = %{x}</b><br>"
        + says
        + "<br>%{customdata[1]} groups of %{customdata[2]} to %{customdata[3]} records<br>%{customdata[4]}"
        "<extra></extra>",
    )


def _before_polishing(figure: go.Figure, rows: pd.DataFrame) -> None:
    """Draw the IL that polished methods had before, thinly."""
    polished = rows[rows["unpolished"] > rows["information_loss"]]
    for place, (key, part) in enumerate(polished.groupby("method", sort=False)):
        part = part.sort_values("k")
        figure.add_scatter(
            x=part["k"],
            y=part["unpolished"],
            name="thin: before polishing",
            legendgroup="before",
            showlegend=place == 0,
            mode="lines",
            line={"color": theme.style(str(key)).color, "width": 1, "dash": "dot"},
            customdata=100 * (1 - part["information_loss"] / part["unpolished"]),
            hovertemplate="k = %{x}, before polishing: %{y:.4~g} % lost; polishing saves %{customdata:.3g} % of it"
            "<extra></extra>",
        )


def _mark(figure: go.Figure, rows: pd.DataFrame, selected: tuple[str, int] | None, column: str) -> None:
    if selected is None or rows.empty:
        return
    at = rows[(rows["method"] == selected[0]) & (rows["k"] == selected[1])]
    if at.empty:
        return
    figure.add_scatter(
        x=at["k"],
        y=at[column],
        mode="markers",
        marker={"symbol": "circle-open", "size": 20, "color": theme.HIGHLIGHT, "line": {"width": 3}},
        hoverinfo="skip",
        name="chosen",
        showlegend=True,
    )


def _k_axis(figure: go.Figure, ks: tuple[int, int]) -> go.Figure:
    pad = max(0.4, (ks[1] - ks[0]) * 0.025)
    step = {"dtick": 1} if ks[1] - ks[0] <= 24 else {}
    figure.update_xaxes(
        title="k, the minimum group size (records)", range=[ks[0] - pad, ks[1] + pad], fixedrange=True, **step
    )
    figure.update_layout(clickmode="event+select", dragmode=False)
    return finish(figure, 500)


@dataclass(frozen=True)
class View:
    """The plane on which records are drawn, so that two charts can share it.

    Attributes
    ----------
    points : array of float, shape (n, 2)
    names : tuple of two str
        Axis titles.
    x_range, y_range : tuple of two floats
    shown : array of int
        The records drawn, all or a sample, ascending.
    """

    points: np.ndarray
    names: tuple[str, str]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    shown: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, names: tuple[str, str], *, central: bool = False, seed: int = 0) -> View:
        """Return a view of all records, or with ``central`` framed around the middle 96 % along each axis."""
        tails = (2, 98) if central else (0, 100)
        ranges = []
        for column in points.T:
            low, high = np.percentile(column, tails)
            pad = 0.05 * (high - low) or 0.5
            ranges.append((float(low - pad), float(high + pad)))
        n = len(points)
        shown = np.arange(n)
        if n > MOST_POINTS:
            shown = np.sort(np.random.default_rng(seed).choice(n, MOST_POINTS, replace=False))
        return cls(points, names, ranges[0], ranges[1], shown)

    def outside(self) -> int:
        """Return how many records lie outside the frame."""
        x, y = self.points.T
        inside = (x >= self.x_range[0]) & (x <= self.x_range[1]) & (y >= self.y_range[0]) & (y <= self.y_range[1])
        return int((~inside).sum())


def group_colors(centers: np.ndarray) -> np.ndarray:
    """Return a color number for each group such that groups near each other mostly differ; shape (n_groups,)."""
    cycle = len(theme.GROUP_COLORS)
    colors = np.arange(len(centers)) % cycle
    if len(centers) <= cycle:
        return colors
    _, near = KDTree(centers).query(centers, k=min(cycle, len(centers)))
    colors[:] = -1
    for group, others in enumerate(near):
        taken = np.bincount(colors[others][colors[others] >= 0], minlength=cycle)
        colors[group] = int(taken.argmin()) if taken.any() else group % cycle
    return colors


def _outline(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, closed; a segment where the points lie on a line."""
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        along = points[:, np.argmax(np.ptp(points, axis=0))]
        return points[[along.argmin(), along.argmax()]]
    return np.vstack([corners, corners[:1]])


def clusters(view: View, labels: np.ndarray, shares: np.ndarray, record_names: Sequence[object]) -> go.Figure:
    """Draw the records of a partition, groups colored and outlined, their centroids on top.

    ``labels`` number the groups from 0, ``shares`` are each record's part of the SSE in percent, both of shape (n,).
    """
    n_groups = int(labels.max()) + 1
    sizes = np.bincount(labels)
    centers = np.stack([np.bincount(labels, weights=axis) / sizes for axis in view.points.T], axis=1)
    colors = group_colors(centers)
    figure = go.Figure()
    if len(view.shown) == len(labels):
        order = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        for color in range(len(theme.GROUP_COLORS)):
            gap = np.full((1, 2), np.nan)
            parts = [
                part
                for group in np.flatnonzero(colors == color)
                if sizes[group] > 1
                for part in (_outline(view.points[order[group]]), gap)
            ]
            if parts:
                path = np.vstack(parts)
                figure.add_scatter(
                    x=path[:, 0],
                    y=path[:, 1],
                    mode="lines",
                    line={"color": theme.GROUP_COLORS[color], "width": 1},
                    fill="toself",
                    fillcolor=_faint(theme.GROUP_COLORS[color]),
                    hoverinfo="skip",
                    showlegend=False,
                )
    shown = view.shown
    palette = np.array(theme.GROUP_COLORS)
    figure.add_scattergl(
        x=view.points[shown, 0],
        y=view.points[shown, 1],
        mode="markers",
        name="record, colored by group",
        marker={
            "size": 6 if len(shown) < 2500 else 4,
            "color": palette[colors[labels[shown]]],
            "line": {"width": 0},
        },
        customdata=np.stack(
            [
                [escape_html(record_names[record]) for record in shown],
                labels[shown] + 1,
                sizes[labels[shown]],
                [f"{share:.3g}" for share in shares[shown]],
            ],
            axis=1,
        ),
        hovertemplate="<b>record %{customdata[0]}</b><br>group %{customdata[1]} of %{customdata[2]} records"
        "<br>%{customdata[3]} % of the SSE<extra></extra>",
    )
    many = n_groups > 200
    figure.add_scattergl(
        x=centers[:, 0],
        y=centers[:, 1],
        mode="markers",
        # So many crosses would hide the records.
        visible="legendonly" if many else True,
        name="centroid, what is released" + (" (click here to show)" if many else ""),
        marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.4, "color": theme.NEUTRAL}},
        hovertemplate="centroid of group %{customdata[0]}, %{customdata[1]} records<extra></extra>",
        customdata=np.stack([np.arange(n_groups) + 1, sizes], axis=1),
    )
    figure.update_xaxes(title=escape_html(view.names[0]), range=view.x_range, zeroline=False)
    figure.update_yaxes(title=escape_html(view.names[1]), range=view.y_range, zeroline=False)
    figure.update_layout(dragmode="pan")
    return finish(figure, 540)


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.14)"


def group_sizes(partitions: Sequence[tuple[str, str, np.ndarray]]) -> go.Figure:
    """Draw how many groups have each size; ``partitions`` are (algorithm key, label, sizes)."""
    figure = go.Figure()
    for key, label, sizes in partitions:
        values, counts = np.unique(sizes, return_counts=True)
        figure.add_bar(
            x=values,
            y=counts,
            name=escape_html(label),
            marker={"color": theme.style(key).color},
            hovertemplate=f"<b>{escape_html(label)}</b><br>%{{y}} groups of %{{x}} records<extra></extra>",
        )
    widest = max(int(sizes.max()) for _, _, sizes in partitions)
    least = min(int(sizes.min()) for _, _, sizes in partitions)
    step = {"dtick": 1} if widest - least <= 20 else {}
    figure.update_xaxes(title="records in the group", fixedrange=True, **step)
    figure.update_yaxes(title="groups", fixedrange=True)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=True)
    return finish(figure, 300)


def number_line(values: np.ndarray, partitions: Sequence[tuple[str, str, np.ndarray]]) -> go.Figure:
    """Draw one-dimensional records on a line, once per partition; ``partitions`` are (key, caption, labels)."""
    figure = go.Figure()
    rows = len(partitions)
    for place, (key, caption, labels) in enumerate(partitions):
        level = rows - 1 - place
        figure.add_annotation(
            text=f"<b>{caption}</b>",
            xref="paper",
            x=0,
            xanchor="left",
            y=level + 0.42,
            showarrow=False,
            font={"color": theme.style(key).color, "size": 14},
        )
        for group in range(labels.max() + 1):
            color = theme.GROUP_COLORS[group % len(theme.GROUP_COLORS)]
            members = values[labels == group]
            center = float(members.mean())
            sse = float(np.square(members - center).sum())
            text = f"{{{', '.join(f'{value:g}' for value in members)}}}"
            says = f"group {text}<br>centroid {number(center)}, SSE {number(sse)}"
            figure.add_scatter(
                x=[members.min(), members.max()],
                y=[level, level],
                mode="lines",
                line={"color": color, "width": 20},
                opacity=0.3,
                hoverinfo="skip",
                showlegend=False,
            )
            figure.add_scatter(
                x=members,
                y=np.full(len(members), level),
                mode="markers",
                marker={"color": color, "size": 11, "line": {"width": 1, "color": "rgba(255,255,255,0.7)"}},
                hovertemplate=f"<b>%{{x}}</b><br>{says}<extra></extra>",
                name="record",
                showlegend=place == 0 and group == 0,
            )
            figure.add_scatter(
                x=[center],
                y=[level - 0.2],
                mode="markers",
                marker={"symbol": "triangle-up", "color": color, "size": 11},
                hovertemplate=f"{says}<extra></extra>",
                name="its group's centroid",
                showlegend=place == 0 and group == 0,
            )
    span = float(np.ptp(values)) or 1.0
    figure.update_xaxes(
        title="value of the record", range=[values.min() - 0.04 * span, values.max() + 0.04 * span], fixedrange=True
    )
    figure.update_yaxes(visible=False, range=[-0.45, rows - 0.35], fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 90 + 115 * rows)


def summary_of_curve(rows: pd.DataFrame) -> str:
    """Return in one sentence what the loss curves say."""
    if rows.empty:
        return "Information loss against k"
    best = rows.loc[rows.groupby("k")["information_loss"].idxmin()]
    wins = best["label"].value_counts()
    at_all = len(best)
    first = wins.index[0]
    if len(rows["label"].unique()) == 1:
        low, high = rows.loc[rows["k"].idxmin()], rows.loc[rows["k"].idxmax()]
        return (
            f"{first} loses {percent(low.information_loss)} at k = {low.k}, "
            f"{percent(high.information_loss)} at k = {high.k}"
        )
    return f"{first} loses least at {wins.iloc[0]} of {at_all} values of k"


def _key_by_title() -> dict[str, str]:
    return {cls.info.title: key for key, cls in ALGORITHMS.items()}


def differences(table: pd.DataFrame) -> go.Figure:
    """Draw by how many percent our figures differ from the printed ones, a row per method.

    ``table`` has the columns data, method, k, difference, printed, ours and verdict.
    """
    figure = go.Figure()
    keys = _key_by_title() | {"mu-Approx": "mu-approx"}
    for method, part in table.groupby("method", sort=False):
        key = keys.get(str(method))
        figure.add_scatter(
            x=part["difference"],
            y=part["method"],
            mode="markers",
            marker={"size": 10, "opacity": 0.75, "color": theme.style(key).color if key else theme.NEUTRAL},
            customdata=part[["data", "k", "printed", "ours", "verdict"]].to_numpy(),
            hovertemplate="<b>%{y}, %{customdata[0]}, k = %{customdata[1]}</b><br>printed %{customdata[2]}, "
            "ours %{customdata[3]}<br>%{customdata[4]}<extra></extra>",
            showlegend=False,
        )
    widest = max(float(table["difference"].abs().max()) * 1.15, 0.01)
    figure.update_xaxes(title="ours minus printed (% of the printed figure)", range=[-widest, widest], fixedrange=True)
    figure.update_yaxes(fixedrange=True, autorange="reversed")
    figure.update_layout(dragmode=False)
    return finish(figure, 90 + 34 * table["method"].nunique())


def gamma_curves(table: pd.DataFrame) -> go.Figure:
    """Draw mean IL against γ, a line per k; columns k, gamma, information_loss and sd."""
    figure = go.Figure()
    for place, (k, part) in enumerate(table.groupby("k")):
        figure.add_scatter(
            x=part["gamma"],
            y=part["information_loss"],
            name=f"k = {k}",
            mode="lines+markers",
            line={"color": theme.GROUP_COLORS[place % len(theme.GROUP_COLORS)]},
            customdata=part["sd"],
            hovertemplate=f"k = {k}, γ = %{{x}}<br>IL %{{y:.3f}} % (sd %{{customdata:.3f}})<extra></extra>",
        )
    figure.update_xaxes(title="γ of V-MDAV", fixedrange=True)
    figure.update_yaxes(title="mean IL over 25 sets (%)", rangemode="tozero", fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 400)


def mean_curves(table: pd.DataFrame) -> go.Figure:
    """Draw mean IL against k, a line per algorithm; columns method, label, k, information_loss and sd."""
    figure = go.Figure()
    for key, part in table.groupby("method", sort=False):
        style = theme.style(str(key))
        figure.add_scatter(
            x=part["k"],
            y=part["information_loss"],
            name=escape_html(part["label"].iloc[0]) + (" (best γ)" if key == "v-mdav" else ""),
            mode="lines",
            line={"color": style.color, "dash": style.dash, "width": 2},
            customdata=part["sd"],
            hovertemplate="<b>%{fullData.name}, k = %{x}</b><br>IL %{y:.3f} % (sd %{customdata:.3f})<extra></extra>",
        )
    figure.update_xaxes(title="k, the minimum group size (records)", fixedrange=True)
    figure.update_yaxes(title="mean IL over 25 sets (%)", rangemode="tozero", fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 420)


def certificate(found: Sequence[tuple[float, float]], proven: Sequence[tuple[float, float]], k: int) -> go.Figure:
    """Draw the IL of the best partition found and the proven floor against the seconds spent, at one k."""
    figure = go.Figure()
    end = max(found[-1][0], proven[-1][0])
    for series, name, color, says in (
        (proven, "proven floor", theme.NEUTRAL, "no partition loses less than"),
        (found, "best found", theme.HIGHLIGHT, "a partition loses"),
    ):
        seconds, values = zip(*series, (end, series[-1][1]), strict=True)
        figure.add_scatter(
            x=seconds,
            y=values,
            name=name,
            mode="lines",
            line={"color": color, "width": 2, "shape": "hv"},
            fill=None if series is proven else "tonexty",
            fillcolor=theme.BAND,
            hovertemplate=f"after %{{x:.1f}} s {says} %{{y:.5~g}} %<extra></extra>",
        )
    low, high = proven[0][1], found[0][1]
    pad = 0.06 * (high - low) or 0.05 * high
    figure.update_xaxes(title="time spent searching (seconds)", fixedrange=True, rangemode="tozero")
    figure.update_yaxes(title=f"IL at k = {k} (%)", range=[max(low - pad, 0), high + pad], fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 340)


def convergence(table: pd.DataFrame) -> go.Figure:
    """Draw IL after each step of an iterative algorithm; columns data, k, round, step and information_loss."""
    figure = go.Figure()
    for place, ((data, k), part) in enumerate(table.groupby(["data", "k"], sort=False)):
        figure.add_scatter(
            x=np.arange(len(part)),
            y=100 * part["information_loss"] / part["information_loss"].iloc[0],
            name=f"{escape_html(str(data).capitalize())}, k = {k}",
            mode="lines+markers",
            line={"color": theme.GROUP_COLORS[place % len(theme.GROUP_COLORS)]},
            customdata=part[["step", "information_loss"]].to_numpy(),
            hovertemplate="<b>%{fullData.name}</b>, step %{x}: %{customdata[0]}<br>IL %{customdata[1]:.4f} %"
            "<extra></extra>",
        )
    figure.update_xaxes(title="step", fixedrange=True)
    figure.update_yaxes(title="IL (% of that of the start)", fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 420)
