"""What a release in parts is made from: Parquet files, or a frame of Dask, which is written to such files first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from microagg.distributed.checkpoint_dir import INPUT, Working
from microagg.distributed.cluster import Stages
from microagg.distributed.parts import RECORDS, Table, load
from microagg.errors import DataError

# Records of a row group, so that a partition of a frame may be larger than a part.
_GROUP = RECORDS // 4

# Of the beginning of a frame.
_HEAD = 10_000


class Source(Protocol):
    """A table in parts."""

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others."""

    @property
    def known(self) -> Table | None:
        """The table if it is one of Parquet files already."""

    def table(self, stages: Stages) -> Table:
        """Return it as Parquet files."""

    def head(self) -> pd.DataFrame:
        """Return its first records."""


def source_of(data: Any) -> Source:
    """Return what a release is made from.

    Raises
    ------
    DataError
        If it is neither a path nor a frame of Dask.
    """
    if isinstance(data, (str, os.PathLike)):
        return _Files(Table.of(data))
    if isinstance(data, load("dask.dataframe").DataFrame):
        return _Frame(data)
    raise DataError(
        f"engine='dask' takes the path of Parquet files or a frame of Dask, not {type(data).__name__}: pass one of "
        "these, or leave out engine for a table in memory."
    )


class _Files:
    def __init__(self, table: Table) -> None:
        self._table = table

    @property
    def identity(self) -> dict[str, Any]:
        states = [(file, Path(file).stat()) for file in self._table.files]
        return {"files": [[file, state.st_size, state.st_mtime_ns] for file, state in states]}

    @property
    def known(self) -> Table:
        return self._table

    def table(self, stages: Stages) -> Table:
        return self._table

    def head(self) -> pd.DataFrame:
        return self._table.head()


class _Frame:
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        for name in frame.columns:
            if not isinstance(name, str):
                raise DataError(f"the column name {name!r} is no text, as names in Parquet files are: rename it.")

    @property
    def identity(self) -> dict[str, Any]:
        return {"frame": load("dask.base").tokenize(self._frame), "columns": list(self._frame.columns)}

    @property
    def known(self) -> None:
        return None

    def table(self, stages: Stages) -> Table:
        delayed = self._frame.to_delayed()
        stages.run_delayed("input", delayed, _put, says="writing the frame: part", shares=(0.0, 0.02))
        return Table.of(stages.working.path(INPUT, ""))

    def head(self) -> pd.DataFrame:
        found: pd.DataFrame = self._frame.head(_HEAD, npartitions=-1, compute=True)
        return found


def _put(working: Working, number: int, partition: pd.DataFrame) -> int:
    """Write a partition of a frame, and return how many records it has."""
    pa, pq = load("pyarrow"), load("pyarrow.parquet")
    try:
        table = pa.Table.from_pandas(partition, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"a column of the frame holds values of several types ({str(error).splitlines()[0]}): make it one type."
        ) from None
    with working.writing(INPUT, f"part-{number:05d}.parquet", 0) as path:
        pq.write_table(table.replace_schema_metadata(), path, row_group_size=_GROUP)
    return len(partition)
