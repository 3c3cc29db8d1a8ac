"""Measures of mixed data against k or the number of records, and what a class penalty does to them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from pages.ui.charts import theme
from pages.ui.charts.layout import finish, ring
from pages.ui.text import escape_html, listing, number, percent

#: Of each measure: the axis title, the factor from the results to the unit of the axis, and the text on hover.
_MEASURES = {
    "information_loss": ("Total-IL (% of all there is to lose)", 1, "%{y:.4~g} % of all there is to lose"),
    "discernibility": ("discernibility DM = Σ (group size)²", 1, "DM %{y:,.0f}"),
    "classification": ("classification metric CM (% of records)", 100, "%{y:.4~g} % outside their group's majority"),
    "seconds": ("time (seconds)", 1, "%{y:.3~g} seconds"),
}

_LOGARITHMIC = {"discernibility", "seconds"}


def measure_curves(
    rows: pd.DataFrame,
    measure: str,
    *,
    against: str = "k",
    limit: tuple[str, Mapping[int, float]] | None = None,
    selected: tuple[str, int] | None = None,
) -> go.Figure:
    """Draw a measure of mixed data against k or the number of records, a line per variant.

    ``rows`` have the columns variant, title, k, n_records, n_groups, smallest_group, largest_group,
    total_information_loss and the measure's. ``limit`` is a line that nothing crosses, in the unit of the column: its
    name, and its value at each place. ``selected`` is (variant, k).
    """
    axis, factor, says = _MEASURES[measure]
    across = "k" if against == "k" else "n_records"
    figure = go.Figure()
    if limit:
        name, values = limit
        figure.add_scatter(
            x=list(values),
            y=[factor * value for value in values.values()],
            name=name,
            mode="lines",
            line={"color": theme.NEUTRAL, "width": 1.5, "dash": "dot"},
            hoverinfo="skip",
        )
    for variant, part in rows.groupby("variant", sort=False):
        style = theme.style(str(variant))
        part = part.sort_values(across)
        figure.add_scatter(
            x=part[across],
            y=factor * part[measure],
            name=escape_html(part["title"].iloc[0]),
            mode="lines+markers",
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={
                "symbol": style.symbol,
                "size": 9,
                "color": style.color,
                "line": {"width": 2 if style.symbol.endswith("-open") else 0, "color": style.color},
            },
            unselected={"marker": {"opacity": 1}},
            customdata=part[
                ["variant", "k", "n_records", "n_groups", "smallest_group", "largest_group", "total_information_loss"]
            ].to_numpy(),
            hovertemplate=f"<b>%{{fullData.name}}, k = %{{customdata[1]}}</b><br>{says}"
            "<br>Total-IL %{customdata[6]:,.1f} on %{customdata[2]:,} records"
            "<br>%{customdata[3]:,} groups of %{customdata[4]:,} to %{customdata[5]:,} records<extra></extra>",
        )
    at = rows[(rows["variant"] == selected[0]) & (rows["k"] == selected[1])] if selected else rows.iloc[:0]
    if not at.empty:
        ring(figure, at[across], factor * at[measure], "chosen for the release")
    places = sorted(rows[across].unique())
    title = "k, the minimum group size (records)" if against == "k" else "records"
    # Values of k are chosen like 2, 5, 10, 20, …: a logarithmic axis gives each its room.
    logarithmic = against == "k" and len(places) > 1 and places[-1] >= 4 * places[0]
    figure.update_xaxes(
        title=title,
        type="log" if logarithmic else "linear",
        tickvals=[int(place) for place in places],
        ticktext=[f"{place:,}" for place in places],
        fixedrange=True,
    )
    steep = measure in _LOGARITHMIC and (rows[measure] > 0).all()
    figure.update_yaxes(
        title=axis,
        type="log" if steep else "linear",
        rangemode="normal" if steep else "tozero",
        fixedrange=True,
        **({"dtick": 1} if steep and rows[measure].max() > 30 * rows[measure].min() else {}),
    )
    figure.update_layout(clickmode="event+select", dragmode=False)
    return finish(figure, 480)


def summary_of_measure(rows: pd.DataFrame, measure: str, k: int, where: str = "") -> str:
    """Return in one sentence what the curves of a measure say at ``k``, or at the nearest k that there is.

    ``rows`` are as in :func:`measure_curves`, for one number of records; ``where`` is added to the k.
    """
    nearest = min(rows["k"].unique(), key=lambda other: (abs(other - k), other))
    here = rows[rows["k"] == nearest].sort_values(measure, kind="stable")
    at = f"{nearest}{where}"
    best, last = here.iloc[0], here.iloc[-1]
    # The best is compared with the best of another algorithm, or with the worst of all where there is no other.
    others = here[here["method"] != best["method"]]
    other = others.iloc[0] if len(others) else last
    low, high = float(best[measure]), float(other[measure])
    what = {
        "information_loss": ("loses", f"{percent(low)} of all there is to lose"),
        "discernibility": ("has a discernibility of", number(low)),
        "classification": ("leaves", f"{percent(100 * low)} of the records outside their group's majority class"),
        "seconds": ("takes", f"{low:.3g} seconds"),
    }[measure]
    if best["variant"] == other["variant"]:
        return f"{best['title']} {what[0]} {what[1]} at k = {at}"
    if measure == "discernibility":
        return _of_discernibility(here, at)
    if low == high:
        return f"{best['title']} and {other['title']} do the same at k = {at}: {what[1]}"
    if measure == "seconds":
        return f"{best['title']} is {_times(high, low)} as fast as {other['title']} at k = {at}"
    verb = "mixes the classes" if measure == "classification" else "loses"
    rivals = others.groupby("method", sort=False).first() if len(others) else here.iloc[-1:]
    less = [f"{_less(low, float(rival[measure]))} than {rival['title']}" for _, rival in rivals.iterrows()]
    return f"At k = {at}, {best['title']} {verb} {listing(less)}"


def least_discernibility(n: int, k: int) -> int:
    """Return the lowest DM of ``n`` records in groups of at least ``k``: as many groups as fit, as equal as can be."""
    groups = max(n // k, 1)
    size, further = divmod(n, groups)
    return (groups - further) * size**2 + further * (size + 1) ** 2


def _of_discernibility(here: pd.DataFrame, at: str) -> str:
    low, high = here["discernibility"].min(), here["discernibility"].max()
    titles = list(here.loc[here["discernibility"] == low, "title"])
    exact = low == least_discernibility(int(here["n_records"].iloc[0]), int(here["k"].iloc[0]))
    what = "the lowest DM that there can be" if exact else f"the lowest DM, {number(low)}"
    verb = "has" if len(titles) == 1 else "have"
    more = f"; {here['title'].iloc[-1]} has {100 * (high / low - 1):.0f} % more" if high > low else ""
    return f"At k = {at}, {listing(titles)} {verb} {what}{more}"


def _less(low: float, high: float) -> str:
    return f"{100 * (1 - low / high):.0f} % less" if low < 0.995 * high else "slightly less"


def _times(high: float, low: float) -> str:
    return "far more than a thousand times" if low <= 0 or high / low > 1000 else f"{high / low:.2g} times"


def tradeoff(rows: pd.DataFrame) -> go.Figure:
    """Draw CM against Total-IL, a point per class penalty; columns penalty, information_loss and classification."""
    style = theme.style("k-member")
    low, high = float(rows["information_loss"].min()), float(rows["information_loss"].max())
    names: list[str] = []
    for penalty, loss, before in zip(
        rows["penalty"], rows["information_loss"], [None, *rows["information_loss"][:-1]], strict=True
    ):
        name = f"{penalty:g}"
        # Points that all but coincide share a label.
        if before is not None and abs(loss - before) < 0.03 * (high - low):
            name, names[-1] = f"{names[-1]}, {name}", ""
        names.append(name)
    figure = go.Figure(
        go.Scatter(
            x=rows["information_loss"],
            y=100 * rows["classification"],
            mode="lines+markers+text",
            line={"color": style.color, "width": 2},
            marker={"size": 10, "color": style.color},
            text=names,
            customdata=rows["penalty"],
            textposition="top right",
            cliponaxis=False,
            hovertemplate="<b>class penalty %{customdata:g}</b><br>CM %{y:.3~g} % of the records<br>Total-IL %{x:.4~g} %"
            "<extra></extra>",
        )
    )
    pad = 0.08 * (high - low) or 0.5
    figure.update_xaxes(title="Total-IL (% of all there is to lose)", range=[low - pad, high + pad], fixedrange=True)
    figure.update_yaxes(title="classification metric CM (% of records)", rangemode="tozero", fixedrange=True)
    figure.update_layout(dragmode=False)
    return finish(figure, 420)


def summary_of_tradeoff(rows: pd.DataFrame, penalty: float) -> str:
    """Return in one sentence what a class penalty does; columns as in :func:`tradeoff`, and k."""
    without = rows[rows["penalty"] == 0]
    given = rows[rows["penalty"] == penalty]
    if without.empty or given.empty:
        return "What greedy k-member gains and loses by a class penalty"
    before, after = without.iloc[0], given.iloc[0]
    more = 100 * (after["information_loss"] / before["information_loss"] - 1)
    return (
        f"At k = {after['k']}, a class penalty of {penalty:g} takes CM from {percent(100 * before['classification'])} to "
        f"{percent(100 * after['classification'])} at {more:.0f} % more Total-IL"
    )
