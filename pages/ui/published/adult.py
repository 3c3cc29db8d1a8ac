"""All of Adult: the stored comparison of the literature on the whole benchmark."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from microagg import sweeps
from microagg.metrics.bounds import Bound
from microagg.metrics.generalization import least_discernibility
from microagg.variants import PENALTY, VARIANTS, recognize
from pages.ui import state, widgets
from pages.ui.charts import curves, measures
from pages.ui.charts.layout import show_figure
from pages.ui.published import store
from pages.ui.text import count

_COMMAND = "python benchmarks/adult.py"
_AGAINST = {
    "k": "Against k",
    "records": "Against the number of records",
    "class_penalty": "What the class penalty does",
}


def show() -> None:
    """Draw the stored results."""
    st.markdown(
        "The comparison of Byun, Kamra, Bertino & Li 2007 on all 30,162 complete records of Adult, run beforehand: their "
        "Figures 6 to 11, with the taxonomies of this project, which are not those of the paper."
    )
    stored = store.table("adult.csv")
    if stored.empty:
        st.info("There are no stored results here yet. This command makes them, in some minutes:")
        st.code(_COMMAND, language="bash")
        return
    choices = state.current()
    with st.container(horizontal=True, vertical_alignment="center"):
        state.bound(
            st.segmented_control,
            "Against",
            "against",
            options=list(_AGAINST),
            format_func=_AGAINST.__getitem__,
            required=True,
            wrap=True,
            label_visibility="collapsed",
        )
        if choices.against != "class_penalty":
            labels = {name: measure.label for name, measure in measures.CATEGORIES.items()}
            shown = widgets.pick_measure(labels, "w_stored_measure")
    part = stored[stored["experiment"] == choices.against]
    if part.empty:
        st.info("The stored results have no such comparison: the command below adds it.")
    elif choices.against == "class_penalty":
        _stored_tradeoff(part)
    else:
        _stored_curves(_with_variants(part), shown)
    st.caption(f"{count(len(stored), 'run')}, one after the other. This command makes them again:")
    st.code(_COMMAND, language="bash")
    st.download_button(
        "Download the stored results (CSV)",
        (store.RESULTS / "adult.csv").read_bytes,
        file_name="adult.csv",
        mime="text/csv",
        on_click="ignore",
    )


def _stored_curves(rows: pd.DataFrame, measure: str) -> None:
    choices = state.current()
    against = choices.against
    most = rows["n_records"].max()
    at = rows[rows["n_records"] == most]
    k = choices.k if against == "k" else int(rows["k"].iloc[0])
    line: tuple[str, Mapping[int, float]] | None = None
    if measure == "discernibility":
        column = "k" if against == "k" else "n_records"
        places = sorted({(row[column], row["n_records"], row["k"]) for row in rows.to_dict("records")})
        line = ("no method can get below", {at: least_discernibility(n, k) for at, n, k in places})
    where = "" if against == "k" else f" and {most:,} records"
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
    """Return what is proven that no method can get below at each k of the comparison; empty where none is stored."""
    stored = store.table("adult_floor.csv").to_dict("records")
    return [
        Bound(int(row["k"]), row["total_information_loss"], row["information_loss"], seconds=0.0, converged=True)
        for row in stored
    ]


def _stored_tradeoff(rows: pd.DataFrame) -> None:
    penalties = rows["params"].str.extract(r"class_penalty=([\d.]+)", expand=False).astype(float)
    rows = rows.assign(penalty=penalties).sort_values("penalty")
    show_figure(
        measures.tradeoff(rows),
        title=sweeps.summary_of_tradeoff(rows, PENALTY),
        key="stored_tradeoff",
        alt="Classification metric against Total-IL of greedy k-member for each class penalty.",
    )
    st.caption(" ".join(measures.CATEGORIES[name].meaning for name in ("classification", "information_loss")))


def _with_variants(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of what is a variant, with its name and title."""
    listed = zip(rows["method"], rows["params"].fillna(""), strict=True)
    names = [recognize(key, params) for key, params in listed]
    titles = [VARIANTS[name].title if name else None for name in names]
    return rows.assign(variant=pd.Series(names, rows.index), title=pd.Series(titles, rows.index)).dropna(subset="title")
