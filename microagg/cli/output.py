"""Output of commands: JSON, files, progress on a terminal, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

import click

from microagg.errors import DataError, ParameterError
from microagg.progress import watched
from microagg.validation import plain


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(plain(dict(value)), indent=2, ensure_ascii=False))


# Files that commands write: checked before the work begins, and written whole or not at all.


def check_targets(targets: Iterable[str | None], sources: Iterable[str | None] = (), *, force: bool) -> None:
    """Check that ``targets``, except None, can be written and are not ``sources``.

    ParameterError if a target is a source, a folder, or exists and ``force`` is false; DataError if its folder is
    missing.
    """
    taken = {Path(source).resolve(): source for source in sources if source is not None}
    for target in targets:
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken:
            raise ParameterError(f"{target!r} is named twice, to read or write: choose another name for the output.")
        taken[path] = target
        if path.is_dir():
            raise ParameterError(f"{target!r} is a folder: name a file in it.")
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {str(Path(target).parent)!r}: create it, or choose another one.")
        if path.exists() and not path.is_file():
            raise ParameterError(f"{target!r} is not a regular file: choose another name.")
        if path.exists() and not force:
            raise ParameterError(f"the file {target!r} already exists: choose another name, or add --force.")


def write_files(files: Mapping[str, bytes], *, force: bool) -> None:
    """Write all ``files``, contents by path, or none: each is written to a temporary file first.

    From here on, signals do not end the command, so that it leaves no partial file.

    ParameterError if another command has written one of them meanwhile; DataError if one cannot be written.
    """
    finish()
    check_targets(files, force=force)
    parts: dict[Path, Path] = {}
    target = ""
    try:
        for target, data in files.items():
            path = Path(target).resolve()
            part = path.with_name(f".{path.name}.{os.getpid()}.part")
            with part.open("xb") as stream:
                parts[path] = part
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        for path, part in parts.items():
            part.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(f"the file {target!r} cannot be written ({reason}): choose another folder.") from None
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


# Progress on a terminal.

# Signals that end a command: Ctrl-C, and shutdown of machines and services.
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Stop:
    """The signal that requests the end of a command, and whether the command may still end."""

    def __init__(self) -> None:
        self.requested, self.number, self.is_open = threading.Event(), signal.SIGINT, True

    def hear(self, number: int, _: FrameType | None) -> None:
        if self.is_open:
            # Before the exception, whose handlers wait for the other threads.
            self.number = signal.Signals(number)
            self.requested.set()
            raise KeyboardInterrupt


# The stop of the present block, if it may end.
_stop: ContextVar[_Stop | None] = ContextVar("microagg_stop", default=None)

# Clears the line before a shorter text.
_CLEAR = "\r\x1b[2K"


def say(text: str) -> None:
    """Write a line to stderr that is not a result."""
    click.echo(text, err=True)


@contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """Show a line on stderr, if it is a terminal, during the block, and yield a function that changes the text.

    It also shows the progress of algorithms (:mod:`microagg.progress`), and stops them after Ctrl-C.
    """
    line, is_terminal = [title], sys.stderr.isatty()

    def draw(more: str) -> None:
        if is_terminal:
            click.echo(f"{_CLEAR}{line[0]}{more} …", err=True, nl=False)

    def show(text: str) -> None:
        line[0] = text
        draw("")

    def hear(text: str, share: float | None) -> bool:
        _raise_if_stopped()
        draw(f": {text}" if share is None else f": {text}, {share:.0%}")
        return True

    show(title)
    try:
        with watched(hear):
            yield show
        _raise_if_stopped()
    finally:
        if is_terminal:
            click.echo(_CLEAR, err=True, nl=False)


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C and SIGTERM end the block, and yield a function that returns whether one was received.

    Inner blocks share the outer one.
    """
    outer = _stop.get()
    if outer is not None:
        yield outer.requested.is_set
        return
    stop = _Stop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # Background jobs of a shell ignore Ctrl-C.
    handled = [number for number, handler in before.items() if handler not in (None, signal.SIG_IGN)]
    if threading.current_thread() is not threading.main_thread():
        handled = []
    for number in handled:
        signal.signal(number, stop.hear)
    token = _stop.set(stop)
    try:
        yield stop.requested.is_set
    finally:
        _stop.reset(token)
        for number in handled:
            signal.signal(number, before[number])


def finish() -> None:
    """Ignore signals from here on. KeyboardInterrupt if one was received before."""
    stop = _stop.get()
    if stop is not None:
        stop.is_open = False
        _raise_if_stopped()


def stopped_code() -> int:
    """Exit code after a signal: 130 for Ctrl-C, 143 for SIGTERM."""
    stop = _stop.get()
    return 128 + (signal.SIGINT if stop is None else stop.number)


def _raise_if_stopped() -> None:
    """Raise KeyboardInterrupt if a signal requests the end of the command."""
    # An exception is lost in callbacks from C, such as during loading of compiled kernels.
    stop = _stop.get()
    if stop is not None and stop.requested.is_set():
        raise KeyboardInterrupt
