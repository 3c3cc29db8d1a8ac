"""The state of a local search: groups whose records move, cuts of lines, and the moves, in readable Python.

The order of records, groups and sums is that of the compiled kernels (:mod:`microagg.kernels.local_search.state`,
:mod:`microagg.kernels.paths`), so that ties and rounding fall alike.

For a record x, groups A, B, C of a, b, c records, and squared distances d(x, A) to a group's centroid, a move is one of

- x goes from A to B, if a > k. Gain a / (a - 1) · d(x, A) - b / (b + 1) · d(x, B).
- x of A and y of B change places. Gain d(x, A) + d(y, B) - d(x, B) - d(y, A) + ‖x - y‖² · (1/a + 1/b).
- x goes from A to B and y from B to C, if a > k. Gain a / (a - 1) · d(x, A) - d(x, B) + d(y, B) + ‖x - y‖² / b -
  c / (c + 1) · d(y, C).

Only the groups B nearest to x are tried. Ties go to the first candidate.

Sources: the gains are Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013 and the exchange of Späth 1980.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from microagg.explain.run import distances_to, total
from microagg.validation import FloatArray

#: A change must lower the SSE of the groups that it touches by more than this share of it, which may be rounding ...
LEAST_GAIN = 1e-10
# ... and by more than this share of the greatest squared norm of a record, which rounding makes of an SSE of 0.
_LEAST_OF_NORM = 1e-28
# The neighbors of a record are its 2k nearest, within these limits.
_NEIGHBORS = (10, 48)


class Groups:
    """Groups of at least k records, of which records move to others.

    There is room for n // k groups, as many as there can be; some may be empty.
    """

    def __init__(self, X: FloatArray, labels: Sequence[int], k: int) -> None:
        n = len(X)
        deviations = X - X.mean(axis=0)
        self._about_mean = deviations - deviations.mean(axis=0)
        self.k = k
        # The records, about their mean: far from the origin this saves the digits that matter.
        self.rows: list[list[float]] = self._about_mean.tolist()
        # The squared distance of each two, and the nearest of each, nearest first.
        self.between: list[list[float]] = [distances_to(self._about_mean, row).tolist() for row in self.rows]
        min_neighbors, max_neighbors = _NEIGHBORS
        ranked = [np.argsort(distances, kind="stable").tolist() for distances in self.between]
        self.neighbors: list[list[int]] = [
            [neighbor for neighbor in nearest if neighbor != record][: min(max(2 * k, min_neighbors), max_neighbors)]
            for record, nearest in enumerate(ranked)
        ]
        # The group of each record, and the records of each group, those that came last first.
        self.labels = list(labels)
        self.members: list[list[int]] = [[] for _ in range(n // k)]
        for record, group in enumerate(labels):
            self.members[group].append(record)
        # The SSE of each group, and the squared distance of its centroid to each record, be it in the group or not.
        self.sses = [0.0] * (n // k)
        self.to_center: list[list[float]] = [[] for _ in range(n // k)]
        # The least by which another group's SSE would have grown by each record, when that was last examined.
        self.least_growth = [0.0] * n
        # What a move must gain at least, whatever its groups.
        self.least_gain = _LEAST_OF_NORM * max(total(value * value for value in row) for row in self.rows)
        # The records to examine, in the order of the keys; and the groups that the change has touched, in the order in
        # which it did, with their SSE before it.
        self.queue: dict[int, None] = {}
        self.touched: dict[int, float] = {}
        self._moves: list[tuple[int, int]] = []
        self._empty = 0
        for group in range(n // k):
            self.refresh(group)

    # ---- Groups ----------------------------------------------------------------------------------------------------

    @property
    def sse(self) -> float:
        """The SSE of all groups."""
        return total(self.sses)

    def size(self, group: int) -> int:
        """Number of records of a group."""
        return len(self.members[group])

    def growth(self, group: int, distance: float) -> float:
        """Growth of the SSE of a group by a record at a squared distance from its centroid."""
        size = len(self.members[group])
        return size / (size + 1) * distance

    def refresh(self, group: int) -> None:
        """Compute the distances to the centroid, and the SSE, of a group whose records have changed."""
        members = self.members[group]
        self.sses[group] = 0.0
        if members:
            columns = zip(*(self.rows[record] for record in members), strict=True)
            center = [total(column) / len(members) for column in columns]
            distances: list[float] = distances_to(self._about_mean, center).tolist()
            self.to_center[group] = distances
            self.sses[group] = total(distances[record] for record in members)

    def move(self, record: int, group: int) -> None:
        """Move a record to a group. Afterwards :meth:`refresh` both groups."""
        source = self.labels[record]
        for touched in (source, group):
            self.touched.setdefault(touched, self.sses[touched])
        self._moves.append((record, source))
        self._put(record, group)

    def _put(self, record: int, group: int) -> None:
        self.members[self.labels[record]].remove(record)
        self.members[group].insert(0, record)
        self.labels[record] = group

    def regroup(self, pieces: Sequence[Sequence[int]], records: Iterable[int]) -> None:
        """Make ``pieces`` of all ``records`` of some groups the new groups, and refresh them.

        The first pieces take the places of the old groups, in the order in which ``records`` come upon these.
        """
        listed = list(records)
        old_groups = list(dict.fromkeys(self.labels[record] for record in listed))
        piece_numbers = {record: number for number, piece in enumerate(pieces) for record in piece}
        new_groups = dict(enumerate(old_groups[: len(pieces)]))
        for record in listed:
            group = new_groups.get(piece_numbers[record])
            if group is not None and group != self.labels[record]:
                self.move(record, group)
        for record in listed:
            if piece_numbers[record] not in new_groups:
                while self.members[self._empty]:
                    self._empty = (self._empty + 1) % len(self.members)
                new_groups[piece_numbers[record]] = self._empty
            if new_groups[piece_numbers[record]] != self.labels[record]:
                self.move(record, new_groups[piece_numbers[record]])
        for group in {**dict.fromkeys(old_groups), **dict.fromkeys(new_groups.values())}:
            self.refresh(group)

    # ---- A change of several moves ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a change that may be undone."""
        self.touched, self._moves = {}, []

    def gain(self) -> tuple[float, float]:
        """Decrease of the SSE since :meth:`begin`, and the largest decrease that may be rounding."""
        before = total(self.touched.values())
        after = total(self.sses[group] for group in self.touched)
        return before - after, LEAST_GAIN * before + self.least_gain

    def undo(self) -> None:
        """Undo the change."""
        for record, group in reversed(self._moves):
            self._put(record, group)
        for group in self.touched:
            self.refresh(group)
        self.begin()

    # ---- The records to examine ------------------------------------------------------------------------------------

    def push(self, records: Iterable[int]) -> None:
        """Let records be examined (again), after those that are waiting."""
        for record in records:
            self.queue.setdefault(record)

    def push_touched(self) -> None:
        """Let the records of all groups that the change has touched be examined."""
        for group in self.touched:
            self.push(self.members[group])

    def pop(self) -> int:
        """Return the next record to examine, which waits no more."""
        record = next(iter(self.queue))
        del self.queue[record]
        return record


