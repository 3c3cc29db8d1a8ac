"""What the columns of a file are: a guess for each, with its reasons, for a person to confirm or to correct."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
