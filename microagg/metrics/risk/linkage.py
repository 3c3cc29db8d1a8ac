"""Record linkage: how often the released record nearest to an original one is its own.

A compiled search, in a k-d tree or among all records, only has to say whether anything is nearer than the own record,
so it ends at the first that is.
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
    """Return positions of some of ``d`` attributes, or raise :class:`ParameterError` naming what is wrong."""
    chosen = list(attributes)
    if not chosen:
        raise ParameterError("attributes is empty: name at least one that the intruder knows.")
    for position in chosen:
        if not is_whole(position) or not 0 <= position < d:
            raise ParameterError(f"attributes must be whole numbers from 0 to {d - 1}, not {position!r}.")
    if len(set(chosen)) < len(chosen):
        raise ParameterError("attributes must not name one twice: it would count twice in the distances.")
    return [int(position) for position in chosen]


# --- compiled searches ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def count_as_near(
    tree: Tree, sizes: IntArray, points: FloatArray, least: FloatArray, most: FloatArray, counts: IntArray
) -> None:
    """Write to ``counts``, shape (q,), how many released records are as near to a point as its own; 0 if any is nearer.

    ``tree`` is that of the m distinct released rows, which ``sizes``, shape (m,), records have; ``points`` are of shape
    (q, d). ``least`` and ``most``, each of shape (q,), are the squared distances between which a row is as near.
    """
    query = make_query(1)
    for i in range(len(points)):
        counts[i] = _count_as_near(tree, sizes, points[i], least[i], most[i], query)


@njit(cache=True, nogil=True)
def _count_as_near(
    tree: Tree, sizes: IntArray, point: FloatArray, least: float, most: float, query: NeighborQuery
) -> int:
    count, leaves, no_index = 0, len(tree.coordinates), int(NO_INDEX)
    first = uppermost(leaves)
    distances_to_boxes(tree.boxes, first >> LEVELS, point, query.gaps[0])
    top = put_better(tree, first, first, most, no_index, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if node < leaves:
            distances_to_boxes(tree.boxes, node, point, query.gaps[0])
            top = put_better(tree, node << LEVELS, FAN, most, no_index, top, query)
            continue
        measure_leaf(tree, node, point, query.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            if query.distances[i] < least:
                return 0
            if query.distances[i] <= most:
                count += sizes[tree.records[start + i]]
    return count


class Attributes(NamedTuple):
    """Originals and distinct released rows, attribute by attribute, in units that make distances comparable.

    Of p numbers there is a range for each released row; of q categories there are codes, and for each pair of them the
    place of its squared distance in the ``levels`` of a :class:`Way`: that of attribute j is ``levels[j,
    places[starts[j] + original * widths[j] + released]]``. Where an attribute's width is 0, categories are 1 apart
    unless their codes are equal.
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
    sizes: IntArray  # shape (m,): how many records have each row
    first: IntArray  # shape (n,): the first row that a record can be released as, and
    last: IntArray  # shape (n,): the one behind the last


class Way(NamedTuple):
    """What a squared distance of a record from a released row is made of."""

    within: float  # how often the squared distance from the range counts,
    middle: float  # and that from its middle
    levels: FloatArray  # shape (q, the most levels): what both come to for categories


@njit(cache=True, nogil=True)
def count_as_near_of_all(
    attributes: Attributes, way: Way, then: Way, equal: float, noise: float, rows: IntArray, counts: IntArray
) -> None:
    """Write to ``counts`` how many released records are as near to each of ``rows`` as its own; 0 if any is nearer.

    Of those that are as near by ``way``, ``found[0]`` counts all and ``found[1]`` those that are so by ``then`` too.
    Two distances are equal if they differ by less than ``equal`` times the own one plus ``noise``.
    """
    for i in range(len(rows)):
        record = rows[i]
        least, most = _as_near(attributes, way, record, equal, noise)
        next_least, next_most = _as_near(attributes, then, record, equal, noise)
        first, last = attributes.first[record], attributes.last[record]
        count = next_count = 0
        is_next = True
        # Rows are sorted, so one that is nearer is likely to stand close to the own one.
        for step in range(last - first):
            row = attributes.row_of[record] + step
            if row >= last:
                row -= last - first
            squared = _squared(attributes, way, record, row, most)
            if squared < least:
                count = next_count = 0
                break
            if squared <= most:
                count += attributes.sizes[row]
                squared = _squared(attributes, then, record, row, next_most)
                if squared < next_least:
                    is_next = False
                elif squared <= next_most:
                    next_count += attributes.sizes[row]
        counts[0, i] = count
        counts[1, i] = next_count if is_next else 0


