"""Disclosure by released values: how near they are to the originals, who is most at risk, which records dominate."""

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

# Of the prior-posterior rule: how near is too near, and how well the rest is known beforehand.
_P, _Q = 0.1, 0.5


# --- intervals --------------------------------------------------------------------------------------------------------

#: What the width of an interval is measured in; see :func:`interval_disclosure`.
WIDTHS = ("rank", "sd")

# Of so many records a share that is a whole number but for rounding counts as that number.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intervals:
    """How many original values lie in the interval around the released one, as shares, 0 to 1.

    ``attributes``, shape (d,), are of each attribute the share of the records of which it holds, and ``share`` is their
    mean, the share of all values; ``all_attributes`` is that of the records of which it holds for each attribute.
    """

    attributes: FloatArray
    share: float
    all_attributes: float


def interval_disclosure(X: ArrayLike, released: ArrayLike, width: float, by: str = "rank") -> Intervals:
    """Return the share of values, 0 to 1 (lower is better), with the original inside an interval around the released.

    An intruder who has found a record knows such a value to within the interval. At 1 he can be sure of it for all.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other.
    width : float
        How far the interval reaches on each side, in what ``by`` says; above 0.
    by : {"rank", "sd"}
        "rank": the released values of an attribute are ranked, and the interval reaches from the value ``width`` · n
        ranks below to that ``width`` · n ranks above, ``width`` being at most 1; there are no values beyond the ends.
        Equal values have all their ranks, whatever their order: the lowest counts below, the highest above (Domingo-
        Ferrer, Mateo-Sanz & Torra 2001).
        "sd": ``width`` times the standard deviation of the original attribute (SDID of Mateo-Sanz, Sebé &
        Domingo-Ferrer 2004). sdcMicro's ``dRisk``, k = 0.05 by default, takes that of the release, which is smaller
        the more has been lost, and counts the records of which it holds for all attributes but at most one.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width or what it is measured in is out of its bounds.
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
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    after = np.cumsum(counts)
    lowest = ascending[np.maximum(after - counts - reach, 0)]
    highest = ascending[np.minimum(after - 1 + reach, n - 1)]
    return np.asarray((lowest[place] <= x) & (x <= highest[place]))


def _within_deviations(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    return np.asarray(np.abs(x - y) <= width * x.std())


# --- records at risk, and what leaving some out would do --------------------------------------------------------------

#: What records can be ranked by; see :func:`records_at_risk`.
RANKINGS = ("linkage", "outlyingness")

# Of a normal distribution, the standard deviation as a multiple of the median, and of the mean, absolute deviation.
_SD_OF_MEDIAN_DEVIATION = 1.482602218505602
_SD_OF_MEAN_DEVIATION = 1.2533141373155003


@dataclass(frozen=True, eq=False)
class AtRisk:
    """The records that carry the risk, the one that carries most first; each array is of shape (m,).

    ``rows`` are their positions, ``probability`` with what probability the released record nearest to each is its own,
    see :class:`Linkage`, and ``outlyingness`` how many robust standard deviations each is from the median in that one
    of the ``attributes`` in which it is farthest.
    """

    rows: IntArray
    probability: FloatArray
    outlyingness: FloatArray
    attributes: IntArray


@dataclass(frozen=True)
class LeftOut:
    """What leaving ``n`` records out would do if all others stayed in their groups.

    ``sse_share`` is the part of the SSE that they have before; ``before`` and ``after`` are IL with them and without
    them, when SSE and SST are those of the records that are left, with the means of what is left of the groups; all in
    percent. If the smallest group that is left, of ``smallest_group`` records, is below k the others must be grouped
    anew, which may lose more or less.
    """

    n: int
    sse_share: float
    before: float
    after: float
    smallest_group: int


def outlyingness(X: ArrayLike) -> FloatArray:
    """Return how many robust standard deviations each value is from the median of its attribute, at least 0.

    The robust standard deviation is 1.4826 times the median absolute deviation; where that is 0, as half of the values
    or more are equal, 1.2533 times the mean absolute deviation. A value above 3.5 is a possible outlier.

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
    """Return up to ``most`` records that carry the risk: those most surely linked, or farthest from all others.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        As for :func:`record_linkage`.
    by : {"linkage", "outlyingness"}
        What they are ranked by; the other one decides among equals, then the order of the records.
    linkage : Linkage, optional
        That of X and the release, if it is known. If it is of a sample, only these records are ranked. Default: that
        of all records by Euclidean distances.

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
    """Return what leaving out the records ``rows`` would do to the information loss of a partition.

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
        If X, labels or rows are not so.
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
    """Return whether figures on each attribute give away a value of it, by the prior-posterior rule (p, q).

    What figures add to a release are changes, |x − median of its group|. A record dominates if somebody who knows the
    next largest change, and the sum of the other squared ones to within q = 50 %, computes its value to within p = 10 %
    of its distance from the median of all, and the median of the group is farther from it than that.

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
    near = np.minimum(_P * np.abs(data - np.median(data, axis=0)), change)
    largest = change.max(axis=0)
    change, near = (each / np.where(largest > 0.0, largest, 1.0) for each in (change, near))
    counts = np.ones((len(data), 1)) if weights is None else weights[:, np.newaxis]
    parts = counts * np.square(change)
    first, at = parts.max(axis=0), -min(2, len(data))
    second = np.partition(parts, at, axis=0)[at]
    rest = parts.sum(axis=0) - parts - np.where(parts == first, second, first)
    return np.asarray(((near < change) & (_Q * rest < counts * near * (2.0 * change + near))).any(axis=0))


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
