"""What this room needs besides microagg, loaded when it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from microagg.errors import DataError
from microagg.tables.frames import to_series
from microagg.tables.notices import check_names
from microagg.tables.parquet import parquet_files
from microagg.validation import optional_import, quoted


def load(name: str) -> Any:
    """Return a module of dask, distributed or pyarrow.

    Raises
    ------
    DataError
        If the package is not installed.
    """
    return optional_import(name, "dask", "a file that does not fit into memory")


# The parts of a table in Parquet files: row groups in the order of the files, a part being what one task works on.
#
# Parts depend on the files only, so that what is made of them does not depend on who works on them.

#: Row groups of a file that follow each other are one part up to so many records, and so many bytes once unpacked.
RECORDS, BYTES = 1 << 19, 1 << 27

# Records of the beginning, by which it is seen what columns are.
_HEAD = 10_000

# Of times in the old type of 96 bits, which Spark writes. Nanoseconds would overflow without a word.
_OPENED = {"pre_buffer": False, "page_checksum_verification": True, "coerce_int96_timestamp_unit": "us"}


@dataclass(frozen=True)
class Part:
    """Row groups of one file that follow each other.

    Attributes
    ----------
    path : str
    groups : tuple of int
        Their positions in the file.
    first : int
        The number of the first record in the whole table, from 0.
    n : int
        The number of records.
    unpacked : int
        Bytes, as the file says.
    """

    path: str
    groups: tuple[int, ...]
    first: int
    n: int
    unpacked: int

    @property
    def label(self) -> str:
        """What messages call it."""
        groups = f"row group {self.groups[0]}"
        if len(self.groups) > 1:
            groups = f"row groups {self.groups[0]} to {self.groups[-1]}"
        return f"{groups} of {Path(self.path).name!r}"


@dataclass(frozen=True, eq=False)
class Table:
    """A table in Parquet files.

    Attributes
    ----------
    files : tuple of str
        Absolute paths.
    schema : pyarrow.Schema
        Without what other programs keep in it, such as the names of an index.
    parts : tuple of Part
    """

    files: tuple[str, ...]
    schema: Any
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Table:
        """Return the table of a Parquet file, or of all Parquet files in a folder, in the order of their names.

        Raises
        ------
        DataError
            If there is no such file, one is damaged, they have not the same columns, or there are no records.
        ParameterError
            If it is a file of another kind.
        """
        files = parquet_files(path)
        pq = load("pyarrow.parquet")
        schema: Any = None
        parts: list[Part] = []
        for file in files:
            try:
                metadata = pq.read_metadata(file)
            except (load("pyarrow").ArrowException, OSError) as error:
                reason = str(error).splitlines()[0].rstrip(".")
                raise DataError(
                    f"the file {str(file)!r} cannot be read as Parquet ({reason}): write it again."
                ) from None
            own = metadata.schema.to_arrow_schema()
            own = load("pyarrow").schema([field.remove_metadata() for field in own])
            if schema is None:
                _check_schema(own, file.name)
                schema = own
            elif not own.equals(schema):
                raise DataError(_otherwise(own, schema, file, files[0]))
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

    def head(self) -> pd.DataFrame:
        """Return the first records of the table, all columns."""
        part = self.parts[0]
        with load("pyarrow.parquet").ParquetFile(part.path, **_OPENED) as file:
            batch = next(file.iter_batches(batch_size=_HEAD, row_groups=list(part.groups), use_threads=False))
            return frame_of(load("pyarrow").Table.from_batches([batch]), part.label)


def read(part: Part, columns: Sequence[str] | None = None) -> Any:
    """Return columns of a part, all of them or those named, as a pyarrow.Table.

    Raises
    ------
    DataError
        If the file is not there any more, is another one, or is damaged.
    """
    pa = load("pyarrow")
    wanted = None if columns is None else list(columns)
    try:
        with load("pyarrow.parquet").ParquetFile(part.path, **_OPENED) as file:
            table = file.read_row_groups(list(part.groups), columns=wanted, use_threads=False)
    except FileNotFoundError:
        raise DataError(
            f"there is no file {part.path!r} (any more): it must stand at the same place on all machines, and stay "
            "there until the end."
        ) from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"{part.label} cannot be read ({reason}): write the file again.") from None
    if table.num_rows != part.n:
        raise DataError(
            f"{part.label} has {table.num_rows:,} records, not {part.n:,}: the file was changed; begin again."
        )
    # A name is also taken for the beginning of those with a dot after it.
    return table.replace_schema_metadata() if wanted is None else table.select(wanted).replace_schema_metadata()


def frame_of(table: Any, label: str) -> pd.DataFrame:
    """Return a pyarrow.Table as a DataFrame of the same values; see :func:`microagg.tables.frames.to_series`."""
    columns = {name: to_series(table.column(j), name, label)[0] for j, name in enumerate(table.column_names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)


def _parts(path: str, metadata: Any, first: int) -> Iterator[Part]:
    groups: list[int] = []
    n = size = 0
    for group in range(metadata.num_row_groups):
        own = metadata.row_group(group)
        if own.num_rows == 0:
            continue
        if groups and (n + own.num_rows > RECORDS or size + own.total_byte_size > BYTES):
            yield Part(path, tuple(groups), first, n, size)
            groups, first, n, size = [], first + n, 0, 0
        groups.append(group)
        n, size = n + own.num_rows, size + own.total_byte_size
    if groups:
        yield Part(path, tuple(groups), first, n, size)


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


def _otherwise(own: Any, schema: Any, file: Path, first: Path) -> str:
    """Return how a file differs from the first one."""
    if own.names != schema.names:
        return (
            f"the file {file.name!r} has the columns {quoted(own.names)}, but {first.name!r} has "
            f"{quoted(schema.names)}: give all files the same columns in the same order."
        )
    one = next(name for name in own.names if own.field(name).type != schema.field(name).type)
    return (
        f"column {one!r} is of the type {own.field(one).type} in {file.name!r}, but {schema.field(one).type} in "
        f"{first.name!r}: write all files with the same types."
    )
