"""Two parts of the page Published results: the comparison on all of Adult, and losses below those that were printed.

Both are drawn from stored tables, which are read once for as long as their file stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from microagg import datasets
from microagg.algorithms.method import PENALTY, VARIANTS, recognize
from microagg.metrics.generalization import least_discernibility
from microagg.optimum.bounds import Bound
from microagg.studies import literature, sweeps
from pages.published import printed
from pages.shared import curves, measures, state, widgets
from pages.shared.figures import show_figure
from pages.shared.text import count

#: Where the benchmarks store what they find.
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


_COMMAND = "python benchmarks/adult.py"

_AGAINST = {
    "k": "Against k",
    "records": "Against the number of records",
    "class_penalty": "What the class penalty does",
}

# Cells with at most this gap, in percent, are counted as close to the optimum.
_CLOSE = 2


def stored_table(name: str) -> pd.DataFrame:
    """Return a stored table; an empty one where there is none."""
    path = RESULTS / name
    return _read(str(path), path.stat().st_mtime) if path.is_file() else pd.DataFrame()


@st.cache_data(show_spinner=False)
def _read(path: str, stamp: float) -> pd.DataFrame:
    return pd.read_csv(path)


def show() -> None:
    """Draw the stored results."""
    st.markdown(
        "The comparison of Byun, Kamra, Bertino & Li 2007 on all 30,162 complete records of Adult, run beforehand: their "
        "Figures 6 to 11, with the taxonomies of this project, which are not those of the paper."
    )
    stored = stored_table("adult.csv")
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
        if choices.published.against != "class_penalty":
            labels = {name: measure.label for name, measure in measures.CATEGORIES.items()}
            shown = widgets.pick_measure(labels, "w_stored_measure")
    part = stored[stored["experiment"] == choices.published.against]
    if part.empty:
        st.info("The stored results have no such comparison: the command below adds it.")
    elif choices.published.against == "class_penalty":
        _stored_tradeoff(part)
    else:
        _stored_curves(_with_variants(part), shown)
    st.caption(f"{count(len(stored), 'run')}, one after the other. This command makes them again:")
    st.code(_COMMAND, language="bash")
    st.download_button(
        "Download the stored results (CSV)",
        (RESULTS / "adult.csv").read_bytes,
        file_name="adult.csv",
        mime="text/csv",
        on_click="ignore",
    )


def _stored_curves(rows: pd.DataFrame, measure: str) -> None:
    choices = state.current()
    against = choices.published.against
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
    stored = stored_table("adult_floor.csv").to_dict("records")
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


def section() -> None:
    """Draw the comparison from the stored results."""
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
        printed.against_lowest(table),
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
        "local_search": number("Local search", format=loss),
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
    st.dataframe(
        table.assign(data=[datasets.describe(name).title for name in table["data"]])[list(names)],
        hide_index=True,
        width="stretch",
        height="content",
        column_config=names,
    )
    st.caption(
        "Information losses in percent, on z-scores. Measured by benchmarks/quality.py on "
        f"{table['date'].max()} with {int(table['cores'].max())} cores, search and floor at the same time, each telling "
        "the other what it finds."
    )
