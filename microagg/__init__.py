"""Microaggregation: k-anonymous microdata at little information loss.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> labels = microagg.make("mdav-star", k=3).fit_predict(data.X)
>>> round(microagg.metrics.information_loss(data.X, labels), 3)
0.118

Names are loaded when they are first used, so that importing the package takes no time.
"""

from microagg.errors import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
