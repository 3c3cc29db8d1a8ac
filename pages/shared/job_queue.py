"""Long computations in threads, which can be watched and cancelled, and take turns at the processors.

At the checkpoints of :mod:`microagg.progress` a thread that has computed for a while lets a waiting one go first.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import MicroaggError
from microagg.progress import Cancelled, watched

SMALL = 30.0  # seconds: jobs that have computed for less go before the rest
QUANTUM = 0.25  # seconds that a thread computes before another one may go first
_THREADS = 10_000  # more than will ever be needed: most of them wait
_NICENESS = 10  # 0 is normal, 19 the lowest priority: pages and the browser stay quick

# Wakes all threads that wait for a processor or a job.
_CHANGED = threading.Condition()


class Processors:
    """Turns of the threads of jobs, of which at most ``n`` compute at a time, by default as many as there are processors."""

    def __init__(self, n: int | None = None) -> None:
        self.n = self.n_free = n or os.cpu_count() or 1
        self._waiting: list[Job] = []  # a job once for each of its threads that waits
        self._numbers = itertools.count(1)
        self._turn = threading.local()  # of this thread: when it began to compute
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="job", initializer=_lower_priority)
        self.urgent_threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="urgent job")

    def submit(self, job: Job, do: Callable[..., None], *arguments: Any) -> Future[None]:
        """Call ``do`` in a thread, which has the priority of pages if the job is urgent."""
        return (self.urgent_threads if job.urgent else self.threads).submit(do, *arguments)

    def acquire(self, job: Job) -> bool:
        """Wait until this thread may compute. Return False if the job is cancelled."""
        with _CHANGED:
            self._waiting.append(job)
            _CHANGED.wait_for(lambda: job.cancelled or (self.n_free > 0 and min(self._waiting, key=_rank) is job))
            self._waiting.remove(job)
            if not job.cancelled:
                self.n_free -= 1
                job.n_computing, job.last_turn = job.n_computing + 1, next(self._numbers)
                self._turn.began = time.monotonic()
            _CHANGED.notify_all()
            return not job.cancelled

    def release(self, job: Job) -> None:
        """End the turn of this thread, if it has one."""
        with _CHANGED:
            if began := getattr(self._turn, "began", None):
                self._turn.began = None
                self.n_free += 1
                job.n_computing -= 1
                job.seconds += time.monotonic() - began
                _CHANGED.notify_all()

    def yield_(self, job: Job) -> bool:
        """Let a waiting thread go first if it is its turn. Return whether to continue."""
        with _CHANGED:
            began = getattr(self._turn, "began", None)
            if began and time.monotonic() - began >= QUANTUM:
                self.release(job)
                return self.acquire(job)
            return not job.cancelled


def _rank(job: Job) -> tuple[bool, bool, int, int]:
    """Return what orders waiting jobs: those that have computed little first, then urgent ones, then equal shares."""
    return job.seconds >= SMALL and not job.urgent, not job.urgent, job.n_computing, job.last_turn


def _lower_priority() -> None:
    # On other systems it would concern the whole process.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@dataclass(eq=False)
class Job:
    """A long computation. Its threads write its fields, others read them."""

    identity: Any  # jobs of equal identities compute the same
    total: int  # number of steps
    done: int = 0  # number of steps done
    result: Any = None  # complete once ``complete`` is true
    urgent: bool = False  # it goes before other jobs
    message: str = "Waiting for a free processor …"  # its present state
    problem: str = ""  # the reason of a failure
    is_final: bool = False  # whether it fails again on the same choices
    cancelled: bool = field(default=False, init=False)
    future: Future[None] | None = None
    n_computing: int = 0  # threads that compute
    last_turn: int = 0  # order of its last turn among those of all jobs
    seconds: float = 0.0  # that its threads have computed
    _todo: list[Any] = field(default_factory=list, repr=False)
    _processors: Processors = field(init=False, repr=False)

    @property
    def running(self) -> bool:
        """Whether it has started and neither ended nor been cancelled. Cancelled threads run to a checkpoint."""
        return self.future is not None and not self.future.done() and not self.cancelled

    @property
    def complete(self) -> bool:
        return not self.running and not self.problem and self.done >= self.total

    def begin(self, processors: Processors, work: Callable[[Job], None]) -> None:
        """Call ``work`` with the job in a thread."""
        self._processors = processors
        self.future = processors.submit(self, self._run, work)
        self.future.add_done_callback(_notify)

    def cancel(self) -> None:
        """End it: waiting threads at once, computing ones at their next checkpoint."""
        self.cancelled = True
        _notify()

    def should_continue(self) -> bool:
        """Let others compute if it is their turn, and return whether to continue. For threads of the job."""
        return self._processors.yield_(self)

    def check(self) -> None:
        """Like :meth:`should_continue`, but raise Cancelled if the job is cancelled."""
        if not self.should_continue():
            raise Cancelled

    def prepare(self, do: Callable[..., None], *arguments: Any) -> None:
        """Call ``do`` with the priority of pages while others compute."""
        with self._paused():
            self._processors.urgent_threads.submit(do, *arguments).result()

    def step(self, message: str = "") -> None:
        """Count a step. In the message, ``{done}`` becomes the number of steps so far."""
        with _CHANGED:
            self.done += 1
            self.message = message.replace("{done}", str(self.done)) or self.message

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
            n_helpers = min(self._processors.n, len(self._todo))
            helpers = [self._processors.submit(self, self._help, do) for _ in range(n_helpers)]
            failures = [failure for helper in helpers if (failure := helper.exception()) is not None]
            for failure in sorted(failures, key=lambda failure: isinstance(failure, Cancelled)):
                raise failure

    def wait(self, seconds: float) -> None:
        """Wait until it ends or is cancelled, for at most ``seconds``."""
        with _CHANGED:
            _CHANGED.wait_for(lambda: not self.running, seconds)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Compute in a turn of this thread, or raise Cancelled."""
        try:
            if not self._processors.acquire(self):
                raise Cancelled
            yield
        finally:
            self._processors.release(self)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Let others compute in the turn of this thread meanwhile; raise Cancelled if the job is cancelled."""
        self._processors.release(self)
        yield
        if not self._processors.acquire(self):
            raise Cancelled

    def _help(self, do: Callable[[Any], None]) -> None:
        """Do one item after the other until none is left."""
        try:
            with self._computing():
                while True:
                    with _CHANGED:
                        if not self._todo:
                            return
                        item = self._todo.pop(0)
                    do(item)
                    self.check()
        except BaseException:
            with _CHANGED:
                self._todo.clear()
            raise

    def _run(self, work: Callable[[Job], None]) -> None:
        try:
            with self._computing():
                work(self)
        except Cancelled:
            pass
        except MicroaggError as error:
            self.problem, self.is_final = str(error), True
        except Exception as error:  # nothing else would show an error of this thread
            self.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."


def _notify(_future: Future[Any] | None = None) -> None:
    with _CHANGED:
        _CHANGED.notify_all()
