"""The stored comparison of all algorithms: the loss of each on seven data sets at 22 values of k, and how fast it is.

Measured by ``benchmarks/landscape.py`` and part of the package, so that it can be read without any data or benchmark:

>>> from microagg import landscape
>>> losses = landscape.duel("mdav-star", "v-mdav").set_index(["data", "k"])
>>> losses.loc[("eia", 10), ["first", "second", "less"]].astype(float).round(2).to_dict()
{'first': 2.63, 'second': 3.63, 'less': 27.56}
"""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
