"""A partition under change: which records each group has, its centroid and SSE, and which records to examine again.

Records change groups by :func:`move`. Then the groups that they left and joined are to be refreshed: centroids and SSEs
are always computed anew from the groups' records, so no rounding errors pile up.

A change of several moves is a transaction: :func:`begin` it, make the moves, and :func:`undo` them if the SSE of the
groups that it touched has not fallen.

A queue holds the records whose groups have changed since these records were last examined, so the work of a search is
proportional to the changes (Bentley 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
from microagg.validation import FloatArray, IntArray

#: A change must lower the SSE of the groups that it touches by more than this share of it, or rounding could pass for
#: a gain ...
LEAST_GAIN = 1e-10

# ... and by more than this share of the greatest squared norm of a record. A group of equal records has an SSE of 0,
# but computed with a rounded centroid it may be (1e-16)² of their squared norm for each record.
_LEAST_OF_NORM = 1e-28

# Numbers of State that change are elements of ``counters``, because a field of a named tuple cannot be assigned to.
# Their positions:
_MARK = 0  # the last mark given out by new_mark
_EMPTY = 1  # where to begin looking for an empty group
_FIRST = 2  # the position in the queue of the record to examine next
_WAITING = 3  # the number of records in the queue
_MOVES = 4  # the number of moves in the transaction
_TOUCHED = 5  # the number of groups that the transaction has touched
_TRANSACTION = 6  # the number of the transaction
EXAMINED = 7  # the number of records examined to repair changes of whole groups
_COUNTERS = 8

#: No record, or no group.
NONE = -1


class State(NamedTuple):
    """A partition under change, with room for n // k groups, some of which may be empty; made by :func:`make_state`."""

    X: FloatArray  # shape (n, d): the records about their mean
    labels: IntArray  # shape (n,)
    neighbors: IntArray  # shape (n, m): the records nearest to each, itself aside
    centers: FloatArray  # shape (n // k, d): the groups' centroids
    sizes: IntArray  # shape (n // k,)
    sses: FloatArray  # shape (n // k,): the SSE within each group
    to_center: FloatArray  # shape (n,): the squared distance of each record to the centroid of its group
    reach: FloatArray  # shape (n // k,): the greatest of these in each group
    # shape (n,): the least by which the SSE of another group would have grown by each record, when the record was last
    # examined; 0 if it never was. It tells which chains are worth a look, for which an outdated value is good enough.
    least_growth: FloatArray
    heads: IntArray  # shape (n // k,): the first record of each group, -1 for an empty one
    links: IntArray  # shape (2, n): the record before and the one after each record in its group, -1 at the ends
    queue: IntArray  # shape (n,): the records to examine, in a ring
    queued: NDArray[np.bool_]  # shape (n,): whether each record is in the queue
    # shape (2, n // k): the last mark of :func:`new_mark` that each group got, and the last transaction to touch it
    marks: IntArray
    journal: IntArray  # shape (room, 2): the moves of the transaction: record and group that it left
    touched: IntArray  # shape (n // k,): the groups that the transaction has touched
    sses_before: FloatArray  # shape (n // k,): their SSEs when it began
    counters: IntArray  # shape (8,): the numbers listed above
    least_gain: FloatArray  # shape (1,): what a move must gain at least, whatever its groups


# ---- Groups ----------------------------------------------------------------------------------------------------------


def centered(X: FloatArray) -> FloatArray:
    """Return ``X``, shape (n, d), less its columns' means: far from the origin this saves the digits that matter."""
    deviations = X - X.mean(axis=0)
    # The mean of deviations from the mean takes up what rounding left of it.
    return np.ascontiguousarray(deviations - deviations.mean(axis=0))


@kernel
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
        np.zeros(room),
        np.zeros(n),
        np.full(room, NONE),
        np.full((2, n), NONE),
        np.empty(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros((2, room), dtype=np.int64),
        np.empty((2 * n + 4096, 2), dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room),
        np.zeros(_COUNTERS, dtype=np.int64),
        np.zeros(1),
    )
    greatest = 0.0
    for record in range(n - 1, -1, -1):
        _link(state, record, labels[record])
        norm = 0.0
        for j in range(d):
            norm += X[record, j] * X[record, j]
        greatest = max(greatest, norm)
    state.least_gain[0] = _LEAST_OF_NORM * greatest
    for group in range(room):
        refresh(state, group)
    return state


@borrows
def _link(state: State, record: int, group: int) -> None:
    head = state.heads[group]
    state.links[0, record] = NONE
    state.links[1, record] = head
    if head >= 0:
        state.links[0, head] = record
    state.heads[group] = record
    state.sizes[group] += 1
    state.labels[record] = group


@borrows
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


@kernel
def members_of(state: State, group: int) -> IntArray:
    """Return the records of a group."""
    members = np.empty(state.sizes[group], dtype=np.int64)
    record = state.heads[group]
    for i in range(len(members)):
        members[i] = record
        record = state.links[1, record]
    return members


@borrows
def refresh(state: State, group: int) -> None:
    """Compute a group's centroid and SSE, and its records' distances to the centroid, from its records."""
    X, size = state.X, state.sizes[group]
    d = X.shape[1]
    center = state.centers[group]
    center[:] = 0.0
    state.sses[group] = state.reach[group] = 0.0
    if size == 0:
        return
    record = state.heads[group]
    while record >= 0:
        for j in range(d):
            center[j] += X[record, j]
        record = state.links[1, record]
    for j in range(d):
        center[j] /= size
    sse = reach = 0.0
    record = state.heads[group]
    while record >= 0:
        distance = squared_distance_of_rows(X, record, state.centers, group)
        state.to_center[record] = distance
        sse += distance
        reach = max(reach, distance)
        record = state.links[1, record]
    state.sses[group], state.reach[group] = sse, reach


