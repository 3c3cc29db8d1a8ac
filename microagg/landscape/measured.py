"""What was measured: on which data sets, by which methods, at which k."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from microagg.method import Method
from microagg.registry import ALGORITHMS
from microagg.validation import check_choice
from microagg.variants import VARIANTS

#: The data sets, the yardsticks of the literature first; all are z-scored, with all their quasi-identifiers.
DATA = ("census", "tarragona", "eia", "simu", "simc", "wine", "breast_cancer")

#: The least numbers of records in a group.
KS = (*range(2, 21), 25, 50, 100)

#: Random data sets, and runs of a randomized algorithm, have the seeds 0, 1, … below this.
SEEDS = 5


def _methods() -> Mapping[str, Method]:
    found = {name: variant.method() for name, variant in VARIANTS.items() if not variant.needs_classes}
    for key, cls in ALGORITHMS.items():
        if grids := {param.name: param.grid for param in cls.params if param.grid and not param.needs_classes}:
            found[f"{key}-best"] = Method(key, grids)
    return MappingProxyType(found)


#: The methods that are compared, by name: every variant of an algorithm at its defaults, see
#: :data:`microagg.variants.VARIANTS`, and ``v-mdav-best``, with the best γ of the literature's grid for each k.
METHODS: Mapping[str, Method] = _methods()


def title(name: str) -> str:
    """Return what tables and charts call a method of :data:`METHODS`, such as ``V-MDAV (best γ)``.

    Raises
    ------
    ParameterError
        If there is no such method.
    """
    check_choice("name", name, list(METHODS))
    return VARIANTS[name].title if name in VARIANTS else METHODS[name].label