# --- records in the order of a line through them, and cut into groups -------------------------------------------------

Row = Sequence[float]
# Rounding: a later record must be farther by more than this share.
_ROUNDING = 1e-12


def along_line(rows: Sequence[Row]) -> list[int]:
    """Return the places of ``rows`` in the order of their projections on a line, ties by place.

    It runs from the record farthest from the centroid to the one farthest from that.
    """
    center = [total(value / len(rows) for value in column) for column in zip(*rows, strict=True)]
    start = _farthest(rows, center)
    end = _farthest(rows, start)
    along = [q - p for p, q in zip(end, start, strict=True)]

    def projection(row: Row) -> float:
        return total((value - p) * step for value, p, step in zip(row, end, along, strict=True))

    return sorted(range(len(rows)), key=lambda index: projection(rows[index]))


def _farthest(rows: Sequence[Row], point: Row) -> Row:
    farthest, largest = rows[0], -1.0
    for row in rows:
        distance = total((value - p) * (value - p) for value, p in zip(row, point, strict=True))
        if distance > largest * (1.0 + _ROUNDING):
            farthest, largest = row, distance
    return farthest


# --- the best move that begins with a record --------------------------------------------------------------------------

# Where there is room for at most this many groups, all of them are tried for each record; else those of its neighbors.
_FEW_GROUPS = 64
#: How many groups are tried for each record, and how many as the middle one of a chain.
WIDTH = 8
_CHAIN_WIDTH = 4

