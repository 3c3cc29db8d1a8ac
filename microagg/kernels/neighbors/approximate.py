"""Records about as near as any to a point, from the k-d tree: found in a tenth of the time that the nearest take."""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import Search, Tree, distance_to_box, is_better, make_search, measure_leaf, rank
from microagg.kernels.neighbors.tree_pool import Index
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def roughly_nearest(tree: Tree, point: FloatArray, most: int, excluded: int, share: float, search: Search) -> int:
    """Find ``most`` records about as near to ``point``, shape (d,), as any, except ``excluded``; return how many.

    A node is passed over unless the squared distance to its box is less than that of the last record found so far times
    ``share``, at most 1. Fewer are found only if there are no more. They are as
    :func:`microagg.kernels.neighbors.kd_tree.nearest` gives them.
    """
    filled, top = 0, 1
    enough = np.inf
    search.nodes[0], search.bounds[0] = 1, 0.0
    while top > 0:
        top -= 1
        node, bound = search.nodes[top], search.bounds[top]
        if not bound < enough:
            continue
        while 2 * node < len(tree.ends):
            near, far = 2 * node, 2 * node + 1
            bound, other = distance_to_box(tree, near, point), distance_to_box(tree, far, point)
            if other < bound:
                near, far = far, near
                bound, other = other, bound
            if other < enough:
                search.nodes[top], search.bounds[top] = far, other
                top += 1
            node = near
        if not bound < enough:
            continue
        search.looked[0] += 1
        measure_leaf(tree, node, point, search.distances)
        start = tree.ends[node, 0]
        for i in range(tree.left[node]):
            value, record = search.distances[i], tree.records[start + i]
            if record != excluded and (
                filled < most or is_better(value, record, search.values[most - 1], search.found[most - 1])
            ):
                filled = rank(search, filled, most, value, record)
        if filled == most:
            enough = share * search.values[most - 1]
    return filled


@njit(cache=True, nogil=True)
def look_up_roughly(index: Index, near: IntArray, record: int, share: float, search: Search) -> None:
    """Fill the row of ``record`` in ``near``."""
    count = roughly_nearest(index.tree, index.X[record], near.shape[1], record, share, search)
    near[record, :count] = search.found[:count]
    near[record, count:] = -1


@njit(cache=True, nogil=True)
def ask_roughly(index: Index, near: IntArray, share: float, start: int, stop: int) -> None:
    """Fill the rows of ``near`` of the records in the slots from ``start`` to ``stop``; see :func:`roughly_nearest`."""
    search = make_search(near.shape[1])
    for record in index.tree.records[start:stop]:
        look_up_roughly(index, near, record, share, search)
