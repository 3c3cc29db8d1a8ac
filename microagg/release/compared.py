"""What methods are compared on before a release: all records that will be released, or a sample of a large file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from microagg.columns.records import Records
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.optimum.problem import Problem
from microagg.release.source import Source, stratum_codes
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray

#: Of a file with categories and more than MOST_RECORDS records to be released, SAMPLE are compared unless another
#: number is asked for: methods for categories compare every record with every other.
MOST_RECORDS, SAMPLE = 50_000, 10_000

#: Likewise of one whose records have more than MOST_VALUES quasi-identifying values together, as a wide one has; those
#: that are compared have SAMPLED_VALUES at most, but are LEAST_SAMPLE at least.
MOST_VALUES, SAMPLED_VALUES, LEAST_SAMPLE = 5_000_000, 1_000_000, 500


@dataclass(frozen=True, eq=False)
class Compared:
    """What methods are compared on; made by :meth:`of`."""

    source: Source  # all records of the file, as the release has them
    rows: IntArray  # which of the records to be released are compared, ascending, shape (n,)
    records: Records  # their quasi-identifiers
    X: FloatArray | None  # these scaled, if all are numbers or dates, shape (n, d); read-only
    classes: IntArray | None  # shape (n,)
    strata: IntArray | None  # shape (n,)
    problem: Problem  # what methods partition, and what is measured on the partitions
    digest: str  # two with the same one have the same results

    @classmethod
    def of(cls, source: Source, scale: str, sample: int | None = None, seed: int = 0) -> Self:
        """Return what is compared of ``source``, with ``seed`` for drawing the records.

        ``scale``, one of :data:`microagg.columns.scaling.SCALES`, counts where all quasi-identifiers are numbers or
        dates. ``sample`` says how many records are drawn, without replacement; 0, or more than there are, takes all. By
        default it is all, but :data:`SAMPLE` where there are categories and more than :data:`MOST_RECORDS` records, and
        fewer where these, or all, have very many values (:data:`MOST_VALUES`).

        Raises
        ------
        DataError
            If no record has all quasi-identifiers, or a column holds what it must not, such as a record without class.
        ParameterError
            If there is no such scale.
        """
        n, numeric = len(source.records), source.schema.is_numeric
        if not n:
            raise DataError("every record lacks a quasi-identifier: choose another treatment of the gaps.")
        if sample is None:
            large = not numeric and (n > MOST_RECORDS or n * source.records.d > MOST_VALUES)
            sample = min(SAMPLE, max(LEAST_SAMPLE, SAMPLED_VALUES // source.records.d)) if large else 0
        rows = np.sort(np.random.default_rng(seed).choice(n, sample, replace=False)) if 0 < sample < n else np.arange(n)
        records = source.records if len(rows) == n else source.records.take(rows)
        classes = None if source.classes is None else source.classes[rows]
        codes = stratum_codes(source.strata, n)[rows] if source.schema.strata else None
        X = None
        if numeric:
            X = np.ascontiguousarray(source.numbers(scale).Z[rows])
            X.setflags(write=False)
        problem = Problem.of(records, classes, strata=codes) if X is None else Problem.of(X, strata=codes)
        parts = [
            digest_array(part) for part in (records.values if X is None else X, classes, codes) if part is not None
        ]
        digest = digest_bytes("/".join([*parts, repr(records.attributes) if X is None else ""]).encode())
        return cls(source, rows, records, X, classes, codes, problem, digest)

    @property
    def schema(self) -> Schema:
        """The roles and kinds of the columns."""
        return self.source.schema

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The records compared, with all columns."""
        return self.source.frame.iloc[np.flatnonzero(self.source.kept)[self.rows]]

    @property
    def data(self) -> Any:
        """What algorithms get: the scaled numbers, or records."""
        return self.records if self.X is None else self.X

    @property
    def is_numeric(self) -> bool:
        """Whether all quasi-identifiers are numbers or dates, so that the loss is the SSE."""
        return self.X is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers, as text."""
        return tuple(str(name) for name in self.schema.quasi_identifiers)

    @property
    def n(self) -> int:
        """The number of records compared."""
        return len(self.rows)

    @property
    def d(self) -> int:
        """The number of quasi-identifiers."""
        return self.records.d

    @property
    def is_wide(self) -> bool:
        """Whether so many values of each record are compared that methods for categories take long on few of them."""
        return not self.is_numeric and self.n_complete <= MOST_RECORDS and self.n_complete * self.d > MOST_VALUES

    @property
    def n_complete(self) -> int:
        """The number of records that will be released."""
        return len(self.source.records)

    @property
    def is_sample(self) -> bool:
        """Whether not all of these are compared."""
        return self.n < self.n_complete
