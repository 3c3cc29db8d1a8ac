"""Means, ranges and sums of products of parts of a file, which merge to those of the whole file.

So one pass over the parts is enough for scales and correlations, and they are exact but for rounding. Whoever merges in
the order of the parts, never in the order in which they are done, gets the same bits every time.

Source: Chan, Golub & LeVeque 1979, Updating formulae and a pairwise algorithm for computing sample variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from microagg.columns.scaling import NO_RECORDS, Scaling, centered
from microagg.errors import DataError
from microagg.kernels import running
from microagg.kernels.neighbors.kd_tree import make_tree_pool
from microagg.kernels.neighbors.knn_graph import fill_rows
from microagg.progress import checkpoint
from microagg.validation import FloatArray, check_finite, check_matrix


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
        """Return the scale ``method`` as :meth:`microagg.columns.scaling.Scaling.fit` fits it to all of the records.

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


# A proven lower bound of the SSE over all blocks, although each of them sees its own records only.
#
# The bound is that of :class:`microagg.optimum.bounds.NearestNeighbors`, from the squared distances of every record to
# its nearest, second nearest, … other record. Records of other blocks lie beyond a face of the block's box, a cut. So
# the
# j-th smallest distance of a record over all records is at least the smaller of its j-th smallest within the block and
# its distance to the nearest face; sums of such numbers add up over the blocks. With one block there is no face, and
# the bound is that of all records. Which records share a group has no part in it: it holds for any partition of all
# records, also for those whose groups reach across blocks.

# Records whose nearest are found by a thread at a time.
_AT_A_TIME = 2_000


def distance_to_face(X: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return how far each record of ``X``, shape (m, d), is from the nearest face of its box, inf where there is none.

    ``low`` and ``high``, shape (d,) or (m, d), are those of :meth:`microagg.distributed.block_cuts.Cuts.boxes`.
    """
    return np.asarray(np.minimum(X - low, high - X).min(axis=1))


def nearest_sums(X: FloatArray, most: int, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what a block contributes to the bound: sums over its records of squared distances, shape (most,).

    Column j holds the sum of what the squared distance to the (j + 1)-st nearest record of all blocks is at least. Of
    the sums of all blocks together :func:`microagg.optimum.bounds.nearest_neighbor_sse` makes the bound.

    Parameters
    ----------
    X : array, shape (m, d)
        The records of the block.
    most : int
        For how many nearest records: k - 1, for the largest k of interest.
    low, high : array, shape (d,) or (m, d)
        The box of the block, or, if blocks were joined, of that of each record, see
        :meth:`microagg.distributed.block_cuts.Cuts.boxes`.

    Raises
    ------
    DataError
        If X is not finite numbers.
    """
    data = np.array(check_matrix(X), dtype=np.float64, order="C")
    check_finite(data)
    n = len(data)
    sums = np.zeros(most)
    if n == 0 or most == 0:
        return sums
    faces = np.square(distance_to_face(data, low, high))
    count = min(most, n - 1)
    pool, neighbors = make_tree_pool(data), np.empty((n, count), dtype=np.int64)
    step = _AT_A_TIME * running.THREADS
    with ThreadPoolExecutor(running.THREADS) as executor:

        def fill(start: int, stop: int) -> None:
            fill_rows(pool, neighbors, 1.0, start, stop)  # a share of 1: the nearest themselves

        for start in range(0, n if count else 0, step):
            checkpoint("finding nearest neighbors", start / n)
            running.in_parts(executor, fill, start, min(start + step, n), running.THREADS)
    for j in range(most):
        squares = np.square(data - data[neighbors[:, j]]).sum(axis=1) if j < count else np.inf
        sums[j] = np.minimum(squares, faces).sum()
    return sums
