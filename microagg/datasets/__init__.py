"""Data sets: the benchmarks of the literature, synthetic sets from a seed, and examples that need no download.

>>> from microagg import datasets
>>> datasets.load("toy").X.ravel()
array([  1.,   2.,   3.,   5.,   6.,  19.,  20.,  21.,  98.,  99., 100.])
"""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
