"""Diversity of a confidential attribute in each equivalence class: distinct, entropy and recursive l, t-closeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns.meanings import check_meant, meant
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk.equivalence_classes import coded
from microagg.partition import canonical_labels
from microagg.validation import (
    FloatArray,
    IntArray,
    check_whole,
)


@dataclass(frozen=True, eq=False)
class Homogeneity:
    """What the g groups say of a confidential attribute; each array is of shape (g,), in the order of first appearance.

    - ``sizes``: the records of the group; ``distinct``: how many distinct values it has.
    - ``entropies``: exp(−Σ p ln p) over the shares p of its values: how many values of equal frequency are as diverse.
    - ``ratios``: r₁ / (r_l + r_{l+1} + …), with r₁ ≥ r₂ ≥ … the frequencies of its values: it is recursively
      (c, l)-diverse for each c above. Infinity where it has fewer than l values.
    - ``largest``: the share of its most frequent value.
    - ``distances``: the earth mover's distance, 0 to 1, of its values from those of all records.
    """

    sizes: IntArray
    distinct: IntArray
    entropies: FloatArray
    ratios: FloatArray
    largest: FloatArray
    distances: FloatArray

    @property
    def distinct_l(self) -> int:
        """The least number of distinct values in a group, l of distinct l-diversity; 1 or more, the more the better."""
        return int(self.distinct.min())

    @property
    def entropy_l(self) -> float:
        """The least of ``entropies``, l of entropy l-diversity; 1 or more, the more the better."""
        return float(self.entropies.min())

    @property
    def recursive_c(self) -> float:
        """The greatest of ``ratios``, above which c of recursive (c, l)-diversity must be; the lower the better."""
        return float(self.ratios.max())

    @property
    def alpha(self) -> float:
        """The largest share of a value in a group, α of (α, k)-anonymity; above 0, at most 1, the lower the better."""
        return float(self.largest.max())

    @property
    def t_closeness(self) -> float:
        """The greatest of ``distances``, t of t-closeness, from 0 to 1; the lower the better."""
        return float(self.distances.max())

    @property
    def homogeneous(self) -> float:
        """The share of the records in groups with one value only, from 0 to 1; the lower the better."""
        return self._share(self.distinct == 1)

    def above(self, alpha: float) -> float:
        """Return the share of the records in groups where one value has a share of more than ``alpha``, both 0 to 1.

        Raises
        ------
        ParameterError
            If ``alpha`` is not from 0 to 1.
        """
        if not 0.0 <= alpha <= 1.0:
            raise ParameterError(f"alpha must be from 0 to 1, not {alpha!r}.")
        return self._share(self.largest > alpha)

    def _share(self, groups: NDArray[np.bool_]) -> float:
        return float(self.sizes[groups].sum() / self.sizes.sum())


def homogeneity(
    confidential: ArrayLike | pd.Series[Any], labels: ArrayLike, *, ordered: bool | None = None, recursive_l: int = 2
) -> Homogeneity:
    """Return how alike the confidential values are within groups: whoever finds somebody's group learns that much.

    - Distinct, entropy and recursive (c, l)-diversity: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007,
      Section 4.
    - t-closeness: Li, Li & Venkatasubramanian 2007, Section 4. Of ordered values, the i-th and the j-th of the m
      distinct ones are |i − j| / (m − 1) apart; of others, each two are 1 apart.
    - (α, k)-anonymity: Wong, Li, Fu & Wang 2006.

    Parameters
    ----------
    confidential : array or Series, shape (n,)
        A confidential attribute of each record: numbers, dates, truth values or categories; none missing. Values that
        mean the same count as one, see :func:`microagg.columns.meanings.meant`.
    labels : array of int, shape (n,)
        The group of each record, or its class of equal released records, under any numbering.
    ordered : bool, optional
        Whether values have an order that counts for t-closeness. Default: those of numbers, dates and ordered
        ``pandas.Categorical`` do.
    recursive_l : int
        l of recursive (c, l)-diversity; 2 or more.

    Raises
    ------
    DataError
        If a value is missing, or a word for that, or there is not one for each label.
    ParameterError
        If values without an order are said to have one, or ``recursive_l`` is less than 2.
    """
    least_rank = check_whole("recursive_l", recursive_l, 2)
    groups = canonical_labels(labels)
    codes, has_order = values_of(confidential, len(groups), ordered)
    if codes.min(initial=0) < 0:
        check_meant(pd.Series(confidential, name=getattr(confidential, "name", None) or "confidential"), codes < 0)
    return of_codes(groups, codes, np.bincount(codes) / len(codes), has_order, least_rank)


def of_codes(groups: IntArray, codes: IntArray, shares: FloatArray, ordered: bool, recursive_l: int = 2) -> Homogeneity:
    """Return what :func:`homogeneity` does of records that are perhaps not all.

    ``groups``, shape (n,), are 0 to g - 1, ``codes``, shape (n,), the numbers of the records' values, in their order if
    they are ``ordered``, and ``shares``, shape (m,), those of the values in all records.
    """
    pairs = _pairs(groups, codes, len(shares))
    distances = _ordered_distances if ordered else _equal_distances
    return Homogeneity(
        sizes=pairs.sizes,
        distinct=np.diff(pairs.starts, append=len(pairs.counts)),
        entropies=np.exp(np.add.reduceat(-pairs.shares * np.log(pairs.shares), pairs.starts)),
        ratios=_ratios(pairs, recursive_l),
        largest=np.maximum.reduceat(pairs.shares, pairs.starts),
        # Rounding must not put them outside of what they can be.
        distances=np.clip(distances(pairs, shares), 0.0, 1.0),
    )


class _Pairs(NamedTuple):
    """The values that occur in each group, by group and then by value."""

    groups: IntArray  # shape (p,)
    values: IntArray  # shape (p,): codes from 0
    counts: IntArray  # shape (p,): how many records of the group have the value
    shares: FloatArray  # shape (p,): the same as a share of the group
    starts: IntArray  # shape (g,): where each group begins
    sizes: IntArray  # shape (g,): the records of each group


def values_of(confidential: ArrayLike | pd.Series[Any], n: int, ordered: bool | None) -> tuple[IntArray, bool]:
    """Return the number of what each record's value means, and whether they have an order.

    They are from 0, in their order if they have one, and -1 where there is no value.
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


