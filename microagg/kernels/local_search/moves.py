"""The best move that begins with a record: to another group, in exchange for a record of it, or along three groups.

For a record x, groups A, B, C of a, b, c records, and squared distances d(x, A) to a group's centroid:

- relocate: x goes from A to B, if a > k. Gain a / (a - 1) · d(x, A) - b / (b + 1) · d(x, B).
- swap: x of A and y of B change places. Gain d(x, A) + d(y, B) - d(x, B) - d(y, A) + ‖x - y‖² · (1/a + 1/b).
- chain: x goes from A to B and y from B to C, if a > k. Gain a / (a - 1) · d(x, A), less d(x, B) - d(y, B) -
  ‖x - y‖² / b for the exchange in B, less c / (c + 1) · d(y, C).

The groups B that are tried for x are those of its nearest records, or all if there are few; of these the ones nearest
to x. Ties go to what is found first.

Sources: the gains are Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013 and the exchange of Späth 1980.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.local_search.state import NONE, State, new_mark, squared_distance
from microagg.kernels.running import borrows
from microagg.validation import FloatArray, IntArray

#: Where there is room for at most this many groups, all of them are tried for each record.
_FEW_GROUPS = 64

#: How many groups are tried for each record, and how many as the middle one of a chain.
WIDTH = 8
_CHAIN_WIDTH = 4

# Far more than rounding can amount to, relative to the distances themselves.
_SLACK = 1e-9


class Nearest(NamedTuple):
    """Room for the groups nearest to a record, nearest first; filled by :func:`candidates`."""

    groups: IntArray  # shape (width,)
    distances: FloatArray  # shape (width,): the record's squared distances to their centroids


@njit(cache=True, nogil=True)
def room_for_nearest(width: int) -> Nearest:
    """Return room for ``width`` groups."""
    return Nearest(np.empty(width, dtype=np.int64), np.empty(width))


@borrows
def _enter(state: State, record: int, group: int, nearest: Nearest, filled: int) -> int:
    """Enter a group among the ``filled`` ones nearest to a record, if it is one of them; return how many there are."""
    groups, distances = nearest
    distance = squared_distance(state.X, record, state.centers, group)
    if filled == len(groups):
        if distance >= distances[filled - 1]:
            return filled
    else:
        filled += 1
    slot = filled - 1
    while slot > 0 and distances[slot - 1] > distance:
        distances[slot] = distances[slot - 1]
        groups[slot] = groups[slot - 1]
        slot -= 1
    distances[slot] = distance
    groups[slot] = group
    return filled


@borrows
def has_few_groups(state: State) -> bool:
    """Return whether there are so few groups that all are tried."""
    return len(state.sizes) <= _FEW_GROUPS


@borrows
def candidates(state: State, record: int, without: int, nearest: Nearest) -> int:
    """Find the groups that a record may go to, its own and ``without`` aside, nearest first; return how many.

    They are written into ``nearest``, whose width limits them.
    """
    mark, marks = new_mark(state), state.marks[0]
    marks[state.labels[record]] = mark
    if without >= 0:
        marks[without] = mark
    filled = 0
    if has_few_groups(state):
        for group in range(len(state.sizes)):
            if state.sizes[group] > 0 and marks[group] != mark:
                filled = _enter(state, record, group, nearest, filled)
        return filled
    for other in state.neighbors[record]:
        group = state.labels[other]
        if marks[group] != mark:
            marks[group] = mark
            filled = _enter(state, record, group, nearest, filled)
    return filled


class Move(NamedTuple):
    """A move of a record x of group A."""

    gain: float  # by how much it lowers the SSE
    group: int  # B, to which x goes; -1 for no move
    partner: int  # the record y of B that leaves it, -1 if none does
    target: int  # the group that y goes to: A in a swap, C in a chain


@borrows
def _least_radius(base: float, apart: float, distance: float, shares: float, least: float) -> float:
    """Return within which squared distance of the centroid of group B no record's exchange with x gains over ``least``.

    ``distance`` is that of x from this centroid, squared; ``apart`` how far the centroid of its own group is, not
    squared; ``base`` and ``shares`` are as in :func:`_best_swap`. A record at a distance r from the centroid of B is at
    most √distance + r from x and, as long as r <= apart, at least apart - r from the other centroid. So its exchange
    gains at most base + r² - (apart - r)² + (√distance + r)² · shares, which grows with r: a quadratic equation tells
    from where on that is more than ``least``.
    """
    half = apart + shares * np.sqrt(distance)
    within = apart * apart + least - base - shares * distance
    within -= _SLACK * (apart * apart + least + abs(base) + shares * distance)
    if not within > 0.0:
        return -1.0
    radius = min(within / (half + np.sqrt(half * half + shares * within)), apart) * (1.0 - _SLACK)
    return radius * radius


@borrows
def _best_swap(state: State, x: int, group: int, distance: float, best: Move) -> Move:
    """Return the best exchange of ``x`` with a record of ``group``, at ``distance`` from it, or ``best``."""
    X, own = state.X, state.labels[x]
    center = state.centers[own]
    shares = 1.0 / state.sizes[own] + 1.0 / state.sizes[group]
    base = state.to_center[x] - distance
    apart = np.sqrt(squared_distance(state.centers, own, state.centers, group))
    enough = _least_radius(base, apart, distance, shares, best.gain)
    if state.reach[group] <= enough:
        return best
    y = state.heads[group]
    while y >= 0:
        if state.to_center[y] > enough:
            to_own = between = 0.0
            for j in range(X.shape[1]):
                difference = X[y, j] - center[j]
                to_own += difference * difference
                difference = X[y, j] - X[x, j]
                between += difference * difference
            gain = base + state.to_center[y] - to_own + between * shares
            if gain > best.gain:
                best = Move(gain, group, y, own)
                enough = _least_radius(base, apart, distance, shares, gain)
        y = state.links[1, y]
    return best


@borrows
def _best_chain(state: State, x: int, freed: float, group: int, distance: float, nearest: Nearest, best: Move) -> Move:
    """Return the best chain in which ``x`` goes to ``group``, or ``best``.

    ``freed`` is by how much the SSE of its own group falls without ``x``, ``distance`` that of ``x`` to ``group``,
    ``nearest`` room for the groups to which a record of ``group`` may go.
    """
    X, own, size = state.X, state.labels[x], state.sizes[group]
    # The squared distance of x and y is at most twice the sum of those to the centroid between them.
    share = 2.0 / size * (1.0 + _SLACK)
    spent = distance * (1.0 - share) - freed - _SLACK * (distance + freed)
    y = state.heads[group]
    while y >= 0:
        if (1.0 + share) * state.to_center[y] - state.least_growth[y] > best.gain + spent:
            gain = freed - distance + state.to_center[y] + squared_distance(X, y, X, x) / size
            if gain - state.least_growth[y] > best.gain:
                for i in range(candidates(state, y, own, nearest)):
                    target = state.sizes[nearest.groups[i]]
                    rest = gain - target / (target + 1) * nearest.distances[i]
                    if rest > best.gain:
                        best = Move(rest, group, y, nearest.groups[i])
        y = state.links[1, y]
    return best


@borrows
def best_move(state: State, x: int, k: int, of_x: Nearest, of_partner: Nearest) -> Move:
    """Return the best relocation, swap or chain that begins with record ``x``; of no gain, if there is none.

    ``of_x`` and ``of_partner`` are room for the groups to which ``x``, and in a chain its partner, may go.
    """
    size = state.sizes[state.labels[x]]
    groups, distances = of_x
    count = candidates(state, x, NONE, of_x)
    best = Move(0.0, NONE, NONE, NONE)
    freed = size / (size - 1) * state.to_center[x] if size > 1 else 0.0
    least = np.inf
    for i in range(count):
        other = state.sizes[groups[i]]
        growth = other / (other + 1) * distances[i]
        least = min(least, growth)
        if size > k and freed - growth > best.gain:
            best = Move(freed - growth, groups[i], NONE, NONE)
    state.least_growth[x] = least
    for i in range(count):
        best = _best_swap(state, x, groups[i], distances[i], best)
    if size > k:
        for i in range(min(count, _CHAIN_WIDTH)):
            best = _best_chain(state, x, freed, groups[i], distances[i], of_partner, best)
    return best
