"""The comparison of Byun et al. on all of Adult, stored beforehand."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from microagg.algorithms.method import VARIANTS
from microagg.metrics.generalization import least_discernibility
from microagg.optimum.bounds import Bound
from microagg.studies import sweeps
from pages.evidence import figures
from pages.shared import curves, measures, methods, state, theme
from pages.shared.figures import download, show_figure
from pages.shared.text import count

_COMMAND = "python benchmarks/adult.py"  # makes the stored results on Adult

_AGAINST = {
    "k": "Against k",
    "records": "Against the number of records",
    "class_penalty": "Effect of the class penalty",
}


def section() -> None:
    st.markdown(
        "Figures 6 to 11 of the paper, on all 30,162 complete records of Adult. The taxonomies are those of this project, "
        "not those of the paper."
    )
    results = figures.stored_table("adult.csv")
    if results.empty:
        st.info("This installation has no stored results. This command makes them in some minutes:")
        st.code(_COMMAND, language="bash")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        against = methods.pick_one(_AGAINST, "w_against", "against", "Against")
        if against != "class_penalty":
            labels = {name: each.label for name, each in measures.CATEGORIES.items()}
            measure = methods.pick_one(labels, "w_stored_measure")
    part = results[results["experiment"] == against]
    if against == "class_penalty":
        _tradeoff(part)
    else:
        _curves(_with_variants(part), measure)
    st.caption(f"Source: {count(len(results), 'run')}, one after the other, stored by this command:")
    st.code(_COMMAND, language="bash")
    download("Download the stored results (CSV)", (figures.RESULTS / "adult.csv").read_bytes, "adult.csv")


def _curves(rows: pd.DataFrame, measure: str) -> None:
    against, most = state.current().evidence.against, rows["n_records"].max()
    k, where = state.current().k, ""
    if against != "k":
        k, where = int(rows["k"].iloc[0]), f" and {most:,} records"
    line = None
    if measure == "discernibility":
        column = "k" if against == "k" else "n_records"
        places = sorted({(row[column], row["n_records"], row["k"]) for row in rows.to_dict("records")})
        line = ("lower bound", {at: least_discernibility(n, k) for at, n, k in places})
    floor = _lower_bounds() if (against, measure) == ("k", "information_loss") else []
    show_figure(
        curves.measure_curves(rows, measure, against=against, floor=floor, line=line),
        title=sweeps.summary(rows[rows["n_records"] == most], measure, k, where),
        key="stored_chart",
        alt=f"{measures.CATEGORIES[measure].label} on Adult a{_AGAINST[against][1:]}; the file to download has the numbers.",
    )
    meaning = measures.CATEGORIES[measure].meaning
    further = f" {measures.FLOOR}" if floor else ""
    st.caption("**Time** on the machine that made the results." if measure == "seconds" else f"{meaning}{further}")


def _lower_bounds() -> list[Bound]:
    return [
        Bound(int(row["k"]), row["total_information_loss"], row["information_loss"], seconds=0.0, converged=True)
        for row in figures.stored_table("adult_floor.csv").to_dict("records")
    ]


def _tradeoff(rows: pd.DataFrame) -> None:
    penalties = rows["params"].str.extract(r"class_penalty=([\d.]+)", expand=False).astype(float)
    rows = rows.assign(penalty=penalties, percent=100 * rows["classification"]).sort_values("penalty")
    losses = rows["information_loss"]
    # Points that all but coincide share a label.
    cluster = (losses.diff().abs() >= 0.03 * (losses.max() - losses.min())).cumsum()
    names = rows["penalty"].map("{:g}".format).groupby(cluster).transform(", ".join)
    notes = [f"class penalty {row.penalty:g}: CM {row.percent:.3g} %" for row in rows.itertuples()]
    rows = rows.assign(label=VARIANTS["k-member"].title, color=theme.style("k-member").color, note=notes)
    titles = measures.CATEGORIES["information_loss"].axis, measures.CATEGORIES["classification"].axis
    figure = figures.lines(rows, "information_loss", "percent", titles)
    figure.update_traces(mode="lines+markers+text", text=names.mask(cluster.duplicated(keep="last"), ""))
    figure.update_traces(textposition="top right", cliponaxis=False)
    alt = "Classification metric against Total-IL of greedy k-member for each class penalty."
    show_figure(figure, title="Greedy k-member: classes against loss, by class penalty", key="stored_tradeoff", alt=alt)
    st.caption(" ".join(measures.CATEGORIES[name].meaning for name in ("classification", "information_loss")))


def _with_variants(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs that are those of a variant, with its name and title."""
    names = {variant.method().label: variant.name for variant in VARIANTS.values()}
    rows = rows.assign(variant=rows["label"].map(names)).dropna(subset="variant")
    return rows.assign(title=rows["variant"].map(lambda name: VARIANTS[name].title))
