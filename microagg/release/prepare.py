"""What a release and its repetition have in common before records are grouped: checked choices and encoded records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.columns.gaps import GAPS
from microagg.columns.records import Records
from microagg.columns.scaling import SCALES
from microagg.columns.schema import ROLES, Schema
from microagg.errors import DataError, ParameterError
from microagg.release import strata
from microagg.release import weights as record_weights
from microagg.release.recoding import CATEGORIES, ROUNDINGS, STATISTICS
from microagg.release.source import Numbers, Source
from microagg.release.strata import check_given
from microagg.tables.frames import as_pandas
from microagg.tables.notices import has_surrogates
from microagg.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_enough_records,
    check_k,
    check_labels,
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
    before anything is made of them. ``random_state`` is the seed that was given or, where the method needs one, drawn.
    ``labels`` are those of groups found elsewhere, shape (n released records,), or None; with them ``estimator`` is
    what these began with, if that was said, and is not fitted.
    """

    source: Source
    estimator: Microaggregator | None
    k: int
    categories: str
    scale: str
    statistic: str
    random_state: int | None
    rounding: str
    release_weights: str
    polish: bool
    labels: IntArray | None
    shuffle: int | None

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
        return self.source.order(self.shuffle)

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
        grouped_by_scale = self.polish or not (self.estimator is None or self.estimator.info.mixed)
        if not numeric or (not grouped_by_scale and self.statistic == "generalize"):
            return None
        return self.source.numbers(self.scale)

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
        check_enough_records(len(self.records), self.k, f"the data{aside}")
        for rows, values in self.strata:
            check_enough_records(len(rows), self.k, f"stratum {strata.name(self.schema.strata, values)}{aside}")
        if self.labels is not None:
            check_given(self.labels, self.k, self.strata, self.schema.strata, aside)


def prepare(
    frame: pd.DataFrame,
    *,
    method: str | None,
    k: int,
    params: Mapping[str, Any],
    quasi_identifiers: Any,
    confidential: Any,
    identifiers: Any,
    by: Any,
    taxonomies: Any,
    ordinal: Any,
    classes: Any,
    weights: Any,
    others: Any,
    dates: Any,
    numbers: Any,
    missing_codes: Any,
    categories: str,
    scale: str,
    statistic: str,
    missing: str | Mapping[Any, str],
    random_state: Any,
    rounding: str,
    release_weights: str,
    polish: bool,
    labels: ArrayLike | None,
    shuffle: int | None,
) -> Prepared:
    """Return ``frame`` with the choices for its release, checked; see :func:`microagg.microaggregate`.

    Raises
    ------
    DataError
        If the columns are not what is said of them, or have names or categories that no recipe or file can hold.
    ParameterError
        If a choice is unknown or out of its bounds, or the method or polishing does not work on the kinds of the
        quasi-identifiers.
    """
    k = check_k(k)
    check_choice("scale", scale, SCALES)
    check_choice("statistic", statistic, STATISTICS)
    if not isinstance(missing, Mapping):
        check_choice("missing", missing, GAPS)
    check_choice("categories", categories, CATEGORIES)
    check_choice("rounding", rounding, ROUNDINGS)
    check_choice("release_weights", release_weights, record_weights.RELEASE_WEIGHTS)
    if not isinstance(polish, (bool, np.bool_)):
        raise ParameterError(f"polish must be True or False, not {polish!r}.")
    order = _seed("shuffle", shuffle)
    groups = None if labels is None else check_labels(labels)
    estimator, seed = _estimator(method, k, params, _seed("random_state", random_state), groups is not None)
    schema = Schema.infer(
        frame,
        quasi_identifiers,
        confidential,
        identifiers,
        strata=by,
        taxonomies=_mapping("taxonomies", taxonomies),
        ordinal=_mapping("ordinal", ordinal),
        classes=classes,
        weights=weights,
        others=others,
        dates=dates,
        numbers=numbers,
        missing_codes=missing_codes,
    )
    if estimator is not None and not (estimator.info.mixed or schema.is_numeric):
        _refuse_categories(estimator.info.key, schema)
    if polish and not schema.is_numeric:
        _refuse_to_polish(schema)
    _check_text(schema)
    _check_names(schema)
    _check_texts(list(as_pandas(frame).columns))
    return Prepared(
        Source.of(frame, schema, missing),
        estimator,
        k,
        categories,
        scale,
        statistic,
        seed,
        rounding,
        release_weights,
        bool(polish),
        groups,
        order,
    )


def _seed(name: str, given: Any) -> int | None:
    if given is not None and (not is_whole(given) or given < 0):
        raise ParameterError(f"{name} must be a whole number of at least 0 or None, not {given!r}.")
    return None if given is None else int(given)


def _estimator(
    method: str | None, k: int, params: Mapping[str, Any], seed: int | None, grouped: bool
) -> tuple[Microaggregator | None, int | None]:
    """Return what forms the groups and its seed; if they are ``grouped`` already, what they began with, if known."""
    from microagg.algorithms import registry  # which needs scikit-learn and Numba

    if method is None and grouped:
        if params:
            raise ParameterError(
                f"there is no method for the parameters {quoted(list(params))}: name it, or omit them."
            )
        return None, seed
    estimator = registry.make("mdav-star" if method is None else method, k, **params)
    if "random_state" in estimator.get_params() and not grouped:
        if seed is None:
            seed = estimator.get_params()["random_state"]
        if seed is None:
            # Drawn here and not inside the method, so that the recipe can tell it.
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        estimator.set_params(random_state=seed)
    return estimator, seed


def _mapping(name: str, given: Any) -> Mapping[Any, Any] | None:
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(f"{name} must map column names to {name}, not be {given!r}: write {{'column': ...}}.")
    return given


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
