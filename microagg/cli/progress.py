"""What a terminal shows of long work; nothing where nobody watches."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

import click

from microagg.progress import watched

# What asks a command to end: Ctrl-C, and what shuts machines and services down.
_ASKS = (signal.SIGINT, signal.SIGTERM)


class _Stop:
    """Whether a command was asked to end, by which signal, and whether it still may."""

    def __init__(self) -> None:
        self.asked, self.number, self.may = threading.Event(), signal.SIGINT, True

    def hear(self, number: int, _: FrameType | None) -> None:
        if self.may:
            # Before the exception: whoever it passes waits for the other threads.
            self.number = signal.Signals(number)
            self.asked.set()
            raise KeyboardInterrupt


# Of the block that may be ended, if there is one.
_stop: ContextVar[_Stop | None] = ContextVar("microagg_stop", default=None)

# The line is cleared, so that a shorter text leaves nothing behind.
_CLEAR = "\r\x1b[2K"


def say(text: str) -> None:
    """Write a line that is no result to stderr."""
    click.echo(text, err=True)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a line on stderr, if that is a terminal, while the block runs; what it yields puts another text there.

    Algorithms that say where they are (:mod:`microagg.progress`) are heard, and stopped once Ctrl-C was pressed.
    """
    shown, is_seen = [what], sys.stderr.isatty()

    def draw(more: str) -> None:
        if is_seen:
            click.echo(f"{_CLEAR}{shown[0]}{more} …", err=True, nl=False)

    def show(text: str) -> None:
        shown[0] = text
        draw("")

    def hear(text: str, share: float | None) -> bool:
        _stop_if_asked()
        draw(f": {text}" if share is None else f": {text}, {share:.0%}")
        return True

    show(what)
    try:
        with watched(hear):
            yield show
        _stop_if_asked()
    finally:
        if is_seen:
            click.echo(_CLEAR, err=True, nl=False)


@contextmanager
def stoppable(*, last: bool = False) -> Iterator[Callable[[], bool]]:
    """Yield what other threads ask whether Ctrl-C was pressed, and let it end the block; others within do the same.

    SIGTERM ends it likewise. After the ``last`` block of a process neither is heard any more.
    """
    outer = _stop.get()
    if outer is not None:
        yield outer.asked.is_set
        return
    stop = _Stop()
    before = {number: signal.getsignal(number) for number in _ASKS}
    # What a shell begins in the background is not to hear Ctrl-C.
    heard = [number for number, handler in before.items() if handler not in (None, signal.SIG_IGN)]
    if threading.current_thread() is not threading.main_thread():
        heard = []
    for number in heard:
        signal.signal(number, stop.hear)
    token = _stop.set(stop)
    try:
        yield stop.asked.is_set
    finally:
        _stop.reset(token)
        for number in heard:
            signal.signal(number, signal.SIG_IGN if last else before[number])


def finish() -> None:
    """Let nothing end the command any more, for what it does now must be done whole, and said.

    Raises
    ------
    KeyboardInterrupt
        If it was asked to end before.
    """
    stop = _stop.get()
    if stop is not None:
        stop.may = False
        _stop_if_asked()


def stopped_code() -> int:
    """Return what a shell learns of an end by the signal that was heard: 130 of Ctrl-C, 143 of SIGTERM."""
    stop = _stop.get()
    return 128 + (signal.SIGINT if stop is None else stop.number)


def _stop_if_asked() -> None:
    """Raise KeyboardInterrupt if the command was asked to end."""
    # An exception is lost where C calls back, as it does while compiled kernels are loaded.
    stop = _stop.get()
    if stop is not None and stop.asked.is_set():
        raise KeyboardInterrupt
