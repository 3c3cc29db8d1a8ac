"""Methods held against each other: over k, by risk and loss, on stored data sets, and with what papers print."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
