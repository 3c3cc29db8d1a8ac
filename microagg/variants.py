"""What methods are chosen among: every algorithm, some in two settings that are compared under names of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from microagg.base import Microaggregator, Preset
from microagg.method import Method
from microagg.registry import ALGORITHMS, algorithm


@dataclass(frozen=True)
class Variant:
    """An algorithm in one setting.

    Attributes
    ----------
    name : str
        What the dashboard's addresses call it: the algorithm's key, unless the algorithm has presets.
    key : str
        The algorithm's key.
    title : str
        What the screen calls it.
    fixed : mapping
        The parameters that make it this variant.
    penalty : str
        The parameter by which it uses classes; empty if it does not.
    usual_penalty : float
        What that parameter is where nothing else is chosen.
    """

    name: str
    key: str
    title: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    penalty: str = ""
    usual_penalty: float = 0.0

    @property
    def needs_classes(self) -> bool:
        """Whether it takes a class for each record."""
        return bool(self.penalty)

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
    found = []
    for preset in info.presets or (Preset(info.key, info.title, {}),):
        fixed = {name: value for name, value in preset.params.items() if name not in needing_classes}
        penalty = next((name for name in preset.params if name in needing_classes), "")
        found.append(
            Variant(preset.name, info.key, preset.title, fixed, penalty, float(preset.params.get(penalty, 0.0)))
        )
    return found


def _by_name(classes: Iterable[type[Microaggregator]]) -> Mapping[str, Variant]:
    found = [variant for cls in classes for variant in _variants_of(cls)]
    return MappingProxyType({variant.name: variant for variant in found})


#: The variants of all algorithms by name, family by family.
VARIANTS: Mapping[str, Variant] = _by_name(ALGORITHMS.values())

#: Those that work on mixed attributes. The latest first: that is what the others are compared with.
MIXED_VARIANTS: Mapping[str, Variant] = _by_name(
    sorted((cls for cls in ALGORITHMS.values() if cls.info.mixed), key=lambda cls: (-cls.info.year, cls.info.key))
)

#: What a record outside its group's majority class costs where no other penalty is chosen.
PENALTY = max(variant.usual_penalty for variant in VARIANTS.values())


def recognize(key: str, params: Mapping[str, str] | str) -> str | None:
    """Return the name of the variant that an algorithm is with these parameters, written as text; None if of none.

    ``params`` may be one text like ``gamma=0.2, start=mdav``, as a table of runs has it.
    A variant that uses classes is recognized whatever its penalty is, unless that is 0.
    """
    if key not in ALGORITHMS:
        return None
    if isinstance(params, str):
        params = dict(pair.split("=", 1) for pair in params.split(", ") if pair)
    usual = {param.name: str(param.default) for param in ALGORITHMS[key].params}
    given = usual | dict(params)
    for variant in _variants_of(ALGORITHMS[key]):
        wanted = usual | {name: str(value) for name, value in variant.fixed.items()}
        if variant.penalty:
            if float(given[variant.penalty]) == 0.0:
                continue
            wanted[variant.penalty] = given[variant.penalty]
        if given == wanted:
            return variant.name
    return None
