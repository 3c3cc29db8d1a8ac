"""Which records carry the risk, and what leaving some out would do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import ParameterError
from microagg.metrics.losing import record_shares
from microagg.metrics.loss import information_loss
from microagg.metrics.risk.linkage import Linkage, record_linkage
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, check_choice, check_finite, check_matrix, check_pair, is_whole

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
    """Return how many robust standard deviations each value is from the median of its attribute, shape (n, d).

    The robust standard deviation is 1.4826 times the median absolute deviation; where that is 0, as half of the values
    or more are equal, 1.2533 times the mean absolute deviation (Iglewicz & Hoaglin 1993). From 0 up; above 3.5 they
    call a value a possible outlier. In an attribute of one value all are 0.

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
    found = record_linkage(original, masked) if linkage is None else linkage
    apart = outlyingness(original)[found.rows]
    farthest = apart.max(axis=1)
    first, second = (found.probability, farthest) if by == "linkage" else (farthest, found.probability)
    order = np.lexsort((-second, -first))[:most]
    return AtRisk(found.rows[order], found.probability[order], farthest[order], apart[order].argmax(axis=1))


def leaving_out(X: ArrayLike, labels: ArrayLike, rows: ArrayLike) -> LeftOut:
    """Return what leaving out the records ``rows`` would do to the information loss of a partition.

    Parameters
    ----------
    X : array, shape (n, d)
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    rows : array of int, shape (m,)
        Positions, none twice; fewer than n.

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
