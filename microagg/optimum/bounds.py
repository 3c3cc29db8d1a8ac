"""Lower bounds on the SSE: no partition into groups of at least k, by whatever method, can lose less.

- :func:`nearest_neighbor`: from nearest neighbors, for any number of records; :class:`NearestNeighbors`, and
  :class:`NearestMixedNeighbors` for mixed attributes, can be watched and stopped, and have proven part of it by then.
- :class:`LinearProgram`, or :func:`linear_program` in one call: from linear programs; better the more time it gets.
- :func:`exact`: the least SSE itself, for very few records or one attribute.

:func:`gap` says how far above the optimum a partition can be at most.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError, names_arguments
from microagg.kernels.paths import optimal_partition, split_path
from microagg.metrics.loss import percent, sse, sst
from microagg.optimum.branching import Branching
from microagg.optimum.clique_partitioning import CliquePartitioning, Reached
from microagg.optimum.enumerated import Proof
from microagg.optimum.lagrangian_decomposition import LagrangianDecomposition
from microagg.optimum.nearest_neighbors import (
    Bound,
    NearestMixedNeighbors,
    NearestNeighbors,
    lowered,
    nearest_neighbor,
    nearest_neighbor_curve,
    nearest_neighbor_sse,
)
from microagg.optimum.program import ALLOWANCE, Program
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
    check_whole,
)

__all__ = [
    "Bound",
    "LinearProgram",
    "NearestMixedNeighbors",
    "NearestNeighbors",
    "exact",
    "gap",
    "linear_program",
    "nearest_neighbor",
    "nearest_neighbor_curve",
    "nearest_neighbor_sse",
]

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


@names_arguments
def linear_program(
    X: ArrayLike, k: int, time_limit: float = 60.0, watch: Callable[[Bound], bool] | None = None
) -> Bound:
    """Return the best bound that :class:`LinearProgram` gives within ``time_limit`` seconds.

    It is never below :func:`nearest_neighbor`, and valid whenever it is stopped. For parameters and errors see
    :class:`LinearProgram` and :meth:`LinearProgram.improve`.
    """
    return LinearProgram(X, k).improve(time_limit, watch)


class LinearProgram:
    """A lower bound that rises the more time is spent on it: the best of several, most of them from linear programs.

    - The nearest-neighbor bound is there from the start.
    - Where the optimum itself is known (fewer than 2k records, one attribute, k = 1, each record with k - 1 equal
      ones), that is the bound, lowered by a relative 1e-9 for rounding, and nothing more is done.
    - Lagrangian decomposition (:mod:`microagg.optimum.lagrangian_decomposition`) looks at the nearest records of
      each only. It is for many records: its first bound of a hundred thousand takes seconds.
    - Clique partitioning (:mod:`microagg.optimum.clique_partitioning`), whose columns are pairs of records, gains much
      soon, also where groups are large, but ends further from the optimum.
    - Set partitioning (:mod:`microagg.optimum.set_partitioning`), whose columns are groups, comes closer in the end,
      but is slow where groups are large.
    - Branch and bound (:mod:`microagg.optimum.branching`) goes on from set partitioning that has converged, until the
      bound is that of a partition, an optimum, or the groups that count are too many to be listed. It also finds better
      partitions; those known from elsewhere help it.

    The programs take turns so: for k < 4, or with n · k > 500,000, there is set partitioning alone. From k = 4 on
    clique partitioning comes first: up to k = 6 until a round gains little; from k = 7 on until it has converged. With
    more than 5,000 records, Lagrangian decomposition comes before both, until its iterations gain little; with more
    than 50,000 there is no set partitioning, and where there is neither, it goes on to its end.

    It can be pickled: what is proven stays so, and the program under way begins anew.

    Parameters
    ----------
    X : array of float, shape (n, d)
    k : int
    threads : int, optional
        In how many threads set partitioning searches for groups, by default in as many as there are cores.

    Raises
    ------
    DataError
        If X is not finite numbers or has fewer than k records.
    ParameterError
        If k or threads is not a whole number of at least 1.
    """

    def __init__(self, X: ArrayLike, k: int, threads: int | None = None) -> None:
        started = time.perf_counter()
        self._threads = None if threads is None else check_whole("threads", threads, 1)
        data = check_matrix(X)
        check_finite(data)
        k = check_k(k)
        check_enough_records(len(data), k, "X")
        self._data, self._k, self._sst = _from_least(data), k, sst(data)
        self._rounding = _rounding(self._data, k)
        self._shares: LagrangianDecomposition | None = None
        self._cliques: CliquePartitioning | None = None
        self._sets: SetPartitioning | None = None
        self._tree: Branching | None = None
        self._offered: IntArray | None = None
        #: What clique partitioning for a k near by had reached, to begin with; taken when it begins.
        self.near: Reached | None = None
        optimum = known_optimum(data, k)
        self._at_once = max(nearest_neighbor(data, k).sse, optimum or 0.0)
        # Where each record has k - 1 equal ones, nothing need be lost.
        equal = self._at_once == 0.0 and np.unique(data, axis=0, return_counts=True)[1].min() >= k
        # An optimum that may be nothing but rounding is none.
        certain = optimum is not None and self._rounding <= CLOSED / 4 * math.sqrt(optimum)
        self._is_optimal = k == 1 or equal or certain
        self._done = False
        self._proof: Proof | None = None  # of a program that is not there any more
        self._seconds = time.perf_counter() - started

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle has: what is proven, the best partition, and where clique partitioning begins again."""
        begun = dict.fromkeys(("_shares", "_cliques", "_sets", "_tree"))
        results = {"_at_once": self.bound.sse, "_is_optimal": self.bound.optimal, "_proof": self.proof}
        offered = self._offered if self.labels is None else self.labels
        return self.__dict__ | begun | results | {"_offered": offered, "near": self.reached or self.near}

    @property
    def bound(self) -> Bound:
        """The best bound so far."""
        begun = (self._shares, self._cliques, self._tree if self._tree is not None else self._sets)
        programs = [program for program in begun if program is not None]
        proven = [lowered(program.sse, self._rounding) for program in programs]
        # A floor above the SSE of a partition is none, whatever is wrong with it.
        best = max([self._at_once, *(sse for sse in proven if math.isfinite(sse) and gap(sse, self.least) <= CLOSED)])
        optimal = self._is_optimal or (self._tree is not None and gap(self._tree.least, best) <= CLOSED)
        return Bound(
            self._k,
            best,
            percent(best, self._sst),
            self._seconds,
            self._is_optimal or self._done or (self._tree is not None and self._tree.converged),
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
    def reached(self) -> Reached | None:
        """What clique partitioning has led to, which one for another k can begin with; None if to nothing yet."""
        return None if self._cliques is None else self._cliques.reached

    @property
    def proof(self) -> Proof | None:
        """What anybody can check the bound by, with a partition near it or at it; None while there is nothing such."""
        return self._proof if self._tree is None else self._tree.proof

    def offer(self, labels: IntArray) -> None:
        """Offer a partition into groups of at least k, shape (n,), from any thread; :meth:`improve` knows it then."""
        self._offered = labels

    def _next(self) -> Program | Branching | None:
        """Return the program to go on with, begun if need be, or None if none of them can gain any more."""
        k, n, cliques = self._k, len(self._data), self._cliques
        with_cliques = k >= CLIQUES_FIRST and n * k <= MOST_FOR_CLIQUES
        if n > MANY_RECORDS and LagrangianDecomposition.fits(n, k):
            if self._shares is None:
                self._shares = LagrangianDecomposition(self._data, k)
            others = n <= MOST_FOR_SETS or with_cliques
            if not (self._shares.converged or (self._shares.slow and others)):
                return self._shares
        if self._tree is None and with_cliques:
            if cliques is None:
                cliques = self._cliques = CliquePartitioning(self._data, k, self.near)
                self.near = None
            if not (cliques.converged or (cliques.slow and k < CLIQUES_TO_THE_END)):
                return cliques
        if n > MOST_FOR_SETS:
            return None
        if self._sets is None:
            self._sets = SetPartitioning(self._data, k, threads=self._threads)
        if self._tree is None:
            if not self._sets.converged:
                return self._sets
            self._tree = Branching(self._sets)
            # To begin with, the best partition along the line of the largest variance.
            data = _contiguous(self._data - self._data.mean(axis=0))
            along = data @ np.linalg.svd(data, full_matrices=False)[2][0]
            self._tree.offer(split_path(data, np.argsort(along, kind="stable"), k))
        offered, self._offered = self._offered, None
        if offered is not None:
            self._tree.offer(offered)
        return None if self._tree.converged else self._tree

    def improve(self, seconds: float = 60.0, watch: Callable[[Bound], bool] | None = None) -> Bound:
        """Spend at most so many ``seconds`` more on the bound, going on where it was, and return it.

        It ends early once nothing more is to be gained, or when ``watch``, which is called a few times a second with
        the best bound so far, returns False.

        Raises
        ------
        ParameterError
            If ``seconds`` is not a number of at least 0.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. What is proven by then is kept.
        """
        check_seconds(seconds)
        started, before = time.perf_counter(), self._seconds
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

        going = seconds > 0.0 and not self._is_optimal
        while going:
            program = self._next()
            self._done = program is None
            going = program is not None and program.advance(until, go_on) and go_on() and time.perf_counter() < until
        self._seconds = before + time.perf_counter() - started
        if cancelled:
            raise cancelled[0]
        return self.bound


@names_arguments
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
        labels = split_path(_contiguous(data), np.argsort(data[:, 0], kind="stable"), k)
    elif n <= MOST_RECORDS:
        labels = optimal_partition(_contiguous(data), k)
    else:
        raise DataError(
            f"the exact optimum is out of reach for {n} records of {d} attributes: use linear_program for a bound, or "
            f"at most {MOST_RECORDS} records, or one attribute."
        )
    return sse(data, labels), canonical_labels(labels)


def known_optimum(X: ArrayLike, k: int) -> float | None:
    """Return the least SSE where it is known soon for any number of records, lowered for rounding: a bound, or None.

    That is with fewer than 2k records, which form one group, and with one attribute. For errors see :func:`exact`.
    """
    data = check_matrix(X)
    is_soon = len(data) < 2 * check_k(k) or data.shape[1] == 1
    return lowered(exact(data, k)[0] * (1 - ALLOWANCE), _rounding(data, k)) if is_soon else None


@names_arguments
def gap(information_loss: float, bound: Bound | float) -> float:
    """Return how far above the optimum a partition can be at most, as a share, (IL - bound) / bound.

    The information loss is in percent, or an SSE; so is the bound, of a :class:`Bound` its information loss. The share
    is 0 where nothing is lost, and infinity where the bound says nothing.
    """
    least = bound.information_loss if isinstance(bound, Bound) else float(bound)
    if information_loss <= least:
        return 0.0
    return (information_loss - least) / least if least > 0.0 else float("inf")


def check_seconds(seconds: object) -> None:
    """Raise :class:`ParameterError` unless it is a number of at least 0."""
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


def _contiguous(data: FloatArray) -> FloatArray:
    """Return ``data`` C-ordered and writeable: for an array of any other kind the kernels would be compiled anew."""
    return np.array(data, dtype=np.float64, order="C")
