"""What the columns of a file seem to be: a guess for each, with its reasons, for a person to confirm or to correct."""

from microagg.columns.counts import Column
from microagg.columns.dependencies import determined_by
from microagg.columns.guess import ROLES, ColumnGuess, guess_columns
from microagg.columns.kinds import KINDS
from microagg.columns.words import folded

__all__ = ["KINDS", "ROLES", "Column", "ColumnGuess", "determined_by", "folded", "guess_columns"]
