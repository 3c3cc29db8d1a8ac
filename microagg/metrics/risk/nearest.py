"""How many released records are as near to an original as its own: a compiled search in the k-d tree.

The search only has to say whether anything is nearer than the own record, so it ends at the first that is.
"""

from __future__ import annotations

from numba import njit

from microagg.kernels.neighbors.kd_tree import FAN, LEVELS, NO_INDEX, Tree
from microagg.kernels.neighbors.tree_queries import (
    NeighborQuery,
    distances_to_boxes,
    make_query,
    measure_leaf,
    put_better,
    uppermost,
)
from microagg.validation import FloatArray, IntArray


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
    query = make_query(1)
    for i in range(len(points)):
        found[i] = _count_as_near(tree, sizes, points[i], least[i], most[i], query)


@njit(cache=True, nogil=True)
def _count_as_near(
    tree: Tree, sizes: IntArray, point: FloatArray, least: float, most: float, query: NeighborQuery
) -> int:
    count, leaves, no_index = 0, len(tree.coordinates), int(NO_INDEX)
    first = uppermost(leaves)
    distances_to_boxes(tree.boxes, first >> LEVELS, point, query.gaps[0])
    top = put_better(tree, first, first, most, no_index, 0, query)
    while top > 0:
        top -= 1
        node = query.nodes[top]
        if node < leaves:
            distances_to_boxes(tree.boxes, node, point, query.gaps[0])
            top = put_better(tree, node << LEVELS, FAN, most, no_index, top, query)
            continue
        measure_leaf(tree, node, point, query.distances[0])
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            if query.distances[0, i] < least:
                return 0
            if query.distances[0, i] <= most:
                count += sizes[tree.records[start + i]]
    return count
