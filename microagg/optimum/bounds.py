"""Lower bounds on the SSE: no partition into groups of at least k, by whatever method, can lose less.

- :func:`nearest_neighbor`: from nearest neighbors, for any number of records; :class:`NearestNeighbors` can be watched
  and stopped, and has proven part of it by then.
- :class:`LinearProgram`, or :func:`linear_program` in one call: from linear programs; better the more time it gets.
- :func:`exact`: the least SSE itself, for very few records or one attribute.

:func:`gap` says how far above the optimum a partition can be at most.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError
from microagg.kernels import running
from microagg.kernels.neighbors.kd_tree import make_tree
from microagg.kernels.neighbors.knn_graph import leaf_size, sums_of_nearest
from microagg.kernels.paths import optimal_partition, split_path
from microagg.metrics.loss import percent, sse, sst
from microagg.optimum.branching import Branching
from microagg.optimum.clique_partitioning import CliquePartitioning
from microagg.optimum.enumerated import Proof
from microagg.optimum.lagrangian_decomposition import LagrangianDecomposition
from microagg.optimum.program import ALLOWANCE, Program
from microagg.optimum.semidefinite import Semidefinite
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.partition import canonical_labels
from microagg.progress import Cancelled, checkpoint
from microagg.validation import (
    FloatArray,
    IntArray,
    check_enough_records,
    check_finite,
    check_k,
    check_matrix,
    is_whole,
)

#: A bound that a partition's SSE is above by at most this share is met by it, but for rounding.
CLOSED = 2e-7

#: With more records than this and more than one attribute, :func:`exact` would take too long.
MOST_RECORDS = 15

#: From this k on :class:`LinearProgram` begins with clique partitioning, as set partitioning is slow to begin with.
CLIQUES_FIRST = 4

#: From this k on set partitioning begins only when clique partitioning has converged, not when it has become slow.
CLIQUES_TO_THE_END = 7

#: With more records times k than this, clique partitioning is left out: a round of it would take too long.
MOST_FOR_CLIQUES = 500_000

#: With more records than this :class:`LinearProgram` begins with Lagrangian decomposition.
MANY_RECORDS = 5_000

#: With more records than this, set partitioning is left out: neither its first solution nor its end would be seen.
MOST_FOR_SETS = 50_000

# Smaller SSEs are sums of squares that may have lost digits, or all of them, as numbers below 1e-308 have fewer.
_TINIEST = 1e-290

# How long the search for nearest neighbors goes on between two checkpoints; a leaf of each thread may take longer.
_SECONDS_AT_A_TIME = 0.05


@dataclass(frozen=True)
class Bound:
    """A proven lower bound.

    Attributes
    ----------
    k : int
        The minimum group size it holds for.
    sse : float
        No partition into groups of at least k has a lower SSE; squared units of X. For records of mixed attributes the
        same of Total-IL, without unit.
    information_loss : float
        The same as 100 · SSE / SST, or in percent of the most that Total-IL can be.
    seconds : float
        The time it took.
    converged : bool
        Whether more time would not make it better.
    iterations : int
        How many steps the method took; 0 where it takes none.
    optimal : bool
        Whether a partition is known that loses no more, to within rounding (a relative 2e-7): no method can do better.
    """

    k: int
    sse: float
    information_loss: float
    seconds: float
    converged: bool = True
    iterations: int = 0
    optimal: bool = False


def nearest_neighbor_sse(sums: FloatArray, k: int) -> float:
    """Return the nearest-neighbor bound on the SSE, see :class:`NearestNeighbors`, lowered for rounding.

    Parameters
    ----------
    sums : array of float, shape (k - 1,) or longer
        Over the records, of the squared distance to the nearest, the second nearest, … other record, or of less; in
        squared units of X.
    k : int
        The least number of records in a group.

    Returns
    -------
    float
        In squared units of X; 0 for k = 1.
    """
    return _lowered(float(np.cumsum(sums)[k - 2]) / (2 * k) * (1 - ALLOWANCE)) if k > 1 else 0.0


def nearest_neighbor(X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> Bound:
    """Return what no partition into groups of at least ``k`` records can lose less than, by the nearest of each.

    It is SSE ≥ 1 / (2k) · Σ over records of the sum of their k - 1 smallest squared distances to others; why, see
    :class:`NearestNeighbors`.

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


