"""What the columns of a file are: a guess for each, with its reasons, for a person to confirm or to correct."""

from microagg.columns.counts import Column
from microagg.columns.decisions import MOST_CLASSES, Decision, arguments, first_decisions
from microagg.columns.dependencies import determined_by
from microagg.columns.excerpt import Excerpt, excerpt
from microagg.columns.guess import ROLES, ColumnGuess, guess_columns
from microagg.columns.kinds import KINDS
from microagg.columns.numbers import AsNumbers
from microagg.columns.summary import bin_edges, category_counts, summary
from microagg.columns.totals import totals
from microagg.columns.words import folded

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
