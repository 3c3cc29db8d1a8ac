"""The record farthest from the centroid of the unassigned records, while that centroid moves.

The records farthest from where the centroid once was are listed in the order of that distance. No record can be farther
from where the centroid is now than that distance plus the distance that the centroid has moved since, so a few records
from the head of the list suffice until the centroid has moved too far. Unlike the corners of boxes, this bound is tight
for the shell of a ball, which is what is left once the records farthest from the mean have been taken. Where it fails
at once, as for records on a sphere or many identical ones, the tree is asked until that has cost as much as a new list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import squared_distance
from microagg.kernels.neighbors.kd_tree import LEAF, TreePool, centroid, number_left
from microagg.kernels.neighbors.tree_queries import NeighborQuery, farthest
from microagg.validation import FloatArray, IntArray

# How many of n unassigned records are listed: about n ** (2 / 3), so that making lists and reading them cost alike.
_EXPONENT = 2.0 / 3.0
_FEWEST = 256

# Far more than rounding can amount to, relative to the distances themselves.
_SLACK = 1e-12

# Positions of FarthestList.counts.
_LEAVES = 0  # leaves of the tree that were visited, or would have been without the list
_FAILED = 1  # whether the centroid has moved too far for the list

# Leaves that a query for the record farthest from the centroid visits, roughly.
_LEAVES_PER_QUERY = 32


class FarthestList(NamedTuple):
    """Records by their distance from a former centroid, farthest first; made by :func:`make_farthest_list`."""

    records: IntArray  # shape (m,)
    distances: FloatArray  # shape (m,): not squared
    beyond: float  # no record that was not listed was farther than this; -1 if all were listed
    origin: FloatArray  # shape (d,): the former centroid
    counts: IntArray  # shape (2,): how many leaves a new list may cost by now, and whether this one has failed


@njit(cache=True, nogil=True)
def make_farthest_list(pool: TreePool) -> FarthestList:
    """Return the list of the unassigned records farthest from their centroid."""
    left = number_left(pool)
    origin = centroid(pool)
    members = np.empty(left, dtype=np.int64)
    distances = np.empty(left)
    filled = 0
    for record in range(len(pool.X)):
        if pool.tree.slots[record] >= 0:
            members[filled] = record
            distances[filled] = np.sqrt(squared_distance(pool.X[record], origin))
            filled += 1
    most = max(_FEWEST, int(left**_EXPONENT))
    beyond = -1.0
    if most < left:
        beyond = np.partition(distances, left - most)[left - most]
        # Those just as far are left out, as there may be any number of them.
        listed = distances > beyond
        members, distances = members[listed], distances[listed]
    order = np.argsort(-distances, kind="mergesort")
    return FarthestList(members[order], distances[order], beyond, origin, np.zeros(2, dtype=np.int64))


@njit(cache=True, nogil=True)
def is_used_up(pool: TreePool, listed: FarthestList) -> bool:
    """Return whether the list has failed, and a new one is worth the pass over all records that it takes."""
    return listed.counts[_FAILED] > 0 and listed.counts[_LEAVES] * LEAF >= number_left(pool)


@njit(cache=True, nogil=True)
def without_assigned(pool: TreePool, listed: FarthestList) -> FarthestList:
    """Return the list without the records that have been assigned since."""
    left = pool.tree.slots[listed.records] >= 0
    return FarthestList(listed.records[left], listed.distances[left], listed.beyond, listed.origin, listed.counts)


@njit(cache=True, nogil=True)
def farthest_of_list(pool: TreePool, listed: FarthestList, count: int) -> IntArray:
    """Return the ``count`` records of the list that are farthest from the centroid now, farthest first.

    All records of the list must be unassigned. Fewer are returned if there are fewer.
    """
    center = centroid(pool)
    stop = len(listed.records)
    if stop > count:
        # Each distance may have grown or shrunk by as much as the centroid has moved.
        moved = np.sqrt(squared_distance(center, listed.origin))
        stop = np.searchsorted(-listed.distances, 2.0 * moved - listed.distances[count - 1], side="right")
    distances = np.empty(stop)
    for i in range(stop):
        distances[i] = squared_distance(pool.X[listed.records[i]], center)
    return listed.records[np.argsort(-distances, kind="mergesort")[:count]]


@njit(cache=True, nogil=True)
def farthest_from_mean(pool: TreePool, listed: FarthestList, query: NeighborQuery) -> int:
    """Return the unassigned record farthest from their centroid, ties by index; -1 if the list is used up."""
    center = centroid(pool)
    if not listed.counts[_FAILED]:
        record = _farthest_if_listed(pool, listed, center)
        if record >= 0:
            listed.counts[_LEAVES] += _LEAVES_PER_QUERY
            return record
        listed.counts[_FAILED] = 1
    if is_used_up(pool, listed):
        return -1
    visited = query.visited[0]
    farthest(pool.tree, center, squared_distance(center, pool.tree.center), 1, -1, query)
    listed.counts[_LEAVES] += query.visited[0] - visited
    return query.found[0]


@njit(cache=True, nogil=True)
def _farthest_if_listed(pool: TreePool, listed: FarthestList, center: FloatArray) -> int:
    """Return the record farthest from ``center``, the centroid; -1 if it need not be one of the list."""
    moved = np.sqrt(squared_distance(center, listed.origin))
    best, largest = -1, -1.0
    for i in range(len(listed.records)):
        reach = (listed.distances[i] + moved) * (1.0 + _SLACK)
        if reach * reach < largest:
            return best
        record = listed.records[i]
        if pool.tree.slots[record] >= 0:
            distance = squared_distance(pool.X[record], center)
            if distance > largest or (distance == largest and record < best):
                best, largest = record, distance
    if listed.beyond < 0.0:
        return best
    reach = (listed.beyond + moved) * (1.0 + _SLACK)
    return best if reach * reach < largest else -1
