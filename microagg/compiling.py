"""Kernels compiled ahead of their first use, task by task, where possible in a process of its own.

    python -m microagg.compiling [--processes 2]

compiles all of them, or only loads what is on disk already; it takes a minute or two, once on a machine. A task is the
key of an algorithm, the same with ``MANY`` behind it for many records, or one of the further ones in :func:`tasks`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from microagg import certificate, experiment
from microagg.metrics import bounds, risk
from microagg.problem import Problem
from microagg.registry import ALGORITHMS

#: Behind the key of an algorithm: its kernels for many records.
MANY = " for many records"

FLOOR, SEARCH, EXACT = "the neighbor search", "the search and the linear program", "the exact optimum"
LINKAGE = "record linkage"

# What the dashboard asks for first, in this order; the algorithms with other kernels for many records come last.
_FIRST = ("mdav-star", "v-mdav", "mdav", FLOOR, "mdav-plus", LINKAGE, "k-member", "local-search", "cbfs", SEARCH)
_BY_TREE = ("mdav", "mdav-plus", "v-mdav", "mdav-star", "cbfs")

_PACKAGE = Path(__file__).parent


def tasks() -> list[str]:
    """Return all tasks, in the order in which the dashboard needs them."""
    return list(dict.fromkeys([*_FIRST, *ALGORITHMS, EXACT, *(key + MANY for key in _BY_TREE)]))


def tasks_of(keys: Iterable[str], n: int = 0) -> list[str]:
    """Return the tasks that the algorithms ``keys`` need for ``n`` records and this process has not done yet."""
    behind = MANY if n >= experiment.MANY else ""
    return [key + behind for key in experiment.unprepared(keys, n)]


def title(task: str) -> str:
    """Return what the screen calls a task."""
    key = task.removesuffix(MANY)
    return f"{ALGORITHMS[key].info.title}{task.removeprefix(key)}" if key in ALGORITHMS else task


def compile_task(task: str) -> None:
    """Compile what a task needs, or load it where an earlier process left it on disk."""
    others: dict[str, Callable[[], object]] = {
        FLOOR: lambda: certificate.floors(Problem.of(np.arange(12.0).reshape(6, 2)), [2]),
        SEARCH: certificate.prepare,
        LINKAGE: lambda: risk.record_linkage(np.eye(3), np.eye(3)),
        EXACT: lambda: bounds.exact(np.random.default_rng(0).normal(size=(9, 2)), 3),
    }
    if task in others:
        others[task]()
    else:
        experiment.prepare([task.removesuffix(MANY)], n=experiment.MANY if task.endswith(MANY) else 0)


def _stamp() -> Path:
    """Return the file that says what is on disk; it stands where compiled code does."""
    own = importlib.import_module("numba").config.CACHE_DIR
    return (Path(own) if own else _PACKAGE / "__pycache__") / "compiled.json"


def _state() -> str:
    """Return what compiled code depends on: the sources, the compiler, the interpreter and the processor."""
    digest = hashlib.sha256(sys.version.encode())
    digest.update(importlib.import_module("numba").__version__.encode())
    digest.update(importlib.import_module("llvmlite.binding").get_host_cpu_name().encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        if b"numba" in (text := source.read_bytes()):
            digest.update(text)
    return digest.hexdigest()


def _on_disk() -> set[str]:
    """Return the tasks whose kernels are on disk."""
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
    """Tasks done by another process, whose compiled code this one then loads from disk; this one stays quick meanwhile.

    Parameters
    ----------
    todo : iterable of str, optional
        The tasks, in their order; default: all that are not on disk.
    """

    def __init__(self, todo: Iterable[str] | None = None) -> None:
        there = _on_disk()
        self._left = [task for task in (tasks() if todo is None else todo) if task not in there]
        self._changed = threading.Condition()
        self._process: subprocess.Popen[str] | None = None
        if self._left:
            path = os.pathsep.join([str(_PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
            self._process = subprocess.Popen(
                [sys.executable, "-m", "microagg.compiling", "--serve", *self._left],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | {"PYTHONPATH": path},
            )
            self._listener = threading.Thread(
                target=self._listen, args=[self._process], name="compiled ahead", daemon=True
            )
            self._listener.start()

    @property
    def left(self) -> list[str]:
        """The tasks that are not done yet, the one under way first."""
        with self._changed:
            return list(self._left)

    def wait(self, task: str) -> None:
        """Have a task done next, and wait until it is, or until nobody does it."""
        with self._changed:
            if task not in self._left or self._process is None:
                return
            if task != self._left[0]:
                self._left.remove(task)
                self._left.insert(1, task)
                with suppress(OSError, ValueError):  # it may have ended
                    assert self._process.stdin is not None
                    self._process.stdin.write(f"{task}\n")
                    self._process.stdin.flush()
            self._changed.wait_for(lambda: task not in self._left)

    def close(self) -> None:
        """End the other process."""
        if self._process is not None:
            self._process.kill()
            self._listener.join()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        with suppress(OSError), process:  # what it was asked last may not have reached it any more
            assert process.stdout is not None
            for line in process.stdout:
                with self._changed:
                    if (task := line.strip()) in self._left:
                        self._left.remove(task)
                    self._changed.notify_all()
        with self._changed:  # it has ended: what is left is compiled where it is needed
            self._left.clear()
            self._changed.notify_all()


def _serve(todo: list[str]) -> None:
    """Do tasks and print each that is done; those that standard input names go first; end when it does."""
    with suppress(AttributeError, OSError):
        os.nice(5)
    first: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            first.put(line.strip())
        os._exit(0)  # whoever has begun this has ended

    threading.Thread(target=listen, daemon=True).start()
    done = _on_disk()
    while todo:
        with suppress(queue.Empty):
            while True:
                asked = first.get_nowait()
                if asked in todo:
                    todo.remove(asked)
                    todo.insert(0, asked)
        task = todo.pop(0)
        compile_task(task)
        done.add(task)
        _remember(done)
        print(task, flush=True)
    os._exit(0)


def _timed(task: str) -> tuple[str, float]:
    started = time.perf_counter()
    compile_task(task)
    return task, time.perf_counter() - started


def main() -> None:
    """Compile all tasks, and say what took long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1, help="how many compile at a time")
    parser.add_argument("--serve", nargs="+", metavar="TASK", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        _serve(arguments.serve)
        return
    # What takes longest comes first, and those that share most of their kernels apart from each other.
    longest = [SEARCH, EXACT, *(key + MANY for key in _BY_TREE), "k-member"]
    with get_context("spawn").Pool(arguments.processes) as pool:
        for task, seconds in pool.imap_unordered(_timed, list(dict.fromkeys([*longest, *tasks()]))):
            if seconds > 1.0:
                print(f"{seconds:6.1f} s  {title(task)}", flush=True)
    _remember(tasks())


if __name__ == "__main__":
    main()
