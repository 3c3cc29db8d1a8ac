"""How many records share their quasi-identifiers, counted on files that were written, whoever wrote them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from microagg.distributed.packages import load
from microagg.distributed.parts import Part, Table, frame_of, read

# About how many classes one task of the count holds at a time.
_CLASSES = 200_000

# Classes are put together when there are so many more than there were.
_PENDING = 1_000_000


@dataclass(frozen=True)
class Count:
    """The classes of a file: sets of records that are equal in some columns.

    Attributes
    ----------
    records, classes : int
    smallest : int
        The number of records of the smallest class.
    below, alone : int
        The records that are in classes of fewer than k, and those alone in theirs.
    strata : DataFrame
        The columns of the strata, with ``n`` records and the ``smallest`` class of each; empty without strata.
    """

    records: int
    classes: int
    smallest: int
    below: int
    alone: int
    strata: pd.DataFrame


def count(client: Any, folder: Path, columns: Sequence[Any], strata: Sequence[Any], k: int) -> Count:
    """Return the classes of the Parquet files in a folder, counted by the workers of a client of Dask.

    They are grouped by the values themselves, in as many pieces as keep each of them small.
    """
    dd = load("dask.dataframe")
    names = [*columns, *strata]
    table = Table.of(folder)
    meta = frame_of(table.schema.empty_table().select(names), folder.name)
    frame = dd.from_map(_frame, list(table.parts), columns=names, meta=meta, enforce_metadata=False)
    pieces = max(1, -(-table.n // (max(k, 1) * _CLASSES)))
    sizes = frame.groupby(names, dropna=False, observed=True, sort=False).size(split_out=pieces)
    delayed = load("dask").delayed(_counted)
    found = [delayed(piece, list(strata), k) for piece in sizes.to_frame("n").reset_index().to_delayed()]
    return _together(client.gather(client.compute(found)), strata)


def columns_of_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the columns of a Parquet file, or of all in a folder."""
    return Table.of(path).names


def _frame(part: Part, columns: list[str]) -> pd.DataFrame:
    return frame_of(read(part, columns), part.label)


def count_here(path: str | os.PathLike[str], columns: Sequence[str], k: int) -> Count:
    """Return the classes of a Parquet file, or of all in a folder, read one part after the other."""
    pa = load("pyarrow")
    table = Table.of(path)
    sums: list[Any] = []
    pending = known = 0
    for part in table.parts:
        own = read(part, list(columns))
        own = own.append_column(_N, pa.repeat(pa.scalar(1, pa.int64()), own.num_rows))
        sums.append(_grouped(own, columns))
        pending += sums[-1].num_rows
        if pending > max(_PENDING, known):
            sums = [_grouped(pa.concat_tables(sums), columns)]
            pending, known = 0, sums[0].num_rows
    whole = _grouped(pa.concat_tables(sums), columns).column(_N).to_pandas()
    return _together([_counted(pd.DataFrame({"n": whole}), [], k)], ())


#: What the number of records is called while classes are put together; no column of a file is.
_N = "\0n"


def _grouped(table: Any, columns: Sequence[str]) -> Any:
    plain = table.unify_dictionaries()
    summed = plain.group_by(list(columns), use_threads=False).aggregate([(_N, "sum")])
    return summed.rename_columns([_N if name == f"{_N}_sum" else name for name in summed.column_names])


def _counted(sizes: pd.DataFrame, strata: list[str], k: int) -> dict[str, Any]:
    """Return sums over some classes, ``n`` having the number of records of each."""
    n = sizes["n"]
    found: dict[str, Any] = {
        "records": int(n.sum()),
        "classes": len(n),
        "smallest": int(n.min()) if len(n) else None,
        "below": int(n[n < k].sum()),
        "alone": int((n == 1).sum()),
        "strata": None,
    }
    if strata:
        grouped = sizes.groupby(strata, dropna=False, observed=True, sort=False)["n"]
        found["strata"] = grouped.agg(n="sum", smallest="min").reset_index()
    return found


def _together(found: Sequence[dict[str, Any]], strata: Sequence[str]) -> Count:
    parts = [each["strata"] for each in found if each["strata"] is not None]
    if parts:
        grouped = pd.concat(parts, ignore_index=True).groupby(list(strata), dropna=False, observed=True, sort=False)
        table = grouped.agg(n=("n", "sum"), smallest=("smallest", "min")).reset_index()
    else:
        table = pd.DataFrame()
    return Count(
        records=sum(each["records"] for each in found),
        classes=sum(each["classes"] for each in found),
        smallest=min(each["smallest"] for each in found if each["smallest"] is not None),
        below=sum(each["below"] for each in found),
        alone=sum(each["alone"] for each in found),
        strata=table,
    )
