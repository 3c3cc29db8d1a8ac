"""Partitions divided anew: groups dissolved where that lowers the SSE, large ones split, and forests cut into trees.

Dissolving is the second phase of TFRP-2, MDAV-2, DBA-2 and GSMS-T2. Each group is tried once, in a given order. Each of
its records would go to the nearest centroid among the other groups that still exist and have room; centroids stay as
they are during the trial. If that lowers the SSE of all groups concerned, the group is dissolved, and the centroids of
the groups that take in its records move; otherwise nothing changes. Groups only grow, so none ends below k; in the end
those of 2k or more are split.

The records of a group stand by index, followed by those that it has taken in, as they came; sums are added in that
order. Ties go to the lowest group number. The SSE counts as lower if it is so by more than a billionth, so that sums
which only rounding tells apart count as equal. Time O(n²d/k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import (
    passes_at_a_time,
    squared_distance,
    squared_distance_of_rows,
    squared_distances,
)
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# The groups concerned must have less than this share of the SSE that they had before.
LOWER = 1.0 - 1e-9

# Groups tried between two checkpoints.
GROUPS_AT_A_TIME = 256


class LinkedGroups(NamedTuple):
    """A partition whose groups are linked lists of records; made by :func:`link_groups`."""

    labels: IntArray  # shape (n,): the group of each record; the numbers of dissolved groups no longer occur
    first: IntArray  # shape (groups,): the first record of each group
    last: IntArray  # shape (groups,): the last record of each group
    following: IntArray  # shape (n,): the record after each record in its group, -1 after the last
    sizes: IntArray  # shape (groups,)
    sums: FloatArray  # shape (groups, d): the coordinate sums of each group, added in the order of its records
    # shape (d, groups): one row per attribute; NaN in the first for a group that has been dissolved
    centroids: FloatArray
    sse: FloatArray  # shape (groups,)


@borrows
def _append(X: FloatArray, groups: LinkedGroups, group: int, record: int) -> None:
    """Make ``record`` the last of ``group``, whose centroid and SSE are then out of date."""
    if groups.sizes[group] == 0:
        groups.first[group] = record
    else:
        groups.following[groups.last[group]] = record
    groups.last[group] = record
    groups.following[record] = -1
    groups.sizes[group] += 1
    groups.labels[record] = group
    for j in range(X.shape[1]):
        groups.sums[group, j] += X[record, j]


@borrows
def _sse_around(X: FloatArray, groups: LinkedGroups, group: int, center: FloatArray) -> float:
    """Return the sum of squared distances of the records of ``group`` to ``center``."""
    sse = 0.0
    record = groups.first[group]
    while record >= 0:
        sse += squared_distance(X[record], center)
        record = groups.following[record]
    return sse


@kernel
def _measure(X: FloatArray, groups: LinkedGroups, group: int) -> None:
    """Bring the centroid and the SSE of ``group`` up to date."""
    center = groups.sums[group] / groups.sizes[group]
    groups.centroids[:, group] = center
    groups.sse[group] = _sse_around(X, groups, group, center)


@kernel
def link_groups(X: FloatArray, labels: IntArray) -> LinkedGroups:
    """Return the partition ``labels`` (numbers 0, 1, 2, … without a gap) of ``X``, shape (n, d), as linked lists."""
    n, d = X.shape
    number = labels.max() + 1
    groups = LinkedGroups(
        np.empty(n, dtype=np.int64),
        np.empty(number, dtype=np.int64),
        np.empty(number, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros(number, dtype=np.int64),
        np.zeros((number, d)),
        np.empty((d, number)),
        np.empty(number),
    )
    for record in range(n):
        _append(X, groups, labels[record], record)
    for group in range(number):
        _measure(X, groups, group)
    return groups


@kernel
def _dissolve_some(X: FloatArray, groups: LinkedGroups, order: IntArray, most: int) -> None:
    """Dissolve each group of ``order`` whose records fit other groups of at most ``most`` records at a lower loss."""
    number = len(groups.sizes)
    distances = np.empty(number)
    coming = np.zeros(number, dtype=np.int64)
    for group in order:
        size = groups.sizes[group]
        members = np.empty(size, dtype=np.int64)
        targets = np.empty(size, dtype=np.int64)
        first_coordinate = groups.centroids[0, group]
        groups.centroids[0, group] = np.nan  # no record of the group goes back to it
        coming[:] = 0
        record = groups.first[group]
        for m in range(size):
            members[m] = record
            squared_distances(groups.centroids, 0, number, X[record], distances)
            targets[m], least = -1, np.inf
            for target in range(number):  # the nearest group that has room
                if distances[target] < least and groups.sizes[target] + coming[target] < most:
                    targets[m], least = target, distances[target]
            if targets[m] < 0:
                break
            coming[targets[m]] += 1
            record = groups.following[record]
        if coming.sum() < size:
            groups.centroids[0, group] = first_coordinate
            continue
        before = groups.sse[group]
        after = 0.0
        for target in range(number):
            if coming[target] == 0:
                continue
            center = groups.sums[target].copy()
            for m in range(size):
                if targets[m] == target:
                    center += X[members[m]]
            center /= groups.sizes[target] + coming[target]
            sse = _sse_around(X, groups, target, center)
            for m in range(size):
                if targets[m] == target:
                    sse += squared_distance(X[members[m]], center)
            before += groups.sse[target]
            after += sse
        if not after < LOWER * before:
            groups.centroids[0, group] = first_coordinate
            continue
        for m in range(size):
            _append(X, groups, targets[m], members[m])
        groups.sizes[group] = 0
        groups.sse[group] = 0.0
        for target in range(number):
            if coming[target] > 0:
                _measure(X, groups, target)


def dissolve_groups(X: FloatArray, labels: IntArray, order: Literal["sse", "reverse"], most: int) -> IntArray:
    """Return ``labels`` after each group has been tried once, the numbers of dissolved groups left out.

    ``labels``, shape (n,), are numbers 0, 1, 2, … without a gap, in the order in which the groups were made. The group
    with the largest SSE before the pass is tried first ("sse"), or the one made last ("reverse"). Groups may grow to
    ``most``.
    """
    groups = link_groups(X, labels)
    number = len(groups.sizes)
    tried = np.argsort(-groups.sse, kind="stable") if order == "sse" else np.arange(number - 1, -1, -1)
    for start in range(0, number, GROUPS_AT_A_TIME):
        checkpoint("dissolving groups", start / number)
        _dissolve_some(X, groups, tried[start : start + GROUPS_AT_A_TIME], most)
    return groups.labels


def split_large(X: FloatArray, labels: IntArray, k: int, base: Callable[[FloatArray, int], IntArray]) -> IntArray:
    """Return ``labels`` with every group of 2k or more records partitioned by ``base``, which takes (X, k)."""
    labels = labels.copy()
    number = labels.max() + 1
    for group in np.flatnonzero(np.bincount(labels) >= 2 * k):
        members = np.flatnonzero(labels == group)
        labels[members] = number + base(X[members], k)
        number = labels.max() + 1
    return labels


# Trees over the records: the minimum spanning tree, and how a forest is cut into trees of the right size.
#
# A forest is two arrays: ``parents``, the record at the other end of the edge that leads from each record towards the
# root of its tree, -1 for a root, and ``lengths``, the squared length of that edge, infinite for a root. Edges are
# ranked by length, equal ones by their lower and then their higher record index, so that the minimum spanning tree is
# unique even where distances are equal.


@borrows
def _add_records(
    X: FloatArray, parents: IntArray, lengths: FloatArray, outside: IntArray, newest: int, left: int, count: int
) -> int:
    """Add ``count`` of the ``left`` first records of ``outside`` to the tree, and return the last one added.

    Those outside hold their shortest edge into the tree, its ``newest`` record aside, in ``parents`` and ``lengths``.
    """
    for _ in range(count):
        slot = -1
        best = -1
        for place in range(left):
            record = outside[place]
            length = squared_distance_of_rows(X, record, X, newest)
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
    """Return parents and squared edge lengths of the minimum spanning tree of ``X``, by Prim's algorithm; O(n²d)."""
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


