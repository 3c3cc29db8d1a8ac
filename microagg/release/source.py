"""The source of releases: all that follows from a file and the roles of its columns, whatever the method and k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.records import Filled, Filling, Records
from microagg.columns.scaling import Scaling
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.metrics.risk.equivalence_classes import combined, distinguished
from microagg.partition import Partition
from microagg.tables import digest_array, digest_bytes
from microagg.validation import (
    FloatArray,
    IntArray,
    check_finite,
    check_present,
    check_weights,
    counted,
    numeric_matrix,
    plain,
    quoted,
)

if TYPE_CHECKING:
    from microagg.optimum.problem import Problem


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numeric quasi-identifiers of the records to be released, as they are (X) and scaled (Z).

    Both have shape (n, len(columns)); ``columns`` are their positions among all. Dates are in days since 1970-01-01;
    ``units`` has what these are released by, empty for others. The scale is set without the ``weights``, shape (n,).
    """

    columns: list[int]
    names: list[Any]
    units: list[str]
    X: FloatArray
    Z: FloatArray
    scaling: Scaling
    weights: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """A file with the roles of its columns and its missing values treated; made by :meth:`of`."""

    table: pd.DataFrame  # the file as it is
    declared: Schema  # without the categories that missing values become
    missing: str | dict[Any, str]  # one of microagg.columns.records.GAPS, or one for each of some quasi-identifiers
    frame: pd.DataFrame  # all records, the quasi-identifiers read and filled, other columns as they are
    retained: NDArray[np.bool_]  # which records are released, shape (n,)
    filled: tuple[Filled, ...]  # the missing values that were filled, in the order of the quasi-identifiers
    schema: Schema  # with the categories that missing values become
    constant: tuple[Any, ...]  # the quasi-identifiers that hold one value only in the released records

    @classmethod
    def of(cls, frame: pd.DataFrame, schema: Schema, missing: str | Mapping[Any, str] = "error") -> Self:
        """Return the source of releases of ``frame``, which has unique column names; raises as `Schema.fill`."""
        filling = schema.fill(frame, missing)
        values = filling.values if filling.retained.all() else filling.values[filling.retained]
        is_constant = (values == values[:1]).all(axis=0)
        source = cls(
            table=frame,
            declared=schema,
            missing=dict(missing) if isinstance(missing, Mapping) else missing,
            frame=filling.frame,
            retained=filling.retained,
            filled=filling.filled,
            schema=replace(schema, taxonomies=filling.taxonomies),
            constant=tuple(schema.quasi_identifiers[j] for j in np.flatnonzero(is_constant)),
        )
        source.__dict__["_filling"] = filling
        return source

    @classmethod
    def of_options(cls, frame: pd.DataFrame, options: Mapping[str, Any]) -> Self:
        """Return the source of releases of ``frame`` by the options of a release on columns and missing values."""
        return cls.of(frame, Schema.of_options(frame, options), options.get("missing", "error"))

    @cached_property
    def _filling(self) -> Filling:
        return self.declared.fill(self.table, self.missing)

    @property
    def encoded(self) -> FloatArray:
        """The quasi-identifiers of all records, not filled, shape (n, d); NaN where missing."""
        return self._filling.encoded

    @cached_property
    def records(self) -> Records:
        """The quasi-identifiers of the released records."""
        values = self._filling.values[self.retained] if self.n_dropped else self._filling.values
        return Records(self.schema.attributes, values)

    def forget_records(self) -> None:
        """Free the memory of :attr:`encoded` and :attr:`records`, which are encoded anew when they are needed."""
        self.__dict__.pop("_filling", None)
        self.__dict__.pop("records", None)

    @cached_property
    def n_released(self) -> int:
        """The number of records that are released."""
        return int(np.count_nonzero(self.retained))

    @cached_property
    def n_dropped(self) -> int:
        """The number of records that are not released."""
        return len(self.retained) - self.n_released

    def named_strata(self, rows: IntArray | None = None) -> list[tuple[IntArray, str]]:
        """Places of each stratum, or of the file, among released ``rows`` (by default all), and its name."""
        rows = np.arange(self.n_released) if rows is None else rows
        if not self.schema.strata:
            return [(np.arange(len(rows)), "the file")]
        codes = stratum_codes(self.strata, self.n_released)[rows]
        named = [(np.flatnonzero(codes == code), part) for code, part in enumerate(self.strata)]
        return [(at, f"stratum {stratum_name(self.schema.strata, part.values)}") for at, part in named if len(at)]

    @cached_property
    def strata(self) -> list[Part]:
        """The strata of the released records; all of them where there are no strata."""
        return strata_of(self.table, self.schema.strata, self.retained)

    @cached_property
    def classes(self) -> IntArray | None:
        """The classes of the released records, numbered from 0; None without classes."""
        return self.schema.class_codes(self.table, self.retained)

    @cached_property
    def weights(self) -> FloatArray | None:
        """The weights of the released records, shape (n,); None without weights."""
        name: Any = self.schema.weights
        if name is None:
            return None
        check_present(self.frame[name], self.retained, "no weight")
        weights = numeric_matrix(self.frame, [name], "weights")
        # Ones in place of what is left out, not a shorter column: a message must number the records as the caller does.
        weights[~self.retained] = 1.0
        check_finite(weights, [name])
        check_weights(weights[:, 0], name)
        return weights[self.retained, 0]

    @property
    def constant_note(self) -> str:
        """A sentence on the :attr:`constant` quasi-identifiers."""
        return f"quasi-identifiers with one value only have no part in distances: {quoted(self.constant)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on constant columns, records that are left out, and missing values that are filled."""
        notes = [self.constant_note] if self.constant else []
        if self.n_dropped:
            lost, n = counted(self.n_dropped, "record"), len(self.table)
            notes.append(f"{lost} of {n:,} ({100 * self.n_dropped / n:.3g} %) with missing values will be left out.")
        return (*notes, *map(str, self.filled))

    def rows(self, order: IntArray | None = None) -> IntArray:
        """Return the positions of the released records in the file, in its order or in another ``order`` of them."""
        rows = np.flatnonzero(self.retained)
        return rows if order is None else rows[order]

    def originals(self, order: IntArray | None = None) -> pd.DataFrame:
        """Return the released records as they were, gaps filled, in the order of the file or in another ``order``."""
        return self.frame.iloc[self.rows(order)] if order is not None or self.n_dropped else self.frame

    def numbers(self, scale: str) -> Numbers:
        """All numeric quasi-identifiers, dates among them, on one of :data:`microagg.columns.scaling.SCALES`."""
        attributes = self.records.attributes
        columns = [j for j, attribute in enumerate(attributes) if attribute.kind == "numeric"]
        names, units = [attributes[j].name for j in columns], [attributes[j].unit for j in columns]
        X = np.ascontiguousarray(self.records.values[:, columns])
        scaling = Scaling.fit(X, scale, names)
        return Numbers(columns, names, units, X, scaling.transform(X), scaling, self.weights)


