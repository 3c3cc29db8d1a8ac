"""Moving records between neighboring groups until no such move lowers the SSE.

For a record x, groups A, B, C of a, b, c records, and squared distances d(x, A) to a group's centroid:

- relocate: x goes from A to B, if a > k. Gain a / (a - 1) · d(x, A) - b / (b + 1) · d(x, B).
- swap: x of A and y of B change places. Gain d(x, A) + d(y, B) - d(x, B) - d(y, A) + ‖x - y‖² · (1/a + 1/b).
- chain: x goes from A to B and y from B to C, if a > k. Gain a / (a - 1) · d(x, A), less d(x, B) - d(y, B) -
  ‖x - y‖² / b for the exchange in B, less c / (c + 1) · d(y, C).
- cut: a group of 2k records or more is put in the order of a line through it, and cut optimally; that never loses.
- dissolve: all records of a group go, one by one, to the group that grows least.
- cut anew: the records of two neighboring groups are put in the order of a line through them, and cut optimally.

The groups B that are tried for x are those of its nearest records, or all if there are few; of these the ones nearest
to x. The best of the first three moves is made if it gains more than rounding. A queue holds the records whose groups
have changed since they were last looked at, so the work is proportional to the changes.

A change of several moves is a transaction: :func:`begin` it, make the moves, and :func:`undo` them if the SSE of the
groups touched has not fallen. Centroids and SSEs of groups are computed anew from their records whenever these change,
so no rounding piles up.

All coordinates are taken about the mean of the data. Ties go to what is found first; everything is deterministic.

Sources: the gains are Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013 and the exchange of Späth 1980; queues of
records to look at as in Bentley 1992.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.kernels.paths.split import split_path
from microagg.validation import FloatArray, IntArray

#: A move must gain more than this share of the SSE of the groups that it changes.
LEAST_GAIN = 1e-10

# ... and more than this share of the greatest squared norm, which is what rounding makes of the SSE of equal records.
_LEAST_OF_NORM = 1e-28

#: Where there is room for so few groups, all of them are tried for each record.
_FEW_GROUPS = 64

#: How many groups are tried for each record, and how many as the middle one of a chain.
_WIDTH = 8
_CHAIN_WIDTH = 4


#: How many groups near to a group it is cut anew with.
_CUT_WIDTH = 3

#: A change of whole groups is repaired by so many looks at records before it is judged.
_LOOKS = 2_000

#: All these repairs together take so many looks for each record, divided by k + 10, as a look takes the longer the
#: larger groups are; but not more than so many.
_BUDGET = 2_000
_MOST_BUDGET = 10_000_000

#: Passes over all records, and over all groups, end when so small a share of them has led to a move: among fewer than a
#: thousand records, when none has.
_FEW_MOVES = 1e-3

#: Seconds between checkpoints.
_BREATH = 0.3

# Positions of State.counts.
_MARK = 0  # the number of the last look at candidates
_HINT = 1  # where the search for an empty group begins
_FIRST = 2  # where the queue begins
_WAITING = 3  # how many records wait in the queue
_MOVES = 4  # length of the journal
_TOUCHED = 5  # how many groups the transaction has touched
_TURN = 6  # the number of the transaction
_LOOKED = 7  # how many records have been looked at to repair changes of whole groups

_NONE = -1


class State(NamedTuple):
    """A partition under change; made by :func:`make_state`. There is room for n // k groups, empty ones included.

    Attributes
    ----------
    X : array of float, shape (n, d)
        The records about their mean.
    labels : array of int, shape (n,)
    neighbors : array of int, shape (n, m)
        The records nearest to each, itself aside.
    centers : array of float, shape (n // k, d)
    sizes : array of int, shape (n // k,)
    sses : array of float, shape (n // k,)
    own : array of float, shape (n,)
        The squared distance of each record to the centroid of its group.
    elsewhere : array of float, shape (n,)
        By how much the best other group would have grown by each record when it was last looked at; 0 if it never was.
        It only tells which chains are worth a look.
    heads : array of int, shape (n // k,)
        The first record of each group, -1 for an empty one.
    links : array of int, shape (2, n)
        The record before and the one after each record in its group, -1 at the ends.
    queue : array of int, shape (n,)
        Records to look at, in a ring.
    queued : array of bool, shape (n,)
    marks : array of int, shape (n // k,)
        The last look at candidates, and the last transaction, that have seen a group.
    journal : array of int, shape (room, 2)
        The moves of the transaction: record and group that it left.
    touched : array of int, shape (n // k,)
        The groups of the transaction.
    before : array of float, shape (n // k,)
        Their SSEs when it began.
    counts : array of int
    least : array of float, shape (1,)
        What a move must gain at least, whatever its groups.
    """

    X: FloatArray
    labels: IntArray
    neighbors: IntArray
    centers: FloatArray
    sizes: IntArray
    sses: FloatArray
    own: FloatArray
    elsewhere: FloatArray
    heads: IntArray
    links: IntArray
    queue: IntArray
    queued: NDArray[np.bool_]
    marks: IntArray
    journal: IntArray
    touched: IntArray
    before: FloatArray
    counts: IntArray
    least: FloatArray


# --- the state -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def make_state(X: FloatArray, labels: IntArray, k: int, neighbors: IntArray) -> State:
    """Return the state of a partition of ``X``, shape (n, d), about its mean, into groups of at least ``k``."""
    n, d = X.shape
    room = n // k
    state = State(
        X,
        labels.copy(),
        neighbors,
        np.zeros((room, d)),
        np.zeros(room, dtype=np.int64),
        np.zeros(room),
        np.zeros(n),
        np.zeros(n),
        np.full(room, _NONE),
        np.full((2, n), _NONE),
        np.empty(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros((2, room), dtype=np.int64),
        np.empty((2 * n + 4096, 2), dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room),
        np.zeros(8, dtype=np.int64),
        np.zeros(1),
    )
    greatest = 0.0
    for record in range(n - 1, -1, -1):
        _link(state, record, labels[record])
        norm = 0.0
        for j in range(d):
            norm += X[record, j] * X[record, j]
        greatest = max(greatest, norm)
    state.least[0] = _LEAST_OF_NORM * greatest
    for group in range(room):
        refresh(state, group)
    return state


@njit(cache=True, nogil=True)
def total_sse(state: State) -> float:
    """Return the SSE of the partition."""
    return state.sses.sum()


@njit(cache=True, nogil=True)
def _link(state: State, record: int, group: int) -> None:
    head = state.heads[group]
    state.links[0, record] = _NONE
    state.links[1, record] = head
    if head >= 0:
        state.links[0, head] = record
    state.heads[group] = record
    state.sizes[group] += 1
    state.labels[record] = group


@njit(cache=True, nogil=True)
def _unlink(state: State, record: int) -> None:
    group = state.labels[record]
    before, after = state.links[0, record], state.links[1, record]
    if before >= 0:
        state.links[1, before] = after
    else:
        state.heads[group] = after
    if after >= 0:
        state.links[0, after] = before
    state.sizes[group] -= 1


@njit(cache=True, nogil=True)
def members_of(state: State, group: int) -> IntArray:
    """Return the records of a group."""
    members = np.empty(state.sizes[group], dtype=np.int64)
    record = state.heads[group]
    for i in range(len(members)):
        members[i] = record
        record = state.links[1, record]
    return members


@njit(cache=True, nogil=True)
def refresh(state: State, group: int) -> None:
    """Compute a group's centroid and SSE, and its records' distances to the centroid, from its records."""
    X, size = state.X, state.sizes[group]
    d = X.shape[1]
    center = state.centers[group]
    center[:] = 0.0
    state.sses[group] = 0.0
    if size == 0:
        return
    record = state.heads[group]
    while record >= 0:
        for j in range(d):
            center[j] += X[record, j]
        record = state.links[1, record]
    for j in range(d):
        center[j] /= size
    sse = 0.0
    record = state.heads[group]
    while record >= 0:
        state.own[record] = distance_to(state, record, group)
        sse += state.own[record]
        record = state.links[1, record]
    state.sses[group] = sse


@njit(cache=True, nogil=True)
def distance_to(state: State, record: int, group: int) -> float:
    """Return the squared distance of a record to the centroid of a group."""
    distance = 0.0
    for j in range(state.X.shape[1]):
        difference = state.X[record, j] - state.centers[group, j]
        distance += difference * difference
    return distance


@njit(cache=True, nogil=True)
def _empty_group(state: State) -> int:
    """Return an empty group; there is one if the records without a group are enough to form one."""
    hint = state.counts[_HINT]
    while state.sizes[hint] > 0:
        hint = hint + 1 if hint + 1 < len(state.sizes) else 0
    state.counts[_HINT] = hint
    return hint


# --- the queue -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def push(state: State, record: int) -> None:
    """Let a record be looked at (again)."""
    if state.queued[record]:
        return
    state.queued[record] = True
    n = len(state.queue)
    state.queue[(state.counts[_FIRST] + state.counts[_WAITING]) % n] = record
    state.counts[_WAITING] += 1


@njit(cache=True, nogil=True)
def push_group(state: State, group: int) -> None:
    """Let the records of a group be looked at (again)."""
    record = state.heads[group]
    while record >= 0:
        push(state, record)
        record = state.links[1, record]


@njit(cache=True, nogil=True)
def _pop(state: State) -> int:
    first = state.counts[_FIRST]
    record = state.queue[first]
    state.queued[record] = False
    state.counts[_FIRST] = first + 1 if first + 1 < len(state.queue) else 0
    state.counts[_WAITING] -= 1
    return record


@njit(cache=True, nogil=True)
def is_waiting(state: State) -> bool:
    """Return whether there are records to look at."""
    return state.counts[_WAITING] > 0


@njit(cache=True, nogil=True)
def forget_queue(state: State) -> None:
    """Let no record wait to be looked at."""
    while state.counts[_WAITING] > 0:
        _pop(state)


# --- transactions ----------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def begin(state: State) -> None:
    """Begin a change that may be undone."""
    state.counts[_TURN] += 1
    state.counts[_MOVES] = 0
    state.counts[_TOUCHED] = 0


@njit(cache=True, nogil=True)
def touch(state: State, group: int) -> None:
    """Remember a group as it was before the transaction."""
    if state.marks[1, group] == state.counts[_TURN]:
        return
    state.marks[1, group] = state.counts[_TURN]
    state.touched[state.counts[_TOUCHED]] = group
    state.before[state.counts[_TOUCHED]] = state.sses[group]
    state.counts[_TOUCHED] += 1


@njit(cache=True, nogil=True)
def move(state: State, record: int, group: int) -> None:
    """Move a record to a group; the two groups are to be refreshed afterwards."""
    old = state.labels[record]
    touch(state, old)
    touch(state, group)
    moves = state.counts[_MOVES]
    if moves < len(state.journal):  # what may have to be undone ends before, see :func:`is_long`
        state.journal[moves, 0] = record
        state.journal[moves, 1] = old
    state.counts[_MOVES] = moves + 1
    _unlink(state, record)
    _link(state, record, group)


@njit(cache=True, nogil=True)
def is_long(state: State) -> bool:
    """Return whether the transaction should end; a single move, or a cut, still has room in the journal."""
    return state.counts[_MOVES] > len(state.journal) // 2


@njit(cache=True, nogil=True)
def gain_of(state: State) -> tuple[float, float]:
    """Return by how much the SSE has fallen since the transaction began, and what is not more than rounding."""
    before = after = 0.0
    for i in range(state.counts[_TOUCHED]):
        before += state.before[i]
        after += state.sses[state.touched[i]]
    return before - after, LEAST_GAIN * before + state.least[0]


@njit(cache=True, nogil=True)
def undo(state: State) -> None:
    """Undo the moves of the transaction."""
    for i in range(state.counts[_MOVES] - 1, -1, -1):
        _unlink(state, state.journal[i, 0])
        _link(state, state.journal[i, 0], state.journal[i, 1])
    for i in range(state.counts[_TOUCHED]):
        refresh(state, state.touched[i])
    begin(state)


@njit(cache=True, nogil=True)
def push_touched(state: State) -> None:
    """Let the records of all groups of the transaction be looked at."""
    for i in range(state.counts[_TOUCHED]):
        push_group(state, state.touched[i])


# --- single moves ----------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _offer(state: State, record: int, group: int, groups: IntArray, distances: FloatArray, filled: int) -> int:
    """Enter a group among those nearest to a record, nearest first; return how many there are."""
    distance = distance_to(state, record, group)
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


@njit(cache=True, nogil=True)
def is_few(state: State) -> bool:
    """Return whether there are so few groups that all are tried."""
    return len(state.sizes) <= _FEW_GROUPS


@njit(cache=True, nogil=True)
def candidates(state: State, record: int, without: int, groups: IntArray, distances: FloatArray) -> int:
    """Find the groups that a record may go to, its own and ``without`` aside, nearest first; return how many.

    They are written into ``groups``, their squared distances into ``distances``; the arrays' length limits them.
    """
    state.counts[_MARK] += 1
    mark = state.counts[_MARK]
    marks = state.marks[0]
    marks[state.labels[record]] = mark
    if without >= 0:
        marks[without] = mark
    filled = 0
    if is_few(state):
        for group in range(len(state.sizes)):
            if state.sizes[group] > 0 and marks[group] != mark:
                filled = _offer(state, record, group, groups, distances, filled)
        return filled
    for other in state.neighbors[record]:
        group = state.labels[other]
        if marks[group] != mark:
            marks[group] = mark
            filled = _offer(state, record, group, groups, distances, filled)
    return filled


class Move(NamedTuple):
    """A move of a record x of group A.

    Attributes
    ----------
    gain : float
    group : int
        B, to which x goes; -1 for no move.
    partner : int
        The record y of B that leaves it, -1 if none does.
    target : int
        The group that y goes to.
    """

    gain: float
    group: int
    partner: int
    target: int


@njit(cache=True, nogil=True)
def _best_swap(state: State, x: int, group: int, distance: float, best: Move) -> Move:
    """Return the best exchange of ``x`` with a record of ``group``, at ``distance`` from it, or ``best``."""
    X, own = state.X, state.labels[x]
    center = state.centers[own]
    shares = 1.0 / state.sizes[own] + 1.0 / state.sizes[group]
    base = state.own[x] - distance
    y = state.heads[group]
    while y >= 0:
        to_own = between = 0.0
        for j in range(X.shape[1]):
            difference = X[y, j] - center[j]
            to_own += difference * difference
            difference = X[y, j] - X[x, j]
            between += difference * difference
        gain = base + state.own[y] - to_own + between * shares
        if gain > best.gain:
            best = Move(gain, group, y, own)
        y = state.links[1, y]
    return best


@njit(cache=True, nogil=True)
def _best_chain(
    state: State, x: int, freed: float, group: int, distance: float, groups: IntArray, distances: FloatArray, best: Move
) -> Move:
    """Return the best chain in which ``x`` leaves its group, which frees ``freed``, for ``group``, or ``best``."""
    X, own, size = state.X, state.labels[x], state.sizes[group]
    y = state.heads[group]
    while y >= 0:
        between = 0.0
        for j in range(X.shape[1]):
            difference = X[y, j] - X[x, j]
            between += difference * difference
        gain = freed - distance + state.own[y] + between / size
        if gain - state.elsewhere[y] > best.gain:
            count = candidates(state, y, own, groups, distances)
            for i in range(count):
                target = state.sizes[groups[i]]
                rest = gain - target / (target + 1) * distances[i]
                if rest > best.gain:
                    best = Move(rest, group, y, groups[i])
        y = state.links[1, y]
    return best


@njit(cache=True, nogil=True)
def best_move(state: State, x: int, k: int, scratch: IntArray, values: FloatArray) -> Move:
    """Return the best relocation, swap or chain that begins with record ``x``; of no gain, if there is none."""
    size = state.sizes[state.labels[x]]
    groups, distances = scratch[0], values[0]
    count = candidates(state, x, _NONE, groups, distances)
    best = Move(0.0, _NONE, _NONE, _NONE)
    freed = size / (size - 1) * state.own[x] if size > 1 else 0.0
    least = np.inf
    for i in range(count):
        other = state.sizes[groups[i]]
        growth = other / (other + 1) * distances[i]
        least = min(least, growth)
        if size > k and freed - growth > best.gain:
            best = Move(freed - growth, groups[i], _NONE, _NONE)
    state.elsewhere[x] = least
    for i in range(count):
        best = _best_swap(state, x, groups[i], distances[i], best)
    if size > k:
        for i in range(min(count, _CHAIN_WIDTH)):
            best = _best_chain(state, x, freed, groups[i], distances[i], scratch[1], values[1], best)
    return best


@njit(cache=True, nogil=True)
def _renew(state: State, group: int, k: int) -> None:
    """Take in that the records of a group have changed: cut it if it is too large, and look at its records again."""
    push_group(state, group)
    refresh(state, group)
    if state.sizes[group] >= 2 * k:
        cut_along_line(state, members_of(state, group), k)


@njit(cache=True, nogil=True)
def look_at(state: State, x: int, k: int, scratch: IntArray, values: FloatArray) -> bool:
    """Make the best move that begins with record ``x``, and tell whether there was one; touches the transaction."""
    best = best_move(state, x, k, scratch, values)
    if best.group < 0:
        return False
    own = state.labels[x]
    around = state.sses[own] + state.sses[best.group]
    if best.target >= 0 and best.target != own:
        around += state.sses[best.target]
    if best.gain <= LEAST_GAIN * around + state.least[0]:
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
    """Look at up to ``most`` records of the queue, until it is empty; return how many moves were made."""
    scratch = np.empty((2, _WIDTH), dtype=np.int64)
    values = np.empty((2, _WIDTH))
    moves = 0
    while state.counts[_WAITING] > 0 and most > 0:
        if look_at(state, _pop(state), k, scratch, values):
            moves += 1
        most -= 1
    return moves


# --- changes of whole groups -----------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def order_of(values: FloatArray) -> IntArray:
    """Return the positions of ``values``, shape (m,), in ascending order of these, ties by position.

    This is Shell's sort: numpy's takes longer to compile than the rest of its callers.
    """
    order = np.arange(len(values))
    gap = 1
    while gap < len(order):
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for i in range(gap, len(order)):
            moved = order[i]
            place = i
            while place >= gap:
                other = order[place - gap]
                if values[other] < values[moved] or (values[other] == values[moved] and other < moved):
                    break
                order[place] = other
                place -= gap
            order[place] = moved
    return order


@njit(cache=True, nogil=True)
def along_line(X: FloatArray) -> IntArray:
    """Return the records of ``X``, shape (m, d), by their places on the line of one of its longest distances.

    It runs from the record farthest from the centroid to the one farthest from that.
    """
    m, d = X.shape
    ends = np.zeros((2, d))
    for i in range(m):
        for j in range(d):
            ends[0, j] += X[i, j] / m
    for _ in range(2):
        farthest, most = 0, -1.0
        for i in range(m):
            distance = 0.0
            for j in range(d):
                difference = X[i, j] - ends[0, j]
                distance += difference * difference
            # By more than rounding, so that the first of equals wins.
            if distance > most * (1.0 + 1e-12):
                most = distance
                farthest = i
        ends[1] = ends[0]
        ends[0] = X[farthest]
    places = np.zeros(m)
    for i in range(m):
        for j in range(d):
            places[i] += (X[i, j] - ends[0, j]) * (ends[1, j] - ends[0, j])
    return order_of(places)


@njit(cache=True, nogil=True)
def _distinct(state: State, records: IntArray) -> IntArray:
    """Return the groups of ``records``, in order of first appearance."""
    state.counts[_MARK] += 1
    found = np.empty(len(records), dtype=np.int64)
    count = 0
    for record in records:
        group = state.labels[record]
        if state.marks[0, group] != state.counts[_MARK]:
            state.marks[0, group] = state.counts[_MARK]
            found[count] = group
            count += 1
    return found[:count].copy()


@njit(cache=True, nogil=True)
def regroup(state: State, records: IntArray, labels: IntArray) -> None:
    """Divide whole groups' ``records`` anew by ``labels``, 0, 1, …, each given to at least k of them, and refresh."""
    old = _distinct(state, records)
    slots = np.full(labels.max() + 1, _NONE)
    # The first new groups take the places of the old ones, so that few records move to an empty group.
    for i in range(min(len(old), len(slots))):
        slots[i] = old[i]
    for i in range(len(records)):
        group = slots[labels[i]]
        if group >= 0 and group != state.labels[records[i]]:
            move(state, records[i], group)
    for i in range(len(records)):
        if slots[labels[i]] < 0:
            slots[labels[i]] = _empty_group(state)
        if slots[labels[i]] != state.labels[records[i]]:
            move(state, records[i], slots[labels[i]])
    for group in old:
        refresh(state, group)
    for i in range(len(old), len(slots)):
        refresh(state, slots[i])


@njit(cache=True, nogil=True)
def rows_of(X: FloatArray, records: IntArray) -> FloatArray:
    """Return the rows ``records`` of ``X``."""
    rows = np.empty((len(records), X.shape[1]))
    for i in range(len(records)):
        rows[i] = X[records[i]]
    return rows


@njit(cache=True, nogil=True)
def cut_along_line(state: State, records: IntArray, k: int) -> None:
    """Put the ``records`` of whole groups in the order of a line through them, and cut it optimally into groups."""
    ordered = records[order_of(records)]
    rows = rows_of(state.X, ordered)
    regroup(state, ordered, split_path(rows, along_line(rows), k))


@njit(cache=True, nogil=True)
def repair(state: State, k: int, looks: int) -> bool:
    """Look at the records of all groups of the transaction, and on; tell whether ``looks`` were enough to settle it."""
    push_touched(state)
    while state.counts[_WAITING] > 0 and looks > 0 and not is_long(state):
        settle(state, k, 1)
        looks -= 1
        state.counts[_LOOKED] += 1
    return state.counts[_WAITING] == 0


@njit(cache=True, nogil=True)
def _keep_if_better(state: State, k: int, looks: int) -> bool:
    """Repair what the transaction has changed, undo it unless it gains, and tell whether it does."""
    gain, least = gain_of(state)
    if gain <= least and looks > 0:
        repair(state, k, looks)
        gain, least = gain_of(state)
    if gain > least:
        push_touched(state)
        settle(state, k, _LOOKS)
        return True
    forget_queue(state)
    undo(state)
    return False


@njit(cache=True, nogil=True)
def cut_anew(state: State, group: int, k: int, looks: int) -> bool:
    """Cut a group together with one near to it anew, if that lowers the SSE of some pair; tell whether it does."""
    groups, distances = np.empty(_CUT_WIDTH, dtype=np.int64), np.empty(_CUT_WIDTH)
    count = candidates(state, state.heads[group], _NONE, groups, distances)
    for i in range(count):
        records = np.concatenate((members_of(state, group), members_of(state, groups[i])))
        begin(state)
        cut_along_line(state, records, k)
        if _keep_if_better(state, k, looks):
            return True
    return False


@njit(cache=True, nogil=True)
def dissolve(state: State, group: int, k: int, looks: int) -> bool:
    """Let each record of a group join the group that grows least, if that lowers the SSE; tell whether it does."""
    begin(state)
    groups, distances = np.empty(_WIDTH, dtype=np.int64), np.empty(_WIDTH)
    members = members_of(state, group)
    for record in members[order_of(members)]:
        count = candidates(state, record, group, groups, distances)
        best, least = _NONE, np.inf
        for i in range(count):
            growth = state.sizes[groups[i]] / (state.sizes[groups[i]] + 1) * distances[i]
            if growth < least:
                best, least = groups[i], growth
        if best < 0:
            break
        move(state, record, best)
        refresh(state, best)
    refresh(state, group)
    if state.sizes[group] > 0:
        undo(state)
        return False
    for i in range(1, state.counts[_TOUCHED]):
        _renew(state, state.touched[i], k)
    return _keep_if_better(state, k, looks)


@njit(cache=True, nogil=True)
def change_groups(state: State, k: int, first: int, most: int, budget: int) -> tuple[int, int]:
    """Cut anew or dissolve up to ``most`` groups from ``first`` on; return where it ended and how often it gained.

    Each change is repaired before it is judged, until this has taken ``budget`` looks at records in all.
    """
    gained = 0
    last = min(first + most, len(state.sizes))
    for group in range(first, last):
        looks = min(_LOOKS, max(0, budget - state.counts[_LOOKED]))
        if state.sizes[group] > 0 and cut_anew(state, group, k, looks):
            gained += 1
        if state.sizes[group] > 0 and dissolve(state, group, k, looks):
            gained += 1
    return last, gained


# --- the whole search ------------------------------------------------------------------------------------------------


def about_mean(X: FloatArray) -> FloatArray:
    """Return ``X`` about its attributes' means, which far from the origin saves the digits that matter."""
    centered = X - X.mean(axis=0)
    # The mean of deviations from the mean takes up what rounding left of it.
    return np.ascontiguousarray(centered - centered.mean(axis=0))


@njit(cache=True, nogil=True)
def _cut_large(state: State, k: int) -> None:
    for group in range(len(state.sizes)):
        if state.sizes[group] >= 2 * k:
            begin(state)
            cut_along_line(state, members_of(state, group), k)


@njit(cache=True, nogil=True)
def _push_all(state: State) -> None:
    for record in range(len(state.labels)):
        push(state, record)


class Pace:
    """How much work to do until the next checkpoint, so that one comes every few tenths of a second."""

    def __init__(self, work: int) -> None:
        self.work = work
        self._since = time.perf_counter()

    def adapt(self) -> None:
        """Take in how long the last piece of work took."""
        now = time.perf_counter()
        took, self._since = now - self._since, now
        if took < _BREATH / 2:
            self.work *= 2
        elif took > _BREATH:
            self.work = max(1, self.work // 2)


def _settle_all(state: State, k: int) -> Iterator[None]:
    """Look at all records until none finds a move; what is done does not depend on where the checkpoints are."""
    pace = Pace(2_000)
    enough, moves = int(_FEW_MOVES * len(state.X)), len(state.X)
    while moves > enough:
        moves = 0
        _push_all(state)
        while is_waiting(state):
            begin(state)
            moves += settle(state, k, pace.work)
            pace.adapt()
            yield


def budget_for(n: int, k: int) -> int:
    """Return how many records may be looked at in all to repair changes of whole groups, among ``n`` records."""
    return min(_BUDGET * n, _MOST_BUDGET) // (k + 10)


def improving(state: State, k: int, budget: int) -> Iterator[tuple[str, float | None]]:
    """Improve a partition until (almost) none of the moves of this module lowers its SSE.

    Yield every few tenths of a second, where the state is that of a partition, what is being done and which share of it
    is done, where that is known. ``budget`` is that of :func:`change_groups`.
    """
    _cut_large(state, k)
    enough, gained = int(_FEW_MOVES * len(state.sizes)), len(state.sizes)
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
