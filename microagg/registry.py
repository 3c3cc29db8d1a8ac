"""Finds the algorithms: every class in ``microagg/algorithms/`` that declares an ``info`` is registered by its key."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from types import MappingProxyType
from typing import Any

from microagg import algorithms
from microagg.base import Microaggregator, check_params, register_starts
from microagg.errors import ParameterError
from microagg.validation import check_k


def _discover() -> dict[str, type[Microaggregator]]:
    found: dict[str, type[Microaggregator]] = {}
    for module_info in pkgutil.iter_modules(algorithms.__path__):
        module = importlib.import_module(f"{algorithms.__name__}.{module_info.name}")
        for value in vars(module).values():
            if not (isinstance(value, type) and issubclass(value, Microaggregator) and "info" in vars(value)):
                continue
            if value.__module__ != module.__name__:
                continue
            key = value.info.key
            if key in found:
                raise RuntimeError(f"two algorithms have the key {key!r}: {found[key]} and {value}")
            found[key] = value
    ordered = sorted(found, key=lambda key: (found[key].info.family, found[key].info.year, key))
    return {key: found[key] for key in ordered}


#: Every algorithm by its key, family by family.
ALGORITHMS: MappingProxyType[str, type[Microaggregator]] = MappingProxyType(_discover())

register_starts(ALGORITHMS)


def algorithm(key: str) -> type[Microaggregator]:
    """Return the class registered under ``key``, or raise :class:`ParameterError` with the nearest keys."""
    try:
        return ALGORITHMS[key]
    except (KeyError, TypeError):
        near = difflib.get_close_matches(str(key), ALGORITHMS, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(ALGORITHMS)}."
        raise ParameterError(f"there is no algorithm {key!r}: {hint}") from None


def make(key: str, k: int = 3, **params: Any) -> Microaggregator:
    """Return an estimator for the algorithm ``key``, its parameters checked.

    Raises
    ------
    ParameterError
        If there is no such algorithm or parameter, or a value is out of bounds.
    """
    cls = algorithm(key)
    return cls(k=check_k(k), **check_params(cls, params))