class Part(NamedTuple):
    """One stratum: its records' positions among the released ones, ascending, and its value of each strata column."""

    rows: IntArray
    values: tuple[Any, ...]


def strata_of(frame: pd.DataFrame, columns: Sequence[Any], released: NDArray[np.bool_]) -> list[Part]:
    """Strata of the records of ``frame`` that are ``released``, in order of first appearance; all records without any.

    Values that a file writes differently, such as 1 and True, are of different strata, as they are released unchanged.
    """
    positions = np.flatnonzero(released)
    if not columns:
        return [Part(np.arange(len(positions)), ())]
    for column in columns:
        check_present(frame[column], released, "no value", ", so it belongs to no stratum")
    kept_frame = frame.iloc[positions]
    try:
        codes = value_codes(kept_frame, columns)
    except TypeError:
        raise DataError(
            f"the strata columns {quoted(columns)} hold values that cannot be told apart (such as lists): "
            "turn them into text or numbers first."
        ) from None
    # One value at a time and not a row, in which integers beside floats would become floats.
    groups = Partition(codes, 1).groups()
    return [Part(rows, tuple(kept_frame[column].iat[int(rows[0])] for column in columns)) for rows in groups]


def value_codes(frame: pd.DataFrame, columns: Sequence[Any]) -> IntArray:
    """Number the records by their values of ``columns``; TypeError if these have no hash, as lists have none."""
    return combined(*(pd.factorize(distinguished(frame[name]))[0] for name in columns))


def stratum_codes(parts: Sequence[Part], n: int) -> IntArray:
    """Return the number of each record's stratum, shape (n,)."""
    codes = np.empty(n, dtype=np.int64)
    for code, part in enumerate(parts):
        codes[part.rows] = code
    return codes


def stratum_name(columns: Sequence[Any], values: Sequence[Any]) -> str:
    """Return what messages call the stratum that has ``values`` in ``columns``."""
    return ", ".join(f"{column!s}={plain(value)!r}" for column, value in zip(columns, values, strict=True))


