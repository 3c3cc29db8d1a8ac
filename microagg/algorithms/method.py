"""Methods: algorithms with parameters, each one value or several to pick the best of.

What methods are chosen among are :data:`VARIANTS`: every algorithm, some in two settings that are compared under names
of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from microagg.algorithms.base import Microaggregator, Preset, check_params, is_own
from microagg.algorithms.registry import ALGORITHMS, algorithm, register
from microagg.errors import ParameterError


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
        if not isinstance(self.params, Mapping):
            raise ParameterError(f"params must map names of parameters to values, not be {self.params!r}.")
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
    def of(cls, given: Given) -> Method:
        """Method from any of its forms.

        Parameters
        ----------
        given : str, (str, mapping), Method, or an algorithm
            A key, a pair (key, params), a method, or the class or an instance of an algorithm. The k of an instance is
            ignored. A class that is not registered yet is registered first, see :func:`microagg.register`.

        Raises
        ------
        ParameterError
            As :class:`Method`; if ``given`` is anything else.
        """
        if isinstance(given, Method):
            return given
        if isinstance(given, type | Microaggregator):
            estimator_class: Any = given if isinstance(given, type) else type(given)
            if ALGORITHMS.get(getattr(vars(estimator_class).get("info"), "key", "")) is not estimator_class:
                register(estimator_class)
            params = {} if isinstance(given, type) else given.get_params()
            return cls(estimator_class.info.key, {name: value for name, value in params.items() if name != "k"})
        if isinstance(given, str):
            return cls(given)
        pair: Any = given
        if isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], Mapping):
            return cls(*pair)
        raise ParameterError(f"a method is a key, a pair (key, parameters), a Method or an algorithm, not {given!r}.")

    @property
    def label(self) -> str:
        """The title and all parameters not at their defaults: ``V-MDAV (γ = 0.3)`` or ``V-MDAV (best γ), polished``."""
        declared = {param.name: param for param in algorithm(self.key).params}
        parts = []
        for name, value in self.params.items():
            if isinstance(value, tuple):
                parts.append(f"best {declared[name].symbol or name}")
            elif value != declared[name].default:
                parts.append(declared[name].set_to(value))
        setting = f" ({', '.join(parts)})" if parts else ""
        return f"{algorithm(self.key).info.title}{setting}{', polished' if self.polish else ''}"

    def settings(self) -> list[dict[str, Any]]:
        """Return every combination of parameter values, each with all parameters of the algorithm."""
        combinations = itertools.product(*map(_options, self.params.values()))
        cls = algorithm(self.key)
        return [check_params(cls, dict(zip(self.params, values, strict=True))) for values in combinations]


def _options(value: Any) -> tuple[Any, ...]:
    several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    return tuple(value.tolist() if isinstance(value, np.ndarray) else value) if several else (value,)


# --- variants ---------------------------------------------------------------------------------------------------------


#: What :meth:`Method.of` takes.
Given = str | tuple[str, Mapping[str, Any]] | Method | type[Microaggregator] | Microaggregator


@dataclass(frozen=True)
class Variant:
    """An algorithm in one setting."""

    name: str  #: what the dashboard's addresses call it: the algorithm's key, unless the algorithm has presets
    key: str  #: the algorithm's
    title: str  #: what the screen calls it
    fixed: Mapping[str, Any] = field(default_factory=dict)  #: the parameters that make it this variant
    penalty: str = ""  #: the parameter by which it uses classes; empty if it does not
    usual_penalty: float = 0.0  #: what that parameter is where nothing else is chosen

    @property
    def needs_classes(self) -> bool:
        """Whether it takes a class for each record."""
        return bool(self.penalty)

    @property
    def needs_closeness(self) -> bool:
        """Whether it is for closeness of a confidential column; without it forms the groups of another one."""
        return algorithm(self.key).info.family == "Closeness"

    @property
    def mixed(self) -> bool:
        """Whether it works on ordinal and nominal attributes too."""
        return algorithm(self.key).info.mixed

    def method(self, params: Mapping[str, Any] = MappingProxyType({})) -> Method:
        """Return the variant as a method with parameters ``params`` of its algorithm, each a value or several.

        Those that make it this variant stay as they are. A penalty of 0, or none, is replaced by the usual one; other
        parameters that need classes are left out.

        Raises
        ------
        ParameterError
            If the algorithm has no such parameter, or a value is out of its bounds.
        """
        unused = _needing_classes(algorithm(self.key)) - {self.penalty}
        chosen = {name: value for name, value in params.items() if name not in unused} | dict(self.fixed)
        if self.penalty:
            penalty = chosen.get(self.penalty, 0.0)
            chosen[self.penalty] = self.usual_penalty if np.ndim(penalty) == 0 and penalty == 0 else penalty
        return Method(self.key, chosen)


def _needing_classes(cls: type[Microaggregator]) -> set[str]:
    return {param.name for param in cls.params if param.needs_classes}


def _variants_of(cls: type[Microaggregator]) -> list[Variant]:
    info, needing_classes = cls.info, _needing_classes(cls)
    variants = []
    marked = " (your own)" if is_own(cls) else ""
    for preset in info.presets or (Preset(info.key, info.title, {}),):
        fixed = {name: value for name, value in preset.params.items() if name not in needing_classes}
        penalty = next((name for name in preset.params if name in needing_classes), "")
        title, usual = preset.title + marked, float(preset.params.get(penalty, 0.0))
        variants.append(Variant(preset.name, info.key, title, fixed, penalty, usual))
    return variants


_variants: dict[str, Variant] = {}

#: The variants of all algorithms by name, family by family.
VARIANTS: Mapping[str, Variant] = MappingProxyType(_variants)


def refresh() -> None:
    """Take the variants of algorithms that have been registered since the last time."""
    _variants.update({variant.name: variant for cls in ALGORITHMS.values() for variant in _variants_of(cls)})


refresh()

#: What a record outside its group's majority class costs where no other penalty is chosen.
PENALTY = max(variant.usual_penalty for variant in VARIANTS.values())
