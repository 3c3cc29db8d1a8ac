"""Local search: moving records between neighboring groups until (almost) no such move lowers the SSE.

- Single records: the best move that begins with a record, see :mod:`.moves`, is made if it gains more than rounding.
- Cut: a group of 2k records or more is put in the order of a line through it, and cut optimally; that never loses.
- Dissolve: all records of a group go, one by one, to the group that grows least.
- Cut anew: the records of two neighboring groups are put in the order of a line through them, and cut optimally.

Groups are dissolved and cut anew in transactions: single moves repair what is around them, and if the SSE has not
fallen then, all is undone. Everything is deterministic.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numba import njit

from microagg.kernels.local_search.moves import WIDTH, Nearest, best_move, candidates, room_for_nearest
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
    pop,
    push,
    push_group,
    push_touched,
    refresh,
    regroup,
    touched_groups,
    undo,
)
from microagg.kernels.paths import along_line, order_of, split_path
from microagg.kernels.running import borrows
from microagg.validation import FloatArray, IntArray

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


@njit(cache=True, nogil=True)
def rows_of(X: FloatArray, records: IntArray) -> FloatArray:
    """Return the rows ``records`` of ``X``."""
    rows = np.empty((len(records), X.shape[1]))
    for i in range(len(records)):
        rows[i] = X[records[i]]
    return rows


@njit(cache=True, nogil=True)
def _cut_along_line(state: State, records: IntArray, k: int) -> None:
    """Put the ``records`` of whole groups in the order of a line through them, and cut it optimally into groups."""
    ordered = records[order_of(records)]
    rows = rows_of(state.X, ordered)
    regroup(state, ordered, split_path(rows, along_line(rows), k))


@njit(cache=True, nogil=True)
def _renew(state: State, group: int, k: int) -> None:
    """Refresh a group whose records have changed, cut it if it is too large, and let its records be examined again."""
    push_group(state, group)
    refresh(state, group)
    if state.sizes[group] >= 2 * k:
        _cut_along_line(state, members_of(state, group), k)


@borrows
def _examine(state: State, x: int, k: int, of_x: Nearest, of_partner: Nearest) -> bool:
    """Make the best move that begins with record ``x``, and tell whether there was one; see :func:`.best_move`."""
    best = best_move(state, x, k, of_x, of_partner)
    if best.group < 0:
        return False
    own = state.labels[x]
    around = state.sses[own] + state.sses[best.group]
    if best.target >= 0 and best.target != own:
        around += state.sses[best.target]
    if best.gain <= LEAST_GAIN * around + state.least_gain[0]:
        return False
    move(state, x, best.group)
    if best.partner >= 0:
        move(state, best.partner, best.target)
    _renew(state, own, k)
    _renew(state, best.group, k)
    if best.target >= 0 and best.target != own:
        _renew(state, best.target, k)
    return True


@njit(cache=True, nogil=True)
def settle(state: State, k: int, most: int) -> int:
    """Examine up to ``most`` records of the queue, until it is empty; return how many moves were made."""
    of_x, of_partner = room_for_nearest(WIDTH), room_for_nearest(WIDTH)
    moves = 0
    while is_waiting(state) and most > 0:
        if _examine(state, pop(state), k, of_x, of_partner):
            moves += 1
        most -= 1
    return moves


@njit(cache=True, nogil=True)
def repair(state: State, k: int, most: int) -> bool:
    """Examine the records of all groups that the transaction has touched, and on until the queue is empty.

    Return whether it is empty after ``most`` records.
    """
    push_touched(state)
    of_x, of_partner = room_for_nearest(WIDTH), room_for_nearest(WIDTH)
    while is_waiting(state) and most > 0 and not is_long(state):
        _examine(state, pop(state), k, of_x, of_partner)
        most -= 1
        state.counters[EXAMINED] += 1
    return not is_waiting(state)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def change_groups(state: State, k: int, first: int, most: int, budget: int) -> tuple[int, int]:
    """Cut anew or dissolve up to ``most`` groups from ``first`` on; return where it ended and how often it gained.

    Each change is repaired before it is judged, until ``budget`` records have been examined for that in all.
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


@njit(cache=True, nogil=True)
def _cut_large(state: State, k: int) -> None:
    for group in range(len(state.sizes)):
        if state.sizes[group] >= 2 * k:
            begin(state)
            _cut_along_line(state, members_of(state, group), k)


@borrows
def _push_all(state: State) -> None:
    for record in range(len(state.labels)):
        push(state, record)


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
            moves += settle(state, k, pace.work)
            pace.adapt()
            yield


def budget_for(n: int, k: int) -> int:
    """Return how many of ``n`` records are examined in all to repair changes of whole groups.

    To examine a record takes time in proportion to the size of groups, about k, and something besides: divided by
    k + 10, the budget takes about the same time at every k.
    """
    return min(_BUDGET_OF_RECORD * n, _MOST_BUDGET) // (k + 10)


def descend(state: State, k: int, budget: int) -> Iterator[tuple[str, float | None]]:
    """Improve a partition until (almost) none of the changes of this module lowers its SSE.

    Yield every few tenths of a second, where the state is that of a partition, what is being done and which share of it
    is done, where that is known. ``budget`` is that of :func:`change_groups`.
    """
    _cut_large(state, k)
    enough, gained = int(_FEW_CHANGES * len(state.sizes)), len(state.sizes)
    while gained > enough:
        for _ in _settle_all(state, k):
            yield "moving records", None
        pace = Pace(16)
        first = gained = 0
        while first < len(state.sizes):
            first, more = change_groups(state, k, first, pace.work, budget)
            gained += more
            pace.adapt()
            yield "cutting and dissolving groups", first / len(state.sizes)
