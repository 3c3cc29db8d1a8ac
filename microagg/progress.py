"""Progress and cancellation of long runs.

An algorithm that may run for more than a second or two calls :func:`checkpoint` between steps of at most a second. Its
caller may watch it with :func:`watched`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Called with a message and the completed share, 0 to 1 or None; returns False to cancel the run.
Watcher = Callable[[str, float | None], bool]

_watcher: ContextVar[Watcher | None] = ContextVar("microagg_watcher", default=None)


class Cancelled(Exception):  # noqa: N818 - it is not an error
    """The watcher of a run has cancelled it."""


def checkpoint(message: str, share: float | None = None) -> None:
    """Report progress to the watcher, if there is one.

    Parameters
    ----------
    message : str
        The current step.
    share : float, optional
        The completed share of the run, 0 to 1.

    Raises
    ------
    Cancelled
        If the watcher cancels the run.
    """
    watcher = _watcher.get()
    if watcher is not None and not watcher(message, share):
        raise Cancelled


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Context in which the runs of this thread are watched.

    Parameters
    ----------
    watcher : callable
        Called with a message and the completed share, 0 to 1 or None. False cancels the run.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
