"""The command line: ``microagg`` in a shell, or ``python -m microagg``."""

from microagg.cli.group import cli, main

__all__ = ["cli", "main"]
