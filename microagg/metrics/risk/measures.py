"""The descriptions of the measures of risk, which ``measures.csv`` holds: title, meaning, unit, formula and source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Measure:
    """The description of a measure of risk or utility, as it is shown beside each of its figures."""

    key: str  # the name of the function that computes it, or of the field of its result
    title: str  # at most five words
    meaning: str  # one sentence for somebody who has never heard of it
    better: Literal["low", "high"]  # which direction is good
    bounds: tuple[float, float]  # the lowest and the highest value that it can have; infinity where there is none
    # A share is from 0 to 1 and is shown in percent, "percent" counts these already, and "sd" counts standard
    # deviations of the original.
    unit: Literal["share", "percent", "sd", "records", "nats", "number"]
    formula: str  # as plain text
    source: str  # the paper or manual, and where in it


def measures_of(path: Path) -> dict[str, Measure]:
    """Return the measures that a table describes, by their keys, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row["bounds"] = float(row.pop("lowest")), float(row.pop("highest"))
    return {row["key"]: Measure(**row) for row in rows}


#: The description of each measure of risk, by its key.
MEASURES = measures_of(Path(__file__).with_suffix(".csv"))
