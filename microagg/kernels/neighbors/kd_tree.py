"""A k-d tree whose records can be removed: what is nearest to a record, or farthest from it, among those still there.

The tree answers exactly as a pass over all records would, ties included (lowest record index), but looks at few of
them. Its shape is that of a heap: node v has the children 2v and 2v + 1, each with half of the records, and the leaves
hold a few dozen. Records are cut at the median of the attribute that spreads most, by (value, record index), so
identical records do no harm. Every node knows the bounding box, the number and the lowest index of the records left
below it.

Distances are squared Euclidean, their terms added attribute by attribute in order, bitwise as :mod:`.pool` does.
Rounding is monotone, so a distance to a box, its terms added in the same order, never exceeds the rounded distance to
a record in it: pruning needs no tolerance.

Source: Bentley 1975; Friedman, Bentley & Finkel 1977.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import squared_distances
from microagg.validation import FloatArray, IntArray

#: Records in a leaf, at most: so many that a pass over them uses the processor's vector units.
LEAF = 32

# No record has this index.
NOBODY = np.int64(1) << 62

# The stack of a search holds at most one node a level.
_DEPTH = 64


class Tree(NamedTuple):
    """Records in the order of a k-d tree; made by :func:`make_tree`.

    Attributes
    ----------
    coordinates : array of float, shape (n * d,)
        Leaf by leaf, within a leaf attribute by attribute: one pass over an attribute is contiguous.
    records : array of int, shape (n,)
        The record in each slot; within a leaf, those still there come first.
    slots : array of int, shape (n,)
        The slot of each record, -1 once it has been removed.
    boxes : array of float, shape (nodes, 2, d)
        The least and greatest value of each attribute below each node.
    left : array of int, shape (nodes,)
        How many records are left below each node.
    lowest : array of int, shape (nodes,)
        The lowest record index below each node.
    ends : array of int, shape (nodes, 2)
        The first slot of each node, and the one after its last.
    norms : array of float, shape (n,)
        The squared distance of each record from ``center``.
    reach : array of float, shape (nodes,)
        The greatest of ``norms`` below each node; -1 if nothing is left.
    center : array of float, shape (d,)
        The centroid of all records.
    """

    coordinates: FloatArray
    records: IntArray
    slots: IntArray
    boxes: FloatArray
    left: IntArray
    lowest: IntArray
    ends: IntArray
    norms: FloatArray
    reach: FloatArray
    center: FloatArray


class Search(NamedTuple):
    """What a search writes to, made once and used again; made by :func:`make_search`.

    Attributes
    ----------
    nodes : array of int
        Nodes still to be looked at.
    bounds : array of float
        The bound of each.
    distances : array of float
        Squared distances of the records of a leaf.
    values : array of float, shape (most,)
        The squared distances of the records found, best first.
    found : array of int, shape (most,)
        The records found, best first.
    looked : array of int, shape (1,)
        How many leaves all searches so far have looked into.
    """

    nodes: IntArray
    bounds: FloatArray
    distances: FloatArray
    values: FloatArray
    found: IntArray
    looked: IntArray


@njit(cache=True, nogil=True)
def make_search(most: int) -> Search:
    """Return room for searches of up to ``most`` records."""
    return Search(
        np.empty(_DEPTH, dtype=np.int64),
        np.empty(_DEPTH),
        np.empty(2 * LEAF),
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


# --- building --------------------------------------------------------------------------------------------------------


def make_tree(columns: FloatArray, center: FloatArray, threads: int = 1) -> Tree:
    """Return the tree of the records whose attributes are the rows of ``columns``, shape (d, n), n >= 1.

    ``center``, shape (d,), is where :attr:`Tree.norms` are measured from, best the centroid of the records. Subtrees
    are built on ``threads`` threads; the tree does not depend on their number.
    """
    d, n = columns.shape
    leaves = 1
    while n > leaves * LEAF:
        leaves *= 2
    norms = np.empty(n)
    squared_distances(columns, 0, n, center, norms)
    tree = Tree(
        np.empty(n * d),
        np.arange(n),
        np.empty(n, dtype=np.int64),
        np.empty((2 * leaves, 2, d)),
        np.zeros(2 * leaves, dtype=np.int64),
        np.full(2 * leaves, NOBODY),
        _ends(n, leaves),
        norms,
        np.full(2 * leaves, -1.0),
        center,
    )
    # The top is divided until there is a subtree for each thread; these share no slots and no nodes.
    first = 1
    while first < min(threads, leaves):
        for node in range(first, 2 * first):
            _divide(columns, tree, node)
        first *= 2
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda root: _build_below(columns, tree, root), range(first, 2 * first)))
    for node in range(first - 1, 0, -1):
        _fit_node(tree, node)
    return tree


@njit(cache=True, nogil=True)
def _ends(n: int, leaves: int) -> IntArray:
    ends = np.empty((2 * leaves, 2), dtype=np.int64)
    ends[0] = 0
    ends[1, 0], ends[1, 1] = 0, n
    for node in range(2, 2 * leaves):
        start, stop = ends[node >> 1]
        middle = (start + stop) >> 1
        ends[node, 0] = middle if node & 1 else start
        ends[node, 1] = stop if node & 1 else middle
    return ends


@njit(cache=True, nogil=True)
def _build_below(columns: FloatArray, tree: Tree, root: int) -> None:
    """Build the subtree of ``root``, whose slots hold its records in any order."""
    leaves = len(tree.ends) // 2
    first, last = root, root
    while first < leaves:
        for node in range(first, last + 1):
            _divide(columns, tree, node)
        first, last = 2 * first, 2 * last + 1
    for node in range(first, last + 1):
        _fill_leaf(columns, tree, node)
    while first > root:
        first, last = first // 2, last // 2
        for node in range(first, last + 1):
            _fit_node(tree, node)


@njit(cache=True, nogil=True)
def _divide(columns: FloatArray, tree: Tree, node: int) -> None:
    """Divide the records of ``node`` at the median of the attribute that spreads most."""
    start, stop = tree.ends[node]
    order = tree.records
    attribute = 0
    widest = -1.0
    for j in range(len(columns)):
        column = columns[j]
        least, greatest = np.inf, -np.inf
        for slot in range(start, stop):
            value = column[order[slot]]
            least = min(least, value)
            greatest = max(greatest, value)
        if greatest - least > widest:
            widest = greatest - least
            attribute = j
    _select(order, start, stop - 1, (start + stop) >> 1, columns[attribute])


@njit(cache=True, nogil=True)
def _select(order: IntArray, first: int, last: int, nth: int, values: FloatArray) -> None:
    """Order ``order[first:last + 1]`` by (value, record) until what belongs at ``nth`` is there (Hoare's FIND)."""
    while last > first:
        middle = (first + last) >> 1
        if _comes_before(values, order[middle], order[first]):
            order[middle], order[first] = order[first], order[middle]
        if _comes_before(values, order[last], order[first]):
            order[last], order[first] = order[first], order[last]
        if _comes_before(values, order[last], order[middle]):
            order[last], order[middle] = order[middle], order[last]
        pivot = order[middle]
        low, high = first, last
        while low <= high:
            while _comes_before(values, order[low], pivot):
                low += 1
            while _comes_before(values, pivot, order[high]):
                high -= 1
            if low <= high:
                order[low], order[high] = order[high], order[low]
                low += 1
                high -= 1
        if nth <= high:
            last = high
        elif nth >= low:
            first = low
        else:
            return


@njit(cache=True, nogil=True)
def _comes_before(values: FloatArray, one: int, other: int) -> bool:
    return values[one] < values[other] or (values[one] == values[other] and one < other)


@njit(cache=True, nogil=True)
def _fill_leaf(columns: FloatArray, tree: Tree, leaf: int) -> None:
    start, stop = tree.ends[leaf]
    tree.records[start:stop].sort()
    for slot in range(start, stop):
        tree.slots[tree.records[slot]] = slot
    for j in range(len(columns)):
        at = start * len(columns) + j * (stop - start)
        for slot in range(start, stop):
            tree.coordinates[at + slot - start] = columns[j, tree.records[slot]]
    tree.left[leaf] = stop - start
    _fit_leaf(tree, leaf)


@njit(cache=True, nogil=True)
def _fit_leaf(tree: Tree, leaf: int) -> bool:
    """Set what a leaf knows of its records; return whether that was something else."""
    start, stop = tree.ends[leaf]
    count = tree.left[leaf]
    d = tree.boxes.shape[2]
    changed = False
    for j in range(d):
        at = start * d + j * (stop - start)
        least, greatest = np.inf, -np.inf
        for value in tree.coordinates[at : at + count]:
            least = min(least, value)
            greatest = max(greatest, value)
        changed |= least != tree.boxes[leaf, 0, j] or greatest != tree.boxes[leaf, 1, j]
        tree.boxes[leaf, 0, j] = least
        tree.boxes[leaf, 1, j] = greatest
    lowest, reach = NOBODY, -1.0
    for record in tree.records[start : start + count]:
        lowest = min(lowest, record)
        reach = max(reach, tree.norms[record])
    changed |= lowest != tree.lowest[leaf] or reach != tree.reach[leaf]
    tree.lowest[leaf] = lowest
    tree.reach[leaf] = reach
    return changed


@njit(cache=True, nogil=True)
def _fit_node(tree: Tree, node: int) -> bool:
    """Set what an inner node knows from its children; return whether its box or lowest index was another."""
    one, other = 2 * node, 2 * node + 1
    tree.left[node] = tree.left[one] + tree.left[other]
    changed = False
    for j in range(tree.boxes.shape[2]):
        least = min(tree.boxes[one, 0, j], tree.boxes[other, 0, j])
        greatest = max(tree.boxes[one, 1, j], tree.boxes[other, 1, j])
        changed |= least != tree.boxes[node, 0, j] or greatest != tree.boxes[node, 1, j]
        tree.boxes[node, 0, j] = least
        tree.boxes[node, 1, j] = greatest
    lowest, reach = min(tree.lowest[one], tree.lowest[other]), max(tree.reach[one], tree.reach[other])
    changed |= lowest != tree.lowest[node] or reach != tree.reach[node]
    tree.lowest[node] = lowest
    tree.reach[node] = reach
    return changed


# --- removing --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def leaf_of(tree: Tree, slot: int) -> int:
    """Return the leaf that holds ``slot``."""
    node = 1
    while 2 * node < len(tree.ends):
        node *= 2
        if slot >= tree.ends[node, 1]:
            node += 1
    return node


@njit(cache=True, nogil=True)
def remove(tree: Tree, record: int) -> None:
    """Take ``record`` out of the tree."""
    slot = tree.slots[record]
    leaf = leaf_of(tree, slot)
    start, stop = tree.ends[leaf]
    d = tree.boxes.shape[2]
    last = start + tree.left[leaf] - 1
    on_edge = tree.lowest[leaf] == record or tree.reach[leaf] == tree.norms[record]
    for j in range(d):
        row = start * d + j * (stop - start) - start
        value = tree.coordinates[row + slot]
        on_edge |= value == tree.boxes[leaf, 0, j] or value == tree.boxes[leaf, 1, j]
        tree.coordinates[row + slot] = tree.coordinates[row + last]
    moved = tree.records[last]
    tree.records[slot] = moved
    tree.records[last] = record
    tree.slots[moved] = slot
    tree.slots[record] = -1
    tree.left[leaf] -= 1
    changed = on_edge and _fit_leaf(tree, leaf)
    node = leaf >> 1
    while node >= 1:
        if changed:
            changed = _fit_node(tree, node)
        else:
            tree.left[node] -= 1
        node >>= 1


# --- searching -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def distance_to_box(tree: Tree, node: int, point: FloatArray) -> float:
    """Return the squared distance from ``point``, shape (d,), to the box of ``node``; infinity if it is empty."""
    total = 0.0
    for j in range(len(point)):
        gap = max(max(tree.boxes[node, 0, j] - point[j], point[j] - tree.boxes[node, 1, j]), 0.0)
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
def is_better(bound: float, lowest: int, worst: float, worst_record: int) -> bool:
    """Return whether (bound, lowest) comes before (worst, worst_record)."""
    return bound < worst or (bound == worst and lowest < worst_record)


@njit(cache=True, nogil=True)
def rank(search: Search, filled: int, most: int, value: float, record: int) -> int:
    """Put a record where it belongs among those found, smallest (value, record) first; return how many there are."""
    if filled < most:
        filled += 1
    at = filled - 1
    while at > 0 and (
        search.values[at - 1] > value or (search.values[at - 1] == value and search.found[at - 1] > record)
    ):
        search.values[at] = search.values[at - 1]
        search.found[at] = search.found[at - 1]
        at -= 1
    search.values[at] = value
    search.found[at] = record
    return filled


@njit(cache=True, nogil=True)
def nearest(tree: Tree, point: FloatArray, most: int, excluded: int, search: Search) -> int:
    """Find the ``most`` records nearest to ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``search.found``, nearest first, ties by record index, their squared distances in ``search.values``.
    """
    filled, top = 0, 1 if most > 0 else 0
    worst, worst_record = np.inf, NOBODY
    search.nodes[0], search.bounds[0] = 1, distance_to_box(tree, 1, point)
    while top > 0:
        top -= 1
        node, bound = search.nodes[top], search.bounds[top]
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound, other = distance_to_box(tree, near, point), distance_to_box(tree, far, point)
            if is_better(other, tree.lowest[far], bound, tree.lowest[near]):
                near, far = far, near
                bound, other = other, bound
            if is_better(other, tree.lowest[far], worst, worst_record):
                search.nodes[top], search.bounds[top] = far, other
                top += 1
            node = near
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        search.looked[0] += 1
        measure_leaf(tree, node, point, search.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = search.distances[i], tree.records[start + i]
            if record == excluded or not is_better(value, record, worst, worst_record):
                continue
            filled = rank(search, filled, most, value, record)
            if filled == most:
                worst, worst_record = search.values[most - 1], search.found[most - 1]
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
    """Return the least squared distance from ``points`` to the box of ``node``; above ``enough``, no more than it."""
    coarse = _distance_to_hull(tree, node, hull)
    if coarse > enough:
        return coarse
    least = np.inf
    for point in points:
        least = min(least, distance_to_box(tree, node, point))
    return least


@njit(cache=True, nogil=True)
def _measure_leaf_from_any(tree: Tree, leaf: int, points: FloatArray, worst: float, search: Search) -> None:
    """Write the least squared distance from ``points`` of each record of a leaf into ``search.distances``."""
    count = tree.left[leaf]
    least, other = search.distances[:count], search.distances[LEAF : LEAF + count]
    least[:] = np.inf
    for point in points:
        if distance_to_box(tree, leaf, point) <= worst:
            measure_leaf(tree, leaf, point, other)
            for i in range(count):
                least[i] = min(least[i], other[i])


@njit(cache=True, nogil=True)
def nearest_to_any(tree: Tree, points: FloatArray, most: int, excluded: IntArray, search: Search) -> int:
    """Find the ``most`` records nearest to any of ``points``, shape (m, d), ``excluded`` aside; return how many.

    They are in ``search.found``, nearest first, ties by record index, their least squared distances in
    ``search.values``.
    """
    hull = np.empty((2, points.shape[1]))
    for j in range(points.shape[1]):
        hull[0, j], hull[1, j] = points[:, j].min(), points[:, j].max()
    filled, top = 0, 1
    worst, worst_record = np.inf, NOBODY
    search.nodes[0], search.bounds[0] = 1, 0.0
    while top > 0:
        top -= 1
        node, bound = search.nodes[top], search.bounds[top]
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
                search.nodes[top], search.bounds[top] = far, other
                top += 1
            node = near
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        search.looked[0] += 1
        _measure_leaf_from_any(tree, node, points, worst, search)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = search.distances[i], tree.records[start + i]
            if not is_better(value, record, worst, worst_record) or _holds(excluded, record):
                continue
            filled = rank(search, filled, most, value, record)
            if filled == most:
                worst, worst_record = search.values[most - 1], search.found[most - 1]
    return filled


@njit(cache=True, nogil=True)
def _holds(records: IntArray, record: int) -> bool:
    for other in records:  # noqa: SIM110 - compiled code knows no any()
        if other == record:
            return True
    return False


@njit(cache=True, nogil=True)
def distance_within_box(tree: Tree, node: int, point: FloatArray, own: float) -> float:
    """Return a number that no squared distance from ``point`` to a record below ``node`` exceeds; -1 for no records.

    It is the least of two bounds. One is the farthest corner of the box; its terms are added in the same order as those
    of a distance, so rounding cannot put it below one. The other is for the shell of a ball, which boxes fit badly and
    which is what is left of data taken from the outside. Let c be the tree's center, u = c - p, and R the reach of the
    node. A record x there has y = x - c in a box B and in the ball of radius R, and ‖x - p‖² = ‖y‖² + ‖u‖² + 2 u·y.
    With the multiplier ‖u‖/R for the ball, Lagrange's bound on u·y is ‖u‖·R less ‖u‖/2R times the squared distance from
    B to the point R·u/‖u‖ opposite p, so that ‖x - p‖² ≤ (R + ‖u‖)² - ‖u‖/R · that squared distance. The result is
    raised by far more than rounding can amount to. ``own`` is ‖u‖².
    """
    if tree.reach[node] < 0.0:
        return -1.0
    radius, away = np.sqrt(tree.reach[node]), np.sqrt(own)
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
def farthest(tree: Tree, point: FloatArray, own: float, most: int, excluded: int, search: Search) -> int:
    """Find the ``most`` records farthest from ``point``, shape (d,), except ``excluded``; return how many there are.

    They are in ``search.found``, farthest first, ties by record index, their negated squared distances in
    ``search.values``. ``own`` is the squared distance of ``point`` from the tree's center.
    """
    filled, top = 0, 1
    worst, worst_record = np.inf, NOBODY
    search.nodes[0], search.bounds[0] = 1, -distance_within_box(tree, 1, point, own)
    while top > 0:
        top -= 1
        node, bound = search.nodes[top], search.bounds[top]
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound = -distance_within_box(tree, near, point, own)
            other = -distance_within_box(tree, far, point, own)
            if is_better(other, tree.lowest[far], bound, tree.lowest[near]):
                near, far = far, near
                bound, other = other, bound
            if is_better(other, tree.lowest[far], worst, worst_record):
                search.nodes[top], search.bounds[top] = far, other
                top += 1
            node = near
        if not is_better(bound, tree.lowest[node], worst, worst_record):
            continue
        search.looked[0] += 1
        measure_leaf(tree, node, point, search.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = -search.distances[i], tree.records[start + i]
            if record == excluded or not is_better(value, record, worst, worst_record):
                continue
            filled = rank(search, filled, most, value, record)
            if filled == most:
                worst, worst_record = search.values[most - 1], search.found[most - 1]
    return filled
