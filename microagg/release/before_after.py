"""Each attribute before and after a release: its changes, correlations and distribution."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_integer_dtype, is_numeric_dtype

from microagg.columns import bin_edges
from microagg.columns.schema import Schema
from microagg.metrics.utility.columns import correlations
from microagg.release.report.report import Report
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_columns


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
