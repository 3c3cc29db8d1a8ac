"""Disclosure risk of a release: re-identification of records, and attribute disclosure."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
