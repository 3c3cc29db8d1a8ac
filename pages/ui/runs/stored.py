"""Results that came with the package: what is known of the benchmarks before anything has been computed here."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from microagg import landscape
from microagg.experiment import Method
from pages.ui import state
from pages.ui.data.workspace import Workspace

# Nothing larger is stored, and to recognize data takes a look at all of them.
_MOST_RECORDS = 10_000


@st.cache_resource(max_entries=64, show_spinner=False)
def _recognized(digest: str, scale: str, _workspace: Workspace) -> tuple[str, int] | None:
    return landscape.recognize(_workspace.records.values, scale)


def rows(workspace: Workspace, method: Method, ks: Sequence[int]) -> pd.DataFrame:
    """Return the stored results of a method on these data at some of ``ks``, as :meth:`.Results.table` has its own."""
    if not workspace.is_numeric or workspace.strata is not None or workspace.n > _MOST_RECORDS:
        return pd.DataFrame()
    known = _recognized(workspace.digest, state.current().scale, workspace)
    return landscape.stored(*known, method, ks) if known else pd.DataFrame()
