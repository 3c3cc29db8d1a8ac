"""The descriptions of the measures of utility, which ``measures.csv`` holds."""

from __future__ import annotations

from pathlib import Path

from microagg.metrics.risk.measures import measures_of

#: The description of each measure of utility, by its key.
MEASURES = measures_of(Path(__file__).with_suffix(".csv"))
