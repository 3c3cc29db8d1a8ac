"""Files that commands write: checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import filelock

from microagg.cli.progress import finish, say
from microagg.errors import DataError, ParameterError


def check_targets(targets: Iterable[str | None], sources: Iterable[str | None] = (), *, force: bool) -> None:
    """Raise :class:`ParameterError` or :class:`DataError` if one of ``targets`` could not be, or must not be, written.

    Those that are None are not asked for. A file is overwritten only with ``force``, and one of ``sources`` never.
    """
    taken = {Path(source).resolve(): source for source in sources if source is not None}
    for target in targets:
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken:
            raise ParameterError(
                f"{target!r} is named twice: a file cannot be written over one that is read or written."
            )
        taken[path] = target
        if path.is_dir():
            raise ParameterError(f"{target!r} is a folder: name a file in it.")
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {str(Path(target).parent)!r}: make it, or choose another one.")
        if path.exists() and not path.is_file():
            raise ParameterError(f"{target!r} is no ordinary file: choose another name.")
        if path.exists() and not force:
            raise ParameterError(f"the file {target!r} is there already: choose another name, or add --force.")


def write_files(files: Mapping[str, bytes], *, force: bool) -> None:
    """Write all ``files``, each by its path, or none: each stands beside its place until all of them are whole.

    Nothing ends the command any more from here on, so that it leaves no such file.

    Raises
    ------
    ParameterError
        If another command is writing one of them, or has written one meanwhile that is not to be overwritten.
    DataError
        If one cannot be written.
    """
    finish()
    check_targets(files, force=True)  # or locks would make folders that are not there any more
    parts: dict[Path, Path] = {}
    target = ""
    try:
        with ExitStack() as locks:
            try:
                for target in files:
                    locks.enter_context(_alone(Path(target).resolve(), target))
                check_targets(files, force=force)
                for target, data in files.items():
                    path = Path(target).resolve()
                    with _beside(path, "part").open("xb") as stream:
                        parts[path] = _beside(path, "part")
                        stream.write(data)
                        stream.flush()
                        os.fsync(stream.fileno())
                for path, part in parts.items():
                    part.replace(path)
            finally:
                for part in parts.values():
                    part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(f"the file {target!r} cannot be written ({reason}): choose another place.") from None


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f".{path.name}.microagg-{what}")


@contextmanager
def _alone(path: Path, target: str) -> Iterator[None]:
    """Keep other commands from writing a file while the block runs, and delete what one has left that was killed."""
    lock, part = filelock.FileLock(_beside(path, "lock"), timeout=0), _beside(path, "part")
    try:
        lock.acquire()
    except filelock.Timeout:
        raise ParameterError(f"another command is writing {target!r}: wait for it, or choose another name.") from None
    try:
        # Nobody else holds the lock, so whoever wrote this has ended.
        if part.is_file() and _is_own(part.lstat()):
            part.unlink()
            say(f"Deleted {part.name!r}, which a command had left that was killed.")
        yield
    finally:
        # Whoever waits for the file that is gone sees that, and begins again; Windows keeps it.
        with suppress(OSError):
            _beside(path, "lock").unlink()
        lock.release()


def _is_own(about: os.stat_result) -> bool:
    """Whether it is an ordinary file, of the user whose command this is where there are users."""
    return stat.S_ISREG(about.st_mode) and (os.name == "nt" or about.st_uid == os.getuid())
