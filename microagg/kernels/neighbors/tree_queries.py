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

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import squared_distance
from microagg.kernels.neighbors.kd_tree import FAN, LEAF, LEVELS, NO_INDEX, Tree, measure_leaf
from microagg.validation import FloatArray, IntArray

# The stack of a query holds at most FAN nodes for each time that it goes down.
DEPTH = 24 * FAN

# Far more than rounding can amount to, relative to the distances themselves.
_SLACK = 1e-12
_TINY = 1e-300

# Stands for infinity, but for its product with 0.
_HUGE = 1e300


class NeighborQuery(NamedTuple):
    """The arrays that a query writes to and leaves its answer in; made by :func:`make_query`, to be used again."""

    nodes: IntArray  # shape (DEPTH,): a stack of the nodes still to be visited
    bounds: FloatArray  # shape (DEPTH,): the bound of each of them
    gaps: FloatArray  # shape (2, FAN): the bounds of nodes side by side, and room to compute them
    distances: FloatArray  # shape (LEAF,): the squared distances of a leaf's records
    values: FloatArray  # shape (most,): the squared distances of the records found, best first
    records: IntArray  # shape (most,): the records found, best first
    visited: IntArray  # shape (1,): how many leaves all queries so far have visited


@kernel
def make_query(most: int) -> NeighborQuery:
    """Return the arrays for queries of up to ``most`` records."""
    return NeighborQuery(
        np.empty(DEPTH, dtype=np.int64),
        np.empty(DEPTH),
        np.empty((2, FAN)),
        np.empty(LEAF),
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@borrows
def uppermost(leaves: int) -> int:
    """Return the first node, and number of nodes, of the level of a query's begin, some LEVELS above the ``leaves``."""
    first = leaves
    while first > FAN:
        first >>= LEVELS
    return first


@borrows
def distances_to_boxes(boxes: FloatArray, at: int, point: FloatArray, out: FloatArray) -> None:
    """Write the squared distances from ``point``, shape (d,), to ``boxes[at]`` into ``out``, shape (FAN,)."""
    # The compiler makes vectors of a loop whose length it does not know, and many single steps of another.
    nodes = boxes.shape[3]
    for i in range(nodes):
        out[i] = 0.0
    for j in range(len(point)):
        value = point[j]
        for i in range(nodes):
            gap = max(max(boxes[at, 0, j, i] - value, value - boxes[at, 1, j, i]), 0.0)
            out[i] += gap * gap


@borrows
def is_better(value: float, record: int, worst: float, worst_record: int) -> bool:
    """Return whether (value, record) comes before (worst, worst_record)."""
    return value < worst or (value == worst and record < worst_record)


@borrows
def insert(query: NeighborQuery, filled: int, most: int, value: float, record: int) -> int:
    """Put a record where it belongs among those found, smallest (value, record) first; return how many there are."""
    if filled < most:
        filled += 1
    at = filled - 1
    while at > 0 and is_better(value, record, query.values[at - 1], query.records[at - 1]):
        query.values[at] = query.values[at - 1]
        query.records[at] = query.records[at - 1]
        at -= 1
    query.values[at] = value
    query.records[at] = record
    return filled


@borrows
def put_on_stack(query: NeighborQuery, bottom: int, top: int, node: int, bound: float, lowest: IntArray) -> int:
    """Put a node between ``bottom`` and ``top`` of the stack, least (bound, ``lowest``) on top; return its height."""
    at = top
    while at > bottom and is_better(query.bounds[at - 1], lowest[query.nodes[at - 1]], bound, lowest[node]):
        query.nodes[at], query.bounds[at] = query.nodes[at - 1], query.bounds[at - 1]
        at -= 1
    query.nodes[at], query.bounds[at] = node, bound
    return top + 1


@borrows
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


@borrows
def largest_distance_bounds(tree: Tree, at: int, point: FloatArray, landmark: int, gaps: FloatArray) -> None:
    """Write upper bounds of the squared distances from ``point`` to the records below nodes, negated, to ``gaps[0]``.

    The nodes are those of ``tree.boxes[at]``; a node without records gets infinity. ``gaps`` is the work space of the
    query.

    Each bound is the lesser of two. The first is the farthest corner of the box. Its terms are added in the same order
    as the terms of a distance, so rounding cannot make it less than a distance. The second is for records in a ball:
    once the records farthest from the mean are assigned, the others form a ball, which boxes fit badly.

    Let p be the point, q the landmark, u = q - p, and R² the reach of the node. A record x there has y = x - q in a box
    and in the ball of radius R, so that for any m ≥ 0
    ‖x - p‖² = ‖y‖² + ‖u‖² + 2 u·y ≤ (1 + m) R² + ‖u‖² + 2 u·y - m ‖y‖²,
    of which the last two terms are largest where y is nearest to u/m. For the first landmark, the centroid, m is best
    near ‖u‖/R; for others, near p, it is 0. The result is raised by far more than rounding can amount to.
    """
    nodes = tree.boxes.shape[3]
    corner, bent = gaps[0], gaps[1]
    for i in range(nodes):
        corner[i] = bent[i] = 0.0
    apart = squared_distance(tree.landmarks[landmark], point)
    share, inverse = 0.0, _HUGE
    if landmark == 0 and apart > 0.0 and tree.reach[0, 1] > 0.0:
        share, inverse = np.sqrt(apart / tree.reach[0, 1]), np.sqrt(tree.reach[0, 1] / apart)
    for j in range(len(point)):
        value, origin = point[j], tree.landmarks[landmark, j]
        toward = origin - value
        best = toward * inverse
        for i in range(nodes):
            least, greatest = tree.boxes[at, 0, j, i], tree.boxes[at, 1, j, i]
            gap = max(greatest - value, value - least)
            corner[i] += gap * gap
            y = max(min(best, greatest - origin), least - origin)
            bent[i] += y * (2.0 * toward - share * y)
    for i in range(nodes):
        node = at * nodes + i
        squares = (1.0 + share) * tree.reach[landmark, node] + apart
        ball = squares + bent[i] + (_SLACK * squares + _TINY)
        bound = ball if ball < corner[i] else corner[i]
        corner[i] = -bound if tree.left[node] > 0 else np.inf


@borrows
def _bound_nodes(tree: Tree, at: int, point: FloatArray, landmark: int, gaps: FloatArray) -> None:
    """Write the bounds of the nodes side by side at ``at`` into ``gaps[0]``; see :func:`search`."""
    if landmark < 0:
        distances_to_boxes(tree.boxes, at, point, gaps[0])
    else:
        largest_distance_bounds(tree, at, point, landmark, gaps)


@borrows
def _next_at_most(values: FloatArray, start: int, stop: int, limit: float) -> int:
    """Return the first position from ``start`` on of a value that is at most ``limit``, ``stop`` if there is none."""
    position = start
    while position < stop and values[position] > limit:
        position += 1
    return position


@borrows
def search(
    tree: Tree, point: FloatArray, landmark: int, most: int, excluded: int, share: float, filled: int,
    query: NeighborQuery,
) -> int:  # fmt: skip
    """Find the ``most`` nearest records, or the farthest, by negated distances, unless ``landmark`` is negative.

    ``filled`` is the number of records found before, around other points. With a ``share`` of at most 1 records are
    about as near as any, which takes a tenth of the time: once ``most`` are found, a node is visited only if the
    squared distance to its box is less than this share of that of the last of them, and ties go to any.
    """
    if most <= 0:
        return 0
    leaves = len(tree.coordinates)
    worst, worst_record = np.inf, NO_INDEX
    if filled == most:
        worst, worst_record = query.values[most - 1], query.records[most - 1]
    # A node is visited only if it may hold something that comes before these.
    limit, limit_record = worst, worst_record
    first = uppermost(leaves)
    _bound_nodes(tree, first >> LEVELS, point, landmark, query.gaps)
    top = put_better(tree, first, first, limit, limit_record, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if not is_better(query.bounds[top], tree.lowest[node], limit, limit_record):
            continue
        if node < leaves:
            _bound_nodes(tree, node, point, landmark, query.gaps)
            top = put_better(tree, node << LEVELS, FAN, limit, limit_record, top, query)
            continue
        query.visited[0] += 1
        measure_leaf(tree, node, point, query.distances)
        start, count = tree.ends[node, 0], tree.left[node]
        if landmark >= 0:
            for i in range(count):
                query.distances[i] = -query.distances[i]
        i = _next_at_most(query.distances, 0, count, worst)
        while i < count:
            value, record = query.distances[i], tree.records[start + i]
            if record != excluded and is_better(value, record, worst, worst_record):
                filled = insert(query, filled, most, value, record)
                if filled == most:
                    worst, worst_record = query.values[most - 1], query.records[most - 1]
            i = _next_at_most(query.distances, i + 1, count, worst)
        if share > 1.0:
            limit, limit_record = worst, worst_record
        elif filled == most:
            limit, limit_record = share * worst, np.int64(-1)
    return filled


@borrows
def nearest(tree: Tree, point: FloatArray, most: int, excluded: int, query: NeighborQuery) -> int:
    """Find the ``most`` records nearest to ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``query.records``, nearest first, ties by record index, their squared distances in ``query.values``.
    """
    return search(tree, point, -1, most, excluded, np.inf, 0, query)


@borrows
def farthest(tree: Tree, point: FloatArray, most: int, excluded: int, query: NeighborQuery) -> int:
    """Like :func:`nearest`, but for the farthest records, of which ``query.values`` are the negated squared distances.

    The nearer a landmark of the tree is to ``point``, the fewer leaves are visited.
    """
    landmark, least = 0, np.inf
    for i in range(len(tree.landmarks)):
        apart = squared_distance(tree.landmarks[i], point)
        if apart < least:
            landmark, least = i, apart
    return search(tree, point, landmark, most, excluded, np.inf, 0, query)
