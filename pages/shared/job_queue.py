"""Long work in other threads, which can be watched and cancelled, and takes its turn with that of others."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import MicroaggError
from microagg.progress import Cancelled, watched
from pages.shared.fair_scheduler import Turn, Turns, Work

# More threads than will ever be needed: most of them wait for their turn.
_THREADS = 10_000

# How many more items of a job are begun than can compute at a time: where some take long, others get by.
_SPARE = 2

# From 0, as all else, to 19, which gets what is left over: pages and the browser beside them stay quick.
_NICENESS = 10

# How often a job that waits looks whether it has been cancelled, in seconds.
_LOOKS = 0.1


class Desk:
    """Where jobs are begun: a thread for each, of which only a few compute at a time, see :class:`.Turns`."""

    def __init__(self, turns: Turns | None = None) -> None:
        self.turns = turns or Turns()
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="job", initializer=_let_others_first)

    def close(self) -> None:
        """Begin no more jobs, and wait until those that were begun have ended."""
        self.threads.shutdown()


def _let_others_first() -> None:
    """Have the system prefer other threads and processes to this thread and those that it begins, where it can."""
    # Elsewhere it would concern the whole process.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@dataclass(eq=False)
class Job:
    """Work under way. Its threads write, others read.

    Attributes
    ----------
    identity : hashable
        Equal identities do the same.
    total, done : int
        How many steps it has, and how many of them are done.
    made : any
        What it makes; it is whole once ``complete`` is true.
    message, problem : str
        What it does now, and why it failed.
    stop : threading.Event
        Set to cancel it.
    """

    identity: Hashable
    total: int
    done: int = 0
    made: Any = None
    message: str = "Waiting for a free processor …"
    problem: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _todo: list[Any] = field(default_factory=list, repr=False)
    _turns: dict[int, Turn] = field(default_factory=dict, repr=False)  # by the number of the thread
    _desk: Desk | None = field(default=None, repr=False)
    _work: Work = field(default_factory=lambda: Work(None), repr=False)

    @property
    def running(self) -> bool:
        """Whether it has been begun, and has neither ended nor been cancelled.

        What is computed when a job is cancelled may go on for a moment, until its next checkpoint.
        """
        return self.future is not None and not self.future.done() and not self.stop.is_set()

    @property
    def complete(self) -> bool:
        """Whether it has ended and done all it was to do."""
        return not self.running and not self.problem and self.done >= self.total

    def begin(
        self,
        desk: Desk,
        work: Callable[[Job], None],
        owner: Hashable = None,
        *,
        urgent: bool = False,
    ) -> None:
        """Have a thread do ``work``, which is called with the job; what goes wrong becomes its problem.

        It takes turns with the jobs of other owners at the same desk; ``urgent`` work goes before others of its owner.
        """
        self._desk, self._work = desk, Work(owner, urgent=urgent)
        self.future = desk.threads.submit(self._guarded, work)

    def goes_on(self) -> bool:
        """Let others have their turn, and return whether the work is to go on; called from its threads now and then."""
        if self._desk is None:
            return not self.stop.is_set()
        turn = self._turns.get(threading.get_ident()) or self._turns[0]
        return self._desk.turns.pass_on(turn)

    def check(self) -> None:
        """Let others have their turn, and end the work if it has been cancelled; called from its threads."""
        if not self.goes_on():
            raise Cancelled

    def until(self, other: Future[Any]) -> Any:
        """Return what ``other`` results in, letting others compute meanwhile; called from the job's own thread.

        If the job is cancelled it ends at once, whatever becomes of ``other``.
        """
        if self._desk is not None:
            self._desk.turns.give(self._turns[0])
        while not wait([other], _LOOKS).done:
            if self.stop.is_set():
                raise Cancelled
        if self._desk is not None and not self._desk.turns.take(self._turns[0]):
            raise Cancelled
        return other.result()

    def step(self, message: str = "") -> None:
        """Say that one more step is done; called from its threads."""
        with self._lock:
            self.done += 1
            self.message = message or self.message

    def watch(self, says: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` makes; how far it is goes into the message, after what the job ``says`` that it does.

        Called from its thread. All steps are done only when the caller says so: see :mod:`microagg.progress`.
        """
        self.message = f"{says} …"

        def watcher(message: str, share: float | None) -> bool:
            self.done = min(int(self.total * (share or 0)), self.total - 1)
            self.message = f"{says}: {message}"
            return self.goes_on()

        with watched(watcher):
            return make()

    def do_all(self, items: Iterable[Any], do: Callable[[Any], None]) -> None:
        """Call ``do`` with each of ``items``, the first first, several side by side; each is a turn by itself.

        Called from the job's thread, which waits meanwhile; if one fails no further one is begun.
        """
        assert self._desk is not None, "the job has not been begun"
        with self._lock:
            self._todo = list(items)
        self._desk.turns.give(self._turns[0])
        most = min(self._desk.turns.most + _SPARE, len(self._todo))
        helpers = [self._desk.threads.submit(self._help, do) for _ in range(most)]
        failures = [helper.exception() for helper in helpers]
        for failure in failures:
            if failure is not None and not isinstance(failure, Cancelled):
                raise failure
        if any(failures) or self.stop.is_set() or not self._desk.turns.take(self._turns[0]):
            raise Cancelled

    def arrange(self, rank: Callable[[Any], Any]) -> None:
        """Sort the items of :meth:`do_all` that have not been begun by their rank, the least first."""
        with self._lock:
            self._todo.sort(key=rank)

    def wait(self, seconds: float) -> None:
        """Wait until it ends, but no longer than ``seconds``."""
        # In small steps: a thread that waits can be interrupted only between them.
        deadline = time.monotonic() + seconds
        while self.running and time.monotonic() < deadline:
            time.sleep(0.02)

    def _help(self, do: Callable[[Any], None]) -> None:
        """Do one item after the other, each in a turn of its own, until there is none left."""
        assert self._desk is not None
        turns, number = self._desk.turns, threading.get_ident()
        try:
            while self._todo and not self.stop.is_set():
                # As work by itself an item is small at first, however long others of this job have taken.
                turn = self._turns[number] = turns.turn(
                    Work(self._work.owner, urgent=self._work.urgent), self.stop.is_set
                )
                try:
                    if turns.take(turn):
                        self._do_next(do)
                finally:
                    turns.give(turn)
                    del self._turns[number]
        except BaseException:
            with self._lock:
                self._todo.clear()
            raise

    def _do_next(self, do: Callable[[Any], None]) -> None:
        with self._lock:
            items = [self._todo.pop(0)] if self._todo else []
        for item in items:
            do(item)

    def _guarded(self, work: Callable[[Job], None]) -> None:
        assert self._desk is not None
        turns = self._desk.turns
        self._turns[0] = turn = turns.turn(self._work, self.stop.is_set)
        try:
            if turns.take(turn):
                work(self)
        except Cancelled:
            pass
        except MicroaggError as error:
            self.problem = str(error)
        except Exception as error:  # nothing else would show an error of this thread
            self.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."
        finally:
            turns.give(turn)
