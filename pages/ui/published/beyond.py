"""Beyond the papers: the losses that our search reaches, and the proven floors, against the lowest printed figures."""

from __future__ import annotations

from typing import Any

import streamlit as st

from microagg import datasets, literature
from pages.ui.charts import published
from pages.ui.charts.layout import show_figure
from pages.ui.published import store

# Cells with at most this gap, in percent, are counted as close to the optimum.
_CLOSE = 2


def section() -> None:
    """Draw the comparison from the stored results."""
    table = store.table("quality.csv")
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
        published.against_lowest(table),
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
