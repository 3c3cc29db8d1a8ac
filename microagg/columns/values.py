"""The values of a column: the distinct ones, with the records of each, and figures of them at a glance.

The module ``kinds`` suggests the kind of a column and finds values that look like missing-value codes.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype, is_object_dtype

from microagg.columns.names import folded
from microagg.columns.taxonomy import category
from microagg.tables.frames import as_pandas
from microagg.validation import LARGEST, FloatArray, IntArray, check_whole, shortened, widened

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class ColumnValues:
    """A column and its distinct values. TypeError if they cannot be compared, such as lists."""

    def __init__(self, series: pd.Series[Any]) -> None:
        positions, distinct = pd.factorize(series)
        self.name, self.dtype = series.name, series.dtype
        #: The position of each record's value among the distinct ones, -1 if it is missing, shape (n,).
        self.positions: IntArray = positions.astype(np.int64, copy=False)
        #: The distinct values in the order of the records, and the number of records with each.
        self.distinct: pd.Series[Any] = pd.Series(distinct)
        self.counts: IntArray = np.bincount(self.positions[self.positions >= 0], minlength=len(distinct))
        #: The number of all records, of those with a value and those without one, and of distinct values.
        self.n, self.n_present, self.n_distinct = len(positions), int(self.counts.sum()), len(distinct)
        self.n_missing = self.n - self.n_present

    @classmethod
    def of(cls, series: pd.Series[Any]) -> Self | None:
        """Values of a column, None if they cannot be compared."""
        try:
            return cls(series)
        except TypeError:
            return None

    @cached_property
    def texts(self) -> pd.Series[str]:
        """The distinct values as text without blanks around it, shape (distinct values,)."""
        values = widened(self.distinct).to_numpy(dtype=object)
        return pd.Series([(value if type(value) is str else category(value)).strip() for value in values], dtype=object)

    @cached_property
    def folded(self) -> list[str]:
        """The same texts in small letters without accents."""
        return [folded(text) for text in self.texts]

    def n_where(self, chosen: NDArray[np.bool_]) -> int:
        """Number of records with one of the ``chosen`` distinct values, shape (distinct values,)."""
        return int(self.counts[chosen].sum())

    def values(self, chosen: NDArray[np.bool_]) -> tuple[Any, ...]:
        """The ``chosen`` distinct values as Python's own types."""
        if not chosen.any():  # as of most columns
            return ()
        values = widened(self.distinct[chosen])
        return tuple(value.item() if isinstance(value, np.generic) else value for value in values)


def are_whole(numbers: FloatArray) -> bool:
    """Whether none of the numbers has a fraction or is missing."""
    return bool((numbers == np.floor(numbers)).all())


_BINS = 24
_N_EXAMINED, _EXAMPLES, _LONGEST = 200, 3, 24

# Below this, floats can represent the edges of bins of whole numbers, which end in .5.
_HALVES = 2.0**51
# Whole numbers with a wider range have the bins of other numbers.
_WHOLE_RANGE = 1e9
# The maximum relative distance of a float to the next one.
_EPSILON = float(np.finfo(np.float64).eps)


def bin_edges(values: FloatArray, most: int) -> FloatArray:
    """Edges of equally wide bins over ``values``.

    There are no more bins than distinct values, but at least 2 unless floats are too coarse. Bins of whole numbers have
    equally many of them, so that bars of uniform data have one height.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers, at least one.
    most : int
        Maximum number of bins, at least 1.

    Returns
    -------
    array of float, shape (number of bins + 1,)
        Ascending, in the units of the values.

    Raises
    ------
    ParameterError
        If ``most`` is not a whole number of at least 1.
    """
    check_whole("the number of bins", most, 1)
    low, high = float(values.min()), float(values.max())
    if max(-low, high) < _HALVES and high - low < _WHOLE_RANGE and (values == np.round(values)).all():
        step = max(1, math.ceil((high - low + 1) / most))
        return np.arange(low - 0.5, high + step + 0.5, step)
    if low == high:
        # At least the distance of floats here; no edge exceeds the largest float.
        margin, greatest = max(0.5, abs(low) * _EPSILON), np.finfo(np.float64).max
        return np.unique(np.clip([low - margin, low, low + margin], -greatest, greatest))
    shares = np.linspace(0.0, 1.0, min(most, max(2, len(np.unique(values)))) + 1)
    # The range itself may exceed the largest float, and the bins of a narrow range the spacing of floats.
    edges = low * (1.0 - shares) + high * shares
    edges[[0, -1]] = low, high
    return np.unique(edges.clip(low, high))


def summary(frame: IntoDataFrame) -> pd.DataFrame:
    """Figures of each column of a table.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.

    Returns
    -------
    DataFrame of shape (columns, 6)
        ``column``, the name as text; ``least``, ``mean`` and ``greatest`` of the finite values, NaN without any;
        ``distribution``, a list of numbers of records: of a numeric column in at most 24 equal parts of its range (see
        :func:`bin_edges`), of any other with each of its 24 most frequent values; ``examples``, the first three
        distinct values among the first 200 present ones, each shortened to 24 characters.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    return pd.DataFrame(
        [{"column": str(name), **_figures(frame[name]), "examples": _examples(frame[name])} for name in frame.columns],
        columns=["column", "least", "mean", "greatest", "distribution", "examples"],
    )


def _figures(series: pd.Series[Any]) -> dict[str, Any]:
    nothing: dict[str, Any] = {"least": np.nan, "mean": np.nan, "greatest": np.nan, "distribution": []}
    if not is_numeric_dtype(series) or is_bool_dtype(series) or is_complex_dtype(series):
        present = series.dropna()
        if is_object_dtype(series):
            present = present.map(str)  # such as lists, which cannot be counted
        counts = present.value_counts().head(_BINS)
        return nothing | {"distribution": counts[counts > 0].tolist()}
    values = series.to_numpy(float, na_value=np.nan)
    values = values[np.isfinite(values)]
    if not len(values):
        return nothing
    counts = np.histogram(values, bin_edges(values, _BINS))[0].tolist()
    # The sum of finite numbers may be infinite.
    unit = max(1.0, float(np.abs(values).max()) / LARGEST)
    mean = float((values / unit).mean() * unit)
    return {"least": values.min(), "mean": mean, "greatest": values.max(), "distribution": counts}


def _examples(series: pd.Series[Any]) -> str:
    values = series.dropna().head(_N_EXAMINED)
    texts = [f"{value:g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00") for value in values]
    return ", ".join(list(dict.fromkeys(shortened(text, _LONGEST) for text in texts))[:_EXAMPLES])
