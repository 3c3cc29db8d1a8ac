"""Whose thread may compute: a few at a time, and every owner gets its turn, small work before large.

Pools of threads run what came first to its end, however long that takes. Here each piece of work has a thread of its
own, which takes a turn before it computes. At the checkpoints that long runs have anyway, see :mod:`microagg.progress`,
it passes its turn on if somebody waits who has had less.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

#: Work that has computed for less than this, in seconds, goes before all that has computed for longer.
SMALL = 30.0

#: How long a thread computes at least, in seconds, before it passes its turn on to work that is not smaller.
QUANTUM = 0.25

# How often a waiting thread looks whether it has been cancelled, in seconds.
_LOOKS = 0.1


@dataclass
class Work:
    """A piece of work, on one thread or several.

    Attributes
    ----------
    owner : hashable
        Whose it is; owners get equal shares of the time.
    seconds : float
        How long its threads have computed.
    urgent : bool
        Whether it counts as small however long it has computed, and goes before other small work of its owner.
    """

    owner: Hashable
    seconds: float = 0.0
    urgent: bool = False


class Turn:
    """One thread's right to compute; made by :meth:`Turns.turn`."""

    def __init__(self, work: Work, cancelled: Callable[[], bool]) -> None:
        self.work = work
        self.cancelled = cancelled
        self.granted = threading.Event()
        self.since = 0.0  # when it was granted; on the clock time.monotonic, as the next
        self.charged = 0.0  # until when what it has computed has been added up
        self.number = 0  # from when it first waits; of two that otherwise rank the same the earlier goes first


class Turns:
    """Lets at most ``most`` threads compute at a time, by default as many as there are processors.

    Of those that wait, work that has computed for less than ``small`` seconds comes first; then comes the owner whose
    threads have computed for the least time. An owner who had not been there counts as having had as little as any
    other, but no less: nobody makes up for the past.

    Parameters
    ----------
    most : int, optional
    small, quantum : float
        In seconds; see :data:`SMALL` and :data:`QUANTUM`.
    clock : callable
        Returns the seconds since some moment.
    """

    def __init__(
        self,
        most: int | None = None,
        *,
        small: float = SMALL,
        quantum: float = QUANTUM,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most or os.cpu_count() or 1
        self._small, self._quantum, self._clock = small, quantum, clock
        self._lock = threading.Lock()
        self._waiting: list[Turn] = []
        self._computing: list[Turn] = []
        self._had: dict[Hashable, float] = {}
        self._number = 0

    def turn(self, work: Work, cancelled: Callable[[], bool] = lambda: False) -> Turn:
        """Return a turn for one thread of ``work``, for it to take; once ``cancelled()`` is true it waits no longer."""
        return Turn(work, cancelled)

    def take(self, turn: Turn) -> bool:
        """Wait until the thread may compute; return False if it has been cancelled instead."""
        if not turn.granted.is_set():
            self._enqueue(turn)
            while not turn.granted.wait(_LOOKS):
                if turn.cancelled():
                    self.give(turn)
                    return False
        return True

    def give(self, turn: Turn) -> None:
        """Let others compute instead of the thread, which no longer waits either."""
        with self._lock:
            self._charge()
            for turns in (self._waiting, self._computing):
                if turn in turns:
                    turns.remove(turn)
            turn.granted.clear()
            self._grant()

    def pass_on(self, turn: Turn) -> bool:
        """Let another compute if one waits that has had less, and wait for the next turn then; return as :meth:`take`.

        A thread that has no turn goes on without one.
        """
        if self._is_awaited(turn):
            self.give(turn)
            return self.take(turn)
        return not turn.cancelled()

    def _enqueue(self, turn: Turn) -> None:
        with self._lock:
            self._charge()
            self._join(turn.work.owner)
            if not turn.number:  # what has begun ends before the next begins
                self._number += 1
                turn.number = self._number
            self._waiting.append(turn)
            self._grant()

    def _grant(self) -> None:
        """Let those that wait compute as long as there is room."""
        while self._waiting and len(self._computing) < self.most:
            first = min(self._waiting, key=self._rank)
            self._waiting.remove(first)
            self._computing.append(first)
            first.since = first.charged = self._clock()
            first.granted.set()

    def _is_awaited(self, turn: Turn) -> bool:
        with self._lock:
            if turn not in self._computing or not self._waiting:
                return False
            self._charge()
            first, own = min(map(self._rank, self._waiting)), self._rank(turn)
            if first[0] != own[0]:
                return first[0] < own[0]
            return first[1:3] < own[1:3] and self._clock() - turn.since >= self._quantum

    def _rank(self, turn: Turn) -> tuple[bool, float, bool, int]:
        work = turn.work
        large = work.seconds >= self._small and not work.urgent
        return large, self._had[work.owner], not work.urgent, turn.number

    def _charge(self) -> None:
        """Add up what has been computed since the last time."""
        now = self._clock()
        for turn in self._computing:
            turn.work.seconds += now - turn.charged
            self._had[turn.work.owner] += now - turn.charged
            turn.charged = now

    def _join(self, owner: Hashable) -> None:
        """See to it that ``owner`` counts as having had no less than all others that are there."""
        others = {turn.work.owner for turn in (*self._waiting, *self._computing)} - {owner}
        least = min((self._had[other] for other in others), default=0.0)
        # Whoever has gone is forgotten once it would count as the least anyway.
        kept = {own: had for own, had in self._had.items() if own in others or own == owner or (others and had > least)}
        self._had = kept | {owner: max(kept.get(owner, 0.0), least)}
