"""Lower bounds from nearest neighbors, for any number of records: on the SSE, and on Total-IL of mixed attributes.

**SSE.** The SSE of a group of s records is the sum of the squared distances of its ordered pairs, divided by 2s. A
record of the group contributes at least the sum of its s - 1 smallest squared distances, over 2s. That does not fall as
s grows, so s = k gives

    SSE ≥ 1 / (2k) · Σ over records of the sum of the k - 1 smallest squared distances to other records.

**Total-IL** of a partition, see :mod:`microagg.metrics.generalization`, is the sum over all records of the extent of
the record's group: the sum of the group's shares, attribute by attribute. A group that holds a record r and s - 1
others has, in each attribute, at least the share that r and any one other member q have as a set of two: a range that
covers more values is not smaller, and a common ancestor of more categories is not lower. Summed over the attributes,
the extent of the group is at least the distance of r and q, so it is at least the largest distance of r from the s - 1
others. Among any s - 1 ≥ k - 1 other records the farthest from r is at least as far as its (k-1)-th nearest record in
the file. Therefore

    Total-IL ≥ Σ over records of the distance to the (k-1)-th nearest other record.

It holds with equality if each group is k records at equal distances, such as categories of which k each are below one
node. A stratum of fewer than 2k records is one group with every method, so its loss is exact.

**Both.** Equal records count one by one. Groups stay within strata, so only records of the same stratum count as
others. No term is negative, so a sum over some records is a bound, too, and never falls. Rounding changes each term by
a relative 1e-15 or so times the number of attributes, and a sum of n terms by at most n times that: lowered by a
relative 1e-9, the result is a bound in floating point, too. It does not depend on interruptions or on threads.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.errors import ParameterError, names_arguments
from microagg.kernels import mixed, running
from microagg.kernels.neighbors.kd_tree import make_tree
from microagg.kernels.neighbors.knn_graph import leaf_size, sums_of_nearest
from microagg.metrics.generalization import group_information_loss
from microagg.metrics.loss import percent, sst
from microagg.optimum.program import ALLOWANCE
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix

# Smaller SSEs are sums of squares that may have lost digits, as numbers below 1e-308 have fewer.
_MIN_SSE = 1e-290
# Seconds of search between two checkpoints, unless a piece of a thread takes longer.
_SECONDS_AT_A_TIME = 0.05
# Mixed records are counted in blocks of this size, so that sums do not depend on pieces and threads.
_BLOCK_SIZE = 32


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the loss of all partitions into groups of at least k."""

    k: int  # minimum group size
    sse: float  # in squared units of X; for records of mixed attributes Total-IL, without unit
    information_loss: float  # 100 · SSE / SST, or Total-IL in percent of its maximum
    seconds: float  # time of the computation
    converged: bool = True  # whether more time would not raise it
    iterations: int = 0  # number of steps of the method, if it has steps
    # Whether a known partition has this loss, to within rounding (a relative 2e-7).
    optimal: bool = False


def lowered(sse: float, rounding: float = 0.0) -> float:
    """Lower a bound further if ``rounding``, the error of its root, exceeds the relative 1e-9 already subtracted.

    The result is 0 for an SSE that is mere rounding or below 1e-290.
    """
    if not sse > _MIN_SSE:
        return 0.0
    root = math.sqrt(sse)
    return sse if 2.0 * rounding <= ALLOWANCE / 2 * root else max(root - rounding, 0.0) ** 2


def nearest_neighbor_sse(sums: FloatArray, k: int) -> float:
    """Nearest-neighbor bound on the SSE, lowered for rounding, in squared units of X.

    ``sums``, shape (k - 1,) or longer, are sums over the records of the squared distance to the nearest, the second
    nearest, … other record, or of lower bounds on these.
    """
    return lowered(float(np.cumsum(sums)[k - 2]) / (2 * k) * (1 - ALLOWANCE)) if k > 1 else 0.0


