"""The distinct values of a column, counted once for all that is asked of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.words import folded
from microagg.taxonomy import category
from microagg.validation import IntArray


@dataclass(frozen=True, eq=False)
class Column:
    """A column and its distinct values.

    Attributes
    ----------
    name : column name
    dtype : dtype
        The type of the column.
    positions : array of int, shape (n,)
        The position of each record's value among the distinct ones, -1 where it is missing.
    distinct : Series, shape (distinct values,)
        The values that occur, in the order of the records.
    n_table : int
        The number of records of the table, of which these may be a sample in its order.
    """

    name: Hashable
    dtype: Any
    positions: IntArray
    distinct: pd.Series[Any]
    n_table: int

    @classmethod
    def of(cls, series: pd.Series[Any], n_table: int | None = None) -> Self | None:
        """Return the counts of a column, None where its values cannot be compared, such as lists.

        ``n_table`` is the number of records of the table where the column is a sample of it.
        """
        try:
            positions, distinct = pd.factorize(series)
        except TypeError:
            return None
        return cls(
            series.name,
            series.dtype,
            positions.astype(np.int64, copy=False),
            pd.Series(distinct),
            n_table or len(series),
        )

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.positions)

    @cached_property
    def n_missing(self) -> int:
        """The number of records without a value."""
        return int(np.count_nonzero(self.positions < 0))

    @property
    def n_present(self) -> int:
        """The number of records with a value."""
        return self.n - self.n_missing

    @property
    def n_distinct(self) -> int:
        """The number of distinct values."""
        return len(self.distinct)

    @cached_property
    def counts(self) -> IntArray:
        """How many records have each distinct value, shape (distinct values,)."""
        return np.bincount(self.positions[self.positions >= 0], minlength=self.n_distinct)

    @cached_property
    def texts(self) -> pd.Series[str]:
        """The distinct values as text without blanks around it, shape (distinct values,)."""
        values = self.distinct.to_numpy(dtype=object)
        return pd.Series([(value if type(value) is str else category(value)).strip() for value in values], dtype=object)

    @cached_property
    def folded(self) -> list[str]:
        """The same texts in small letters without accents."""
        return [folded(text) for text in self.texts]

    def n_where(self, chosen: NDArray[np.bool_]) -> int:
        """Return the number of records that have one of the ``chosen`` distinct values, shape (distinct values,)."""
        return int(self.counts[chosen].sum())

    def values(self, chosen: NDArray[np.bool_]) -> tuple[Any, ...]:
        """Return the ``chosen`` distinct values as Python's own."""
        if not chosen.any():  # as of most columns
            return ()
        return tuple(value.item() if isinstance(value, np.generic) else value for value in self.distinct[chosen])