def _ratios(pairs: _Pairs, first: int) -> FloatArray:
    """Return the frequency of each group's commonest value over that of its ``first``-th and all rarer ones."""
    order = np.lexsort((-pairs.counts, pairs.groups))
    descending = pairs.counts[order]
    rank = np.arange(len(order)) - pairs.starts[pairs.groups]  # groups are as long in either order
    rest = np.add.reduceat(np.where(rank >= first - 1, descending, 0), pairs.starts).astype(np.float64)
    most = descending[pairs.starts].astype(np.float64)
    return np.divide(most, rest, out=np.full(len(rest), np.inf), where=rest > 0.0)


def _equal_distances(pairs: _Pairs, overall: FloatArray) -> FloatArray:
    """Return half of the sum of |p − q| over all values, q being ``overall``, their shares among all records."""
    present = overall[pairs.values]
    differing = np.add.reduceat(np.abs(pairs.shares - present), pairs.starts)
    absent = 1.0 - np.add.reduceat(present, pairs.starts)
    return np.asarray(0.5 * (differing + absent))


def _ordered_distances(pairs: _Pairs, overall: FloatArray) -> FloatArray:
    """Return Σ |P_i − Q_i| / (m − 1) over the m values, P and Q being the cumulated shares of the group and of all.

    P is a step function, constant from each value that the group has to the one before the next. Q ascends: over such a
    stretch the terms of the sum change their sign once at most, and sums of Q stand in a table.
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
