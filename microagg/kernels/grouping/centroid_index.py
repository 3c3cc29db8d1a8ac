"""The group whose SSE grows least if a record joins it, found in a tree of boxes around the centroids of the groups.

The tree has the nodes of the records' k-d tree. A group is entered at the leaf of its first record, and each node has a
box around the centroids of the groups entered below it. Centroids move little, so the boxes, which are only ever
widened, stay narrow. Only a few of many groups are visited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups, growth
from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree, empty_boxes
from microagg.kernels.neighbors.tree_queries import NeighborQuery, distances_to_boxes, put_on_stack, uppermost
from microagg.validation import FloatArray, IntArray


class CentroidIndex(NamedTuple):
    """The groups at the leaves of a tree, and boxes around their centroids; made by :func:`make_centroid_index`."""

    # shape (nodes / FAN, 2, d, FAN): the least and greatest value of each attribute of the centroids entered below each
    # node, which lie as those of the tree
    boxes: FloatArray
    lowest: IntArray  # shape (nodes,): the lowest group entered below each node
    latest: IntArray  # shape (nodes,): the group entered last at each leaf, -1 if there is none
    before: IntArray  # shape (groups,): the group entered before each at the same leaf, -1 if there is none
    leaves: IntArray  # shape (groups,): where each group was entered


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _pays(grows: float, other: float, size: int, limit: float) -> bool:
    return (grows + other) / size < limit


@njit(cache=True, nogil=True)
def _put_growing_less(
    index: CentroidIndex,
    first: int,
    count: int,
    k: int,
    other: float,
    limit: float,
    least: float,
    top: int,
    query: NeighborQuery,
) -> int:
    """Put those of ``count`` nodes from ``first`` that may hold a group that counts on the stack, the best on top.

    Their squared distances are in ``query.gaps[0]``; a group that counts grows by at most ``least``. Return the height
    of the stack, which was ``top``.
    """
    bottom = top
    for node in range(first, first + count):
        bound = k / (k + 1) * query.gaps[0, node & FAN - 1]
        if index.lowest[node] == NO_INDEX or bound > least or not _pays(bound, other, k + 1, limit):
            continue
        top = put_on_stack(query, bottom, top, node, bound, index.lowest)
    return top


@njit(cache=True, nogil=True)
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
            if (grows < least or (grows == least and group < best)) and _pays(grows, other, k + 1, limit):
                best, least = group, grows
            group = index.before[group]
    return (best, least) if least < np.inf else (-1, least)
