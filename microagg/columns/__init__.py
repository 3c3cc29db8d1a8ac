"""What the columns of a file are: a guess for each, with its reasons, for a person to confirm or to correct."""

from microagg.columns.evidence import AsNumbers, determined_by
from microagg.columns.guess import MOST_CLASSES, ROLES, Column, arguments, guess_columns
from microagg.columns.kinds import KINDS
from microagg.columns.summary import Excerpt, bin_edges, category_counts, excerpt, summary, totals

__all__ = [
    "KINDS",
    "MOST_CLASSES",
    "ROLES",
    "AsNumbers",
    "Column",
    "Excerpt",
    "arguments",
    "bin_edges",
    "category_counts",
    "determined_by",
    "excerpt",
    "guess_columns",
    "summary",
    "totals",
]
