"""Tables from and to Parquet files: read column by column, within the memory limit of a file."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_timedelta64_dtype

from microagg.errors import DataError, MicroaggError, ParameterError, names_arguments
from microagg.tables.frames import check_single_values, is_bytes_type, is_category_type, is_text_type, to_series
from microagg.tables.lossless import is_text, plain_column
from microagg.tables.notices import Notice, Reading, check_cells, check_memory, check_names, refuse_no_records
from microagg.validation import optional_import, quoted

with contextlib.suppress(ImportError):  # the error comes when a file is opened
    import pyarrow as pa
    import pyarrow.compute as pc

# Memory of reading without the columns, in bytes: pyarrow and its caches.
_BASE_MEMORY = 40_000_000

# Memory of a column without its values, in bytes.
_PER_COLUMN = 12_000

# The number of records unpacked at a time, at most and at least, and about the number of bytes.
_RECORDS, _MIN_RECORDS, _BYTES = 1 << 16, 16, 1 << 23


def read_parquet(data: bytes, label: str, max_cells: int) -> Reading:
    """Read the table of a Parquet file (see :func:`microagg.tables.read_file`)."""
    optional_import("pyarrow", "files", f"reading {label!r}", "save the table as .csv")
    with _damaged_as_data_error(f"the file {label!r} is a damaged Parquet file"):
        return _read(data, label, max_cells)


def write_parquet(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Write columns as a Parquet file (see :func:`microagg.tables.write_table`)."""
    optional_import("pyarrow", "files", f"writing {name!r}", "choose .csv")
    pq = optional_import("pyarrow.parquet", "files")
    arrays = []
    for series in columns.values():
        # Unlike other files, Parquet stores times of every kind.
        is_time = is_datetime64_any_dtype(series.dtype) or is_timedelta64_dtype(series.dtype)
        column = series if is_time else plain_column(series)
        # Without a type, a column of missing values would not be text.
        arrays.append(pa.array(column, type=pa.string() if is_text(column) and column.dtype == object else None))
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), stream)
    return stream.getvalue()


@contextlib.contextmanager
def _damaged_as_data_error(damaged: str) -> Iterator[None]:
    """Raise DataError, which begins with ``damaged``, instead of errors of pyarrow."""
    try:
        yield
    except MicroaggError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise DataError(f"{damaged} ({reason}): export it again.") from None


@dataclass
class _Budget:
    """The memory taken by the columns read so far, and the limit of a file."""

    size: int
    label: str
    taken: int = _BASE_MEMORY

    def check(self, more: int) -> None:
        """Raise DataError if ``more`` bytes would exceed the limit."""
        check_memory(self.taken + more, self.size, self.label)


def _read(data: bytes, label: str, max_cells: int) -> Reading:
    """Read a Parquet file column by column within its memory limit."""
    schema, metadata = (opened := _open(data)).schema_arrow, opened.metadata
    budget = _Budget(len(data), label)
    budget.check(_PER_COLUMN * len(schema.names))
    check_single_values(schema, f" of the file {label!r}")
    check_names(schema.names, label)
    # The metadata may be wrong; it is compared with the data, batch by batch.
    check_cells(metadata.num_rows, len(schema.names), max_cells, label)
    if metadata.num_rows == 0:
        refuse_no_records(label)
    budget.check(metadata.num_rows * sum(_width(field.type) for field in schema))
    budget.taken += _PER_COLUMN * len(schema.names)
    stored = [[metadata.row_group(i).column(j) for i in range(metadata.num_row_groups)] for j in range(len(schema))]
    # A part may be one page, in memory with the others; texts of a dictionary count once.
    sizes = [max((part.total_uncompressed_size for part in parts), default=0) for parts in stored]
    budget.check(max(sizes, default=0))
    # Texts in dictionaries stay so until their memory is counted.
    packed = {
        field.name
        for field, parts in zip(schema, stored, strict=True)
        if is_text_type(field.type) and any(part.has_dictionary_page for part in parts)
    }
    # Times in the old type of 96 bits exceed the range of nanoseconds.
    file = _open(data, metadata=metadata, read_dictionary=packed, coerce_int96_timestamp_unit="us")
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    for name, parts, size in zip(schema.names, stored, sizes, strict=True):
        # A text stored as a difference to the one before may be as long as the whole part, and so may each after it.
        is_prefixed = any("DELTA_BYTE_ARRAY" in part.encodings for part in parts)
        chunks = _chunks(file, name, size if is_prefixed else 1, budget, is_packed=name in packed)
        if len(chunks) != metadata.num_rows:
            raise ValueError(f"column {name!r} has {len(chunks)} of {metadata.num_rows} records")
        size = 0 if pa.types.is_dictionary(chunks.type) else int(chunks.nbytes)  # the Series shares the dictionary
        budget.check(size + _converted_bytes(chunks))
        columns[name], further = to_series(chunks, name, label)
        notices += further
        budget.taken += max(int(columns[name].memory_usage(index=False)), size)
        budget.check(0)
    # The columns are not copied into blocks, which would take twice the memory.
    frame = pd.DataFrame(columns, copy=False)
    # As in text files, a blank name becomes the position.
    names = [name if name.strip() else f"column {j}" for j, name in enumerate(schema.names, start=1)]
    check_names(names, label)
    frame.columns = pd.Index(names)
    return Reading(frame, tuple(notices))


