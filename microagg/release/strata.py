"""Strata: sets of records, such as those of a region, that no group reaches across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.metrics.risk.equivalence_classes import distinguished
from microagg.partition import Partition
from microagg.validation import IntArray, check_present, counted, plain, quoted


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

    Values are as :func:`microagg.metrics.risk.equivalence_classes.distinguished` has them.

    Raises
    ------
    TypeError
        If values cannot be told apart, such as lists.
    """
    # An index level may have the name of a column, and pandas then would not know which to group by.
    table = frame.loc[:, list(columns)].reset_index(drop=True)
    return table.set_axis(range(len(columns)), axis=1).apply(distinguished)


def codes(parts: Sequence[Part], n: int) -> IntArray:
    """Return the number of each record's stratum, shape (n,)."""
    found = np.empty(n, dtype=np.int64)
    for code, part in enumerate(parts):
        found[part.rows] = code
    return found


def name(columns: Sequence[Any], values: Sequence[Any]) -> str:
    """Return what messages call the stratum that has ``values`` in ``columns``."""
    return ", ".join(f"{column!s}={plain(value)!r}" for column, value in zip(columns, values, strict=True))


# Groups that were found elsewhere: a partition that was searched for at length, or one from another program.


def check_given(labels: IntArray, k: int, parts: Sequence[Part], columns: Sequence[Any], aside: str = "") -> None:
    """Raise :class:`DataError` unless ``labels`` are those of groups of at least ``k`` within the strata.

    There must be a label for each record of the strata ``parts``, whose columns are ``columns``. Messages say ``aside``
    after the number of records.
    """
    n = sum(len(part.rows) for part in parts)
    if len(labels) != n:
        raise DataError(
            f"there are labels for {counted(len(labels), 'record')}, but {n:,} are released{aside}: give one for each "
            "of these, in the order of the file."
        )
    groups, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < k:
        small = int(sizes.argmin())
        raise DataError(
            f"the group with the label {groups[small]} has {counted(int(sizes[small]), 'record')}, fewer than k={k}: "
            "give labels of larger groups, or choose a lower k."
        )
    first: dict[int, Part] = {}
    for part in parts:
        for group in np.unique(labels[part.rows]).tolist():
            if group in first:
                one, other = (name(columns, stratum.values) for stratum in (first[group], part))
                raise DataError(
                    f"the group with the label {group} has records of the strata {one} and {other}: "
                    "give labels of groups that stay within one stratum."
                )
            first[group] = part
