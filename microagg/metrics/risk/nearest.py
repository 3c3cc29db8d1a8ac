"""How many released records are as near to an original as its own: a compiled search in the k-d tree.

The search only has to say whether anything is nearer than the own record, so it ends at the first that is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import LEAF, Tree
from microagg.kernels.neighbors.tree_queries import distance_to_box, measure_leaf
from microagg.validation import FloatArray, IntArray

# The stack of a search holds at most one node for each level of the tree.
_DEPTH = 64


@njit(cache=True, nogil=True)
def count_as_near(
    tree: Tree, sizes: IntArray, points: FloatArray, least: FloatArray, most: FloatArray, found: IntArray
) -> None:
    """Write to ``found`` how many released records are as near to each point as its own; 0 if any is nearer.

    Parameters
    ----------
    tree : Tree
        Of the m distinct released rows.
    sizes : array of int, shape (m,)
        How many released records have each of these rows.
    points : array, shape (q, d)
    least, most : arrays, shape (q,)
        The squared distances between which a row is as near as the own one; below ``least`` it is nearer.
    found : array of int, shape (q,)
    """
    nodes, distances = np.empty(_DEPTH, dtype=np.int64), np.empty(LEAF)
    for i in range(len(points)):
        found[i] = _count_as_near(tree, sizes, points[i], least[i], most[i], nodes, distances)


@njit(cache=True, nogil=True)
def _count_as_near(
    tree: Tree, sizes: IntArray, point: FloatArray, least: float, most: float, nodes: IntArray, distances: FloatArray
) -> int:
    count, top = 0, 1
    nodes[0] = 1
    while top > 0:
        top -= 1
        node = nodes[top]
        if 2 * node < len(tree.ends):
            # The nearer child is put on top.
            near, far = 2 * node, 2 * node + 1
            gap, other = distance_to_box(tree.boxes, near, point), distance_to_box(tree.boxes, far, point)
            if other < gap:
                near, far = far, near
                gap, other = other, gap
            if other <= most:
                nodes[top] = far
                top += 1
            if gap <= most:
                nodes[top] = near
                top += 1
            continue
        measure_leaf(tree, node, point, distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            if distances[i] < least:
                return 0
            if distances[i] <= most:
                count += sizes[tree.records[start + i]]
    return count
