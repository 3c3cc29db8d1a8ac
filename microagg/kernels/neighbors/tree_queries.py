"""What is nearest to a point, or farthest from it, among the records left in a k-d tree.

The answers are exactly those of a pass over all records left, ties included (lowest record index), but only a few of
the leaves are visited: a node is passed over once the bound on the distances of its records, together with its lowest
record index, shows that none of them is better than the records found so far.

Rounding is monotone, so a distance to a box, its terms added in the same order as those of a distance to a record,
never exceeds the rounded distance to a record in it: passing over nodes needs no tolerance.

Source: Friedman, Bentley & Finkel 1977.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import FAN, LEAF, LEVELS, NO_INDEX, Tree
from microagg.validation import FloatArray, IntArray

# The stack of a query holds at most FAN nodes for each time that it goes down.
DEPTH = 24 * FAN

# Far more than rounding can amount to, relative to the distances themselves.
_SLACK = 1e-12


class NeighborQuery(NamedTuple):
    """The arrays that a query writes to and leaves its answer in; made by :func:`make_query`, to be used again."""

    nodes: IntArray  # shape (DEPTH,): a stack of the nodes still to be visited
    bounds: FloatArray  # shape (DEPTH,): the bound of each of them
    gaps: FloatArray  # shape (3, FAN): the bounds of nodes side by side, and room to compute them
    # shape (2, LEAF): squared distances of a leaf's records: from one point; in the first row, from any of several
    distances: FloatArray
    values: FloatArray  # shape (most,): the squared distances of the records found, best first
    found: IntArray  # shape (most,): the records found, best first
    visited: IntArray  # shape (1,): how many leaves all queries so far have visited


@njit(cache=True, nogil=True)
def make_query(most: int) -> NeighborQuery:
    """Return the arrays for queries of up to ``most`` records."""
    return NeighborQuery(
        np.empty(DEPTH, dtype=np.int64),
        np.empty(DEPTH),
        np.empty((3, FAN)),
        np.empty((2, LEAF)),
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def uppermost(leaves: int) -> int:
    """Return the first node of the level on which a query begins, a multiple of ``LEVELS`` above the leaves.

    The level has as many nodes as the number of its first one. ``leaves`` is the number of leaves, a power of 2.
    """
    first = leaves
    while first > FAN:
        first >>= LEVELS
    return first


@njit(cache=True, nogil=True)
def distance_to_box(boxes: FloatArray, node: int, point: FloatArray) -> float:
    """Return the squared distance from ``point``, shape (d,), to the box of ``node``; infinity if it is empty."""
    at, place = node >> LEVELS, node & FAN - 1
    total = 0.0
    for j in range(len(point)):
        gap = max(max(boxes[at, 0, j, place] - point[j], point[j] - boxes[at, 1, j, place]), 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def distances_to_boxes(boxes: FloatArray, at: int, point: FloatArray, out: FloatArray) -> None:
    """Write the squared distances from ``point`` to the boxes of nodes side by side, ``boxes[at]``, into ``out``.

    They are those of :func:`distance_to_box`; ``out`` has shape (FAN,).
    """
    # The compiler makes vectors of a loop whose length it does not know, and many single steps of another.
    nodes = boxes.shape[3]
    for i in range(nodes):
        out[i] = 0.0
    for j in range(len(point)):
        value = point[j]
        for i in range(nodes):
            gap = max(max(boxes[at, 0, j, i] - value, value - boxes[at, 1, j, i]), 0.0)
            out[i] += gap * gap


@njit(cache=True, nogil=True)
def measure_leaf(tree: Tree, leaf: int, point: FloatArray, distances: FloatArray) -> None:
    """Write the squared distances from ``point``, shape (d,), to the records left in a leaf into ``distances``.

    What follows them there has no meaning; there is room for as many as ``tree.coordinates`` has.
    """
    columns = tree.coordinates[leaf - len(tree.coordinates)]
    room = columns.shape[1]
    for i in range(room):
        distances[i] = 0.0
    for j in range(len(point)):
        value = point[j]
        for i in range(room):
            difference = columns[j, i] - value
            distances[i] += difference * difference


@njit(cache=True, nogil=True)
def is_better(value: float, record: int, worst: float, worst_record: int) -> bool:
    """Return whether (value, record) comes before (worst, worst_record)."""
    return value < worst or (value == worst and record < worst_record)


@njit(cache=True, nogil=True)
def insert(query: NeighborQuery, filled: int, most: int, value: float, record: int) -> int:
    """Put a record where it belongs among those found, smallest (value, record) first; return how many there are."""
    if filled < most:
        filled += 1
    at = filled - 1
    while at > 0 and (query.values[at - 1] > value or (query.values[at - 1] == value and query.found[at - 1] > record)):
        query.values[at] = query.values[at - 1]
        query.found[at] = query.found[at - 1]
        at -= 1
    query.values[at] = value
    query.found[at] = record
    return filled


@njit(cache=True, nogil=True)
def put_on_stack(query: NeighborQuery, bottom: int, top: int, node: int, bound: float, lowest: IntArray) -> int:
    """Put a node where it belongs between ``bottom`` and ``top`` of the stack; return its height.

    The least bound is on top, ties by what is ``lowest`` below each node.
    """
    at = top
    while at > bottom and is_better(query.bounds[at - 1], lowest[query.nodes[at - 1]], bound, lowest[node]):
        query.nodes[at], query.bounds[at] = query.nodes[at - 1], query.bounds[at - 1]
        at -= 1
    query.nodes[at], query.bounds[at] = node, bound
    return top + 1


@njit(cache=True, nogil=True)
def put_better(
    tree: Tree, first: int, count: int, worst: float, worst_record: int, top: int, query: NeighborQuery
) -> int:
    """Put those of ``count`` nodes from ``first`` on that may hold anything better on the stack, the best on top.

    Their bounds are in ``query.gaps[0]``. A record as near as the ``worst`` is better if its index is below
    ``worst_record``: always with NO_INDEX, never with -1. Return the height of the stack, which was ``top``.
    """
    bottom = top
    for node in range(first, first + count):
        bound = query.gaps[0, node & FAN - 1]
        if bound > worst or not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        top = put_on_stack(query, bottom, top, node, bound, tree.lowest)
    return top


@njit(cache=True, nogil=True)
def nearest(tree: Tree, point: FloatArray, most: int, excluded: int, query: NeighborQuery) -> int:
    """Find the ``most`` records nearest to ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``query.found``, nearest first, ties by record index, their squared distances in ``query.values``.
    """
    if most <= 0:
        return 0
    filled, leaves = 0, len(tree.coordinates)
    worst, worst_record = np.inf, NO_INDEX
    first = uppermost(leaves)
    distances_to_boxes(tree.boxes, first >> LEVELS, point, query.gaps[0])
    top = put_better(tree, first, first, worst, worst_record, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if not is_better(query.bounds[top], tree.lowest[node], worst, worst_record):
            continue
        if node < leaves:
            distances_to_boxes(tree.boxes, node, point, query.gaps[0])
            top = put_better(tree, node << LEVELS, FAN, worst, worst_record, top, query)
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances[0])
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value = query.distances[0, i]
            if value > worst:
                continue
            record = tree.records[start + i]
            if record == excluded or not is_better(value, record, worst, worst_record):
                continue
            filled = insert(query, filled, most, value, record)
            if filled == most:
                worst, worst_record = query.values[most - 1], query.found[most - 1]
    return filled


@njit(cache=True, nogil=True)
def _distances_from_any(
    boxes: FloatArray, at: int, points: FloatArray, hull: FloatArray, enough: float, gaps: FloatArray
) -> None:
    """Write the least squared distances from ``points``, shape (m, d), to the boxes ``boxes[at]`` into ``gaps[0]``.

    ``hull``, shape (2, d), is their box. Where all boxes are farther than ``enough`` from it, those distances will do.
    ``gaps`` are those of a query.
    """
    nodes = boxes.shape[3]
    for i in range(nodes):
        gaps[0, i] = 0.0
    for j in range(hull.shape[1]):
        low, high = hull[0, j], hull[1, j]
        for i in range(nodes):
            gap = max(max(boxes[at, 0, j, i] - high, low - boxes[at, 1, j, i]), 0.0)
            gaps[0, i] += gap * gap
    if gaps[0].min() > enough:
        return
    gaps[0] = np.inf
    for point in points:
        distances_to_boxes(boxes, at, point, gaps[1])
        for i in range(nodes):
            gaps[0, i] = min(gaps[0, i], gaps[1, i])


@njit(cache=True, nogil=True)
def _measure_leaf_from_any(tree: Tree, leaf: int, points: FloatArray, worst: float, query: NeighborQuery) -> None:
    """Write the least squared distance from ``points`` of each record of a leaf into ``query.distances[0]``.

    Points from which the leaf's box is farther than ``worst`` are left out.
    """
    count = tree.left[leaf]
    least, other = query.distances[0, :count], query.distances[1]
    least[:] = np.inf
    for point in points:
        if distance_to_box(tree.boxes, leaf, point) <= worst:
            measure_leaf(tree, leaf, point, other)
            for i in range(count):
                least[i] = min(least[i], other[i])


@njit(cache=True, nogil=True)
def nearest_to_any(tree: Tree, points: FloatArray, most: int, excluded: IntArray, query: NeighborQuery) -> int:
    """Find the ``most`` records nearest to any of ``points``, shape (m, d), ``excluded`` aside; return how many.

    They are in ``query.found``, nearest first, ties by record index, their least squared distances in
    ``query.values``.
    """
    hull = np.empty((2, points.shape[1]))
    for j in range(points.shape[1]):
        hull[0, j], hull[1, j] = points[:, j].min(), points[:, j].max()
    filled, leaves = 0, len(tree.coordinates)
    worst, worst_record = np.inf, NO_INDEX
    first = uppermost(leaves)
    _distances_from_any(tree.boxes, first >> LEVELS, points, hull, worst, query.gaps)
    top = put_better(tree, first, first, worst, worst_record, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if not is_better(query.bounds[top], tree.lowest[node], worst, worst_record):
            continue
        if node < leaves:
            _distances_from_any(tree.boxes, node, points, hull, worst, query.gaps)
            top = put_better(tree, node << LEVELS, FAN, worst, worst_record, top, query)
            continue
        query.visited[0] += 1
        _measure_leaf_from_any(tree, node, points, worst, query)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = query.distances[0, i], tree.records[start + i]
            if not is_better(value, record, worst, worst_record) or _holds(excluded, record):
                continue
            filled = insert(query, filled, most, value, record)
            if filled == most:
                worst, worst_record = query.values[most - 1], query.found[most - 1]
    return filled


@njit(cache=True, nogil=True)
def _holds(records: IntArray, record: int) -> bool:
    for other in records:  # noqa: SIM110 - compiled code knows no any()
        if other == record:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def largest_distance_bounds(tree: Tree, at: int, point: FloatArray, from_center: float, gaps: FloatArray) -> None:
    """Write upper bounds of the squared distances from ``point`` to the records below nodes, negated, to ``gaps[0]``.

    The nodes are those side by side whose boxes are ``tree.boxes[at]``; it is infinity where there are no records.
    ``gaps``, shape (3, FAN), are those of a query, ``from_center`` is the squared distance of ``point`` from the tree's
    center.

    Each is the lesser of two bounds. One is the farthest corner of the box; its terms are added in the same order as
    those of a distance, so rounding cannot put it below one. The other is for the shell of a ball, which boxes fit
    badly and which is what is left once the records farthest from the mean have been taken. Let p be the point, c the
    tree's center, u = c - p, and R² the reach of the node. A record x there has y = x - c in a box B and in the ball of
    radius R, and ‖x - p‖² = ‖y‖² + ‖u‖² + 2 u·y. With the multiplier ‖u‖/R for the ball, Lagrange's bound on u·y is
    ‖u‖·R less ‖u‖/2R times the squared distance from B to the point R·u/‖u‖ opposite p, so that
    ‖x - p‖² ≤ (R + ‖u‖)² - ‖u‖/R · that squared distance. The result is raised by far more than rounding can amount to.
    """
    nodes = tree.boxes.shape[3]
    away = np.sqrt(from_center)
    share = 1.0 / away if away > 0.0 else 0.0
    corner, beside, ratio = gaps[0], gaps[1], gaps[2]
    for i in range(nodes):
        corner[i] = beside[i] = 0.0
        ratio[i] = np.sqrt(max(tree.reach[at * nodes + i], 0.0)) * share
    for j in range(len(point)):
        value, center = point[j], tree.center[j]
        toward = center - value
        for i in range(nodes):
            least, greatest = tree.boxes[at, 0, j, i], tree.boxes[at, 1, j, i]
            gap = max(greatest - value, value - least)
            corner[i] += gap * gap
            opposite = ratio[i] * toward
            gap = max(max((least - center) - opposite, opposite - (greatest - center)), 0.0)
            beside[i] += gap * gap
    # Without branches, which the compiler could not make vectors of. Where the radius is 0, nothing is taken off.
    for i in range(nodes):
        reach = tree.reach[at * nodes + i]
        radius = np.sqrt(max(reach, 0.0))
        less = (beside[i] if radius > 0.0 else 0.0) * (away / (radius if radius > 0.0 else 1.0))
        ball = (radius + away) * (radius + away) * (1.0 + _SLACK) - less * (1.0 - _SLACK)
        bound = ball if ball < corner[i] else corner[i]
        corner[i] = -bound if reach >= 0.0 else np.inf


@njit(cache=True, nogil=True)
def farthest(tree: Tree, point: FloatArray, from_center: float, most: int, excluded: int, query: NeighborQuery) -> int:
    """Find the ``most`` records farthest from ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``query.found``, farthest first, ties by record index, their negated squared distances in
    ``query.values``. ``from_center`` is the squared distance of ``point`` from the tree's center.
    """
    filled, leaves = 0, len(tree.coordinates)
    worst, worst_record = np.inf, NO_INDEX
    first = uppermost(leaves)
    largest_distance_bounds(tree, first >> LEVELS, point, from_center, query.gaps)
    top = put_better(tree, first, first, worst, worst_record, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if not is_better(query.bounds[top], tree.lowest[node], worst, worst_record):
            continue
        if node < leaves:
            largest_distance_bounds(tree, node, point, from_center, query.gaps)
            top = put_better(tree, node << LEVELS, FAN, worst, worst_record, top, query)
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances[0])
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value = -query.distances[0, i]
            if value > worst:
                continue
            record = tree.records[start + i]
            if record == excluded or not is_better(value, record, worst, worst_record):
                continue
            filled = insert(query, filled, most, value, record)
            if filled == most:
                worst, worst_record = query.values[most - 1], query.found[most - 1]
    return filled
