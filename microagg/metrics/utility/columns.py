"""Columns before and after as numbers or categories: their distributions, standard deviations and correlations."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from microagg.columns import dates
from microagg.columns.scaling import centered
from microagg.columns.taxonomy import category
from microagg.errors import DataError
from microagg.metrics.risk.measures import read_measures
from microagg.tables.frames import as_pandas, is_table
from microagg.validation import (
    FloatArray,
    attribute_name,
    check_columns,
    check_finite,
    check_pair,
    check_present,
    check_whole,
    factorized,
    float_type,
)

#: The description of each measure of utility, by its key.
MEASURES = read_measures(Path(__file__).with_name("measures.csv"))

# A range of numbers in a release.
_RANGE = re.compile(r"\[([^,\[\]]+), ([^,\[\]]+)\]")

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: A table of numbers, or one with named columns, of pandas, polars or Arrow, that may also be categories and dates.
Table: TypeAlias = Union[ArrayLike, "IntoDataFrame"]


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute before, shape (n,), and after, shape (m,)."""

    name: Any  # of the column; for arrays its index
    categories: tuple[str, ...]  # all categories before or after; empty for numbers
    before: FloatArray  # finite numbers (of dates days since 1970-01-01), or the positions of the categories
    after: FloatArray  # the same for the release

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return not self.categories


def pair_columns(before: Any, after: Any, names: Sequence[Any] | None = None, *, matched: bool = False) -> list[Column]:
    """Columns of two tables, for frames only ``names`` if they are set.

    Columns of numbers, booleans and dates are numbers; a released range such as ``[17, 23]`` or ``[2001-03-04,
    2002-05-06]`` counts as its middle. All others are categories. If the tables are ``matched``, they have equally many
    records.

    Raises
    ------
    DataError
        If only one of them is a frame, a column is missing or not unique, there are no records, a value is missing or
        not finite, a released value of numbers or dates is neither, or numbers of records or attributes differ.
    """
    if is_table(before) is not is_table(after):
        raise DataError("one of the originals and the release is a DataFrame and the other is not: pass two.")
    if not is_table(before):
        X, released = check_pair(before, after, matched=matched)
        return [Column(j, (), X[:, j].copy(), released[:, j].copy()) for j in range(X.shape[1])]
    before, after = as_pandas(before), as_pandas(after)
    selected = list(before.columns) if names is None else list(names)
    for frame, table_name in ((before, "the originals"), (after, "the release")):
        check_columns(frame, selected, f" in {table_name}")
        if frame.empty:
            raise DataError(f"in {table_name}: there are no records.")
    if matched and len(before) != len(after):
        raise DataError(
            f"there are {len(before):,} originals and {len(after):,} released records: pass the same records, in the "
            "same order."
        )
    return [pair_column(before[name], after[name]) for name in selected]


def pair_column(before: pd.Series[Any], after: pd.Series[Any]) -> Column:
    """A column before and after, each with at least one value (see :func:`pair_columns`)."""
    for series, table_name in ((before, "the originals"), (after, "the release")):
        check_present(series, np.ones(len(series), dtype=np.bool_), "no value", f" of {table_name}")
    are_dates = dates.holds_dates(before)
    if not are_dates and not (_is_number(before) and (_is_number(after) or not is_bool_dtype(before))):
        return pair_categories(before, after)
    original, low, high = released_ends(before, after)
    if are_dates and low is not high and (years := _years(low, high)) is not None:
        # Only years are released, so years are compared.
        original, (low, high) = dates.read(before).dt.year.to_numpy(dtype=np.float64), years
    return Column(before.name, (), original, low if low is high else low / 2 + high / 2)


def pair_categories(before: pd.Series[Any], after: pd.Series[Any]) -> Column:
    """A column of any kind before and after as categories."""
    texts = []
    for series in (before, after):
        positions, distinct = factorized(series)
        texts.append(np.array([category(value) for value in distinct], dtype=object)[positions])
    codes, categories = pd.factorize(np.concatenate(texts))
    codes_before, codes_after = np.split(codes.astype(np.float64), [len(before)])
    return Column(before.name, tuple(map(str, categories)), codes_before, codes_after)


