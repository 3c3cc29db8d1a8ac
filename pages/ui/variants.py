"""What the page Mixed data compares: the algorithms for mixed attributes, some of them in two settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg import ALGORITHMS
from microagg.base import Preset


@dataclass(frozen=True)
class Variant:
    """An algorithm in one setting.

    Attributes
    ----------
    name : str
        What the address calls it.
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


def _variants() -> dict[str, Variant]:
    found = []
    # The latest first: that is what the others are compared with.
    able = sorted((-cls.info.year, key) for key, cls in ALGORITHMS.items() if cls.info.mixed)
    for cls in (ALGORITHMS[key] for _, key in able):
        needing_classes = {param.name for param in cls.params if param.needs_classes}
        key = cls.info.key
        for preset in cls.info.presets or (Preset(key, cls.info.title, {}),):
            fixed = {name: value for name, value in preset.params.items() if name not in needing_classes}
            penalty = next((name for name in preset.params if name in needing_classes), "")
            found.append(Variant(preset.name, key, preset.title, fixed, penalty, preset.params.get(penalty, 0.0)))
    return {variant.name: variant for variant in found}


#: The variants by name.
VARIANTS = _variants()

#: What a record outside its group's majority class costs where no other penalty is chosen.
PENALTY = max(variant.usual_penalty for variant in VARIANTS.values())


def recognize(key: str, params: Mapping[str, str]) -> str | None:
    """Return the name of the variant that an algorithm is with these parameters, written as text; None if of none."""
    usual = {param.name: str(param.default) for param in ALGORITHMS[key].params} if key in ALGORITHMS else {}
    for variant in VARIANTS.values():
        wanted = usual | {name: str(value) for name, value in variant.fixed.items()}
        given = usual | dict(params)
        if variant.penalty:
            penalized = float(given[variant.penalty]) > 0 if variant.penalty in given else False
            wanted = wanted | {variant.penalty: given[variant.penalty]} if penalized else {}
        if variant.key == key and given == wanted:
            return variant.name
    return None