@borrows
def new_mark(state: State) -> int:
    """Return a number that no group is marked with yet in ``state.marks[0]``."""
    state.counters[_MARK] += 1
    return state.counters[_MARK]


@borrows
def _empty_group(state: State) -> int:
    """Return an empty group; there is one if the records without a group are enough to form one."""
    group = state.counters[_EMPTY]
    while state.sizes[group] > 0:
        group = group + 1 if group + 1 < len(state.sizes) else 0
    state.counters[_EMPTY] = group
    return group


# ---- The queue -------------------------------------------------------------------------------------------------------


@borrows
def push(state: State, record: int) -> None:
    """Let a record be examined (again)."""
    if state.queued[record]:
        return
    state.queued[record] = True
    n = len(state.queue)
    state.queue[(state.counters[_FIRST] + state.counters[_WAITING]) % n] = record
    state.counters[_WAITING] += 1


@borrows
def push_group(state: State, group: int) -> None:
    """Let the records of a group be examined (again)."""
    record = state.heads[group]
    while record >= 0:
        push(state, record)
        record = state.links[1, record]


@borrows
def pop(state: State) -> int:
    """Take the next record to examine out of the queue, and return it."""
    first = state.counters[_FIRST]
    record = state.queue[first]
    state.queued[record] = False
    state.counters[_FIRST] = first + 1 if first + 1 < len(state.queue) else 0
    state.counters[_WAITING] -= 1
    return record


@borrows
def is_waiting(state: State) -> bool:
    """Return whether there are records to examine."""
    return state.counters[_WAITING] > 0


@borrows
def clear_queue(state: State) -> None:
    """Empty the queue."""
    while is_waiting(state):
        pop(state)


# ---- Transactions ----------------------------------------------------------------------------------------------------


@borrows
def begin(state: State) -> None:
    """Begin a change that may be undone."""
    state.counters[_TRANSACTION] += 1
    state.counters[_MOVES] = 0
    state.counters[_TOUCHED] = 0


@borrows
def _touch(state: State, group: int) -> None:
    """Remember a group as it was before the transaction."""
    if state.marks[1, group] == state.counters[_TRANSACTION]:
        return
    state.marks[1, group] = state.counters[_TRANSACTION]
    state.touched[state.counters[_TOUCHED]] = group
    state.sses_before[state.counters[_TOUCHED]] = state.sses[group]
    state.counters[_TOUCHED] += 1


@kernel
def touched_groups(state: State) -> IntArray:
    """Return the groups that the transaction has touched, in the order in which it did; a view."""
    return state.touched[: state.counters[_TOUCHED]]


@borrows
def move(state: State, record: int, group: int) -> None:
    """Move a record to a group; the two groups are to be refreshed afterwards."""
    old = state.labels[record]
    _touch(state, old)
    _touch(state, group)
    moves = state.counters[_MOVES]
    if moves < len(state.journal):  # only a transaction that is never undone goes on for longer, see is_long
        state.journal[moves, 0] = record
        state.journal[moves, 1] = old
    state.counters[_MOVES] = moves + 1
    _unlink(state, record)
    _link(state, record, group)


@borrows
def is_long(state: State) -> bool:
    """Return whether the transaction should end; a single move, or a cut, still has room in the journal."""
    return state.counters[_MOVES] > len(state.journal) // 2


@borrows
def gain_of(state: State) -> tuple[float, float]:
    """Return by how much the SSE has fallen since the transaction began, and what may be no more than rounding."""
    before = after = 0.0
    for i in range(state.counters[_TOUCHED]):
        before += state.sses_before[i]
        after += state.sses[state.touched[i]]
    return before - after, LEAST_GAIN * before + state.least_gain[0]


@borrows
def undo(state: State) -> None:
    """Undo the moves of the transaction."""
    for i in range(state.counters[_MOVES] - 1, -1, -1):
        _unlink(state, state.journal[i, 0])
        _link(state, state.journal[i, 0], state.journal[i, 1])
    for i in range(state.counters[_TOUCHED]):
        refresh(state, state.touched[i])
    begin(state)


@borrows
def push_touched(state: State) -> None:
    """Let the records of all groups that the transaction has touched be examined."""
    for i in range(state.counters[_TOUCHED]):
        push_group(state, state.touched[i])


# ---- Dividing groups anew --------------------------------------------------------------------------------------------


@kernel
def _groups_of(state: State, records: IntArray) -> IntArray:
    """Return the groups of ``records``, in order of first appearance."""
    mark, marks = new_mark(state), state.marks[0]
    groups = np.empty(len(records), dtype=np.int64)
    count = 0
    for record in records:
        group = state.labels[record]
        if marks[group] != mark:
            marks[group] = mark
            groups[count] = group
            count += 1
    return groups[:count].copy()


@kernel
def regroup(state: State, records: IntArray, labels: IntArray) -> None:
    """Divide ``records``, all those of some groups, by ``labels``, 0, 1, …, each k times or more, and refresh."""
    old = _groups_of(state, records)
    new = np.full(labels.max() + 1, NONE)
    # The first new groups take the places of the old ones, so that few records move to an empty group.
    for i in range(min(len(old), len(new))):
        new[i] = old[i]
    for i in range(len(records)):
        group = new[labels[i]]
        if group >= 0 and group != state.labels[records[i]]:
            move(state, records[i], group)
    for i in range(len(records)):
        if new[labels[i]] < 0:
            new[labels[i]] = _empty_group(state)
        if new[labels[i]] != state.labels[records[i]]:
            move(state, records[i], new[labels[i]])
    for group in old:
        refresh(state, group)
    for i in range(len(old), len(new)):
        refresh(state, new[i])
