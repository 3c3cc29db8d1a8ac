"""Tables from and to files: every interpretation is reported when reading, and nothing is lost when writing.

What a file does not say unmistakably is either an error that tells what to do, or a rule written down in
:func:`read_file`. Row order is kept, no column becomes an index, and no column is dropped or renamed.
"""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