def _years(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """First and last year of released days. None unless they are whole years."""
    first, end = (days.astype(np.int64).astype("datetime64[D]") for days in (low, high + 1.0))
    years = [days.astype("datetime64[Y]") for days in (first, end)]
    if (years[0] != first).any() or (years[1] != end).any():
        return None
    return 1970.0 + years[0].astype(np.float64), 1969.0 + years[1].astype(np.float64)


def released_ends(before: pd.Series[Any], after: pd.Series[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Numbers of a column, shape (n,), and the ends of their released values, each of shape (m,).

    For dates, these are days since 1970-01-01, and a year covers all of its days. Both ends are the same array if
    single numbers or days are released.

    Raises
    ------
    DataError
        If a number is not finite, or a released value is neither a number (or date) nor a range of these.
    """
    if dates.holds_dates(before):
        original, (low, high) = dates.to_days(dates.read(before)), dates.ends(after)
    else:
        original = _floats(before)
        low, high = (_floats(after),) * 2 if _is_number(after) else _ends(after, before.dtype)
    name: Any = before.name
    for values, table_name in ((original, "the originals"), (low, "the release"), (high, "the release")):
        try:
            check_finite(values[:, np.newaxis], [name])
        except DataError as error:
            raise DataError(f"in {table_name}: {error}") from None
    return original, low, high


def _is_number(series: pd.Series[Any]) -> bool:
    return (is_numeric_dtype(series) or is_bool_dtype(series)) and not is_complex_dtype(series)


def _floats(series: pd.Series[Any]) -> FloatArray:
    return series.to_numpy(dtype=np.float64, copy=True)


def _ends(series: pd.Series[Any], dtype: Any) -> tuple[FloatArray, FloatArray]:
    """Ends of released ranges of numbers of this ``dtype``, or a single number twice."""
    # The digits of a release read back as the same number only in the type of the original.
    positions, distinct = factorized(series)
    values = [_range(str(value), float_type(dtype)) for value in distinct]
    if None in values:
        index = values.index(None)
        row = int(np.flatnonzero(positions == index)[0])
        raise DataError(
            f"{attribute_name(0, [series.name])} holds numbers in the originals, and in the release something that is "
            f"neither a number nor a range such as [17, 23] (record {row} holds {distinct[index]!r}): leave it out, or "
            "turn it into text in both."
        )
    low, high = np.array(values, dtype=np.float64).reshape(-1, 2)[positions].T
    return low, high


def _range(text: str, number: Callable[[str], Any]) -> tuple[float, float] | None:
    match = _RANGE.fullmatch(text)
    low, high = match.groups() if match else (text, text)
    try:
        return float(number(low)), float(number(high))
    except ValueError:
        return None


# --- distances of distributions ---------------------------------------------------------------------------------------

#: The default number of bins in :func:`hellinger`.
BINS = 20


@dataclass(frozen=True, eq=False)
class Distances:
    """Results of :func:`hellinger`.

    ``attributes``, shape (d,), are the distances of the attributes ``names``, which are numbers for an array; ``value``
    is their mean without attributes that have the same single value before and after.
    """

    value: float
    names: tuple[Any, ...]
    attributes: FloatArray


def hellinger(before: Table, after: Table, *, bins: int = BINS) -> Distances:
    """Hellinger distance of each attribute's distributions: 0 if they are equal, 1 if disjoint (low is good).

    H = √(½ Σ (√p − √q)²), where p and q are the shares of the records in each bin, or with each category. If there are
    at most ``bins`` distinct original numbers, each has a bin, with the released numbers nearest to it. Otherwise bins
    are bounded by quantiles of the originals, so that each has about equally many, in any units. The boundary of two
    bins is halfway between two originals and belongs to the upper bin; the outer bins are open.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d) and (m, d), or DataFrame
        Originals and release, in any order. Columns of a frame may hold categories.
    bins : int
        At least 2.

    Raises
    ------
    DataError, ParameterError
        As :func:`pair_columns`; if ``bins`` is not a whole number of at least 2.

    References
    ----------
    Gomatam, Karr & Sanil (2005), Data swapping as a decision problem, Journal of Official Statistics 21.
    """
    at_most = check_whole("bins", bins, 2)
    columns = pair_columns(before, after)
    distances = [_hellinger(column, at_most) for column in columns]
    defined = [distance for distance in distances if distance is not None]
    value = sum(defined) / len(defined) if defined else 0.0
    return Distances(value, tuple(column.name for column in columns), np.array([each or 0.0 for each in distances]))


def _hellinger(column: Column, bins: int) -> float | None:
    """Hellinger distance of a column. None if it has only one value, of numbers in the originals."""
    if column.numeric:
        has_one_value = column.before.min() == column.before.max()
        limits = bin_limits(column.before, bins)
    else:
        has_one_value = len(column.categories) == 1
        limits = np.arange(1.0, len(column.categories))  # between the codes
    if has_one_value:
        return None
    bins_of = (np.searchsorted(limits, values, side="right") for values in (column.before, column.after))
    p, q = (np.bincount(codes, minlength=len(limits) + 1) / len(codes) for codes in bins_of)
    return min(math.sqrt(0.5 * float(np.square(np.sqrt(p) - np.sqrt(q)).sum())), 1.0)


def bin_limits(values: FloatArray, bins: int) -> FloatArray:
    """Boundaries of the bins of numbers, ascending: see :func:`hellinger`."""
    distinct, counts = np.unique(values, return_counts=True)
    last = np.arange(len(distinct))
    if len(distinct) > bins:
        parts = len(values) * np.arange(1, bins) / bins
        last = np.unique(np.searchsorted(np.cumsum(counts), parts))
    last = last[last < len(distinct) - 1]
    # If there is no number halfway, the boundary is the upper one, which belongs to the bin above.
    return np.asarray(np.maximum(distinct[last] / 2 + distinct[last + 1] / 2, np.nextafter(distinct[last], np.inf)))


# --- standard deviations and correlations -----------------------------------------------------------------------------

# A standard deviation below this fraction of the original one consists of rounding errors, and so do its correlations.
_VANISHED = 1e-9


def means_and_deviations(X: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, standard deviation and deviations from the mean of each column. Exactly 0 if it is constant.

    ``X``, shape (n, d), is finite and has a record; with ``weights``, shape (n,), all are weighted.
    """
    low, center, deviations = centered(X, weights)
    constant = X.max(axis=0) == low
    deviations[:, constant] = 0.0
    squares = np.square(deviations)
    variance = squares.mean(axis=0) if weights is None else np.average(squares, axis=0, weights=weights)
    return np.where(constant, low, low + center), np.sqrt(variance), deviations


@dataclass(frozen=True, eq=False)
class CorrelationChanges:
    """Changes of the correlations of two different attributes that are defined before and after."""

    attributes: FloatArray  # shape (d,): the largest absolute change of each, 0 to 2; NaN if none is defined
    largest: float | None  # absolute change over all pairs; None if no correlation is defined
    pair: tuple[int, int] | None  # the two attributes of the largest change


def correlation_changes(X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None) -> CorrelationChanges:
    """Changes of the correlations of the columns of ``X``, shape (n, d), by their replacement.

    All numbers are finite; with ``weights``, shape (n,), correlations are weighted.
    """
    return changes_between(*correlations(X, replaced, weights))


def changes_between(before: FloatArray, after: FloatArray) -> CorrelationChanges:
    """Changes between two matrices of correlations, shape (d, d), NaN if a correlation is not defined."""
    change = np.triu(np.abs(after - before), 1)
    # Only one half, as both may differ in the last bit.
    change += change.T
    np.fill_diagonal(change, np.nan)
    filled = np.where(np.isnan(change), -1.0, change)
    largest = filled.max(axis=1)
    attributes = np.where(largest >= 0.0, largest, np.nan)
    if largest.max() < 0.0:
        return CorrelationChanges(attributes, None, None)
    i, j = np.unravel_index(int(filled.argmax()), filled.shape)
    return CorrelationChanges(attributes, float(largest.max()), (int(i), int(j)))


def correlations(
    X: FloatArray, replaced: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Correlations of the columns of ``X``, shape (n, d), and of their replacements. Each of shape (d, d).

    With ``weights``, shape (n,), they are weighted. NaN if a column is constant, before or after.
    """
    _, sd, before = means_and_deviations(X, weights)
    _, sd_after, after = means_and_deviations(replaced, weights)
    defined = (sd > 0.0) & (sd_after > _VANISHED * sd)
    shares = np.full(len(X), 1.0 / len(X)) if weights is None else weights / weights.sum()
    matrices = []
    for deviations, spread in ((before, sd), (after, sd_after)):
        scaled = deviations / np.where(defined, spread, 1.0)
        matrix = np.clip((scaled * shares[:, np.newaxis]).T @ scaled, -1.0, 1.0)
        matrix[~defined] = np.nan
        matrix[:, ~defined] = np.nan
        matrices.append(matrix)
    return matrices[0], matrices[1]
