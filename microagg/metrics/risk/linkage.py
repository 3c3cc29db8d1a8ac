"""Record linkage: the share of original records whose nearest released record is their match.

A compiled search, in a k-d tree or among all records, only has to decide whether any record is nearer than the match,
so it ends at the first nearer one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import ArrayLike

from microagg.errors import ParameterError
from microagg.kernels import running
from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree, make_tree
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    make_query,
    measure_leaf,
    put_better,
    uppermost,
)
from microagg.metrics.risk.equivalence_classes import combined
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_choice, check_pair, check_whole, is_whole


def check_attributes(attributes: Sequence[int], d: int) -> list[int]:
    """Check positions of some of ``d`` attributes, or raise :class:`ParameterError`."""
    positions = list(attributes)
    if not positions:
        raise ParameterError("attributes is empty: name at least one that the intruder knows.")
    for position in positions:
        if not is_whole(position) or not 0 <= position < d:
            raise ParameterError(f"attributes must be whole numbers from 0 to {d - 1}, not {position!r}.")
    if len(set(positions)) < len(positions):
        raise ParameterError("attributes must not name one twice: it would count twice in the distances.")
    return [int(position) for position in positions]


# --- compiled searches ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def count_as_near(
    tree: Tree, sizes: IntArray, points: FloatArray, lower: FloatArray, upper: FloatArray, counts: IntArray
) -> None:
    """Write to ``counts``, shape (q,), the number of released records as near as a point's match. 0 if any is nearer.

    ``tree`` has the m distinct released rows, with the numbers of records ``sizes``, shape (m,); ``points`` have shape
    (q, d). A row is as near if its squared distance is between ``lower`` and ``upper``, both of shape (q,).
    """
    query = make_query(1)
    for i in range(len(points)):
        counts[i] = _count_as_near(tree, sizes, points[i], lower[i], upper[i], query)


@njit(cache=True, nogil=True)
def _count_as_near(
    tree: Tree, sizes: IntArray, point: FloatArray, lower: float, upper: float, query: NeighborQuery
) -> int:
    count, leaves, no_index = 0, len(tree.coordinates), int(NO_INDEX)
    first = uppermost(leaves)
    distances_to_boxes(tree.boxes, first >> LEVELS, point, query.gaps[0])
    top = put_better(tree, first, first, upper, no_index, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if node < leaves:
            distances_to_boxes(tree.boxes, node, point, query.gaps[0])
            top = put_better(tree, node << LEVELS, FAN, upper, no_index, top, query)
            continue
        measure_leaf(tree, node, point, query.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            if query.distances[i] < lower:
                return 0
            if query.distances[i] <= upper:
                count += sizes[tree.records[start + i]]
    return count


class Attributes(NamedTuple):
    """Originals and distinct released rows, attribute by attribute, in units that make distances comparable.

    The p numbers have a range for each released row; the q categories have codes, and for each pair of codes the index
    of its squared distance in the ``levels`` of :class:`Mix`: for attribute j it is ``levels[j, places[starts[j] +
    original * widths[j] + released]]``. If an attribute's width is 0, the distance of unequal codes is 1.
    """

    numbers: FloatArray  # shape (n, p)
    low: FloatArray  # shape (m, p)
    high: FloatArray  # shape (m, p)
    originals: IntArray  # shape (n, q)
    released: IntArray  # shape (m, q)
    starts: IntArray  # shape (q,)
    widths: IntArray  # shape (q,)
    places: IntArray  # of any length
    row_of: IntArray  # shape (n,): the released row of each original
    sizes: IntArray  # shape (m,): the number of records with each row
    first: IntArray  # shape (n,): the first possible row of each record
    last: IntArray  # shape (n,): the end of its possible rows


class Mix(NamedTuple):
    """Weights of the parts of a squared distance of a record from a released row."""

    within: float  # weight of the squared distance from the range
    middle: float  # weight of the squared distance from its middle
    levels: FloatArray  # shape (q, number of levels): weighted squared distances of categories


@njit(cache=True, nogil=True)
def count_as_near_of_all(
    attributes: Attributes, mix: Mix, then: Mix, equal: float, noise: float, rows: IntArray, counts: IntArray
) -> None:
    """Write to ``counts`` the number of released records as near to each of ``rows`` as its match. 0 if any is nearer.

    ``counts[0]`` are those as near by ``mix``, and ``counts[1]`` the part of them that is also as near by ``then``. Two
    distances are equal if they differ by less than ``equal`` times the match's distance plus ``noise``.
    """
    for i in range(len(rows)):
        record = rows[i]
        lower, upper = _near_limits(attributes, mix, record, equal, noise)
        next_lower, next_upper = _near_limits(attributes, then, record, equal, noise)
        first, last = attributes.first[record], attributes.last[record]
        count = next_count = 0
        is_next = True
        # Rows are sorted, so a nearer one is likely to be close to the match.
        for step in range(last - first):
            row = attributes.row_of[record] + step
            if row >= last:
                row -= last - first
            squared = _squared(attributes, mix, record, row, upper)
            if squared < lower:
                count = next_count = 0
                break
            if squared <= upper:
                count += attributes.sizes[row]
                squared = _squared(attributes, then, record, row, next_upper)
                if squared < next_lower:
                    is_next = False
                elif squared <= next_upper:
                    next_count += attributes.sizes[row]
        counts[0, i] = count
        counts[1, i] = next_count if is_next else 0


@njit(cache=True, nogil=True)
def _near_limits(attributes: Attributes, mix: Mix, record: int, equal: float, noise: float) -> tuple[float, float]:
    """Squared distances from a record between which a row is as near as the match."""
    distance = _squared(attributes, mix, record, attributes.row_of[record], np.inf) ** 0.5
    slack = equal * distance + noise
    return max(distance - slack, 0.0) ** 2, (distance + slack) ** 2


@njit(cache=True, nogil=True)
def _squared(attributes: Attributes, mix: Mix, record: int, row: int, upper: float) -> float:
    """Squared distance of a record from a released row, or a part of it that is above ``upper``."""
    within, middle, levels = mix
    total = 0.0
    for j in range(attributes.numbers.shape[1]):
        x, low, high = attributes.numbers[record, j], attributes.low[row, j], attributes.high[row, j]
        difference = max(low - x, x - high, 0.0)
        total += within * difference * difference
        if middle > 0.0:
            difference = x - (0.5 * low + 0.5 * high)
            total += middle * difference * difference
        if total > upper:
            return total
    for j in range(attributes.originals.shape[1]):
        original, released, width = attributes.originals[record, j], attributes.released[row, j], attributes.widths[j]
        if width:
            total += levels[j, attributes.places[attributes.starts[j] + original * width + released]]
        elif original != released:
            total += within + middle
        if total > upper:
            return total
    return total


# --- the measure ------------------------------------------------------------------------------------------------------

#: Kinds of distances; see :func:`record_linkage`.
DISTANCES = ("euclidean", "mahalanobis")

#: Distances with a smaller relative difference are equal.
EQUAL = 1e-9

#: The maximum error of a released value in units of the last place of its attribute's largest value: a mean is
#: rounded a few times.
UNITS = 16

# Directions with less than this fraction of the largest variance have only variance by rounding.
_NO_VARIANCE = 1e-10

# The number of records per thread between two checkpoints: they take some tenths of a second if each is compared with
# all released ones, within these limits.
_TERMS_AT_A_TIME = 200_000_000
_RECORDS_AT_A_TIME = (16, 4_000)


@dataclass(frozen=True, eq=False)
class Linkage:
    """Linkage of the ``n`` records looked up, whose positions ``rows`` are ascending, to the released records.

    ``probability``, shape (n,), is 1 / (number of nearest released records) if the match is one of them, else 0.
    ``share`` is the mean, 0 to 1: the expected share of correct links of an intruder who links each record to the
    nearest released one, at random among ties.
    """

    share: float
    probability: FloatArray
    n: int
    rows: IntArray


def record_linkage(
    X: ArrayLike,
    released: ArrayLike,
    *,
    distance: str = "euclidean",
    attributes: Sequence[int] | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Linkage:
    """Share of records, 0 to 1 (lower is better), whose nearest released record is their match.

    Distance-based record linkage (Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001): an intruder knows the original
    values and links a person to the nearest released record. Of t released records at the smallest distance, one of
    which is the match, each is picked with probability 1/t; so with groups of k or more the share is at most 1/k.

    The result is exact for the records looked up: two distances are equal if they differ by less than a billionth, or
    by rounding of the values.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other. Distances depend on the units:
        scale both alike first, such as by the standard deviations of X.
    distance : {"euclidean", "mahalanobis"}
        "mahalanobis" takes the covariance of X into account, so that units do not matter; directions in which X does
        not vary are left out, as by a pseudo-inverse (after Torra, Abowd & Domingo-Ferrer 2006).
    attributes : sequence of int, optional
        The positions of the known attributes; default: all.
    sample : int, optional
        The number of records, drawn without replacement, that are looked up among *all* released ones: the share is
        then an unbiased estimate. Default: all.
    random_state : int
        The seed of the draw.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If another parameter is out of its bounds.
    """
    original, masked = check_pair(X, released)
    check_choice("distance", distance, DISTANCES)
    if attributes is not None:
        positions = check_attributes(attributes, original.shape[1])
        original, masked = original[:, positions], masked[:, positions]
    rows = draw_records(len(original), sample, random_state)
    space = _space(original, masked, whiten=distance == "mahalanobis")
    probability = _probabilities(space, rows)
    return Linkage(float(probability.mean()), probability, len(rows), rows)


class _Space(NamedTuple):
    """Points with Euclidean distances."""

    points: FloatArray  # shape (n, r): the originals
    distinct: FloatArray  # shape (m, r): the distinct released rows
    row_of: IntArray  # shape (n,): the distinct row of each record
    sizes: IntArray  # shape (m,): the number of records with each row
    noise: float  # the maximum effect of rounding on a distance


def draw_records(n: int, sample: int | None, random_state: int) -> IntArray:
    """Positions of the records that are looked up, ascending (see :func:`record_linkage`)."""
    if sample is not None:
        check_whole("sample", sample, 1)
        check_whole("random_state", random_state, 0)
    if sample is None or sample >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, size=sample, replace=False))


def _space(original: FloatArray, masked: FloatArray, *, whiten: bool) -> _Space:
    row_of = combined(*(pd.factorize(column)[0] for column in masked.T))
    sizes = np.bincount(row_of)
    first = np.empty(len(sizes), dtype=np.int64)
    first[row_of[::-1]] = np.arange(len(row_of))[::-1]
    center = original.mean(axis=0)
    points, distinct = original - center, masked[first] - center
    noise = UNITS * np.finfo(np.float64).eps * np.maximum(np.abs(original).max(axis=0), np.abs(masked).max(axis=0))
    if whiten:
        weights = _whitening(points, noise)
        points, distinct, noise = points @ weights, distinct @ weights, noise @ np.abs(weights)
    return _Space(points, distinct, row_of, sizes, float(np.linalg.norm(noise)))


def _whitening(centered: FloatArray, noise: FloatArray) -> FloatArray:
    """W, shape (d, d), with W Wᵀ the pseudo-inverse of the covariance of attributes in units of their own.

    It rotates attributes as little as possible: the tree divides along attributes, and groups often do. Attributes that
    vary by no more than their ``noise``, shape (d,), are constant.
    """
    deviations = np.sqrt(np.mean(np.square(centered), axis=0))
    units = np.divide(1.0, deviations, out=np.zeros(len(deviations)), where=deviations > noise)
    standardized = centered * units
    variances, directions = np.linalg.eigh(standardized.T @ standardized / len(centered))
    varying = variances > _NO_VARIANCE * max(float(variances[-1]), 0.0)
    scaled = directions[:, varying] / np.sqrt(variances[varying])
    return np.asarray(units[:, np.newaxis] * (scaled @ directions[:, varying].T))


def _probabilities(space: _Space, rows: IntArray) -> FloatArray:
    """Probability of each of the records ``rows`` to be linked correctly."""
    tree = make_tree(np.ascontiguousarray(space.distinct.T), space.distinct.mean(axis=0), running.THREADS)
    # Records with neighboring matches in the tree are looked up one after the other: they visit the same nodes.
    order = np.argsort(tree.slots[space.row_of[rows]], kind="stable")
    probability = np.empty(len(rows))

    def look_up(rows: IntArray, counts: IntArray) -> None:
        points = space.points[rows]
        distances = np.sqrt(np.square(points - space.distinct[space.row_of[rows]]).sum(axis=1))
        slack = EQUAL * distances + space.noise
        lower, upper = np.square(np.maximum(distances - slack, 0.0)), np.square(distances + slack)
        count_as_near(tree, space.sizes, points, lower, upper, counts)

    probability[order] = look_up_records(rows[order], space.distinct.size, look_up)
    return probability


def look_up_records(
    rows: IntArray, terms: int, look_up: Callable[[IntArray, IntArray], None], ways: tuple[int, ...] = ()
) -> FloatArray:
    """Probability of each of the records ``rows`` to be linked correctly, on all threads.

    ``look_up(rows, counts)`` writes the number of released records as near as a record's match, 0 if any is nearer; a
    record takes at most ``terms`` terms of distances. The shapes of ``counts`` and of the result begin with ``ways``.
    """
    counts = np.empty((*ways, len(rows)), dtype=np.int64)
    with ThreadPoolExecutor(running.THREADS) as executor:
        min_records, max_records = _RECORDS_AT_A_TIME
        stretch = min(max(min_records, _TERMS_AT_A_TIME // max(terms, 1)), max_records) * running.THREADS
        for start in range(0, len(rows), stretch):
            checkpoint("linking records", start / len(rows))
            stop = min(start + stretch, len(rows))
            running.in_parts(executor, lambda a, b: look_up(rows[a:b], counts[..., a:b]), start, stop, running.THREADS)
    return np.where(counts > 0, 1.0 / np.maximum(counts, 1), 0.0)
