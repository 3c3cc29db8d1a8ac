"""Which unassigned records may be isolated: of almost every one, another is known that is near.

V-MDAV lets a record join a group only if no other record is near it. To look for such records is far less than to look
for what is nearest to the group: with one near record known of each, its witness, most of the tree is passed over.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups, take
from microagg.kernels.neighbors import lookahead as ahead
from microagg.kernels.neighbors.approximate import ask_roughly, look_up_roughly
from microagg.kernels.neighbors.kd_tree import NOBODY, Search, Tree, distance_to_box, leaf_of, measure_leaf
from microagg.kernels.neighbors.tree_pool import Index
from microagg.validation import FloatArray, IntArray

#: How many witnesses a record has at first.
WITNESSES = 4

# Witnesses are looked for where the squared distance is less than this share of that of the last one so far. They need
# not be the nearest; with 1 they would be, which takes ten times as long.
_NEAR_ENOUGH = 0.1


@njit(cache=True, nogil=True)
def _squared(one: FloatArray, other: FloatArray) -> float:
    distance = 0.0
    for j in range(len(one)):
        difference = one[j] - other[j]
        distance += difference * difference
    return distance


class Witnesses(NamedTuple):
    """For each unassigned record, others near it: it can be no more isolated; made by :func:`make_witnesses`.

    Attributes
    ----------
    near : array of int, shape (n, count)
        Records near each record, -1 where there were fewer, nearest first.
    distances : array of float, shape (n,)
        The squared distance of each record from the first of them that is unassigned, infinity if there is none.
    first : array of int, shape (n,)
        A record that has this one as its first unassigned witness, -1 if there is none.
    following : array of int, shape (n,)
        Another record with the same witness as this one, -1 if there is no further one.
    most : array of float, shape (nodes,)
        The greatest of ``distances`` below each node of the tree; -1 if nothing is left.
    """

    near: IntArray
    distances: FloatArray
    first: IntArray
    following: IntArray
    most: FloatArray


@njit(cache=True, nogil=True)
def _follow(index: Index, witnesses: Witnesses, record: int) -> bool:
    """Let ``record`` depend on the first of its witnesses that is unassigned; return whether there is one."""
    for other in witnesses.near[record]:
        if other >= 0 and index.tree.slots[other] >= 0:
            witnesses.distances[record] = _squared(index.X[record], index.X[other])
            witnesses.following[record] = witnesses.first[other]
            witnesses.first[other] = record
            return True
    witnesses.distances[record] = np.inf
    return False


@njit(cache=True, nogil=True)
def _fit(tree: Tree, witnesses: Witnesses, leaf: int) -> None:
    """Set the greatest distance below a leaf, and below all nodes above it."""
    start, most = tree.ends[leaf, 0], -1.0
    for record in tree.records[start : start + tree.left[leaf]]:
        most = max(most, witnesses.distances[record])
    node = leaf
    while node >= 1 and witnesses.most[node] != most:
        witnesses.most[node] = most
        if node > 1:
            most = max(most, witnesses.most[node ^ 1])
        node >>= 1


@njit(cache=True, nogil=True)
def _prepare(index: Index, near: IntArray) -> Witnesses:
    n, nodes = len(near), len(index.tree.ends)
    witnesses = Witnesses(near, np.empty(n), np.full(n, -1), np.full(n, -1), np.full(nodes, -1.0))
    for record in range(n):
        _follow(index, witnesses, record)
    for leaf in range(nodes // 2, nodes):
        _fit(index.tree, witnesses, leaf)
    return witnesses


def make_witnesses(index: Index) -> Witnesses:
    """Return witnesses for all records of ``index``, none of which may have left."""
    near = np.empty((len(index.X), WITNESSES), dtype=np.int64)
    cuts = np.linspace(0, len(near), 4 * ahead.THREADS + 1).astype(np.int64)
    with ThreadPoolExecutor(ahead.THREADS) as threads:
        list(threads.map(lambda part: ask_roughly(index, near, _NEAR_ENOUGH, *part), pairwise(cuts)))
    return _prepare(index, near)


@njit(cache=True, nogil=True)
def _replace(index: Index, witnesses: Witnesses, record: int, search: Search) -> None:
    """Find another witness for ``record``, whose first one has left."""
    before = witnesses.distances[record]
    if not _follow(index, witnesses, record):
        look_up_roughly(index, witnesses.near, record, _NEAR_ENOUGH, search)
        _follow(index, witnesses, record)
    leaf = leaf_of(index.tree, index.tree.slots[record])
    if before == witnesses.most[leaf] or witnesses.distances[record] > witnesses.most[leaf]:
        _fit(index.tree, witnesses, leaf)


@njit(cache=True, nogil=True)
def take_witness(groups: Groups, index: Index, witnesses: Witnesses, group: int, record: int, search: Search) -> None:
    """Move ``record`` into ``group``; those it was the witness of get another."""
    leaf = leaf_of(index.tree, index.tree.slots[record])
    take(groups, index, group, record)
    if witnesses.distances[record] == witnesses.most[leaf]:
        _fit(index.tree, witnesses, leaf)
    bereft = witnesses.first[record]
    while bereft >= 0:
        following = witnesses.following[bereft]
        if index.tree.slots[bereft] >= 0:
            _replace(index, witnesses, bereft, search)
        bereft = following


@njit(cache=True, nogil=True)
def nearest_isolated(
    tree: Tree, witnesses: Witnesses, points: FloatArray, gamma: float, search: Search
) -> tuple[int, float, float]:
    """Find, of the records isolated enough to join for all that is known, the one nearest to any of ``points``.

    Returns
    -------
    record : int
        NOBODY if there is none: whatever is nearest stays out.
    distance : float
        Its least squared distance from ``points``, shape (m, d).
    passed : float
        No record that is known to be less isolated is nearer than this.
    """
    best, least, passed = NOBODY, np.inf, np.inf
    for point in points:
        search.nodes[0], search.bounds[0] = 1, 0.0
        top = 1
        while top > 0:
            top -= 1
            node, bound = search.nodes[top], search.bounds[top]
            if bound > least:
                continue
            if not bound < gamma * witnesses.most[node]:
                passed = min(passed, bound)
            elif 2 * node < len(tree.ends):
                near, far = 2 * node, 2 * node + 1
                bound, other = distance_to_box(tree, near, point), distance_to_box(tree, far, point)
                if other < bound:
                    near, far = far, near
                    bound, other = other, bound
                search.nodes[top], search.bounds[top] = far, other
                search.nodes[top + 1], search.bounds[top + 1] = near, bound
                top += 2
            else:
                measure_leaf(tree, node, point, search.distances)
                start = tree.ends[node, 0]
                for i in range(tree.left[node]):
                    value, record = search.distances[i], tree.records[start + i]
                    if value > least or (value == least and record >= best):
                        continue
                    if value < gamma * witnesses.distances[record]:
                        best, least = record, value
                    else:
                        passed = min(passed, value)
    return best, least, passed
