"""What this room needs besides microagg, loaded when it is needed."""

from __future__ import annotations

import importlib
from typing import Any

from microagg.errors import DataError


def load(name: str) -> Any:
    """Return a module of dask, distributed or pyarrow.

    Raises
    ------
    DataError
        If the package is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = str(error.name or name).split(".")[0]
        raise DataError(
            f"files that do not fit into memory need the package {package}: install microagg[dask]."
        ) from None
