"""The solver of linear and integer programs, HiGHS; imported where it is used, as not everybody needs it."""

from __future__ import annotations

from typing import Any

import highspy


class _Silent(highspy.Highs):
    """HiGHS that prints nothing: from 1.16 on it would say its version as soon as it is made."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the name is that of HiGHS
        # Called by the constructor, before anybody could say that nothing is to be printed.
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def new_solver(**options: Any) -> Any:
    """Return a new solver that prints nothing and computes in one thread, with further ``options`` of HiGHS."""
    solver = _Silent()  # type: ignore[no-untyped-call]
    # The solver refuses another number of threads than the first one of the process had.
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        solver.setOptionValue(option, value)
    return solver
