"""What is measured: original records, what is released in their place, and the scale of their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.errors import DataError
from microagg.scaling import centered
from microagg.validation import FloatArray, attribute_name, check_finite, check_matrix, check_pair

# What a released value of a constant attribute may differ from the original one by rounding, as a share of it.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Pair:
    """Numbers before and after, each less the smallest original value of its attribute, and their scale.

    Without their offset, a large one costs no precision. Made by :meth:`of`.

    Attributes
    ----------
    before, after : array, shape (n, d) and (m, d)
        In the units of the data.
    sd : array, shape (d,)
        Standard deviations of the originals (of the population: divided by n, or by the sum of the weights); 1 where
        an attribute is constant, and so has nothing to measure differences by.
    varies : array of bool, shape (d,)
        Which attributes hold more than one original value.
    """

    before: FloatArray
    after: FloatArray
    sd: FloatArray
    varies: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        before: ArrayLike,
        after: ArrayLike,
        *,
        matched: bool = True,
        names: Sequence[Any] | None = None,
        weights: FloatArray | None = None,
    ) -> Self:
        """Return the pair of two tables of the same attributes, ``names`` where these are known.

        Record i of one is record i of the other if they are ``matched``; otherwise they may differ in number.

        Raises
        ------
        DataError
            If one of them has no records, or anything but finite numbers; if their shapes do not go together; or if an
            attribute holds one value only and another one is released.
        """
        X, released = check_pair(before, after, matched=matched, names=names)
        low = X.min(axis=0)
        varies = X.max(axis=0) > low
        given, released = X - low, released - low
        _check_constant(low, released, varies, names)
        released[:, ~varies] = 0.0
        sd = np.where(varies, standard_deviations(X, weights), 1.0)
        return cls(given, released, sd, varies)

    def mean(self, values: FloatArray) -> float:
        """Return the mean of ``values``, shape (d,), over the attributes that vary; 0 where none does."""
        return float(values[self.varies].mean()) if self.varies.any() else 0.0


def check_weights(weights: ArrayLike | None, n: int) -> FloatArray | None:
    """Return the weights of ``n`` records as floats; None where there are none.

    Raises
    ------
    DataError
        If there is not one for each record, or one is not finite and above 0.
    """
    if weights is None:
        return None
    array = check_matrix(weights)
    if array.shape != (n, 1):
        raise DataError(f"there are {n} records, but weights of shape {np.shape(weights)}: give one for each record.")
    check_finite(array, ["weights"])
    if (array <= 0.0).any():
        row = int(np.flatnonzero(array <= 0.0)[0])
        raise DataError(
            f"record {row} (counting from 0) has the weight {array[row, 0]:g}, but weights must be above 0: leave out "
            "such records first."
        )
    return array[:, 0]


def standard_deviations(X: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the standard deviation of each column, of the population; 0 exactly where it is constant."""
    return means_and_deviations(X, weights)[1]


def means_and_deviations(X: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, standard deviation and deviations from the mean of each column; 0 exactly where it is constant.

    ``X``, shape (n, d), is finite and has a record; with ``weights``, shape (n,), all are weighted.
    """
    low, center, deviations = centered(X, weights)
    constant = X.max(axis=0) == low
    deviations[:, constant] = 0.0
    squares = np.square(deviations)
    variance = squares.mean(axis=0) if weights is None else np.average(squares, axis=0, weights=weights)
    return np.where(constant, low, low + center), np.sqrt(variance), deviations


def _check_constant(
    low: FloatArray, released: FloatArray, varies: NDArray[np.bool_], names: Sequence[Any] | None
) -> None:
    """Raise :class:`DataError` if an attribute is constant, and what is released of it, less that value, is not 0."""
    changed = (np.abs(released[:, ~varies]) > _ROUNDING * np.abs(low[~varies])).any(axis=0)
    if changed.any():
        j = int(np.flatnonzero(~varies)[changed.argmax()])
        raise DataError(
            f"{attribute_name(j, names)} holds one value only in the originals and another one in the release: it has "
            "no standard deviation to measure that by; leave it out."
        )
