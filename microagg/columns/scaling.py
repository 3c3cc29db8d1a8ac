"""The scales of attributes: distances and information loss depend on their relative weights.

The scales here are linear, attribute by attribute, so the mean (or median) of a group is the same whether taken before
or after; a release is therefore computed on the raw values, and nothing has to be scaled back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import ConstantColumnWarning, DataError
from microagg.tables.frames import as_pandas, is_table
from microagg.validation import (
    MOST_NAMED,
    FloatArray,
    attribute_name,
    check_choice,
    check_finite,
    check_matrix,
    listing,
    numeric_matrix,
    warn_caller,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The scales of attributes: mean 0 and variance 1, the interval from 0 to 1, or none.
SCALES = ("zscore", "minmax", "none")

#: The error for a table without records.
NO_RECORDS = "there are no records to scale."

# The square of a smaller range underflows, so distances would silently be 0.
_SMALLEST_RANGE = 1e-140


def centered(X: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Minimum of each column, its mean above that minimum, and the deviations from the mean.

    ``X``, shape (n, d), is finite and has a record. As separate numbers, the minimum and the mean above it are exact
    when their sum is not (with a large common offset). With ``weights``, above 0, shape (n,), the mean is Σ w x / Σ w.
    """
    low = X.min(axis=0)
    deviations = X - low
    # NumPy adds pairwise column by column, but not in a row-major table.
    columns = (np.ascontiguousarray(column) for column in deviations.T)
    center = np.array([column.mean() if weights is None else np.average(column, weights=weights) for column in columns])
    deviations -= center
    return low, center, deviations


@dataclass(frozen=True, eq=False)
class Scaling:
    """A linear scale fitted to a table, for :meth:`transform`."""

    method: str  # one of SCALES; with "none" nothing is done
    #: A value x becomes ((x − low) − center) / spread, each of shape (d,); there are two subtractions because their
    #: sum would be rounded to the precision of a large common offset.
    low: FloatArray
    center: FloatArray
    spread: FloatArray
    constant: tuple[int, ...]  # the columns whose maximum equals their minimum: these become 0

    @classmethod
    def fit(cls, X: FloatArray, method: str, names: Sequence[Any] | None = None) -> Self:
        """Fit a scale to records.

        Parameters
        ----------
        X : array of float, shape (n, d)
        method : str
            One of :data:`SCALES`.
        names : sequence of length d, optional
            Names of the columns in errors.

        Raises
        ------
        DataError
            If there are no records, a value is missing, infinite or too large for distances, or a column's range is so
            small that its square underflows.
        ParameterError
            If there is no such scale.
        """
        check_choice("scale", method, SCALES)
        if len(X) == 0:
            raise DataError(NO_RECORDS)
        check_finite(X, names)
        low, center, deviations = centered(X)
        variance = np.array([np.square(np.ascontiguousarray(column)).mean() for column in deviations.T])
        return cls.of_moments(method, low, center, X.max(axis=0) - low, variance, names)

    @classmethod
    def of_moments(
        cls,
        method: str,
        low: FloatArray,
        center: FloatArray,
        extent: FloatArray,
        variance: FloatArray,
        names: Sequence[Any] | None = None,
    ) -> Self:
        """Fit a scale from statistics of the columns, each of shape (d,), when the table itself is not in memory.

        They are the minimum, the mean minus the minimum, the maximum minus the minimum, and the population variance.
        """
        check_choice("scale", method, SCALES)
        is_constant = extent == 0.0
        is_tiny = ~is_constant & (extent < _SMALLEST_RANGE)
        if is_tiny.any():
            j = int(np.flatnonzero(is_tiny)[0])
            raise DataError(
                f"{attribute_name(j, names)} has a range of {extent[j]:g}: its square is 0; use smaller units."
            )
        if method == "zscore":
            spread = np.sqrt(variance)
        else:
            center, spread = np.zeros_like(low), extent
        constant = tuple(int(j) for j in np.flatnonzero(is_constant))
        return cls(method, low, center, spread, constant)

    def transform(self, X: FloatArray) -> FloatArray:
        """Scale ``X``, shape (m, d), in the units of the fit. Return a new array."""
        if self.method == "none":
            return np.array(X, dtype=np.float64, order="C")
        constant = list(self.constant)
        spread = self.spread.copy()
        spread[constant] = 1.0
        scaled = X - self.low
        scaled -= self.center
        scaled /= spread
        # Rounding moves the mean of equal values a little.
        scaled[:, constant] = 0.0
        return np.ascontiguousarray(scaled)


def standardize(X: ArrayLike | IntoDataFrame) -> FloatArray:
    """Scale every column to mean 0 and variance 1 (of the population, as in published benchmarks).

    Parameters
    ----------
    X : array, DataFrame of pandas or polars, or pyarrow.Table, shape (n, d)
        Finite numbers; a large common offset costs no precision.

    Returns
    -------
    array of float, shape (n, d)
        A new array without unit. Columns with one value become 0, with a :class:`ConstantColumnWarning`.

    Raises
    ------
    DataError
        If X has no records, or anything but finite numbers.
    """
    values: Any = X
    names = None
    if is_table(X):
        frame = as_pandas(X)
        names = list(frame.columns)
        values = numeric_matrix(frame, names)
    data = check_matrix(values)
    scaling = Scaling.fit(data, "zscore", names)
    if scaling.constant:
        listed = listing([attribute_name(j, names) for j in scaling.constant], MOST_NAMED)
        one = len(scaling.constant) == 1
        warn_caller(
            f"{listed} {'holds' if one else 'hold'} one value only: {'it becomes' if one else 'they become'} 0 "
            f"and {'has' if one else 'have'} no part in distances.",
            ConstantColumnWarning,
        )
    return scaling.transform(data)
