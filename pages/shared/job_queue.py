"""Long computations in threads, which can be watched and cancelled, and share the processors fairly.

At the checkpoints of :mod:`microagg.progress` a thread lets a thread of an owner who has computed for less go first.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import MicroaggError
from microagg.progress import Cancelled, watched

SMALL = 30.0  # seconds: what has computed for less goes before the others
QUANTUM = 0.25  # minimum seconds that a thread computes before another one goes first
_THREADS = 10_000  # more than will ever be needed: most of them wait
_SPARE = 2  # further items of a job that start: they overtake long ones
_NICENESS = 10  # 0 is normal, 19 the lowest priority: pages and the browser stay quick

# Wakes all threads that wait for a processor, a job or a future.
_CHANGED = threading.Condition()


@dataclass(eq=False)
class Turn:
    """The place of a thread among those that compute or wait."""

    owner: Hashable  # owners get equal shares of the time
    urgent: bool = False  # it counts as small, and goes before others of its owner
    is_cancelled: Callable[[], bool] = lambda: False
    seconds: float = 0.0  # that it computed before
    computes: bool = False
    since: float = 0.0  # when it began to compute
    number: int = 0  # order of arrival, which breaks ties


class FairScheduler:
    """Threads for jobs, of which at most ``most`` compute at a time, by default as many as there are processors.

    Threads that have computed for less than ``small`` seconds go first, then those of the owner with the least time. A
    new owner starts with the least time of the others, so it gains nothing from coming late.
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
        self.turns: list[Turn] = []  # of all threads that compute or wait
        self._used: dict[Hashable, float] = {}  # seconds that the threads of each owner computed before
        self._numbers = itertools.count(1)
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="job", initializer=_lower_priority)
        self.urgent_threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="urgent job")

    def submit(self, urgent: bool, do: Callable[..., None], *arguments: Any) -> Future[None]:
        """Call ``do`` in a thread, which has the priority of pages if it is ``urgent``."""
        return (self.urgent_threads if urgent else self.threads).submit(do, *arguments)

    def acquire(self, turn: Turn) -> bool:
        """Wait until the thread may compute. Return False if it was cancelled instead."""
        with _CHANGED:
            if turn not in self.turns:
                self._enqueue(turn)
            _CHANGED.wait_for(lambda: turn.computes or turn.is_cancelled())
            if not turn.computes:
                self.turns.remove(turn)
            return turn.computes

    def release(self, turn: Turn) -> None:
        with _CHANGED:
            if turn.computes:
                seconds = self._running(turn)
                turn.seconds += seconds
                self._used[turn.owner] += seconds
                turn.computes = False
                self.turns.remove(turn)
                self._grant()

    def yield_(self, turn: Turn) -> bool:
        """Let a thread that has computed for less go first. Return whether to continue."""
        with _CHANGED:
            waiting = [each for each in self.turns if not each.computes]
            if turn.computes and waiting and self._running(turn) >= self._quantum:
                best_rank, rank = min(map(self._rank, waiting)), self._rank(turn)
                if best_rank[:3] < rank[:3]:
                    self.release(turn)
            return self.acquire(turn) and not turn.is_cancelled()

    def _enqueue(self, turn: Turn) -> None:
        others = {each.owner for each in self.turns} - {turn.owner}
        least = min(map(self._used_by, others), default=0.0)
        # A past owner is forgotten once its time is the least.
        used = {name: time for name, time in self._used.items() if name in others or (others and time > least)}
        used[turn.owner] = self._used.get(turn.owner, 0.0)
        used[turn.owner] += max(0.0, least - self._used_by(turn.owner, used))
        self._used = used
        turn.number = turn.number or next(self._numbers)  # what has started ends before the next starts
        self.turns.append(turn)
        self._grant()

    def _grant(self) -> None:
        """Start waiting threads while there is room."""
        waiting = sorted((turn for turn in self.turns if not turn.computes), key=self._rank)
        for turn in waiting[: self.most - (len(self.turns) - len(waiting))]:
            turn.computes, turn.since = True, self._clock()
        _CHANGED.notify_all()

    def _rank(self, turn: Turn) -> tuple[bool, float, bool, int]:
        is_large = turn.seconds + self._running(turn) >= self._small and not turn.urgent
        return is_large, self._used_by(turn.owner), not turn.urgent, turn.number

    def _running(self, turn: Turn) -> float:
        return self._clock() - turn.since if turn.computes else 0.0

    def _used_by(self, owner: Hashable, used: dict[Hashable, float] | None = None) -> float:
        before = (self._used if used is None else used).get(owner, 0.0)
        return before + sum(self._running(turn) for turn in self.turns if turn.owner == owner)


