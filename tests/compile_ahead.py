"""Compile the kernels on two cores, each of them once, before many tests at a time ask for the same ones.

Run it as ``python -m tests.compile_ahead``; what is on disk already is only loaded.
"""

from __future__ import annotations

import time
from multiprocessing import get_context

import numpy as np

from microagg import ALGORITHMS, Search, experiment, make, metrics

#: Algorithms that go by a k-d tree where there are many records, each with kernels of its own for it.
BY_TREE = ("mdav", "mdav-plus", "v-mdav", "mdav-star", "cbfs")

#: What takes longest comes first, and by turns: two that share most of their kernels are not compiled at a time.
TASKS = [
    "search",
    "set partitioning",
    "clique partitioning",
    *(f"{key} by tree" for key in BY_TREE),
    "mixed attributes",
    *(key for key, cls in ALGORITHMS.items() if not cls.info.mixed),
]


def compile_for(task: str) -> tuple[str, float]:
    """Run something small that needs the kernels of ``task``, and return it and the seconds it took."""
    started, draw = time.perf_counter(), np.random.default_rng(0)
    if task == "search":
        Search(draw.normal(size=(40, 2)), 3).improve(iterations=20)
    elif task == "set partitioning":
        metrics.bounds.linear_program(draw.normal(size=(20, 2)), 3, 300.0)
        metrics.bounds.exact(draw.normal(size=(9, 2)), 3)
    elif task == "clique partitioning":
        metrics.bounds.linear_program(draw.normal(size=(40, 2)), 7, 20.0)
    elif task == "mixed attributes":
        experiment.prepare(key for key, cls in ALGORITHMS.items() if cls.info.mixed)
    elif task.endswith(" by tree"):
        make(task.removesuffix(" by tree"), k=50).fit(draw.random((12_000, 2)))
    else:
        experiment.prepare([task])
    return task, time.perf_counter() - started


if __name__ == "__main__":
    with get_context("spawn").Pool(2) as pool:
        for task, seconds in pool.imap_unordered(compile_for, TASKS):
            if seconds > 1.0:
                print(f"{seconds:6.1f} s  {task}", flush=True)
