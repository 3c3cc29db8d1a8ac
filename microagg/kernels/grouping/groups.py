"""Groups under construction: how records form and join them, out of a pool or a tree pool, and what they then lose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import (
    ALIVE,
    EXTENT,
    Pool,
    add_exactly,
    measure_from,
    nearest,
    remove,
    squared_distance,
)
from microagg.kernels.neighbors.kd_tree import TreePool
from microagg.kernels.neighbors.kd_tree import remove as remove_from_tree
from microagg.validation import FloatArray, IntArray

# The number of the first group. What is called with a constant is compiled for that constant alone, and for other
# numbers once more; int() makes a number like others of it.
_FIRST = 0


class Groups(NamedTuple):
    """Groups under construction; made by :func:`make_groups`."""

    labels: IntArray  # shape (n,): the group of each record, -1 while unassigned
    sums: FloatArray  # shape (n // k, d): the coordinate sums of each group, added in the order in which records joined
    sizes: IntArray  # shape (n // k,)
    number: IntArray  # shape (1,): how many groups there are


def make_groups(n: int, d: int, k: int) -> Groups:
    """Return no groups yet, with room for as many as ``n`` records can form."""
    most = n // k
    return Groups(
        np.full(n, -1, dtype=np.int64),
        np.zeros((most, d)),
        np.zeros(most, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def join(groups: Groups, pool: Pool, group: int, position: int) -> None:
    """Move the record at ``position`` of the pool into ``group``."""
    for j in range(groups.sums.shape[1]):
        groups.sums[group, j] += pool.columns[j, position]
    groups.sizes[group] += 1
    groups.labels[pool.records[position]] = group
    remove(pool, position)


@njit(cache=True, nogil=True)
def form(groups: Groups, pool: Pool, members: IntArray) -> int:
    """Move the records at the positions ``members`` into a new group, in that order, and return its number."""
    group = groups.number[0]
    groups.number[0] += 1
    for position in members:
        join(groups, pool, group, position)
    return group


@njit(cache=True, nogil=True)
def form_from_rest(groups: Groups, pool: Pool) -> None:
    """Make all records left in the pool one new group."""
    group = groups.number[0]
    groups.number[0] += 1
    for position in range(pool.counts[EXTENT]):
        if not np.isnan(pool.columns[0, position]):
            join(groups, pool, group, position)


@njit(cache=True, nogil=True)
def rest_to_nearest_centroid(groups: Groups, pool: Pool, moving: bool) -> None:
    """Let each record left, by index, join the group with the nearest centroid.

    With ``moving``, a group's centroid moves as soon as a record joins it; otherwise centroids stay as they are now.
    """
    if pool.counts[ALIVE] == 0:
        return
    number, d = groups.number[0], groups.sums.shape[1]
    centroids = np.empty((number, d))
    for group in range(number):
        for j in range(d):
            centroids[group, j] = groups.sums[group, j] / groups.sizes[group]
    for position in range(pool.counts[EXTENT]):
        if np.isnan(pool.columns[0, position]):
            continue
        best = int(_FIRST)
        least = np.inf
        for group in range(number):
            distance = 0.0
            for j in range(d):
                difference = pool.columns[j, position] - centroids[group, j]
                distance += difference * difference
            if distance < least:
                least = distance
                best = group
        join(groups, pool, best, position)
        if moving:
            for j in range(d):
                centroids[best, j] = groups.sums[best, j] / groups.sizes[best]


def assign_rest(groups: Groups, pool: Pool, k: int, moving: bool) -> None:
    """Make one new group of the records left if there are k or more; let fewer join the nearest centroid."""
    if pool.counts[ALIVE] >= k:
        form_from_rest(groups, pool)
    rest_to_nearest_centroid(groups, pool, moving)


@njit(cache=True, nogil=True)
def growth(groups: Groups, group: int, point: FloatArray) -> float:
    """Return by how much the SSE of ``group`` grows if the record ``point``, shape (d,), joins it.

    A group of N records with centroid c grows by N / (N + 1) · ‖point - c‖².
    """
    size = groups.sizes[group]
    distance = 0.0
    for j in range(len(point)):
        difference = point[j] - groups.sums[group, j] / size
        distance += difference * difference
    return size / (size + 1) * distance


@njit(cache=True, nogil=True)
def least_growth(groups: Groups, point: FloatArray) -> tuple[int, float]:
    """Return the group whose SSE grows least if the record ``point``, shape (d,), joins it, and that growth."""
    best = -1
    least = np.inf
    for group in range(groups.number[0]):
        grows = growth(groups, group, point)
        if grows < least:
            least = grows
            best = group
    return best, least


@njit(cache=True, nogil=True)
def sse_of(X: FloatArray, members: IntArray) -> float:
    """Return the SSE that the records ``members`` of ``X``, shape (n, d), would have as a group."""
    d = X.shape[1]
    center = np.zeros(d)
    for record in members:
        for j in range(d):
            center[j] += X[record, j]
    center /= len(members)
    sse = 0.0
    for record in members:
        sse += squared_distance(X[record], center)
    return sse


@njit(cache=True, nogil=True)
def take(groups: Groups, pool: TreePool, group: int, record: int) -> None:
    """Move ``record`` of a tree pool into ``group``."""
    for j in range(pool.X.shape[1]):
        groups.sums[group, j] += pool.X[record, j]
        add_exactly(pool.totals, j, -pool.X[record, j])
    groups.sizes[group] += 1
    groups.labels[record] = group
    remove_from_tree(pool.tree, record)


@njit(cache=True, nogil=True)
def found_group(groups: Groups, pool: TreePool, seed: int, others: IntArray) -> int:
    """Move ``seed`` and then ``others`` of a tree pool into a new group; return its number."""
    group = groups.number[0]
    groups.number[0] += 1
    take(groups, pool, group, seed)
    for record in others:
        take(groups, pool, group, record)
    return group


# Groups that take in the record nearest to their moving centroid, one after the other, for P-S and M-d.


@njit(cache=True, nogil=True)
def grow(groups: Groups, pool: Pool, group: int, k: int) -> None:
    """Let ``group`` take in unassigned records, each the one that increases its SSE least, until it has ``k``.

    That is the record nearest to its centroid, which moves each time. Sets ``pool.distances``.
    """
    while groups.sizes[group] < k:
        measure_from(pool, groups.sums[group] / groups.sizes[group])
        join(groups, pool, group, nearest(pool.distances, pool.counts[EXTENT], 1)[0])