def _open(data: bytes, **options: Any) -> Any:
    pq = optional_import("pyarrow.parquet", "files")
    return pq.ParquetFile(pa.BufferReader(data), pre_buffer=False, page_checksum_verification=True, **options)


def _width(kind: Any) -> int:
    """Minimum memory of a cell of a type in a table, in bytes."""
    if pa.types.is_dictionary(kind):
        return 1 if is_category_type(kind.value_type) else _width(kind.value_type)
    if pa.types.is_date(kind) or pa.types.is_null(kind):
        return 8
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        return 8  # a text has an offset


def _chunks(file: Any, name: str, longest: int, budget: _Budget, *, is_packed: bool) -> Any:
    """A column as pyarrow's chunks. Dictionaries of texts that are ``packed`` become texts."""
    rows = max(_MIN_RECORDS, min(_RECORDS, _BYTES // max(longest, 1)))
    parts: list[Any] = []
    size = 0
    for batch in file.iter_batches(batch_size=rows, columns=[name], use_threads=False):
        part = batch.column(0)
        if is_packed and pa.types.is_dictionary(part.type):
            lengths = pc.binary_length(part.dictionary).take(part.indices)
            budget.check(2 * (size + int(pc.sum(lengths).as_py() or 0) + 8 * len(part)))
            part = part.dictionary.cast(pa.large_string()).take(part.indices)
        # The batches of a row group share one dictionary.
        shared = bool(parts) and pa.types.is_dictionary(part.type) and _shares_dictionary(part, parts[-1])
        size += part.indices.nbytes if shared else part.nbytes
        budget.check(2 * size)
        parts.append(part)
    return pa.chunked_array(parts)


def _shares_dictionary(part: Any, before: Any) -> bool:
    one, other = ([buffer and buffer.address for buffer in each.dictionary.buffers()] for each in (part, before))
    return one == other


def _converted_bytes(column: Any) -> int:
    """Approximate memory of :func:`to_series` for a column besides its own, in bytes."""
    types = pa.types
    kind = getattr(column.type, "value_type", column.type)
    if is_bytes_type(kind):
        return 48 * len(column) + 3 * int(column.nbytes)
    if is_text_type(kind):
        return 10 * len(column) if kind != column.type else 0
    if types.is_decimal(kind) or types.is_temporal(kind):
        return (24 if types.is_date(kind) or types.is_timestamp(kind) else 64) * len(column)
    return max(int(column.nbytes), 10 * len(column))


@names_arguments
def parquet_files(path: str | os.PathLike[str]) -> list[Path]:
    """A Parquet file, or those in a folder.

    Parameters
    ----------
    path : path
        A file, or a folder.

    Returns
    -------
    list of Path
        Absolute paths, ordered by name. Names that begin with a dot or an underscore are left out, as other readers do.

    Raises
    ------
    DataError
        If there is no such file or folder, or the folder has none, or folders in it.
    ParameterError
        If it is a file of another kind.
    """
    root = Path(path)
    if root.is_dir():
        entries = [entry for entry in sorted(root.iterdir()) if not entry.name.startswith(("_", "."))]
        if folders := [entry.name for entry in entries if entry.is_dir()]:
            raise DataError(
                f"the folder {str(root)!r} has folders in it ({quoted(folders)}): put all files into one, with what "
                "the folders' names say in a column."
            )
        files = [entry for entry in entries if entry.suffix.lower() in (".parquet", ".pq")]
        if not files:
            raise DataError(f"the folder {str(root)!r} has no Parquet files: name one that has.")
        return [file.resolve() for file in files]
    if not root.exists():
        raise DataError(f"there is no file {str(root)!r}: check its name and folder.")
    if root.suffix.lower() not in (".parquet", ".pq"):
        raise ParameterError(f"{root.name!r} is no Parquet file, which can be read in parts: write it as one.")
    return [root.resolve()]
