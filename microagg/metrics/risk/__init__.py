"""Disclosure risk of a release: who can be found in it, and what can be learned of whom."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
