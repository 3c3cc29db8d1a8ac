"""The record farthest from the centroid of the unassigned, while that centroid moves.

The records farthest from where the centroid once was are kept in order of that distance. No record can be farther from
where the centroid is now than that distance plus the way the centroid has gone since, so the first few of them suffice
until it has gone too far. Unlike the corners of boxes, this bound is tight for the shell of a ball, which is what is
left of data that are taken from the outside. Where it fails at once, as for records on a sphere or many identical
ones, the tree is asked, until that has cost as much as a new list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.kd_tree import LEAF, Search, farthest
from microagg.kernels.neighbors.tree_pool import ALIVE, Index
from microagg.validation import FloatArray, IntArray

# How many of n unassigned records are listed: about n ** (2 / 3), so that making lists and reading them cost alike.
_EXPONENT = 2.0 / 3.0
_FEWEST = 256

# Far more than rounding can amount to, relative to the distances themselves.
_SLACK = 1e-12

# Positions of Outskirts.counts.
_WORTH = 0  # leaves of the tree that were looked into, or would have been without the list
_FAILED = 1  # whether the centroid has gone too far for the list

# Leaves that a search from the centroid looks into, roughly.
_LEAVES_PER_SEARCH = 32


class Outskirts(NamedTuple):
    """Records by their distance from a former centroid, farthest first; made by :func:`make_outskirts`.

    Attributes
    ----------
    records : array of int, shape (m,)
    distances : array of float, shape (m,)
        Not squared.
    beyond : float
        No record that was not listed was farther than this; -1 if all were listed.
    origin : array of float, shape (d,)
        The former centroid.
    counts : array of int, shape (2,)
        What a new list would be worth by now, and whether this one has failed.
    """

    records: IntArray
    distances: FloatArray
    beyond: float
    origin: FloatArray
    counts: IntArray


@njit(cache=True, nogil=True)
def current_centroid(index: Index) -> FloatArray:
    """Return the centroid of the unassigned records, shape (d,): their sums, correctly rounded, over their number."""
    return (index.totals[0] + index.totals[1]) / index.counts[ALIVE]


@njit(cache=True, nogil=True)
def _squared(one: FloatArray, other: FloatArray) -> float:
    distance = 0.0
    for j in range(len(one)):
        difference = one[j] - other[j]
        distance += difference * difference
    return distance


@njit(cache=True, nogil=True)
def make_outskirts(index: Index) -> Outskirts:
    """Return the outskirts of the unassigned records as seen from their centroid."""
    alive = index.counts[ALIVE]
    origin = current_centroid(index)
    members = np.empty(alive, dtype=np.int64)
    distances = np.empty(alive)
    filled = 0
    for record in range(len(index.X)):
        if index.tree.slots[record] >= 0:
            members[filled] = record
            distances[filled] = np.sqrt(_squared(index.X[record], origin))
            filled += 1
    most = max(_FEWEST, int(alive**_EXPONENT))
    beyond = -1.0
    if most < alive:
        beyond = np.partition(distances, alive - most)[alive - most]
        # Those just as far are left out, as there may be any number of them.
        listed = distances > beyond
        members, distances = members[listed], distances[listed]
    order = np.argsort(-distances, kind="mergesort")
    return Outskirts(members[order], distances[order], beyond, origin, np.zeros(2, dtype=np.int64))


@njit(cache=True, nogil=True)
def is_used_up(index: Index, outskirts: Outskirts) -> bool:
    """Return whether the list has failed, and a new one is worth the pass over all records that it takes."""
    return outskirts.counts[_FAILED] > 0 and outskirts.counts[_WORTH] * LEAF >= index.counts[ALIVE]


@njit(cache=True, nogil=True)
def without_assigned(index: Index, outskirts: Outskirts) -> Outskirts:
    """Return the outskirts without the records that have left."""
    left = index.tree.slots[outskirts.records] >= 0
    return Outskirts(
        outskirts.records[left], outskirts.distances[left], outskirts.beyond, outskirts.origin, outskirts.counts
    )


@njit(cache=True, nogil=True)
def front(index: Index, outskirts: Outskirts, count: int) -> IntArray:
    """Return the ``count`` of those listed that are farthest from the centroid now, farthest first.

    All that are listed must be unassigned. Fewer are returned if there are fewer.
    """
    center = current_centroid(index)
    stop = len(outskirts.records)
    if stop > count:
        # Both ends of a distance may have come nearer or gone farther by as much as the centroid has moved.
        way = np.sqrt(_squared(center, outskirts.origin))
        stop = np.searchsorted(-outskirts.distances, 2.0 * way - outskirts.distances[count - 1], side="right")
    distances = np.empty(stop)
    for i in range(stop):
        distances[i] = _squared(index.X[outskirts.records[i]], center)
    return outskirts.records[np.argsort(-distances, kind="mergesort")[:count]]


@njit(cache=True, nogil=True)
def farthest_out(index: Index, outskirts: Outskirts, search: Search) -> int:
    """Return the unassigned record farthest from their centroid, ties by index; -1 if the list is used up."""
    center = current_centroid(index)
    if not outskirts.counts[_FAILED]:
        record = _farthest_listed(index, outskirts, center)
        if record >= 0:
            outskirts.counts[_WORTH] += _LEAVES_PER_SEARCH
            return record
        outskirts.counts[_FAILED] = 1
    if is_used_up(index, outskirts):
        return -1
    looked = search.looked[0]
    farthest(index.tree, center, _squared(center, index.tree.center), 1, -1, search)
    outskirts.counts[_WORTH] += search.looked[0] - looked
    return search.found[0]


@njit(cache=True, nogil=True)
def _farthest_listed(index: Index, outskirts: Outskirts, center: FloatArray) -> int:
    """Return the record farthest from ``center``, the centroid; -1 if it need not be one of those listed."""
    way = np.sqrt(_squared(center, outskirts.origin))
    best, largest = -1, -1.0
    for i in range(len(outskirts.records)):
        reach = (outskirts.distances[i] + way) * (1.0 + _SLACK)
        if reach * reach < largest:
            return best
        record = outskirts.records[i]
        if index.tree.slots[record] >= 0:
            distance = _squared(index.X[record], center)
            if distance > largest or (distance == largest and record < best):
                best, largest = record, distance
    if outskirts.beyond < 0.0:
        return best
    reach = (outskirts.beyond + way) * (1.0 + _SLACK)
    return best if reach * reach < largest else -1
