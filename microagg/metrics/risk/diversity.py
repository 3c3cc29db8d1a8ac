"""What an intruder learns who finds a class: the diversity of the confidential values in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns.recodes import check_meant, meant
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk.equivalence_classes import coded
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Homogeneity:
    """Diversity of a confidential attribute in g groups. Each array has shape (g,), in the order of first appearance.

    - ``sizes``: the number of records of the group; ``distinct``: its number of distinct values.
    - ``entropies``: exp(−Σ p ln p) over the shares p of its values: the equivalent number of equally frequent values.
    - ``largest``: the share of its most frequent value.
    - ``distances``: the earth mover's distance, 0 to 1, of its values from those of all records.
    """

    sizes: IntArray
    distinct: IntArray
    entropies: FloatArray
    largest: FloatArray
    distances: FloatArray

    @property
    def distinct_l(self) -> int:
        """The smallest number of distinct values in a group, l of distinct l-diversity. At least 1, high is good."""
        return int(self.distinct.min())

    @property
    def entropy_l(self) -> float:
        """The least of ``entropies``, l of entropy l-diversity. At least 1, high is good."""
        return float(self.entropies.min())

    @property
    def alpha(self) -> float:
        """The largest share of a value in a group, α of (α, k)-anonymity. Above 0, at most 1, low is good."""
        return float(self.largest.max())

    @property
    def t_closeness(self) -> float:
        """The greatest of ``distances``, t of t-closeness, from 0 to 1 (low is good)."""
        return float(self.distances.max())

    @property
    def homogeneous(self) -> float:
        """The share of the records in groups with only one value, from 0 to 1 (low is good)."""
        return float(self.sizes[self.distinct == 1].sum() / self.sizes.sum())


def homogeneity(
    confidential: ArrayLike | pd.Series[Any], labels: ArrayLike, *, ordered: bool | None = None
) -> Homogeneity:
    """Similarity of the confidential values within groups: the knowledge gained by identifying a group.

    - Distinct and entropy l-diversity: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007,
      Section 4.
    - t-closeness: Li, Li & Venkatasubramanian 2007, Section 4. The distance of ordered values, the i-th and j-th of m
      distinct ones, is |i − j| / (m − 1); the distance of other values is 1.
    - (α, k)-anonymity: Wong, Li, Fu & Wang 2006.

    Parameters
    ----------
    confidential : array or Series, shape (n,)
        A confidential attribute of each record: numbers, dates, booleans or categories; none missing. Spelling variants
        count as one value, see :func:`microagg.columns.recodes.meant`.
    labels : array of int, shape (n,)
        The group of each record, or its class of equal released records, under any numbering.
    ordered : bool, optional
        Whether values have an order for t-closeness. By default numbers, dates and values of an ordered
        ``pandas.Categorical`` have.

    Raises
    ------
    DataError
        If a value is missing, or a word for that, or there is not one for each label.
    ParameterError
        If ``ordered`` is true for values without an order.
    """
    groups = canonical_labels(labels)
    codes, has_order = encode_values(confidential, len(groups), ordered)
    if codes.min(initial=0) < 0:
        check_meant(pd.Series(confidential, name=getattr(confidential, "name", None) or "confidential"), codes < 0)
    return measure_codes(groups, codes, np.bincount(codes) / len(codes), has_order)


def measure_codes(groups: IntArray, codes: IntArray, shares: FloatArray, ordered: bool) -> Homogeneity:
    """Like :func:`homogeneity`, but for records that may be a part of all.

    ``groups``, shape (n,), are 0 to g - 1, ``codes``, shape (n,), the codes of the records' values, in their order if
    they are ``ordered``, and ``shares``, shape (m,), the shares of the values among all records.
    """
    pairs = _pairs(groups, codes, len(shares))
    distances = _ordered_distances if ordered else _equal_distances
    return Homogeneity(
        sizes=pairs.sizes,
        distinct=np.diff(pairs.starts, append=len(pairs.counts)),
        entropies=np.exp(np.add.reduceat(-pairs.shares * np.log(pairs.shares), pairs.starts)),
        largest=np.maximum.reduceat(pairs.shares, pairs.starts),
        # Rounding must not exceed the bounds.
        distances=np.clip(distances(pairs, shares), 0.0, 1.0),
    )


class _Pairs(NamedTuple):
    """The values that occur in each group, by group and then by value."""

    groups: IntArray  # shape (p,)
    values: IntArray  # shape (p,): codes from 0
    counts: IntArray  # shape (p,): the number of records of the group with the value
    shares: FloatArray  # shape (p,): the same as a share of the group
    starts: IntArray  # shape (g,): the first pair of each group
    sizes: IntArray  # shape (g,): the number of records of each group


def encode_values(confidential: ArrayLike | pd.Series[Any], n: int, ordered: bool | None) -> tuple[IntArray, bool]:
    """Code of the meaning of each record's value, and whether the values have an order.

    Codes are from 0, in the order of the values if they have one, and -1 without a value.
    """
    array: Any = confidential if hasattr(confidential, "dtype") else np.asarray(confidential)
    if getattr(array, "ndim", 1) != 1:
        raise DataError(f"confidential values must be of one attribute, not of shape {np.shape(array)}.")
    series = pd.Series(array).reset_index(drop=True)
    if len(series) != n:
        raise DataError(f"there are {len(series):,} confidential values, but labels for {n:,} records.")
    series = meant(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        has_order = bool(series.cat.ordered)
    else:
        has_order = is_numeric_dtype(series) and not is_bool_dtype(series) and not is_complex_dtype(series)
        has_order |= is_datetime64_any_dtype(series)
    if ordered and not has_order:
        raise ParameterError(
            f"column {series.name!r} holds values without an order: make it a pandas.Categorical with ordered=True, "
            "or leave out ordered=True."
        )
    if not has_order:
        return coded(series), False
    positions = series.cat.codes if isinstance(series.dtype, pd.CategoricalDtype) else series
    codes, present = np.full(n, -1), series.notna().to_numpy()
    codes[present] = np.unique(positions[present].to_numpy(), return_inverse=True)[1]
    return codes, ordered is None or ordered


def _pairs(groups: IntArray, codes: IntArray, n_values: int) -> _Pairs:
    keys, counts = np.unique(groups * n_values + codes, return_counts=True)
    groups_of_pairs, values = np.divmod(keys, n_values)
    sizes = np.bincount(groups)
    starts = np.flatnonzero(np.diff(groups_of_pairs, prepend=-1))
    return _Pairs(groups_of_pairs, values, counts, counts / sizes[groups_of_pairs], starts, sizes)


def _equal_distances(pairs: _Pairs, overall: FloatArray) -> FloatArray:
    """Half of the sum of |p − q| over all values, q being ``overall``, their shares among all records."""
    present = overall[pairs.values]
    differences = np.add.reduceat(np.abs(pairs.shares - present), pairs.starts)
    absent = 1.0 - np.add.reduceat(present, pairs.starts)
    return np.asarray(0.5 * (differences + absent))


def _ordered_distances(pairs: _Pairs, overall: FloatArray) -> FloatArray:
    """Σ |P_i − Q_i| / (m − 1) over the m values, P and Q being the cumulated shares of the group and of all.

    P is a step function, constant from each value of the group to the one before the next. Q ascends: over such a
    stretch the terms of the sum change their sign at most once, and sums of Q are tabulated.
    """
    m = len(overall)
    if m == 1:
        return np.zeros(len(pairs.starts))
    cumulated = np.cumsum(overall)
    sums = np.concatenate([[0.0], np.cumsum(cumulated)])
    steps = np.cumsum(pairs.counts)
    before = steps[pairs.starts] - pairs.counts[pairs.starts]
    levels = (steps - before[pairs.groups]) / pairs.sizes[pairs.groups]
    ends = np.append(pairs.values[1:], m)
    ends[pairs.starts[1:] - 1] = m
    crossing = np.clip(np.searchsorted(cumulated, levels), pairs.values, ends)
    below = levels * (crossing - pairs.values) - (sums[crossing] - sums[pairs.values])
    above = (sums[ends] - sums[crossing]) - levels * (ends - crossing)
    total = np.add.reduceat(below + above, pairs.starts) + sums[pairs.values[pairs.starts]]
    return np.asarray(total / (m - 1))
