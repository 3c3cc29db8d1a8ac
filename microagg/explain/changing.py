"""Groups whose records move: what a local search keeps up, and how a change of several moves is undone.

Written to be read. The order of records, groups and sums is that of the compiled kernel
(:mod:`microagg.kernels.local_search.state`), so that ties and rounding fall alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from microagg.explain.run import total
from microagg.validation import FloatArray

#: A change must lower the SSE of the groups that it touches by more than this share of it, which may be rounding ...
LEAST_GAIN = 1e-10

# ... and by more than this share of the greatest squared norm of a record, which rounding makes of an SSE of 0.
_LEAST_OF_NORM = 1e-28

# The neighbors of a record are its 2k nearest, within these limits.
_NEIGHBORS = (10, 48)


def _distances(X: FloatArray, point: Sequence[float]) -> list[float]:
    """Return the squared distance of each record to a point."""
    squares = np.zeros(len(X))
    for column, coordinate in zip(X.T, point, strict=True):
        squares += np.square(column - coordinate)
    return squares.tolist()


class Groups:
    """Groups of at least k records, of which records move to others.

    There is room for n // k groups, as many as there can be; some may be empty.

    Attributes
    ----------
    k : int
    rows : list of list of float
        The records, about their mean: far from the origin this saves the digits that matter.
    between : list of list of float
        The squared distance of each two records.
    neighbors : list of list of int
        The records nearest to each record, nearest first: 2k of them, but at least 10 and at most 48.
    labels : list of int
        The group of each record.
    members : list of list of int
        The records of each group, those that came last first.
    sses : list of float
        The SSE of each group.
    to_center : list of list of float
        The squared distance of each group's centroid to each record, be it in the group or not.
    least_growth : list of float
        The least by which the SSE of another group would have grown by each record, when it was last examined.
    least_gain : float
        What a move must gain at least, whatever its groups.
    """

    def __init__(self, X: FloatArray, labels: Sequence[int], k: int) -> None:
        n = len(X)
        deviations = X - X.mean(axis=0)
        about_mean = deviations - deviations.mean(axis=0)
        self.k = k
        self.rows: list[list[float]] = about_mean.tolist()
        self.between = [_distances(about_mean, row) for row in self.rows]
        self.neighbors = [self._nearest(record) for record in range(n)]
        self.labels = list(labels)
        self.members: list[list[int]] = [[] for _ in range(n // k)]
        for record, group in enumerate(labels):
            self.members[group].append(record)
        self.sses = [0.0] * (n // k)
        self.to_center: list[list[float]] = [[] for _ in range(n // k)]
        self.least_growth = [0.0] * n
        self.least_gain = _LEAST_OF_NORM * max(total(value * value for value in row) for row in self.rows)
        self._about_mean = about_mean
        self._queue: dict[int, None] = {}  # in the order of its keys
        self._touched: dict[int, float] = {}
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
        """Return how many records a group has."""
        return len(self.members[group])

    def growth(self, group: int, distance: float) -> float:
        """Return by how much the SSE of a group grows by a record at a squared distance from its centroid."""
        size = len(self.members[group])
        return size / (size + 1) * distance

    def refresh(self, group: int) -> None:
        """Compute the distances to the centroid, and the SSE, of a group whose records have changed."""
        members = self.members[group]
        self.sses[group] = 0.0
        if members:
            columns = zip(*(self.rows[record] for record in members), strict=True)
            distances = _distances(self._about_mean, [total(column) / len(members) for column in columns])
            self.to_center[group] = distances
            self.sses[group] = total(distances[record] for record in members)

    def move(self, record: int, group: int) -> None:
        """Move a record to a group; both groups are to be refreshed afterwards."""
        old = self.labels[record]
        for touched in (old, group):
            self._touched.setdefault(touched, self.sses[touched])
        self._moves.append((record, old))
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
        old = list(dict.fromkeys(self.labels[record] for record in listed))
        piece_of = {record: place for place, piece in enumerate(pieces) for record in piece}
        new = dict(enumerate(old[: len(pieces)]))
        for record in listed:
            group = new.get(piece_of[record])
            if group is not None and group != self.labels[record]:
                self.move(record, group)
        for record in listed:
            if piece_of[record] not in new:
                new[piece_of[record]] = self._empty_group()
            if new[piece_of[record]] != self.labels[record]:
                self.move(record, new[piece_of[record]])
        for group in {**dict.fromkeys(old), **dict.fromkeys(new.values())}:
            self.refresh(group)

    def _empty_group(self) -> int:
        while self.members[self._empty]:
            self._empty = (self._empty + 1) % len(self.members)
        return self._empty

    def _nearest(self, record: int) -> list[int]:
        least, most = _NEIGHBORS
        ranked = np.argsort(self.between[record], kind="stable").tolist()
        return [other for other in ranked if other != record][: min(max(2 * self.k, least), most)]

    # ---- A change of several moves ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a change that may be undone."""
        self._touched, self._moves = {}, []

    @property
    def touched(self) -> list[int]:
        """The groups that the change has touched, in the order in which it did."""
        return list(self._touched)

    def gain(self) -> tuple[float, float]:
        """Return by how much the SSE has fallen since the change began, and what may be no more than rounding."""
        before = total(self._touched.values())
        after = total(self.sses[group] for group in self._touched)
        return before - after, LEAST_GAIN * before + self.least_gain

    def undo(self) -> None:
        """Undo the change."""
        for record, group in reversed(self._moves):
            self._put(record, group)
        for group in self._touched:
            self.refresh(group)
        self.begin()

    # ---- The records to examine ------------------------------------------------------------------------------------

    @property
    def is_waiting(self) -> bool:
        """Whether there are records to examine."""
        return bool(self._queue)

    def push(self, records: Iterable[int]) -> None:
        """Let records be examined (again), after those that are waiting."""
        for record in records:
            self._queue.setdefault(record)

    def push_touched(self) -> None:
        """Let the records of all groups that the change has touched be examined."""
        for group in self._touched:
            self.push(self.members[group])

    def pop(self) -> int:
        """Return the next record to examine, which waits no more."""
        record = next(iter(self._queue))
        del self._queue[record]
        return record

    def clear_queue(self) -> None:
        """Let no record wait."""
        self._queue.clear()
