"""The second phase of TFRP-2, MDAV-2, DBA-2 and GSMS-T2: groups are dissolved where that lowers the SSE, then split.

Each group is tried once, in a given order. Each of its records would go to the nearest centroid among the other groups
that still exist and have room; centroids stay as they are during the trial. If that lowers the SSE of all groups
concerned, the group is dissolved, and the centroids of the groups that take in its records move; otherwise nothing
changes. Groups only grow, so none ends below k; in the end those of 2k or more are split.

The records of a group stand by index, followed by those that it has taken in, as they came; sums are added in that
order. Ties go to the lowest group number. The SSE counts as lower if it is so by more than a billionth, so that sums
which only rounding tells apart count as equal. Time O(n²d/k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import squared_distance, squared_distances
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _sse_around(X: FloatArray, groups: LinkedGroups, group: int, center: FloatArray) -> float:
    """Return the sum of squared distances of the records of ``group`` to ``center``."""
    sse = 0.0
    record = groups.first[group]
    while record >= 0:
        sse += squared_distance(X[record], center)
        record = groups.following[record]
    return sse


@njit(cache=True, nogil=True)
def _measure(X: FloatArray, groups: LinkedGroups, group: int) -> None:
    """Bring the centroid and the SSE of ``group`` up to date."""
    center = groups.sums[group] / groups.sizes[group]
    groups.centroids[:, group] = center
    groups.sse[group] = _sse_around(X, groups, group, center)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _nearest_with_room(
    X: FloatArray, groups: LinkedGroups, record: int, coming: IntArray, most: int, distances: FloatArray
) -> int:
    """Return the group with the nearest centroid that can take one more, ``coming`` counted in; -1 if there is none."""
    number = len(distances)
    squared_distances(groups.centroids, 0, number, X[record], distances)
    best = -1
    least = np.inf
    for group in range(number):
        if distances[group] < least and groups.sizes[group] + coming[group] < most:
            least = distances[group]
            best = group
    return best


@njit(cache=True, nogil=True)
def _dissolve_some(X: FloatArray, groups: LinkedGroups, order: IntArray, most: int) -> None:
    """Try to dissolve the groups ``order``, one after the other, into groups of at most ``most`` records."""
    number = len(groups.sizes)
    distances = np.empty(number)
    coming = np.zeros(number, dtype=np.int64)
    for group in order:
        size = groups.sizes[group]
        members = np.empty(size, dtype=np.int64)
        targets = np.empty(size, dtype=np.int64)
        own = groups.centroids[0, group]
        groups.centroids[0, group] = np.nan  # so that it is not its own nearest
        coming[:] = 0
        record = groups.first[group]
        for m in range(size):
            members[m] = record
            targets[m] = _nearest_with_room(X, groups, record, coming, most, distances)
            if targets[m] < 0:
                break
            coming[targets[m]] += 1
            record = groups.following[record]
        if coming.sum() < size:
            groups.centroids[0, group] = own
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
            groups.centroids[0, group] = own
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
