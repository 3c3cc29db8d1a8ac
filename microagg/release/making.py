"""Making a release: the records are grouped, their values replaced, and what was promised is counted."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from microagg.errors import ConstantColumnWarning, GuaranteeError
from microagg.metrics.risk.equivalence_classes import numbered
from microagg.partition import Partition, partition_within
from microagg.release import recipe as recipes
from microagg.release.findings import Finding, find, undeclared
from microagg.release.measures import Loss, Utility
from microagg.release.prepare import Prepared
from microagg.release.recoding import Recoding, recode
from microagg.release.release import Release
from microagg.release.report.report import Generalization, Report, Risk
from microagg.release.weights import replace as replace_weights
from microagg.tables.frames import as_given
from microagg.validation import IntArray, warn_caller

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


def make(prepared: Prepared, table: IntoDataFrame) -> Release:
    """Return the release of what was prepared of ``table``, of which it has the kind."""
    prepared.check_sizes()
    if prepared.constant:
        warn_caller(prepared.source.constant_note, ConstantColumnWarning)
    weights = prepared.weights
    partition = _partition(prepared)
    released = prepared.copy_without_identifiers()
    recoding = recode(
        released,
        prepared.records,
        partition,
        prepared.choices.statistic,
        prepared.choices.categories,
        weights=weights,
        rounding=prepared.choices.rounding,
    )
    if weights is not None:
        replace_weights(released, prepared.schema.weights, weights, partition, prepared.choices.release_weights)
    for name, column in zip(prepared.schema.quasi_identifiers, recoding.columns, strict=True):
        released[name] = column
    _forget_categories(released, prepared.source.given)
    released.attrs = {}  # where the file was read from, perhaps: a file of Parquet would tell it
    classes = numbered(released, (*prepared.schema.quasi_identifiers, *prepared.schema.strata))
    risk = Risk.of(classes, partition, prepared.strata)
    if risk.realized_k < prepared.choices.k:
        raise GuaranteeError(
            f"microagg broke its promise: the release has a class of {risk.realized_k} records, fewer than "
            f"k={prepared.choices.k}; it is withheld. Please report this."
        )
    report = _report(prepared, released, partition, recoding, risk, _findings(prepared, released, classes))
    if prepared.order is not None:
        released = released.iloc[prepared.order].reset_index(drop=True)
        partition = Partition(partition.labels[prepared.order], prepared.choices.k)
    replaced = (*prepared.schema.quasi_identifiers, prepared.schema.weights)
    frame = as_given(released, table, prepared.rows, replaced)
    return Release(frame, partition, report, recipes.write(prepared, recoding), released, prepared.source)


def _forget_categories(released: pd.DataFrame, given: pd.DataFrame) -> None:
    """Take out of the categories of pandas, also of Arrow in it, those of the file that no record of the release has.

    Files hold all categories of a column, and would tell of a person whose category is not released.
    """
    for name in released.columns:
        column = released[name]
        if in_arrow := str(column.dtype).startswith("dictionary"):
            column = importlib.import_module("pyarrow").array(column).to_pandas().set_axis(released.index)
        if isinstance(column.dtype, pd.CategoricalDtype) and name in given.columns:
            seen, known = set(column.dropna().unique()), column.cat.categories
            gone = [value for value in given[name].dropna().unique() if value in known and value not in seen]
            if gone:
                fewer = column.cat.remove_categories(gone)
                released[name] = fewer.astype(released[name].dtype) if in_arrow else fewer


def _partition(prepared: Prepared) -> Partition:
    """Return the groups of the records, formed within each stratum or given, and polished if that is asked for."""

    def find(rows: IntArray) -> Partition:
        part = _part(prepared, rows)
        if prepared.choices.polish and prepared.numbers is not None:
            from microagg.kernels.local_search.iterated import improve  # which needs Numba

            part = Partition(improve(prepared.numbers.Z[rows], part.labels, prepared.choices.k), prepared.choices.k)
        return part

    return partition_within([rows for rows, _ in prepared.strata], prepared.choices.k, find)


def _part(prepared: Prepared, rows: IntArray) -> Partition:
    """Return the groups of one stratum, the records at ``rows``."""
    if prepared.choices.labels is not None:
        return Partition(prepared.choices.labels[rows], prepared.choices.k)
    assert prepared.estimator is not None  # only given groups need none
    X, classes = prepared.part(rows)
    return prepared.estimator.fit(X, classes).partition_


def _report(
    prepared: Prepared,
    released: pd.DataFrame,
    partition: Partition,
    recoding: Recoding,
    risk: Risk,
    findings: tuple[Finding, ...],
) -> Report:
    schema, numbers = prepared.schema, prepared.numbers
    lost = utility = common = None
    if recoding.values is not None and numbers is not None:
        replaced = np.ascontiguousarray(recoding.values[:, numbers.columns])
        lost = Loss.of(
            numbers, replaced, partition, prepared.choices.statistic, prepared.strata, prepared.choices.rounding
        )
        utility = Utility.of(numbers, replaced)
    if recoding.values is None or not schema.is_numeric:
        common = Generalization.of(prepared.records, partition, prepared.classes, recoding.values, prepared.strata)
    return Report(
        k=prepared.choices.k,
        scale=prepared.choices.scale,
        statistic=prepared.choices.statistic,
        n_records=len(released),
        n_dropped=prepared.n_dropped,
        dropped=tuple(prepared.frame.index[~prepared.kept]),
        constant_columns=prepared.constant,
        undeclared_columns=undeclared(schema, released.columns),
        loss=lost,
        risk=risk,
        utility=utility,
        generalization=common,
        rounding=prepared.choices.rounding,
        release_weights=None if schema.weights is None else prepared.choices.release_weights,
        given=prepared.choices.labels is not None,
        polished=prepared.choices.polish,
        shuffled=prepared.choices.shuffle is not None,
        findings=findings,
        filled=prepared.source.filled,
    )


def _findings(prepared: Prepared, released: pd.DataFrame, classes: IntArray) -> tuple[Finding, ...]:
    original = prepared.frame.iloc[np.flatnonzero(prepared.kept)] if prepared.n_dropped else prepared.frame
    shuffled = prepared.choices.shuffle is not None
    schema, dropped = prepared.schema, prepared.n_dropped
    return find(released, original, schema, prepared.choices.k, n_dropped=dropped, shuffled=shuffled, classes=classes)
