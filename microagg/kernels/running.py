"""How compiled functions are made that only borrow the arrays they are given, and make none.

At each call numba counts anew who holds the arrays of a named tuple, atomically: in local search, where small functions
pass the nineteen arrays of a state to each other, that took two thirds of the time. A function that makes no arrays,
and gets none from another function, need not count: whoever calls it holds what it is given. Numba refuses to compile
any other function in this way. It does not pay where functions are few and large: there it has been slower.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numba import njit

# An option of numba since 2015 that its type hints do not list.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}

#: Decorates such a function, in place of ``njit(cache=True, nogil=True)``.
borrows = njit(cache=True, nogil=True, **_UNCOUNTED)


# The threads on which kernels run side by side.

Result = TypeVar("Result")

#: How many threads are used.
THREADS = min(os.cpu_count() or 1, 8)


def in_parts(
    executor: ThreadPoolExecutor, work: Callable[[int, int], Result], start: int, stop: int, parts: int
) -> list[Result]:
    """Return ``work(first, last)`` for each non-empty one of ``parts`` equal parts of ``start`` to ``stop``."""
    cuts = np.linspace(start, stop, parts + 1).astype(int).tolist()
    return [done.result() for done in [executor.submit(work, *part) for part in pairwise(cuts) if part[0] < part[1]]]
