"""Interval disclosure: how often an original value lies near the released one, and which records are most at risk."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
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
    is_real,
    is_whole,
)

#: What the width of an interval is measured in; see :func:`interval_disclosure`.
WIDTHS = ("rank", "sd")

# Of so many records a share that is a whole number but for rounding counts as that number.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intervals:
    """How many original values lie in the interval around the released one.

    Attributes
    ----------
    attributes : array of float, shape (d,)
        Of each attribute, the share of the records of which it holds, from 0 to 1.
    share : float
        Their mean: the share of all values.
    all_attributes : float
        The share of the records of which it holds for each attribute.
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

    Returns
    -------
    Intervals

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width or what it is measured in is out of its bounds.
    """
    original, masked = check_pair(X, released)
    check_choice("by", by, WIDTHS)
    _check_width(width, by)
    within = _within_ranks if by == "rank" else _within_deviations
    inside = np.column_stack([within(x, y, float(width)) for x, y in zip(original.T, masked.T, strict=True)])
    attributes = inside.mean(axis=0)
    return Intervals(attributes, float(attributes.mean()), float(inside.all(axis=1).mean()))


def _check_width(width: float, by: str) -> None:
    if not is_real(width) or not isfinite(width) or width <= 0.0:
        raise ParameterError(f"width must be a number above 0, not {width!r}.")
    if by == "rank" and width > 1.0:
        raise ParameterError(f"width must be at most 1, the share of the ranks on each side, not {width!r}.")


def _within_ranks(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    n = len(y)
    reach = int(width * n + _ROUNDING)
    ascending = np.sort(y)
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    after = np.cumsum(counts)
    lowest = ascending[np.maximum(after - counts - reach, 0)]
    highest = ascending[np.minimum(after - 1 + reach, n - 1)]
    inside: NDArray[np.bool_] = (lowest[place] <= x) & (x <= highest[place])
    return inside


def _within_deviations(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.abs(x - y) <= width * x.std()
    return inside


# --- records at risk, and what leaving some out would do --------------------------------------------------------------

#: What records can be ranked by; see :func:`records_at_risk`.
RANKINGS = ("linkage", "outlyingness")

# Of a normal distribution, the standard deviation as a multiple of the median, and of the mean, absolute deviation.
_SD_OF_MEDIAN_DEVIATION = 1.482602218505602
_SD_OF_MEAN_DEVIATION = 1.2533141373155003


@dataclass(frozen=True, eq=False)
class AtRisk:
    """The records that carry the risk, the one that carries most first.

    Attributes
    ----------
    rows : array of int, shape (m,)
        Their positions.
    probability : array of float, shape (m,)
        With what probability the released record nearest to each is its own; see :class:`Linkage`.
    outlyingness : array of float, shape (m,)
        How many robust standard deviations each is from the median, in the attribute in which that is most.
    attributes : array of int, shape (m,)
        The position of that attribute.
    """

    rows: IntArray
    probability: FloatArray
    outlyingness: FloatArray
    attributes: IntArray


@dataclass(frozen=True)
class LeftOut:
    """What leaving records out would do if all others stayed in their groups.

    Attributes
    ----------
    n : int
        How many are left out.
    sse_share : float
        What part of the SSE they have before, in percent.
    before, after : float
        IL in percent, with them and without them: SSE and SST are those of the records that are left, with the means
        of what is left of the groups.
    smallest_group : int
        The size of the smallest group that is left. If that is below k the others must be grouped anew, which may lose
        more or less.
    """

    n: int
    sse_share: float
    before: float
    after: float
    smallest_group: int


def outlyingness(X: ArrayLike) -> FloatArray:
    """Return how many robust standard deviations each value is from the median of its attribute.

    The robust standard deviation is 1.4826 times the median absolute deviation; where that is 0, as half of the values
    or more are equal, 1.2533 times the mean absolute deviation (Iglewicz & Hoaglin 1993). Above 3.5 they call a value a
    possible outlier.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)

    Returns
    -------
    array of float, shape (n, d)
        At least 0, without a unit; 0 in an attribute of one value.

    Raises
    ------
    DataError
        If X is no table of finite numbers.
    """
    data = check_matrix(X)
    check_finite(data)
    apart = np.abs(data - np.median(data, axis=0))
    middle = np.median(apart, axis=0)
    units = np.where(middle > 0.0, _SD_OF_MEDIAN_DEVIATION * middle, _SD_OF_MEAN_DEVIATION * apart.mean(axis=0))
    return np.divide(apart, units, out=np.zeros_like(apart), where=units > 0.0)


def records_at_risk(
    X: ArrayLike, released: ArrayLike, *, most: int = 20, by: str = "linkage", linkage: Linkage | None = None
) -> AtRisk:
    """Return up to ``most`` records that carry the risk: those most surely linked, or farthest from all others.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        As for :func:`record_linkage`.
    most : int
        At least 1.
    by : {"linkage", "outlyingness"}
        What they are ranked by; the other one decides among equals, then the order of the records.
    linkage : Linkage, optional
        That of X and the release, if it is known. If it is of a sample, only these records are ranked. Default: that
        of all records by Euclidean distances.

    Returns
    -------
    AtRisk

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If another parameter is out of its bounds.
    """
    original, masked = check_pair(X, released)
    check_choice("by", by, RANKINGS)
    if not is_whole(most) or most < 1:
        raise ParameterError(f"most must be a whole number of at least 1, not {most!r}.")
    links = record_linkage(original, masked) if linkage is None else linkage
    apart = outlyingness(original)[links.rows]
    farthest = apart.max(axis=1)
    first, second = (links.probability, farthest) if by == "linkage" else (farthest, links.probability)
    order = np.lexsort((-second, -first))[:most]
    return AtRisk(links.rows[order], links.probability[order], farthest[order], apart[order].argmax(axis=1))


def leaving_out(X: ArrayLike, labels: ArrayLike, rows: ArrayLike) -> LeftOut:
    """Return what leaving out the records ``rows`` would do to the information loss of a partition.

    Parameters
    ----------
    X : array, shape (n, d)
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    rows : array of int, shape (m,)
        Positions, none twice; fewer than n.

    Returns
    -------
    LeftOut

    Raises
    ------
    DataError
        If X is not finite numbers, one record for each label.
    ParameterError
        If a position is not one of a record or occurs twice, or no record would be left.
    """
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    out = _positions(rows, len(groups))
    kept = np.ones(len(groups), dtype=bool)
    kept[out] = False
    return LeftOut(
        n=len(out),
        sse_share=float(record_shares(data, groups)[out].sum()),
        before=information_loss(data, groups),
        after=information_loss(data[kept], groups[kept]),
        smallest_group=int(np.bincount(canonical_labels(groups[kept])).min()),
    )


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
