"""Means, ranges and sums of products of parts of a file, which merge to those of the whole file.

So one pass over the parts is enough for scales and correlations, and they are exact but for rounding. Whoever merges in
the order of the parts, never in the order in which they are done, gets the same bits every time.

Source: Chan, Golub & LeVeque 1979, Updating formulae and a pairwise algorithm for computing sample variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from microagg.errors import DataError
from microagg.scaling import NO_RECORDS, Scaling, centered
from microagg.validation import FloatArray, check_finite


@dataclass(frozen=True, eq=False)
class Moments:
    """What has to be known of some records to scale them, and to say how their attributes go together.

    Attributes
    ----------
    n : int
        The number of records; 0 for a part without any.
    least, greatest : array, shape (d,)
        The smallest and the largest value of each attribute, in its units; inf and -inf without records.
    center : array, shape (d,)
        The mean of each attribute above ``least``: kept apart from it, a large common offset costs no precision.
    comoments : array, shape (d, d)
        Σ over records of the products of the deviations of two attributes from their means.
    """

    n: int
    least: FloatArray
    greatest: FloatArray
    center: FloatArray
    comoments: FloatArray

    @classmethod
    def of(cls, X: FloatArray, names: Sequence[Any] | None = None) -> Self:
        """Return the moments of the records ``X``, shape (n, d), whose columns are called ``names``.

        Raises
        ------
        DataError
            If X has values that are not finite.
        """
        n, d = X.shape
        if n == 0:
            return cls(0, np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), np.zeros((d, d)))
        check_finite(X, names)
        least, center, deviations = centered(X)
        columns = np.ascontiguousarray(deviations.T)
        comoments = np.empty((d, d))
        # Not a product of matrices: its last bits depend on the number of threads. And sums here are pairwise.
        for i in range(d):
            for j in range(i + 1):
                comoments[i, j] = comoments[j, i] = (columns[i] * columns[j]).sum()
        return cls(n, least, X.max(axis=0), center, comoments)

    @property
    def mean(self) -> FloatArray:
        """The mean of each attribute, shape (d,), in its units."""
        return self.least + self.center

    def merge(self, other: Self) -> Self:
        """Return the moments of these records and of ``other`` ones together.

        Raises
        ------
        DataError
            If the others have not as many attributes.
        """
        if len(self.least) != len(other.least):
            raise DataError(f"moments of {len(self.least)} and of {len(other.least)} attributes cannot be merged.")
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        n, share = self.n + other.n, other.n / (self.n + other.n)
        least = np.minimum(self.least, other.least)
        own, others = self.center + (self.least - least), other.center + (other.least - least)
        apart = (other.center - self.center) + (other.least - self.least)
        return type(self)(
            n,
            least,
            np.maximum(self.greatest, other.greatest),
            own * (1 - share) + others * share,
            self.comoments + other.comoments + np.outer(apart, apart) * (self.n * share),
        )

    def scaling(self, method: str, names: Sequence[Any] | None = None) -> Scaling:
        """Return the scale ``method`` as :meth:`microagg.scaling.Scaling.fit` fits it to all of the records.

        It is equal but for rounding, and raises the same.
        """
        if self.n == 0:
            raise DataError(NO_RECORDS)
        variance = np.diag(self.comoments) / self.n
        return Scaling.of_moments(method, self.least, self.center, self.greatest - self.least, variance, names)

    def sst(self, scaling: Scaling) -> float:
        """Return the sum of squared deviations of all records from their mean once they are on a scale."""
        if scaling.method == "none":
            return float(np.trace(self.comoments))
        varies = np.ones(len(self.least), dtype=bool)
        varies[list(scaling.constant)] = False
        return float((np.diag(self.comoments)[varies] / np.square(scaling.spread[varies])).sum())

    def correlations(self) -> FloatArray:
        """Return Pearson's correlation of each two attributes, shape (d, d); NaN where one holds one value only."""
        deviations = np.sqrt(np.diag(self.comoments))
        varies = (self.greatest > self.least) & (deviations > 0.0)
        scale = np.where(varies, deviations, np.nan)
        return np.asarray(np.clip(self.comoments / scale[:, np.newaxis] / scale, -1.0, 1.0))
