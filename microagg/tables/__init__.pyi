from .excel_cells import MAX_UNPACKED as MAX_UNPACKED
from .frames import digest_array as digest_array, digest_bytes as digest_bytes
from .notices import (
    MISSING as MISSING,
    Line as Line,
    Notice as Notice,
    Offer as Offer,
    Reading as Reading,
    UnreadableError as UnreadableError,
    notice_lines as notice_lines,
)
from .parquet import parquet_files as parquet_files
from .reading import ENDINGS as ENDINGS, read_file as read_file, read_table as read_table, sheet_names as sheet_names
from .text_layout import DELIMITERS as DELIMITERS
from .text_lines import ENCODINGS as ENCODINGS
from .writing import (
    WRITTEN_ENDINGS as WRITTEN_ENDINGS,
    renamed_columns as renamed_columns,
    to_csv as to_csv,
    write_table as write_table,
    written_ending as written_ending,
)
