"""Descriptions of the measures of risk, from ``measures.csv``: title, meaning, unit, formula and source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Measure:
    """The description of a measure of risk or utility, for its figures."""

    key: str  # the name of its function, or of the field of its result
    title: str  # at most five words
    meaning: str  # one sentence for laypeople
    better: Literal["low", "high"]  # which direction is good
    bounds: tuple[float, float]  # the lowest and the highest possible value; infinity if there is none
    # A "share" is from 0 to 1 and displayed in percent, "percent" is in percent, and "sd" in standard
    # deviations of the original.
    unit: Literal["share", "percent", "sd", "records", "nats", "number"]
    formula: str  # as plain text
    source: str  # the paper or manual, with the place in it


def read_measures(path: Path) -> dict[str, Measure]:
    """Read the measures of a table, by key, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row["bounds"] = float(row.pop("lowest")), float(row.pop("highest"))
    return {row["key"]: Measure(**row) for row in rows}


#: The description of each measure of risk, by its key.
MEASURES = read_measures(Path(__file__).with_suffix(".csv"))
