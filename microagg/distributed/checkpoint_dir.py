"""The working folder of a release, in which tasks exchange whole files, so that an interrupted job continues.

It is next to the output, has the original quasi-identifiers, and only its owner may read it. Each job has a folder in
it, named by a digest of its data, choices and versions, so that old tasks of another job cannot write into it. The
release is a folder there until its verification, and one renaming then moves it to its place.
"""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import filelock
import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError, ParameterError

# Prefix of all names in a working folder: no other folder is ever used or deleted.
_PREFIX = "microagg-"

#: Further folders of a job: the frame as Parquet files, results of tasks, the release, incomplete files, and files that
#: Dask spills.
INPUT, RESULTS, RELEASED, UNFINISHED, SPILLED = "input", "results", "release", "unfinished", "dask"

_HEADER_LOCK = threading.Lock()


@contextmanager
def working_on(target: Path, job: str) -> Iterator[Working]:
    """Yield the folder of a new or continued job that writes to ``target``."""
    folder = target.with_name(f"{target.name}.working")
    lock = filelock.FileLock(folder.with_name(f".{folder.name}.lock"), timeout=0)
    with room_on(folder.parent), suppress(filelock.Timeout):
        lock.acquire()
    if not lock.is_locked:
        raise ParameterError(f"another job is at work on {str(folder)!r}: wait for it, or choose another output.")
    try:
        yield Working(str(_job_folder(folder, job)))
    finally:
        # A process that waits for the deleted file notices that, and starts again; Windows does not delete it.
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def _job_folder(parent: Path, job: str) -> Path:
    """Return the folder of a job, new or old, and delete the files of other jobs."""
    with room_on(parent):
        if parent.exists() or parent.is_symlink():
            _check_ours(parent)
        parent.mkdir(mode=0o700, exist_ok=True)
        parent.chmod(0o700)
        # A new name for each new start of a job, which may draw another seed.
        folder = next(parent.glob(f"{_PREFIX}{job}-*"), parent / f"{_PREFIX}{job}-{uuid.uuid4().hex}")
        for entry in parent.iterdir():
            if entry != folder:
                _delete(entry)
        folder.mkdir(exist_ok=True)
        for name in (UNFINISHED, SPILLED):
            if (folder / name).exists():
                _delete(folder / name)
        (folder / UNFINISHED).mkdir()
    return folder


def _check_ours(folder: Path) -> None:
    is_folder = folder.is_dir() and not folder.is_symlink()
    entries = list(folder.iterdir()) if is_folder else []
    # Its files are loaded as Python objects, so all must belong to the user.
    is_of_user = all(map(_belongs_to_user, (folder, *entries)))
    if not is_folder or not is_of_user or not all(entry.name.startswith(_PREFIX) for entry in entries):
        raise ParameterError(
            f"{str(folder)!r} is there already and is no working folder of microagg: move it away, or choose another "
            "output."
        )


def _belongs_to_user(path: Path) -> bool:
    user: Callable[[], int] | None = getattr(os, "getuid", None)  # Windows has none
    return user is None or path.lstat().st_uid == user()


def _delete(folder: Path) -> None:
    """Delete a folder to which tasks of an ended job may still write: its name goes first."""
    renamed = folder.with_name(f"{_PREFIX}{uuid.uuid4().hex}")
    folder.rename(renamed)
    shutil.rmtree(renamed)


@dataclass(frozen=True)
class Working:
    """The folder of a job in its working folder."""

    folder: str  # its absolute path

    @property
    def place(self) -> Path:
        """The working folder."""
        return Path(self.folder).parent

    def path(self, stage: str, name: str = "") -> Path:
        """Path of a file of a stage, or of the folder of the stage."""
        return Path(self.folder, stage, name)

    @property
    def is_empty(self) -> bool:
        """Whether there are no results from which a job could continue."""
        return not self.path(RESULTS).exists() and not self.path(INPUT).exists()

    def clear(self) -> None:
        """Delete the working folder."""
        _delete(Path(self.folder))
        self.place.rmdir()

    def deliver(self, target: Path) -> None:
        """Move the release to its place, after deletion of the original values."""
        old_folder, verified = (self.place / f"{_PREFIX}{name}" for name in ("delivered", "verified"))
        with room_on(target.parent):
            Path(self.folder).rename(old_folder)  # a job killed here starts again, without half of its files
            (old_folder / RELEASED).rename(verified)
            shutil.rmtree(old_folder)
            verified.rename(target)
        self.place.rmdir()

    def drop(self, stage: str) -> None:
        """Delete the files of a stage that no task needs any more."""
        shutil.rmtree(self.path(stage), ignore_errors=True)

    @contextmanager
    def writing(self, stage: str, name: str) -> Iterator[Path]:
        """Yield a path to write. The file takes its place when the block ends without error."""
        path, draft = self.path(stage, name), self.path(UNFINISHED, f"{uuid.uuid4().hex}-{name}")
        with room_on(self.place):
            try:
                yield draft
                if draft.exists():
                    path.parent.mkdir(exist_ok=True)
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)

    def save(self, stage: str, name: str, array: NDArray[Any]) -> None:
        """Write an array."""
        with self.writing(stage, name) as path, path.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)

    def rows(self, stage: str, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Read the rows of an array from ``start`` to before ``stop``, no others."""
        # NumPy parses the header by `ast`, which in CPython 3.11 fails now and then with a SystemError where two
        # threads, as a worker has, do so at once (cpython#106905).
        with _HEADER_LOCK:
            mapped = np.load(self.path(stage, name), mmap_mode="r", allow_pickle=False)
        return np.array(mapped[start:stop])

    def store(self, name: str, value: Any) -> None:
        """Write a Python object."""
        with self.writing(RESULTS, name) as path:
            path.write_bytes(pickle.dumps(value, protocol=5))

    def load(self, name: str) -> Any:
        """Return a stored Python object, or None."""
        with suppress(FileNotFoundError):
            return pickle.loads(self.path(RESULTS, name).read_bytes())
        return None


@lru_cache(maxsize=4)
def load_once(working: Working, name: str) -> Any:
    """Return a stored Python object, which a process reads once for all of its tasks."""
    return working.load(name)


@contextmanager
def room_on(folder: Path) -> Iterator[None]:
    """Raise DataError instead of OSError if a file cannot be written in the block."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"the disk of {str(folder)!r} is full: make room and begin again, which goes on where this ended, or "
                "choose an output on another disk."
            ) from None
        raise DataError(
            f"nothing can be written to {str(folder)!r} ({error.strerror or type(error).__name__}): it must be a "
            "folder that all machines at work can write to."
        ) from None


def check_room(folder: Path, needed: int) -> None:
    """Raise :class:`DataError` if the disk of a folder has fewer than ``needed`` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"about {gigabytes(needed)} are needed on the disk of {str(folder)!r} while the job is at work, and "
            f"{gigabytes(free)} are free: make room, or choose an output on another disk."
        )


def gigabytes(size: int) -> str:
    """Text of a number of bytes, for example "1.2 GB"."""
    return f"{size / 1e9:,.1f} GB" if size >= 10**8 else f"{size / 1e6:,.1f} MB"
