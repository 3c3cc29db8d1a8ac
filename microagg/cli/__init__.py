"""The command line: ``microagg`` in a shell, or ``python -m microagg``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line with the arguments of the shell."""
    # The commands take a while to load, and handle Ctrl-C only then.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stopped)
    from microagg.cli.group import cli

    try:
        cli.main(prog_name="microagg")
    except SystemExit as end:
        # All is written: what Python has left to do is not to be stopped.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if end.code == 130:
            # Python itself would end by the signal if it came during the compilation of an import.
            sys.stdout.flush()
            os._exit(130)
        raise


def _stopped(*_: Any) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(130)


def __getattr__(name: str) -> Any:
    if name != "cli":
        raise AttributeError(f"No {__name__} attribute {name}")
    from microagg.cli.group import cli

    return cli
