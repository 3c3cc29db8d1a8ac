from .numerals import AsNumbers as AsNumbers
from .guess import (
    MOST_CLASSES as MOST_CLASSES,
    ROLES as ROLES,
    Column as Column,
    arguments as arguments,
    guess_columns as guess_columns,
    would_be_lost as would_be_lost,
)
from .values import bin_edges as bin_edges, summary as summary
from .records import KINDS as KINDS
from .taxonomy import category_counts as category_counts
