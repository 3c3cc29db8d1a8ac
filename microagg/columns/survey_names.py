"""Names that large surveys give to their columns, from their codebooks: ``survey_names.csv``, which anybody can extend.

A name that other files have too counts only in a file with a distinctive name of the same survey.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_name("survey_names.csv")

#: Roles in the file besides those of a schema, with the latter: both need a word on the design of the sample.
PSU, REPLICATE_WEIGHTS = "psu", "replicate_weights"


@dataclass(frozen=True)
class KnownName:
    """A row of the file."""

    #: Folded; ``#`` stands for any digits, ``?`` for one letter.
    name: str
    survey: str
    role: str  # of a schema, :data:`PSU` or :data:`REPLICATE_WEIGHTS`
    kind: str  # one of :data:`microagg.columns.records.KINDS`, empty for identifiers and weights
    meaning: str
    alone: str  # "yes" if hardly any other file has this name, otherwise "no"
    source: str  # title and host of the codebook

    @property
    def is_distinctive(self) -> bool:
        """Whether hardly any other file has this name."""
        return self.alone == "yes"

    @property
    def sentence(self) -> str:
        """What the column is, for reasons."""
        return f"the name is that of {self.survey} for: {self.meaning}"


@cache
def survey_names() -> tuple[KnownName, ...]:
    """The rows of the file, in its order."""
    with PATH.open(encoding="utf-8", newline="") as file:
        return tuple(KnownName(**row) for row in csv.DictReader(file))


def known_names(columns: Iterable[Hashable]) -> dict[Hashable, KnownName]:
    """Columns of one file whose names a survey has, with the row of each: of a survey that the file seems to be of."""
    rows_by_column = {column: rows for column in columns if (rows := _rows_of(str(column).lower()))}
    surveys = {row.survey for rows in rows_by_column.values() for row in rows if row.is_distinctive}
    chosen = {
        column: next((row for row in rows if row.is_distinctive or row.survey in surveys), None)
        for column, rows in rows_by_column.items()
    }
    return {column: row for column, row in chosen.items() if row is not None}


def _rows_of(name: str) -> tuple[KnownName, ...]:
    exact, patterns = _index()
    if name in exact:
        return exact[name]
    return tuple(row for pattern, row in patterns if pattern.fullmatch(name))


@cache
def _index() -> tuple[dict[str, tuple[KnownName, ...]], tuple[tuple[re.Pattern[str], KnownName], ...]]:
    """Rows by name, and those whose name is a pattern with it."""
    exact: dict[str, tuple[KnownName, ...]] = {}
    patterns = []
    for row in survey_names():
        if {"#", "?"} & set(row.name):
            expression = re.escape(row.name).replace(r"\#", r"\d+").replace(r"\?", "[a-z]")
            patterns.append((re.compile(expression), row))
        else:
            exact[row.name] = (*exact.get(row.name, ()), row)
    return exact, tuple(patterns)
