"""A k-d tree from which records can be removed; :mod:`.tree_queries` finds what is near or far in it.

Its shape is that of a heap: node v has the children 2v and 2v + 1, each with half of the records, and a leaf holds a
few dozen. Records are divided at the median of the attribute with the widest range, by (value, record index), so that
identical records do no harm. Every node knows the bounding box, the number and the lowest index of the records left
below it. Building takes time O(nd log n), removing a record O(d log n).

The boxes of eight nodes side by side lie together attribute by attribute, and so do the records of a leaf, whose number
is rounded up: a pass over either has no remainder, and uses the processor's vector units throughout. A query goes three
levels down at a time, from a node to its eight descendants there.

Distances are squared Euclidean, their terms added attribute by attribute in order, bitwise as in :mod:`.brute_force`.

Source: Bentley 1975; Friedman, Bentley & Finkel 1977.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import make_pool, sort_few, squared_lengths
from microagg.validation import FloatArray, IntArray

#: Records in a leaf, at most.
LEAF = 32

#: How many nodes side by side lie together, and by how many levels a query goes down: 2 ** LEVELS = FAN.
FAN = 8
LEVELS = 3

# The room of a leaf is a multiple of this.
_ROOM = 8

# Stands for no record, or for no group: larger than any index, so that it loses every tie.
NO_INDEX = np.int64(1) << 62


class Tree(NamedTuple):
    """Records in the order of a k-d tree; made by :func:`make_tree`."""

    # shape (leaves, d, room): the records of each leaf in the order of their slots; what follows them has no meaning
    coordinates: FloatArray
    records: IntArray  # shape (n,): the record in each slot; within a leaf, those that have not been removed come first
    slots: IntArray  # shape (n,): the slot of each record, -1 once it has been removed
    # shape (nodes / FAN, 2, d, FAN): the least and greatest value of each attribute below each node; node v is at
    # [v // FAN, :, :, v % FAN], so that the descendants of v three levels down are at [v]
    boxes: FloatArray
    left: IntArray  # shape (nodes,): how many records are left below each node
    lowest: IntArray  # shape (nodes,): the lowest record index below each node
    ends: IntArray  # shape (nodes, 2): the first slot of each node, and the one after its last
    landmarks: FloatArray  # shape (number of landmarks, d): points whose distances to each node are known
    # shape (number of landmarks, nodes): the greatest squared distance of a record below each node from each landmark,
    # or more, as records have been removed since; -1 if there was none
    reach: FloatArray


def make_tree(columns: FloatArray, center: FloatArray, threads: int = 1) -> Tree:
    """Return the tree of the records whose attributes are the rows of ``columns``, shape (d, n), n >= 1.

    ``center``, shape (d,), best the centroid, is the only landmark. Subtrees are built on ``threads`` threads, on
    which the tree does not depend.
    """
    d, n = columns.shape
    leaves = 1
    while n > leaves * LEAF:
        leaves *= 2
    tree = Tree(
        np.zeros((leaves, d, -(-n // (leaves * _ROOM)) * _ROOM)),
        np.arange(n),
        np.empty(n, dtype=np.int64),
        empty_boxes(2 * leaves, d),
        np.zeros(2 * leaves, dtype=np.int64),
        np.full(2 * leaves, NO_INDEX),
        _ends(n, leaves),
        np.empty((0, d)),
        np.empty((0, 2 * leaves)),
    )
    # The top is divided until there is a subtree for each thread. Subtrees share no slots and no nodes.
    first = 1
    while first < min(threads, leaves):
        for node in range(first, 2 * first):
            _divide(columns, tree, node)
        first *= 2
    with ThreadPoolExecutor(threads) as executor:
        list(executor.map(lambda root: _build_below(columns, tree, root), range(first, 2 * first)))
        for node in range(first - 1, 0, -1):
            _fit_node(tree, node)
        return with_landmarks(tree, center[np.newaxis], executor)


def empty_boxes(nodes: int, d: int) -> FloatArray:
    """Return boxes as those of :class:`Tree`, of ``nodes`` nodes below which there is nothing."""
    boxes = np.empty((-(-nodes // FAN), 2, d, FAN))
    boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
    return boxes


def _ends(n: int, leaves: int) -> IntArray:
    """Return :attr:`Tree.ends` of a tree of ``n`` records."""
    ends = np.zeros((2 * leaves, 2), dtype=np.int64)
    ends[1, 1] = n
    first = 1
    while first < leaves:
        start, stop = ends[first : 2 * first].T
        middle = (start + stop) // 2
        first *= 2
        ends[first : 2 * first : 2] = np.column_stack([start, middle])
        ends[first + 1 : 2 * first : 2] = np.column_stack([middle, stop])
    return ends


@borrows
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


@borrows
def _divide(columns: FloatArray, tree: Tree, node: int) -> None:
    """Divide the records of ``node`` at the median of the attribute with the widest range."""
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


@borrows
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


@borrows
def _comes_before(values: FloatArray, one: int, other: int) -> bool:
    return values[one] < values[other] or (values[one] == values[other] and one < other)


@borrows
def _fill_leaf(columns: FloatArray, tree: Tree, leaf: int) -> None:
    start, stop = tree.ends[leaf]
    sort_few(tree.records[start:stop])
    for slot in range(start, stop):
        tree.slots[tree.records[slot]] = slot
    at = leaf - len(tree.coordinates)
    for j in range(len(columns)):
        for slot in range(start, stop):
            tree.coordinates[at, j, slot - start] = columns[j, tree.records[slot]]
    tree.left[leaf] = stop - start
    _fit_leaf(tree, leaf)


@borrows
def _fit_leaf(tree: Tree, leaf: int) -> bool:
    """Set the box and lowest index of a leaf from its records; return whether either has changed."""
    start, count = tree.ends[leaf, 0], tree.left[leaf]
    at = leaf - len(tree.coordinates)
    box = tree.boxes[leaf >> LEVELS, :, :, leaf & FAN - 1]
    changed = False
    for j in range(tree.coordinates.shape[1]):
        least, greatest = np.inf, -np.inf
        for value in tree.coordinates[at, j, :count]:
            least = min(least, value)
            greatest = max(greatest, value)
        changed |= least != box[0, j] or greatest != box[1, j]
        box[0, j], box[1, j] = least, greatest
    lowest = NO_INDEX
    for record in tree.records[start : start + count]:
        lowest = min(lowest, record)
    changed |= lowest != tree.lowest[leaf]
    tree.lowest[leaf] = lowest
    return changed


@borrows
def _fit_node(tree: Tree, node: int) -> bool:
    """Set all that an inner node knows from its children; return whether its box or lowest index has changed."""
    one, other = 2 * node, 2 * node + 1
    tree.left[node] = tree.left[one] + tree.left[other]
    box, below = tree.boxes[node >> LEVELS, :, :, node & FAN - 1], tree.boxes[one >> LEVELS]
    left, right = one & FAN - 1, other & FAN - 1
    changed = False
    for j in range(tree.boxes.shape[2]):
        least = min(below[0, j, left], below[0, j, right])
        greatest = max(below[1, j, left], below[1, j, right])
        changed |= least != box[0, j] or greatest != box[1, j]
        box[0, j], box[1, j] = least, greatest
    lowest = min(tree.lowest[one], tree.lowest[other])
    changed |= lowest != tree.lowest[node]
    tree.lowest[node] = lowest
    return changed


@borrows
def leaf_of(tree: Tree, slot: int) -> int:
    """Return the leaf that holds ``slot``."""
    node = 1
    while 2 * node < len(tree.ends):
        node *= 2
        if slot >= tree.ends[node, 1]:
            node += 1
    return node


@borrows
def remove(tree: Tree, record: int) -> None:
    """Take ``record`` out of the tree."""
    slot = tree.slots[record]
    leaf = leaf_of(tree, slot)
    start = tree.ends[leaf, 0]
    last = start + tree.left[leaf] - 1
    box, columns = tree.boxes[leaf >> LEVELS, :, :, leaf & FAN - 1], tree.coordinates[leaf - len(tree.coordinates)]
    on_edge = tree.lowest[leaf] == record
    for j in range(len(columns)):
        value = columns[j, slot - start]
        on_edge |= value == box[0, j] or value == box[1, j]
        columns[j, slot - start] = columns[j, last - start]
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


@borrows
def measure_leaf(tree: Tree, leaf: int, point: FloatArray, distances: FloatArray) -> None:
    """Write the squared distances from ``point``, shape (d,), to the records left in a leaf, and some more."""
    columns = tree.coordinates[leaf - len(tree.coordinates)]
    count = -(-tree.left[leaf] // _ROOM) * _ROOM
    for i in range(count):
        distances[i] = 0.0
    for j in range(len(point)):
        value = point[j]
        for i in range(count):
            difference = columns[j, i] - value
            distances[i] += difference * difference


def with_landmarks(tree: Tree, landmarks: FloatArray, executor: ThreadPoolExecutor) -> Tree:
    """Return the tree with these ``landmarks``, shape (number of landmarks, d), in place of others."""
    leaves = len(tree.coordinates)
    reach = np.empty((len(landmarks), 2 * leaves))
    running.in_parts(
        executor,
        lambda start, stop: _measure_reach(tree, landmarks, reach, start, stop),
        leaves,
        2 * leaves,
        running.THREADS,
    )
    while leaves > 1:
        reach[:, leaves // 2 : leaves] = reach[:, leaves : 2 * leaves].reshape(len(landmarks), -1, 2).max(axis=2)
        leaves //= 2
    return tree._replace(landmarks=landmarks, reach=reach)


@kernel
def _measure_reach(tree: Tree, landmarks: FloatArray, reach: FloatArray, start: int, stop: int) -> None:
    """Set the ``reach`` of the leaves from ``start`` to ``stop``."""
    distances = np.empty(LEAF)
    for leaf in range(start, stop):
        for landmark in range(len(landmarks)):
            measure_leaf(tree, leaf, landmarks[landmark], distances)
            greatest = -1.0
            for i in range(tree.left[leaf]):
                greatest = max(greatest, distances[i])
            reach[landmark, leaf] = greatest


# The unassigned records in a k-d tree, with their sums: what :mod:`.brute_force` is to few records, for many.


class TreePool(NamedTuple):
    """Unassigned records; made by :func:`make_tree_pool`."""

    X: FloatArray  # shape (n, d): all records
    tree: Tree  # those still unassigned
    totals: FloatArray  # shape (2, d): as :attr:`microagg.kernels.neighbors.brute_force.Pool.totals`


def make_tree_pool(X: FloatArray) -> TreePool:
    """Return a pool of all records of ``X``, shape (n, d)."""
    pool = make_pool(X)
    center = (pool.totals[0] + pool.totals[1]) / len(X)
    return TreePool(X, make_tree(pool.columns, center, running.THREADS), pool.totals)


@borrows
def number_left(pool: TreePool) -> int:
    """Return how many records are unassigned."""
    return pool.tree.left[1]


@kernel
def centroid(pool: TreePool) -> FloatArray:
    """Return the centroid of the unassigned records, shape (d,): their sums, correctly rounded, over their number."""
    return (pool.totals[0] + pool.totals[1]) / number_left(pool)


def farthest_from_mean_first(pool: TreePool) -> IntArray:
    """Return all records, none assigned yet, the farthest from their centroid first, ties by record index."""
    return np.argsort(-squared_lengths(pool.X - centroid(pool)), kind="stable")