def _lower_priority() -> None:
    # On other systems it would concern the whole process.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _notify(_future: Future[Any] | None = None) -> None:
    with _CHANGED:
        _CHANGED.notify_all()


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
    _todo: list[Any] = field(default_factory=list, repr=False)
    _turns: dict[int, Turn] = field(default_factory=dict, repr=False)  # by the number of the thread
    _scheduler: FairScheduler = field(init=False, repr=False)
    _turn: Turn = field(init=False, repr=False)  # of the thread that began it

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
        self._scheduler, self._turn = scheduler, Turn(owner, urgent, lambda: self.cancelled)
        self.future = scheduler.submit(urgent, self._run, work)
        self.future.add_done_callback(_notify)

    def cancel(self) -> None:
        """End it: waiting threads at once, computing ones at their next checkpoint."""
        self.cancelled = True
        _notify()

    def should_continue(self) -> bool:
        """Let others compute if it is their turn, and return whether to continue. For threads of the job."""
        return self._scheduler.yield_(self._turns.get(threading.get_ident(), self._turn))

    def check(self) -> None:
        """Like :meth:`should_continue`, but raise Cancelled if the job is cancelled."""
        if not self.should_continue():
            raise Cancelled

    def until(self, future: Future[Any]) -> Any:
        """Wait for the result of ``future`` while others compute, or raise Cancelled."""
        future.add_done_callback(_notify)
        with self._paused(), _CHANGED:
            _CHANGED.wait_for(lambda: future.done() or self.cancelled)
        return future.result()

    def step(self, message: str = "") -> None:
        with _CHANGED:
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
        self._todo = list(items)
        with self._paused():
            n_helpers = min(self._scheduler.most + _SPARE, len(self._todo))
            helpers = [self._scheduler.submit(self._turn.urgent, self._help, do) for _ in range(n_helpers)]
            failures = [failure for helper in helpers if (failure := helper.exception()) is not None]
            for failure in sorted(failures, key=lambda failure: isinstance(failure, Cancelled)):
                raise failure

    def arrange(self, rank: Callable[[Any], Any]) -> None:
        """Sort the items of :meth:`do_all` that have not started by their rank."""
        with _CHANGED:
            self._todo.sort(key=rank)

    def wait(self, seconds: float) -> None:
        """Wait until it ends or is cancelled, for at most ``seconds``."""
        with _CHANGED:
            _CHANGED.wait_for(lambda: not self.running, seconds)

    @contextmanager
    def _computing(self, turn: Turn) -> Iterator[None]:
        """Compute in a turn, or raise Cancelled."""
        try:
            if not self._scheduler.acquire(turn):
                raise Cancelled
            yield
        finally:
            self._scheduler.release(turn)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Let others compute in the turn of this thread meanwhile; raise Cancelled if it is cancelled."""
        self._scheduler.release(self._turn)
        yield
        if self.cancelled or not self._scheduler.acquire(self._turn):
            raise Cancelled

    def _help(self, do: Callable[[Any], None]) -> None:
        """Do one item after the other until none is left."""
        try:
            while self._todo:
                # Each item is small at first, however long others of the job have taken.
                turn = Turn(self._turn.owner, self._turn.urgent, self._turn.is_cancelled)
                self._turns[threading.get_ident()] = turn
                with self._computing(turn):
                    with _CHANGED:
                        items, self._todo[:1] = self._todo[:1], []
                    for item in items:  # one, or none if others have taken the last
                        do(item)
        except BaseException:
            with _CHANGED:
                self._todo.clear()
            raise

    def _run(self, work: Callable[[Job], None]) -> None:
        try:
            with self._computing(self._turn):
                work(self)
        except Cancelled:
            pass
        except MicroaggError as error:
            self.problem = str(error)
        except Exception as error:  # nothing else would show an error of this thread
            self.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."
