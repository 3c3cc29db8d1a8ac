"""Columns before and after as what can be compared, numbers or categories, and how far their distributions are apart.

Distances compare distributions, whichever record has which value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_float_dtype, is_numeric_dtype

from microagg.columns import dates
from microagg.columns.taxonomy import category
from microagg.errors import DataError
from microagg.metrics.utility.correlations import Pair
from microagg.tables.frames import as_pandas, is_table
from microagg.validation import (
    FloatArray,
    IntArray,
    attribute_name,
    check_columns,
    check_finite,
    check_pair,
    check_present,
    check_whole,
    factorized,
)

# A range of numbers as releases write it.
_RANGE = re.compile(r"\[([^,\[\]]+), ([^,\[\]]+)\]")

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: A table of numbers, or one with named columns, of pandas, polars or Arrow, that may also be categories and dates.
Table: TypeAlias = Union[ArrayLike, "IntoDataFrame"]


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute before, shape (n,), and after, shape (m,)."""

    name: Any  # of the column; of an array its number
    categories: tuple[str, ...]  # those that there are before or after; empty for numbers
    before: FloatArray  # finite numbers (of dates days since 1970-01-01), or the positions of the categories
    after: FloatArray  # likewise

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return not self.categories

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Return the share of the records that each category has, before and after."""
        return shares(self.before.astype(np.int64), self.after.astype(np.int64), len(self.categories))


def shares(before: IntArray, after: IntArray, many: int) -> tuple[FloatArray, FloatArray]:
    """Return which share of the records each of ``many`` numbers from 0 on has, before and after."""
    one, other = (np.bincount(numbers, minlength=many) / len(numbers) for numbers in (before, after))
    return one, other


def columns_of(before: Any, after: Any, names: Sequence[Any] | None = None, *, matched: bool = False) -> list[Column]:
    """Return the columns of two tables, of frames only those called ``names`` where these are given.

    Columns of numbers and booleans are numbers, and so are dates; a released range such as ``[17, 23]`` or
    ``[2001-03-04, 2002-05-06]`` counts as its middle. All others are categories. If the tables are ``matched``, they
    have equally many records.

    Raises
    ------
    DataError
        If only one of them is a frame, a column is missing or not unique, there are no records, a value is missing or
        not finite, what is released of numbers or dates is neither, or numbers of records or attributes differ.
    """
    if is_table(before) is not is_table(after):
        raise DataError("one of the originals and the release is a DataFrame and the other is not: pass two.")
    if not is_table(before):
        X, released = check_pair(before, after, matched=matched)
        return [Column(j, (), X[:, j].copy(), released[:, j].copy()) for j in range(X.shape[1])]
    before, after = as_pandas(before), as_pandas(after)
    selected = list(before.columns) if names is None else list(names)
    for frame, whose in ((before, "the originals"), (after, "the release")):
        check_columns(frame, selected, f" in {whose}")
        if frame.empty:
            raise DataError(f"in {whose}: there are no records.")
    if matched and len(before) != len(after):
        raise DataError(
            f"there are {len(before):,} originals and {len(after):,} released records: pass the same records, in the "
            "same order."
        )
    return [column_of(before[name], after[name]) for name in selected]


def column_of(before: pd.Series[Any], after: pd.Series[Any]) -> Column:
    """Return a column before and after, each with at least one value; see :func:`columns_of`."""
    for series, whose in ((before, "the originals"), (after, "the release")):
        check_present(series, np.ones(len(series), dtype=np.bool_), "no value", f" of {whose}")
    are_dates = dates.holds_dates(before)
    if not are_dates and not (_is_number(before) and (_is_number(after) or not is_bool_dtype(before))):
        return categories_of(before, after)
    original, low, high = ends_of(before, after)
    if are_dates and low is not high and (years := _years(low, high)) is not None:
        # Years are released, so years are compared: a day has none of its own in them.
        original, (low, high) = dates.read(before).dt.year.to_numpy(dtype=np.float64), years
    return Column(before.name, (), original, low if low is high else low / 2 + high / 2)


def categories_of(before: pd.Series[Any], after: pd.Series[Any]) -> Column:
    """Return a column before and after as categories, whatever it holds."""
    texts = []
    for series in (before, after):
        positions, distinct = factorized(series)
        texts.append(np.array([category(value) for value in distinct], dtype=object)[positions])
    codes, categories = pd.factorize(np.concatenate(texts))
    one, other = np.split(codes.astype(np.float64), [len(before)])
    return Column(before.name, tuple(map(str, categories)), one, other)


def _years(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the first and the last year that released days cover; None unless they are whole years."""
    first, behind = (days.astype(np.int64).astype("datetime64[D]") for days in (low, high + 1.0))
    years = [days.astype("datetime64[Y]") for days in (first, behind)]
    if (years[0] != first).any() or (years[1] != behind).any():
        return None
    return 1970.0 + years[0].astype(np.float64), 1969.0 + years[1].astype(np.float64)