@njit(cache=True, nogil=True)
def _as_near(attributes: Attributes, way: Way, record: int, equal: float, noise: float) -> tuple[float, float]:
    """Return the squared distances from a record between which a row is as near as its own."""
    distance = _squared(attributes, way, record, attributes.row_of[record], np.inf) ** 0.5
    slack = equal * distance + noise
    return max(distance - slack, 0.0) ** 2, (distance + slack) ** 2


@njit(cache=True, nogil=True)
def _squared(attributes: Attributes, way: Way, record: int, row: int, most: float) -> float:
    """Return the squared distance of a record from a released row, or a part of it that is above ``most``."""
    within, middle, levels = way
    total = 0.0
    for j in range(attributes.numbers.shape[1]):
        x, low, high = attributes.numbers[record, j], attributes.low[row, j], attributes.high[row, j]
        difference = max(low - x, x - high, 0.0)
        total += within * difference * difference
        if middle > 0.0:
            difference = x - (0.5 * low + 0.5 * high)
            total += middle * difference * difference
        if total > most:
            return total
    for j in range(attributes.originals.shape[1]):
        original, released, width = attributes.originals[record, j], attributes.released[row, j], attributes.widths[j]
        if width:
            total += levels[j, attributes.places[attributes.starts[j] + original * width + released]]
        elif original != released:
            total += within + middle
        if total > most:
            return total
    return total


# --- the measure ------------------------------------------------------------------------------------------------------

#: How distances are measured; see :func:`record_linkage`.
DISTANCES = ("euclidean", "mahalanobis")

#: Distances that differ by a smaller fraction are equal.
EQUAL = 1e-9

#: A released value may be off by so many units in the last place of the largest value of its attribute: a mean is
#: rounded a few times on its way.
UNITS = 16

# Directions with less than this fraction of the variance of the widest one have none but for rounding.
_NO_VARIANCE = 1e-10

# How many records a thread looks up between two checkpoints: as many as would take some tenths of a second if each were
# compared with all released ones, within these limits.
_TERMS_AT_A_TIME = 200_000_000
_RECORDS_AT_A_TIME = (16, 4_000)


@dataclass(frozen=True, eq=False)
class Linkage:
    """Which released record is nearest to each of the ``n`` records looked up, whose positions ``rows`` are ascending.

    ``probability``, shape (n,), is for each of them 1 / (number of released records nearest to it) if its own is one of
    them, else 0. ``share`` is their mean, from 0 to 1: what share of the records an intruder who links each of them to
    the nearest released one, at random among the nearest, links rightly on average.
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
    """Return the share of records, 0 to 1 (lower is better), whose nearest released record is their own.

    It is distance-based record linkage (Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001): an intruder
    knows the original values and takes the nearest released record for that of the same person. Of t released records
    at the same least distance, one of which is the right one, each is taken with probability 1/t; so with groups of k
    or more the share is at most 1/k.

    It is exact for the records looked up: two distances are equal if they differ by less than a billionth, or than
    rounding of the values can explain. Equal released records are looked up as one.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other. Distances depend on the units:
        scale both alike first, such as by the standard deviations of X.
    distance : {"euclidean", "mahalanobis"}
        "mahalanobis" takes the covariance of X into account, so that units do not matter; directions in which X does
        not vary are left out, as by a pseudo-inverse (after Torra, Abowd & Domingo-Ferrer 2006).
    attributes : sequence of int, optional
        The positions of those that the intruder knows; default: all.
    sample : int, optional
        Look up only so many records, drawn without replacement, among *all* released ones: the share is then an
        unbiased estimate of that of all. Default: look up all.
    random_state : int
        Which ones are drawn.

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
        chosen = check_attributes(attributes, original.shape[1])
        original, masked = original[:, chosen], masked[:, chosen]
    rows = drawn(len(original), sample, random_state)
    space = _space(original, masked, whiten=distance == "mahalanobis")
    probability = _probabilities(space, rows)
    return Linkage(float(probability.mean()), probability, len(rows), rows)