def nearest_neighbor_curve(X: ArrayLike, ks: Iterable[int], *, strata: Sequence[IntArray] | None = None) -> list[Bound]:
    """Return the nearest-neighbor bound, see :func:`nearest_neighbor`, for each of ``ks``, from one neighbor search.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
    ks : iterable of int
    strata : sequence of array of int, optional
        The positions of the records of each stratum, every record in one; no group reaches across strata.

    Returns
    -------
    list of Bound
        In the order of ``ks``.

    Raises
    ------
    DataError
        If X is not finite numbers, or it or a stratum has fewer than k records.
    ParameterError
        If k is not a whole number of at least 1.
    Cancelled
        If the run is watched, see :mod:`microagg.progress`, and cancelled.
    """
    wanted = [check_k(k) for k in ks]
    return NearestNeighbors(X, max(wanted, default=1), strata=strata).improve().bounds(wanted)


class RisingBounds(ABC):
    """Bounds for every k up to a largest, each a sum over records that rises until all of them count.

    One thread at a time may call :meth:`improve`; others may read meanwhile.

    Attributes
    ----------
    k : int
        The largest.
    """

    k: int
    _n: int  # records
    _parts: Sequence[IntArray]  # the positions of those of each stratum
    _known: tuple[int, FloatArray]  # how many have been counted, and sums: one tuple, for both are of one moment
    _seconds: float

    @property
    def share(self) -> float:
        """Which share of the records have been counted so far, 0 to 1."""
        return self._known[0] / self._n

    def bounds(self, ks: Iterable[int]) -> list[Bound]:
        """Return what is proven so far for each of ``ks``, none of them above the largest; converged once it is whole.

        Parameters
        ----------
        ks : iterable of int

        Returns
        -------
        list of Bound

        Raises
        ------
        ParameterError
            If a k is not a whole number of at least 1, or above the largest.
        """
        counted, sums = self._known
        proven = []
        for k in (check_k(k) for k in ks):
            if k > self.k:
                raise ParameterError(
                    f"these are bounds for k of at most {self.k}, not for k={k}: ask for a larger k first."
                )
            least = self._least(sums, k)
            whole = k == 1 or counted == self._n
            proven.append(Bound(k, least, self._percent(least), self._seconds, whole))
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
        end = 0
        with ThreadPoolExecutor(running.THREADS) as executor:
            for number, rows in enumerate(self._parts):
                start, end = end, end + len(rows)
                if self._known[0] < end:
                    self._count(number, rows, start, executor)
        return self

    @abstractmethod
    def _least(self, sums: FloatArray, k: int) -> float:
        """Return the bound for k that the sums give."""

    @abstractmethod
    def _percent(self, least: float) -> float:
        """Return a bound in percent of all there is to lose."""

    @abstractmethod
    def _count(self, number: int, rows: IntArray, start: int, executor: ThreadPoolExecutor) -> None:
        """Count the records ``rows`` of a stratum, before which ``start`` others come."""


