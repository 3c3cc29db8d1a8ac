"""Packages whose names are loaded when they are first used, so that importing them takes no time."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return what is to be called ``__getattr__`` in a package, which calls this once; ``dir`` has all names from now.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        Each public name with the module below the package that has it; "" for a module of its own.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = importlib.import_module(f"{package}.{homes[name] or name}")
        if homes[name]:
            value = getattr(value, name)
        setattr(module, name, value)
        return value

    module = sys.modules[package]
    # What a notebook offers to complete are all names, loaded or not.
    module.__dir__ = lambda: sorted({*vars(module), *homes})  # type: ignore[method-assign]
    return load
