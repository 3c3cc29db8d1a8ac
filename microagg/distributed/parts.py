"""Tables in parts: Parquet files read by row groups, and their equivalence classes.

Parts are row groups in the order of the files, so that results do not depend on the workers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from microagg.columns.recodes import recoded as to_other_values
from microagg.columns.records import is_number
from microagg.errors import DataError, ParameterError
from microagg.tables.frames import to_series
from microagg.tables.notices import check_names
from microagg.tables.parquet import parquet_files
from microagg.validation import check_columns, check_k, check_unique_columns, optional_import, plain, quoted

#: Maximum numbers of records, and of bytes once unpacked, of a part with several row groups.
RECORDS, BYTES = 1 << 19, 1 << 27

# Number of first records that decide the kinds of columns, and approximate number of classes in one task of the count.
_HEAD, _CLASSES = 10_000, 200_000

# The number that stands for -0.0 in counts; no file has it.
_BELOW_ZERO = -5e-324

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

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Return all or some columns as a pyarrow.Table."""
        pa = load("pyarrow")
        try:
            with load("pyarrow.parquet").ParquetFile(self.path, **_OPENED) as file:
                table = file.read_row_groups(list(self.groups), columns=columns, use_threads=False)
        except FileNotFoundError:
            raise DataError(
                f"there is no file {self.path!r} (any more): it must be at the same path on all machines, and stay "
                "there until the end."
            ) from None
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.label} cannot be read ({_reason(error)}): write the file again.") from None
        if table.num_rows != self.n:
            raise DataError(
                f"{self.label} has {table.num_rows:,} records, not {self.n:,}: the file was changed; start again."
            )
        # pyarrow also reads columns whose name begins with this one and a dot.
        table = (table if columns is None else table.select(columns)).replace_schema_metadata()
        for name in [name for name in table.column_names if name in (self.recode or ())]:
            changed, _ = to_other_values(frame_of(table.select([name]), self.label), {name: self.recode[name]})
            index, kind = table.schema.get_field_index(name), table.schema.field(name).type
            try:
                table = table.set_column(index, name, pa.array(changed[name], from_pandas=True).cast(kind))
            except pa.ArrowException:
                raise DataError(
                    f"{self.label}: the recoded values of {name!r} do not fit its type {kind}: choose values of that "
                    "type."
                ) from None
        return table

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns as a DataFrame."""
        return frame_of(self.read(columns), self.label)


@dataclass(frozen=True, eq=False)
class Table:
    """A table in Parquet files."""

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
        return cls(schema, tuple(parts))

    @property
    def n(self) -> int:
        """The number of records."""
        return self.parts[-1].first + self.parts[-1].n

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def recoded(self, recode: Mapping[Any, Mapping[str, str | None]] | None) -> Table:
        """Return the table with recoded values of columns, which must keep their types.

        Raises
        ------
        ParameterError
            If a column of numbers would become text, or the reverse.
        """
        head = self.head()
        changed, _ = to_other_values(head, recode)
        for name in recode or ():
            if is_number(head[name].dtype) != is_number(changed[name].dtype):
                raise ParameterError(
                    f"recode makes {'categories of numbers' if is_number(head[name].dtype) else 'numbers of text'} in "
                    f"{name!r}, which engine='dask' does not support: recode it to values of its own type."
                )
        return replace(self, parts=tuple(replace(part, recode=recode) for part in self.parts)) if recode else self

    def head(self) -> pd.DataFrame:
        """Return the first records of the table, all columns."""
        part = self.parts[0]
        with load("pyarrow.parquet").ParquetFile(part.path, **_OPENED) as file:
            batch = next(file.iter_batches(batch_size=_HEAD, row_groups=list(part.groups), use_threads=False))
            return frame_of(load("pyarrow").Table.from_batches([batch]), part.label)


def frame_of(table: Any, label: str) -> pd.DataFrame:
    """Return a pyarrow.Table as a DataFrame, see :func:`microagg.tables.frames.to_series`."""
    columns = {name: to_series(table.column(j), name, label)[0] for j, name in enumerate(table.column_names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")


def _parts(path: str, metadata: Any, start: int) -> Iterator[Part]:
    """Yield the parts of a file: row groups of limited size together, or a single one."""
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
                f"column {field.name!r} of the file {label!r} has lists or records ({field.type}): leave it out, or "
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


# --- equivalence classes of a table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """The classes of a file: sets of records that are equal in some columns."""

    records: int
    classes: int
    smallest: int  # the number of records of the smallest class
    below: int  # number of records in classes of fewer than k
    alone: int  # number of records alone in their classes
    smallest_of: dict[tuple[Any, ...], int]  # size of the smallest class of each stratum, by its stratum_key


def count(
    path: str | os.PathLike[str], columns: Sequence[Any], strata: Sequence[Any], k: int, client: Any = None
) -> Count:
    """Count the classes of a table: records that are equal in ``columns`` and ``strata``.

    Records are grouped by the values themselves, in enough pieces that each is small.

    Parameters
    ----------
    path : path
        A Parquet file or a folder of them.
    columns, strata : sequence of column names
    k : int
        The minimum number of records in a class.
    client : distributed.Client, optional
        Its workers count; by default threads of this process.

    Raises
    ------
    DataError, ParameterError
        As :meth:`Table.of`; if there is no such column, or one is named twice; if ``k`` is not a whole number of at
        least 1.
    """
    table, names = Table.of(path), [*columns, *strata]
    check_columns(pd.DataFrame(columns=table.names), names)
    check_unique_columns(names)
    dask, dataframe = load("dask"), load("dask.dataframe")
    meta = _counted_frame(table.schema.empty_table().select(names), str(path))

    def read(part: Part) -> pd.DataFrame:
        return _counted_frame(part.read(names), part.label)

    frame = dataframe.from_map(read, list(table.parts), meta=meta, enforce_metadata=False)
    pieces = max(1, -(-table.n // (check_k(k) * _CLASSES)))
    sizes = frame.groupby(names, dropna=False, observed=True, sort=False).size(split_out=pieces)
    # Longer than any name, the name of the sizes is that of no column.
    sizes = sizes.to_frame(f"{max(names, key=len)}_").reset_index()
    delayed = dask.delayed(_count_classes)
    tasks = [delayed(piece, list(strata), k) for piece in sizes.to_delayed()]
    counts = dask.compute(*tasks, scheduler="threads") if client is None else client.gather(client.compute(tasks))
    smallest_of: dict[tuple[Any, ...], int] = {}
    for piece in counts:
        for values, size in piece.smallest_of.items():
            smallest_of[values] = min(size, smallest_of.get(values, size))
    sums = {name: sum(getattr(piece, name) for piece in counts) for name in ("records", "classes", "below", "alone")}
    return Count(**sums, smallest=min(piece.smallest for piece in counts), smallest_of=smallest_of)


def _counted_frame(table: Any, label: str) -> pd.DataFrame:
    """A table as a DataFrame with booleans as 0 and 1: beside missing values they would be objects in some parts.

    -0.0 is :data:`_BELOW_ZERO`, as Dask would count it as 0.0.
    """
    pa = load("pyarrow")
    fields = [field.with_type(pa.int8()) if pa.types.is_boolean(field.type) else field for field in table.schema]
    frame = frame_of(table.cast(pa.schema(fields)), label)
    for name in frame.columns[frame.dtypes.map(is_float_dtype).to_numpy(dtype=bool)]:
        numbers = frame[name].to_numpy(dtype=np.float64)
        frame[name] = np.where((numbers == 0.0) & np.signbit(numbers), _BELOW_ZERO, numbers)
    return frame


def stratum_key(values: Iterable[Any]) -> tuple[Any, ...]:
    """Key of a stratum with these values in :attr:`Count.smallest_of`."""
    return tuple(_BELOW_ZERO if str(value) == "-0.0" else plain(value) for value in values)


def _count_classes(sizes: pd.DataFrame, strata: list[str], k: int) -> Count:
    """Count classes whose sizes are in the last column."""
    n = sizes.iloc[:, -1]
    smallest: Any = {}  # class of each stratum, by its values
    if strata:
        smallest = n.groupby([sizes[name] for name in strata], dropna=False, observed=True).min()
    return Count(
        records=int(n.sum()),
        classes=len(n),
        smallest=int(n.min()) if len(n) else sys.maxsize,
        below=int(n[n < k].sum()),
        alone=int((n == 1).sum()),
        smallest_of={
            stratum_key(values if len(strata) > 1 else [values]): int(size) for values, size in smallest.items()
        },
    )
