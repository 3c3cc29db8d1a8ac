"""Results that came with the package: what is known of the benchmarks before anything has been computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.optimum.bounds import Bound
from microagg.studies import landscape
from microagg.studies.experiment import Method
from pages.shared import state
from pages.shared.workspace import Workspace


@st.cache_resource(max_entries=64, show_spinner=False)
def _recognized(digest: str, scale: str, _workspace: Workspace) -> tuple[str, int, float] | None:
    """Return under which name and seed results on these data are stored, and their SST; None if none are."""
    if _workspace.X is None or _workspace.strata is not None:
        return None
    known = landscape.recognize(_workspace.records.values, scale)
    return known and (*known, metrics.sst(_workspace.X))


def stored_rows(workspace: Workspace, method: Method, ks: Sequence[int]) -> pd.DataFrame:
    """Return the stored results of a method on these data at some of ``ks``, as :meth:`.Results.table` has its own."""
    known = _recognized(workspace.digest, state.current().scale, workspace)
    return landscape.stored(*known[:2], method, ks) if known else pd.DataFrame()


def best(workspace: Workspace, ks: Sequence[int]) -> dict[int, float]:
    """Return the lowest stored loss on these data, in percent, at each of ``ks`` where there is one."""
    known = _recognized(workspace.digest, state.current().scale, workspace)
    between = landscape.between(*known[:2], ks) if known else {}
    return {k: loss for k, (loss, _) in between.items() if loss < math.inf}


def floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the stored floors of ``ks`` on these data; empty if there are none."""
    known = _recognized(workspace.digest, state.current().scale, workspace)
    if not known:
        return []
    data, seed, sst = known
    return [Bound(k, least * sst / 100, least, 0.0) for k, (_, least) in landscape.between(data, seed, ks).items()]
