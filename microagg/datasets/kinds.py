"""The kinds of the data sets' quasi-identifiers: numbers, but for Adult, which has an order and taxonomies too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from microagg.schema import Schema

_TAXONOMIES = Path(__file__).resolve().parents[2] / "sample_data" / "taxonomies"


def schema(name: str, frame: pd.DataFrame, quasi_identifiers: Sequence[str]) -> Schema:
    """Return the roles and kinds of the columns of the data set ``name``; see :attr:`Dataset.schema`."""
    if name != "adult":
        return Schema(tuple(quasi_identifiers))
    education = frame[["education", "education-num"]].drop_duplicates().sort_values("education-num")["education"]
    nominal = [column for column in quasi_identifiers if column not in {"age", "education"}]
    files = {column: _TAXONOMIES / name / f"{column}.txt" for column in nominal}
    return Schema.infer(
        frame,
        quasi_identifiers,
        classes="income",
        # Without a checkout around it, the package has no taxonomies: then categories stand side by side.
        taxonomies={column: file if file.is_file() else None for column, file in files.items()},
        ordinal={"education": education.tolist()},
    )
