"""One file per algorithm, or close family. Importing any of them imports all, so that each can be found by its key."""

from __future__ import annotations

import importlib
import pkgutil

from microagg.algorithms import registry
from microagg.algorithms.base import REGISTERED, Microaggregator

__all__ = ["REGISTERED"]

# What all algorithms build on, and what finds them.
_BESIDE = {"base", "estimator", "method", "registry", "signatures"}


def _discover() -> dict[str, type[Microaggregator]]:
    """Find the classes of this package that declare an ``info``, sorted by family and year."""
    classes: dict[str, type[Microaggregator]] = {}
    for name in {file.name for file in pkgutil.iter_modules(__path__)} - _BESIDE:
        for cls in registry.algorithms_in(importlib.import_module(f"{__name__}.{name}")):
            key = cls.info.key
            if key in classes:
                raise RuntimeError(f"two algorithms have the key {key!r}: {classes[key]} and {cls}")
            classes[key] = cls
    return dict(sorted(classes.items(), key=lambda item: (item[1].info.family, item[1].info.year, item[0])))


REGISTERED.update(_discover())
registry.load_user_algorithms()
