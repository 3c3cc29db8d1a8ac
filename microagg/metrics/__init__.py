"""What a partition costs and guarantees."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
