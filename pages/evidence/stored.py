"""The tables that the benchmarks store beside the code."""

from pathlib import Path

import pandas as pd
import streamlit as st

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def table(name: str) -> pd.DataFrame:
    """Rows of a stored CSV file; empty if this installation does not have it."""
    path = RESULTS / name
    return _read(str(path), path.stat().st_mtime) if path.is_file() else pd.DataFrame()


@st.cache_data(show_spinner=False)
def _read(path: str, stamp: float) -> pd.DataFrame:
    return pd.read_csv(path)
