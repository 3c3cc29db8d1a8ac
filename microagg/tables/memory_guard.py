"""How much memory reading a file may take: what a small file claims to hold must not bring a machine down."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePath

from microagg.errors import DataError

#: A file may take this many times its size on disk, and :data:`BESIDE` bytes more, while it is read.
TIMES = 20

#: What reading takes whatever the size of the file, in bytes: packages that are loaded, and small files.
BESIDE = 200 * 10**6

#: One file may never take more than the machine's memory divided by this.
SHARE = 4


def allowed(size: int) -> int:
    """Return how many bytes of memory reading a file of ``size`` bytes may take.

    That is :data:`TIMES` its size and :data:`BESIDE` bytes, and never more than a quarter of the machine's memory
    (:data:`SHARE`) where that is known.
    """
    most = TIMES * size + BESIDE
    machine = machine_memory()
    return most if machine is None else min(most, machine // SHARE)


def check_memory(needed: int, size: int, label: str) -> None:
    """Raise :class:`DataError` if reading a file takes more memory than it may.

    Parameters
    ----------
    needed : int
        How many bytes it takes at least, to be called with before they are taken.
    size : int
        How many bytes the file has on disk.
    label : str
        The file's name.
    """
    most = allowed(size)
    if needed > most:
        bound = f"{TIMES} times its size and {BESIDE // 10**6} MB"
        if most < TIMES * size + BESIDE:
            bound = "a quarter of this machine's memory"
        # A text file is as large as what it holds; others are packed.
        advice = "leave out columns, or split the file"
        if PurePath(label).suffix.lower() not in (".csv", ".tsv", ".txt"):
            advice = "leave out columns, split the file, or save the table as .csv"
        raise DataError(
            f"reading the file {label!r} ({_megabytes(size)}) would take at least {_megabytes(needed)} of memory, over "
            f"the limit of {_megabytes(most)}, which is {bound}: {advice}."
        )


@cache
def machine_memory() -> int | None:
    """Return how many bytes of memory this process may use at most, None where nothing tells.

    That is the machine's memory, or the limit of the process' control group (as containers have) where it is lower.
    """
    found = [*_installed(), *_group_limits(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))]
    return min(found, default=None)


def _installed() -> Iterator[int]:
    """Yield the machine's memory in bytes where the platform tells."""
    try:
        bytes_ = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return
    if bytes_ > 0:
        yield bytes_


def _group_limits(membership: Path, root: Path) -> Iterator[int]:
    """Yield the limits of the control groups that a process is in, of both versions, from its own group up to the root.

    ``membership`` is the file that lists the groups of the process, and ``root`` where their folders are.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        top, name = (root, "memory.max") if controllers == "" else (root / "memory", "memory.limit_in_bytes")
        # Within a container the folder may not be there by this name, but that of the container is then the top.
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts), -1, -1):
            yield from _limit_in(top.joinpath(*parts[:depth], name))


def _limit_in(file: Path) -> Iterator[int]:
    try:
        text = file.read_text().strip()
    except OSError:
        return
    if text.isdigit():  # the word max means that there is no limit
        yield int(text)


def _megabytes(count: int) -> str:
    millions = count / 1e6
    return f"{millions:,.0f} MB" if millions >= 10 else f"{millions:.2g} MB"
