"""Text files: their encoding, what divides them, and what their columns become.

Nothing changes without a word: a cell becomes a number only if the number says all that the cell said.
"""

from microagg.tables.text.commas import decimal_comma_columns
from microagg.tables.text.dividing import TextOptions
from microagg.tables.text.encodings import ENCODINGS
from microagg.tables.text.layout import DELIMITERS
from microagg.tables.text.reading import read_text

__all__ = ["DELIMITERS", "ENCODINGS", "TextOptions", "decimal_comma_columns", "read_text"]