Near = list[tuple[float, int]]


class Move(NamedTuple):
    """A move of record x of group A, which lowers the SSE by the gain."""

    gain: float
    record: int  # x
    source: int  # A
    group: int  # B, to which x goes
    partner: int | None = None  # the record y of B that leaves it for x, if one does
    target: int | None = None  # the group that y goes to: A when they change places, a third group C in a chain

    @property
    def groups(self) -> list[int]:
        """A, B and, in a chain, C."""
        third = [] if self.target is None or self.target == self.source else [self.target]
        return [self.source, self.group, *third]


def candidates(groups: Groups, record: int, width: int, without: int | None = None) -> Near:
    """The ``width`` nearest groups to which a record may go, except its group and ``without``, nearest first.

    Each comes with the squared distance of the record to its centroid.
    """
    excluded = (groups.labels[record], without)
    if len(groups.members) <= _FEW_GROUPS:
        tried: Sequence[int] = [group for group, members in enumerate(groups.members) if members]
    else:
        tried = list(dict.fromkeys(groups.labels[neighbor] for neighbor in groups.neighbors[record]))
    near = [(groups.to_center[group][record], group) for group in tried if group not in excluded]
    return sorted(near, key=lambda pair: pair[0])[:width]


def best_move(groups: Groups, x: int) -> Move | None:
    """Best move that begins with record ``x``, or None if no move lowers the SSE beyond rounding."""
    source = groups.labels[x]
    size = groups.size(source)
    near = candidates(groups, x, WIDTH)
    growths = [groups.growth(group, distance) for distance, group in near]
    groups.least_growth[x] = min(growths, default=math.inf)
    freed = size / (size - 1) * groups.to_center[source][x] if size > 1 else 0.0
    best = Move(0.0, x, source, source)
    if size > groups.k:
        for (_, group), growth in zip(near, growths, strict=True):
            if freed - growth > best.gain:
                best = Move(freed - growth, x, source, group)
    for distance, group in near:
        for gain, y in _swaps(groups, x, group, distance):
            if gain > best.gain:
                best = Move(gain, x, source, group, y, source)
    if size > groups.k:
        for distance, group in near[:_CHAIN_WIDTH]:
            best = _best_chain(groups, freed, group, distance, best)
    around = total(groups.sses[group] for group in best.groups)
    return best if best.gain > LEAST_GAIN * around + groups.least_gain else None


def _swaps(groups: Groups, x: int, group: int, distance: float) -> Iterator[tuple[float, int]]:
    """Yield the gain of each exchange of ``x`` with a record of ``group``, at ``distance`` from it, and the record."""
    source = groups.labels[x]
    shares = 1.0 / groups.size(source) + 1.0 / groups.size(group)
    to_source, to_group, between = groups.to_center[source], groups.to_center[group], groups.between[x]
    base = to_source[x] - distance
    for y in groups.members[group]:
        yield base + to_group[y] - to_source[y] + between[y] * shares, y


def _best_chain(groups: Groups, freed: float, group: int, distance: float, best: Move) -> Move:
    """Best chain in which the record of ``best`` goes to ``group`` if it gains more, otherwise ``best``.

    ``freed`` is the decrease of the SSE of its group without it, ``distance`` its squared distance to ``group``.
    """
    x, source = best.record, best.source
    for y in groups.members[group]:
        gain = freed - distance + groups.to_center[group][y] + groups.between[x][y] / groups.size(group)
        # y costs its next group about what it did when it was last examined: most chains need not be looked at.
        if gain - groups.least_growth[y] > best.gain:
            for to_target, target in candidates(groups, y, WIDTH, source):
                chain_gain = gain - groups.growth(target, to_target)
                if chain_gain > best.gain:
                    best = Move(chain_gain, x, source, group, y, target)
    return best
