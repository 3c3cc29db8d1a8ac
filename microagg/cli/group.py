"""What all commands share: their list, errors and exit codes, files that they write, progress, and Ctrl-C."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from microagg import __version__
from microagg.errors import DataError, GuaranteeError, MicroaggError, ParameterError
from microagg.progress import watched

#: Exit codes: a check fails; the input is bad; a fault of microagg, as in sysexits.h. For Ctrl-C it is 130, for SIGTERM
#: 143, and 141 if the output is closed.
FAILS, BAD_INPUT, INTERNAL, UNREAD = 1, 2, 70, 141

# Each command with its file, which is loaded when the command is called, and its line in the list.
_COMMANDS = {
    "run": ("releasing", "Make a k-anonymous release of a file."),
    "replay": ("releasing", "Repeat a release from its recipe."),
    "verify": ("verifying", "Check whether a file is k-anonymous, whoever made it."),
    "sweep": ("exploring", "Compare the information loss of algorithms at several k."),
    "bound": ("exploring", "Compute a lower bound on the information loss."),
    "certify": ("verifying", "Check whether a certificate proves an optimum."),
    "risk": ("verifying", "Measure the disclosure risk and the data quality of a release."),
    "reproduce": ("exploring", "Recompute a table of a paper and compare it with the printed figures."),
    "steps": ("exploring", "Show the steps of an algorithm."),
    "dashboard": ("exploring", "Open the dashboard in a browser."),
    "datasets": ("exploring", "List the data sets."),
    "methods": ("exploring", "List the algorithms, or explain one."),
}


class Commands(click.Group):
    """Commands that are loaded when they are called. An error is one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, or None if there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"microagg.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, "data_sets" if cmd_name == "datasets" else cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the commands, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run a command line, and exit with one of the codes at the top of this file, or 0."""
        with _stoppable():
            sys.exit(self._exit_code(args, prog_name, extra))

    def _exit_code(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> int:
        try:
            code = super().main(args, prog_name, **(extra | {"standalone_mode": False}))
            finish()
        except (click.Abort, KeyboardInterrupt):
            click.echo("Stopped.", err=True)
            return 128 + _stop.number
        except click.ClickException as error:
            return _print_error(error.format_message())
        except GuaranteeError as error:
            _print_error(str(error))
            return FAILS
        except MicroaggError as error:
            code = _print_error(str(error))
            _print_offers(error)
            return code
        except MemoryError:
            return _print_error("not enough memory: use fewer records, or another algorithm.")
        except SystemExit as error:
            # Click exits with 1 if the output is closed, which would say that a check fails.
            return UNREAD if error.code == FAILS else error.code  # type: ignore[return-value]
        except Exception as error:
            traceback.print_exc()
            _print_error(f"this is a fault of microagg ({type(error).__name__}), not a result. Please report it.")
            return INTERNAL
        return code if isinstance(code, int) else 0


def _print_error(message: str) -> int:
    text = " ".join(message.split())
    # The symbol k has no capital, even at the beginning of a sentence.
    click.echo(f"Error: {text if text.startswith('k ') else text[:1].upper() + text[1:]}", err=True)
    return BAD_INPUT


def _print_offers(error: MicroaggError) -> None:
    """Print the lines that make a file unreadable, and the flags that read it."""
    # Loading these packages takes longer than finding most mistakes.
    from microagg.cli.flags import reading_words
    from microagg.tables import UnreadableError

    if not isinstance(error, UnreadableError):
        return
    for line in error.lines:
        click.echo(f"{'>' if line.marked else ' '}{line.number:6} | {line.text}", err=True)
    for offer in error.offers:
        click.echo(f"To read it, add {shlex.join(reading_words(offer.reading))} ({offer.label}).", err=True)


@click.group(
    cls=Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="microagg")
@click.option("--plugin", multiple=True, metavar="FILE", help="A Python file with your own algorithm. Repeatable.")
@click.pass_context
def cli(ctx: click.Context, plugin: tuple[str, ...]) -> None:
    """Make microdata k-anonymous by microaggregation, with low information loss.

    \b
    Example:
      microagg run people.csv --k 5 --qi age,income --confidential illness --drop name --out people_k5.csv
      microagg verify people_k5.csv --qi age,income --k 5
    """
    for path in plugin:
        from microagg.algorithms.registry import FILES, load_file  # which needs scikit-learn and Numba

        load_file(path)
        # For subprocesses.
        os.environ[FILES] = os.pathsep.join(filter(None, (os.environ.get(FILES), str(Path(path).resolve()))))
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    from microagg.validation import plain  # which needs pandas

    click.echo(json.dumps(plain(dict(value)), indent=2, ensure_ascii=False))


def check_targets(targets: Iterable[str | None], sources: Iterable[str | None] = (), *, force: bool) -> None:
    """Raise ParameterError or DataError if ``targets``, except None, cannot be written or are among the ``sources``."""
    taken = {Path(source).resolve() for source in sources if source is not None}
    for target in targets:
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken:
            raise ParameterError(f"{target!r} is named twice, to read or write: choose another name for the output.")
        taken.add(path)
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

    From here on, signals do not end the command, so that it leaves no partial file. Raises ParameterError if another
    command has written one of the files meanwhile, and DataError if one cannot be written.
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


# Clears the line before a shorter text.
_CLEAR = "\r\x1b[2K"

# Seconds between two lines of progress where stderr is no terminal.
_LOGS_EVERY = 30.0


def _time_left(seconds: float, share: float) -> str:
    """The time until a step ends of which a share is done, as text; empty until it can be told."""
    left = seconds * (1.0 - share) / max(share, 1e-9)
    if seconds < 5.0 or share < 0.02:
        return ""
    return f", {left / 60:.0f} min left" if left >= 90.0 else f", {left:.0f} s left"


@contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """Show a line on stderr, if it is a terminal, during the block, and yield a function that changes the text.

    It also shows the progress of algorithms (:mod:`microagg.progress`), now and then in a log, and stops them after
    Ctrl-C.
    """
    line, is_terminal = [title], sys.stderr.isatty()
    began = logged = time.monotonic()
    step: tuple[str, float] = ("", 0.0)

    def draw(more: str) -> None:
        if is_terminal:
            click.echo(f"{_CLEAR}{line[0]}{more} …", err=True, nl=False)

    def show(text: str) -> None:
        line[0] = text
        draw("")

    def hear(text: str, share: float | None) -> bool:
        nonlocal began, logged, step
        _raise_if_stopped()
        now, (last_text, last_share) = time.monotonic(), step
        if text != last_text or (share or 0.0) < last_share:
            began = now
        step = (text, share or 0.0)
        more = f": {text}" if share is None else f": {text}, {share:.0%}{_time_left(now - began, share)}"
        draw(more)
        if not is_terminal and now - logged >= _LOGS_EVERY:
            logged = now
            click.echo(f"{line[0]}{more} …", err=True)
        return True

    show(title)
    try:
        with watched(hear):
            yield show
        _raise_if_stopped()
    finally:
        if is_terminal:
            click.echo(_CLEAR, err=True, nl=False)


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


# The stop of the command that runs.
_stop = _Stop()


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM, by which machines and services shut down, end the block."""
    global _stop
    _stop, before = _Stop(), {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # Background jobs of a shell ignore Ctrl-C.
    handled = [number for number, handler in before.items() if handler not in (None, signal.SIG_IGN)]
    if threading.current_thread() is not threading.main_thread():
        handled = []
    for number in handled:
        signal.signal(number, _stop.hear)
    try:
        yield
    finally:
        _stop = _Stop()
        for number in handled:
            signal.signal(number, before[number])


def is_stopped() -> bool:
    """Whether a signal requests the end of the command."""
    return _stop.requested.is_set()


def finish() -> None:
    """Ignore signals from here on. KeyboardInterrupt if one was received before."""
    _stop.is_open = False
    _raise_if_stopped()


def _raise_if_stopped() -> None:
    # An exception is lost in callbacks from C, such as during loading of compiled kernels.
    if is_stopped():
        raise KeyboardInterrupt
