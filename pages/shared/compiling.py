"""Kernels compiled ahead of their first use, task by task, if possible in a separate process.

    python -m pages.shared.compiling [--processes 2]

compiles all kernels, or loads them from disk; it takes about a minute, once on a machine. A task is the key of an
algorithm, the same with the suffix ``MANY`` for many records, or a further one in :func:`tasks`. For the dashboard, one
other process compiles the kernels of pages, from the first visit on: :func:`ahead`.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import microagg

# Imports stand where they are needed: they take seconds, in which the other process already works.

MANY = " for many records"  # behind the key of an algorithm: its kernels for many records
FLOOR, SEARCH, EXACT = "the neighbor search", "the search and the linear program", "the exact optimum"
MIXED = "the search among categories"
LINKAGE = "record linkage"

#: The first tasks of the dashboard, in this order: the methods compared by default, and further parts of their figures.
FIRST_TASKS = ("mdav", "mdav-plus", "v-mdav", "mdav-star", FLOOR, "k-member", SEARCH, LINKAGE, "local-search", "cbfs")

# The algorithms with other kernels for many records; these come last.
_BY_TREE = ("mdav", "mdav-plus", "v-mdav", "mdav-star", "cbfs")

_PACKAGE, _FOLDER = Path(microagg.__file__).parent, Path(__file__).parents[2]  # and that in which pages/ stands


def tasks() -> list[str]:
    from microagg.algorithms.registry import ALGORITHMS

    return list(dict.fromkeys([*FIRST_TASKS, *ALGORITHMS, MIXED, EXACT, *(key + MANY for key in _BY_TREE)]))


def tasks_for(keys: Iterable[str], n: int = 0) -> list[str]:
    """Return the tasks of the algorithms ``keys`` for ``n`` records that this process has not done."""
    from microagg.studies import experiment

    suffix = MANY if n >= experiment.MANY else ""
    return [key + suffix for key in experiment.unprepared(keys, n)]


def compile_task(task: str) -> None:
    """Compile the kernels of a task, or load them from disk."""
    import numpy as np

    from microagg.columns.records import Records
    from microagg.metrics import risk
    from microagg.optimum import bounds, certificate
    from microagg.optimum.problem import Problem
    from microagg.studies import experiment

    if task == FLOOR:
        X = np.arange(12.0).reshape(6, 2)
        for data in (X, Records.of_numbers(X)):
            certificate.floors(Problem.of(data), [2])
    elif task == SEARCH:
        certificate.prepare()
    elif task == MIXED:
        certificate.prepare_mixed()
    elif task == LINKAGE:
        risk.record_linkage(np.eye(3), np.eye(3))
    elif task == EXACT:
        bounds.exact(np.random.default_rng(0).normal(size=(9, 2)), 3)
    else:
        experiment.prepare([task.removesuffix(MANY)], n=experiment.MANY if task.endswith(MANY) else 0)


def _stamp() -> Path:
    """Return the file that lists the tasks on disk, next to the compiled code."""
    folder: Path = importlib.import_module("microagg.kernels").cache_folder()
    return folder / "compiled.json"


def _state() -> str:
    """Return a digest of sources, compiler, interpreter and processor, on which compiled code depends."""
    digest = hashlib.sha256(sys.version.encode())
    digest.update(importlib.import_module("numba").__version__.encode())
    digest.update(importlib.import_module("llvmlite.binding").get_host_cpu_name().encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        if b"kernels" in (text := source.read_bytes()) or b"numba" in text:
            digest.update(text)
    return digest.hexdigest()


def _on_disk() -> set[str]:
    with suppress(OSError, ValueError):
        stored = json.loads(_stamp().read_text())
        if stored["state"] == _state():
            return set(stored["tasks"])
    return set()


def _remember(done: Iterable[str]) -> None:
    with suppress(OSError):  # where nothing can be written, nothing was cached there either
        stamp = _stamp()
        stamp.parent.mkdir(exist_ok=True)
        written = stamp.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps({"state": _state(), "tasks": sorted(done)}))
        written.replace(stamp)


class Ahead:
    """Compiles tasks in another process, one at a time, and loads the code from disk into this one."""

    def __init__(self, todo: Iterable[str]) -> None:
        self._compiled = _on_disk()
        self._left: list[str] = []
        self._changed = threading.Condition()
        self._process: subprocess.Popen[str] | None = None
        self._ended = False
        self.add(todo)

    @property
    def left(self) -> list[str]:
        """The tasks that are not done yet, the one under way first."""
        with self._changed:
            return list(self._left)

    def add(self, todo: Iterable[str]) -> None:
        """Add tasks at the end, without those that are done or waiting."""
        with self._changed:
            if self._ended:
                return
            self._left += [task for task in todo if task not in self._compiled and task not in self._left]
            if self._left and self._process is None:
                self._process = self._begin()

    def prefer(self, tasks: Iterable[str]) -> None:
        """Move those of ``tasks`` that wait to the front, in this order."""
        with self._changed:
            preferred = [task for task in dict.fromkeys(tasks) if task in self._left[1:]]
            self._left[1:] = [*preferred, *(task for task in self._left[1:] if task not in preferred)]

    def wait(self, task: str) -> None:
        """Wait until a task is done, or the other process has ended."""
        with self._changed:
            self._changed.wait_for(lambda: task not in self._left)

    def load(self, task: str) -> None:
        """Wait until a task is compiled, and load it."""
        self.wait(task)
        compile_task(task)

    def close(self) -> None:
        """End the other process for good."""
        with self._changed:
            self._ended = True
            process = self._process
        if process is not None:
            process.kill()
            self._listener.join()

    def _begin(self) -> subprocess.Popen[str]:
        """Start the other process and a thread that listens to it.

        The module multiprocessing would run the script of a page in it, which is Python's main module here.
        """
        path = os.pathsep.join([str(_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "pages.shared.compiling", "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        self._listener = threading.Thread(target=self._listen, args=[process], name="compiled ahead", daemon=True)
        self._listener.start()
        return process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError), process:  # what it was told last may not have reached it any more
            while task := self._next_task():
                process.stdin.write(f"{task}\n")
                process.stdin.flush()
                if not any(line.strip() == task for line in process.stdout):
                    break
                with self._changed:
                    self._left.remove(task)
                    self._compiled.add(task)
                    self._changed.notify_all()
        with self._changed:
            if self._process is process:  # it has ended by itself: what is left is compiled where it is needed
                self._ended = True
                self._left.clear()
                self._changed.notify_all()

    def _next_task(self) -> str:
        """Return the next task, or an empty text, at which the other process ends."""
        with self._changed:
            if not self._left:
                self._process = None
            return self._left[0] if self._left else ""


_LOCK = threading.Lock()


@functools.cache
def _only() -> Ahead:
    return Ahead(FIRST_TASKS)


def ahead() -> Ahead:
    """Return the :class:`Ahead` of all visitors of this server, which the first call starts."""
    with _LOCK:
        return _only()


def _serve() -> None:
    """Do the tasks on standard input and print each that is done, until standard input ends."""
    todo: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            todo.put(line.strip())
        os._exit(0)  # the other process has ended, or has no further tasks

    threading.Thread(target=listen, daemon=True).start()
    done = _on_disk()
    for number in itertools.count():
        if number == 1:  # a page may be waiting for the first task already
            with suppress(AttributeError, OSError):
                os.nice(5)
        task = todo.get()
        compile_task(task)
        done.add(task)
        _remember(done)
        print(task, flush=True)


def _time_task(task: str) -> tuple[str, float]:
    started = time.perf_counter()
    compile_task(task)
    return task, time.perf_counter() - started


def main() -> None:
    """Compile all tasks, and print those that took long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1, help="how many compile at a time")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        _serve()
    # The longest come first, and tasks with common kernels are not neighbors.
    longest = [SEARCH, EXACT, *(key + MANY for key in _BY_TREE), "k-member"]
    with get_context("spawn").Pool(arguments.processes) as pool:
        for task, seconds in pool.imap_unordered(_time_task, list(dict.fromkeys([*longest, *tasks()]))):
            if seconds > 1.0:
                print(f"{seconds:6.1f} s  {task}", flush=True)
    _remember(tasks())


if __name__ == "__main__":
    main()
