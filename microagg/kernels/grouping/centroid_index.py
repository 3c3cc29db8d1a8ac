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
from microagg.kernels.neighbors.kd_tree import NO_INDEX, Tree
from microagg.kernels.neighbors.tree_queries import NeighborQuery, distance_to_box
from microagg.validation import FloatArray, IntArray


class CentroidIndex(NamedTuple):
    """The groups at the leaves of a tree, and boxes around their centroids; made by :func:`make_centroid_index`."""

    # shape (nodes, 2, d): the least and greatest value of each attribute of the centroids entered below each node
    boxes: FloatArray
    lowest: IntArray  # shape (nodes,): the lowest group entered below each node
    latest: IntArray  # shape (nodes,): the group entered last at each leaf, -1 if there is none
    before: IntArray  # shape (groups,): the group entered before each at the same leaf, -1 if there is none
    leaves: IntArray  # shape (groups,): where each group was entered


@njit(cache=True, nogil=True)
def make_centroid_index(tree: Tree, most: int) -> CentroidIndex:
    """Return no centroids yet, with room for ``most`` groups."""
    nodes, _, d = tree.boxes.shape
    boxes = np.empty((nodes, 2, d))
    boxes[:, 0] = np.inf
    boxes[:, 1] = -np.inf
    return CentroidIndex(
        boxes,
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
        for j in range(groups.sums.shape[1]):
            value = groups.sums[group, j] / groups.sizes[group]
            if value < index.boxes[node, 0, j]:
                index.boxes[node, 0, j] = value
                widened = True
            if value > index.boxes[node, 1, j]:
                index.boxes[node, 1, j] = value
                widened = True
        node >>= 1


@njit(cache=True, nogil=True)
def _pays(grows: float, other: float, size: int, limit: float) -> bool:
    return (grows + other) / size < limit


@njit(cache=True, nogil=True)
def least_growth_below(
    index: CentroidIndex, groups: Groups, point: FloatArray, k: int, other: float, limit: float, query: NeighborQuery
) -> tuple[int, float]:
    """Return the group whose SSE grows least if ``point``, shape (d,), joins it, and that growth; or -1.

    Only groups count for which (growth + ``other``) / (k + 1) < ``limit``. Ties go to the lowest group. All groups have
    at least k records, so each grows by at least k / (k + 1) of the squared distance to its centroid.
    """
    least_share = k / (k + 1)
    best, least = NO_INDEX, np.inf
    top = 1
    query.nodes[0], query.bounds[0] = 1, 0.0
    while top > 0:
        top -= 1
        node, bound = query.nodes[top], query.bounds[top]
        if bound > least or (bound == least and index.lowest[node] > best):
            continue
        while 2 * node < len(index.lowest):
            near, far = 2 * node, 2 * node + 1
            bound = least_share * distance_to_box(index.boxes, near, point)
            further = least_share * distance_to_box(index.boxes, far, point)
            if further < bound or (further == bound and index.lowest[far] < index.lowest[near]):
                near, far = far, near
                bound, further = further, bound
            if further <= least and _pays(further, other, k + 1, limit):
                query.nodes[top], query.bounds[top] = far, further
                top += 1
            node = near
            if bound > least or not _pays(bound, other, k + 1, limit):
                bound = np.inf
                break
        if bound > least or bound == np.inf:
            continue
        group = index.latest[node]
        while group >= 0:
            grows = growth(groups, group, point)
            if (grows < least or (grows == least and group < best)) and _pays(grows, other, k + 1, limit):
                best, least = group, grows
            group = index.before[group]
    return (best, least) if least < np.inf else (-1, least)
