"""The algorithms by their keys: every class in ``microagg/algorithms/`` that declares an ``info``."""

from __future__ import annotations

import inspect
import re
from types import MappingProxyType
from typing import Any

from microagg import algorithms
from microagg.algorithms.base import Microaggregator, check_params
from microagg.errors import ParameterError
from microagg.validation import check_k, nearest_keys

#: Every algorithm by its key, family by family.
ALGORITHMS: MappingProxyType[str, type[Microaggregator]] = MappingProxyType(algorithms.REGISTERED)


def algorithm(key: str) -> type[Microaggregator]:
    """Return the class registered under ``key``, or raise :class:`ParameterError` with the nearest keys."""
    try:
        return ALGORITHMS[key]
    except (KeyError, TypeError):
        raise ParameterError(f"there is no algorithm {key!r}: {nearest_keys(key, ALGORITHMS)}") from None


def definition(key: str) -> str:
    """Return how an algorithm decides, step by step, as its file says it, in Markdown.

    Raises
    ------
    ParameterError
        If there is no such algorithm.
    """
    text = inspect.getdoc(inspect.getmodule(algorithm(key))) or ""
    _, _, steps = text.partition("\n\n")
    steps = re.sub(r"\n\nSources?:(?s:.*)", "", steps)
    steps = re.sub(r":(?:mod|func|class):`~?([^`]*)`", r"`\1`", steps)
    # Markdown knows no steps with letters.
    steps = re.sub(r"(?m)^( +)([a-h])\. ", r"\1- \2\\. ", steps)
    # A star in a formula is no Markdown.
    return re.sub(r"``([^`]*)``", r"`\1`", steps).replace("*", r"\*")


def make(key: str, k: int = 3, **params: Any) -> Microaggregator:
    """Return an estimator for the algorithm ``key``, its parameters checked.

    Parameters
    ----------
    key : str
        One of :data:`ALGORITHMS`.
    k : int, default 3
        The least number of records in a group.
    **params
        The parameters of the algorithm; those left out have their default.

    Returns
    -------
    Microaggregator

    Raises
    ------
    ParameterError
        If there is no such algorithm or parameter, or a value is out of bounds.
    """
    cls = algorithm(key)
    return cls(k=check_k(k), **check_params(cls, params))
