"""Tables of stored results, read once for as long as their file stays as it is."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

#: Where the benchmarks store what they find.
RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"


def table(name: str) -> pd.DataFrame:
    """Return a stored table; an empty one where there is none."""
    path = RESULTS / name
    return _read(str(path), path.stat().st_mtime) if path.is_file() else pd.DataFrame()


@st.cache_data(show_spinner=False)
def _read(path: str, stamp: float) -> pd.DataFrame:
    return pd.read_csv(path)
