"""The best known partitions on the page Published results: which are proven optimal, and how to offer better ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import datasets
from microagg.optimum.bounds import CLOSED
from microagg.studies import landscape
from microagg.tables import to_csv
from pages.shared import state, theme
from pages.shared.figures import download, matrix, show_figure, show_tiles
from pages.shared.text import count, escape_markdown, percent

_NEAR = 1.0  # percent: a cell with at most this gap is close to the optimum

# From light for a proven optimum to dark for a gap of 30 % and more.
_SCALE = [[0.0, theme.tint(theme.GREEN, 0.6)], [0.3, "#F7F3DC"], [1.0, theme.tint(theme.VERMILLION, 0.75)]]
_MOST = 30.0


def section() -> None:
    table = landscape.limits()
    table["gap"] = 100 * (table["stored"] / table["floor"] - 1).clip(lower=0)
    proven = int((table["gap"] <= 100 * CLOSED).sum())
    near = int((table["gap"] <= _NEAR).sum())
    widest = table.sort_values("gap").iloc[-1]
    st.markdown(
        "Which partition of a benchmark loses least? For most cells nobody knows, but how far the best one known can be "
        f"from it is proven. Of **{count(len(table), 'cell')}**, data sets at a k, **{proven} are proven optimal**, and "
        f"{near} are at most {_NEAR:g} % above the optimum. These partitions come with the package, as "
        "`microagg.landscape.best`, and you can offer better ones."
    )
    show_figure(
        _matrix(table),
        title=f"Most is open on {_title(widest['data'])} at k = {widest['k']}: the best partition known is at most "
        f"{widest['gap']:.0f} % above the optimum",
        key="best_known",
        alt="By how many percent the best partition known of each data set at each k is above the optimum at most.",
    )
    st.caption(
        "Percent above the proven floor; a star is a proven optimum. Of SimU and SimC, five random sets each, the widest "
        "gap counts. Adult is measured by Total-IL, all others by the SSE of z-scores."
    )
    _one(table)


def _title(data: str) -> str:
    return datasets.describe(data).title


def _matrix(table: pd.DataFrame) -> go.Figure:
    widest = table.groupby(["data", "k"], sort=False)["gap"].max().unstack("data", sort=False).sort_index()
    values = widest.to_numpy(dtype=float)
    text = [["" if np.isnan(gap) else "★" if gap <= 100 * CLOSED else _short(gap) for gap in row] for row in values]
    hover = [
        ["proven optimal" if gap <= 100 * CLOSED else f"at most {gap:.3g} % above the optimum" for gap in row]
        for row in widest.fillna(0.0).to_numpy()
    ]
    return matrix(
        np.minimum(values, _MOST),
        [_title(str(name)) for name in widest.columns],
        [f"k = {k}" for k in widest.index],
        most=_MOST,
        scale=_SCALE,
        text=text,
        hover=hover,
    )


def _short(gap: float) -> str:
    return f"{gap:.0f}" if gap >= 9.5 else f"{gap:.1f}" if gap >= 0.05 else "<0.1"


def _one(table: pd.DataFrame) -> None:
    names, chosen = list(table["data"].unique()), state.current().published
    left, middle, right = st.columns(3)
    with left:
        data = state.bound(st.selectbox, "Data set", "best_of", options=names, format_func=_title)
    cells = table[table["data"] == data]
    ks, seeds = sorted(cells["k"].unique().tolist()), sorted(cells["seed"].unique().tolist())
    with middle:
        k = chosen.best_k if chosen.best_k in ks else ks[0]
        k = state.bound(st.selectbox, "k", "best_k", options=ks, selected=k)
    seed = 0
    if len(seeds) > 1:
        with right:
            seed = st.selectbox("Seed", seeds, key="w_best_seed")
    best = landscape.best(data, k, seed)
    [row] = cells[(cells["k"] == k) & (cells["seed"] == seed)].to_dict("records")
    tiles = {
        "Loss of the best partition": percent(best.information_loss, 6),
        "Proven floor": percent(best.bound.information_loss, 6),
        "Above the optimum at most": "0, it is optimal" if best.optimal else percent(row["gap"], 2),
        "Groups": f"{best.partition.n_groups:,}",
        "Known since": best.since,
    }
    show_tiles([(label, value, None) for label, value in tiles.items()])
    by = "the search of this project" if best.by == "search" else best.by
    lower = row["best"] < row["stored"] * (1 - CLOSED)
    longer_search = (
        f" A longer search has reached {percent(row['best'], 6)}, of which only the loss was kept." if lower else ""
    )
    st.caption(escape_markdown(f"Found by {by}.{longer_search}"))
    labels = pd.DataFrame({"record": np.arange(len(best.partition.labels)), "group": best.partition.labels + 1})
    of = f"{data}-{seed}" if len(seeds) > 1 else data
    download("Download the partition (CSV)", lambda: to_csv(labels), f"{of} k={k} groups.csv")
    with st.expander("How to use it, and how to offer a better one"):
        st.code(
            f'from microagg import landscape\n\nknown = landscape.best("{data}", k={k}'
            f"{f', seed={seed}' if seed else ''})\nknown.partition.labels, known.information_loss, known.bound"
        )
        st.markdown(
            "A better partition is a CSV file with a column `group`, the group of each record in the order of the data "
            "set, as the one above. In a checkout of the project this computes what it loses, from the records alone, "
            "and stores it if that is less; send what it has changed as a pull request."
        )
        where = f"--data {data} --k {k}" + (f" --seed {seed}" if len(seeds) > 1 else "")
        st.code(f'python benchmarks/records.py --offer groups.csv {where} --by "your name and year"', language="bash")
