"""Uniqueness: how many records are alone with what an intruder may know of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from microagg.classes import coded, combined, numbered
from microagg.errors import DataError, ParameterError
from microagg.tables.kinds import as_pandas
from microagg.validation import IntArray, check_columns, check_k

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """The classes of records that are equal in some columns.

    Attributes
    ----------
    n_records, n_classes : int
    n_unique : int
        The records that are alone in their class.
    sizes : array of int, shape (n_classes,)
        How many records each class has, in the order of first appearance.
    """

    n_records: int
    n_classes: int
    n_unique: int
    sizes: IntArray

    def below(self, k: int) -> int:
        """Return how many records are in classes of fewer than ``k``."""
        return int(self.sizes[self.sizes < check_k(k)].sum())

    @property
    def share(self) -> float:
        """The share of the records that are unique, from 0 to 1; the lower the better."""
        return self.n_unique / self.n_records

    @property
    def max_reidentification(self) -> float:
        """1 / (size of the smallest class), the chance to pick the right record there; the prosecutor's risk of ARX."""
        return 1.0 / float(self.sizes.min())

    @property
    def mean_reidentification(self) -> float:
        """The mean over the records of 1 / (size of the own class); the marketer's risk of ARX (Dankar & El Emam)."""
        return self.n_classes / self.n_records


def uniqueness(frame: IntoDataFrame, columns: Sequence[Hashable]) -> Uniqueness:
    """Return how many records are alone in having their values of ``columns`` (the fewer the better), and all classes.

    A class is the set of records that are equal in these columns.

    Whoever knows these values of a person in the file finds a unique record for certain, one of a class of s with
    probability 1/s (Samarati 2001; Sweeney 2002). A missing value counts as a value of its own.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The originals, for the risk before a release, or the release, for that after.
    columns : sequence of column names
        What the intruder knows: the quasi-identifiers, at least one.

    Raises
    ------
    DataError
        If the frame has no records, or lacks a column.
    ParameterError
        If no column is named.
    """
    return _sized(record_classes(frame, columns))


def uniqueness_with_each(
    frame: IntoDataFrame, columns: Sequence[Hashable], others: Iterable[Hashable]
) -> dict[Hashable, Uniqueness]:
    """Return the uniqueness if an intruder knows one more column, for each of ``others``; see :func:`uniqueness`."""
    others, frame = list(others), as_pandas(frame)
    classes = record_classes(frame, columns)
    check_columns(frame, others)
    return {other: _sized(combined(classes, coded(frame[other]))) for other in others}


def record_classes(frame: IntoDataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Return the class of each record, from 0 in the order of appearance, shape (n,); see :func:`uniqueness`."""
    frame = as_pandas(frame)
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ParameterError("columns is empty: name at least one column that an intruder knows.")
    check_columns(frame, names)
    if len(frame) == 0:
        raise DataError("the data have no records: give at least one.")
    return numbered(frame, names)


def _sized(classes: IntArray) -> Uniqueness:
    sizes = np.bincount(classes)
    return Uniqueness(len(classes), len(sizes), int(np.count_nonzero(sizes == 1)), sizes)
