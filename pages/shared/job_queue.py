"""Long computations in threads, which can be watched and cancelled, and share the processors fairly.

At the checkpoints of :mod:`microagg.progress` a thread yields its slot to a task that has computed for less.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import MicroaggError
from microagg.progress import Cancelled, watched

SMALL = 30.0  # seconds: a task that has computed for less goes before the others
QUANTUM = 0.25  # minimum seconds that a thread computes before it yields to a task that is not smaller
_THREADS = 10_000  # more than will ever be needed: most of them wait for their slot
_NICENESS = 10  # 0 is normal, 19 the lowest priority: pages and the browser stay quick


@dataclass
class Task:
    owner: Hashable  # owners get equal shares of the time
    seconds: float = 0.0  # that its threads have computed
    urgent: bool = False  # it counts as small, and goes before others of its owner


@dataclass(eq=False)
class Slot:
    """The place of a thread in the scheduler, created by :meth:`FairScheduler.slot`."""

    task: Task
    cancelled: Callable[[], bool]
    changed: threading.Condition  # wakes the thread: it may compute, or has been cancelled
    granted: bool = False
    since: float = 0.0  # when it was granted; on the clock time.monotonic, as the next
    charged: float = 0.0  # until when its time is added up
    number: int = 0  # order of arrival, which breaks ties

    def wake(self) -> None:
        """Make the waiting thread check whether it is cancelled."""
        with self.changed:
            self.changed.notify_all()


class FairScheduler:
    """Threads for jobs, of which at most ``most`` compute at a time, by default as many as there are processors.

    Tasks that have computed for less than ``small`` seconds go first, then the owner with the least time. A new owner
    starts with the least time of the others, so it gains nothing from coming late. Seconds are those of ``clock``.
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
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="job", initializer=_lower_priority)

    def slot(self, task: Task, cancelled: Callable[[], bool] = lambda: False) -> Slot:
        """Create a slot for one thread of ``task``. Once ``cancelled()`` is true, :meth:`Slot.wake` ends its waiting."""
        return Slot(task, cancelled, threading.Condition(self._lock))

    def acquire(self, slot: Slot) -> bool:
        """Wait until the thread may compute. Return False if it was cancelled instead."""
        with self._lock:
            if not slot.granted:
                self._enqueue(slot)
                slot.changed.wait_for(lambda: slot.granted or slot.cancelled())
            if not slot.granted:
                self._waiting.remove(slot)
            return slot.granted

    def release(self, slot: Slot) -> None:
        with self._lock:
            self._charge()
            if slot in self._computing:
                self._computing.remove(slot)
            slot.granted = False
            self._grant()

    def yield_(self, slot: Slot) -> bool:
        """Let a waiting task that has computed for less go first. Return the same as :meth:`acquire`."""
        if self._should_yield(slot):
            self.release(slot)
            return self.acquire(slot)
        return not slot.cancelled()

    def _enqueue(self, slot: Slot) -> None:
        self._charge()
        self._admit(slot.task.owner)
        if not slot.number:  # a started task ends before the next starts
            self._number += 1
            slot.number = self._number
        self._waiting.append(slot)
        self._grant()

    def _grant(self) -> None:
        """Start waiting threads while there is room."""
        while self._waiting and len(self._computing) < self.most:
            slot = min(self._waiting, key=self._rank)
            self._waiting.remove(slot)
            self._computing.append(slot)
            slot.since = self._clock()
            slot.charged = slot.since
            slot.granted = True
            slot.changed.notify_all()

    def _should_yield(self, slot: Slot) -> bool:
        with self._lock:
            if slot not in self._computing or not self._waiting:
                return False
            self._charge()
            best_rank, rank = min(map(self._rank, self._waiting)), self._rank(slot)
            if best_rank[0] != rank[0]:
                return best_rank[0] < rank[0]
            return best_rank[1:3] < rank[1:3] and self._clock() - slot.since >= self._quantum

    def _rank(self, slot: Slot) -> tuple[bool, float, bool, int]:
        task = slot.task
        large = task.seconds >= self._small and not task.urgent
        return large, self._used[task.owner], not task.urgent, slot.number

    def _charge(self) -> None:
        """Add up the time since the last call."""
        now = self._clock()
        for slot in self._computing:
            slot.task.seconds += now - slot.charged
            self._used[slot.task.owner] += now - slot.charged
            slot.charged = now

    def _admit(self, owner: Hashable) -> None:
        """Count ``owner`` as having used at least the least time of the others."""
        present = {slot.task.owner for slot in (*self._waiting, *self._computing)} - {owner}
        minimum = min((self._used[name] for name in present), default=0.0)
        # A past owner is forgotten once its time is the minimum.
        others_used = {
            each: used
            for each, used in self._used.items()
            if each in present or each == owner or (present and used > minimum)
        }
        self._used = others_used | {owner: max(others_used.get(owner, 0.0), minimum)}


# --- jobs ---------------------------------------------------------------------------------------------------------------

_SPARE = 2  # further items of a job that start: they overtake long ones


def _lower_priority() -> None:
    # On other systems it would concern the whole process.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@dataclass(eq=False)
