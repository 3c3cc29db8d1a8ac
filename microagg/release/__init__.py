"""Releases of a file: a :class:`Plan` holds all choices and makes one, in the memory of this process."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
