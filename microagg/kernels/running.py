"""How kernels are run: on threads, and the solver of linear and integer programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

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
