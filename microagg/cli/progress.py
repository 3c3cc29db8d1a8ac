"""What a terminal shows of long work; nothing where nobody watches."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from microagg.progress import watched

# The line is cleared, so that a shorter text leaves nothing behind.
_CLEAR = "\r\x1b[2K"


def say(text: str) -> None:
    """Write a line that is no result to stderr."""
    click.echo(text, err=True)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a line on stderr, if that is a terminal, while the block runs; what it yields puts another text there.

    Algorithms that say where they are (:mod:`microagg.progress`) are heard.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return

    shown = [what]

    def draw(more: str) -> None:
        click.echo(f"{_CLEAR}{shown[0]}{more} …", err=True, nl=False)

    def show(text: str) -> None:
        shown[0] = text
        draw("")

    def hear(text: str, share: float | None) -> bool:
        draw(f": {text}" if share is None else f": {text}, {share:.0%}")
        return True

    show(what)
    try:
        with watched(hear):
            yield show
    finally:
        click.echo(_CLEAR, err=True, nl=False)


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Yield what other threads ask whether Ctrl-C was pressed, and let it end the block."""
    pressed = threading.Event()

    def press(*_: object) -> None:
        # Before the exception: whoever it passes waits for the other threads.
        pressed.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
