"""Who works on a release: this process, or the workers of Dask."""

from __future__ import annotations

from typing import Any

from microagg.cli.flags import Flag
from microagg.errors import ParameterError

_FLAGS = ("scheduler", "workers", "memory_limit")


def engine_flags() -> list[Flag]:
    """Return the flags that say who works on a release in parts."""
    flags = [
        Flag(["--scheduler"], metavar="ADDRESS", help="The scheduler of Dask, such as tcp://10.0.0.5:8786."),
        Flag(["--workers"], type=int, metavar="N", help="How many workers are started here. Default: one a core."),
        Flag(["--memory-limit"], metavar="SIZE", help="Of each worker that is started here, such as 2GiB."),
    ]
    for flag in flags:
        flag.section = "With --engine dask, for files that do not fit into memory"
    return flags


def take_engine(given: dict[str, Any], *, in_parts: bool) -> dict[str, Any]:
    """Take who works on a release in parts out of what a command got.

    Raises
    ------
    ParameterError
        If something is said of that though the release is made in memory, or in two ways.
    """
    said = {name: value for name in _FLAGS if (value := given.pop(name)) is not None}
    if said and not in_parts:
        raise ParameterError(f"--{next(iter(said)).replace('_', '-')} is for --engine dask: leave it out, or add that.")
    if "scheduler" in said and len(said) > 1:
        raise ParameterError("workers are started here only where there is no --scheduler: leave one of them out.")
    return {("client" if name == "scheduler" else name): value for name, value in said.items()}
