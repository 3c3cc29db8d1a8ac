"""Roles and kinds of the columns of a file: a suggestion for each, with its reasons, to accept or to correct."""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
