"""The released records beside what they were: the same records in the same order, as frames and as numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from microagg.errors import DataError
from microagg.metrics.utility.columns import Column, column_of
from microagg.release.report import Report
from microagg.release.source import Source
from microagg.scaling import Scaling
from microagg.schema import Schema
from microagg.validation import FloatArray, IntArray

#: Of more quasi-identifiers only those that lose most are compared.
MOST_COMPARED = 300


@dataclass(frozen=True, eq=False)
class Beside:
    """A release and its originals; made by :meth:`of`.

    Attributes
    ----------
    before, after : DataFrame, shape (n, columns)
        ``before`` with gaps filled; ``after`` without the identifiers.
    schema : Schema
    labels : array of int, shape (n,)
        The groups.
    report : Report
        That of the release.
    columns : tuple of Column
        The quasi-identifiers that can be compared, those that lose most first, as numbers and categories; a released
        range of numbers counts as its middle. Of many only the first.
    notes : tuple of str
        Why others cannot.
    weights : array of float, shape (n,), or None
    """

    before: pd.DataFrame
    after: pd.DataFrame
    schema: Schema
    labels: IntArray
    report: Report
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    weights: FloatArray | None

    @classmethod
    def of(cls, source: Source, after: pd.DataFrame, labels: IntArray, report: Report, shuffle: int | None) -> Self:
        """Return ``after``, released from ``source`` with this ``shuffle``, beside its originals."""
        before, columns, notes = source.originals(shuffle), [], []
        lost = report.lost
        names = sorted(source.schema.quasi_identifiers, key=lost.__getitem__, reverse=True)
        if len(names) > MOST_COMPARED:
            notes.append(
                f"Of {len(names):,} quasi-identifiers the {MOST_COMPARED} that lose most were compared one by one, and "
                "records looked for by these."
            )
        for name in names[:MOST_COMPARED]:
            try:
                columns.append(column_of(before[name], after[name]))
            except DataError as error:
                notes.append(f"Not compared as numbers: {error}")
        order = source.order(shuffle)
        weights = source.weights if source.weights is None or order is None else source.weights[order]
        return cls(before, after, source.schema, labels, report, tuple(columns), tuple(notes), weights)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.after)

    @cached_property
    def numbers(self) -> tuple[Column, ...]:
        """Those of ``columns`` that are numbers and vary in the originals."""
        return tuple(own for own in self.columns if own.numeric and own.before.min() < own.before.max())

    @cached_property
    def pair(self) -> tuple[FloatArray, FloatArray]:
        """The numbers before and after, each of shape (n, d), on the scale of the release."""
        X = np.column_stack([own.before for own in self.numbers])
        scaling = Scaling.fit(X, self.report.scale, [own.name for own in self.numbers])
        return scaling.transform(X), scaling.transform(np.column_stack([own.after for own in self.numbers]))

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the numbers."""
        return tuple(own.name for own in self.numbers)
