"""Data sets: the benchmarks of the literature, synthetic sets from a seed, and examples that need no download.

>>> from microagg import datasets
>>> datasets.load("toy").X.ravel()
array([  1.,   2.,   3.,   5.,   6.,  19.,  20.,  21.,  98.,  99., 100.])
"""

from microagg.datasets.catalog import CATALOG, NAMES, Entry, RemoteFile, describe
from microagg.datasets.loading import DATA_DIR_VARIABLE, Dataset, cache_folder, is_available, load
from microagg.datasets.synthetic import make_survey

__all__ = [
    "CATALOG",
    "DATA_DIR_VARIABLE",
    "NAMES",
    "Dataset",
    "Entry",
    "RemoteFile",
    "cache_folder",
    "describe",
    "is_available",
    "load",
    "make_survey",
]
