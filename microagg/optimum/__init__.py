"""How little can be lost, and the proof: the search for the least loss, floors of it, and certificates of optima."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
