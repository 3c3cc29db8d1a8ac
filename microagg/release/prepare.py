"""What a release and its repetition have in common before records are grouped: checked choices and encoded records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.columns.schema import ROLES, Schema
from microagg.errors import DataError, ParameterError
from microagg.release import strata
from microagg.release.choices import OPTIONS, Choices
from microagg.release.source import Numbers, Source
from microagg.release.strata import check_given
from microagg.tables.frames import as_pandas
from microagg.tables.notices import has_surrogates
from microagg.validation import (
    FloatArray,
    IntArray,
    check_enough_records,
    counted,
    is_whole,
    quoted,
)

if TYPE_CHECKING:
    from microagg.algorithms.base import Microaggregator


@dataclass(frozen=True, eq=False)
class Prepared:
    """A file with all choices for its release, checked.

    What follows from them is computed when it is first asked for, so that replay finds another file out by its values
    before anything is made of them. The seed among the ``choices`` is the one that was given or, where the method needs
    one, drawn. Where there are groups found elsewhere, ``estimator`` is what these began with, if that was said, and is
    not fitted.
    """

    source: Source
    estimator: Microaggregator | None
    choices: Choices

    @property
    def frame(self) -> pd.DataFrame:
        """All records, with the quasi-identifiers read and their gaps filled."""
        return self.source.frame

    @property
    def schema(self) -> Schema:
        """The schema, its taxonomies with the category of gaps where these became one."""
        return self.source.schema

    @property
    def values(self) -> FloatArray:
        """The quasi-identifiers of all records, encoded, with their gaps filled; see :class:`Source`."""
        return self.source.values

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which records are released, shape (n,)."""
        return self.source.kept

    @property
    def n_dropped(self) -> int:
        """The number of records that are not released."""
        return self.source.n_dropped

    @property
    def records(self) -> Records:
        """The quasi-identifiers of the released records."""
        return self.source.records

    @property
    def strata(self) -> list[strata.Part]:
        """The strata of the released records; all of them where there are no strata."""
        return self.source.strata

    @property
    def classes(self) -> IntArray | None:
        """The classes of the released records, numbered from 0; None without classes."""
        return self.source.classes

    @property
    def weights(self) -> FloatArray | None:
        """The weights of the released records, shape (n,); None without weights."""
        return self.source.weights

    @cached_property
    def order(self) -> IntArray | None:
        """The random order of the released records, as positions in the order of the file; None if that is kept."""
        return self.source.order(self.choices.shuffle)

    @property
    def rows(self) -> IntArray | None:
        """The positions of the released records in the file, in their order; None if they are all, in its order."""
        if self.order is None and not self.n_dropped:
            return None
        kept = np.flatnonzero(self.kept)
        return kept if self.order is None else kept[self.order]

    @property
    def constant(self) -> tuple[Any, ...]:
        """The quasi-identifiers that hold one value only in the released records."""
        return self.source.constant

    @cached_property
    def numbers(self) -> Numbers | None:
        """The numeric quasi-identifiers; None where there are none, or where nothing depends on their scale."""
        numeric = any(attribute.kind == "numeric" for attribute in self.schema.attributes)
        grouped_by_scale = self.choices.polish or not (self.estimator is None or self.estimator.info.mixed)
        if not numeric or (not grouped_by_scale and self.choices.statistic == "generalize"):
            return None
        return self.source.numbers(self.choices.scale)

    def part(self, rows: IntArray) -> tuple[Any, IntArray | None]:
        """Return what the method partitions of the released records at ``rows``, and their classes."""
        classes = None if self.classes is None else self.classes[rows]
        if self.estimator is None or self.estimator.info.mixed or self.numbers is None:
            return self.records.take(rows), classes
        return self.numbers.Z[rows], classes

    def copy_without_identifiers(self) -> pd.DataFrame:
        """Return the released records with all columns but the identifiers, nothing replaced yet."""
        released = self.frame.loc[:, [name not in self.schema.identifiers for name in self.frame.columns]]
        # A frame of its own also where pandas would share memory, so that assigning to it cannot reach the caller's.
        return released.copy() if not self.n_dropped else released.iloc[np.flatnonzero(self.kept)].copy()

    def check_sizes(self) -> None:
        """Raise :class:`DataError` unless all records, and those of each stratum and given group, are at least k."""
        aside = f" (after leaving out {counted(self.n_dropped, 'incomplete record')})" if self.n_dropped else ""
        check_enough_records(len(self.records), self.choices.k, f"the data{aside}")
        for rows, values in self.strata:
            check_enough_records(len(rows), self.choices.k, f"stratum {strata.name(self.schema.strata, values)}{aside}")
        if self.choices.labels is not None:
            check_given(self.choices.labels, self.choices.k, self.strata, self.schema.strata, aside)


