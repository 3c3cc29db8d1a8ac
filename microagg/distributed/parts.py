"""Tables in parts: Parquet files, read by row groups.

Parts are row groups in the order of the files, so that results do not depend on the workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from microagg.columns.recodes import recoded as to_other_values
from microagg.columns.records import is_number
from microagg.errors import DataError, ParameterError
from microagg.tables.frames import to_series
from microagg.tables.notices import check_names
from microagg.tables.parquet import parquet_files
from microagg.validation import optional_import, quoted

#: Maximum numbers of records, and of bytes once unpacked, of a part with several row groups.
RECORDS, BYTES = 1 << 19, 1 << 27

# Number of first records that decide the kinds of columns.
_HEAD = 10_000

# Spark writes times in the old type of 96 bits; nanoseconds would overflow silently.
_OPENED = {"pre_buffer": False, "page_checksum_verification": True, "coerce_int96_timestamp_unit": "us"}


def load(name: str) -> Any:
    """Import a module of dask, distributed or pyarrow."""
    return optional_import(name, "dask", "a file that does not fit into memory")


@dataclass(frozen=True)
class Part:
    """Consecutive row groups of one file."""

    path: str
    groups: tuple[int, ...]  # their positions in the file
    first: int  # the position of the first record in the whole table, from 0
    n: int  # of records
    unpacked: int  # bytes, from the metadata of the file
    recode: Any = None  # new values of columns after reading, if any

    @property
    def label(self) -> str:
        """Name of the part in messages."""
        is_single = len(self.groups) == 1
        groups = f"row group {self.groups[0]}" if is_single else f"row groups {self.groups[0]} to {self.groups[-1]}"
        return f"{groups} of {Path(self.path).name!r}"


@dataclass(frozen=True, eq=False)
class Table:
    """A table in Parquet files."""

    files: tuple[str, ...]  # absolute paths
    schema: Any  # of pyarrow, without metadata of other programs, for example names of an index
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Table:
        """Return the table of a Parquet file, or of all Parquet files in a folder, ordered by name."""
        if not isinstance(path, (str, os.PathLike)):
            raise DataError(
                f"engine='dask' takes the path of Parquet files, not {type(path).__name__}: write the table with its "
                "to_parquet first, or leave out engine for a table in memory."
            )
        files = parquet_files(path)
        pa, pq = load("pyarrow"), load("pyarrow.parquet")
        schema: Any = None
        parts: list[Part] = []
        for file in files:
            try:
                metadata = pq.read_metadata(file)
            except (pa.ArrowException, OSError) as error:
                raise DataError(
                    f"the file {str(file)!r} cannot be read as Parquet ({_reason(error)}): write it again."
                ) from None
            file_schema = pa.schema([field.remove_metadata() for field in metadata.schema.to_arrow_schema()])
            if schema is None:
                _check_schema(file_schema, file.name)
                schema = file_schema
            elif not file_schema.equals(schema):
                raise DataError(_difference(file_schema, schema, file, files[0]))
            parts += _parts(str(file), metadata, parts[-1].first + parts[-1].n if parts else 0)
        if not parts:
            raise DataError(f"{str(path)!r} has no records: check that it is the right file.")
        return cls(tuple(map(str, files)), schema, tuple(parts))

    @property
    def n(self) -> int:
        """The number of records."""
        return self.parts[-1].first + self.parts[-1].n

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def recoded(self, recode: Mapping[Any, Mapping[str, str | None]] | None) -> Table:
        """Return the table with recoded values of columns, which must keep their types."""
        head = self.head()
        changed, _ = to_other_values(head, recode)
        for name in recode or ():
            if is_number(head[name].dtype) != is_number(changed[name].dtype):
                raise ParameterError(
                    f"recode makes {'categories of numbers' if is_number(head[name].dtype) else 'numbers of text'} in "
                    f"{name!r}, which cannot be had with engine='dask': recode it to values of its own type."
                )
        return replace(self, parts=tuple(replace(part, recode=recode) for part in self.parts)) if recode else self

    def head(self) -> pd.DataFrame:
        """Return the first records of the table, all columns."""
        part = self.parts[0]
        with load("pyarrow.parquet").ParquetFile(part.path, **_OPENED) as file:
            batch = next(file.iter_batches(batch_size=_HEAD, row_groups=list(part.groups), use_threads=False))
            return frame_of(load("pyarrow").Table.from_batches([batch]), part.label)


def read(part: Part, columns: Sequence[str] | None = None) -> Any:
    """Return all or some columns of a part as a pyarrow.Table."""
    pa = load("pyarrow")
    names = None if columns is None else list(columns)
    try:
        with load("pyarrow.parquet").ParquetFile(part.path, **_OPENED) as file:
            table = file.read_row_groups(list(part.groups), columns=names, use_threads=False)
    except FileNotFoundError:
        raise DataError(
            f"there is no file {part.path!r} (any more): it must stand at the same place on all machines, and stay "
            "there until the end."
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{part.label} cannot be read ({_reason(error)}): write the file again.") from None
    if table.num_rows != part.n:
        raise DataError(
            f"{part.label} has {table.num_rows:,} records, not {part.n:,}: the file was changed; begin again."
        )
    # pyarrow also reads columns whose name begins with this one and a dot.
    table = table.replace_schema_metadata() if names is None else table.select(names).replace_schema_metadata()
    for name in table.column_names if part.recode else ():
        if name in part.recode:
            changed, _ = to_other_values(frame_of(table.select([name]), part.label), {name: part.recode[name]})
            index, kind = table.schema.get_field_index(name), table.schema.field(name).type
            try:
                table = table.set_column(index, name, pa.array(changed[name], from_pandas=True).cast(kind))
            except pa.ArrowException:
                raise DataError(
                    f"{part.label}: what {name!r} is recoded to does not fit its type {kind}: recode it to such values."
                ) from None
    return table


def frame_of(table: Any, label: str) -> pd.DataFrame:
    """Return a pyarrow.Table as a DataFrame, see :func:`microagg.tables.frames.to_series`."""
    columns = {name: to_series(table.column(j), name, label)[0] for j, name in enumerate(table.column_names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")


def _parts(path: str, metadata: Any, start: int) -> Iterator[Part]:
    groups: list[int] = []
    n, size = 0, 0
    for group in range(metadata.num_row_groups):
        info = metadata.row_group(group)
        if info.num_rows == 0:
            continue
        if groups and (n + info.num_rows > RECORDS or size + info.total_byte_size > BYTES):
            yield Part(path, tuple(groups), start, n, size)
            groups, start, n, size = [], start + n, 0, 0
        groups.append(group)
        n, size = n + info.num_rows, size + info.total_byte_size
    if groups:
        yield Part(path, tuple(groups), start, n, size)


def _check_schema(schema: Any, label: str) -> None:
    types = load("pyarrow").types
    check_names(schema.names, label)
    for field in schema:
        if not field.name.strip():
            raise DataError(f"the file {label!r} has a column without a name: give it one.")
        if types.is_nested(field.type) or isinstance(field.type, load("pyarrow").BaseExtensionType):
            raise DataError(
                f"column {field.name!r} of the file {label!r} holds lists or records ({field.type}): leave it out, or "
                "unfold it into columns of single values."
            )


def _difference(schema: Any, expected: Any, file: Path, first_file: Path) -> str:
    """Describe the difference of a file from the first one."""
    if schema.names != expected.names:
        return (
            f"the file {file.name!r} has the columns {quoted(schema.names)}, but {first_file.name!r} has "
            f"{quoted(expected.names)}: give all files the same columns in the same order."
        )
    name = next(name for name in schema.names if schema.field(name).type != expected.field(name).type)
    return (
        f"column {name!r} is of the type {schema.field(name).type} in {file.name!r}, but {expected.field(name).type} "
        f"in {first_file.name!r}: write all files with the same types."
    )
