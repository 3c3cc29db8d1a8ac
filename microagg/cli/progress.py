"""What a terminal shows of long work; nothing where nobody watches."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import click

from microagg.progress import watched

# Whether Ctrl-C was pressed, in a block that it may end.
_pressed: ContextVar[threading.Event | None] = ContextVar("microagg_pressed", default=None)

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
        _stop_if_pressed()
        draw(f": {text}" if share is None else f": {text}, {share:.0%}")
        return True

    show(what)
    try:
        with watched(hear):
            yield show
        _stop_if_pressed()
    finally:
        if is_seen:
            click.echo(_CLEAR, err=True, nl=False)


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Yield what other threads ask whether Ctrl-C was pressed, and let it end the block; others within do the same."""
    outer = _pressed.get()
    if outer is not None:
        yield outer.is_set
        return
    pressed = threading.Event()

    def press(*_: object) -> None:
        # Before the exception: whoever it passes waits for the other threads.
        pressed.set()
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    # What a shell begins in the background is not to hear Ctrl-C.
    hears = before not in (None, signal.SIG_IGN) and threading.current_thread() is threading.main_thread()
    if hears:
        signal.signal(signal.SIGINT, press)
    token = _pressed.set(pressed)
    try:
        yield pressed.is_set
    finally:
        _pressed.reset(token)
        if hears:
            signal.signal(signal.SIGINT, before)


def _stop_if_pressed() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed."""
    # An exception is lost where C calls back, as it does while compiled kernels are loaded.
    pressed = _pressed.get()
    if pressed is not None and pressed.is_set():
        raise KeyboardInterrupt