class _Space(NamedTuple):
    """Where distances are Euclidean."""

    points: FloatArray  # shape (n, r): the originals
    distinct: FloatArray  # shape (m, r): the distinct released rows
    row_of: IntArray  # shape (n,): which of these is that of each record
    sizes: IntArray  # shape (m,): how many records have each of them
    noise: float  # how much rounding of values may change a distance


def drawn(n: int, sample: int | None, random_state: int) -> IntArray:
    """Return the positions of the records that are looked up, ascending; see :func:`record_linkage`."""
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
    """Return W, shape (d, d), with W Wᵀ the pseudo-inverse of the covariance of attributes in units of their own.

    It turns them as little as it can: the tree divides along attributes, and groups often do. Attributes that vary by
    no more than their ``noise``, shape (d,), are constant.
    """
    deviations = np.sqrt(np.mean(np.square(centered), axis=0))
    units = np.divide(1.0, deviations, out=np.zeros(len(deviations)), where=deviations > noise)
    standardized = centered * units
    variances, directions = np.linalg.eigh(standardized.T @ standardized / len(centered))
    varying = variances > _NO_VARIANCE * max(float(variances[-1]), 0.0)
    scaled = directions[:, varying] / np.sqrt(variances[varying])
    return np.asarray(units[:, np.newaxis] * (scaled @ directions[:, varying].T))


def _probabilities(space: _Space, rows: IntArray) -> FloatArray:
    """Return the probability of each of the records ``rows`` to be linked rightly."""
    tree = make_tree(np.ascontiguousarray(space.distinct.T), space.distinct.mean(axis=0), running.THREADS)
    # Records whose own ones are neighbors in the tree are looked up one after the other: they visit the same nodes.
    order = np.argsort(tree.slots[space.row_of[rows]], kind="stable")
    probability = np.empty(len(rows))

    def look_up(rows: IntArray, counts: IntArray) -> None:
        points = space.points[rows]
        distances = np.sqrt(np.square(points - space.distinct[space.row_of[rows]]).sum(axis=1))
        slack = EQUAL * distances + space.noise
        least, most = np.square(np.maximum(distances - slack, 0.0)), np.square(distances + slack)
        count_as_near(tree, space.sizes, points, least, most, counts)

    probability[order] = looked_up(rows[order], space.distinct.size, look_up)
    return probability


def looked_up(
    rows: IntArray, terms: int, look_up: Callable[[IntArray, IntArray], None], ways: tuple[int, ...] = ()
) -> FloatArray:
    """Return the probability of each of the records ``rows`` to be linked rightly, on all threads.

    ``look_up(rows, counts)`` writes how many released records are as near as a record's own, 0 if any is nearer; for a
    record that takes at most ``terms`` terms of distances. The shapes of ``counts`` and of the result begin with
    ``ways``.
    """
    counts = np.empty((*ways, len(rows)), dtype=np.int64)
    with ThreadPoolExecutor(running.THREADS) as executor:
        fewest, most = _RECORDS_AT_A_TIME
        stretch = min(max(fewest, _TERMS_AT_A_TIME // max(terms, 1)), most) * running.THREADS
        for start in range(0, len(rows), stretch):
            checkpoint("linking records", start / len(rows))
            stop = min(start + stretch, len(rows))
            running.in_parts(executor, lambda a, b: look_up(rows[a:b], counts[..., a:b]), start, stop, running.THREADS)
    return np.where(counts > 0, 1.0 / np.maximum(counts, 1), 0.0)
