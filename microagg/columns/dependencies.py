"""Which columns say the same: those whose value settles that of another."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.counts import Column
from microagg.tables.kinds import as_pandas
from microagg.validation import IntArray, check_columns

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

# Records that are looked at first: they rule out nearly every pair of columns.
_SAMPLE = 2_000

# Above the position of any value.
_NONE = np.iinfo(np.int64).max


def determined_by(frame: IntoDataFrame, columns: Sequence[Any] | None = None) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return for each of ``columns`` (by default all) which others determine it; those that none does are left out.

    A column determines another if records that agree in it agree in the other too, as a city does its country.
    Records in which one of the two is missing are not compared. Columns with one value only, or with more distinct
    values than half the records, play no part: they say nothing of others, or trivially everything.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level, or a
        column is not in it.
    """
    frame = as_pandas(frame)
    names = list(frame.columns if columns is None else columns)
    check_columns(frame, names)
    counted = [column for name in names if (column := Column.of(frame[name])) is not None and can_determine(column)]
    table = determinations(counted)
    return {
        column.name: tuple(counted[i].name for i in np.flatnonzero(table[:, j]))
        for j, column in enumerate(counted)
        if table[:, j].any()
    }


def can_determine(column: Column) -> bool:
    """Whether a column has enough values to say something of others, and few enough to say it of several records."""
    return 2 <= column.n_distinct <= column.n / 2


def determinations(columns: Sequence[Column]) -> NDArray[np.bool_]:
    """Return which of the d ``columns`` determine which, shape (d, d): True in row i, column j if i determines j.

    Both must be present in at least half of the records; no column counts as determining itself.
    """
    d = len(columns)
    table = np.zeros((d, d), dtype=np.bool_)
    if d < 2:
        return table
    positions = np.column_stack([column.positions for column in columns])
    sample = positions[:: -(-len(positions) // _SAMPLE)]
    for i in range(d):
        others = np.array([j for j in range(d) if j != i])
        others = others[_settled(sample, i, others)]
        if len(others):
            shared = (positions[:, [i]] >= 0) & (positions[:, others] >= 0)
            others = others[2 * shared.sum(axis=0) >= len(positions)]
        if len(others):
            table[i, others[_settled(positions, i, others)]] = True
    return table


def _settled(positions: IntArray, i: int, others: IntArray) -> NDArray[np.bool_]:
    """Return for each of ``others`` whether it has one value at most within each value of column ``i``."""
    present = positions[positions[:, i] >= 0]
    if not len(present):
        return np.ones(len(others), dtype=np.bool_)
    ordered = present[np.argsort(present[:, i], kind="stable")]
    starts = np.flatnonzero(np.diff(ordered[:, i], prepend=-1))
    values = ordered[:, others]
    highest = np.maximum.reduceat(values, starts, axis=0)
    lowest = np.minimum.reduceat(np.where(values < 0, _NONE, values), starts, axis=0)
    # Where no record has a value, the highest is that of a gap and the lowest stayed above all.
    return np.asarray(((lowest == highest) | (highest < 0)).all(axis=0))
