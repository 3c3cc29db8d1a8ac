"""Microaggregation: k-anonymous microdata at little information loss.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> labels = microagg.make("mdav-star", k=3).fit_predict(data.X)
>>> round(microagg.metrics.information_loss(data.X, labels), 3)
0.118
"""

from microagg import datasets, experiment, metrics
from microagg.base import Info, Microaggregator, Param
from microagg.errors import (
    ConstantColumnWarning,
    DataError,
    DatasetUnavailableError,
    MicroaggError,
    ParameterError,
)
from microagg.partition import Partition
from microagg.preprocessing import Schema, standardize
from microagg.registry import ALGORITHMS, make
from microagg.release import Release, microaggregate, replay

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "ConstantColumnWarning",
    "DataError",
    "DatasetUnavailableError",
    "Info",
    "MicroaggError",
    "Microaggregator",
    "Param",
    "ParameterError",
    "Partition",
    "Release",
    "Schema",
    "datasets",
    "experiment",
    "make",
    "metrics",
    "microaggregate",
    "replay",
    "standardize",
]
