"""The released records beside their originals, as frames and as numbers, and the changes of each attribute."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_integer_dtype, is_numeric_dtype

from microagg.columns import bin_edges
from microagg.columns.recodes import meanings_of
from microagg.columns.scaling import Scaling
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.metrics.risk import Intervals, Known, Linkage, interval_disclosure, record_linkage
from microagg.metrics.utility import Distances, IL1s, Moments, hellinger, il1s, moments, wasserstein
from microagg.metrics.utility.columns import Column, pair_column
from microagg.metrics.utility.correlations import correlations
from microagg.release.prepare import Prepared
from microagg.release.report.report import Report
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_columns

#: The maximum number of compared quasi-identifiers: the ones with the highest loss.
MOST_COMPARED = 300

#: The maximum number of records that are looked up among all released ones, drawn at random.
LOOKED_UP = 20_000

#: How far the interval of interval disclosure reaches on each side, in standard deviations of the original.
WIDTH = 0.05


def looked_up(n: int) -> int | None:
    """Number of records, of ``n``, that are looked up in the release. None for all."""
    return LOOKED_UP if n > LOOKED_UP else None


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """A release and its originals. Made by :meth:`of`. Properties are computed once, when they are first needed."""

    before: pd.DataFrame  # missing values filled, shape (n, columns)
    after: pd.DataFrame  # without the identifiers, in the same order
    schema: Schema
    labels: IntArray  # the groups, shape (n,)
    report: Report
    # The quasi-identifiers for record linkage, highest loss first, at most MOST_COMPARED.
    linked_by: tuple[Hashable, ...]
    columns: tuple[Column, ...]  # the comparable ones of them; a released range of numbers counts as its middle
    notes: tuple[str, ...]  # why others are not comparable
    weights: FloatArray | None  # shape (n,)
    secrets: Mapping[Hashable, pd.Series[Any]]  # the released confidential columns, or their meanings

    @classmethod
    def of(cls, prepared: Prepared, after: pd.DataFrame, labels: IntArray, report: Report) -> Self:
        """Compare ``after``, released from ``prepared``, with its originals."""
        source, order = prepared.source, prepared.order
        before, columns, notes = source.originals(order), [], []
        lost = report.lost
        names = tuple(sorted(source.schema.quasi_identifiers, key=lost.__getitem__, reverse=True))
        if len(names) > MOST_COMPARED:
            notes.append(
                f"Of {len(names):,} quasi-identifiers the {MOST_COMPARED} with the highest loss were compared one by "
                "one, and records looked for by these."
            )
        for name in names[:MOST_COMPARED]:
            try:
                columns.append(pair_column(before[name], after[name]))
            except DataError as error:
                notes.append(f"Not compared as numbers: {error}")
        weights, schema = source.weights, source.schema
        if weights is not None and order is not None:
            weights = weights[order]
        secrets = meanings_of(after, schema.confidential, prepared.choices.meanings)
        linked_by = names[:MOST_COMPARED]
        return cls(before, after, schema, labels, report, linked_by, tuple(columns), tuple(notes), weights, secrets)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.after)

    @cached_property
    def numbers(self) -> tuple[Column, ...]:
        """The numeric ``columns`` that vary in the originals."""
        return tuple(column for column in self.columns if column.numeric and column.before.min() < column.before.max())

    @cached_property
    def pair(self) -> tuple[FloatArray, FloatArray]:
        """The numbers before and after, each of shape (n, d), on the scale of the release."""
        X, released = self.in_own_units
        scaling = Scaling.fit(X, self.report.scale, list(self.names))
        return scaling.transform(X), scaling.transform(released)

    @cached_property
    def intruder(self) -> Known:
        """An intruder who knows the original values of ``linked_by``, and the released ones."""
        attributes = {attribute.name: attribute for attribute in self.schema.attributes}
        return Known.of(self.before, self.after, [attributes[name] for name in self.linked_by], self.schema.strata)

    @cached_property
    def linkage(self) -> Linkage:
        """The records linked by distance, with all quasi-identifiers. At most :data:`LOOKED_UP` are looked up."""
        schema, report = self.schema, self.report
        by_year = any(attribute.unit == "year" for attribute in schema.attributes)
        numbers = schema.is_numeric and not by_year and not schema.strata
        narrow = report.scale == "zscore" and any(str(dtype).lower() == "float32" for dtype in self.before.dtypes)
        if numbers and self.numbers and report.statistic != "generalize" and not narrow:
            return record_linkage(*self.pair, sample=looked_up(self.n))
        return self.intruder.linkage(sample=looked_up(self.n))

    @cached_property
    def intervals(self) -> Intervals:
        """The share of numbers released within :data:`WIDTH` standard deviations of the original."""
        return interval_disclosure(*self.pair, WIDTH, by="sd")

    @cached_property
    def in_own_units(self) -> tuple[FloatArray, FloatArray]:
        """The numbers before and after, each of shape (n, d), in their own units."""
        before, after = ([getattr(column, side) for column in self.numbers] for side in ("before", "after"))
        return np.column_stack(before), np.column_stack(after)

    @cached_property
    def deviations(self) -> IL1s:
        """Mean deviations of released numbers from their originals."""
        return il1s(*self.in_own_units)

    @cached_property
    def moments(self) -> Moments:
        """Changes of means, variances, quantiles and correlations."""
        return moments(*self.in_own_units, self.weights)

    @property
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The columns compared, before and after."""
        names = [column.name for column in self.columns]
        return self.before[names], self.after[names]

    @cached_property
    def distances(self) -> dict[str, Distances]:
        """Distances of the distributions from the original ones, by measure. Empty if no column is compared."""
        if not self.columns:
            return {}
        return {"hellinger": hellinger(*self.frames), "wasserstein": wasserstein(*self.frames)}

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the numbers."""
        return tuple(column.name for column in self.numbers)


def attribute_changes(
    before: pd.DataFrame, after: pd.DataFrame, schema: Schema, report: Report, columns: Sequence[Hashable] | None = None
) -> pd.DataFrame:
    """Loss and changes of each quasi-identifier, highest loss first.

    Parameters
    ----------
    before, after : DataFrame, shape (n, columns)
        The same records in the same order, see :meth:`microagg.Release.originals`, and as released.
    schema, report : Schema and Report
        The roles of the columns, and the report of the release.
    columns : sequence of column names, optional
        The quasi-identifiers to describe; by default all.

    Returns
    -------
    DataFrame
        With the columns ``attribute``; ``lost``, its part of Total-IL if there is one, otherwise of the IL, in percent;
        ``changed``, the records with another value than before, in percent; and ``mean_before``, ``mean_after``,
        ``sd_before``, ``sd_after``, in the unit of the attribute, NaN unless numbers are released as numbers.

    Raises
    ------
    DataError
        If a column is missing or is not a quasi-identifier.
    """
    before, after = as_pandas(before), as_pandas(after)
    moments = {a.name: a for a in report.utility.attributes} if report.utility is not None else {}
    lost = report.lost
    check_columns(after, columns := schema.quasi_identifiers if columns is None else columns)
    check_columns(before, columns)
    check_columns(pd.DataFrame(columns=list(lost)), columns, " among the quasi-identifiers")
    figures = ("mean_before", "mean_after", "sd_before", "sd_after")
    rows = []
    for name in sorted(columns, key=lost.__getitem__, reverse=True):
        moment = moments.get(name) if is_numeric_dtype(before[name]) else None
        row = {"attribute": name, "lost": lost[name], "changed": _changed(before[name], after[name])}
        rows.append(row | {figure: getattr(moment, figure, np.nan) for figure in figures})
    return pd.DataFrame(rows)


def correlation_changes(
    before: pd.DataFrame, after: pd.DataFrame, schema: Schema, most: int | None = None
) -> tuple[tuple[Hashable, ...], FloatArray, FloatArray]:
    """Correlations of the numeric quasi-identifiers before and after the release.

    Parameters
    ----------
    before, after, schema
        As in :func:`attribute_changes`. Records count by their weights if the schema has weights.
    most : int, optional
        The number of quasi-identifiers to examine, the first ones; by default all.

    Returns
    -------
    tuple of column names
        The m quasi-identifiers that are released as numbers and were not constant before.
    array, array of shape (m, m)
        Their correlations before and after; NaN for a column whose values have all become equal.
    """
    before, after = as_pandas(before), as_pandas(after)
    check_columns(before, schema.quasi_identifiers)
    check_columns(after, schema.quasi_identifiers)
    names = tuple(
        name
        for name in schema.quasi_identifiers[:most]
        if is_numeric_dtype(before[name]) and is_numeric_dtype(after[name]) and before[name].nunique() > 1
    )
    if not names:
        return (), np.zeros((0, 0)), np.zeros((0, 0))
    X, replaced = (frame[list(names)].to_numpy(dtype=np.float64) for frame in (before, after))
    weights = None if schema.weights is None else before[schema.weights].to_numpy(dtype=np.float64)
    return names, *correlations(X, replaced, weights)


def distribution(before: pd.Series[Any], after: pd.Series[Any], labels: IntArray, *, bins: int = 30) -> pd.DataFrame:
    """Histogram of a column before and after the release.

    Parameters
    ----------
    before, after : Series, shape (n,)
        The column as it was and as it is released, in the same order.
    labels : array of shape (n,)
        The groups of the records.
    bins : int
        About the maximum number of bins for numbers.

    Returns
    -------
    DataFrame
        Counts in the columns ``before`` and ``released``. The index has the middles of bins of numbers (of whole
        numbers bins are whole), the first days of months (of years if dates span more than three years), or all values
        as text, most frequent before first. A released range counts in equal parts in all bins that it covers.
    """
    if is_datetime64_any_dtype(before) and is_integer_dtype(after):
        before = before.dt.year
    if is_numeric_dtype(before):
        low, high = after, after
        if not is_numeric_dtype(after):
            groups = before.astype(float).groupby(labels)
            low, high = groups.transform("min"), groups.transform("max")
        old, lower, upper = (column.to_numpy(dtype=np.float64) for column in (before, low, high))
        return _binned(old, lower, upper, bins)
    are_dates = is_datetime64_any_dtype(before) and is_datetime64_any_dtype(after)
    if are_dates:
        unit = "Y" if (before.max() - before.min()).days > 3 * 365 else "M"
        both = [column.dt.to_period(unit).dt.to_timestamp().value_counts() for column in (before, after)]
    else:
        both = [pd.Series(_texts(column)).value_counts() for column in (before, after)]
    return pd.concat(both, axis=1, keys=["before", "released"], sort=are_dates).fillna(0)


def _binned(before: FloatArray, low: FloatArray, high: FloatArray, bins: int) -> pd.DataFrame:
    whole = bool((before == np.round(before)).all())
    ends = np.array([low.min(), high.max()])
    edges = bin_edges(np.append(before, [np.floor(ends[0]), np.ceil(ends[1])] if whole else ends), bins)
    ranges = low < high
    # A range of whole numbers covers the bins of both its ends.
    low, high = low - 0.5 * (ranges & whole), high + 0.5 * (ranges & whole)
    widths = np.where(ranges, high - low, 1.0)
    below = [float(np.where(ranges, ((edge - low) / widths).clip(0, 1), low < edge).sum()) for edge in edges[1:-1]]
    below = [0.0, *below, float(len(low))]
    counts = {"before": np.histogram(before, bins=edges)[0], "released": np.diff(below)}
    return pd.DataFrame(counts, index=edges[:-1] / 2 + edges[1:] / 2)


def _changed(before: pd.Series[Any], after: pd.Series[Any]) -> float:
    if is_numeric_dtype(before) and is_numeric_dtype(after):
        differ = before.to_numpy(dtype=np.float64) != after.to_numpy(dtype=np.float64)
    else:
        years = is_datetime64_any_dtype(before) and is_integer_dtype(after)
        differ = _texts(before.dt.year if years else before) != _texts(after)
    return 100.0 * float(np.mean(differ))


def _texts(series: pd.Series[Any]) -> NDArray[np.object_]:
    """Texts of values as in a generalized release: integers without a decimal point, dates without a time."""
    codes, distinct = pd.factorize(series.astype(int) if is_bool_dtype(series) else series, use_na_sentinel=False)
    # By numpy: for 0.1 in 32 bits, Python has digits that are not in the file.
    values = distinct if is_datetime64_any_dtype(series) else np.asarray(distinct)
    written = [str(value).removesuffix(" 00:00:00").removesuffix(".0") for value in values]
    return np.array(written, dtype=object)[codes]
