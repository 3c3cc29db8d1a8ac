"""A file and the choices for its release, checked against each other and encoded; then its records are grouped."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from microagg.columns.recodes import check_meant, meanings_of, recoded
from microagg.columns.records import Records, is_number
from microagg.columns.schema import ROLES, Schema, column_names
from microagg.errors import DataError, ParameterError
from microagg.partition import Partition
from microagg.release.choices import OPTIONS, USUAL_METHOD, USUAL_PARAMS, Choices
from microagg.release.guarantees import Rule, checked_rules, requested, rules_within
from microagg.release.source import Numbers, Source
from microagg.tables.notices import has_surrogates
from microagg.validation import FloatArray, IntArray, is_whole, quoted

if TYPE_CHECKING:
    from microagg.algorithms.base import Microaggregator
    from microagg.kernels.local_search.guarded import Rules
    from microagg.release.predicted_linkage import Models


@dataclass(frozen=True, eq=False)
class Prepared:
    """A file with all choices for its release, checked; its properties are computed when they are first needed.

    ``estimator`` forms the groups. With given groups, it is the unfitted method that they began with, if that is named.
    ``choices`` have the seed that was drawn where the method needs one.
    """

    source: Source
    estimator: Microaggregator | None
    choices: Choices
    table: pd.DataFrame  # before values were recoded
    models: Models | None = None  # of columns, kept between releases of a file

    @cached_property
    def order(self) -> IntArray | None:
        """The random order of the released records, as positions in the file's order; None for that order itself."""
        if (seed := self.choices.shuffle) is None:
            return None
        # With True instead of a seed, NumPy draws 128 bits from the operating system, which nothing records.
        return np.random.default_rng(None if seed is True else seed).permutation(self.source.n_released)

    @cached_property
    def numbers(self) -> Numbers | None:
        """The numeric quasi-identifiers; None without any, or where nothing depends on their scale."""
        numeric = any(attribute.kind == "numeric" for attribute in self.source.schema.attributes)
        grouped_by_scale = self.choices.polish or self.rules or not (self.estimator is None or self._reads_records)
        if not numeric or (not grouped_by_scale and self.choices.statistic == "generalize"):
            return None
        return self.source.numbers(self.choices.scale)

    def groups(self, rows: IntArray) -> Partition:
        """Return the groups of the released records at ``rows``: given or formed, and polished if that is chosen.

        Some methods form groups that keep the guarantees beyond k; groups that do not keep them are merged.
        """
        k, numbers, classes = self.choices.k, self.numbers, self.source.classes
        rules = rules_within(self.rules, rows) if self.rules else None
        if self.choices.labels is not None:
            partition = Partition(self.choices.labels[rows], k)
        else:
            assert self.estimator is not None  # only given groups need none
            scaled = None if self._reads_records else numbers
            X = self.source.records.take(rows) if scaled is None else scaled.Z[rows]
            kept_rules = rules if self.estimator.info.keeps_rules else None
            share = len(rows) / self.source.n_released
            partition = self.estimator.fit_part(X, kept_rules, None if classes is None else classes[rows], share)
        if not self.choices.polish and rules is None:
            return partition
        from microagg.kernels.local_search import iterated, mixed_search  # which need Numba

        numeric = numbers is not None and self.source.schema.is_numeric
        data = numbers.Z[rows] if numbers is not None and numeric else self.source.records.take(rows)
        if rules is not None:
            return hold(partition, data, rules, polish=self.choices.polish)
        if isinstance(data, Records):
            return Partition(mixed_search.improve(data, partition.labels, k), k)
        return Partition(iterated.improve(data, partition.labels, k), k)

    @cached_property
    def rules(self) -> list[Rule]:
        """The guarantees beyond k, for confidential columns and for identifiers that records share.

        Raises :class:`ParameterError` if a column has another role or a guarantee cannot be met, and
        :class:`DataError` if a column has a missing value.
        """
        source, schema, released = self.source, self.source.schema, {}
        for option in ("meanings", "diversity", "closeness"):
            for name in self.choices.values[option] or ():
                # Distinct values of an identifier count whatever shares it, such as the persons of a household, once.
                counts_units = option == "diversity" and name in schema.identifiers
                if name not in schema.confidential and not counts_units:
                    raise ParameterError(
                        f"{option} names column {name!r}, which is not confidential: name it among the confidential "
                        f"columns, or leave it out of {option}."
                    )
                if option != "meanings":
                    column = meanings_of(source.frame, [name], self.choices.meanings)[name]
                    check_meant(source.frame[name], source.retained, f", and {option} is asked for", column)
                    released[name] = column[source.retained]
        return checked_rules(released, self.requests, source.named_strata())

    @property
    def requests(self) -> list[tuple[Any, str, float]]:
        """The guarantees that were requested, see :func:`microagg.release.guarantees.requested`."""
        return requested(self.choices.diversity, self.choices.closeness)

    @property
    def _reads_records(self) -> bool:
        return self.estimator is not None and self.estimator.info.reads_records(self.source.schema.is_numeric)


