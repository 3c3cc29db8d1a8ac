"""Tables from and to files: nothing guessed in silence on the way in, nothing lost on the way out.

What a file does not say unmistakably is either an error that tells what to do, or a rule written down in
:func:`read_file`. Row order is kept, no column becomes an index, and no column is dropped or renamed.
"""

from microagg.tables.excel_cells import MAX_UNPACKED
from microagg.tables.frames import digest_array, digest_bytes
from microagg.tables.notices import MISSING, Notice, Offer, Reading, UnreadableError, notice_lines
from microagg.tables.parquet import Sample, parquet_files, sample_parquet
from microagg.tables.reading import ENDINGS, read_file, read_table, sheet_names
from microagg.tables.text import decimal_comma_columns
from microagg.tables.text_layout import DELIMITERS
from microagg.tables.text_lines import ENCODINGS
from microagg.tables.writing import WRITTEN_ENDINGS, renamed_columns, to_csv, write_table, written_ending

__all__ = [
    "DELIMITERS",
    "ENCODINGS",
    "ENDINGS",
    "MAX_UNPACKED",
    "MISSING",
    "WRITTEN_ENDINGS",
    "Notice",
    "Offer",
    "Reading",
    "Sample",
    "UnreadableError",
    "decimal_comma_columns",
    "digest_array",
    "digest_bytes",
    "notice_lines",
    "parquet_files",
    "read_file",
    "read_table",
    "renamed_columns",
    "sample_parquet",
    "sheet_names",
    "to_csv",
    "write_table",
    "written_ending",
]
