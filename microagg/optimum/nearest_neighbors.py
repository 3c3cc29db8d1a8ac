"""Lower bounds from nearest neighbors, for any number of records: on the SSE, and on Total-IL of mixed attributes.

**SSE.** That of a group of s records is the sum of the squared distances of its ordered pairs, divided by 2s. A record
of the group contributes at least the sum of its s - 1 smallest squared distances, over 2s; that does not fall as s
grows, so s = k gives

    SSE ≥ 1 / (2k) · Σ over records of the sum of the k - 1 smallest squared distances to other records.

**Total-IL** of a partition, see :mod:`microagg.metrics.generalization`, is the sum over all records of the extent of
the record's group: the sum of the group's shares, attribute by attribute. A group that holds a record r and s - 1
others has, in each attribute, at least the share that r and any one other member q have as a set of two: a range that
covers more values is not smaller, and a common ancestor of more categories is not lower. Summed over the attributes,
the extent of the group is at least the distance of r and q, so it is at least the largest distance of r from the s - 1
others. Among any s - 1 ≥ k - 1 other records the farthest from r is at least as far as its (k-1)-th nearest record in
the file. Therefore

    Total-IL ≥ Σ over records of the distance to the (k-1)-th nearest other record.

It holds with equality where each group is k records at equal distances, such as categories of which k each are below
one node. A stratum of fewer than 2k records is one group whatever the method, whose loss is known.

**Both.** Equal records count one by one. Records of different strata share no group: there only those of the own
stratum count as others. No term is negative, so the sum over the records counted so far is a bound, too. Every term is
rounded by a relative 1e-15 or so times the number of attributes, and sums of n such terms by n times that at most:
lowered by a relative 1e-9, what comes out is a bound in floating point, too. As adding what is not negative never
lowers a rounded sum, it does not fall on its way either. It does not depend on how often the search was stopped, or on
the number of threads.
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

# Smaller SSEs are sums of squares that may have lost digits, or all of them, as numbers below 1e-308 have fewer.
_TINIEST = 1e-290
# How long the search for nearest neighbors goes on between two checkpoints; a piece of each thread may take longer.
_SECONDS_AT_A_TIME = 0.05
# Mixed records are counted in blocks of so many, so that sums do not depend on pieces and threads.
_BLOCK = 32


@dataclass(frozen=True)
class Bound:
    """A proven lower bound: no partition into groups of at least k loses less."""

    k: int  # the minimum group size it holds for
    sse: float  # in squared units of X; for records of mixed attributes it is Total-IL, without unit
    information_loss: float  # the same as 100 · SSE / SST, or in percent of the most that Total-IL can be
    seconds: float  # the time it took
    converged: bool = True  # whether more time would not make it better
    iterations: int = 0  # how many steps the method took; 0 where it takes none
    # Whether a partition is known that loses no more, to within rounding (a relative 2e-7): no method can do better.
    optimal: bool = False


def lowered(sse: float, rounding: float = 0.0) -> float:
    """Return a bound, computed and lowered by a relative 1e-9 already, less what rounding may add to its root beyond.

    Where the SSE is nothing but rounding it is 0; likewise below 1e-290, where numbers have fewer and fewer digits.
    """
    if not sse > _TINIEST:
        return 0.0
    root = math.sqrt(sse)
    return sse if 2.0 * rounding <= ALLOWANCE / 2 * root else max(root - rounding, 0.0) ** 2


def nearest_neighbor_sse(sums: FloatArray, k: int) -> float:
    """Return the nearest-neighbor bound on the SSE, lowered for rounding; in squared units of X, 0 for k = 1.

    ``sums``, shape (k - 1,) or longer, are over the records, of the squared distance to the nearest, the second
    nearest, … other record, or of less; in squared units of X.
    """
    return lowered(float(np.cumsum(sums)[k - 2]) / (2 * k) * (1 - ALLOWANCE)) if k > 1 else 0.0


@names_arguments
def nearest_neighbor(X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> Bound:
    """Return what no partition into groups of at least ``k`` records can lose less than, by the nearest of each.

    It is SSE ≥ 1 / (2k) · Σ over records of the sum of their k - 1 smallest squared distances to others; why, see
    :mod:`microagg.optimum.nearest_neighbors`.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
        On the scale on which attributes are compared.
    k : int
        The least number of records in a group.
    strata : sequence of array of int, optional
        The positions of the records of each stratum, every record in one; no group reaches across strata.

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
    """Return the nearest-neighbor bound for each of ``ks``, in their order, from one search for neighbors.

    For parameters and errors see :func:`nearest_neighbor`.
    """
    checked_ks = [check_k(k) for k in ks]
    return NearestNeighbors(X, max(checked_ks, default=1), strata=strata).improve().bounds(checked_ks)