@kernel
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


def cut_longest_edges(parents: IntArray, lengths: FloatArray, k: int, most: int) -> None:
    """Cut each tree of more than ``most`` records at its longest edge that leaves k records on both sides, if any.

    The parts are cut likewise: one pass over the edges, the longest first, of equal ones that of the lowest records, is
    enough, as the sides of an edge never get more records. Time O(n log n), and the path up to the root for each edge.
    """
    records = np.arange(len(parents))
    order = np.lexsort((np.maximum(records, parents), np.minimum(records, parents), -lengths))
    _cut_in_order(parents, lengths, order, k, most)


@kernel
def _cut_in_order(parents: IntArray, lengths: FloatArray, order: IntArray, k: int, most: int) -> None:
    """Do as :func:`cut_longest_edges`, the edges in this ``order`` of the records below them."""
    sizes = subtree_sizes(parents)
    for record in order:
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


def roots(parents: IntArray) -> IntArray:
    """Root of the tree of each record, shape (n,); time O(n log n)."""
    ancestors = np.where(parents < 0, np.arange(len(parents)), parents)
    while not np.array_equal(ancestors, further := ancestors[ancestors]):
        ancestors = further
    return ancestors


def _divide(parents: IntArray, k: int, most: int) -> None:
    """Do as :func:`divide_at_hubs` for a single tree."""
    sizes = subtree_sizes(parents)
    large = np.flatnonzero(sizes >= k)
    hub = large[np.argmin(sizes[large])]
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
        branches = branches[np.argsort(-sizes[branches], kind="stable")]
        taken = 0
        collected = 0
        while collected < k - 1:
            collected += sizes[branches[taken]]
            taken += 1
        enough = sizes[hub] - 1 - collected >= k
        without_hub = branches[taken:] if enough else branches[:taken]
        # The first of them is the hub of the new tree: its own branches are smaller than itself.
        hub = without_hub[0]
        parents[without_hub] = hub
        parents[hub] = -1


def divide_at_hubs(parents: IntArray, k: int, most: int) -> None:
    """Divide each tree of more than ``most`` records that has no edge with k records on both sides.

    ``most`` must be at least max(2k-1, 3k-5). Step 2 of :mod:`microagg.algorithms.mu_approx` says how a tree is divided
    at its hub. Branches of equal size are ordered by their record next to the hub. The branches without the hub are
    attached to the first of them. No part has fewer than k records. Time O(n) for each division.
    """
    trees = roots(parents)
    places = np.empty(len(parents), dtype=np.int64)
    for root in np.flatnonzero(np.bincount(trees) > most):
        members = np.flatnonzero(trees == root)
        places[members] = np.arange(len(members))
        within = np.where(parents[members] < 0, -1, places[parents[members]])
        _divide(within, k, most)
        parents[members] = np.where(within < 0, -1, members[within])
