"""Local search: moving records between neighboring groups until (almost) no such move lowers the SSE.

- Single records: the best move that begins with a record is made if it gains more than rounding.
- Cut: a group of 2k records or more is put in the order of a line through it, and cut optimally; that never loses.
- Dissolve: all records of a group go, one by one, to the group that grows least.
- Cut anew: the records of two neighboring groups are put in the order of a line through them, and cut optimally.

Groups are dissolved and cut anew in transactions: single moves repair what is around them, and if the SSE has not
fallen then, all is undone. Everything is deterministic.

For a record x, groups A, B, C of a, b, c records, and squared distances d(x, A) to a group's centroid, the moves are:

- relocate: x goes from A to B, if a > k. Gain a / (a - 1) · d(x, A) - b / (b + 1) · d(x, B).
- swap: x of A and y of B change places. Gain d(x, A) + d(y, B) - d(x, B) - d(y, A) + ‖x - y‖² · (1/a + 1/b).
- chain: x goes from A to B and y from B to C, if a > k. Gain a / (a - 1) · d(x, A), less d(x, B) - d(y, B) -
  ‖x - y‖² / b for the exchange in B, less c / (c + 1) · d(y, C).

The groups B that are tried for x are those of its nearest records, or all if there are few; of these the ones nearest
to x. Ties go to what is found first.

Sources: the gains are Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013 and the exchange of Späth 1980.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.local_search.state import (
    EXAMINED,
    LEAST_GAIN,
    NONE,
    State,
    begin,
    clear_queue,
    gain_of,
    is_long,
    is_waiting,
    members_of,
    move,
    new_mark,
    pop,
    push,
    push_group,
    push_touched,
    refresh,
    regroup,
    touched_groups,
    undo,
)
from microagg.kernels.neighbors.brute_force import order_of, squared_distance_of_rows
from microagg.kernels.paths import along_line, split_path
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


@kernel
def room_for_nearest(width: int) -> Nearest:
    """Return room for ``width`` groups."""
    return Nearest(np.empty(width, dtype=np.int64), np.empty(width))


@borrows
def _enter(state: State, record: int, group: int, nearest: Nearest, filled: int) -> int:
    """Enter a group among the ``filled`` ones nearest to a record, if it is one of them; return how many there are."""
    groups, distances = nearest
    distance = squared_distance_of_rows(state.X, record, state.centers, group)
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
    """Find the groups that a record may go to, its own and ``without`` aside, nearest first; return how many."""
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
def _least_radius(base: float, center_distance: float, distance: float, shares: float, least: float) -> float:
    """Squared radius around the centroid of group B within which no exchange with x gains more than ``least``.

    ``distance`` is the squared distance of x from this centroid; ``center_distance`` is the distance of the centroids
    of both groups, not squared; ``base`` and ``shares`` are as in :func:`_best_swap`. A record at distance r from the
    centroid of B is at most √distance + r from x. For r <= center_distance, it is at least center_distance - r from the
    centroid of the group of x. Its exchange gains at most
    base + r² - (center_distance - r)² + (√distance + r)² · shares. This bound grows with r; the radius is the solution
    of a quadratic equation where it reaches ``least``.
    """
    half = center_distance + shares * np.sqrt(distance)
    within = center_distance * center_distance + least - base - shares * distance
    within -= _SLACK * (center_distance * center_distance + least + abs(base) + shares * distance)
    if not within > 0.0:
        return -1.0
    radius = min(within / (half + np.sqrt(half * half + shares * within)), center_distance) * (1.0 - _SLACK)
    return radius * radius


@borrows
def _best_swap(state: State, x: int, group: int, distance: float, best: Move) -> Move:
    """Best exchange of ``x``, at ``distance`` from the centroid of ``group``, with a record of it; else ``best``."""
    X, group_of_x = state.X, state.labels[x]
    center = state.centers[group_of_x]
    shares = 1.0 / state.sizes[group_of_x] + 1.0 / state.sizes[group]
    base = state.to_center[x] - distance
    center_distance = np.sqrt(squared_distance_of_rows(state.centers, group_of_x, state.centers, group))
    enough = _least_radius(base, center_distance, distance, shares, best.gain)
    if state.reach[group] <= enough:
        return best
    y = state.heads[group]
    while y >= 0:
        if state.to_center[y] > enough:
            to_group_of_x = between = 0.0
            for j in range(X.shape[1]):
                difference = X[y, j] - center[j]
                to_group_of_x += difference * difference
                difference = X[y, j] - X[x, j]
                between += difference * difference
            gain = base + state.to_center[y] - to_group_of_x + between * shares
            if gain > best.gain:
                best = Move(gain, group, y, group_of_x)
                enough = _least_radius(base, center_distance, distance, shares, gain)
        y = state.links[1, y]
    return best


@borrows
def _best_chain(state: State, x: int, freed: float, group: int, distance: float, nearest: Nearest, best: Move) -> Move:
    """Best chain that moves ``x`` to ``group`` at ``distance``, else ``best``; its old group saves ``freed``."""
    X, group_of_x, size = state.X, state.labels[x], state.sizes[group]
    # The squared distance of x and y is at most twice the sum of their squared distances to the centroid.
    share = 2.0 / size * (1.0 + _SLACK)
    spent = distance * (1.0 - share) - freed - _SLACK * (distance + freed)
    y = state.heads[group]
    while y >= 0:
        if (1.0 + share) * state.to_center[y] - state.least_growth[y] > best.gain + spent:
            gain = freed - distance + state.to_center[y] + squared_distance_of_rows(X, y, X, x) / size
            if gain - state.least_growth[y] > best.gain:
                for i in range(candidates(state, y, group_of_x, nearest)):
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


# The descent: what is changed, and until when.


#: Seconds between checkpoints.
CHECKPOINT_SECONDS = 0.3

#: A group is cut anew together with each of this many groups near to it.
_CUT_WIDTH = 3

#: How many records are examined at most to repair one change of whole groups before it is judged.
_MOST_EXAMINED = 2_000

#: How many are examined for all such repairs together, for each record of the data and in all, see :func:`budget_for`.
_BUDGET_OF_RECORD = 2_000
_MOST_BUDGET = 10_000_000

#: Passes over all records, and over all groups, are repeated until at most this share of them has led to a change; of
#: fewer than a thousand, none.
_FEW_CHANGES = 1e-3


@kernel
def _cut_along_line(state: State, records: IntArray, k: int) -> None:
    """Put the ``records`` of whole groups in the order of a line through them, and cut it optimally into groups."""
    ordered = records[order_of(records)]
    rows = state.X[ordered]
    regroup(state, ordered, split_path(rows, along_line(rows), k))


@kernel
def _renew(state: State, group: int, k: int) -> None:
    """Refresh a group whose records have changed, cut it if it is too large, and let its records be examined again."""
    push_group(state, group)
    refresh(state, group)
    if state.sizes[group] >= 2 * k:
        _cut_along_line(state, members_of(state, group), k)


@borrows
def _examine(state: State, x: int, k: int, of_x: Nearest, of_partner: Nearest) -> bool:
    """Make the best move of record ``x``, see :func:`best_move`; return whether there was one."""
    best = best_move(state, x, k, of_x, of_partner)
    if best.group < 0:
        return False
    group_of_x = state.labels[x]
    around = state.sses[group_of_x] + state.sses[best.group]
    if best.target >= 0 and best.target != group_of_x:
        around += state.sses[best.target]
    if best.gain <= LEAST_GAIN * around + state.least_gain[0]:
        return False
    move(state, x, best.group)
    if best.partner >= 0:
        move(state, best.partner, best.target)
    _renew(state, group_of_x, k)
    _renew(state, best.group, k)
    if best.target >= 0 and best.target != group_of_x:
        _renew(state, best.target, k)
    return True


@kernel
def settle(state: State, k: int, most: int) -> int:
    """Examine up to ``most`` records of the queue, until it is empty; return how many moves were made."""
    of_x, of_partner = room_for_nearest(WIDTH), room_for_nearest(WIDTH)
    moves = 0
    while is_waiting(state) and most > 0:
        if _examine(state, pop(state), k, of_x, of_partner):
            moves += 1
        most -= 1
    return moves


@kernel
def repair(state: State, k: int, most: int) -> bool:
    """Examine the records of all groups that the transaction has touched; return whether ``most`` were enough."""
    push_touched(state)
    of_x, of_partner = room_for_nearest(WIDTH), room_for_nearest(WIDTH)
    while is_waiting(state) and most > 0 and not is_long(state):
        _examine(state, pop(state), k, of_x, of_partner)
        most -= 1
        state.counters[EXAMINED] += 1
    return not is_waiting(state)


@kernel
def _keep_if_better(state: State, k: int, most: int) -> bool:
    """Keep what the transaction has changed if the SSE falls, now or once it is repaired; tell whether it does."""
    gain, least = gain_of(state)
    if gain <= least and most > 0:
        repair(state, k, most)
        gain, least = gain_of(state)
    if gain > least:
        push_touched(state)
        settle(state, k, _MOST_EXAMINED)
        return True
    clear_queue(state)
    undo(state)
    return False


@kernel
def _cut_anew(state: State, group: int, k: int, most: int) -> bool:
    """Cut a group together with one near to it anew, if that lowers the SSE of some pair; tell whether it does."""
    nearest = room_for_nearest(_CUT_WIDTH)
    count = candidates(state, state.heads[group], NONE, nearest)
    for other in nearest.groups[:count]:
        records = np.concatenate((members_of(state, group), members_of(state, other)))
        begin(state)
        _cut_along_line(state, records, k)
        if _keep_if_better(state, k, most):
            return True
    return False


@kernel
def _dissolve(state: State, group: int, k: int, most: int) -> bool:
    """Let each record of a group join the group that grows least, if that lowers the SSE; tell whether it does."""
    begin(state)
    nearest = room_for_nearest(WIDTH)
    members = members_of(state, group)
    for record in members[order_of(members)]:
        best, least = NONE, np.inf
        for i in range(candidates(state, record, group, nearest)):
            size = state.sizes[nearest.groups[i]]
            growth = size / (size + 1) * nearest.distances[i]
            if growth < least:
                best, least = nearest.groups[i], growth
        if best < 0:
            break
        move(state, record, best)
        refresh(state, best)
    refresh(state, group)
    if state.sizes[group] > 0:
        undo(state)
        return False
    for other in touched_groups(state)[1:]:  # the first is the one that was dissolved
        _renew(state, other, k)
    return _keep_if_better(state, k, most)


@kernel
def change_groups(state: State, k: int, first: int, most: int, budget: int) -> tuple[int, int]:
    """Cut anew or dissolve up to ``most`` groups from ``first`` on; return where it ended and how often it gained.

    ``budget`` is how many records may be examined to repair such changes, in all.
    """
    gained = 0
    last = min(first + most, len(state.sizes))
    for group in range(first, last):
        left = min(_MOST_EXAMINED, max(0, budget - state.counters[EXAMINED]))
        if state.sizes[group] > 0 and _cut_anew(state, group, k, left):
            gained += 1
        if state.sizes[group] > 0 and _dissolve(state, group, k, left):
            gained += 1
    return last, gained


@kernel
def _cut_large(state: State, k: int) -> None:
    for group in range(len(state.sizes)):
        if state.sizes[group] >= 2 * k:
            begin(state)
            _cut_along_line(state, members_of(state, group), k)


@borrows
def _push_all(state: State) -> None:
    for record in range(len(state.labels)):
        push(state, record)


# What :func:`work_on` does.
_CUTTING, _MOVING, _CHANGING = range(3)


@kernel
def work_on(state: State, k: int, task: int, first: int, most: int, budget: int) -> tuple[int, int]:
    """Cut large groups, or do as :func:`settle` or :func:`change_groups`; return where it ended and what it gained.

    One function for Python to call: each of the three would be compiled with all that they have in common.
    """
    if task == _CUTTING:
        _cut_large(state, k)
        return first, 0
    if task == _MOVING:
        return first, settle(state, k, most)
    return change_groups(state, k, first, most, budget)


class Pace:
    """How much work to do until the next checkpoint, so that one comes every few tenths of a second."""

    def __init__(self, work: int) -> None:
        self.work = work
        self._since = time.perf_counter()

    def adapt(self) -> None:
        """Let the next piece of work be larger or smaller, by how long the last one took."""
        now = time.perf_counter()
        took, self._since = now - self._since, now
        if took < CHECKPOINT_SECONDS / 2:
            self.work *= 2
        elif took > CHECKPOINT_SECONDS:
            self.work = max(1, self.work // 2)


def _settle_all(state: State, k: int) -> Iterator[None]:
    """Examine all records until none finds a move; what is done does not depend on where the checkpoints are."""
    pace = Pace(2_000)
    enough, moves = int(_FEW_CHANGES * len(state.X)), len(state.X)
    while moves > enough:
        moves = 0
        _push_all(state)
        while is_waiting(state):
            begin(state)
            moves += work_on(state, k, _MOVING, 0, pace.work, 0)[1]
            pace.adapt()
            yield


def budget_for(n: int, k: int) -> int:
    """Return how many of ``n`` records are examined in all to repair changes of whole groups.

    That takes about the same time at every k, as examining a record takes time in proportion to about k + 10.
    """
    return min(_BUDGET_OF_RECORD * n, _MOST_BUDGET) // (k + 10)


def descend(state: State, k: int, budget: int) -> Iterator[tuple[str, float | None]]:
    """Improve a partition until (almost) none of the changes of this module lowers its SSE.

    Yield every few tenths of a second, where the state is that of a partition, what is being done and which share of it
    is done, where that is known. ``budget`` is that of :func:`change_groups`.
    """
    work_on(state, k, _CUTTING, 0, 0, 0)
    enough, gained = int(_FEW_CHANGES * len(state.sizes)), len(state.sizes)
    while gained > enough:
        for _ in _settle_all(state, k):
            yield "moving records", None
        pace = Pace(16)
        first = gained = 0
        while first < len(state.sizes):
            first, more = work_on(state, k, _CHANGING, first, pace.work, budget)
            gained += more
            pace.adapt()
            yield "cutting and dissolving groups", first / len(state.sizes)
