"""The algorithms in the settings that tests try: at the defaults, and with each other value that a parameter offers."""

from microagg import ALGORITHMS
from tests import naive


def values(param):
    """Return the values of a parameter to try: all of a choice, and of a grid the ends and the middle."""
    if param.grid and not param.needs_classes:
        return [param.grid[0], param.grid[len(param.grid) // 2], param.grid[-1]]
    return {"choice": param.bounds, "bool": (False, True)}.get(param.kind, ())


def variants(*, mixed=None):
    """Return (key, parameters) of each algorithm that has an oracle, or of those that take mixed records or do not."""
    found = []
    for key, cls in ALGORITHMS.items():
        if key in naive.ORACLES and mixed in (None, cls.info.mixed):
            found.append((key, {}))
            found += [(key, {p.name: value}) for p in cls.params for value in values(p) if value != p.default]
    return found


def name(variant):
    """Return what a test calls a variant."""
    key, params = variant
    return "-".join([key, *(f"{param}={value}" for param, value in params.items())])
