"""What was compared in this session: a row for each method and k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from microagg.algorithms.method import VARIANTS
from microagg.studies.experiment import Method
from microagg.studies.sweeps import with_worst
from pages.shared import certificate, jobs, methods, state, stored
from pages.shared.workspace import Workspace


def rows(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    """Return the results so far, with the name and title of each variant."""
    parts = []
    for method, name in variants.items():
        part = jobs.results().table(workspace, [(method, k) for k in ks])
        missing = [k for k in ks if part.empty or k not in set(part["k"])]
        known = stored.stored_rows(workspace, method, missing) if missing else pd.DataFrame()
        part = pd.concat(
            [table.assign(stored=at) for table, at in ((part, False), (known, True)) if not table.empty] or [part]
        )
        if not part.empty:
            # A label says which parameters were chosen, but not by what name a setting is known.
            is_setting = VARIANTS[name].fixed or VARIANTS[name].penalty
            parts.append(part.assign(variant=name, title=methods.title(name) if is_setting else method.label))
    return with_worst(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame()


def for_report(workspace: Workspace) -> pd.DataFrame | None:
    """Return what was computed for the methods compared, as :meth:`microagg.Release.to_html` takes it, if anything was.

    The chosen method and k are marked, and each k has the floor of IL or Total-IL that is proven for it.
    """
    variants = methods.sweep_methods(workspace, methods.compared(workspace))
    ks = jobs.results().ks(workspace, list(variants))
    if not ks:
        return None
    table = certificate.with_found(workspace, rows(workspace, variants, ks), ks)
    floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks) if bound.sse > 0}
    chosen = (table["variant"] == methods.chosen(workspace)) & (table["k"] == state.current().k)
    shown = [name for name in ("title", "k", "information_loss", "record_linkage") if name in table]
    return table[shown].assign(floor=table["k"].map(floors).astype(float), n_records=workspace.n, chosen=chosen)
