"""Long work in another thread, which can be watched and cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import MicroaggError
from microagg.progress import Cancelled, watched


@dataclass
class Job:
    """Work under way. Its thread writes, others read.

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

    @property
    def running(self) -> bool:
        """Whether it has been begun and has not ended yet."""
        return self.future is not None and not self.future.done()

    @property
    def complete(self) -> bool:
        """Whether it has ended and done all it was to do."""
        return not self.running and not self.problem and self.done >= self.total

    def begin(self, pool: Executor, work: Callable[[Job], None]) -> None:
        """Have a thread of ``pool`` do ``work``, which is called with the job; what goes wrong becomes its problem."""
        self.future = pool.submit(_guarded, work, self)

    def check(self) -> None:
        """End the work if it has been cancelled; called from its thread."""
        if self.stop.is_set():
            raise Cancelled

    def watch(self, says: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` makes; how far it is goes into the message, after what the job ``says`` that it does.

        Called from its thread. All steps are done only when the caller says so: see :mod:`microagg.progress`.
        """
        self.message = f"{says} …"

        def watcher(message: str, share: float | None) -> bool:
            self.done = min(int(self.total * (share or 0)), self.total - 1)
            self.message = f"{says}: {message}"
            return not self.stop.is_set()

        with watched(watcher):
            return make()

    def wait(self, seconds: float) -> None:
        """Wait until it ends, but no longer than ``seconds``."""
        # In small steps: a thread that waits can be interrupted only between them.
        deadline = time.monotonic() + seconds
        while self.running and time.monotonic() < deadline:
            time.sleep(0.02)


def _guarded(work: Callable[[Job], None], job: Job) -> None:
    try:
        work(job)
    except Cancelled:
        pass
    except MicroaggError as error:
        job.problem = str(error)
    except Exception as error:  # nothing else would show an error of this thread
        job.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."
