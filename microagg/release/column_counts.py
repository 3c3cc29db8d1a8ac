"""Counts for the checks: rare values, uniform classes, outliers, and columns that determine others."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns import dates, numerals
from microagg.columns.records import is_number
from microagg.columns.taxonomy import category
from microagg.errors import DataError
from microagg.metrics.risk.equivalence_classes import coded, combined
from microagg.validation import FloatArray, IntArray

#: A column determines another one if at least this share of the records that share its values agree. Less than 1: a
#: few typing errors in a file do not hide the dependency.
DETERMINED = 0.99

#: A column with one value for this share of the records or more does not count as determined: guessing that value
#: is right nearly as often.
COMMON = 0.95

#: Agreement with this probability or a higher one, if the values were assigned to the records at random, is no
#: evidence that one column determines another: in files of few records it happens.
CHANCE = 0.01

#: Outliers are at most 1 % of the records, without which the range of a column is at most a fifth of what it is. (Of
#: the benchmark files only Adult's capital gain has such, where 99,999 stands for all that is more; next come
#: Tarragona's fixed assets, of which the range shrinks to a quarter.)
OUTLIERS, SPREAD = 0.01, 5.0

#: About the number of records in which :func:`following` looks: where a person waits for it, and for a finding.
FEW_RECORDS, MANY_RECORDS = 2_500, 50_000

# The maximum number of columns there: its time grows with their square.
_MOST_COMPARED = 60

# Columns of which one puts the records in the order of the other have a rank correlation above this.
_CORRELATED = 0.3


class Rarity(NamedTuple):
    """The distinct values of a column, the records with a value, and the records with one of fewer than k records."""

    distinct: int
    present: int
    rare: int

    @property
    def share(self) -> float:
        """The share of rare values among the records with a value. 0 without any."""
        return self.rare / self.present if self.present else 0.0


class Uniform(NamedTuple):
    """The classes in which all records have the same value of a column."""

    classes: int
    records: int  # in these classes
    commonest: int  # the code of the most frequent value among these records
    with_commonest: int  # its frequency


class Outliers(NamedTuple):
    """The number of ``records`` below ``low`` or above ``high``. Dates count in the units of their type."""

    records: int = 0
    low: float = -math.inf
    high: float = math.inf


def outliers(values: pd.Series[Any]) -> Outliers:
    """The fewest records without which the range of numbers or dates shrinks to 1 / :data:`SPREAD` or less.

    None if they exceed :data:`OUTLIERS` of the records with a value, or if all other values are equal.
    """
    none = Outliers()
    present = values.dropna()
    if is_datetime64_any_dtype(present):
        present = pd.to_datetime(present).astype("int64")  # Arrow has dates without a time, too
    elif not is_numeric_dtype(present) or is_bool_dtype(present) or is_complex_dtype(present):
        return none
    ordered = np.sort(present.to_numpy(dtype=np.float64))
    n = len(ordered)
    max_outliers = int(OUTLIERS * n)
    if not max_outliers or not np.isfinite(ordered[-1] - ordered[0]):
        return none

    def shrinkage(j: int) -> float:
        range_left = float((ordered[n - 1 - j :] - ordered[: j + 1]).min())
        return float(ordered[-1] - ordered[0]) / range_left if range_left > 0.0 else math.inf

    if shrinkage(max_outliers) < SPREAD:
        return none
    n_outliers = bisect_left(range(max_outliers + 1), SPREAD, key=shrinkage)
    if math.isinf(shrinkage(n_outliers)):
        return none
    first = int((ordered[n - 1 - n_outliers :] - ordered[: n_outliers + 1]).argmin())
    last = first + n - 1 - n_outliers
    return Outliers(n_outliers, float(ordered[first]), float(ordered[last]))


def rarity(codes: IntArray, k: int) -> Rarity:
    """Number of records whose value fewer than ``k`` records have, without missing values."""
    sizes = np.bincount(codes + 1)[1:]
    return Rarity(len(sizes), int(sizes.sum()), int(sizes[sizes < k].sum()))


def uniform(classes: IntArray, codes: IntArray) -> Uniform | None:
    """Classes whose records with a value all have the same one. None if there are none.

    If a column has only one value, a missing value counts as another one: having the value is the information then.
    """
    if codes.max() > 0:
        classes, codes = classes[codes >= 0], codes[codes >= 0]
    values = pd.Series(codes).groupby(classes).agg(["min", "max", "size"])
    uniform = values[(values["min"] == values["max"]) & (values["min"] >= 0)]
    if uniform.empty:
        return None
    records = uniform.groupby("min")["size"].sum()
    most_frequent = int(np.asarray(records.index)[records.argmax()])
    return Uniform(len(uniform), int(records.sum()), most_frequent, int(records.max()))


def determined(codes: IntArray, targets: Mapping[Hashable, IntArray]) -> list[Hashable]:
    """The targets that a column determines. Columns are codes, shape (n,), without missing values in targets.

    At least 99 % (:data:`DETERMINED`) of the records that share their value of the column have the most frequent value
    of the target among these. They are at least half of the records with a value of the column, less than 95 % of them
    have the target's most frequent value (:data:`COMMON`), and their agreement is not likely by chance.
    """
    present = codes >= 0
    shared = np.flatnonzero(present & (np.bincount(codes[present], minlength=1)[codes] > 1))
    if len(shared) == 0 or 2 * len(shared) < np.count_nonzero(present):
        return []
    shared = shared[np.argsort(codes[shared], kind="stable")]
    column = pd.factorize(codes[shared])[0]
    return [name for name, target in targets.items() if _determines(column, target[shared])]


class Following(NamedTuple):
    """A column that follows from another one, its ``source``; ``mutual`` if the source follows from it, too."""

    column: Hashable
    source: Hashable
    mutual: bool

    @property
    def sentence(self) -> str:
        """The sentence that says so, and what to do about it."""
        how = " one to one" if self.mutual else ""
        return f"follows from {self.source!r}{how}: leave it out, or give both the same role"


def following(frame: pd.DataFrame, *, records: int = FEW_RECORDS, by_order: bool = True) -> list[Following]:
    """Return which columns follow from which: the source determines them, or puts the records in their order.

    See :func:`determined`, where a missing value of the target counts as a value, and, unless ``by_order`` is false,
    :func:`in_order`, where records without one of the two values do not count. Of two columns that follow from each
    other, the later one is returned. The first 60 columns with several values are compared, in about as many evenly
    spaced ``records``.
    """
    sampled = frame.iloc[:: max(1, len(frame) // records)]
    codes = {name: coded(sampled[name]) for name in sampled.columns}
    names = list(islice((name for name, each in codes.items() if each.max(initial=-1) > 0), _MOST_COMPARED))
    targets = {name: np.where(codes[name] < 0, codes[name].max() + 1, codes[name]) for name in names}
    numbers = {n: values for n in names if by_order and (values := _numbers(sampled[n])) is not None}
    correlations = pd.DataFrame(numbers).corr(method="spearman").abs()
    pairs: set[tuple[Hashable, Hashable]] = set()
    for source in names:
        others: dict[Hashable, IntArray] = {name: target for name, target in targets.items() if name != source}
        pairs |= {(source, name) for name in determined(codes[source], others)}
        if source in numbers:
            alike = [name for name in correlations.index[correlations[source] > _CORRELATED] if name != source]
            pairs |= {(source, name) for name in alike if _is_in_order(numbers[source], numbers[name])}
    place: dict[Hashable, int] = {name: i for i, name in enumerate(names)}
    ordered = sorted(pairs, key=lambda pair: (place[pair[1]], place[pair[0]]))
    mutual = {pair for pair in pairs if pair[::-1] in pairs}
    is_later = [(one, other) for one, other in ordered if (one, other) not in mutual or place[one] < place[other]]
    return [Following(other, one, (one, other) in mutual) for one, other in is_later]


def _numbers(series: pd.Series[Any]) -> FloatArray | None:
    """Numbers or dates, but not text, as floats; None for other columns."""
    return measured(series) if is_number(series.dtype) or is_datetime64_any_dtype(series) else None


def _is_in_order(source: FloatArray, target: FloatArray) -> bool:
    """Whether ``source`` puts the records that have both values in the order of ``target``."""
    present = ~np.isnan(source) & ~np.isnan(target)
    if 2 * np.count_nonzero(present) < np.count_nonzero(~np.isnan(source)):
        return False
    source, target = source[present], target[present]
    return bool(in_order(source, {None: target}))


def impossible(original: pd.DataFrame, released: pd.DataFrame, first: Hashable, second: Hashable) -> IntArray:
    """Rows of ``released`` with two values that both occur in ``original``, but in no record together.

    Values are the same if taxonomies write them alike, as 7 and "7". A value that does not occur there at all, such as
    a mean or a range, does not count.
    """
    original_codes, released_codes = [], []
    for name in (first, second):
        before, values = pd.factorize(original[name])
        after, released_values = pd.factorize(released[name])
        code_by_category = {category(value): code for code, value in enumerate(values)}
        # The last entry is for records without a value, whose code is -1.
        code_of = np.array([*(code_by_category.get(category(value), -1) for value in released_values), -1])
        original_codes.append(before.astype(np.int64))
        released_codes.append(code_of[after])
    width = int(original_codes[1].max()) + 1
    pairs = np.unique(original_codes[0] * width + original_codes[1])
    is_new = ~np.isin(released_codes[0] * width + released_codes[1], pairs)
    return np.flatnonzero(is_new & (released_codes[0] >= 0) & (released_codes[1] >= 0))


def measured(series: pd.Series[Any]) -> FloatArray | None:
    """A column of numbers or dates as floats, shape (n,), NaN if missing. None for other columns.

    Text counts as numbers or dates if all of it can be read as such: see :func:`microagg.columns.numerals.read` and
    :func:`microagg.columns.dates.read`.
    """
    if is_number(series.dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if is_datetime64_any_dtype(series):
        moments = pd.to_datetime(series).to_numpy(dtype="datetime64[us]")  # Arrow has dates without a time, too
        return np.where(series.isna(), np.nan, moments.astype(np.float64))
    if is_bool_dtype(series) or is_complex_dtype(series):
        return None
    for notation in numerals.NOTATIONS:
        try:
            return numerals.read(series, notation).to_numpy()
        except DataError:
            continue
    try:
        return dates.to_days(dates.read(series))
    except DataError:
        return None


def in_order(values: FloatArray, targets: Mapping[Hashable, FloatArray]) -> list[Hashable]:
    """The targets whose order, or its reverse, is the order of the records by a column. Arrays have shape (n,).

    So it is if one is computed from the other, such as net from gross income. At most 1 % (see :data:`DETERMINED`) of
    the records with a value of the column may contradict: records that share their value of the column with a record of
    another target value, and steps to the next value of the column at which the target falls (or rises). ``COMMON`` and
    ``CHANCE`` count as for :func:`determined`. Targets have no missing values.
    """
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows) == 0:
        return []
    rows = rows[np.argsort(values[rows])]
    starts = np.flatnonzero(np.diff(pd.factorize(values[rows])[0], prepend=-1))
    return [name for name, target in targets.items() if _ascends_or_descends(target[rows], starts)]


def _ascends_or_descends(target: FloatArray, starts: IntArray) -> bool:
    """Whether ``target`` is in the order of the column, whose equal values begin at ``starts``."""
    m = len(target)
    lowest, highest = np.minimum.reduceat(target, starts), np.maximum.reduceat(target, starts)
    falls, rises = np.count_nonzero(lowest[1:] < highest[:-1]), np.count_nonzero(highest[1:] > lowest[:-1])
    n_differing = int(np.diff(starts, append=m)[lowest != highest].sum())
    if n_differing + min(falls, rises) > (1.0 - DETERMINED) * m:
        return False
    counts = np.unique(target, return_counts=True)[1]
    # Two of all orders of values that occur so often are the ascending and the descending one.
    return bool(counts.max() < COMMON * m and math.log(2.0) - log_orders(counts) < math.log(CHANCE))


def log_orders(counts: IntArray) -> float:
    """Logarithm of the number of different orders of values with these ``counts``, n! / Π counts!."""
    return math.lgamma(float(counts.sum()) + 1.0) - sum(math.lgamma(float(count) + 1.0) for count in counts)


def _determines(column: IntArray, target: IntArray) -> bool:
    """Whether ``column``, ascending codes that each occur twice or more, determines ``target``."""
    m = len(column)
    # A fast test: of two neighbors with one value of the column that differ in the target, at least one disagrees with
    # most records of that value, and no record is in more than two such pairs.
    differing = (column[1:] == column[:-1]) & (target[1:] != target[:-1])
    if np.count_nonzero(differing) > 2.0 * (1.0 - DETERMINED) * m:
        return False
    frequencies = np.bincount(target)
    if frequencies.max() >= COMMON * m:
        return False
    # Is agreement of this many records likely if values are drawn with these shares?
    n_repeats, alike = m - int(column[-1]) - 1, float(np.square(frequencies / m).sum())
    if n_repeats * -math.log(alike) < -math.log(CHANCE):
        return False
    # Records agree that have the most frequent target value of their value of the column.
    pairs = combined(column, target)
    largest = np.zeros(int(column[-1]) + 1, dtype=np.int64)
    np.maximum.at(largest, column, np.bincount(pairs)[pairs])
    return bool(largest.sum() >= DETERMINED * m)
