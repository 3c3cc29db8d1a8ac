"""The folder through which the tasks of a job exchange whole files.

It is next to the output, has the original quasi-identifiers, and only its owner may read it. The release is a folder in
it until its verification, and one renaming then moves it to its place. Whatever ends a job, its working folder is
deleted; only a killed process leaves one.
"""

from __future__ import annotations

import errno
import pickle
import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError, ParameterError

#: The folder of the release before it is verified.
RELEASED = "release"

#: The folder of files that Dask spills.
SPILLED = "dask"

# Further folders of a job: Python objects, and incomplete files.
_OBJECTS, _UNFINISHED = "objects", "unfinished"

_HEADER_LOCK = threading.Lock()


@contextmanager
def working_on(target: Path) -> Iterator[Working]:
    """Yield the new working folder of a release to ``target``, and delete it at the end."""
    place = target.with_name(f"{target.name}.working")
    # In a folder with a new name each time, so that a late task of an ended job cannot write into that of another one.
    folder = place / uuid.uuid4().hex
    with room_on(place.parent):
        try:
            place.mkdir(mode=0o700)
        except FileExistsError:
            raise ParameterError(
                f"{str(place)!r} already exists: another job is using it, or a killed job has left it with original "
                "values. Wait for the job or delete the folder, or choose another output."
            ) from None
        (folder / _UNFINISHED).mkdir(parents=True)
    try:
        yield Working(str(folder))
    finally:
        if folder.exists():
            folder.rename(place / "deleted")  # a late task cannot write to the old name while files are deleted
        shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True)
class Working:
    """The files of a job."""

    folder: str  # absolute path of the only folder in the working folder

    @property
    def place(self) -> Path:
        """The working folder."""
        return Path(self.folder).parent

    def path(self, stage: str, name: str = "") -> Path:
        """Path of a file of a stage, or of the folder of the stage."""
        return Path(self.folder, stage, name)

    def deliver(self, target: Path) -> None:
        """Move the release to its place, after deletion of the original values."""
        verified = self.place / "verified"
        with room_on(target.parent):
            self.path(RELEASED).rename(verified)
            shutil.rmtree(self.folder)
            verified.rename(target)

    def drop(self, stage: str) -> None:
        """Delete the files of a stage that no further task needs."""
        shutil.rmtree(self.path(stage), ignore_errors=True)

    @contextmanager
    def writing(self, stage: str, name: str) -> Iterator[Path]:
        """Yield a path to write. The file takes its place when the block ends without error."""
        path, draft = self.path(stage, name), self.path(_UNFINISHED, f"{uuid.uuid4().hex}-{name}")
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
        with self.writing(_OBJECTS, name) as path:
            path.write_bytes(pickle.dumps(value, protocol=5))

    @lru_cache(maxsize=4)  # noqa: B019 - a process reads an object once for all of its tasks
    def load(self, name: str) -> Any:
        """Return a stored Python object."""
        return pickle.loads(self.path(_OBJECTS, name).read_bytes())


@contextmanager
def room_on(folder: Path) -> Iterator[None]:
    """Raise DataError instead of OSError if a file cannot be written in the block."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"the disk of {str(folder)!r} is full: free some space and start again, or choose an output on another "
                "disk."
            ) from None
        raise DataError(
            f"cannot write to {str(folder)!r} ({error.strerror or type(error).__name__}): choose a folder that all "
            "machines of the job can write to."
        ) from None


def check_room(folder: Path, needed: int) -> None:
    """Raise DataError if the disk of a folder has fewer than ``needed`` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"the job needs about {gigabytes(needed)} on the disk of {str(folder)!r}, and {gigabytes(free)} are "
            "free: free some space, or choose an output on another disk."
        )


def gigabytes(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size / 1e9:,.1f} GB" if size >= 10**8 else f"{size / 1e6:,.1f} MB"
