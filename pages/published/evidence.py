"""The stored tables on the page Published results: Adult, losses below the printed ones, ours against the printed ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import ALGORITHMS, datasets
from microagg.algorithms.method import PENALTY, VARIANTS, recognize
from microagg.metrics.generalization import least_discernibility
from microagg.optimum.bounds import Bound
from microagg.studies import literature, sweeps
from pages.shared import curves, measures, methods, state, theme
from pages.shared.figures import download, finish, show_figure, show_table
from pages.shared.text import count, escape_html, percent

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"  # where the benchmarks store them
_COMMAND = "python benchmarks/adult.py"  # makes the stored results on Adult

_AGAINST = {
    "k": "Against k",
    "records": "Against the number of records",
    "class_penalty": "What the class penalty does",
}

_CLOSE = 2  # percent: a cell with at most this gap is close to the optimum


def stored_table(name: str) -> pd.DataFrame:
    path = RESULTS / name
    return _read(str(path), path.stat().st_mtime) if path.is_file() else pd.DataFrame()


@st.cache_data(show_spinner=False)
def _read(path: str, stamp: float) -> pd.DataFrame:
    return pd.read_csv(path)


def show() -> None:
    st.markdown(
        "The comparison of Byun, Kamra, Bertino & Li 2007 on all 30,162 complete records of Adult, run beforehand: their "
        "Figures 6 to 11, with the taxonomies of this project, which are not those of the paper."
    )
    stored = stored_table("adult.csv")
    if stored.empty:
        st.info("There are no stored results here yet. This command makes them, in some minutes:")
        st.code(_COMMAND, language="bash")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        against = methods.pick_one(_AGAINST, "w_against", "against", "Against")
        if against != "class_penalty":
            labels = {name: each.label for name, each in measures.CATEGORIES.items()}
            measure = methods.pick_one(labels, "w_stored_measure")
    part = stored[stored["experiment"] == against]
    if part.empty:
        st.info("The stored results have no such comparison: the command below adds it.")
    elif against == "class_penalty":
        _stored_tradeoff(part)
    else:
        _stored_curves(_with_variants(part), measure)
    st.caption(f"{count(len(stored), 'run')}, one after the other. This command makes them again:")
    st.code(_COMMAND, language="bash")
    download("Download the stored results (CSV)", (RESULTS / "adult.csv").read_bytes, "adult.csv")


def _stored_curves(rows: pd.DataFrame, measure: str) -> None:
    against, most = state.current().published.against, rows["n_records"].max()
    at = rows[rows["n_records"] == most]
    k, where = state.current().k, ""
    if against != "k":
        k, where = int(rows["k"].iloc[0]), f" and {most:,} records"
    line: tuple[str, Mapping[int, float]] | None = None
    if measure == "discernibility":
        column = "k" if against == "k" else "n_records"
        places = sorted({(row[column], row["n_records"], row["k"]) for row in rows.to_dict("records")})
        line = ("no method can get below", {at: least_discernibility(n, k) for at, n, k in places})
    floor = _floor() if (against, measure) == ("k", "information_loss") else []
    show_figure(
        curves.measure_curves(rows, measure, against=against, floor=floor, line=line),
        title=sweeps.summary(at, measure, k, where),
        key="stored_chart",
        alt=f"{measures.CATEGORIES[measure].label} on Adult a{_AGAINST[against][1:]}; the file to download has the numbers.",
    )
    meaning = measures.CATEGORIES[measure].meaning
    further = f" {measures.FLOOR}" if floor else ""
    st.caption("**Time** on the machine that made the results." if measure == "seconds" else f"{meaning}{further}")


def _floor() -> list[Bound]:
    """Return the stored lower bounds of the comparison by k; empty if there are none."""
    stored = stored_table("adult_floor.csv").to_dict("records")
    return [
        Bound(int(row["k"]), row["total_information_loss"], row["information_loss"], seconds=0.0, converged=True)
        for row in stored
    ]


def _stored_tradeoff(rows: pd.DataFrame) -> None:
    penalties = rows["params"].str.extract(r"class_penalty=([\d.]+)", expand=False).astype(float)
    rows = rows.assign(penalty=penalties).sort_values("penalty")
    alt = "Classification metric against Total-IL of greedy k-member for each class penalty."
    show_figure(tradeoff(rows), title=sweeps.summary_of_tradeoff(rows, PENALTY), key="stored_tradeoff", alt=alt)
    st.caption(" ".join(measures.CATEGORIES[name].meaning for name in ("classification", "information_loss")))


def _with_variants(rows: pd.DataFrame) -> pd.DataFrame:
    listed = zip(rows["method"], rows["params"].fillna(""), strict=True)
    names = [recognize(key, params) for key, params in listed]
    titles = [VARIANTS[name].title if name else None for name in names]
    return rows.assign(variant=pd.Series(names, rows.index), title=pd.Series(titles, rows.index)).dropna(subset="title")


def section() -> None:
    table = stored_table("quality.csv")
    if table.empty:
        st.info("There are no stored results in this installation: benchmarks/quality.py makes them.")
        return
    below = int((table["search"] < table["printed"]).sum())
    saved = 100 * (1 - table["search"] / table["printed"])
    proven = table[table["optimal"] == 1]
    optima = ", ".join(f"{datasets.describe(row.data).title} at k = {row.k}" for row in proven.itertuples())
    papers = "; ".join(literature.PAPERS.values())
    st.markdown(
        f"The papers compare methods with each other; these figures compare them with what is possible. In {below} of "
        f"{len(table)} cells a search of at most {table['seconds'].max():.0f} seconds loses less than **every** "
        f"standardized figure of the papers ({papers}), by {saved.min():.1f} to {saved.max():.1f} %. The floor is proven: no partition, by whatever "
        "method, loses less. You can run both on your own data, on the page Choose k."
        + (f" **Proven optimal: {optima}.** No method can do better there." if optima else "")
    )
    close = int((table["gap"] <= _CLOSE).sum())
    show_figure(
        against_lowest(table),
        title=f"In {close} of {len(table)} cells the best found is proven to be at most {_CLOSE} % above the optimum",
        key="beyond",
        alt="For each data set and k: the lowest loss found and the proven floor, in percent of the lowest printed "
        "figure. The table below has the numbers.",
    )
    loss = "%.4f"
    number = st.column_config.NumberColumn
    names: dict[str, Any] = {
        "data": "Data set",
        "k": "k",
        "printed": number("Lowest printed", format=loss),
        "printed_by": "by",
        "least_loss": number("Least loss", format=loss),
        "search_1": number("Search 1 s", format=loss),
        "search_10": number("10 s", format=loss),
        "search_60": number("60 s", format=loss),
        "search": number("Best found", format=loss),
        "floor": number("Proven floor", format=loss),
        "gap": number(
            "Gap (%)",
            format="%.2f",
            help="100 · (IL − floor) / floor of the best found: how far above the optimum it is at most.",
        ),
        "seconds": number("Seconds", format="%d", help="How long search and floor ran, both at once."),
    }
    titled = table.assign(data=[datasets.describe(name).title for name in table["data"]])
    show_table(titled[list(names)], names, height="content")
    st.caption(
        "Information losses in percent, on z-scores. Measured by benchmarks/quality.py on "
        f"{table['date'].max()} with {int(table['cores'].max())} cores, search and floor at the same time, each telling "
        "the other what it finds."
    )


def differences(table: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    keys = {cls.info.title: key for key, cls in ALGORITHMS.items()} | {"mu-Approx": "mu-approx"}
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
    figure.update_xaxes(title="ours minus printed (% of the printed figure)", range=[-widest, widest])
    figure.update_yaxes(autorange="reversed")
    return finish(figure, 90 + 34 * table["method"].nunique())


def gamma_curves(table: pd.DataFrame) -> go.Figure:
    """Draw mean IL against γ, a line per k; columns k, gamma, information_loss and sd."""
    figure = go.Figure()
    for place, (k, part) in enumerate(table.groupby("k")):
        hover = f"k = {k}, γ = %{{x}}<br>IL %{{y:.3f}} % (sd %{{customdata:.3f}})<extra></extra>"
        look = {"name": f"k = {k}", "mode": "lines+markers", "line": {"color": theme.group_color(place)}}
        figure.add_scatter(
            x=part["gamma"], y=part["information_loss"], customdata=part["sd"], hovertemplate=hover, **look
        )
    figure.update_xaxes(title="γ of V-MDAV")
    figure.update_yaxes(title="mean IL over 25 sets (%)", rangemode="tozero")
    return finish(figure, 400)


def mean_curves(table: pd.DataFrame) -> go.Figure:
    """Draw mean IL against k, a line per algorithm; columns method, label, k, information_loss and sd."""
    figure = go.Figure()
    for key, part in table.groupby("method", sort=False):
        style, name = theme.style(str(key)), escape_html(part["label"].iloc[0])
        name += " (best γ)" if key == "v-mdav" else ""
        look = {"name": name, "mode": "lines", "line": {"color": style.color, "dash": style.dash, "width": 2}}
        hover = "<b>%{fullData.name}, k = %{x}</b><br>IL %{y:.3f} % (sd %{customdata:.3f})<extra></extra>"
        figure.add_scatter(x=part["k"], y=part["information_loss"], customdata=part["sd"], hovertemplate=hover, **look)
    figure.update_xaxes(title="k, the minimum group size (records)")
    figure.update_yaxes(title="mean IL over 25 sets (%)", rangemode="tozero")
    return finish(figure, 420)


def convergence(table: pd.DataFrame) -> go.Figure:
    """Draw IL after each step of an iterative algorithm; columns data, k, round, step and information_loss."""
    figure = go.Figure()
    for place, ((data, k), part) in enumerate(table.groupby(["data", "k"], sort=False)):
        figure.add_scatter(
            x=np.arange(len(part)),
            y=100 * part["information_loss"] / part["information_loss"].iloc[0],
            name=f"{escape_html(str(data).capitalize())}, k = {k}",
            mode="lines+markers",
            line={"color": theme.group_color(place)},
            customdata=part[["step", "information_loss"]].to_numpy(),
            hovertemplate="<b>%{fullData.name}</b>, step %{x}: %{customdata[0]}<br>IL %{customdata[1]:.4f} %"
            "<extra></extra>",
        )
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="IL (% of that of the start)")
    return finish(figure, 420)


def against_lowest(table: pd.DataFrame) -> go.Figure:
    """Draw, in percent of the lowest printed figure, the best loss and the floor, a column per data set and k."""
    figure = go.Figure()
    cells = [[datasets.describe(name).title for name in table["data"]], [f"k = {k}" for k in table["k"]]]
    best, floor = 100 * table["search"] / table["printed"], 100 * table["floor"] / table["printed"]
    look: dict[str, Any] = {"name": "impossible: below the proven floor", "marker": {"color": theme.FLOOR_FILL}}
    hover = "%{x}: proven floor %{customdata:.5~g} %<extra></extra>"
    figure.add_bar(x=cells, y=floor, customdata=table["floor"], hovertemplate=hover, **look)
    look = {"name": "open: the optimum lies here", "marker": {"color": theme.BAND}}
    hover = "%{x}: at most %{customdata:.3~g} % above the optimum<extra></extra>"
    figure.add_bar(x=cells, y=best - floor, customdata=table["gap"], hovertemplate=hover, **look)
    figure.update_traces(marker_line_width=0)
    marker = {"color": theme.HIGHLIGHT, "symbol": "line-ew-open", "size": 14, "line": {"width": 3}}
    look = {"name": "best found", "mode": "markers", "marker": marker}
    hover = "%{x}: found %{customdata:.5~g} %<extra></extra>"
    figure.add_scatter(x=cells, y=best, customdata=table["search"], hovertemplate=hover, **look)
    proven = (table["optimal"] == 1).to_numpy()
    where = [[name for name, is_proven in zip(names, proven, strict=True) if is_proven] for names in cells]
    marker = {"color": theme.HIGHLIGHT, "symbol": "star", "size": 13}
    look = {"name": "proven optimal", "mode": "markers", "marker": marker}
    hover = "%{x}: %{customdata:.7~g} % is proven to be the least possible<extra></extra>"
    figure.add_scatter(x=where, y=best[proven], customdata=table.loc[proven, "search"], hovertemplate=hover, **look)
    pairs = zip(table["printed"], table["printed_by"], strict=True)
    line = {"color": theme.NEUTRAL, "width": 1, "dash": "dash"}
    look = {"name": "lowest printed figure", "mode": "lines+markers", "line": line, "marker": {"size": 5}}
    printed = [f"{percent(loss, 4)} ({by})" for loss, by in pairs]
    hover = "%{x}: lowest printed %{customdata}<extra></extra>"
    figure.add_scatter(x=cells, y=[100] * len(table), customdata=printed, hovertemplate=hover, **look)
    figure.update_layout(barmode="stack", bargap=0.25)
    figure.update_yaxes(title="IL (% of the lowest printed)", range=[0, 106])
    return finish(figure, 440)


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
    figure = go.Figure().add_scatter(
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
    pad = 0.08 * (high - low) or 0.5
    figure.update_xaxes(title="Total-IL (% of all there is to lose)", range=[low - pad, high + pad])
    figure.update_yaxes(title="classification metric CM (% of records)", rangemode="tozero")
    return finish(figure, 420)