@names_arguments
def nearest_neighbor(X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> Bound:
    """Lower bound on the loss of all partitions into groups of at least ``k`` records, from nearest neighbors.

    SSE ≥ 1 / (2k) · Σ over records of the sum of their k - 1 smallest squared distances to others. For the proof see
    :mod:`microagg.optimum.nearest_neighbors`.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
        Scaled for comparison.
    k : int
        Minimum number of records in a group.
    strata : sequence of array of int, optional
        The positions of the records of each stratum. Every record is in one, and groups stay within strata.

    Returns
    -------
    Bound
        On the SSE, in squared units of X, and on the information loss, in percent.

    Raises
    ------
    DataError
        If X is not finite numbers, or it or a stratum has fewer than k records.
    ParameterError
        If k is not a whole number of at least 1.
    Cancelled
        If the run is watched, see :mod:`microagg.progress`, and cancelled.
    """
    return nearest_neighbor_curve(X, [k], strata=strata)[0]


@names_arguments
def nearest_neighbor_curve(X: ArrayLike, ks: Iterable[int], *, strata: Sequence[IntArray] | None = None) -> list[Bound]:
    """Nearest-neighbor bound for each of ``ks``, in their order, from one search for neighbors.

    For parameters and errors see :func:`nearest_neighbor`.
    """
    checked_ks = [check_k(k) for k in ks]
    return NearestNeighbors(X, max(checked_ks, default=1), strata=strata).improve().bounds(checked_ks)


class RisingBounds(ABC):
    """Bounds for each k up to the maximum ``k``: sums over records that rise until all records count.

    One thread at a time may call :meth:`improve`; others may read at any time.
    """

    def __init__(self, n: int, k: int, strata: Sequence[IntArray] | None, *, by_stratum: bool) -> None:
        self.k = check_k(k)
        self._n = n
        self._parts = [np.arange(n)] if strata is None else list(strata)
        for size in map(len, self._parts):
            check_enough_records(size, self.k, "X" if strata is None else "a stratum")
        self._by_stratum = by_stratum
        # The number of counted records and the sums over them for the nearest, the second nearest, … neighbor: one
        # tuple, so that another thread reads both of the same moment. A bound for k = 1 is 0.
        sums = np.zeros((len(self._parts), self.k - 1) if by_stratum else self.k - 1)
        self._progress = (n if self.k == 1 else 0, sums)
        self._seconds = 0.0

    @property
    def share(self) -> float:
        """Share of the records that have been counted, 0 to 1."""
        return self._progress[0] / self._n

    def bounds(self, ks: Iterable[int]) -> list[Bound]:
        """Current bound for each of ``ks``, in their order, which has converged once all records count.

        Raises
        ------
        ParameterError
            If a k is not a whole number of at least 1, or above the maximum.
        """
        counted, sums = self._progress
        proven = []
        for k in (check_k(k) for k in ks):
            if k > self.k:
                message = f"these are bounds for k of at most {self.k}, not for k={k}: ask for a larger k first."
                raise ParameterError(message)
            bound = self._bound(sums, k)
            proven.append(Bound(k, bound, self._percent(bound), self._seconds, k == 1 or counted == self._n))
        return proven

    def improve(self) -> Self:
        """Count the remaining records, and return the object itself.

        Between pieces of about a twentieth of a second there is a :func:`microagg.progress.checkpoint`.

        Raises
        ------
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. Another call continues from there.
        """
        start = 0
        with ThreadPoolExecutor(running.THREADS) as executor:
            for number, rows in enumerate(self._parts):
                if self._progress[0] < start + len(rows):
                    self._count(number, rows, start, executor)
                start += len(rows)
        return self

    def _count(self, number: int, rows: IntArray, start: int, executor: ThreadPoolExecutor) -> None:
        """Count the records ``rows`` of a stratum, which follow ``start`` records of other strata."""
        spent_before, started = self._seconds, time.perf_counter()
        ends, sum_pieces = self._pieces(rows)
        piece, size = int(np.searchsorted(ends, self._progress[0] - start, side="right")), running.THREADS
        while piece < len(ends):
            piece_started = time.perf_counter()
            stop = min(piece + size, len(ends))
            sums = self._progress[1].copy()
            # Piece by piece, so that the sum does not depend on the number of pieces at a time.
            for added in chain(*running.in_parts(executor, sum_pieces, piece, stop, running.THREADS)):
                sums[number if self._by_stratum else ...] += added
            piece = stop
            self._progress = start + int(ends[piece - 1]), sums
            now = time.perf_counter()
            self._seconds = spent_before + now - started
            fitting_size = int(size * _SECONDS_AT_A_TIME / max(now - piece_started, 1e-6))
            size = max(min(2 * size, fitting_size), running.THREADS)
            checkpoint("finding nearest neighbors", self.share)

    @abstractmethod
    def _pieces(self, rows: IntArray) -> tuple[IntArray, Callable[[int, int], Iterable[FloatArray]]]:
        """Ends of the pieces of a stratum, as numbers of records, and a function of the sums of pieces.

        Its arguments are the first piece and the one after the last.
        """

    @abstractmethod
    def _bound(self, sums: FloatArray, k: int) -> float:
        """Bound for k from the sums."""

    @abstractmethod
    def _percent(self, bound: float) -> float:
        """Bound in percent of the maximum loss."""


class NearestNeighbors(RisingBounds):
    """The nearest-neighbor bound on the SSE for each k up to a maximum, which rises until all records count.

    For parameters and errors see :func:`nearest_neighbor`. ``k`` is the maximum; the time grows with it. With strata
    the bound is the sum of their bounds, and higher than without them.
    """

    @names_arguments
    def __init__(self, X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> None:
        started = time.perf_counter()
        self._data = check_matrix(X)
        check_finite(self._data)
        super().__init__(len(self._data), k, strata, by_stratum=False)
        self._sst = sst(self._data)
        self._seconds = time.perf_counter() - started

    def _pieces(self, rows: IntArray) -> tuple[IntArray, Callable[[int, int], Iterable[FloatArray]]]:
        data = self._data[rows]
        tree = make_tree(np.ascontiguousarray(data.T), data[0].copy(), running.THREADS, leaf_size(*data.shape))
        first = len(tree.ends) // 2
        return tree.ends[first:, 1], lambda start, stop: sums_of_nearest(tree, self.k - 1, start, stop)

    def _bound(self, sums: FloatArray, k: int) -> float:
        return nearest_neighbor_sse(sums, k)

    def _percent(self, bound: float) -> float:
        return percent(bound, self._sst)


class NearestMixedNeighbors(RisingBounds):
    """Like :class:`NearestNeighbors`, but on Total-IL of records of mixed attributes."""

    def __init__(self, records: Records, k: int, *, strata: Sequence[IntArray] | None = None) -> None:
        self._records = records
        super().__init__(records.n, k, strata, by_stratum=True)
        self._sizes = np.array([len(rows) for rows in self._parts], dtype=np.int64)
        # The loss of each stratum as one group.
        self._one_group_losses = np.array(
            [group_information_loss(records.take(rows), np.zeros(len(rows), dtype=int))[0] for rows in self._parts]
        )

    def _pieces(self, rows: IntArray) -> tuple[IntArray, Callable[[int, int], Iterable[FloatArray]]]:
        pool, n_neighbors = mixed.make_pool(self._records.take(rows)), self.k - 1
        ends = np.append(np.arange(_BLOCK_SIZE, len(rows), _BLOCK_SIZE), len(rows))

        def sum_pieces(first: int, last: int) -> list[FloatArray]:
            scratch, blocks = mixed.own_scratch(pool), range(first, last)
            return [
                mixed.sums_of_nearest(scratch, n_neighbors, _BLOCK_SIZE * block, int(ends[block])) for block in blocks
            ]

        return ends, sum_pieces

    def _bound(self, sums: FloatArray, k: int) -> float:
        if k == 1:
            return 0.0
        return float(np.where(self._sizes < 2 * k, self._one_group_losses, sums[:, k - 2]).sum()) * (1 - ALLOWANCE)

    def _percent(self, bound: float) -> float:
        return 100.0 * bound / (self._records.n * self._records.d)