class Job:
    """A long computation. Its threads write its fields, others read them."""

    identity: Hashable  # jobs of equal identities compute the same
    total: int  # number of steps
    done: int = 0  # number of steps done
    result: Any = None  # complete once ``complete`` is true
    message: str = "Waiting for a free processor …"  # its present state
    problem: str = ""  # the reason of a failure
    cancelled: bool = field(default=False, init=False)
    future: Future[None] | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)
    _todo: list[Any] = field(default_factory=list, repr=False)
    _slots: dict[int, Slot] = field(default_factory=dict, repr=False)  # by the number of the thread
    _scheduler: FairScheduler | None = field(default=None, repr=False)
    _task: Task = field(default_factory=lambda: Task(None), repr=False)

    @property
    def running(self) -> bool:
        """Whether it has started and neither ended nor been cancelled. Cancelled threads run to a checkpoint."""
        return self.future is not None and not self.future.done() and not self.cancelled

    @property
    def complete(self) -> bool:
        return not self.running and not self.problem and self.done >= self.total

    def begin(
        self, scheduler: FairScheduler, work: Callable[[Job], None], owner: Hashable = None, *, urgent: bool = False
    ) -> None:
        """Call ``work`` with the job in a thread, before other jobs of the owner if it is ``urgent``."""
        self._scheduler, self._task = scheduler, Task(owner, urgent=urgent)
        self.future = scheduler.threads.submit(self._run, scheduler, work)
        self.future.add_done_callback(self._notify)

    def cancel(self) -> None:
        """End it: waiting threads at once, computing ones at their next checkpoint."""
        with self._changed:
            self.cancelled = True
            self._changed.notify_all()
            slots = list(self._slots.values())
        for slot in slots:
            slot.wake()

    def should_continue(self) -> bool:
        """Let others compute if it is their turn, and return whether to continue. For threads of the job."""
        if self._scheduler is None:
            return not self.cancelled
        slot = self._slots.get(threading.get_ident()) or self._slots[0]
        return self._scheduler.yield_(slot)

    def check(self) -> None:
        """Like :meth:`should_continue`, but raise Cancelled if the job is cancelled."""
        if not self.should_continue():
            raise Cancelled

    def until(self, future: Future[Any]) -> Any:
        """Wait for the result of ``future`` while others compute, or raise Cancelled."""
        if self._scheduler is not None:
            self._scheduler.release(self._slots[0])
        future.add_done_callback(self._notify)
        with self._changed:
            self._changed.wait_for(lambda: future.done() or self.cancelled)
        if self.cancelled or (self._scheduler is not None and not self._scheduler.acquire(self._slots[0])):
            raise Cancelled
        return future.result()

    def step(self, message: str = "") -> None:
        with self._changed:
            self.done += 1
            self.message = message or self.message

    def watch(self, title: str, make: Callable[[], Any]) -> Any:
        """Return ``make()``, with its progress in the message after ``title``. The caller does the last step."""
        self.message = f"{title} …"

        def watcher(message: str, share: float | None) -> bool:
            self.done = min(int(self.total * (share or 0)), self.total - 1)
            self.message = f"{title}: {message}"
            return self.should_continue()

        with watched(watcher):
            return make()

    def do_all(self, items: Iterable[Any], do: Callable[[Any], None]) -> None:
        """Call ``do`` with each of ``items`` in order, several at a time, until a failure."""
        scheduler = self._scheduler
        assert scheduler is not None, "the job has not started"
        with self._changed:
            self._todo = list(items)
        scheduler.release(self._slots[0])
        n_helpers = min(scheduler.most + _SPARE, len(self._todo))
        helpers = [scheduler.threads.submit(self._help, scheduler, do) for _ in range(n_helpers)]
        failures = [helper.exception() for helper in helpers]
        for failure in failures:
            if failure is not None and not isinstance(failure, Cancelled):
                raise failure
        if any(failures) or self.cancelled or not scheduler.acquire(self._slots[0]):
            raise Cancelled

    def arrange(self, rank: Callable[[Any], Any]) -> None:
        """Sort the items of :meth:`do_all` that have not started by their rank."""
        with self._changed:
            self._todo.sort(key=rank)

    def wait(self, seconds: float) -> None:
        """Wait until it ends or is cancelled, for at most ``seconds``."""
        with self._changed:
            self._changed.wait_for(lambda: not self.running, seconds)

    def _notify(self, _future: Future[Any]) -> None:
        with self._changed:
            self._changed.notify_all()

    def _help(self, scheduler: FairScheduler, do: Callable[[Any], None]) -> None:
        """Do one item after the other, each in a new slot, until none is left."""
        number = threading.get_ident()
        try:
            while self._todo and not self.cancelled:
                # Each item is a task, small at first, however long others of the job have taken.
                slot = scheduler.slot(Task(self._task.owner, urgent=self._task.urgent), lambda: self.cancelled)
                with self._changed:
                    self._slots[number] = slot
                try:
                    if scheduler.acquire(slot):
                        with self._changed:
                            items, self._todo[:1] = self._todo[:1], []
                        for item in items:  # one, or none if others have taken the last
                            do(item)
                finally:
                    scheduler.release(slot)
                    with self._changed:
                        del self._slots[number]
        except BaseException:
            with self._changed:
                self._todo.clear()
            raise

    def _run(self, scheduler: FairScheduler, work: Callable[[Job], None]) -> None:
        slot = scheduler.slot(self._task, lambda: self.cancelled)
        with self._changed:
            self._slots[0] = slot
        try:
            if scheduler.acquire(slot):
                work(self)
        except Cancelled:
            pass
        except MicroaggError as error:
            self.problem = str(error)
        except Exception as error:  # nothing else would show an error of this thread
            self.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."
        finally:
            scheduler.release(slot)
