"""How many released records are as near to an original as its own: compiled searches, in the k-d tree or among all.

A search only has to say whether anything is nearer than the own record, so it ends at the first that is.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    make_query,
    measure_leaf,
    put_better,
    uppermost,
)
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def count_as_near(
    tree: Tree, sizes: IntArray, points: FloatArray, least: FloatArray, most: FloatArray, found: IntArray
) -> None:
    """Write to ``found`` how many released records are as near to each point as its own; 0 if any is nearer.

    Parameters
    ----------
    tree : Tree
        Of the m distinct released rows.
    sizes : array of int, shape (m,)
        How many released records have each of these rows.
    points : array, shape (q, d)
    least, most : arrays, shape (q,)
        The squared distances between which a row is as near as the own one; below ``least`` it is nearer.
    found : array of int, shape (q,)
    """
    query = make_query(1)
    for i in range(len(points)):
        found[i] = _count_as_near(tree, sizes, points[i], least[i], most[i], query)


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
        measure_leaf(tree, node, point, query.distances[0])
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            if query.distances[0, i] < least:
                return 0
            if query.distances[0, i] <= most:
                count += sizes[tree.records[start + i]]
    return count


class Attributes(NamedTuple):
    """Originals and distinct released rows, attribute by attribute, in units that make distances comparable.

    Of p numbers there is a range for each released row; of q categories there are codes, and for each pair of them the
    place of its squared distance in ``levels``: that of attribute j is ``levels[j, places[starts[j] + original *
    widths[j] + released]]``. Where an attribute's width is 0, categories are 1 apart unless their codes are equal.
    """

    numbers: FloatArray  # shape (n, p)
    low: FloatArray  # shape (m, p)
    high: FloatArray  # shape (m, p)
    originals: IntArray  # shape (n, q)
    released: IntArray  # shape (m, q)
    starts: IntArray  # shape (q,)
    widths: IntArray  # shape (q,)
    places: IntArray  # of any length
    levels: FloatArray  # shape (q, the most levels)
    own: IntArray  # shape (n,): the released row of each original
    sizes: IntArray  # shape (m,): how many records have each row
    first: IntArray  # shape (n,): the first row that a record can be released as, and
    last: IntArray  # shape (n,): the one behind the last


@njit(cache=True, nogil=True)
def count_as_near_of_all(
    known: Attributes, within: float, middle: float, equal: float, noise: float, rows: IntArray, found: IntArray
) -> None:
    """Write to ``found`` how many released records are as near to each of ``rows`` as its own; 0 if any is nearer.

    A squared distance is ``within`` times that from the range, plus ``middle`` times that from its middle. Two are
    equal if they differ by less than ``equal`` times the own one plus ``noise``.
    """
    for i in range(len(rows)):
        record = rows[i]
        own = _squared(known, within, middle, record, known.own[record], float("inf")) ** 0.5
        slack = equal * own + noise
        least, most = max(own - slack, 0.0) ** 2, (own + slack) ** 2
        count = 0
        for row in range(known.first[record], known.last[record]):
            squared = _squared(known, within, middle, record, row, most)
            if squared < least:
                count = 0
                break
            if squared <= most:
                count += known.sizes[row]
        found[i] = count


@njit(cache=True, nogil=True)
def _squared(known: Attributes, within: float, middle: float, record: int, row: int, most: float) -> float:
    """Return the squared distance of a record from a released row, or a part of it that is above ``most``."""
    total = 0.0
    for j in range(known.originals.shape[1]):
        original, released, width = known.originals[record, j], known.released[row, j], known.widths[j]
        if width:
            total += known.levels[j, known.places[known.starts[j] + original * width + released]]
        elif original != released:
            total += within + middle
        if total > most:
            return total
    for j in range(known.numbers.shape[1]):
        x, low, high = known.numbers[record, j], known.low[row, j], known.high[row, j]
        apart = max(low - x, x - high, 0.0)
        total += within * apart * apart
        if middle > 0.0:
            apart = x - (0.5 * low + 0.5 * high)
            total += middle * apart * apart
        if total > most:
            return total
    return total