class RisingBounds(ABC):
    """Bounds for every k up to a largest, ``k``, each a sum over records that rises until all of them count.

    One thread at a time may call :meth:`improve`; others may read meanwhile. The records of a stratum are counted piece
    by piece.
    """

    def __init__(self, n: int, k: int, strata: Sequence[IntArray] | None, *, by_stratum: bool) -> None:
        self.k = check_k(k)
        self._n = n
        self._parts = [np.arange(n)] if strata is None else list(strata)
        for size in map(len, self._parts):
            check_enough_records(size, self.k, "X" if strata is None else "a stratum")
        self._by_stratum = by_stratum
        # How many records have been counted, and the sums over these, ``by_stratum`` or all, of what belongs to the
        # nearest, the second nearest, …: one tuple, so that another thread reads both as of the same moment. A bound
        # for k = 1 is 0.
        sums = np.zeros((len(self._parts), self.k - 1) if by_stratum else self.k - 1)
        self._counted = (n if self.k == 1 else 0, sums)
        self._seconds = 0.0

    @property
    def share(self) -> float:
        """Which share of the records have been counted so far, 0 to 1."""
        return self._counted[0] / self._n

    def bounds(self, ks: Iterable[int]) -> list[Bound]:
        """Return what is proven so far for each of ``ks``, in their order; converged once it is whole.

        Raises
        ------
        ParameterError
            If a k is not a whole number of at least 1, or above the largest.
        """
        counted, sums = self._counted
        proven = []
        for k in (check_k(k) for k in ks):
            if k > self.k:
                what = f"these are bounds for k of at most {self.k}, not for k={k}: ask for a larger k first."
                raise ParameterError(what)
            least = self._least(sums, k)
            proven.append(Bound(k, least, self._percent(least), self._seconds, k == 1 or counted == self._n))
        return proven

    def improve(self) -> Self:
        """Count all records that have not been counted yet, and return the object itself.

        Between pieces of about a twentieth of a second there is a :func:`microagg.progress.checkpoint`.

        Raises
        ------
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. What is proven by then is kept, and
            another call goes on from there.
        """
        start = 0
        with ThreadPoolExecutor(running.THREADS) as executor:
            for number, rows in enumerate(self._parts):
                if self._counted[0] < start + len(rows):
                    self._count(number, rows, start, executor)
                start += len(rows)
        return self

    def _count(self, number: int, rows: IntArray, start: int, executor: ThreadPoolExecutor) -> None:
        """Count the records ``rows`` of a stratum, before which ``start`` others come."""
        before, started = self._seconds, time.perf_counter()
        ends, sums_of = self._pieces(rows)
        piece, size = int(np.searchsorted(ends, self._counted[0] - start, side="right")), running.THREADS
        while piece < len(ends):
            began = time.perf_counter()
            stop = min(piece + size, len(ends))
            sums = self._counted[1].copy()
            # Piece by piece, so that the sum does not depend on how many there are at a time.
            for added in chain(*running.in_parts(executor, sums_of, piece, stop, running.THREADS)):
                sums[number if self._by_stratum else ...] += added
            piece = stop
            self._counted = start + int(ends[piece - 1]), sums
            now = time.perf_counter()
            self._seconds = before + now - started
            fitting = int(size * _SECONDS_AT_A_TIME / max(now - began, 1e-6))
            size = max(min(2 * size, fitting), running.THREADS)
            checkpoint("finding nearest neighbors", self.share)

    @abstractmethod
    def _pieces(self, rows: IntArray) -> tuple[IntArray, Callable[[int, int], Iterable[FloatArray]]]:
        """Return how many records of a stratum there are up to the end of each piece, and what counts pieces.

        That takes the first piece and the one behind the last, and returns the sums of each.
        """

    @abstractmethod
    def _least(self, sums: FloatArray, k: int) -> float:
        """Return the bound for k that the sums give."""

    @abstractmethod
    def _percent(self, least: float) -> float:
        """Return a bound in percent of all there is to lose."""


class NearestNeighbors(RisingBounds):
    """The nearest-neighbor bound on the SSE for every k up to a largest, which rises until all records count.

    For parameters and errors see :func:`nearest_neighbor`; ``k`` is the largest that there is to be a bound for, and
    the time grows with it. With strata the bound is the sum of theirs, and higher than without them.
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

    def _least(self, sums: FloatArray, k: int) -> float:
        return nearest_neighbor_sse(sums, k)

    def _percent(self, least: float) -> float:
        return percent(least, self._sst)


class NearestMixedNeighbors(RisingBounds):
    """The nearest-neighbor bound on Total-IL for every k up to a largest, which rises until all records count.

    For parameters and errors see :class:`NearestNeighbors`; instead of X there are records of mixed attributes.
    """

    def __init__(self, records: Records, k: int, *, strata: Sequence[IntArray] | None = None) -> None:
        self._records = records
        super().__init__(records.n, k, strata, by_stratum=True)
        self._sizes = np.array([len(rows) for rows in self._parts], dtype=np.int64)
        # What each stratum loses as one group.
        self._one_group_losses = np.array(
            [group_information_loss(records.take(rows), np.zeros(len(rows), dtype=int))[0] for rows in self._parts]
        )

    def _pieces(self, rows: IntArray) -> tuple[IntArray, Callable[[int, int], Iterable[FloatArray]]]:
        pool, most = mixed.make_pool(self._records.take(rows)), self.k - 1
        ends = np.append(np.arange(_BLOCK, len(rows), _BLOCK), len(rows))

        def sums_of(first: int, last: int) -> list[FloatArray]:
            scratch, blocks = mixed.own_scratch(pool), range(first, last)
            return [mixed.sums_of_nearest(scratch, most, _BLOCK * block, int(ends[block])) for block in blocks]

        return ends, sums_of

    def _least(self, sums: FloatArray, k: int) -> float:
        if k == 1:
            return 0.0
        return float(np.where(self._sizes < 2 * k, self._one_group_losses, sums[:, k - 2]).sum()) * (1 - ALLOWANCE)

    def _percent(self, least: float) -> float:
        return 100.0 * least / (self._records.n * self._records.d)
