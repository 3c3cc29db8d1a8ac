"""What a file is released from: all that follows from its records and roles, whatever the method and k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.gaps import Filled, Filling, fill, treatments
from microagg.columns.records import Records
from microagg.columns.scaling import Scaling
from microagg.columns.schema import Schema
from microagg.release import strata, weights
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, counted, quoted


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numeric quasi-identifiers of the records to be released, as they are (X) and scaled (Z).

    Both have shape (n, len(columns)); ``columns`` are their positions among all quasi-identifiers. Dates are in days
    since 1970-01-01; ``units`` has what these are released by, and is empty text for others. ``weights`` are those of
    the records, shape (n,), or None; the scale is set without them.
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
    """A file with the roles of its columns and the treatment of its gaps; made by :meth:`of`.

    What follows from them is computed when it is first asked for, and kept.

    Attributes
    ----------
    given : DataFrame
        The file as it is.
    declared : Schema
        The schema as it was given; :attr:`schema` has the categories of gaps besides.
    missing : str or dict
        What is done about gaps: one of :data:`microagg.columns.gaps.GAPS`, or a mapping from quasi-identifiers to them.
    """

    given: pd.DataFrame
    declared: Schema
    missing: str | dict[Any, str]
    _numbers: dict[str, Numbers] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, frame: pd.DataFrame, schema: Schema, missing: str | Mapping[Any, str] = "error") -> Self:
        """Return the source of releases of ``frame``.

        Raises
        ------
        DataError
            If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level. What is wrong
            with its values is found when they are first asked for: see :meth:`microagg.Schema.encode` and
            :func:`microagg.columns.gaps.fill`.
        ParameterError
            If ``missing`` is not as :func:`microagg.columns.gaps.treatments` takes it.
        """
        frame = as_pandas(frame)
        treatments(missing, schema.attributes)
        return cls(frame, schema, dict(missing) if isinstance(missing, Mapping) else missing)

    @cached_property
    def encoded(self) -> FloatArray:
        """The quasi-identifiers of all records as numbers, days, ranks and nodes, shape (n, d); NaN for gaps."""
        return self.declared.encode(self._read)

    @property
    def frame(self) -> pd.DataFrame:
        """All records, the quasi-identifiers read and their gaps filled, other columns as they are."""
        return self._filling.frame

    @cached_property
    def schema(self) -> Schema:
        """The schema, its taxonomies with the category of gaps where these became one."""
        return replace(self.declared, taxonomies=self._filling.taxonomies)

    @property
    def values(self) -> FloatArray:
        """The same as ``encoded`` with the gaps filled; NaN in records that are left out only."""
        return self._filling.values

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which records are released, shape (n,)."""
        return self._filling.kept

    @property
    def filled(self) -> tuple[Filled, ...]:
        """The gaps that were filled, in the order of the quasi-identifiers."""
        return self._filling.filled

    @cached_property
    def n_dropped(self) -> int:
        """The number of records that are not released."""
        return int(np.count_nonzero(~self.kept))

    @cached_property
    def records(self) -> Records:
        """The quasi-identifiers of the released records."""
        return Records(self.schema.attributes, self.values[self.kept])

    @cached_property
    def strata(self) -> list[strata.Part]:
        """The strata of the released records; all of them where there are no strata."""
        return strata.find(self.given, self.declared.strata, self.kept)

    @cached_property
    def classes(self) -> IntArray | None:
        """The classes of the released records, numbered from 0; None without classes."""
        return self.declared.class_codes(self.given, self.kept)

    @cached_property
    def weights(self) -> FloatArray | None:
        """The weights of the released records, shape (n,); None without weights."""
        return weights.find(self.given, self.declared.weights, self.kept)

    @cached_property
    def constant(self) -> tuple[Any, ...]:
        """The quasi-identifiers that hold one value only in the released records."""
        values = self.records.values
        same = values.min(axis=0) == values.max(axis=0)
        return tuple(self.declared.quasi_identifiers[j] for j in np.flatnonzero(same))

    @property
    def constant_note(self) -> str:
        """A sentence on the :attr:`constant` quasi-identifiers; empty where there are none."""
        if not self.constant:
            return ""
        says = "holds one value only: it has" if len(self.constant) == 1 else "hold one value only: they have"
        return (
            f"{'column' if len(self.constant) == 1 else 'columns'} {quoted(self.constant)} {says} no part in distances."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What somebody who works on the data must know: constant columns, records left out, gaps filled; sentences."""
        found = [self.constant_note] if self.constant else []
        if self.n_dropped:
            lost, n = counted(self.n_dropped, "record"), len(self.given)
            found.append(f"{lost} of {n:,} ({100 * self.n_dropped / n:.3g} %) with gaps will be left out.")
        return (*found, *(str(filled) for filled in self.filled))

    def order(self, shuffle: int | None) -> IntArray | None:
        """Return the random order of the released records that a seed stands for, shape (n,); None without a seed."""
        return None if shuffle is None else np.random.default_rng(shuffle).permutation(len(self.records))

    def originals(self, shuffle: int | None = None) -> pd.DataFrame:
        """Return the released records as they were, gaps filled, in the order of a release with this ``shuffle``."""
        rows, order = np.flatnonzero(self.kept), self.order(shuffle)
        return self.frame.iloc[rows if order is None else rows[order]]

    def numbers(self, scale: str) -> Numbers:
        """Return all numeric quasi-identifiers, dates among them, on one of :data:`microagg.columns.scaling.SCALES`.

        Raises
        ------
        ParameterError
            If there is no such scale.
        DataError
            If there are no records, or a column has a range too small to be squared.
        """
        if scale not in self._numbers:
            numeric = [(j, a) for j, a in enumerate(self.records.attributes) if a.kind == "numeric"]
            columns = [j for j, _ in numeric]
            names: list[Any] = [attribute.name for _, attribute in numeric]
            X = np.ascontiguousarray(self.records.values[:, columns])
            scaling = Scaling.fit(X, scale, names)
            units = [attribute.unit for _, attribute in numeric]
            self._numbers[scale] = Numbers(columns, names, units, X, scaling.transform(X), scaling, self.weights)
        return self._numbers[scale]

    @cached_property
    def _read(self) -> pd.DataFrame:
        return self.declared.read(self.given)

    @cached_property
    def _filling(self) -> Filling:
        return fill(self._read, self.declared.attributes, self.encoded, self.missing)
