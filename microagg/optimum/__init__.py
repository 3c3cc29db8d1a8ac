"""Optimal partitions: searches for the minimum loss, lower bounds on it, and certificates of optima."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
