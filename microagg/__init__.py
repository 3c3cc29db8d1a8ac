"""Microaggregation: k-anonymous microdata at little information loss.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> labels = microagg.make("mdav-star", k=3).fit_predict(data.X)
>>> round(microagg.metrics.information_loss(data.X, labels), 3)
0.118

Names are loaded when they are first used, so that importing the package takes no time.
"""

from typing import TYPE_CHECKING

from microagg.lazy import loader

if TYPE_CHECKING:
    from microagg import datasets, experiment, explain, metrics
    from microagg.base import Info, Microaggregator, Param
    from microagg.errors import (
        ConstantColumnWarning,
        ConvertedColumnWarning,
        DataError,
        DatasetUnavailableError,
        MicroaggError,
        ParameterError,
    )
    from microagg.partition import Partition
    from microagg.registry import ALGORITHMS, make
    from microagg.release import Finding, Release, microaggregate, replay
    from microagg.scaling import standardize
    from microagg.schema import Schema
    from microagg.search import Search

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "ConstantColumnWarning",
    "ConvertedColumnWarning",
    "DataError",
    "DatasetUnavailableError",
    "Finding",
    "Info",
    "MicroaggError",
    "Microaggregator",
    "Param",
    "ParameterError",
    "Partition",
    "Release",
    "Schema",
    "Search",
    "datasets",
    "experiment",
    "explain",
    "make",
    "metrics",
    "microaggregate",
    "replay",
    "standardize",
]

# Where each public name lives; "" for a module of its own.
_HOMES = {
    **dict.fromkeys(("datasets", "experiment", "explain", "metrics"), ""),
    **dict.fromkeys(("Info", "Microaggregator", "Param"), "base"),
    **dict.fromkeys(
        (
            "ConstantColumnWarning",
            "ConvertedColumnWarning",
            "DataError",
            "DatasetUnavailableError",
            "MicroaggError",
            "ParameterError",
        ),
        "errors",
    ),
    "Partition": "partition",
    "Schema": "schema",
    "standardize": "scaling",
    **dict.fromkeys(("ALGORITHMS", "make"), "registry"),
    **dict.fromkeys(("Finding", "Release", "microaggregate", "replay"), "release"),
    "Search": "search",
}


__getattr__ = loader(__name__, _HOMES)
