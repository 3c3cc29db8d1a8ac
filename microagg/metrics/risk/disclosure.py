"""Disclosure by released values: their distances from the originals, records at risk, and dominating records."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.errors import ParameterError
from microagg.metrics.loss import information_loss, record_shares
from microagg.metrics.risk.linkage import Linkage, record_linkage
from microagg.partition import canonical_labels
from microagg.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_finite,
    check_matrix,
    check_pair,
    check_whole,
    is_real,
)

# The prior-posterior rule: p, the minimum relative error of an estimate, and q, the prior relative error of the rest.
_P, _Q = 0.1, 0.5


# --- intervals --------------------------------------------------------------------------------------------------------

#: Units of the width of an interval; see :func:`interval_disclosure`.
WIDTHS = ("rank", "sd")

# The tolerance for a share of the records that is a whole number up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intervals:
    """Shares of original values in the interval around the released one, 0 to 1.

    ``attributes``, shape (d,), are the shares of the records for each attribute, ``share`` is their mean, the share of
    all values, and ``all_attributes`` the share of records with all attributes inside.
    """

    attributes: FloatArray
    share: float
    all_attributes: float


def interval_disclosure(X: ArrayLike, released: ArrayLike, width: float, by: str = "rank") -> Intervals:
    """Share of values, 0 to 1 (lower is better), with the original in an interval around the released value.

    An intruder who identifies a record knows the value to within the interval, for certain if the share is 1.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other.
    width : float
        The width of the interval on each side, in the unit ``by``; above 0.
    by : {"rank", "sd"}
        "rank": the released values of an attribute are ranked, and the interval reaches from the value ``width`` · n
        ranks below to that ``width`` · n ranks above, ``width`` being at most 1; there are no values beyond the ends.
        Equal values have all their ranks, whatever their order: the lowest counts below, the highest above (Domingo-
        Ferrer, Mateo-Sanz & Torra 2001). "sd": ``width`` times the standard deviation of the original attribute (SDID
        of Mateo-Sanz, Sebé & Domingo-Ferrer 2004). sdcMicro's ``dRisk``, k = 0.05 by default, takes that of the
        release, which is smaller the more has been lost, and counts the records of which it holds for all attributes
        but at most one.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width or its unit is out of its bounds.
    """
    original, masked = check_pair(X, released)
    check_choice("by", by, WIDTHS)
    if not is_real(width) or not isfinite(width) or width <= 0.0:
        raise ParameterError(f"width must be a number above 0, not {width!r}.")
    if by == "rank" and width > 1.0:
        raise ParameterError(f"width must be at most 1, the share of the ranks on each side, not {width!r}.")
    within = _within_ranks if by == "rank" else _within_deviations
    inside = np.column_stack([within(x, y, float(width)) for x, y in zip(original.T, masked.T, strict=True)])
    attributes = inside.mean(axis=0)
    return Intervals(attributes, float(attributes.mean()), float(inside.all(axis=1).mean()))


def _within_ranks(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    n = len(y)
    reach = int(width * n + _ROUNDING)
    ascending = np.sort(y)
    _, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    after = np.cumsum(counts)
    lowest = ascending[np.maximum(after - counts - reach, 0)]
    highest = ascending[np.minimum(after - 1 + reach, n - 1)]
    return np.asarray((lowest[code] <= x) & (x <= highest[code]))


def _within_deviations(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    return np.asarray(np.abs(x - y) <= width * x.std())


# --- records at risk, and the effect of leaving some out --------------------------------------------------------------

#: Criteria for ranking records; see :func:`records_at_risk`.
RANKINGS = ("linkage", "outlyingness")

# Of a normal distribution, the standard deviation as a multiple of the median, and of the mean, absolute deviation.
_SD_OF_MEDIAN_DEVIATION = 1.482602218505602
_SD_OF_MEAN_DEVIATION = 1.2533141373155003


@dataclass(frozen=True, eq=False)
class AtRisk:
    """The records with the highest risk, in descending order. Each array has shape (m,).

    ``rows`` are their positions, ``probability`` the probability that the released record nearest to each is its match,
    see :class:`Linkage`, and ``outlyingness`` the robust standard deviations from the median in that one of the
    ``attributes`` where it is largest.
    """

    rows: IntArray
    probability: FloatArray
    outlyingness: FloatArray
    attributes: IntArray


@dataclass(frozen=True)
class LeftOut:
    """The effect of leaving ``n`` records out if all others stay in their groups.

    ``sse_share`` is their share of the SSE; ``before`` and ``after`` are IL with them and without them, where SSE, SST
    and group means are those of the remaining records; all in percent. ``smallest_group`` is the size of the smallest
    remaining group: if it is below k, the others must be grouped again, with a lower or higher loss.
    """

    n: int
    sse_share: float
    before: float
    after: float
    smallest_group: int


def outlyingness(X: ArrayLike) -> FloatArray:
    """Robust standard deviations of each value from the median of its attribute, at least 0.

    The robust standard deviation is 1.4826 times the median absolute deviation; if that is 0, as half of the values or
    more are equal, 1.2533 times the mean absolute deviation. A value above 3.5 is a possible outlier.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)

    Returns
    -------
    array, shape (n, d)
        Without a unit; 0 in an attribute of one value.

    Raises
    ------
    DataError
        If X holds anything but finite numbers.

    References
    ----------
    Iglewicz & Hoaglin (1993), How to detect and handle outliers.
    """
    data = check_matrix(X)
    check_finite(data)
    deviations = np.abs(data - np.median(data, axis=0))
    middle = np.median(deviations, axis=0)
    units = np.where(middle > 0.0, _SD_OF_MEDIAN_DEVIATION * middle, _SD_OF_MEAN_DEVIATION * deviations.mean(axis=0))
    return np.divide(deviations, units, out=np.zeros_like(deviations), where=units > 0.0)


def records_at_risk(
    X: ArrayLike, released: ArrayLike, *, most: int = 20, by: str = "linkage", linkage: Linkage | None = None
) -> AtRisk:
    """Records with the highest risk: those most surely linked, or farthest from all others.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        As for :func:`record_linkage`.
    most : int
        The maximum number of records.
    linkage : Linkage, optional
        The linkage of X and the release. If it is of a sample, only these records are ranked. Default: the linkage of
        all records by Euclidean distances.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If another parameter is out of its bounds.
    """
    original, masked = check_pair(X, released)
    check_choice("by", by, RANKINGS)
    check_whole("most", most, 1)
    links = record_linkage(original, masked) if linkage is None else linkage
    outlying = outlyingness(original)[links.rows]
    farthest = outlying.max(axis=1)
    first, second = (links.probability, farthest) if by == "linkage" else (farthest, links.probability)
    order = np.lexsort((-second, -first))[:most]
    return AtRisk(links.rows[order], links.probability[order], farthest[order], outlying[order].argmax(axis=1))


def leaving_out(X: ArrayLike, labels: ArrayLike, rows: ArrayLike) -> LeftOut:
    """Effect of leaving out the records ``rows`` on the information loss of a partition.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    rows : array of int, shape (m,)
        Positions of records, none twice, fewer than n.

    Raises
    ------
    DataError, ParameterError
        If X, labels or rows have another form.
    """
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    out = _positions(rows, len(groups))
    remains = np.ones(len(groups), dtype=bool)
    remains[out] = False
    return LeftOut(
        n=len(out),
        sse_share=float(record_shares(data, groups)[out].sum()),
        before=information_loss(data, groups),
        after=information_loss(data[remains], groups[remains]),
        smallest_group=int(np.bincount(canonical_labels(groups[remains])).min()),
    )


def dominated(X: ArrayLike, labels: ArrayLike, weights: FloatArray | None = None) -> NDArray[np.bool_]:
    """Whether figures on each attribute reveal a value of it, by the prior-posterior rule (p, q).

    Figures add to a release the changes |x − median of its group|. A record dominates if an intruder who knows the next
    largest change, and the sum of the other squared ones to within q = 50 %, computes its value to within p = 10 % of
    its distance from the median of all, and the median of the group is farther from it than that.

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
    return np.asarray(((bound < change) & (_Q * rest < counts * bound * (2.0 * change + bound))).any(axis=0))


def _positions(rows: ArrayLike, n: int) -> IntArray:
    array = np.asarray(rows)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ParameterError("rows must be positions of records: a list of whole numbers, none twice.")
    if array.min() < 0 or array.max() >= n:
        raise ParameterError(f"rows must be from 0 to {n - 1}, not from {array.min()} to {array.max()}.")
    if len(np.unique(array)) < len(array):
        raise ParameterError("rows must not name a record twice.")
    if len(array) == n:
        raise ParameterError("rows names all records: leave at least one.")
    return array.astype(np.int64, copy=False)
