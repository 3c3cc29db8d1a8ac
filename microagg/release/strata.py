"""Strata: sets of records, such as those of a region, that no group reaches across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.classes import told_apart
from microagg.errors import DataError
from microagg.partition import Partition
from microagg.validation import IntArray, check_present, plain, quoted


class Part(NamedTuple):
    """One stratum: its records' positions among the released ones, ascending, and its value of each strata column."""

    rows: IntArray
    values: tuple[Any, ...]


def find(frame: pd.DataFrame, columns: Sequence[Any], kept: NDArray[np.bool_]) -> list[Part]:
    """Return the strata of the records of ``frame`` that are ``kept``, in order of first appearance.

    Without ``columns`` all records are one part. Values that a file has otherwise, such as 1 and True, are of different
    strata, for they are released as they are.

    Raises
    ------
    DataError
        If a value is missing, or values cannot be told apart.
    """
    positions = np.flatnonzero(kept)
    if not columns:
        return [Part(np.arange(len(positions)), ())]
    for column in columns:
        check_present(frame[column], kept, "no value", ", so it belongs to no stratum")
    kept_frame = frame.iloc[positions]
    try:
        table = keys(kept_frame, columns)
        codes = table.groupby(list(table.columns), sort=False, observed=True).ngroup().to_numpy()
    except TypeError:
        raise DataError(
            f"the strata columns {quoted(columns)} hold values that cannot be told apart (such as lists): "
            "turn them into text or numbers first."
        ) from None
    # One value at a time and not a row, in which integers beside floats would become floats.
    return [
        Part(rows, tuple(kept_frame[column].iat[int(rows[0])] for column in columns))
        for rows in Partition(codes, 1).groups()
    ]


def keys(frame: pd.DataFrame, columns: Sequence[Any]) -> pd.DataFrame:
    """Return ``columns`` of ``frame``, numbered from 0 and without an index, to group the records by.

    Values are as :func:`microagg.classes.told_apart` has them.

    Raises
    ------
    TypeError
        If values cannot be told apart, such as lists.
    """
    # An index level may have the name of a column, and pandas then would not know which to group by.
    table = frame.loc[:, list(columns)].reset_index(drop=True)
    return table.set_axis(range(len(columns)), axis=1).apply(told_apart)


def codes(parts: Sequence[Part], n: int) -> IntArray:
    """Return the number of each record's stratum, shape (n,)."""
    found = np.empty(n, dtype=np.int64)
    for code, part in enumerate(parts):
        found[part.rows] = code
    return found


def name(columns: Sequence[Any], values: Sequence[Any]) -> str:
    """Return what messages call the stratum that has ``values`` in ``columns``."""
    return ", ".join(f"{column!s}={plain(value)!r}" for column, value in zip(columns, values, strict=True))
