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

from microagg.kernels.neighbors.kd_tree import LEAF, NO_INDEX, Tree
from microagg.validation import FloatArray, IntArray

# The stack of a query holds at most one node for each level of the tree.
_DEPTH = 64


class NeighborQuery(NamedTuple):
    """The arrays that a query writes to and leaves its answer in; made by :func:`make_query`, to be used again."""

    nodes: IntArray  # shape (levels,): a stack of the nodes still to be visited
    bounds: FloatArray  # shape (levels,): the bound of each of them
    # shape (2 * LEAF,): squared distances of a leaf's records: from one point; in the first half, from any of several
    distances: FloatArray
    values: FloatArray  # shape (most,): the squared distances of the records found, best first
    found: IntArray  # shape (most,): the records found, best first
    visited: IntArray  # shape (1,): how many leaves all queries so far have visited


@njit(cache=True, nogil=True)
def make_query(most: int) -> NeighborQuery:
    """Return the arrays for queries of up to ``most`` records."""
    return NeighborQuery(
        np.empty(_DEPTH, dtype=np.int64),
        np.empty(_DEPTH),
        np.empty(2 * LEAF),
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def distance_to_box(boxes: FloatArray, node: int, point: FloatArray) -> float:
    """Return the squared distance from ``point``, shape (d,), to the box of ``node``; infinity if it is empty."""
    total = 0.0
    for j in range(len(point)):
        gap = max(max(boxes[node, 0, j] - point[j], point[j] - boxes[node, 1, j]), 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def measure_leaf(tree: Tree, leaf: int, point: FloatArray, distances: FloatArray) -> None:
    """Write the squared distances from ``point``, shape (d,), to the records left in a leaf into ``distances``."""
    start, stop = tree.ends[leaf]
    count, d = tree.left[leaf], len(point)
    out = distances[:count]
    out[:] = 0.0
    for j in range(d):
        at = start * d + j * (stop - start)
        column = tree.coordinates[at : at + count]
        value = point[j]
        for i in range(count):
            difference = column[i] - value
            out[i] += difference * difference


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
def nearest(tree: Tree, point: FloatArray, most: int, excluded: int, query: NeighborQuery) -> int:
    """Find the ``most`` records nearest to ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``query.found``, nearest first, ties by record index, their squared distances in ``query.values``.
    """
    filled, top = 0, 1 if most > 0 else 0
    worst, worst_record = np.inf, NO_INDEX
    query.nodes[0], query.bounds[0] = 1, distance_to_box(tree.boxes, 1, point)
    while top > 0:
        top -= 1
        node, bound = query.nodes[top], query.bounds[top]
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound, other = distance_to_box(tree.boxes, near, point), distance_to_box(tree.boxes, far, point)
            if is_better(other, tree.lowest[far], bound, tree.lowest[near]):
                near, far = far, near
                bound, other = other, bound
            if is_better(other, tree.lowest[far], worst, worst_record):
                query.nodes[top], query.bounds[top] = far, other
                top += 1
            node = near
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = query.distances[i], tree.records[start + i]
            if record == excluded or not is_better(value, record, worst, worst_record):
                continue
            filled = insert(query, filled, most, value, record)
            if filled == most:
                worst, worst_record = query.values[most - 1], query.found[most - 1]
    return filled


@njit(cache=True, nogil=True)
def _distance_to_hull(tree: Tree, node: int, hull: FloatArray) -> float:
    """Return the squared distance from the box ``hull``, shape (2, d), to that of ``node``."""
    total = 0.0
    for j in range(hull.shape[1]):
        gap = max(max(tree.boxes[node, 0, j] - hull[1, j], hull[0, j] - tree.boxes[node, 1, j]), 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def _nearest_box(tree: Tree, node: int, points: FloatArray, hull: FloatArray, enough: float) -> float:
    """Return the least squared distance from ``points`` to the box of ``node``.

    Where that is more than ``enough``, a lower bound of it that is more than ``enough``, too, will do.
    """
    coarse = _distance_to_hull(tree, node, hull)
    if coarse > enough:
        return coarse
    least = np.inf
    for point in points:
        least = min(least, distance_to_box(tree.boxes, node, point))
    return least


@njit(cache=True, nogil=True)
def _measure_leaf_from_any(tree: Tree, leaf: int, points: FloatArray, worst: float, query: NeighborQuery) -> None:
    """Write the least squared distance from ``points`` of each record of a leaf into ``query.distances``."""
    count = tree.left[leaf]
    least, other = query.distances[:count], query.distances[LEAF : LEAF + count]
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
    filled, top = 0, 1
    worst, worst_record = np.inf, NO_INDEX
    query.nodes[0], query.bounds[0] = 1, 0.0
    while top > 0:
        top -= 1
        node, bound = query.nodes[top], query.bounds[top]
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound = _nearest_box(tree, near, points, hull, worst)
            other = _nearest_box(tree, far, points, hull, worst)
            if is_better(other, tree.lowest[far], bound, tree.lowest[near]):
                near, far = far, near
                bound, other = other, bound
            if is_better(other, tree.lowest[far], worst, worst_record):
                query.nodes[top], query.bounds[top] = far, other
                top += 1
            node = near
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        query.visited[0] += 1
        _measure_leaf_from_any(tree, node, points, worst, query)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = query.distances[i], tree.records[start + i]
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


@njit(cache=True, nogil=True)
def largest_distance_bound(tree: Tree, node: int, point: FloatArray, from_center: float) -> float:
    """Return an upper bound of the squared distances from ``point`` to the records below ``node``; -1 for no records.

    It is the lesser of two bounds. One is the farthest corner of the box; its terms are added in the same order as
    those of a distance, so rounding cannot put it below one. The other is for the shell of a ball, which boxes fit
    badly and which is what is left once the records farthest from the mean have been taken. Let p be the point, c the
    tree's center, u = c - p, and R² the reach of the node. A record x there has y = x - c in a box B and in the ball of
    radius R, and ‖x - p‖² = ‖y‖² + ‖u‖² + 2 u·y. With the multiplier ‖u‖/R for the ball, Lagrange's bound on u·y is
    ‖u‖·R less ‖u‖/2R times the squared distance from B to the point R·u/‖u‖ opposite p, so that
    ‖x - p‖² ≤ (R + ‖u‖)² - ‖u‖/R · that squared distance. The result is raised by far more than rounding can amount to.
    ``from_center`` is ‖u‖².
    """
    if tree.reach[node] < 0.0:
        return -1.0
    radius, away = np.sqrt(tree.reach[node]), np.sqrt(from_center)
    ratio = radius / away if away > 0.0 else 0.0
    corner = beside = 0.0
    for j in range(len(point)):
        least, greatest = tree.boxes[node, 0, j], tree.boxes[node, 1, j]
        gap = max(greatest - point[j], point[j] - least)
        corner += gap * gap
        center = tree.center[j]
        opposite = ratio * (center - point[j])
        gap = max(max((least - center) - opposite, opposite - (greatest - center)), 0.0)
        beside += gap * gap
    ball = (radius + away) * (radius + away) * (1.0 + 1e-12)
    if ratio > 0.0:
        ball -= beside / ratio * (1.0 - 1e-12)
    return min(corner, ball)


@njit(cache=True, nogil=True)
def farthest(tree: Tree, point: FloatArray, from_center: float, most: int, excluded: int, query: NeighborQuery) -> int:
    """Find the ``most`` records farthest from ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``query.found``, farthest first, ties by record index, their negated squared distances in
    ``query.values``. ``from_center`` is the squared distance of ``point`` from the tree's center.
    """
    filled, top = 0, 1
    worst, worst_record = np.inf, NO_INDEX
    query.nodes[0], query.bounds[0] = 1, -largest_distance_bound(tree, 1, point, from_center)
    while top > 0:
        top -= 1
        node, bound = query.nodes[top], query.bounds[top]
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound = -largest_distance_bound(tree, near, point, from_center)
            other = -largest_distance_bound(tree, far, point, from_center)
            if is_better(other, tree.lowest[far], bound, tree.lowest[near]):
                near, far = far, near
                bound, other = other, bound
            if is_better(other, tree.lowest[far], worst, worst_record):
                query.nodes[top], query.bounds[top] = far, other
                top += 1
            node = near
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = -query.distances[i], tree.records[start + i]
            if record == excluded or not is_better(value, record, worst, worst_record):
                continue
            filled = insert(query, filled, most, value, record)
            if filled == most:
                worst, worst_record = query.values[most - 1], query.found[most - 1]
    return filled
