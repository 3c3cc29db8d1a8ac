"""Methods: algorithms with parameters, each one value or several to pick the best of."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microagg.base import check_params
from microagg.errors import ParameterError
from microagg.registry import algorithm


@dataclass(frozen=True)
class Method:
    """An algorithm with its parameters, each one value or several to pick the best of.

    Parameters
    ----------
    key : str
        The algorithm's key.
    params : mapping of str to a value or a sequence of values
        Parameters left out have their default. Several values mean: run all and keep the lowest SSE (of mixed
        records: the lowest Total-IL), for each k on its own, as the literature does for γ of V-MDAV. Which
        setting is best is known only afterwards: one chosen beforehand loses more.
    polish : bool
        Whether the partition is improved by local search afterwards; see :mod:`microagg.kernels.local_search.descent`.

    Raises
    ------
    ParameterError
        If there is no such algorithm or parameter, or a value is out of bounds.
    """

    key: str
    params: Mapping[str, Any] = field(default_factory=dict)
    polish: bool = False

    def __post_init__(self) -> None:
        cls = algorithm(self.key)
        options = {name: _options(value) for name, value in self.params.items()}
        for name, values in options.items():
            if not values:
                raise ParameterError(f"{name} of {cls.info.title} has no values to try.")
            for value in values:
                check_params(cls, {name: value})
        object.__setattr__(self, "params", {name: v if len(v) > 1 else v[0] for name, v in options.items()})

    def __hash__(self) -> int:
        return hash((self.key, tuple(sorted(self.params.items())), self.polish))

    @classmethod
    def of(cls, given: str | tuple[str, Mapping[str, Any]] | Method) -> Method:
        """Return a method from a key, a pair (key, params), or a method."""
        if isinstance(given, Method):
            return given
        return cls(given) if isinstance(given, str) else cls(*given)

    @property
    def label(self) -> str:
        """The title with what is not at its default, such as ``V-MDAV (γ = 0.3)`` or ``V-MDAV (best γ), polished``."""
        known = {param.name: param for param in algorithm(self.key).params}
        parts = []
        for name, value in self.params.items():
            shown = known[name].symbol or name
            if isinstance(value, tuple):
                parts.append(f"best {shown}")
            elif value != known[name].default:
                parts.append(f"{shown} = {value:g}" if isinstance(value, float) else f"{shown} = {value}")
        title = algorithm(self.key).info.title
        title = f"{title} ({', '.join(parts)})" if parts else title
        return f"{title}, polished" if self.polish else title

    def settings(self) -> list[dict[str, Any]]:
        """Return every combination of parameter values, defaults filled in."""
        names = list(self.params)
        combinations = itertools.product(*(_options(self.params[name]) for name in names))
        return [check_params(algorithm(self.key), dict(zip(names, values, strict=True))) for values in combinations]


def _options(value: Any) -> tuple[Any, ...]:
    several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    return tuple(value.tolist() if isinstance(value, np.ndarray) else value) if several else (value,)
