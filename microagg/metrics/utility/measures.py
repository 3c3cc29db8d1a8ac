"""Descriptions of the measures of utility, from ``measures.csv``."""

from __future__ import annotations

from pathlib import Path

from microagg.metrics.risk.measures import read_measures

#: The description of each measure of utility, by its key.
MEASURES = read_measures(Path(__file__).with_suffix(".csv"))
