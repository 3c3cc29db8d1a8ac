"""The plan of a release: all choices, and the way from them to the release."""

from __future__ import annotations

import importlib
import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from microagg.columns.recodes import meanings_of
from microagg.errors import ConstantColumnWarning, DataError, GuaranteeError, ParameterError
from microagg.metrics.risk.equivalence_classes import numbered
from microagg.partition import Partition, join_strata
from microagg.release import recipe as recipes
from microagg.release.checks import find
from microagg.release.choices import OPTIONS, Choices
from microagg.release.findings import File
from microagg.release.guarantees import count
from microagg.release.measures import Generalization, Loss, Risk, Utility
from microagg.release.predicted_linkage import predicted_linkage
from microagg.release.prepare import Prepared, prepare
from microagg.release.recoding import Recoding, recode, replace_weights
from microagg.release.release import Release
from microagg.release.report.report import Report
from microagg.release.source import Source, check_given
from microagg.tables.frames import as_given, as_pandas
from microagg.tables.stata_spss import with_kinds
from microagg.validation import check_enough_records, counted, warn_caller

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True, eq=False)
class Plan(Choices):
    """All choices for a release, as :func:`microagg.microaggregate` takes them.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64], "illness": list("abcabc")})
    >>> plan = Plan.of(people, k=3, confidential="illness")
    >>> plan.quasi_identifiers
    ['age']
    >>> Plan.from_json(plan.to_json()).run(people).frame["age"].tolist()
    [33.0, 33.0, 33.0, 62.0, 62.0, 62.0]
    """

    @classmethod
    def of(cls, frame: IntoDataFrame, *, k: int, **keywords: Any) -> Self:
        """Plan of a release, complete for ``frame``.

        It names the method, all columns and their kinds, and a seed if the method draws at random.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        k : int
            The minimum number of records in a group.
        **keywords
            Arguments of :func:`microagg.microaggregate`, but not those of the engine.

        Raises
        ------
        DataError, ParameterError
            As :func:`microagg.microaggregate`, as far as nothing has to be grouped for it.
        """
        return cls.of_recipe(recipes.chosen(prepare(as_pandas(frame), cls.checked(k=k, **keywords))))

    @classmethod
    def of_recipe(cls, recipe: Mapping[str, Any]) -> Self:
        """Plan of a checked recipe."""
        return cls.checked(**recipes.choices(recipe))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Plan from JSON.

        Parameters
        ----------
        text : str
            As :meth:`to_json` writes it.

        Raises
        ------
        ParameterError
            If ``text`` is anything else.
        """
        try:
            chosen = json.loads(text)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the plan is no JSON: {error}") from None
        recipes.check(chosen, further=())
        return cls.of_recipe(chosen)

    def to_json(self) -> str:
        """Return all choices, and the versions of the programs that made them, as JSON.

        Raises
        ------
        ParameterError
            If the plan does not have the columns yet: :meth:`of` makes one that has.
        """
        of_columns = [each.name for each in OPTIONS if each.kind.of_columns and each.kind.shell != "column"]
        if any(self.values[name] is None for name in of_columns):
            raise ParameterError("the plan does not say yet what the columns are: make it by Plan.of(frame, k=...).")
        return json.dumps(recipes.written(self), indent=2, ensure_ascii=False) + "\n"

    def run(self, frame: IntoDataFrame) -> Release:
        """Release ``frame``, in the memory of this process.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)

        Raises
        ------
        DataError, ParameterError
            As :func:`microagg.microaggregate`.
        """
        return make(prepare(as_pandas(frame), self), frame)

    def replay(self, frame: IntoDataFrame, recipe: Mapping[str, Any]) -> Release:
        """Release ``frame``, and check that the release is that of ``recipe``; see :func:`microagg.replay`.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        recipe : mapping
            The complete recipe, of which this is the plan.

        Raises
        ------
        ParameterError
            If ``recipe`` is not complete.
        DataError
            If ``frame`` has another number of records or other quasi-identifiers, strata, classes or weights.
        MicroaggError
            If the released values differ.
        """
        recipes.check(recipe)
        table = as_pandas(frame)
        if len(table) != recipe["n"]:
            raise DataError(
                f"the recipe is for {recipe['n']:,} records, but the data have {len(table):,}: use its file."
            )
        try:
            prepared = prepare(table, self)
        except DataError as error:
            raise DataError(f"the data are not those the recipe was made for: {error}") from None
        recipes.check_same_data(prepared, recipe)
        release = make(prepared, frame)
        recipes.check_same_release(release.recipe, recipe)
        return release


def make(prepared: Prepared, table: IntoDataFrame) -> Release:
    """Return the release of what was prepared of ``table``, as a table of the same kind.

    Raises :class:`DataError` unless the file, each stratum and each given group have at least k records.
    """
    source, schema, chosen = prepared.source, prepared.source.schema, prepared.choices
    left_out = f" (after leaving out {counted(source.n_dropped, 'incomplete record')})" if source.n_dropped else ""
    check_enough_records(source.n_released, chosen.k, f"the data{left_out}")
    for positions, stratum in source.named_strata():
        check_enough_records(len(positions), chosen.k, f"{stratum}{left_out}")
    if chosen.labels is not None:
        check_given(chosen.labels, chosen.k, source.strata, schema.strata, left_out)
    _ = prepared.rules  # raises if a guarantee cannot be met
    weights = source.weights
    if source.constant:
        warn_caller(source.constant_note, ConstantColumnWarning)
    largest_first = sorted((rows for rows, _ in source.strata), key=len, reverse=True)
    partition = join_strata([(rows, prepared.groups(rows)) for rows in largest_first], chosen.k)
    # A copy even where pandas would share memory, so that assigning to it cannot reach the caller's frame.
    released = source.originals().loc[:, [name not in schema.identifiers for name in source.frame.columns]].copy()
    how = (chosen.statistic, chosen.categories, weights, chosen.rounding)
    recoding = recode(released, source.records, partition, *how)
    if weights is not None:
        rounds = chosen.rounding == "file" and chosen.written == "original"
        replace_weights(released, schema.weights, weights, partition, chosen.release_weights, rounds=rounds)
    for name, column in zip(schema.quasi_identifiers, recoding.columns, strict=True):
        released[name] = column
    _forget_categories(released, source.table, shuffled=prepared.order is not None)
    released.attrs = {}  # where the file was read from, perhaps: a file of Parquet would tell it
    report = _report(prepared, released, partition, recoding)
    if prepared.order is not None:
        released = released.iloc[prepared.order].reset_index(drop=True)
        partition = Partition(partition.labels[prepared.order], chosen.k)
    rows = source.rows(prepared.order) if prepared.order is not None or source.n_dropped else None
    frame = as_given(released, table, rows, (*schema.quasi_identifiers, schema.weights, *(chosen.recode or ())))
    return Release(frame, partition, report, recipes.write(prepared, recoding), released, prepared)


def _forget_categories(released: pd.DataFrame, original: pd.DataFrame, *, shuffled: bool) -> None:
    """Take out of the categories of pandas, also of Arrow in it, those of the file that no record of the release has.

    Files hold all categories of a column, and would tell of a person whose category is not released. Without an order
    they may be those of a larger file; with one, they are the levels of a scale. As Arrow and polars number categories
    in the order of the records, which would tell the first records' values, those of ``shuffled`` records are sorted.
    """
    for name in released.columns:
        column = released[name]
        if in_arrow := str(column.dtype).startswith("dictionary"):
            column = importlib.import_module("pyarrow").array(column).to_pandas().set_axis(released.index)
        if isinstance(column.dtype, pd.CategoricalDtype) and name in original.columns:
            seen, categories = set(column.dropna().unique()), column.cat.categories
            values = with_kinds(original, name).dropna().unique() if column.cat.ordered else categories
            gone = [value for value in values if value in categories and value not in seen]
            fewer = column.cat.remove_categories(gone)
            appearing = (value for value in original[name].dropna().unique() if value in seen)
            if shuffled and not fewer.cat.ordered and [*fewer.cat.categories] == [*appearing]:
                fewer = fewer.cat.reorder_categories(sorted(seen, key=str))
            if not fewer.cat.categories.equals(categories):
                released[name] = fewer.astype(released[name].dtype) if in_arrow else fewer


def _report(prepared: Prepared, released: pd.DataFrame, partition: Partition, recoding: Recoding) -> Report:
    """Return the report, counted on the released values; raise :class:`GuaranteeError` if a guarantee does not hold."""
    source, chosen = prepared.source, prepared.choices
    schema, k = source.schema, chosen.k
    classes = numbered(released, (*schema.quasi_identifiers, *schema.strata))
    originals = source.originals()
    left = [name for name in released.columns if name not in (*schema.quasi_identifiers, *schema.strata)]
    predicted = predicted_linkage(originals[[*schema.quasi_identifiers]], released[left], classes, prepared.models)
    # In the order of the release: that of the file would tell of its first records.
    place = np.arange(len(released)) if prepared.order is None else np.argsort(prepared.order)
    strata = sorted(source.strata, key=lambda part: place[part.rows].min())
    risk = Risk.of(classes, partition, strata, predicted)
    if risk.realized_k < k:
        raise GuaranteeError(
            f"microagg broke its promise: the release has a class of {risk.realized_k} records, fewer than k={k}; it "
            "is withheld. Please report this."
        )
    secrets = meanings_of(released, schema.confidential, chosen.meanings)
    shared = {name: originals[name] for name in schema.identifiers}  # left out of the release
    guaranteed = count(secrets | shared, classes, prepared.requests)
    if broken := [str(guarantee) for guarantee in guaranteed if not guarantee.holds]:
        raise GuaranteeError(
            f"microagg broke its promise: in the release {broken[0]}; it is withheld. Please report this."
        )
    how = (source.n_dropped, chosen.shuffle, guaranteed, secrets, predicted)
    file = File(released, originals, schema, k, classes, *how)
    lost, utility, common = _losses(prepared, partition, recoding)
    return Report(
        k=k,
        scale=chosen.scale,
        statistic=chosen.statistic,
        n_records=len(released),
        n_dropped=source.n_dropped,
        dropped=tuple(source.frame.index[~source.retained]),
        constant_columns=source.constant,
        undeclared_columns=file.undeclared,
        loss=lost,
        risk=risk,
        utility=utility,
        generalization=common,
        rounding=chosen.rounding,
        release_weights=None if schema.weights is None else chosen.release_weights,
        given=chosen.labels is not None,
        polished=chosen.polish,
        shuffled=chosen.shuffle is not None,
        findings=find(file),
        guaranteed=guaranteed,
        filled=source.filled,
        dominated=_dominated(source, partition),
    )


def _losses(
    prepared: Prepared, partition: Partition, recoding: Recoding
) -> tuple[Loss | None, Utility | None, Generalization | None]:
    """Measure what a release loses, each by the measure that applies."""
    source, numbers = prepared.source, prepared.numbers
    lost = utility = common = None
    if recoding.values is not None and numbers is not None:
        replaced = np.ascontiguousarray(recoding.values[:, numbers.columns])
        lost = Loss.of(numbers, replaced, partition, source.strata, prepared.choices)
        utility = Utility.of(numbers, replaced)
    if recoding.values is None or not source.schema.is_numeric:
        common = Generalization.of(source, partition, recoding.values)
    return lost, utility, common


def _dominated(source: Source, partition: Partition) -> tuple[Hashable, ...]:
    """Return the numeric quasi-identifiers whose figures one or two records dominate."""
    from microagg.metrics.risk import dominated  # which needs Numba

    # One by one, as their squares and medians would take more memory than all else.
    return tuple(
        attribute.name
        for j, attribute in enumerate(source.schema.attributes)
        if attribute.kind == "numeric"
        and dominated(source.records.values[:, [j]], partition.labels, source.weights).all()
    )
