"""The threads on which kernels run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")

#: How many threads are used.
THREADS = min(os.cpu_count() or 1, 8)


def in_parts(
    executor: ThreadPoolExecutor, work: Callable[[int, int], Result], start: int, stop: int, parts: int
) -> list[Result]:
    """Return ``work(first, last)`` for each non-empty one of ``parts`` equal parts of ``start`` to ``stop``."""
    cuts = np.linspace(start, stop, parts + 1).astype(int).tolist()
    return [done.result() for done in [executor.submit(work, *part) for part in pairwise(cuts) if part[0] < part[1]]]
