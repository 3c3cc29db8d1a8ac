"""A scheduler that divides the processors fairly among the owners of tasks; small tasks go before large ones.

A pool of threads runs what came first to its end, however long that takes. Here each task has threads of its own, of
which a few compute at a time. A thread acquires its slot before it computes, releases it afterwards, and yields it in
between, at the checkpoints that long runs have anyway (:mod:`microagg.progress`), to a task that has computed for less.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

#: A task that has computed for less than this, in seconds, goes before all that have computed for longer.
SMALL = 30.0

#: How long a thread computes at least, in seconds, before it yields to a task that is not smaller.
QUANTUM = 0.25


@dataclass
class Task:
    """What one thread or several compute.

    Attributes
    ----------
    owner : hashable
        Owners get equal shares of the time.
    seconds : float
        How long its threads have computed.
    urgent : bool
        Whether it counts as small however long it has computed, and goes before other small tasks of its owner.
    """

    owner: Hashable
    seconds: float = 0.0
    urgent: bool = False


class Slot:
    """One thread's place in the scheduler; made by :meth:`FairScheduler.slot`."""

    def __init__(self, task: Task, cancelled: Callable[[], bool], lock: threading.Lock) -> None:
        self.task = task
        self.cancelled = cancelled
        self.changed = threading.Condition(lock)  # wakes the thread: it may compute, or has been cancelled
        self.granted = False
        self.since = 0.0  # when it was granted; on the clock time.monotonic, as the next
        self.charged = 0.0  # until when what it has computed has been added up
        self.number = 0  # from when it first waits; of two that otherwise rank the same the earlier goes first


class FairScheduler:
    """Lets at most ``most`` threads compute at a time, by default as many as there are processors.

    Of those that wait, tasks that have computed for less than ``small`` seconds come first; then comes the owner whose
    threads have computed for the least time. A new owner counts as having computed for as long as the owner that is
    there with the least time: the time before it came gives it no advantage.

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
        self._waiting: list[Slot] = []
        self._computing: list[Slot] = []
        self._used: dict[Hashable, float] = {}  # seconds that the threads of each owner have computed
        self._number = 0

    def slot(self, task: Task, cancelled: Callable[[], bool] = lambda: False) -> Slot:
        """Return a slot for one thread of ``task``; once ``cancelled()`` is true, :meth:`wake` ends its waiting."""
        return Slot(task, cancelled, self._lock)

    def acquire(self, slot: Slot) -> bool:
        """Wait until the thread may compute; return False if it has been cancelled instead."""
        with self._lock:
            if not slot.granted:
                self._enqueue(slot)
                slot.changed.wait_for(lambda: slot.granted or slot.cancelled())
            if not slot.granted:
                self._waiting.remove(slot)
            return slot.granted

    def release(self, slot: Slot) -> None:
        """Let others compute instead of the thread."""
        with self._lock:
            self._charge()
            if slot in self._computing:
                self._computing.remove(slot)
            slot.granted = False
            self._grant()

    def yield_(self, slot: Slot) -> bool:
        """Let a task that has computed for less go first, if one waits; return as :meth:`acquire`.

        A thread without a granted slot goes on without one.
        """
        if self._should_yield(slot):
            self.release(slot)
            return self.acquire(slot)
        return not slot.cancelled()

    def wake(self, slot: Slot) -> None:
        """Have the thread, if it waits, look whether it has been cancelled."""
        with self._lock:
            slot.changed.notify_all()

    def _enqueue(self, slot: Slot) -> None:
        self._charge()
        self._admit(slot.task.owner)
        if not slot.number:  # a task that has begun ends before the next begins
            self._number += 1
            slot.number = self._number
        self._waiting.append(slot)
        self._grant()

    def _grant(self) -> None:
        """Let those that wait compute as long as there is room."""
        while self._waiting and len(self._computing) < self.most:
            first = min(self._waiting, key=self._rank)
            self._waiting.remove(first)
            self._computing.append(first)
            first.since = first.charged = self._clock()
            first.granted = True
            first.changed.notify_all()

    def _should_yield(self, slot: Slot) -> bool:
        with self._lock:
            if slot not in self._computing or not self._waiting:
                return False
            self._charge()
            first, own = min(map(self._rank, self._waiting)), self._rank(slot)
            if first[0] != own[0]:
                return first[0] < own[0]
            return first[1:3] < own[1:3] and self._clock() - slot.since >= self._quantum

    def _rank(self, slot: Slot) -> tuple[bool, float, bool, int]:
        task = slot.task
        large = task.seconds >= self._small and not task.urgent
        return large, self._used[task.owner], not task.urgent, slot.number

    def _charge(self) -> None:
        """Add up what has been computed since the last time."""
        now = self._clock()
        for slot in self._computing:
            slot.task.seconds += now - slot.charged
            self._used[slot.task.owner] += now - slot.charged
            slot.charged = now

    def _admit(self, owner: Hashable) -> None:
        """Count ``owner`` as having used no less than the least of all others that are there."""
        others = {slot.task.owner for slot in (*self._waiting, *self._computing)} - {owner}
        least = min((self._used[other] for other in others), default=0.0)
        # An owner that has gone is forgotten once it would count as the least anyway.
        kept = {
            own: used for own, used in self._used.items() if own in others or own == owner or (others and used > least)
        }
        self._used = kept | {owner: max(kept.get(owner, 0.0), least)}
