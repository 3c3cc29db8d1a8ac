"""Texts to files."""

from __future__ import annotations

import os
from pathlib import Path

from microagg.errors import DataError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` in UTF-8, with line ends of one kind on every system.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    try:
        # Half of a pair of code units, which a column name can have, is in no UTF-8.
        Path(path).write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise DataError(f"the file {os.fspath(path)!r} cannot be written: {error.strerror}.") from None
