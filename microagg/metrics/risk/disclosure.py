"""What a release discloses: confidential values of a class, values near the originals, values that dominate a sum."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns.recodes import check_meant, meant
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk.equivalence_classes import coded
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, check_finite, check_matrix, check_pair, is_real

# The prior-posterior rule: p, the minimum relative error of an estimate, and q, the prior relative error of the rest.
_P, _Q = 0.1, 0.5

# The values of fewer records can be computed from their mean, median and standard deviation, if they are whole numbers.
_FEWEST = 10


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

    Returns
    -------
    Homogeneity
        For t-closeness the distance of the i-th and j-th of m distinct ordered values is |i − j| / (m − 1), and the
        distance of other values is 1.

    Raises
    ------
    DataError, ParameterError
        If a value is missing, or a word for that, or there is not one for each label; if ``ordered`` is true for values
        without an order.

    References
    ----------
    Distinct and entropy l-diversity: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007, Section 4. t-closeness:
    Li, Li & Venkatasubramanian 2007, Section 4. (α, k)-anonymity: Wong, Li, Fu & Wang 2006.
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


def interval_disclosure(X: ArrayLike, released: ArrayLike, width: float) -> FloatArray:
    """Share of the records, 0 to 1 (lower is better), with the original in an interval around the released value.

    An intruder who identifies a record knows the value to within the interval, for certain if the share is 1.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other.
    width : float
        The width of the interval on each side, in standard deviations of the original attribute; above 0. sdcMicro's
        ``dRisk``, k = 0.05 by default, takes those of the release, which are smaller the more has been lost.

    Returns
    -------
    array of shape (d,)
        The share for each attribute.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width is not a number above 0.

    References
    ----------
    Mateo-Sanz, Sebé & Domingo-Ferrer 2004, Outlier protection in continuous microdata masking: SDID.
    """
    original, masked = check_pair(X, released)
    if not is_real(width) or not isfinite(width) or width <= 0.0:
        raise ParameterError(f"width must be a number above 0, not {width!r}.")
    return np.asarray((np.abs(original - masked) <= width * original.std(axis=0)).mean(axis=0))


def dominated(X: ArrayLike, labels: ArrayLike, weights: FloatArray | None = None) -> NDArray[np.bool_]:
    """Whether figures on each attribute reveal a value of it, by the prior-posterior rule (p, q).

    Figures add to a release the changes |x − median of its group|. A record dominates if an intruder who knows the next
    largest change, and the sum of the other squared ones to within q = 50 %, computes its value to within p = 10 % of
    its distance from the median of all, and the median of the group is farther from it than that. Of fewer than 10
    records, figures on each attribute reveal values unless all are released as they are.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
        The originals, in any units.
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    weights : array, shape (n,), optional
        Above 0, if figures are weighted.

    Returns
    -------
    array of bool, shape (d,)

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or labels are not whole numbers, one for each record.

    References
    ----------
    Hundepool, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer & de Wolf (2012), Statistical disclosure
    control, Section 4.2.
    """
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    medians = pd.DataFrame(data).groupby(groups).median().to_numpy()
    change = np.abs(data - medians[groups])
    bound = np.minimum(_P * np.abs(data - np.median(data, axis=0)), change)
    largest = change.max(axis=0)
    change, bound = (values / np.where(largest > 0.0, largest, 1.0) for values in (change, bound))
    counts = np.ones((len(data), 1)) if weights is None else weights[:, np.newaxis]
    parts = counts * np.square(change)
    first, second_index = parts.max(axis=0), -min(2, len(data))
    second = np.partition(parts, second_index, axis=0)[second_index]
    rest = parts.sum(axis=0) - parts - np.where(parts == first, second, first)
    dominates = (bound < change) & (_Q * rest < counts * bound * (2.0 * change + bound))
    return np.asarray(dominates.any(axis=0) | ((largest > 0.0) & (len(data) < _FEWEST)))
