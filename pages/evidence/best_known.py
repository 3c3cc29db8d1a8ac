"""Best known: the gap of the best known partition of each benchmark, and how to offer a better one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from microagg.optimum import gap
from microagg.optimum.bounds import CLOSED
from microagg.studies import landscape, literature
from microagg.tables import to_csv
from pages.evidence import figures
from pages.evidence.figures import data_title
from pages.shared import state
from pages.shared.figures import download, show_figure, show_tiles
from pages.shared.text import count, escape_markdown, percent

_NEAR = 1.0  # percent: a cell with at most this gap is close to the optimum


def section() -> None:
    table = landscape.limits()
    table["gap"] = [100 * gap(loss, bound) for loss, bound in zip(table["best"], table["floor"], strict=True)]
    proven, near = (int((table["gap"] <= limit).sum()) for limit in (100 * CLOSED, _NEAR))
    widest = table.sort_values("gap").iloc[-1]
    st.markdown(
        "The **gap** says how far a partition can be from the optimum at most: 100 · (loss / lower bound − 1). Of "
        f"**{count(len(table), 'cell')}** (a data set at a k; each random one counts), **{proven} are proven optimal**, "
        f"and {near} have a gap of at most {_NEAR:g}\u00a0%. The partitions come with the package, as `microagg.landscape.best`. "
        "You can offer better ones."
    )
    show_figure(
        figures.gap_matrix(table),
        title=f"The widest gap is {widest['gap']:.0f} %, on {data_title(widest['data'])} at k = {widest['k']}",
        key="best_known",
        alt="Gap of the best known partition of each data set at each k, in percent.",
    )
    st.caption(
        "Gap in percent; ★ is proven optimal. SimU and SimC are five random data sets each: the widest gap is shown. The "
        "loss of Adult is Total-IL (it has categories), that of all others the SSE of z-scores."
    )
    _one(table)
    _against_printed(table)


def _one(table: pd.DataFrame) -> None:
    st.header("One partition")
    left, middle, right = st.columns(3)
    with left:
        names = list(table["data"].unique())
        data = state.bound(st.selectbox, "Data set", "best_of", options=names, format_func=data_title)
    cells = table[table["data"] == data]
    ks, seeds = sorted(cells["k"].unique().tolist()), sorted(cells["seed"].unique().tolist())
    with middle:
        k = state.current().evidence.best_k
        k = state.bound(st.selectbox, "k", "best_k", options=ks, selected=k if k in ks else ks[0])
    seed = 0
    if len(seeds) > 1:
        with right:
            seed = st.selectbox("Seed", seeds, key="w_best_seed")
    best = landscape.best(data, k, seed)
    [row] = cells[(cells["k"] == k) & (cells["seed"] == seed)].to_dict("records")
    tiles = {
        "Information loss": percent(best.information_loss, 4),
        "Lower bound": percent(best.bound.information_loss, 4),
        "Gap": "0, proven optimal" if best.optimal else percent(row["gap"]),
        "Groups": f"{best.partition.n_groups:,}",
        "Known since": best.since,
    }
    show_tiles([(label, value, None) for label, value in tiles.items()])
    source = "the search of this project" if best.by == "search" else best.by
    st.caption(escape_markdown(f"Source: {source}."))
    labels = pd.DataFrame({"record": np.arange(len(best.partition.labels)), "group": best.partition.labels + 1})
    name = f"{data}-{seed}" if len(seeds) > 1 else data
    download("Download the partition (CSV)", lambda: to_csv(labels), f"{name} k={k} groups.csv")
    with st.expander("Use it, or offer a better one"):
        st.code(
            f'from microagg import landscape\n\nbest = landscape.best("{data}", k={k}'
            f"{f', seed={seed}' if seed else ''})\nbest.partition.labels, best.information_loss, best.bound"
        )
        st.markdown(
            "A better partition is a CSV file with a column `group`, as above. In a checkout of the project, this command "
            "stores it if its loss is lower; send the change as a pull request:"
        )
        where = f"--data {data} --k {k}" + (f" --seed {seed}" if len(seeds) > 1 else "")
        st.code(f'python benchmarks/records.py --offer groups.csv {where} --by "your name and year"', language="bash")


def _against_printed(limits: pd.DataFrame) -> None:
    table = literature.lowest_printed().merge(limits[limits["seed"] == 0], on=["data", "k"])
    lower = 100 * (1 - table["best"] / table["printed"])
    papers = "; ".join(literature.PAPERS.values())
    st.header("Against the printed figures")
    show_figure(
        figures.against_printed(table),
        title=f"In {int((lower > 0).sum())} of {len(table)} cells the best known partition has lower loss than every printed "
        f"figure, by {lower.min():.1f} to {lower.max():.1f} %",
        key="against_printed",
        alt="Best known loss and lower bound by data set and k, in percent of the lowest printed figure.",
    )
    st.caption(f"Information losses on z-scores. The figures are those of {papers}.")
