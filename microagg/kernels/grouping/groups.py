"""Groups under construction: how records form and join them, out of a pool or a tree pool, and what they then lose."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree, TreePool, empty_boxes
from microagg.kernels.neighbors.kd_tree import remove as remove_from_tree
from microagg.kernels.neighbors.tree_queries import NeighborQuery, distances_to_boxes, put_on_stack, uppermost
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# The number of the first group; int() makes a number like others of it, for which nothing is compiled once more.
_FIRST = 0


class Groups(NamedTuple):
    """Groups under construction; made by :func:`make_groups`."""

    labels: IntArray  # shape (n,): the group of each record, -1 while unassigned
    sums: FloatArray  # shape (n // k, d): the coordinate sums of each group, added in the order in which records joined
    sizes: IntArray  # shape (n // k,)
    number: IntArray  # shape (1,): how many groups there are


def make_groups(n: int, d: int, k: int) -> Groups:
    """Return no groups yet, with room for as many as ``n`` records can form."""
    most = n // k
    return Groups(
        np.full(n, -1, dtype=np.int64),
        np.zeros((most, d)),
        np.zeros(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@borrows
def join(groups: Groups, pool: Pool, group: int, position: int) -> None:
    """Move the record at ``position`` of the pool into ``group``."""
    for j in range(groups.sums.shape[1]):
        groups.sums[group, j] += pool.columns[j, position]
    groups.sizes[group] += 1
    groups.labels[pool.records[position]] = group
    brute_force.remove(pool, position)


@borrows
def form(groups: Groups, pool: Pool, members: IntArray) -> int:
    """Move the records at the positions ``members`` into a new group, in that order, and return its number."""
    group = groups.number[0]
    groups.number[0] += 1
    for position in members:
        join(groups, pool, group, position)
    return group


@borrows
def form_from_rest(groups: Groups, pool: Pool) -> None:
    """Make all records left in the pool one new group."""
    group = groups.number[0]
    groups.number[0] += 1
    for position in range(pool.counts[EXTENT]):
        if not np.isnan(pool.columns[0, position]):
            join(groups, pool, group, position)


@kernel
def rest_to_nearest_centroid(groups: Groups, pool: Pool, moving: bool) -> None:
    """Let each record left, by index, join the group with the nearest centroid, which stays, or moves if ``moving``."""
    if pool.counts[ALIVE] == 0:
        return
    number, d = groups.number[0], groups.sums.shape[1]
    centroids = np.empty((number, d))
    for group in range(number):
        for j in range(d):
            centroids[group, j] = groups.sums[group, j] / groups.sizes[group]
    for position in range(pool.counts[EXTENT]):
        if np.isnan(pool.columns[0, position]):
            continue
        best = int(_FIRST)
        least = np.inf
        for group in range(number):
            distance = 0.0
            for j in range(d):
                difference = pool.columns[j, position] - centroids[group, j]
                distance += difference * difference
            if distance < least:
                least = distance
                best = group
        join(groups, pool, best, position)
        if moving:
            for j in range(d):
                centroids[best, j] = groups.sums[best, j] / groups.sizes[best]


def assign_rest(groups: Groups, pool: Pool, k: int, moving: bool) -> None:
    """Make one new group of the records left if there are k or more; let fewer join the nearest centroid."""
    if pool.counts[ALIVE] >= k:
        form_from_rest(groups, pool)
    rest_to_nearest_centroid(groups, pool, moving)


@borrows
def growth(groups: Groups, group: int, point: FloatArray) -> float:
    """Return by how much the SSE of ``group`` grows by ``point``, shape (d,): N / (N + 1) · ‖point - centroid‖²."""
    size = groups.sizes[group]
    distance = 0.0
    for j in range(len(point)):
        difference = point[j] - groups.sums[group, j] / size
        distance += difference * difference
    return size / (size + 1) * distance


@borrows
def least_growth(groups: Groups, point: FloatArray) -> tuple[int, float]:
    """Return the group whose SSE grows least if the record ``point``, shape (d,), joins it, and that growth."""
    best = -1
    least = np.inf
    for group in range(groups.number[0]):
        grows = growth(groups, group, point)
        if grows < least:
            least = grows
            best = group
    return best, least


@kernel
def members_by_group(labels: IntArray, number: int) -> tuple[IntArray, IntArray]:
    """Return the records group by group, by index, and where each of ``number`` groups begins, and the end."""
    begins = np.zeros(number + 1, dtype=np.int64)
    for label in labels:
        begins[label + 1] += 1
    begins = np.cumsum(begins)
    filled = begins.copy()
    members = np.empty(len(labels), dtype=np.int64)
    for record in range(len(labels)):
        members[filled[labels[record]]] = record
        filled[labels[record]] += 1
    return members, begins


@kernel
def sse_of(X: FloatArray, members: IntArray) -> float:
    """Return the SSE that the records ``members`` of ``X``, shape (n, d), would have as a group."""
    d = X.shape[1]
    center = np.zeros(d)
    for record in members:
        for j in range(d):
            center[j] += X[record, j]
    center /= len(members)
    sse = 0.0
    for record in members:
        sse += brute_force.squared_distance(X[record], center)
    return sse


@borrows
def take(groups: Groups, pool: TreePool, group: int, record: int) -> None:
    """Move ``record`` of a tree pool into ``group``."""
    for j in range(pool.X.shape[1]):
        groups.sums[group, j] += pool.X[record, j]
        brute_force.add_exactly(pool.totals, j, -pool.X[record, j])
    groups.sizes[group] += 1
    groups.labels[record] = group
    remove_from_tree(pool.tree, record)


@borrows
def found_group(groups: Groups, pool: TreePool, seed: int, others: IntArray) -> int:
    """Move ``seed`` and then ``others`` of a tree pool into a new group; return its number."""
    group = groups.number[0]
    groups.number[0] += 1
    take(groups, pool, group, seed)
    for record in others:
        take(groups, pool, group, record)
    return group


def group_neighborhoods(
    X: FloatArray, k: int, values: FloatArray, measure: Callable[..., None], form_best: Callable[..., None], doing: str
) -> IntArray:
    """Return the labels of the groups that DBA and GSMS form of k-neighborhoods, in that order.

    ``measure(X, pool, hoods, values, k, start, stop)`` brings the neighborhoods of these records and their ``values``
    up to date, ``form_best(X, pool, groups, hoods, values, k, rounds)`` forms so many groups; ``doing`` is what to say.
    """
    n, d = X.shape
    pool, groups, hoods = brute_force.make_pool(X), make_groups(n, d, k), brute_force.make_neighborhoods(X, k)
    step = brute_force.records_per_step(X, k)
    for start in range(0, n, step):
        checkpoint(doing, start / (2 * n))
        measure(X, pool, hoods, values, k, start, min(start + step, n))
    while pool.counts[ALIVE] >= k:
        checkpoint("forming groups", 1.0 - pool.counts[ALIVE] / (2 * n))
        form_best(X, pool, groups, hoods, values, k, max(1, step // (8 * k)))
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


@kernel
def grow(groups: Groups, pool: Pool, group: int, k: int) -> None:
    """Let ``group`` take in what is nearest to its moving centroid, where its SSE grows least, until it has ``k``."""
    while groups.sizes[group] < k:
        brute_force.measure_from(pool, groups.sums[group] / groups.sizes[group])
        join(groups, pool, group, brute_force.nearest(pool.distances, pool.counts[EXTENT], 1)[0])


# The group whose SSE grows least, for MDAV*, found in a tree with the nodes of the records' k-d tree. A group is
# entered at the leaf of its first record, and each node has a box around the centroids of the groups entered below it,
# which is only ever widened and stays narrow, as centroids move little.


class CentroidIndex(NamedTuple):
    """The groups at the leaves of a tree, and boxes around their centroids; made by :func:`make_centroid_index`."""

    # shape (nodes / FAN, 2, d, FAN): the least and greatest value of each attribute of the centroids entered below each
    # node, which lie as those of the tree
    boxes: FloatArray
    lowest: IntArray  # shape (nodes,): the lowest group entered below each node
    latest: IntArray  # shape (nodes,): the group entered last at each leaf, -1 if there is none
    before: IntArray  # shape (groups,): the group entered before each at the same leaf, -1 if there is none
    leaves: IntArray  # shape (groups,): where each group was entered


@kernel
def make_centroid_index(tree: Tree, most: int) -> CentroidIndex:
    """Return no centroids yet, with room for ``most`` groups."""
    nodes = len(tree.ends)
    return CentroidIndex(
        empty_boxes(nodes, tree.boxes.shape[2]),
        np.full(nodes, NO_INDEX),
        np.full(nodes, -1, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
    )


@borrows
def enter_group(index: CentroidIndex, groups: Groups, group: int, leaf: int) -> None:
    """Enter a new ``group`` at ``leaf``."""
    index.leaves[group] = leaf
    index.before[group] = index.latest[leaf]
    index.latest[leaf] = group
    node = leaf
    while node >= 1:
        index.lowest[node] = min(index.lowest[node], group)
        node >>= 1
    widen_boxes(index, groups, group)


@borrows
def widen_boxes(index: CentroidIndex, groups: Groups, group: int) -> None:
    """Widen the boxes to where the centroid of ``group`` is now."""
    node = index.leaves[group]
    widened = True
    while node >= 1 and widened:
        widened = False
        box = index.boxes[node >> LEVELS, :, :, node & FAN - 1]
        for j in range(groups.sums.shape[1]):
            value = groups.sums[group, j] / groups.sizes[group]
            if value < box[0, j]:
                box[0, j] = value
                widened = True
            if value > box[1, j]:
                box[1, j] = value
                widened = True
        node >>= 1


@borrows
def _put_growing_less(
    index: CentroidIndex, first: int, count: int, k: int, other: float, limit: float, least: float, top: int,
    query: NeighborQuery,
) -> int:  # fmt: skip
    """Do as :func:`.tree_queries.put_better` for nodes that may hold a group that counts, which grow by ``least``."""
    bottom = top
    for node in range(first, first + count):
        bound = k / (k + 1) * query.gaps[0, node & FAN - 1]
        if index.lowest[node] == NO_INDEX or bound > least or not (bound + other) / (k + 1) < limit:
            continue
        top = put_on_stack(query, bottom, top, node, bound, index.lowest)
    return top


@borrows
def least_growth_below(
    index: CentroidIndex, groups: Groups, point: FloatArray, k: int, other: float, limit: float, query: NeighborQuery
) -> tuple[int, float]:
    """Return the group whose SSE grows least if ``point``, shape (d,), joins it, and that growth; or -1.

    Only groups count for which (growth + ``other``) / (k + 1) < ``limit``. Ties go to the lowest group. All groups have
    at least k records, so each grows by at least k / (k + 1) of the squared distance to its centroid.
    """
    best, least, leaves = NO_INDEX, np.inf, len(index.latest) // 2
    first = uppermost(leaves)
    distances_to_boxes(index.boxes, first >> LEVELS, point, query.gaps[0])
    top = _put_growing_less(index, first, first, k, other, limit, least, 0, query)
    while top > 0:
        top -= 1
        node, bound = query.nodes[top], query.bounds[top]
        if bound > least or (bound == least and index.lowest[node] > best):
            continue
        if node < leaves:
            distances_to_boxes(index.boxes, node, point, query.gaps[0])
            top = _put_growing_less(index, node << LEVELS, FAN, k, other, limit, least, top, query)
            continue
        group = index.latest[node]
        while group >= 0:
            grows = growth(groups, group, point)
            if (grows < least or (grows == least and group < best)) and (grows + other) / (k + 1) < limit:
                best, least = group, grows
            group = index.before[group]
    return (best, least) if least < np.inf else (-1, least)