class NearestNeighbors(RisingBounds):
    """The nearest-neighbor bound for every k up to a largest, which rises record by record until it is whole.

    The SSE of a group of s records is the sum of the squared distances of its ordered pairs, divided by 2s. A record
    of the group contributes at least the sum of its s-1 smallest squared distances, over 2s; that does not fall as s
    grows, so s = k gives

        SSE ≥ 1 / (2k) · Σ over records of the sum of the k-1 smallest squared distances to other records.

    No term is negative, so the sum over those records that have been counted so far is a bound, too, and never above
    the whole. The result is lowered by a relative 1e-9, far more than rounding can amount to, so it stays a bound in
    floating point; as adding what is not negative never lowers a rounded sum, it does not fall on its way either. It
    does not depend on how often the search was stopped, or on the number of threads.

    One thread at a time may call :meth:`improve`; others may read meanwhile.

    Parameters
    ----------
    X : array of float, shape (n, d)
    k : int
        The largest k that there is to be a bound for. The time grows with it.
    strata : sequence of array of int, optional
        The positions of the records of each stratum, every record in one. No group reaches across them, so the bound
        is the sum of those of the strata, and higher than without them.

    Attributes
    ----------
    k : int

    Raises
    ------
    DataError
        If X is not finite numbers, or it or a stratum has fewer than k records.
    ParameterError
        If k is not a whole number of at least 1.
    """

    def __init__(self, X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> None:
        started = time.perf_counter()
        data = check_matrix(X)
        check_finite(data)
        self.k = check_k(k)
        self._n = len(data)
        self._data, self._parts = data, [np.arange(len(data))] if strata is None else strata
        for size in map(len, self._parts):
            check_enough_records(size, self.k, "X" if strata is None else "a stratum")
        self._sst = sst(data)
        # How many records have been counted, and the sum of their squared distances to the first, the second, … nearest
        # other one: one tuple, so that another thread reads both as of the same moment. A bound for k = 1 is 0.
        self._known = (len(data) if self.k == 1 else 0, np.zeros(self.k - 1))
        self._seconds = time.perf_counter() - started

    def _least(self, sums: FloatArray, k: int) -> float:
        return nearest_neighbor_sse(sums, k)

    def _percent(self, least: float) -> float:
        return percent(least, self._sst)

    def _count(self, number: int, rows: IntArray, start: int, executor: ThreadPoolExecutor) -> None:
        before, started = self._seconds, time.perf_counter()
        sums = self._known[1]
        for here, leaves in _counted(self._data[rows], self.k - 1, self._known[0] - start, executor):
            # Leaf by leaf, so that the sum does not depend on the pieces.
            for leaf in leaves:
                sums = sums + leaf
            self._known = start + here, sums
            self._seconds = before + time.perf_counter() - started
            checkpoint("finding nearest neighbors", self.share)


def _counted(
    data: FloatArray, most: int, counted: int, executor: ThreadPoolExecutor
) -> Iterator[tuple[int, FloatArray]]:
    """Yield, piece by piece, how many records have been counted, and the sums of each leaf that was added.

    ``data``, shape (n, d), are the records of a stratum, of which ``counted`` have been counted before, in the order of
    their tree. The sums are those of the squared distances to the ``most`` nearest records, shape (leaves, most).
    """
    tree = make_tree(np.ascontiguousarray(data.T), data[0].copy(), running.THREADS, leaf_size(*data.shape))
    first = len(tree.ends) // 2
    starts, size = tree.ends[first:, 0], running.THREADS
    leaf = int(np.searchsorted(starts, counted))
    while leaf < first:
        began = time.perf_counter()
        stop = min(leaf + size, first)

        def count(start: int, stop: int) -> FloatArray:
            return sums_of_nearest(tree, most, start, stop)

        sums = np.concatenate(running.in_parts(executor, count, leaf, stop, running.THREADS))
        leaf = stop
        yield int(tree.ends[first + leaf - 1, 1]), sums
        spent = time.perf_counter() - began
        size = max(min(2 * size, int(size * _SECONDS_AT_A_TIME / max(spent, 1e-6))), running.THREADS)


def linear_program(
    X: ArrayLike, k: int, time_limit: float = 60.0, watch: Callable[[Bound], bool] | None = None
) -> Bound:
    """Return the best bound that :class:`LinearProgram` gives within a time.

    It is never below :func:`nearest_neighbor`, and valid whenever it is stopped.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
    k : int
        The least number of records in a group.
    time_limit : float
        In seconds.
    watch : callable, optional
        Called a few times a second with the best bound so far; ends the search by returning False.

    Returns
    -------
    Bound

    Raises
    ------
    DataError
        If X is not finite numbers or has fewer than k records.
    ParameterError
        If k is not a whole number of at least 1, or the time no number of at least 0.
    """
    return LinearProgram(X, k).improve(time_limit, watch)


class LinearProgram:
    """A lower bound that rises the more time is spent on it: the best of several, most of them from linear programs.

    - The nearest-neighbor bound is there from the start.
    - Where the optimum itself is known (fewer than 2k records, one attribute, k = 1, each record with k - 1 equal
      ones), that is the bound, lowered by a relative 1e-9 for rounding, and nothing more is done.
    - Lagrangian decomposition (:mod:`microagg.optimum.lagrangian_decomposition`) looks at the nearest records of
      each only. It is for many records: its first bound of a hundred thousand takes seconds.
    - Semidefinite programming (:mod:`microagg.optimum.semidefinite`) is for large groups, of which there are few. It
      soon comes closer there than the linear programs do.
    - Clique partitioning (:mod:`microagg.optimum.clique_partitioning`) has pairs of records as columns. It gains much
      soon, also where groups are large, but ends further from the optimum.
    - Set partitioning (:mod:`microagg.optimum.set_partitioning`) has groups as columns. It comes closer in the end, but
      is slow where groups are large.

    - Once set partitioning has converged, branch and bound (:mod:`microagg.optimum.branching`) goes on from it, until
      the bound is that of a partition: an optimum. It also finds better partitions; those known from elsewhere help it.

    The programs take turns so: for k < 4, or with n · k > 500,000, there is set partitioning alone. From k = 4 on
    clique partitioning comes first: up to k = 6 until a round gains little; from k = 7 on until it has converged. With
    up to 1,500 records in at most 25 groups the semidefinite program comes before it, until it gains little, and goes
    on after it. With more than 5,000 records, Lagrangian decomposition comes before both, until its iterations gain
    little; with more than 50,000 there is no set partitioning, and where there is neither, it goes on to its end.

    Parameters
    ----------
    X : array of float, shape (n, d)
    k : int
    threads : int, optional
        In how many threads set partitioning searches for groups, by default in as many as there are cores.

    Attributes
    ----------
    bound : Bound
        The best so far.

    Raises
    ------
    DataError
        If X is not finite numbers or has fewer than k records.
    ParameterError
        If k or threads is not a whole number of at least 1.
    """

    def __init__(self, X: ArrayLike, k: int, threads: int | None = None) -> None:
        started = time.perf_counter()
        if threads is not None and not (is_whole(threads) and threads >= 1):
            raise ParameterError(f"threads must be a whole number of at least 1, not {threads!r}.")
        self._threads = threads
        data = check_matrix(X)
        check_finite(data)
        k = check_k(k)
        check_enough_records(len(data), k, "X")
        self._data, self._k, self._sst = _from_least(data), k, sst(data)
        self._rounding = _rounding(self._data, k)
        self._shares: LagrangianDecomposition | None = None
        self._sets: SetPartitioning | None = None
        self._tree: Branching | None = None
        self._offered: IntArray | None = None
        self._cliques: CliquePartitioning | None = None
        self._whole: Semidefinite | None = None
        optimum = known_optimum(data, k)
        self._at_once = max(nearest_neighbor(data, k).sse, optimum or 0.0)
        # Where each record has k - 1 equal ones, nothing need be lost.
        equal = self._at_once == 0.0 and np.unique(data, axis=0, return_counts=True)[1].min() >= k
        # An optimum that may be nothing but rounding is none.
        certain = optimum is not None and self._rounding <= CLOSED / 4 * math.sqrt(optimum)
        self._known = k == 1 or equal or certain
        self._done = False
        self._seconds = time.perf_counter() - started

    @property
    def bound(self) -> Bound:
        """The best bound so far."""
        # Under the decisions of a leaf, the bound of set partitioning is that of the leaf alone.
        begun = (self._shares, self._whole, self._cliques, self._tree if self._tree is not None else self._sets)
        programs = [program for program in begun if program is not None]
        proven = [_lowered(program.sse, self._rounding) for program in programs]
        # A floor above the SSE of a partition is none, whatever is wrong with it.
        best = max([self._at_once, *(sse for sse in proven if math.isfinite(sse) and gap(sse, self.least) <= CLOSED)])
        optimal = self._known or (self._tree is not None and gap(self._tree.least, best) <= CLOSED)
        return Bound(
            self._k,
            best,
            percent(best, self._sst),
            self._seconds,
            self._known or self._done or (self._tree is not None and self._tree.converged),
            sum(program.iterations for program in programs),
            optimal,
        )

    @property
    def labels(self) -> IntArray | None:
        """The best partition that branch and bound knows, shape (n,); None while it knows none."""
        return None if self._tree is None else self._tree.labels

    @property
    def least(self) -> float:
        """Its SSE; infinite while it knows none."""
        return np.inf if self._tree is None else self._tree.least

    @property
    def proof(self) -> Proof | None:
        """What anybody can check the bound by, with a partition near it or at it; None while there is nothing such."""
        return None if self._tree is None else self._tree.proof

    def offer(self, labels: IntArray) -> None:
        """Offer a partition, from any thread; :meth:`improve` takes it into account.

        Parameters
        ----------
        labels : array of int, shape (n,)
            The group of each record, of groups of at least k.
        """
        self._offered = labels

    def _next(self) -> Program | Branching | None:
        """Return the program to go on with, begun if need be, or None if none of them can gain any more."""
        program = None if self._known else self._following()
        self._done = program is None
        return program

    def _following(self) -> Program | Branching | None:
        k, n, cliques = self._k, len(self._data), self._cliques
        with_cliques = k >= CLIQUES_FIRST and n * k <= MOST_FOR_CLIQUES
        if n > MANY_RECORDS and LagrangianDecomposition.fits(n, k):
            if self._shares is None:
                self._shares = LagrangianDecomposition(self._data, k)
            others = n <= MOST_FOR_SETS or with_cliques
            if not (self._shares.converged or (self._shares.slow and others)):
                return self._shares
        if self._tree is None and with_cliques:
            if self._whole is None and k >= CLIQUES_TO_THE_END and Semidefinite.fits(n, k):
                self._whole = Semidefinite(self._data, k)
            if self._whole is not None and not (self._whole.converged or self._whole.slow):
                return self._whole
            if cliques is None:
                cliques = self._cliques = CliquePartitioning(self._data, k)
            if not (cliques.converged or (cliques.slow and k < CLIQUES_TO_THE_END)):
                return cliques
            if self._whole is not None and not self._whole.converged:
                return self._whole
        if n > MOST_FOR_SETS:
            return None
        if self._sets is None:
            self._sets = SetPartitioning(self._data, k, threads=self._threads)
        if self._tree is None:
            if not self._sets.converged:
                return self._sets
            self._tree = Branching(self._sets)
            self._tree.offer(self._some_partition())
        offered, self._offered = self._offered, None
        if offered is not None:
            self._tree.offer(offered)
        return None if self._tree.converged else self._tree

    def _some_partition(self) -> IntArray:
        """Return the labels of the best partition along the line of the largest variance, to begin with."""
        data = _own(self._data - self._data.mean(axis=0))
        along = data @ np.linalg.svd(data, full_matrices=False)[2][0]
        return split_path(data, np.argsort(along, kind="stable"), self._k)

    def improve(self, seconds: float = 60.0, watch: Callable[[Bound], bool] | None = None) -> Bound:
        """Spend some time more on the bound, and return it.

        It goes on where it was, and ends early once nothing more is to be gained.

        Parameters
        ----------
        seconds : float
            At most, at least 0.
        watch : callable, optional
            Called a few times a second with the best bound so far; ends the search by returning False.

        Returns
        -------
        Bound

        Raises
        ------
        ParameterError
            If ``seconds`` is not a number of at least 0.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. What is proven by then is kept.
        """
        check_seconds(seconds)
        started = time.perf_counter()
        before = self._seconds
        until = started + seconds

        cancelled: list[Cancelled] = []

        def go_on() -> bool:
            self._seconds = before + time.perf_counter() - started
            if watch is not None and not watch(self.bound):
                return False
            try:
                checkpoint("raising the floor", min(1.0, (self._seconds - before) / seconds))
            except Cancelled as error:  # programs end in an orderly way, so that another call can go on with them
                cancelled.append(error)
            return not cancelled

        going = seconds > 0.0
        while going and (program := self._next()) is not None:
            going = program.advance(until, go_on) and go_on() and time.perf_counter() < until
        self._seconds = before + time.perf_counter() - started
        if cancelled:
            raise cancelled[0]
        return self.bound


def exact(X: ArrayLike, k: int) -> tuple[float, IntArray]:
    """Return the least SSE of all partitions into groups of at least k records, and one that has it.

    For up to 15 records by dynamic programming over all subsets; for one attribute and any number of records by dynamic
    programming along the sorted values, as an optimal group never reaches across another one.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
    k : int

    Returns
    -------
    sse : float
        In squared units of X.
    labels : array of int, shape (n,)

    Raises
    ------
    DataError
        If X is not finite numbers, has fewer than k records, or has more than 15 and more than one attribute.
    ParameterError
        If k is not a whole number of at least 1.

    References
    ----------
    Hansen & Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation.
    """
    data = check_matrix(X)
    check_finite(data)
    k = check_k(k)
    n, d = data.shape
    check_enough_records(n, k, "X")
    data = _from_least(data)
    labels: IntArray
    if n < 2 * k:
        labels = np.zeros(n, dtype=np.int64)
    elif k == 1:
        labels = np.arange(n)
    elif d == 1:
        labels = split_path(_own(data), np.argsort(data[:, 0], kind="stable"), k)
    elif n <= MOST_RECORDS:
        labels = optimal_partition(_own(data), k)
    else:
        raise DataError(
            f"the exact optimum is out of reach for {n} records of {d} attributes: use linear_program for a bound, or "
            f"at most {MOST_RECORDS} records, or one attribute."
        )
    return sse(data, labels), canonical_labels(labels)


def known_optimum(X: ArrayLike, k: int) -> float | None:
    """Return the least SSE where it is known soon for any number of records, lowered for rounding: a bound.

    That is with fewer than 2k records, which form one group, and with one attribute; see :func:`exact`.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
    k : int

    Returns
    -------
    float or None
        In squared units of X; None where it is not known.

    Raises
    ------
    DataError, ParameterError
        As :func:`exact`.
    """
    data = check_matrix(X)
    is_soon = len(data) < 2 * check_k(k) or data.shape[1] == 1
    return _lowered(exact(data, k)[0] * (1 - ALLOWANCE), _rounding(data, k)) if is_soon else None


def gap(information_loss: float, bound: Bound | float) -> float:
    """Return how far above the optimum a partition can be at most, (IL - bound) / bound.

    Parameters
    ----------
    information_loss : float
        In percent; or an SSE.
    bound : Bound or float
        In the same unit; of a :class:`Bound` its information loss is taken.

    Returns
    -------
    float
        A share, at least 0: 0 where nothing is lost, infinity where the bound says nothing.
    """
    least = bound.information_loss if isinstance(bound, Bound) else float(bound)
    if information_loss <= least:
        return 0.0
    return (information_loss - least) / least if least > 0.0 else float("inf")


def check_seconds(seconds: object) -> None:
    """Check a number of seconds.

    Raises
    ------
    ParameterError
        Unless it is a number of at least 0.
    """
    if isinstance(seconds, (bool, np.bool_)) or not isinstance(seconds, (int, float, np.number)) or not seconds >= 0:
        raise ParameterError(f"the time limit must be a number of seconds, at least 0, not {seconds!r}.")


def _from_least(data: FloatArray) -> FloatArray:
    """Return what each value is above the least of its attribute, so that a large common offset costs no precision."""
    return np.asarray(data - data.min(axis=0))


def _rounding(data: FloatArray, k: int) -> float:
    """Return how far the root of a computed SSE can be from the true one, in the units of ``data``, shape (n, d).

    That root is the length of the vector of all differences from centroids. Of values between 0 and the range of their
    attribute, a mean of fewer than 2k that is kept up value by value is off by at most 2k roundings of that range, and
    as much again counts for the choice of the partition by such SSEs; each value, taken from the least, by one.
    """
    ranges = data.max(axis=0) - data.min(axis=0)
    return float((4 * k + 2) * np.finfo(float).eps / 2 * np.sqrt(len(data)) * np.linalg.norm(ranges))


def _lowered(sse: float, rounding: float = 0.0) -> float:
    """Return a bound, computed and lowered by a relative 1e-9 already, less what rounding may add to its root beyond.

    Where the SSE is nothing but rounding it is 0; likewise below 1e-290, where numbers have fewer and fewer digits.
    """
    if not sse > _TINIEST:
        return 0.0
    root = math.sqrt(sse)
    return sse if 2.0 * rounding <= ALLOWANCE / 2 * root else max(root - rounding, 0.0) ** 2


def _own(data: FloatArray) -> FloatArray:
    """Return ``data`` C-ordered and writeable: for an array of any other kind the kernels would be compiled anew."""
    return np.array(data, dtype=np.float64, order="C")
