"""The step All of Adult of the page Mixed data: the stored comparison of the literature on the whole benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import streamlit as st

from microagg.variants import PENALTY, VARIANTS, recognize
from pages.ui import state
from pages.ui.charts import measures
from pages.ui.charts.layout import show_figure
from pages.ui.runs import compare
from pages.ui.text import count

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "adult.csv"

_COMMAND = "python benchmarks/adult.py"
_AGAINST = {
    "k": "Against k",
    "records": "Against the number of records",
    "class_penalty": "What the class penalty does",
}


@st.cache_data(show_spinner=False)
def _read_stored(stamp: float) -> pd.DataFrame:
    return pd.read_csv(RESULTS)


def show() -> None:
    """Draw the step."""
    st.markdown(
        "The comparison of Byun, Kamra, Bertino & Li 2007 on all 30,162 complete records of Adult, run beforehand: their "
        "Figures 6 to 11, with the taxonomies of this project, which are not those of the paper."
    )
    if not RESULTS.is_file():
        st.info("There are no stored results here yet. This command makes them, in some minutes:")
        st.code(_COMMAND, language="bash")
        return
    stored = _read_stored(RESULTS.stat().st_mtime)
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
            compare.pick_measure("stored_measure", with_classes=True)
    part = stored[stored["experiment"] == choices.against]
    if part.empty:
        st.info("The stored results have no such comparison: the command below adds it.")
    elif choices.against == "class_penalty":
        _stored_tradeoff(part)
    else:
        _stored_curves(_with_variants(part))
    st.caption(f"{count(len(stored), 'run')}, one after the other. This command makes them again:")
    st.code(_COMMAND, language="bash")
    st.download_button(
        "Download the stored results (CSV)",
        RESULTS.read_bytes,
        file_name="adult.csv",
        mime="text/csv",
        on_click="ignore",
    )


def _stored_curves(rows: pd.DataFrame) -> None:
    choices = state.current()
    measure, against = choices.measure, choices.against
    most = rows["n_records"].max()
    at = rows[rows["n_records"] == most]
    k = choices.mixed_k if against == "k" else int(rows["k"].iloc[0])
    limit: tuple[str, Mapping[int, float]] | None = None
    if measure == "discernibility":
        column = "k" if against == "k" else "n_records"
        places = sorted({(row[column], row["n_records"], row["k"]) for row in rows.to_dict("records")})
        limit = ("no method can get below", {at: measures.least_discernibility(n, k) for at, n, k in places})
    where = "" if against == "k" else f" and {most:,} records"
    show_figure(
        measures.measure_curves(rows, measure, against=against, limit=limit),
        title=measures.summary_of_measure(at, measure, k, where),
        key="stored_chart",
        alt=f"{compare.MEASURES[measure]} on Adult against {'k' if against == 'k' else 'the number of records'}; the file to "
        "download has the numbers.",
    )
    st.caption("**Time** on the machine that made the results." if measure == "seconds" else compare.MEANINGS[measure])


def _stored_tradeoff(rows: pd.DataFrame) -> None:
    penalties = rows["params"].str.extract(r"class_penalty=([\d.]+)", expand=False).astype(float)
    rows = rows.assign(penalty=penalties).sort_values("penalty")
    show_figure(
        measures.tradeoff(rows),
        title=measures.summary_of_tradeoff(rows, PENALTY),
        key="stored_tradeoff",
        alt="Classification metric against Total-IL of greedy k-member for each class penalty.",
    )
    st.caption(f"{compare.MEANINGS['classification']} {compare.MEANINGS['information_loss']}")


def _with_variants(rows: pd.DataFrame) -> pd.DataFrame:
    names = []
    for key, listed in zip(rows["method"], rows["params"], strict=True):
        params = dict(pair.split("=", 1) for pair in str(listed).split(", ") if "=" in pair)
        names.append(recognize(key, params))
    rows = rows.assign(variant=pd.Series(names, index=rows.index))
    rows = rows[rows["variant"].notna()]
    return rows.assign(title=[VARIANTS[name].title for name in rows["variant"]])
