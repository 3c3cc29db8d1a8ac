"""How kernels are compiled and run: small functions that only borrow arrays, threads, and the solver of programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numba import njit

# An option of numba since 2015 that its type hints do not list.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}

#: Decorates a function that makes no arrays and gets none from another one, in place of ``njit(cache=True,
#: nogil=True)``. At each call numba counts anew who holds the arrays of a named tuple, atomically: in local search,
#: where small functions pass the nineteen arrays of a state to each other, that took two thirds of the time. Such a
#: function need not count, as whoever calls it holds what it is given; numba refuses to compile any other in this way.
#: It does not pay where functions are few and large: there it has been slower.
borrows = njit(cache=True, nogil=True, **_UNCOUNTED)

Result = TypeVar("Result")

#: How many threads kernels run on side by side.
THREADS = min(os.cpu_count() or 1, 8)


def in_parts(
    executor: ThreadPoolExecutor, work: Callable[[int, int], Result], start: int, stop: int, parts: int
) -> list[Result]:
    """Return ``work(first, last)`` for each non-empty one of ``parts`` equal parts of ``start`` to ``stop``."""
    cuts = np.linspace(start, stop, parts + 1).astype(int).tolist()
    return [done.result() for done in [executor.submit(work, *part) for part in pairwise(cuts) if part[0] < part[1]]]


@cache
def _silent_solver() -> Any:
    """Return the class of HiGHS, imported only by those who need it, that prints nothing."""
    import highspy

    class Silent(highspy.Highs):
        def enableCallbacks(self) -> None:  # noqa: N802 - the name is that of HiGHS
            # From 1.16 on HiGHS would say its version as soon as it is made; its constructor calls this before.
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call]

    return Silent


def new_solver(**options: Any) -> Any:
    """Return a new solver of linear and integer programs that prints nothing, with further ``options`` of HiGHS."""
    solver = _silent_solver()()
    # The solver refuses another number of threads than the first one of the process had.
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        solver.setOptionValue(option, value)
    return solver
