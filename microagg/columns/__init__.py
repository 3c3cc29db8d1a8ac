"""What the columns of a file are: a guess for each, with its reasons, for a person to confirm or to correct."""

from microagg.columns.decisions import MOST_CLASSES, Decision, arguments, first_decisions
from microagg.columns.evidence import AsNumbers, Column, folded
from microagg.columns.guess import ROLES, ColumnGuess, guess_columns
from microagg.columns.kinds import KINDS
from microagg.columns.patterns import determined_by, totals
from microagg.columns.summary import Excerpt, bin_edges, category_counts, excerpt, summary

__all__ = [
    "KINDS",
    "MOST_CLASSES",
    "ROLES",
    "AsNumbers",
    "Column",
    "ColumnGuess",
    "Decision",
    "Excerpt",
    "arguments",
    "bin_edges",
    "category_counts",
    "determined_by",
    "excerpt",
    "first_decisions",
    "folded",
    "guess_columns",
    "summary",
    "totals",
]
