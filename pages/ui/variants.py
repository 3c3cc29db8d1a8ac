"""What the page Mixed data compares: the algorithms for mixed attributes, some of them in two settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg import ALGORITHMS


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
        The parameter by which it heeds classes; empty if it does not.
    """

    name: str
    key: str
    title: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    penalty: str = ""

    @property
    def needs_classes(self) -> bool:
        """Whether it takes a class for each record."""
        return bool(self.penalty)


# Settings that the literature compares as if they were algorithms: (parameter, value) and what to call them.
_SETTINGS = {
    "mondrian": ((("cut", "strict"), "", "Mondrian, strict"), (("cut", "relaxed"), "-relaxed", "Mondrian, relaxed")),
}


def _variants() -> dict[str, Variant]:
    found = []
    # The latest first: that is what the others are compared with.
    able = sorted((-cls.info.year, key) for key, cls in ALGORITHMS.items() if cls.info.mixed)
    for cls in (ALGORITHMS[key] for _, key in able):
        key = cls.info.key
        if key in _SETTINGS:
            found += [Variant(key + ending, key, title, dict([pair])) for pair, ending, title in _SETTINGS[key]]
        else:
            found.append(Variant(key, key, cls.info.title))
        found += [
            Variant(f"{key}-classes", key, f"{cls.info.title} with class penalty", {}, param.name)
            for param in cls.params
            if param.needs_classes
        ]
    return {variant.name: variant for variant in found}


#: What a record outside its group's majority class costs where no other penalty is chosen; benchmarks/adult.py finds
#: that it keeps classes together at a modest price.
PENALTY = 2.0

#: The variants by name.
VARIANTS = _variants()


def recognize(key: str, params: Mapping[str, str]) -> str | None:
    """Return the name of the variant that an algorithm is with these parameters, written as text; None if of none."""
    usual = {param.name: str(param.default) for param in ALGORITHMS[key].params} if key in ALGORITHMS else {}
    for variant in VARIANTS.values():
        wanted = usual | {name: str(value) for name, value in variant.fixed.items()}
        given = usual | dict(params)
        if variant.penalty:
            heeded = float(given[variant.penalty]) > 0 if variant.penalty in given else False
            wanted = wanted | {variant.penalty: given[variant.penalty]} if heeded else {}
        if variant.key == key and given == wanted:
            return variant.name
    return None