def check_given(labels: IntArray, k: int, parts: Sequence[Part], columns: Sequence[Any], aside: str = "") -> None:
    """Raise :class:`DataError` unless ``labels`` are those of groups of at least ``k`` within the strata ``parts``.

    ``columns`` are those of the strata; messages say ``aside`` after the number of records.
    """
    n = sum(len(part.rows) for part in parts)
    if len(labels) != n:
        raise DataError(
            f"there are labels for {counted(len(labels), 'record')}, but {n:,} are released{aside}: give one for each "
            "of these, in the order of the file."
        )
    groups, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < k:
        small = int(sizes.argmin())
        raise DataError(
            f"the group with the label {groups[small]} has {counted(int(sizes[small]), 'record')}, fewer than k={k}: "
            "give labels of larger groups, or choose a lower k."
        )
    first: dict[int, Part] = {}
    for part in parts:
        for group in np.unique(labels[part.rows]).tolist():
            if group in first:
                one, other = (stratum_name(columns, stratum.values) for stratum in (first[group], part))
                raise DataError(
                    f"the group with the label {group} has records of the strata {one} and {other}: "
                    "give labels of groups that stay within one stratum."
                )
            first[group] = part


# What methods are compared on before a release: all records that will be released, or a sample of a large file.

#: Of a file with categories and more than MOST_RECORDS records to be released, SAMPLE are compared by default: methods
#: for categories compare every record with every other.
MOST_RECORDS, SAMPLE = 50_000, 10_000

#: Likewise if the records have more than MOST_VALUES values together: SAMPLED_VALUES at most, LEAST_SAMPLE at least.
MOST_VALUES, SAMPLED_VALUES, LEAST_SAMPLE = 5_000_000, 1_000_000, 500


@dataclass(frozen=True, eq=False)
class Compared:
    """What methods are compared on; made by :meth:`of`."""

    source: Source  # all records of the file, as the release has them
    scale: str  # one of microagg.columns.scaling.SCALES; it counts where all quasi-identifiers are numbers or dates
    rows: IntArray  # which of the records to be released are compared, ascending, shape (n,)
    records: Records  # their quasi-identifiers
    X: FloatArray | None  # these scaled, if all are numbers or dates, shape (n, d); read-only
    classes: IntArray | None  # shape (n,)
    strata: IntArray | None  # shape (n,)
    problem: Problem  # what methods partition, and what is measured on the partitions
    digest: str  # two with the same one have the same results

    @classmethod
    def of(cls, source: Source, scale: str, sample: int | None = None, seed: int = 0, **fields: Any) -> Self:
        """Choose the records of ``source`` to compare methods on; ``fields`` are those of a subclass.

        ``sample`` records are drawn with ``seed``, without replacement; 0, or more than there are, takes all. By
        default it is all, but :data:`SAMPLE` where there are categories and more than :data:`MOST_RECORDS` records, and
        fewer where these, or all, have very many values (:data:`MOST_VALUES`).
        """
        n, numeric = source.n_released, source.schema.is_numeric
        if not n:
            raise DataError("every record has a missing quasi-identifier: choose another treatment of missing values.")
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
        if len(rows) < n:
            source.forget_records()  # of a large file, whose sample suffices until the release
        from microagg.optimum.problem import Problem  # which needs Numba

        problem = Problem.of(records, classes, strata=codes) if X is None else Problem.of(X, strata=codes)
        arrays = (records.values if X is None else X, classes, codes)
        parts = [digest_array(array) for array in arrays if array is not None]
        digest = digest_bytes("/".join([*parts, repr(records.attributes) if X is None else ""]).encode())
        return cls(source, scale, rows, records, X, classes, codes, problem, digest, **fields)

    @property
    def schema(self) -> Schema:
        """The roles and kinds of the columns."""
        return self.source.schema

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The records compared, with all columns."""
        return self.source.frame.iloc[np.flatnonzero(self.source.retained)[self.rows]]

    @property
    def data(self) -> Any:
        """What algorithms get: the scaled numbers, or records."""
        return self.problem.data

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
        """Whether records have so many values that methods for categories are slow."""
        return not self.is_numeric and self.n_complete <= MOST_RECORDS and self.n_complete * self.d > MOST_VALUES

    @property
    def n_complete(self) -> int:
        """The number of records that will be released."""
        return self.source.n_released

    @property
    def is_sample(self) -> bool:
        """Whether not all of these are compared."""
        return self.n < self.n_complete
