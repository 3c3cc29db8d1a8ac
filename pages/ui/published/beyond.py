"""Beyond the papers: the losses that our search reaches, and the proven floors, against the lowest printed figures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from microagg import datasets
from pages.ui.charts import published
from pages.ui.charts.layout import show_figure

# Cells with at most this gap, in percent, are counted as close to the optimum.
_CLOSE = 2

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "quality.csv"


def section() -> None:
    """Draw the comparison from the stored results."""
    table = _stored(RESULTS.stat().st_mtime) if RESULTS.is_file() else pd.DataFrame()
    if table.empty:
        st.info("There are no stored results in this installation: benchmarks/quality.py makes them.")
        return
    below = int((table["search_60"] < table["printed"]).sum())
    saved = 100 * (1 - table["search_60"] / table["printed"])
    st.markdown(
        f"The papers compare methods with each other; these figures compare them with what is possible. In {below} of "
        f"{len(table)} cells a search of one minute loses less than **every** standardized figure that the papers "
        f"print, by {saved.min():.1f} to {saved.max():.1f} %. The floor is proven: no partition, by whatever method, "
        "loses less. You can run the same search on your own data, on the page Choose k."
    )
    close = int((table["gap"] <= _CLOSE).sum())
    show_figure(
        published.against_lowest(table),
        title=f"In {close} of {len(table)} cells the loss found is proven to be at most {_CLOSE} % above the optimum",
        key="beyond",
        alt="For each data set and k: the loss found in a minute and the proven floor, in percent of the lowest printed "
        "figure. The table below has the numbers.",
    )
    shown = table.assign(data=[datasets.describe(name).title for name in table["data"]])
    shown = shown[
        ["data", "k", "printed", "printed_by", "local_search", "search_1", "search_10", "search_60", "floor", "gap"]
    ]
    loss = st.column_config.NumberColumn(format="%.4f")
    st.dataframe(
        shown.rename(
            columns={
                "data": "Data set",
                "printed": "Lowest printed",
                "printed_by": "by",
                "local_search": "Local search",
                "search_1": "Search 1 s",
                "search_10": "10 s",
                "search_60": "60 s",
                "floor": "Proven floor",
                "gap": "Gap (%)",
            }
        ),
        hide_index=True,
        width="stretch",
        height=35 * (len(table) + 1) + 3,
        column_config={
            **dict.fromkeys(("Lowest printed", "Local search", "Search 1 s", "10 s", "60 s", "Proven floor"), loss),
            "Gap (%)": st.column_config.NumberColumn(
                format="%.2f", help="100 · (IL after 60 s − floor) / floor: how far above the optimum it is at most."
            ),
        },
    )
    st.caption(
        "Information losses in percent, on z-scores. Measured by benchmarks/quality.py on "
        f"{table['date'].max()} with {int(table['cores'].max())} cores"
        f"{', search and floor at the same time' if table['together'].any() else ''}; the time of the start counts."
    )


@st.cache_data(show_spinner=False)
def _stored(stamp: float) -> pd.DataFrame:
    return pd.read_csv(RESULTS)
