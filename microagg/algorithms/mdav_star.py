"""MDAV*: like MDAV+, but the record farthest from the centroid may join an existing group when that costs less.

1. Compute the centroid of all data, once.
2. While at least k records are unassigned: r is the unassigned record farthest from that centroid.

   a. New group: g is r with its k-1 nearest unassigned records; it costs SSE(g) / k a record.
   b. Joining: C is the existing group whose SSE grows least by r. r joins it, and then the unassigned record y nearest
      to r would form a group h with its k-1 nearest unassigned records (r aside); that costs
      (growth of C + SSE(h)) / (k + 1) a record.
   c. If joining costs strictly less, r joins C; otherwise g becomes a group. With no group yet, or exactly k records
      unassigned, g becomes a group.

3. Fewer than k records left: one at a time each joins the group whose SSE grows least, its centroid updated at once.

A group of N records with centroid c grows by N / (N + 1) · ‖x - c‖² when x joins. Groups have no upper size. Ties go
to the lowest record index or group number. Time O(n²d).

Source: Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.groups import (
    Groups,
    form,
    form_in_tree,
    group_from_outside,
    growth,
    join,
    least_growth,
    sse_of,
    take,
)
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree, TreePool, empty_boxes, leaf_of, number_left
from microagg.kernels.neighbors.neighbor_lists import NeighborCache, nearest_to
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    make_query,
    put_on_stack,
    uppermost,
)
from microagg.validation import FloatArray, IntArray


@kernel
def _cheaper_group(X: FloatArray, groups: Groups, pool: Pool, members: IntArray) -> int:
    """Return the group that the first of ``members`` joins, as in steps 2b and 2c, or -1 if they form a new one."""
    r, k = members[0], len(members)
    if groups.number[0] == 0 or pool.counts[ALIVE] == k:
        return -1
    group, growth = least_growth(groups, brute_force.point_at(pool, r))
    pool.distances[r] = np.nan
    y = brute_force.position_of_least(pool.distances, pool.counts[EXTENT])  # the distances are still those from r
    brute_force.measure_from(pool, brute_force.point_at(pool, y))
    pool.distances[r] = np.nan
    pool.distances[y] = -1.0
    without_r = brute_force.nearest(pool.distances, pool.counts[EXTENT], k)
    new = sse_of(X, pool.records[members]) / k
    joined = (growth + sse_of(X, pool.records[without_r])) / (k + 1)
    return group if joined < new else -1


@kernel
def _form_by_passes(X: FloatArray, groups: Groups, pool: Pool, seeds: IntArray, k: int) -> None:
    """Take each of ``seeds`` that is unassigned into a group, old or new, while at least k records are."""
    for record in seeds:
        if pool.counts[ALIVE] < k:
            break
        if pool.positions[record] < 0:
            continue
        brute_force.tidy(pool)
        r = pool.positions[record]
        members = brute_force.members_around(pool, r, k)
        group = _cheaper_group(X, groups, pool, members)
        if group < 0:
            form(groups, pool, members)
        else:
            join(groups, pool, group, r)


@borrows
def _assign_rest(X: FloatArray, groups: Groups, pool: Pool) -> None:
    """Let each record left, by index, join the group whose SSE grows least."""
    for record in range(len(X)):
        if pool.positions[record] >= 0:
            group, _ = least_growth(groups, X[record])
            join(groups, pool, group, pool.positions[record])


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
    """Like :func:`.tree_queries.put_better`, without nodes that have no group whose growth is at most ``least``."""
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


@kernel
def _cheaper_group_by_tree(
    groups: Groups, pool: TreePool, cache: NeighborCache, index: CentroidIndex, members: IntArray, query: NeighborQuery
) -> int:
    """Do as :func:`_cheaper_group`, ``members`` given as records."""
    r, k = members[0], len(members)
    if groups.number[0] == 0 or number_left(pool) == k:
        return -1
    new = sse_of(pool.X, members) / k
    y = members[1] if k > 1 else -1
    if k == 1:
        nearest_to(pool, cache, r, 1, query)
        y = query.records[0]
    without_r = np.empty(k, dtype=np.int64)
    without_r[0] = y
    filled = 1
    for record in query.records[: nearest_to(pool, cache, y, k, query)]:
        if record != r and filled < k:
            without_r[filled] = record
            filled += 1
    # The cost of a new group limits the growth at which joining is cheaper: only groups near enough are looked at.
    return least_growth_below(index, groups, pool.X[r], k, sse_of(pool.X, without_r), new, query)[0]


@kernel
def _form(
    groups: Groups, pool: TreePool, index: CentroidIndex, k: int, cache: NeighborCache, seeds: IntArray, until: int
) -> None:
    """Take each of ``seeds`` that is unassigned into a group, old or new, while at least ``until`` records are."""
    query = make_query(k + 1)
    members = np.empty(k, dtype=np.int64)
    for seed in seeds:
        if number_left(pool) < until:
            break
        if pool.tree.slots[seed] < 0:
            continue
        nearest_to(pool, cache, seed, k - 1, query)
        members[0] = seed
        for i in range(k - 1):
            members[i + 1] = query.records[i]
        group = _cheaper_group_by_tree(groups, pool, cache, index, members, query)
        if group < 0:
            leaf = leaf_of(pool.tree, pool.tree.slots[seed])
            enter_group(index, groups, form_in_tree(groups, pool, seed, members[1:]), leaf)
        else:
            take(groups, pool, group, seed)
            widen_boxes(index, groups, group)


class MDAVStar(Microaggregator):
    info = Info(
        key="mdav-star",
        title="MDAV*",
        family="MDAV family",
        summary="Weighs, record by record, whether to open a new group or to join the existing one it disturbs least.",
        year=2018,
        reference="Thaeter & Reischuk 2018",
        complexity="O(n²d)",
        note="Groups have no upper size: capping them at 2k-1 does not reproduce the printed figures. The record y "
        "after r joins is r's nearest unassigned neighbor.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        groups, pool = group_from_outside(
            X,
            k,
            4_200 + 300 * k,
            lambda groups, pool: partial(_form, groups, pool, make_centroid_index(pool.tree, len(groups.sizes)), k),
            lambda groups, pool, seeds: _form_by_passes(X, groups, pool, seeds, k),
            3,  # two passes over the records, and one over the groups
            second=True,  # the nearest records of y are needed, too
        )
        _assign_rest(X, groups, pool)
        return groups.labels
