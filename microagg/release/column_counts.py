"""Counts for the checks: rare values, uniform classes, outliers, and columns that determine others."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns import dates, numerals
from microagg.columns.records import is_number
from microagg.columns.taxonomy import category
from microagg.errors import DataError
from microagg.metrics.risk.equivalence_classes import combined
from microagg.validation import FloatArray, IntArray

#: A column determines another one if at least this share of the records that it can be judged by agree. Not all of
#: them, for a few typing errors in a file do not keep anybody from seeing what the column says.
DETERMINED = 0.99

#: A column that has one value for this share of the records or more is not said to be determined: guessing that value
#: is right nearly as often.
COMMON = 0.95

#: Agreement that would come about with this probability or a higher one, were the values dealt to the records at
#: random, is no evidence that one column determines another: in files of few records it happens.
CHANCE = 0.01

# How many values of targets are looked at together.
_CELLS = 2_000_000

# Quasi-identifiers of which it is found out whether one determines another, and in how many records: what is bounded
# is the time, which grows with the square of the columns.
_MOST_COMPARED, _MOST_RECORDS = 60, 50_000


class Rarity(NamedTuple):
    """The distinct values of a column, its records that have a value, and those with one that fewer than k have."""

    distinct: int
    present: int
    rare: int

    @property
    def share(self) -> float:
        """The share of the records with a value that have a rare one; 0 where no record has a value."""
        return self.rare / self.present if self.present else 0.0


class Uniform(NamedTuple):
    """The ``classes`` in which all records have the same value of a column, and how many ``records`` they have.

    ``commonest`` is the code of the value that most of these records have, ``with_commonest`` how many have it.
    """

    classes: int
    records: int
    commonest: int
    with_commonest: int


class Outliers(NamedTuple):
    """How many records, below ``low`` or above ``high``, are outliers; dates count in the units of their type."""

    records: int = 0
    low: float = -math.inf
    high: float = math.inf


def outliers(values: pd.Series[Any], most: float, spread: float) -> Outliers:
    """Return the fewest records without which the range of numbers or dates is ``spread`` times smaller or more.

    Of other columns, where they would be more than ``most`` of the records that have a value, as a share, or where the
    others would all be equal, none are.
    """
    none = Outliers()
    present = values.dropna()
    if is_datetime64_any_dtype(present):
        present = present.astype("int64")
    elif not is_numeric_dtype(present) or is_bool_dtype(present) or is_complex_dtype(present):
        return none
    ordered = np.sort(present.to_numpy(dtype=np.float64))
    n = len(ordered)
    left_out = int(most * n)
    if not left_out or not np.isfinite(ordered[-1] - ordered[0]):
        return none

    def times(j: int) -> float:
        least = float((ordered[n - 1 - j :] - ordered[: j + 1]).min())
        return float(ordered[-1] - ordered[0]) / least if least > 0.0 else math.inf

    if times(left_out) < spread:
        return none
    fewest = bisect_left(range(left_out + 1), spread, key=times)
    if math.isinf(times(fewest)):
        return none
    first = int((ordered[n - 1 - fewest :] - ordered[: fewest + 1]).argmin())
    last = first + n - 1 - fewest
    return Outliers(fewest, float(ordered[first]), float(ordered[last]))


def rarity(codes: IntArray, k: int) -> Rarity:
    """Return how many records have a value that fewer than ``k`` of them have; missing is no value."""
    sizes = np.bincount(codes + 1)[1:]
    return Rarity(len(sizes), int(sizes.sum()), int(sizes[sizes < k].sum()))


def uniform(classes: IntArray, codes: IntArray) -> Uniform | None:
    """Return the classes whose records with a value all have the same one; None if there are none.

    In a column that has one value only, a missing one counts as another: who has it and who does not is what it tells.
    """
    if codes.max() > 0:
        classes, codes = classes[codes >= 0], codes[codes >= 0]
    sizes = np.bincount(classes)
    first = np.full(len(sizes), -1)
    first[classes[::-1]] = codes[::-1]
    differing = np.bincount(classes, weights=codes != first[classes])
    alike = (differing == 0) & (first >= 0)
    if not alike.any():
        return None
    records = np.bincount(first[alike], weights=sizes[alike])
    commonest = int(records.argmax())
    return Uniform(int(alike.sum()), int(sizes[alike].sum()), commonest, int(records[commonest]))


def determined(codes: IntArray, targets: Mapping[Hashable, IntArray]) -> list[Hashable]:
    """Return which of the targets a column determines; it and they are given as codes, shape (n,).

    It determines a target if, of the records that share their value of the column with another record, at least 99 %
    (:data:`DETERMINED`) have the value of the target that most records with their value of the column have. These must
    be at least half of the records that have a value of the column; of these the target's most frequent value must have
    less than 95 % (:data:`COMMON`); and it must not be likely that they agree by chance (:data:`CHANCE`). No target may
    lack values.
    """
    present = codes >= 0
    shared = np.flatnonzero(present & (np.bincount(codes[present], minlength=1)[codes] > 1))
    if len(shared) == 0 or 2 * len(shared) < np.count_nonzero(present):
        return []
    shared = shared[np.argsort(codes[shared], kind="stable")]
    column = pd.factorize(codes[shared])[0]
    return [name for name in _hardly_differing(column, shared, targets) if _determines(column, targets[name][shared])]


def dependent(columns: Mapping[Hashable, IntArray]) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of columns of which the first determines the second, see :func:`determined`.

    Each column is given as codes, shape (n,); those that lack values are not compared. Of two that determine each
    other, the pair stands there once. Of many columns the first 60 are compared that repeat their values, and of many
    records 50,000 evenly spaced ones.
    """
    sampled = {name: codes[:: -(-len(codes) // _MOST_RECORDS)] for name, codes in columns.items()}
    repeating = (n for n, codes in sampled.items() if codes.min() >= 0 and 2 <= len(pd.unique(codes)) <= len(codes) / 2)
    compared = list(islice(repeating, _MOST_COMPARED))
    pairs: list[tuple[Hashable, Hashable]] = []
    for one in compared:
        others = {other: sampled[other] for other in compared if other != one and (other, one) not in pairs}
        pairs += [(one, other) for other in determined(sampled[one], others)] if others else []
    return pairs


def impossible(original: pd.DataFrame, released: pd.DataFrame, one: Hashable, other: Hashable) -> IntArray:
    """Return the rows of ``released`` with two values that occur in ``original``, but in no record together.

    Values are the same if taxonomies write them alike, as 7 and "7"; what does not occur there at all, such as a mean
    or a range, is not counted.
    """
    before_codes, codes = [], []
    for name in (one, other):
        before, values = pd.factorize(original[name])
        after, released_values = pd.factorize(released[name])
        places = {category(value): place for place, value in enumerate(values)}
        # The last place is that of records without a value, whose code is -1.
        place_of = np.array([*(places.get(category(value), -1) for value in released_values), -1])
        before_codes.append(before.astype(np.int64))
        codes.append(place_of[after])
    width = int(before_codes[1].max()) + 1
    pairs = np.unique(before_codes[0] * width + before_codes[1])
    strange = ~np.isin(codes[0] * width + codes[1], pairs)
    return np.flatnonzero(strange & (codes[0] >= 0) & (codes[1] >= 0))


def measured(series: pd.Series[Any]) -> FloatArray | None:
    """Return a column of numbers or dates as floats, shape (n,), NaN where they are missing; None for others.

    Text counts as the numbers or dates that all of it says: see :func:`microagg.columns.numerals.read` and
    :func:`microagg.columns.dates.read`.
    """
    if is_number(series.dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if is_datetime64_any_dtype(series):
        return np.where(series.isna(), np.nan, series.to_numpy(dtype="datetime64[us]").astype(np.float64))
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
    """Return in the order of which targets, or its reverse, a column puts the records; all have shape (n,).

    So it does where one is computed from the other, such as net from gross income, however few records share a value.
    Of the records that have a value of the column, at most 1 % (see :data:`DETERMINED`) may speak against it: those
    that share theirs with one of another value of the target, and those steps from one value of the column to the next
    at which the target falls (or rises). As for :func:`determined`, the target's most frequent value must have less
    than 95 % of the records (:data:`COMMON`), and it must not be likely that they stand like this by chance
    (:data:`CHANCE`). No target may lack values.
    """
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows) == 0:
        return []
    rows = rows[np.argsort(values[rows])]
    starts = np.flatnonzero(np.diff(pd.factorize(values[rows])[0], prepend=-1))
    return [name for name, target in targets.items() if _ascends_or_descends(target[rows], starts)]


def _ascends_or_descends(target: FloatArray, starts: IntArray) -> bool:
    """Whether ``target``, of records whose equals in the column begin at ``starts``, is in the order of the column."""
    m = len(target)
    lowest, highest = np.minimum.reduceat(target, starts), np.maximum.reduceat(target, starts)
    falls, rises = np.count_nonzero(lowest[1:] < highest[:-1]), np.count_nonzero(highest[1:] > lowest[:-1])
    differing = int(np.diff(starts, append=m)[lowest != highest].sum())
    if differing + min(falls, rises) > (1.0 - DETERMINED) * m:
        return False
    counts = np.unique(target, return_counts=True)[1]
    # Two of all orders of values that occur so often are the ascending and the descending one.
    return bool(counts.max() < COMMON * m and math.log(2.0) - log_orders(counts) < math.log(CHANCE))


def log_orders(counts: IntArray) -> float:
    """Return the logarithm of the number of different orders of values that occur so often, n! / Π (occurrences)!."""
    return math.lgamma(float(counts.sum()) + 1.0) - sum(math.lgamma(float(count) + 1.0) for count in counts)


def _hardly_differing(column: IntArray, rows: IntArray, targets: Mapping[Hashable, IntArray]) -> Iterator[Hashable]:
    """Yield the targets that ``column``, ascending codes of ``rows``, may determine, which settles most cases fast.

    Of two neighbors with one value of the column that differ in the target, at least one disagrees with most records
    of that value, and no record is in more than two such pairs.
    """
    alike = column[1:] == column[:-1]
    most = 2.0 * (1.0 - DETERMINED) * len(rows)
    names = list(targets)
    step = max(1, _CELLS // len(rows))
    for first in range(0, len(names), step):
        some = names[first : first + step]
        values = np.stack([targets[name] for name in some])[:, rows]
        differing = np.count_nonzero(alike & (values[:, 1:] != values[:, :-1]), axis=1)
        yield from (name for name, count in zip(some, differing, strict=True) if count <= most)


def _determines(column: IntArray, target: IntArray) -> bool:
    """Whether ``column``, ascending codes that each occur twice or more, determines ``target``."""
    m = len(column)
    frequencies = np.bincount(target)
    if frequencies.max() >= COMMON * m:
        return False
    # Whether it is likely enough that so many records agree with another one, values having these shares.
    n_repeats, alike = m - int(column[-1]) - 1, float(np.square(frequencies / m).sum())
    if n_repeats * -math.log(alike) < -math.log(CHANCE):
        return False
    # Records that agree have the most frequent value of the target of those with their value of the column.
    pairs = combined(column, target)
    most = np.zeros(int(column[-1]) + 1, dtype=np.int64)
    np.maximum.at(most, column, np.bincount(pairs)[pairs])
    return bool(most.sum() >= DETERMINED * m)
