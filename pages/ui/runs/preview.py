"""What a partition of mixed records would release, before the release is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from microagg.experiment import Method, Result
from microagg.metrics.generalization import extents
from microagg.partition import Partition
from microagg.release.recoding import recode
from microagg.release.report import Generalization
from microagg.scaling import Scaling
from pages.ui.data.mixed import Mixed

#: The arguments ``statistic`` and ``categories`` of :func:`microagg.microaggregate` for each statistic of the page.
STATISTICS = {
    "ancestor": ("generalize", "ancestor"),
    "set": ("generalize", "set"),
    "mean": ("mean", "ancestor"),
    "median": ("median", "ancestor"),
}


@dataclass(frozen=True)
class Preview:
    """What a partition of the compared records would release.

    Attributes
    ----------
    released : DataFrame
        What replaces the quasi-identifiers, under the index of the records.
    common : Generalization
        What it loses.
    changed : dict
        The share of the records, in percent, for which each quasi-identifier is not released as it is.
    sse_loss : float or None
        IL = 100 · SSE / SST of the numeric quasi-identifiers, scaled to variance 1; None where values are generalized or
        there are no numbers.
    """

    released: pd.DataFrame
    common: Generalization
    changed: dict[str, float]
    sse_loss: float | None


def preview(workspace: Mixed, result: Result, statistic: str) -> Preview:
    """Return what the partition of ``result`` would release by ``statistic``, a key of :data:`STATISTICS`."""
    return _preview(workspace.digest, result.method, result.k, statistic, workspace, result.partition)


@st.cache_resource(
    scope="session",
    max_entries=12,
    show_spinner=False,
    hash_funcs={Method: lambda method: (method.key, sorted(method.params.items()))},
)
def _preview(digest: str, method: Method, k: int, statistic: str, _workspace: Mixed, _partition: Partition) -> Preview:
    recoding = recode(_workspace.frame, _workspace.records, _partition, *STATISTICS[statistic])
    names = [str(attribute.name) for attribute in _workspace.records.attributes]
    common = Generalization.of(_workspace.records, _partition, _workspace.classes, recoding.values)
    if recoding.values is None:
        wide = extents(_workspace.records, _partition.labels).shares > 0
        moved = wide[_partition.labels]
    else:
        moved = _workspace.records.values != recoding.values
    changed = dict(zip(names, (100 * moved.mean(axis=0)).tolist(), strict=True))
    sse_loss = None
    numeric = [j for j, attribute in enumerate(_workspace.records.attributes) if attribute.kind == "numeric"]
    if recoding.values is not None and numeric:
        raw = np.ascontiguousarray(_workspace.records.values[:, numeric])
        scaling = Scaling.fit(raw, "zscore")
        scaled = scaling.transform(raw)
        lost = np.square(scaled - scaling.transform(np.ascontiguousarray(recoding.values[:, numeric]))).sum()
        spread = np.square(scaled).sum()
        sse_loss = 100 * float(lost / spread) if spread > 0 else 0.0
    return Preview(pd.concat(recoding.columns, axis=1, keys=names), common, changed, sse_loss)
