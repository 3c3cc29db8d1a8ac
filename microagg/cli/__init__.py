"""The command line: ``microagg`` in a shell, or ``python -m microagg``."""

from __future__ import annotations

import os
import signal
from typing import Any

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line with the arguments of the shell."""
    # The commands take a while to load, and handle Ctrl-C only then.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stopped)
    from microagg.cli import group

    group.main()


def _stopped(*_: Any) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(130)


def __getattr__(name: str) -> Any:
    if name != "cli":
        raise AttributeError(f"No {__name__} attribute {name}")
    from microagg.cli.group import cli

    return cli
