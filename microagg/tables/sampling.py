"""Records drawn from Parquet files that are too large to be read whole."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.tables.arrow import check_single_values, to_series
from microagg.tables.checks import check_names, refuse_no_records
from microagg.tables.limits import check_memory
from microagg.tables.notices import Notice
from microagg.validation import is_whole, quoted

#: How many parts (row groups) of a file records are drawn from.
MOST_PARTS = 16

# How many records are unpacked at a time.
_RECORDS = 1 << 16


@dataclass(frozen=True, eq=False)
class Sample:
    """Records drawn at random from a table that is too large to be read whole.

    Attributes
    ----------
    frame : DataFrame, shape (n, columns)
        The records, in the order of the table.
    n_records : int
        How many records the table has.
    n_parts, parts : int
        From how many of its parts (row groups) they were drawn, and how many there are.
    notices : tuple of Notice
        What is to be said of the columns, as :func:`microagg.tables.read_file` does.
    """

    frame: pd.DataFrame
    n_records: int
    n_parts: int
    parts: int
    notices: tuple[Notice, ...]


def parquet_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the Parquet files that a path stands for: itself, or those in the folder, by name; absolute paths.

    Names that begin with a dot or an underscore are left out, as other readers do.

    Raises
    ------
    DataError
        If there is no such file or folder, or the folder has none, or folders in it.
    ParameterError
        If it is a file of another kind.
    """
    at = Path(path)
    if at.is_dir():
        entries = [entry for entry in sorted(at.iterdir()) if not entry.name.startswith(("_", "."))]
        if folders := [entry.name for entry in entries if entry.is_dir()]:
            raise DataError(
                f"the folder {str(at)!r} has folders in it ({quoted(folders)}): put all files into one, with what "
                "the folders' names say in a column."
            )
        files = [entry for entry in entries if entry.suffix.lower() in (".parquet", ".pq")]
        if not files:
            raise DataError(f"the folder {str(at)!r} has no Parquet files: name one that has.")
        return [file.resolve() for file in files]
    if not at.exists():
        raise DataError(f"there is no file {str(at)!r}: check its name and folder.")
    if at.suffix.lower() not in (".parquet", ".pq"):
        raise ParameterError(
            f"{at.name!r} is no Parquet file, which can be read in parts: write it as one, or pass a frame of Dask, "
            "such as dask.dataframe.read_csv(...)."
        )
    return [at.resolve()]


def sample_parquet(path: str | os.PathLike[str], n: int, seed: int = 0, parts: int = MOST_PARTS) -> Sample:
    """Draw ``n`` records from a Parquet file, or from all those of a folder, without replacement.

    At most ``parts`` row groups are read, one after the other: drawn at random if there are more. All records of these
    are equally likely to be drawn.

    Parameters
    ----------
    path : path
        A file, or a folder of files with the same columns.
    n : int
        How many records; all of them if there are no more.
    seed : int, default 0
    parts : int, default MOST_PARTS

    Raises
    ------
    DataError
        If there is no such file, one is damaged, files have other columns than the first, or a column holds lists or
        records.
    ParameterError
        If ``n`` or ``parts`` is not a whole number of at least 1, or ``seed`` of at least 0, or it is a file of another
        kind.
    """
    for name, value, least in (("n", n, 1), ("seed", seed, 0), ("parts", parts, 1)):
        if not is_whole(value) or value < least:
            raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    try:
        pa: Any = importlib.import_module("pyarrow")
        pq: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(f"reading {str(path)!r} needs the package pyarrow: install microagg[files].") from None
    try:
        return _sample(pa, pq, parquet_files(path), Path(path).name, n, seed, parts)
    except MicroaggError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise DataError(f"{str(path)!r} is no Parquet file, or a damaged one ({reason}): export it again.") from None


def _sample(pa: Any, pq: Any, files: Sequence[Path], label: str, n: int, seed: int, parts: int) -> Sample:
    groups: list[tuple[Path, int, int]] = []
    schema = None
    for file in files:
        with pq.ParquetFile(file) as opened:
            if schema is None:
                schema = opened.schema_arrow
                check_single_values(schema, f" of the file {label!r}")
                check_names(schema.names, label)
            elif opened.schema_arrow.names != schema.names:
                raise DataError(f"{file.name!r} has other columns than {files[0].name!r}: keep one table in a folder.")
            metadata = opened.metadata
            sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
            groups += [(file, group, size) for group, size in enumerate(sizes) if size]
    total = sum(size for *_, size in groups)
    if total == 0:
        refuse_no_records(label)
    random = np.random.default_rng(seed)
    drawn = sorted(random.permutation(len(groups))[:parts].tolist())
    there = sum(groups[i][2] for i in drawn)
    rows = np.sort(random.permutation(there)[: min(n, there)])
    tables, before = [], 0
    for i in drawn:
        file, group, size = groups[i]
        own = rows[(rows >= before) & (rows < before + size)] - before
        tables.append(_take(pa, pq, file, group, own))
        before += size
    table = pa.concat_tables(tables, promote_options="permissive")
    check_memory(2 * table.nbytes, sum(file.stat().st_size for file in files), label)
    columns, notices = {}, []
    for name in table.column_names:
        columns[name], said = to_series(table.column(name), name, label)
        notices += said
    return Sample(pd.DataFrame(columns), total, len(drawn), len(groups), tuple(notices))


def _take(pa: Any, pq: Any, file: Path, group: int, rows: NDArray[Any]) -> Any:
    """Return the records at these positions of a row group."""
    parts, before = [], 0
    with pq.ParquetFile(file, pre_buffer=False) as opened:
        for batch in opened.iter_batches(batch_size=_RECORDS, row_groups=[group], use_threads=False):
            own = rows[(rows >= before) & (rows < before + len(batch))] - before
            parts.append(batch.take(pa.array(own)))
            before += len(batch)
    return pa.Table.from_batches(parts)
