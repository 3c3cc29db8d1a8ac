"""The threads on which kernels run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

#: How many threads are used.
THREADS = min(os.cpu_count() or 1, 8)


def in_parts(
    threads: ThreadPoolExecutor, work: Callable[[int, int], object], start: int, stop: int, parts: int
) -> None:
    """Call ``work(first, last)`` for ``parts`` equal parts of the range from ``start`` to ``stop``, those not empty."""
    cuts = np.linspace(start, stop, parts + 1).astype(int).tolist()
    for done in [threads.submit(work, *part) for part in pairwise(cuts) if part[0] < part[1]]:
        done.result()