def hold(partition: Partition, data: FloatArray | Records, rules: Rules, *, polish: bool = False) -> Partition:
    """Merge groups until each keeps the ``rules``; with ``polish``, also improve them within the rules.

    ``data`` are the scaled numbers of the records, shape (n, d), or the records themselves.
    """
    from microagg.kernels.local_search import guarded  # which needs Numba

    search = guarded.Search(data, partition.k, rules)
    merged = search.merged(partition)
    if not polish:
        return merged
    # Two ways to improve them: the one with the lower loss counts.
    return min(search.settled(merged), search.improve(partition.labels), key=lambda result: result[0])[1]


def prepare(original: pd.DataFrame, choices: Choices) -> Prepared:
    """Check the ``choices`` for a release of ``original`` against it, and read, encode and fill its records.

    Raises :class:`DataError` if columns do not fit their roles and kinds, or have names or categories that no recipe or
    file can hold, and :class:`ParameterError` if the method or a parameter of it does not fit.
    """
    estimator, seed = _estimator(choices)
    columns = {option.name: choices.values[option.name] for option in OPTIONS if option.kind.of_columns}
    frame, columns = recoded(original, choices.recode, columns)
    _check_named(columns, original, frame, choices.recode or ())
    source = Source.of_options(frame, columns | {"missing": choices.missing})
    if estimator is not None and not (estimator.info.mixed or source.schema.is_numeric):
        from microagg.algorithms.registry import ALGORITHMS

        able = ", ".join(key for key, cls in ALGORITHMS.items() if cls.info.mixed)
        raise ParameterError(
            f"{estimator.info.title} works on numbers, but there are categories in {quoted(source.schema.categorical)}"
            f": choose a method that works on both ({able}), or leave them out of the quasi-identifiers."
        )
    _check_names(source.schema, list(frame.columns))
    return Prepared(source, estimator, choices.with_changes(random_state=seed), original)


def _check_named(
    columns: Mapping[str, Any], original: pd.DataFrame, frame: pd.DataFrame, recodes: Collection[Any]
) -> None:
    """Raise :class:`ParameterError` if a recoding makes numbers into text, and the column has no role."""
    if columns["quasi_identifiers"] is not None:
        return
    with_role = {name for role in columns for name in column_names(role, columns[role])}
    for name in recodes:
        if name not in with_role and is_number(original[name].dtype) and not is_number(frame[name].dtype):
            raise ParameterError(
                f"recode makes categories of the numbers of {name!r}: name the quasi-identifiers, it is none by itself."
            )


def _estimator(choices: Choices) -> tuple[Microaggregator | None, int | None]:
    """Return the method and its seed; of given groups the method that they began with, if that is named."""
    from microagg.algorithms import registry  # which needs Numba

    grouped, seed = choices.labels is not None, choices.random_state
    if choices.method is None and grouped:
        if choices.params:
            raise ParameterError(
                f"there is no method for the parameters {quoted(list(choices.params))}: name it, or omit them."
            )
        return None, seed
    key, params = choices.method, choices.params
    if key is None:
        key, params = USUAL_METHOD, USUAL_PARAMS | dict(params)
    estimator = registry.make(key, choices.k, **params)
    if "random_state" in vars(estimator) and not grouped:
        if seed is None:
            seed = estimator.random_state
        if seed is None:
            # Drawn here and not inside the method, so that the recipe can tell it.
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        estimator.random_state = seed
    return estimator, seed


def _check_names(schema: Schema, columns: Sequence[Any]) -> None:
    """Raise :class:`DataError` for a category, or the name of a column with a role, that no recipe or file can hold.

    Two of all ``columns`` must not have the same name in a file either, as 10 and '10' have.
    """
    half = "half a character and can be in no file: read the data again in their own encoding, or rename it."
    for attribute in schema.attributes:
        for category in attribute.taxonomy.names if attribute.taxonomy is not None else attribute.levels:
            if has_surrogates(category):
                raise DataError(f"column {attribute.name!r} has the category {category!r}, which holds {half}")
    for name in (name for role in ROLES for name in schema.columns(role)):
        if not (isinstance(name, str) or is_whole(name)):
            raise DataError(
                f"the column name {name!r} is neither text nor a whole number, so no recipe can hold it: rename it."
            )
        if has_surrogates(str(name)):
            raise DataError(f"the column name {name!r} holds {half}")
    first: dict[str, Any] = {}
    for name in columns:
        if (other := first.setdefault(str(name), name)) != name:
            raise DataError(
                f"the column names {other!r} and {name!r} are the same in a file: rename one of these columns."
            )
