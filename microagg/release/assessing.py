"""Measuring the disclosure risk and the utility of a release."""

from __future__ import annotations

from collections.abc import Hashable

from microagg.errors import DataError, ParameterError
from microagg.progress import checkpoint
from microagg.release.assessment import Assessment
from microagg.release.before_after import Beside
from microagg.release.released import Released
from microagg.release.risks import MOST_COLUMNS, outliers, risks
from microagg.release.source import Source
from microagg.release.utilities import attributes, utilities
from microagg.validation import is_real, quoted


def assess(
    release: Released,
    source: Source,
    *,
    target: Hashable | None = None,
    sampling_fraction: float | None = None,
) -> Assessment:
    """Return the risk and the utility of ``release``, made of ``source``; see :meth:`microagg.Release.assess`."""
    if sampling_fraction is not None and not (is_real(sampling_fraction) and 0.0 < sampling_fraction <= 1.0):
        raise ParameterError(f"sampling_fraction must be above 0 and at most 1, not {sampling_fraction!r}.")
    if target is not None and target not in list(release.to_pandas().columns):
        raise DataError(
            f"there is no column {target!r} in the release to be predicted: its columns are "
            f"{quoted(list(release.to_pandas().columns))}."
        )
    beside = Beside.of(source, release.to_pandas(), release.partition.labels, release.report, release.recipe["shuffle"])
    notes = list(beside.notes)
    if len(source.schema.confidential) > MOST_COLUMNS:
        notes.append(
            f"Of {len(source.schema.confidential):,} confidential columns the first {MOST_COLUMNS} were looked into."
        )
    figures = (*risks(beside, sampling_fraction), *utilities(beside, target, notes))
    checkpoint("Comparing attribute by attribute", 0.9)
    listed, without = outliers(beside)
    return Assessment(figures, attributes(beside), listed, without, beside.n, tuple(notes))
