"""The released records beside what they were: the same records in the same order, as frames and as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from microagg.columns.scaling import Scaling
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.metrics.risk import MEASURES, Intervals, Known, Linkage, interval_disclosure, record_linkage
from microagg.metrics.utility import Distances, IL1s, Moments, hellinger, il1s, moments, wasserstein
from microagg.metrics.utility.columns import Column, column_of
from microagg.optimum.formatting import share
from microagg.release.assessment import Figure, in_quotes
from microagg.release.report.report import Report
from microagg.release.source import Source
from microagg.validation import FloatArray, IntArray

#: Of more quasi-identifiers only those that lose most are compared.
MOST_COMPARED = 300

#: Of more records so many are looked up among all released ones; which, is drawn at random.
LOOKED_UP = 20_000

#: How far the interval of interval disclosure reaches on each side, in standard deviations of the original.
WIDTH = 0.05


@dataclass(frozen=True, eq=False)
class Beside:
    """A release and its originals; made by :meth:`of`.

    What several figures need is computed when it is first asked for, and kept.

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
        X, released = self.in_own_units
        scaling = Scaling.fit(X, self.report.scale, list(self.names))
        return scaling.transform(X), scaling.transform(released)

    @cached_property
    def linked_by(self) -> tuple[Hashable, ...]:
        """The quasi-identifiers by which records are looked for; of very many only those that lose most."""
        lost = self.report.lost
        return tuple(sorted(self.schema.quasi_identifiers, key=lost.__getitem__, reverse=True)[:MOST_COMPARED])

    @cached_property
    def known(self) -> Known:
        """What an intruder knows of the records beside what is released of them: the values of ``linked_by``."""
        attributes = {own.name: own for own in self.schema.attributes}
        return Known.of(self.before, self.after, [attributes[name] for name in self.linked_by], self.schema.strata)

    @cached_property
    def linkage(self) -> Linkage:
        """The records linked by distance with all that is known of them, of at most :data:`LOOKED_UP` of them."""
        units = [own.unit for own in self.schema.attributes if own.kind == "numeric"]
        numbers = len(units) == len(self.schema.attributes) and "year" not in units and not self.schema.strata
        narrow = self.report.scale == "zscore" and any(str(own).lower() == "float32" for own in self.before.dtypes)
        if numbers and self.numbers and self.report.statistic != "generalize" and not narrow:
            return record_linkage(*self.pair, sample=self.looked_up)
        return self.known.linkage(sample=self.looked_up)

    @property
    def looked_up(self) -> int | None:
        """How many records are looked up in the release; None for all."""
        return LOOKED_UP if self.n > LOOKED_UP else None

    @cached_property
    def intervals(self) -> Intervals:
        """How many numbers are released within :data:`WIDTH` standard deviations of the original."""
        return interval_disclosure(*self.pair, WIDTH, by="sd")

    @cached_property
    def in_own_units(self) -> tuple[FloatArray, FloatArray]:
        """The numbers before and after, each of shape (n, d), in their own units."""
        before, after = ([getattr(own, side) for own in self.numbers] for side in ("before", "after"))
        return np.column_stack(before), np.column_stack(after)

    @cached_property
    def deviations(self) -> IL1s:
        """How far numbers are released from the original."""
        return il1s(*self.in_own_units)

    @cached_property
    def moments(self) -> Moments:
        """What of means, variances, quantiles and correlations has changed."""
        return moments(*self.in_own_units, self.weights)

    @property
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The columns compared, before and after."""
        names = [own.name for own in self.columns]
        return self.before[names], self.after[names]

    @cached_property
    def distances(self) -> dict[str, Distances]:
        """How far distributions are from the original ones, by the measure's key; empty if no column is compared."""
        if not self.columns:
            return {}
        return {"hellinger": hellinger(*self.frames), "wasserstein": wasserstein(*self.frames)}

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the numbers."""
        return tuple(own.name for own in self.numbers)


def linked_by_one(known: Known, by_all: Linkage, sample: int | None) -> Iterator[Figure]:
    """Yield the attribute by which alone most records are found, if these are more than ``by_all`` attributes find."""
    if len(known.names) < 2:
        return
    name, found = known.linkage_by_one(sample=sample)
    if found.share > by_all.share:
        yield Figure(
            "risk",
            MEASURES["record_linkage"],
            found.share,
            f"Who goes by {in_quotes(name)} alone finds more: {share(found.share)} of the records.",
            attribute=name,
            n=None if found.n == known.n else found.n,
        )
