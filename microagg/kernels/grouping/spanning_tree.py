"""Trees over the records: the minimum spanning tree, and how a forest is cut into trees of the right size.

A forest is two arrays: ``parents``, the record at the other end of the edge that leads from each record towards the
root of its tree, -1 for a root, and ``lengths``, the squared length of that edge, infinite for a root.

Edges are ranked by length, equal ones by their lower and then their higher record index. That makes the minimum
spanning tree unique, even where distances are equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import passes_at_a_time
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _add_records(
    X: FloatArray, parents: IntArray, lengths: FloatArray, outside: IntArray, newest: int, left: int, count: int
) -> int:
    """Add ``count`` of the ``left`` first records of ``outside`` to the tree, and return the last one added.

    All records of the tree but the ``newest`` have already been measured from those outside: these hold their shortest
    edge into the tree in ``parents`` and ``lengths``.
    """
    for _ in range(count):
        slot = -1
        best = -1
        for place in range(left):
            record = outside[place]
            length = 0.0
            for j in range(X.shape[1]):
                difference = X[record, j] - X[newest, j]
                length += difference * difference
            parent = parents[record]
            if length < lengths[record] or (length == lengths[record] and newest < parent):
                lengths[record] = length
                parents[record] = parent = newest
            if slot < 0 or lengths[record] < lengths[best]:
                slot, best = place, record
            elif lengths[record] == lengths[best]:
                low, other = min(record, parent), min(best, parents[best])
                if low < other or (low == other and max(record, parent) < max(best, parents[best])):
                    slot, best = place, record
        left -= 1
        outside[slot] = outside[left]
        newest = best
    return newest


def minimum_spanning_tree(X: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the parents and the squared edge lengths of the Euclidean minimum spanning tree of ``X``, shape (n, d).

    Prim's algorithm from record 0: time O(n²d), memory O(n).
    """
    n, d = X.shape
    parents = np.full(n, -1, dtype=np.int64)
    lengths = np.full(n, np.inf)
    outside = np.arange(1, n)
    newest = 0
    left = n - 1
    while left > 0:
        checkpoint("growing the tree", 1.0 - left / n)
        count = min(left, passes_at_a_time(left, d))
        newest = _add_records(X, parents, lengths, outside, newest, left, count)
        left -= count
    return parents, lengths


@njit(cache=True, nogil=True)
def subtree_sizes(parents: IntArray) -> IntArray:
    """Return for each record the number of records in the subtree below it, itself included; time O(n)."""
    n = len(parents)
    sizes = np.ones(n, dtype=np.int64)
    children = np.zeros(n, dtype=np.int64)
    for parent in parents:
        if parent >= 0:
            children[parent] += 1
    for start in range(n):
        # Go up from each leaf, as long as the sizes of all children are known.
        record = start
        while record >= 0 and children[record] == 0:
            children[record] = -1  # done, so that it is not begun with again
            parent = parents[record]
            if parent >= 0:
                sizes[parent] += sizes[record]
                children[parent] -= 1
            record = parent
    return sizes


@njit(cache=True, nogil=True)
def cut_longest_edges(parents: IntArray, lengths: FloatArray, k: int, most: int) -> None:
    """Cut each tree of more than ``most`` records at its longest edge that leaves k records on both sides, if any.

    The parts are cut likewise. One pass over the edges, the longest first, is enough, as the sides of an edge never get
    more records. Among equally long edges the one of the lowest records comes first. Time O(n log n), and
    the path up to the root for each edge.
    """
    n = len(parents)
    sizes = subtree_sizes(parents)
    ends = np.empty(n)
    for record in range(n):
        ends[record] = min(record, parents[record]) * n + max(record, parents[record])
    order = np.argsort(ends, kind="mergesort")
    for record in order[np.argsort(-lengths[order], kind="mergesort")]:
        parent = parents[record]
        if parent < 0 or sizes[record] < k:
            continue
        root = parent
        while parents[root] >= 0:
            root = parents[root]
        if sizes[root] <= most or sizes[root] - sizes[record] < k:
            continue
        parents[record] = -1
        lengths[record] = np.inf
        while parent >= 0:
            sizes[parent] -= sizes[record]
            parent = parents[parent]


@njit(cache=True, nogil=True)
def roots(parents: IntArray) -> IntArray:
    """Return the root of each record's tree; time O(n) or little more."""
    n = len(parents)
    found = np.empty(n, dtype=np.int64)
    for record in range(n):
        found[record] = record if parents[record] < 0 else parents[record]
    for start in range(n):
        root = start
        while found[root] != root:
            root = found[root]
        record = start
        while found[record] != root:
            found[record], record = root, found[record]
    return found


@njit(cache=True, nogil=True)
def _divide(parents: IntArray, k: int, most: int) -> None:
    """Do as :func:`divide_at_hubs` for a single tree."""
    sizes = subtree_sizes(parents)
    hub = -1
    for record in range(len(parents)):
        if sizes[record] >= k and (hub < 0 or sizes[record] < sizes[hub]):
            hub = record
    # Make the hub the root, so that its branches are its children.
    record, child = hub, -1
    while record >= 0:
        parent = parents[record]
        parents[record] = child
        record, child = parent, record
    while True:
        sizes = subtree_sizes(parents)
        if sizes[hub] <= most:
            return
        branches = np.flatnonzero(parents == hub)
        branches = branches[np.argsort(-sizes[branches], kind="mergesort")]
        taken = 0
        collected = 0
        while collected < k - 1:
            collected += sizes[branches[taken]]
            taken += 1
        enough = sizes[hub] - 1 - collected >= k
        without_hub = branches[taken:] if enough else branches[:taken]
        # The first of them is the hub of the new tree: its own branches are smaller than itself.
        hub = without_hub[0]
        for branch in without_hub:
            parents[branch] = hub
        parents[hub] = -1


@njit(cache=True, nogil=True)
def divide_at_hubs(parents: IntArray, k: int, most: int) -> None:
    """Divide each tree of more than ``most`` records that has no edge with k records on both sides.

    ``most`` must be at least max(2k-1, 3k-5). Such a tree has just one record, the hub, all of whose branches have
    fewer than k records. Its branches are collected, the largest first, equal ones by their record next to the hub,
    until they have k-1 or more; they and the hub make one tree, the other branches another, in which they hang from the
    first of them. Should they have only k-1 records, the hub goes with them instead, and those collected hang from
    their first. This goes on until no part has more than ``most`` records; none has fewer than k. Time O(n) for each
    division, n being the size of the tree.
    """
    n = len(parents)
    trees = roots(parents)
    places = np.empty(n, dtype=np.int64)
    for root in np.flatnonzero(np.bincount(trees) > most):
        members = np.flatnonzero(trees == root)
        places[members] = np.arange(len(members))
        own = np.empty(len(members), dtype=np.int64)
        for place in range(len(members)):
            parent = parents[members[place]]
            own[place] = -1 if parent < 0 else places[parent]
        _divide(own, k, most)
        for place in range(len(members)):
            parents[members[place]] = -1 if own[place] < 0 else members[own[place]]
