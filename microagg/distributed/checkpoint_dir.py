"""The working folder of a job: tasks exchange whole files in it, so that an interrupted job goes on.

It holds the original quasi-identifiers, and only its owner may read it. It stands beside the output, which is a folder
in it until all is verified, and is then moved to its place by one renaming.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import pickle
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import filelock
import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError, MicroaggError, ParameterError

_MANIFEST = "manifest.json"
_LOCK = "lock"

# What a manifest begins with: no other folder is ever emptied or deleted.
_PURPOSE = "a working folder of microagg, which may be deleted when no job is at work on it"

#: Folders in it beside those of stages: the table as Parquet files where it was none, results of tasks, what is
#: released, files that are not yet whole, and what Dask puts by.
INPUT, RESULTS, RELEASED, UNFINISHED, SPILLED = "input", "results", "release", "unfinished", "dask"

_HEADER_LOCK = threading.Lock()

#: What the names of those results begin with that are of the source, whatever was chosen.
OF_SOURCE = ("input", "categories")


@dataclass(frozen=True)
class Working:
    """A working folder."""

    folder: str  # its absolute path
    # A name of its own for each time that a job is begun or gone on with. Tasks of one that was ended may still be at
    # work: they can finish no file once the next has begun.
    attempt: str

    @classmethod
    def for_output(cls, out: Path) -> Working:
        """Return the working folder of what is written to ``out``."""
        return cls(str(out.with_name(f"{out.name}.working")), uuid.uuid4().hex)

    def path(self, stage: str, name: str) -> Path:
        """Return where a file of a stage is."""
        return Path(self.folder, stage, name)

    def begin(self, source: Mapping[str, Any]) -> None:
        """Go on in the folder if it is of the same ``source``, or begin in an empty one.

        Raises ParameterError if the folder exists and is not this user's or not one of microagg; DataError if it cannot
        be made.
        """
        folder = Path(self.folder)
        self._clear_leftovers()
        same = folder.exists() and self._manifest()["source"] == json.loads(json.dumps(source))
        for unfinished in (UNFINISHED, SPILLED):
            # Tasks of another attempt may be writing there: what they know the place of is gone at once.
            aside = folder / uuid.uuid4().hex
            with suppress(FileNotFoundError):
                (folder / unfinished).rename(aside)
                shutil.rmtree(aside, ignore_errors=True)
        if folder.exists() and not same:
            self.clear()
        with room_on(self.folder, 0):
            if not folder.exists():
                # With its manifest, for its owner alone, in one step: no end leaves half of that.
                begun = folder.with_name(f".{folder.name}.{self.attempt}.begun")
                begun.mkdir(mode=0o700)
                (begun / _MANIFEST).write_text(_manifest(source), encoding="utf-8")
                begun.rename(folder)
            Path(self.folder, UNFINISHED, self.attempt).mkdir(parents=True)

    def choose(self, choices: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
        """Go on with the job of these ``choices``, or begin it with ``state``; return the state of its beginning.

        Results that depend on the source alone (:data:`OF_SOURCE`) stay.
        """
        manifest = self._manifest()
        if manifest["choices"] == json.loads(json.dumps(choices)):
            return dict(manifest["kept"])
        folder = Path(self.folder)
        self._write(_manifest(manifest["source"]))
        for entry in folder.iterdir():
            if entry.is_dir() and entry.name not in (INPUT, RESULTS, UNFINISHED, SPILLED):
                shutil.rmtree(entry)
        for result in folder.glob(f"{RESULTS}/*"):
            if not result.name.startswith(OF_SOURCE):
                result.unlink()
        self._write(_manifest(manifest["source"], choices, state))
        return dict(state)

    def _clear_leftovers(self) -> None:
        """Delete folders of attempts that were ended in their first or last moments; none is at work now."""
        folder = Path(self.folder)
        for begun in folder.parent.glob(f".{glob.escape(folder.name)}.*.begun"):
            if (
                not begun.is_symlink()
                and _belongs_to_user(begun)
                and {entry.name for entry in begun.iterdir()} <= {_MANIFEST}
            ):
                shutil.rmtree(begun, ignore_errors=True)
        with suppress(OSError):
            if not folder.is_symlink() and _belongs_to_user(folder):
                folder.rmdir()  # which is refused unless it is empty

    def _write(self, manifest: str) -> None:
        with room_on(self.folder, 0):
            draft = Path(self.folder, f"{_MANIFEST}.new")
            draft.write_text(manifest, encoding="utf-8")
            draft.replace(Path(self.folder, _MANIFEST))

    def _manifest(self) -> dict[str, Any]:
        """Return the manifest of a folder that is there."""
        folder = Path(self.folder)
        strange = ParameterError(
            f"{self.folder!r} is there already and is no working folder of microagg: move it away, or choose another "
            "output."
        )
        try:
            # What it holds is loaded as Python objects: nobody else may have put it there.
            if folder.is_symlink() or not folder.is_dir() or not _belongs_to_user(folder):
                raise strange
            manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise strange from None
        if not isinstance(manifest, dict) or manifest.get("what") != _PURPOSE:
            raise strange
        return manifest

    def clear(self) -> None:
        """Delete the folder and all in it; it must be one of microagg."""
        self._empty()
        Path(self.folder, _MANIFEST).unlink()
        Path(self.folder).rmdir()

    def deliver(self, target: Path) -> None:
        """Move the release to its place, and delete the folder: the original values are gone before it is there."""
        self._empty(but=RELEASED)
        with room_on(str(target.parent), 0):
            self.path(RELEASED, "").rename(target)
        self.clear()

    def clear_delivered(self) -> None:
        """Delete the folder if a job was killed between the moving of what it released and the end."""
        with suppress(MicroaggError), self.locked():
            if [entry.name for entry in Path(self.folder).glob("*")] == [_MANIFEST]:
                self.clear()

    def _empty(self, but: str = "") -> None:
        """Delete all in the folder but the manifest and ``but``; the manifest lets the next attempt delete the rest."""
        self._manifest()
        for entry in Path(self.folder).iterdir():
            if entry.name not in (_MANIFEST, but):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other jobs out of the folder while the block runs. Raises ParameterError if one is at work."""
        path = Path(self.folder).with_name(f".{Path(self.folder).name}.{_LOCK}")
        lock = filelock.FileLock(path, timeout=0)
        with room_on(str(path.parent), 0), suppress(filelock.Timeout):
            lock.acquire()
        if not lock.is_locked:
            raise ParameterError(f"another job is at work on {self.folder!r}: wait for it, or choose another output.")
        try:
            yield
        finally:
            # Whoever waits for the file that is gone sees that, and begins again; Windows keeps it.
            with suppress(OSError):
                path.unlink()
            lock.release()

    @property
    def has_results(self) -> bool:
        """Whether any task is done."""
        return any(Path(self.folder, RESULTS).glob("*-*[0-9].pickle"))

    def drop(self, stage: str) -> None:
        """Delete the files of a stage that no task needs any more."""
        shutil.rmtree(Path(self.folder, stage), ignore_errors=True)

    @contextmanager
    def writing(self, stage: str, name: str, needed: int) -> Iterator[Path]:
        """Yield a path to write; the file takes its place when the block ends without error.

        ``needed`` are the bytes that the whole job needs on the disk, for messages. Raises DataError if the disk is
        full, or the folder cannot be written.
        """
        place = self.path(stage, name)
        draft = Path(self.folder, UNFINISHED, self.attempt, f"{uuid.uuid4().hex}-{name}")
        with room_on(self.folder, needed):
            try:
                yield draft
                if draft.exists():
                    place.parent.mkdir(exist_ok=True)
                draft.replace(place)
            finally:
                draft.unlink(missing_ok=True)

    def save(self, stage: str, name: str, array: NDArray[Any], needed: int) -> None:
        """Write an array; see :meth:`writing`."""
        with self.writing(stage, name, needed) as path, path.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)

    def rows(self, stage: str, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Read the rows of an array from ``start`` to before ``stop``, no others."""
        # NumPy parses the header by `ast`, which in CPython 3.11 fails now and then with a SystemError where two
        # threads, as a worker has, do so at once (cpython#106905).
        with _HEADER_LOCK:
            mapped = np.load(self.path(stage, name), mmap_mode="r", allow_pickle=False)
        return np.array(mapped[start:stop])

    def keep(self, name: str, value: Any, needed: int = 0) -> None:
        """Write a Python object; see :meth:`writing`."""
        with self.writing(RESULTS, name, needed) as path:
            path.write_bytes(pickle.dumps(value, protocol=5))

    def kept(self, name: str) -> Any:
        """Return a stored Python object, None if there is none."""
        with suppress(FileNotFoundError):
            return pickle.loads(self.path(RESULTS, name).read_bytes())
        return None

    def shared(self, name: str) -> Any:
        """Return a stored Python object; a process reads it once for all of its tasks."""
        return _read_once(self, name, self.path(RESULTS, name).stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_once(working: Working, name: str, written: int) -> Any:
    return working.kept(name)


def _manifest(source: Any, choices: Any = None, state: Any = None) -> str:
    return json.dumps({"what": _PURPOSE, "source": source, "choices": choices, "kept": state}, indent=1)


@contextmanager
def room_on(folder: str, needed: int) -> Iterator[None]:
    """Raise DataError instead of OSError if a file cannot be written in the block."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            about = f" (about {gigabytes(needed)} are needed there)" if needed else ""
            raise DataError(
                f"the disk of {folder!r} is full{about}: make room and begin again, which goes on where this ended, or "
                "choose an output on another disk."
            ) from None
        raise DataError(
            f"nothing can be written to {folder!r} ({error.strerror or type(error).__name__}): it must be a folder "
            "that all machines at work can write to."
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
    """Return a number of bytes as people say it."""
    return f"{size / 1e9:,.1f} GB" if size >= 10**8 else f"{size / 1e6:,.1f} MB"


def _belongs_to_user(folder: Path) -> bool:
    user: Callable[[], int] | None = getattr(os, "getuid", None)  # Windows has none
    return user is None or folder.stat().st_uid == user()
