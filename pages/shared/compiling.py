"""Kernels compiled ahead of their first use, in another process, so that pages load them from disk.

    python -m pages.shared.compiling [--processes 2]

compiles all kernels, or loads them from disk; it takes about a minute, once on a machine. A task is the key of an
algorithm, the same with the suffix ``MANY`` for many records, or a further one in :func:`tasks`. What a page needs before
the other process has come to it is compiled in its job.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import os
import subprocess
import sys
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

# The methods compared by default, and further parts of their figures.
_FIRST_TASKS = ("mdav", "mdav-plus", "v-mdav", "mdav-star", FLOOR, "k-member", SEARCH, LINKAGE, "local-search", "cbfs")

# The algorithms with other kernels for many records; these come last.
_BY_TREE = ("mdav", "mdav-plus", "v-mdav", "mdav-star", "cbfs")


def tasks() -> list[str]:
    """Return all tasks in the order in which they are compiled ahead."""
    from microagg.algorithms.registry import ALGORITHMS

    return list(dict.fromkeys([*_FIRST_TASKS, *ALGORITHMS, MIXED, EXACT, *(key + MANY for key in _BY_TREE)]))


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
            certificate.Floors(Problem.of(data), [2]).improve()
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


@functools.cache
def _stamp() -> Path:
    """Return the file that stands where all is compiled, one for the sources, compiler, interpreter and processor."""
    digest = hashlib.sha256(sys.version.encode())
    digest.update(importlib.import_module("numba").__version__.encode())
    digest.update(importlib.import_module("llvmlite.binding").get_host_cpu_name().encode())
    for source in sorted(Path(microagg.__file__).parent.rglob("*.py")):
        if b"kernels" in (text := source.read_bytes()) or b"numba" in text:
            digest.update(text)
    folder: Path = importlib.import_module("microagg.kernels.cache").cache_folder()
    return folder / f"all-{digest.hexdigest()[:20]}" / "compiled"


@functools.cache
def start_ahead() -> subprocess.Popen[bytes] | None:
    """Start the other process, once for this server, unless all is compiled."""
    if _stamp().exists():
        return None
    # The module multiprocessing would run the script of a page in it, which is Python's main module here.
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", "pages.shared.compiling"]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": path})


def main() -> None:
    """Compile all tasks; in one process, only as long as the process that started it goes on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1, help="how many compile at a time")
    processes, parent = parser.parse_args().processes, os.getppid()
    if processes > 1:
        with get_context("spawn").Pool(processes) as pool:
            pool.map(compile_task, tasks(), chunksize=1)
    else:
        with suppress(AttributeError, OSError):
            os.nice(5)
        for task in tasks():
            if os.getppid() != parent:
                return
            compile_task(task)
    with suppress(OSError):  # where nothing can be written, nothing was cached there either
        _stamp().parent.mkdir(exist_ok=True)
        _stamp().touch()


if __name__ == "__main__":
    main()
