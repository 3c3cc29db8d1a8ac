"""Moving and exchanging records of mixed attributes among groups while that lowers Total-IL.

For each record in turn, the best of these changes is made if it gains more than rounding makes of nothing:

- it moves to another group, if its own keeps at least k records;
- it is exchanged for a record of one of the ``WIDTH`` groups whose extent, widened by it, is the least.

Total-IL is the sum over the groups of size times extent, see :mod:`microagg.metrics.generalization`. Adding a record to
a group takes its extent only; taking one out takes all its records, as one that is at an end of a range may be alone
there. So for a record O(g·d + WIDTH·s²·d) shares are computed, g being the number and s the size of the groups.

Ties go to moves, then to the group of the lower number. Everything is deterministic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.validation import FloatArray, IntArray

#: With the records of so many groups a record may be exchanged.
WIDTH = 8

# A change must gain this share of what the two groups lose.
_LEAST_GAIN = 1e-9


class Groups(NamedTuple):
    """Records in groups; made by :func:`make_groups`."""

    points: FloatArray  # shape (n, d): numbers, ranks and nodes
    nominal: NDArray[np.bool_]  # shape (d,)
    domains: FloatArray  # shape (d,)
    parents: IntArray  # shape (d, m): see :attr:`microagg.columns.records.Records.trees`
    heights: FloatArray  # shape (d, m): likewise
    labels: IntArray  # shape (n,): the group of each record
    sizes: IntArray  # shape (g,)
    first: IntArray  # shape (g,): a record of each group
    following: IntArray  # shape (n,): the record of the same group after each, -1 after the last
    low: FloatArray  # shape (g, d): the smallest number or rank, or the node of the lowest common ancestor
    high: FloatArray  # shape (g, d): the largest, or the same node
    extents: FloatArray  # shape (g,): the sum of the shares


def make_groups(records: Records, labels: IntArray) -> Groups:
    """Return ``records`` in the groups ``labels``, shape (n,), numbered from 0 without a gap."""
    parents, heights = records.trees
    n, d, g = records.n, records.d, int(labels.max()) + 1
    groups = Groups(
        np.array(records.values, dtype=np.float64, order="C"),
        records.nominal.copy(),
        records.domains.copy(),
        parents.copy(),
        heights.copy(),
        np.array(labels, dtype=np.int64),
        np.bincount(labels, minlength=g).astype(np.int64),
        np.full(g, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.empty((g, d)),
        np.empty((g, d)),
        np.empty(g),
    )
    _fill(groups)
    return groups


@njit(cache=True, nogil=True)
def _fill(groups: Groups) -> None:
    for x in range(len(groups.labels) - 1, -1, -1):
        group = groups.labels[x]
        groups.following[x] = groups.first[group]
        groups.first[group] = x
    for group in range(len(groups.sizes)):
        _renew(groups, group)


@njit(cache=True, nogil=True)
def _renew(groups: Groups, group: int) -> None:
    """Compute the extents of a group whose records have changed."""
    _without(groups, group, -1, groups.low[group], groups.high[group])
    groups.extents[group] = _extent(groups, groups.low[group], groups.high[group])


@njit(cache=True, nogil=True)
def _widen(groups: Groups, low: FloatArray, high: FloatArray, x: int) -> None:
    """Widen the extents ``low`` and ``high``, shape (d,), by record ``x``."""
    for j in range(len(low)):
        value = groups.points[x, j]
        if groups.nominal[j]:
            one, other = int(low[j]), int(value)
            # A parent comes before its children: the higher number of two different nodes is no ancestor of the other.
            while one != other:
                if one > other:
                    one = groups.parents[j, one]
                else:
                    other = groups.parents[j, other]
            low[j] = high[j] = one
        else:
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)


@njit(cache=True, nogil=True)
def _extent(groups: Groups, low: FloatArray, high: FloatArray) -> float:
    """Return the sum of the shares of the extents ``low`` and ``high``, shape (d,)."""
    total = 0.0
    for j in range(len(low)):
        if groups.nominal[j]:
            total += groups.heights[j, int(low[j])]
        elif groups.domains[j] > 0.0:
            total += (high[j] - low[j]) / groups.domains[j]
    return total


@njit(cache=True, nogil=True)
def _without(groups: Groups, group: int, x: int, low: FloatArray, high: FloatArray) -> None:
    """Set ``low`` and ``high``, shape (d,), to the extents of a group without its record ``x``, one of several."""
    begun = False
    y = groups.first[group]
    while y >= 0:
        if y != x and begun:
            _widen(groups, low, high, y)
        elif y != x:
            low[:] = groups.points[y]
            high[:] = groups.points[y]
            begun = True
        y = groups.following[y]


@njit(cache=True, nogil=True)
def _transfer(groups: Groups, x: int, group: int) -> None:
    """Move record ``x`` to ``group``, without computing extents."""
    own = groups.labels[x]
    if groups.first[own] == x:
        groups.first[own] = groups.following[x]
    else:
        y = groups.first[own]
        while groups.following[y] != x:
            y = groups.following[y]
        groups.following[y] = groups.following[x]
    groups.following[x] = groups.first[group]
    groups.first[group] = x
    groups.sizes[own] -= 1
    groups.sizes[group] += 1
    groups.labels[x] = group


@njit(cache=True, nogil=True)
def improve(groups: Groups, k: int, start: int, stop: int, width: int) -> int:
    """Make the best change for each record from ``start`` to before ``stop``; return how many changes were made."""
    d, g = groups.points.shape[1], len(groups.sizes)
    rest_low, rest_high, low, high = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    other_low, other_high = np.empty(d), np.empty(d)
    widened = np.empty(g)
    changes = 0
    for x in range(start, stop):
        own = groups.labels[x]
        size = groups.sizes[own]
        if size < 2 or groups.extents[own] == 0.0:
            continue  # alone, or of a group that loses nothing: what others gain by it is found from their side
        _without(groups, own, x, rest_low, rest_high)
        rest = _extent(groups, rest_low, rest_high)
        loss = size * groups.extents[own]
        best, target, partner = 0.0, -1, -1
        for group in range(g):
            low[:] = groups.low[group]
            high[:] = groups.high[group]
            _widen(groups, low, high, x)
            widened[group] = np.inf if group == own else _extent(groups, low, high)
            if group == own or size <= k:
                continue
            before = groups.sizes[group] * groups.extents[group]
            gain = loss + before - (size - 1) * rest - (groups.sizes[group] + 1) * widened[group]
            if gain > best and gain > _LEAST_GAIN * (loss + before):
                best, target, partner = gain, group, -1
        for _ in range(min(width, g - 1)):
            group = int(np.argmin(widened))
            widened[group] = np.inf
            if groups.sizes[group] < 2:
                continue
            before = groups.sizes[group] * groups.extents[group]
            y = groups.first[group]
            while y >= 0:
                low[:] = rest_low
                high[:] = rest_high
                _widen(groups, low, high, y)
                gain = loss + before - size * _extent(groups, low, high)
                # What the other group loses then is not negative: often that need not be known.
                if gain > best:
                    _without(groups, group, y, other_low, other_high)
                    _widen(groups, other_low, other_high, x)
                    gain -= groups.sizes[group] * _extent(groups, other_low, other_high)
                    if gain > best and gain > _LEAST_GAIN * (loss + before):
                        best, target, partner = gain, group, y
                y = groups.following[y]
        if target >= 0:
            _transfer(groups, x, target)
            if partner >= 0:
                _transfer(groups, partner, own)
            _renew(groups, own)
            _renew(groups, target)
            changes += 1
    return changes