def prepare(frame: pd.DataFrame, choices: Choices) -> Prepared:
    """Return ``frame`` with the ``choices`` for its release, checked against it.

    Raises
    ------
    DataError
        If the columns are not what is said of them, or have names or categories that no recipe or file can hold.
    ParameterError
        If the method is not known, or a parameter of it out of its bounds, or the method or polishing does not work on
        the kinds of the quasi-identifiers.
    """
    estimator, seed = _estimator(choices)
    columns = {own.name: choices.values[own.name] for own in OPTIONS if own.kind.of_columns}
    schema = Schema.infer(frame, strata=columns.pop("by"), **columns)
    if estimator is not None and not (estimator.info.mixed or schema.is_numeric):
        _refuse_categories(estimator.info.key, schema)
    if choices.polish and not schema.is_numeric:
        _refuse_to_polish(schema)
    _check_text(schema)
    _check_names(schema)
    _check_texts(list(as_pandas(frame).columns))
    return Prepared(Source.of(frame, schema, choices.missing), estimator, choices.but(random_state=seed))


def _estimator(choices: Choices) -> tuple[Microaggregator | None, int | None]:
    """Return what forms the groups and its seed; if these are given, what they began with, if known."""
    from microagg.algorithms import registry  # which needs scikit-learn and Numba

    grouped, seed = choices.labels is not None, choices.random_state
    if choices.method is None and grouped:
        if choices.params:
            raise ParameterError(
                f"there is no method for the parameters {quoted(list(choices.params))}: name it, or omit them."
            )
        return None, seed
    estimator = registry.make("mdav-star" if choices.method is None else choices.method, choices.k, **choices.params)
    if "random_state" in estimator.get_params() and not grouped:
        if seed is None:
            seed = estimator.get_params()["random_state"]
        if seed is None:
            # Drawn here and not inside the method, so that the recipe can tell it.
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        estimator.set_params(random_state=seed)
    return estimator, seed


def _refuse_categories(method: str, schema: Schema) -> None:
    from microagg.algorithms import registry

    named = [attribute.name for attribute in schema.attributes if attribute.kind != "numeric"]
    able = [key for key, cls in registry.ALGORITHMS.items() if cls.info.mixed]
    one = len(named) == 1
    raise ParameterError(
        f"{method} works on numbers, but {'column' if one else 'columns'} {quoted(named)} "
        f"{'holds' if one else 'hold'} categories: choose a method that works on both ({', '.join(able)}), or leave "
        f"{'the column' if one else 'these columns'} out of the quasi-identifiers."
    )


def _refuse_to_polish(schema: Schema) -> None:
    named = quoted([attribute.name for attribute in schema.attributes if attribute.kind != "numeric"])
    raise ParameterError(
        f"polish works on numbers, but there are categories in {named}: leave polish out, or leave the categories out "
        "of the quasi-identifiers."
    )


def _check_text(schema: Schema) -> None:
    for attribute in schema.attributes:
        for name in attribute.taxonomy.names if attribute.taxonomy is not None else attribute.levels:
            if has_surrogates(name):
                raise DataError(
                    f"column {attribute.name!r} has the category {name!r}, which holds half a character and can be in "
                    "no file: read the data again in their own encoding, or rename it."
                )


def _check_names(schema: Schema) -> None:
    for role in ROLES:
        for name in schema.columns(role):
            if not (isinstance(name, str) or is_whole(name)):
                raise DataError(
                    f"the column name {name!r} is neither text nor a whole number, so no recipe can hold it: rename it."
                )
            if has_surrogates(str(name)):
                raise DataError(
                    f"the column name {name!r} holds half a character and can be in no file: read the data again in "
                    "their own encoding, or rename it."
                )


def _check_texts(names: list[Any]) -> None:
    """Raise :class:`DataError` if two columns have the same name in a file, as 10 and '10'."""
    first: dict[str, Any] = {}
    for name in names:
        if (other := first.setdefault(str(name), name)) != name:
            raise DataError(
                f"the column names {other!r} and {name!r} are the same in a file: rename one of these columns."
            )