def ends_of(before: pd.Series[Any], after: pd.Series[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the numbers of a column, shape (n,), and the ends of what is released of it, each of shape (m,).

    Of dates, these are days since 1970-01-01, and a year covers all of its days. Both ends are the same array where
    single numbers or days are released.

    Raises
    ------
    DataError
        If a number is not finite, or what is released is neither a number (or date) nor a range of such.
    """
    if dates.holds_dates(before):
        original, (low, high) = dates.to_days(dates.read(before)), dates.ends(after)
    else:
        original = _floats(before)
        low, high = (_floats(after),) * 2 if _is_number(after) else _ends(after, before.dtype)
    name: Any = before.name
    for values, whose in ((original, "the originals"), (low, "the release"), (high, "the release")):
        try:
            check_finite(values[:, np.newaxis], [name])
        except DataError as error:
            raise DataError(f"in {whose}: {error}") from None
    return original, low, high


def _is_number(series: pd.Series[Any]) -> bool:
    return (is_numeric_dtype(series) or is_bool_dtype(series)) and not is_complex_dtype(series)


def _floats(series: pd.Series[Any]) -> FloatArray:
    return series.to_numpy(dtype=np.float64, copy=True)


def _ends(series: pd.Series[Any], dtype: Any) -> tuple[FloatArray, FloatArray]:
    """Return the ends of what is released of numbers of this ``dtype`` as text: of ranges, or twice a number."""
    # The digits of a release read back as the same number in the type of the original only.
    narrow = {2: np.float16, 4: np.float32}.get(getattr(dtype, "itemsize", 8)) if is_float_dtype(dtype) else None
    positions, distinct = factorized(series)
    values = [_range(str(value), narrow or np.float64) for value in distinct]
    if None in values:
        at = values.index(None)
        row = int(np.flatnonzero(positions == at)[0])
        raise DataError(
            f"{attribute_name(0, [series.name])} holds numbers in the originals, and in the release something that is "
            f"neither a number nor a range such as [17, 23] (record {row} holds {distinct[at]!r}): leave it out, or "
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

#: Into how many bins :func:`hellinger` puts numbers by default.
BINS = 20


@dataclass(frozen=True, eq=False)
class Distances:
    """What :func:`hellinger` and :func:`wasserstein` return.

    ``attributes``, shape (d,), are the distances of the attributes called ``names``, which of an array are numbers;
    ``value`` is their mean, those left out that hold the same one value before and after.
    """

    value: float
    names: tuple[Any, ...]
    attributes: FloatArray


def hellinger(before: Table, after: Table, *, bins: int = BINS) -> Distances:
    """Return the Hellinger distance of each attribute's distributions: 0 if they are equal, 1 if disjoint; low is good.

    H = √(½ Σ (√p − √q)²), p and q being the shares of the records in each bin, or with each category. Up to ``bins``
    distinct original numbers have a bin each, to which released numbers that are nearest to them belong. Of more, a bin
    ends with the first one at which it and the bins below it hold their part of the originals, so that about equally
    many of these are in each, whatever the units. Bins meet halfway between two originals, where the upper one begins;
    the outer ones are open.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d) and (m, d), or DataFrame
        Originals and release, in any order. Columns of a frame may hold categories.
    bins : int
        At least 2.

    Raises
    ------
    DataError
        As :func:`columns_of`.
    ParameterError
        If ``bins`` is not a whole number of at least 2.

    References
    ----------
    Gomatam, Karr & Sanil (2005), Data swapping as a decision problem, Journal of Official Statistics 21.
    """
    at_most = check_whole("bins", bins, 2)
    return _distances(columns_of(before, after), lambda column: _hellinger(column, at_most))


def wasserstein(before: Table, after: Table) -> Distances:
    """Return how far values must move on average to turn one distribution into the other, in sd; low is good.

    W = ∫ |F − G| dx / s, F and G being the distribution functions before and after and s the standard deviation of the
    original attribute, of the population: 0 if they are equal, without an upper bound. Of categories it is the total
    variation ½ Σ |p − q|, 0 to 1: all categories are one apart. An attribute's W is at most its mean absolute change in
    standard deviations, which is √2 times its IL1s.

    Parameters
    ----------
    before, after
        As in :func:`hellinger`.

    Raises
    ------
    DataError
        As :func:`columns_of`; and if a column of numbers holds one value only in the originals, and another one is
        released.

    References
    ----------
    Vallender (1974), Calculation of the Wasserstein distance between probability distributions on the line.
    """
    return _distances(columns_of(before, after), _wasserstein)


def _distances(columns: list[Column], distance: Callable[[Column], float | None]) -> Distances:
    """Return the distances of ``columns``; ``distance`` is None where a column holds the same one value throughout."""
    distances = [distance(column) for column in columns]
    counted = [value for value in distances if value is not None]
    value = sum(counted) / len(counted) if counted else 0.0
    return Distances(value, tuple(column.name for column in columns), np.array([each or 0.0 for each in distances]))


def _hellinger(column: Column, bins: int) -> float | None:
    if column.numeric:
        if (pair := _varying(column)) is None:
            return None
        one, other = pair.before[:, 0], pair.after[:, 0]
        limits = bin_limits(one, bins)
        bins_before, bins_after = (np.searchsorted(limits, values, side="right") for values in (one, other))
        p, q = shares(bins_before, bins_after, len(limits) + 1)
    elif len(column.categories) == 1:
        return None
    else:
        p, q = column.shares()
    return min(math.sqrt(0.5 * float(np.square(np.sqrt(p) - np.sqrt(q)).sum())), 1.0)


def _wasserstein(column: Column) -> float | None:
    if not column.numeric:
        p, q = column.shares()
        return 0.5 * float(np.abs(p - q).sum()) if len(column.categories) > 1 else None
    if (pair := _varying(column)) is None:
        return None
    one, other = pair.before[:, 0], pair.after[:, 0]
    if len(one) == len(other):
        return float(np.abs(np.sort(one) - np.sort(other)).mean() / pair.sd[0])
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(one, other) / pair.sd[0])


def _varying(column: Column) -> Pair | None:
    """Return the numbers of a column; None where it holds one value only."""
    pair = Pair.of(column.before, column.after, matched=False, names=[column.name])
    return pair if pair.varies[0] else None


def bin_limits(values: FloatArray, bins: int) -> FloatArray:
    """Return where the bins of numbers meet, ascending: see :func:`hellinger`."""
    distinct, counts = np.unique(values, return_counts=True)
    last = np.arange(len(distinct))
    if len(distinct) > bins:
        parts = len(values) * np.arange(1, bins) / bins
        last = np.unique(np.searchsorted(np.cumsum(counts), parts))
    last = last[last < len(distinct) - 1]
    # Where there is no number halfway, bins meet at the upper one, which belongs to the bin above.
    return np.asarray(np.maximum(distinct[last] / 2 + distinct[last + 1] / 2, np.nextafter(distinct[last], np.inf)))
