"""The centroids of the groups formed so far, found through the boxes of a record tree: what group takes a record best.

A group is entered at the leaf of its first record, and each node bounds the centroids of the groups entered below it.
Centroids move little and stay near, so the bounds, which only ever widen, stay good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups
from microagg.kernels.neighbors.kd_tree import NOBODY, Search, Tree
from microagg.validation import FloatArray, IntArray


class Centers(NamedTuple):
    """Centroids of groups; made by :func:`make_centers`.

    Attributes
    ----------
    boxes : array of float, shape (nodes, 2, d)
        The least and greatest value of each attribute of the centroids entered below each node.
    first : array of int, shape (nodes,)
        The lowest group entered below each node; of a leaf, the one entered last is ``latest``.
    latest : array of int, shape (nodes,)
        The group last entered at each leaf, -1 if none.
    before : array of int, shape (groups,)
        The group entered at the same leaf before each, -1 if none.
    leaves : array of int, shape (groups,)
        Where each group was entered.
    """

    boxes: FloatArray
    first: IntArray
    latest: IntArray
    before: IntArray
    leaves: IntArray


@njit(cache=True, nogil=True)
def make_centers(tree: Tree, most: int) -> Centers:
    """Return no centroids yet, with room for ``most`` groups."""
    nodes, _, d = tree.boxes.shape
    boxes = np.empty((nodes, 2, d))
    boxes[:, 0] = np.inf
    boxes[:, 1] = -np.inf
    return Centers(
        boxes,
        np.full(nodes, NOBODY),
        np.full(nodes, -1, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def enter(centers: Centers, groups: Groups, group: int, leaf: int) -> None:
    """Enter a new ``group`` at ``leaf``."""
    centers.leaves[group] = leaf
    centers.before[group] = centers.latest[leaf]
    centers.latest[leaf] = group
    node = leaf
    while node >= 1:
        centers.first[node] = min(centers.first[node], group)
        node >>= 1
    update(centers, groups, group)


@njit(cache=True, nogil=True)
def update(centers: Centers, groups: Groups, group: int) -> None:
    """Widen the bounds to where the centroid of ``group`` is now."""
    node = centers.leaves[group]
    widened = True
    while node >= 1 and widened:
        widened = False
        for j in range(groups.sums.shape[1]):
            value = groups.sums[group, j] / groups.sizes[group]
            if value < centers.boxes[node, 0, j]:
                centers.boxes[node, 0, j] = value
                widened = True
            if value > centers.boxes[node, 1, j]:
                centers.boxes[node, 1, j] = value
                widened = True
        node >>= 1


@njit(cache=True, nogil=True)
def _bound(centers: Centers, node: int, point: FloatArray, least_share: float) -> float:
    """Return what no group entered below ``node`` grows less than."""
    total = 0.0
    for j in range(len(point)):
        gap = max(max(centers.boxes[node, 0, j] - point[j], point[j] - centers.boxes[node, 1, j]), 0.0)
        total += gap * gap
    return least_share * total


@njit(cache=True, nogil=True)
def _pays(growth: float, other: float, size: int, limit: float) -> bool:
    return (growth + other) / size < limit


@njit(cache=True, nogil=True)
def least_growth_below(
    centers: Centers, groups: Groups, point: FloatArray, k: int, other: float, limit: float, search: Search
) -> tuple[int, float]:
    """Return the group whose SSE grows least if ``point``, shape (d,), joins it, and that growth; or -1.

    Only groups count for which (growth + ``other``) / (k + 1) < ``limit``. Ties go to the lowest group. All groups have
    at least k records, so each grows by at least k / (k + 1) of the squared distance to its centroid.
    """
    least_share = k / (k + 1)
    best, least = NOBODY, np.inf
    top = 1
    search.nodes[0], search.bounds[0] = 1, 0.0
    while top > 0:
        top -= 1
        node, bound = search.nodes[top], search.bounds[top]
        if bound > least or (bound == least and centers.first[node] > best):
            continue
        while 2 * node < len(centers.first):
            near, far = 2 * node, 2 * node + 1
            bound, further = _bound(centers, near, point, least_share), _bound(centers, far, point, least_share)
            if further < bound or (further == bound and centers.first[far] < centers.first[near]):
                near, far = far, near
                bound, further = further, bound
            if further <= least and _pays(further, other, k + 1, limit):
                search.nodes[top], search.bounds[top] = far, further
                top += 1
            node = near
            if bound > least or not _pays(bound, other, k + 1, limit):
                bound = np.inf
                break
        if bound > least or bound == np.inf:
            continue
        group = centers.latest[node]
        while group >= 0:
            size = groups.sizes[group]
            distance = 0.0
            for j in range(len(point)):
                difference = point[j] - groups.sums[group, j] / size
                distance += difference * difference
            growth = size / (size + 1) * distance
            if (growth < least or (growth == least and group < best)) and _pays(growth, other, k + 1, limit):
                best, least = group, growth
            group = centers.before[group]
    return (best, least) if least < np.inf else (-1, least)
