"""Lower bounds on the SSE: no partition into groups of at least k, by whatever method, can lose less.

- :func:`nearest_neighbor`: from nearest neighbors; at once, for any number of records.
- :class:`LinearProgram`, or :func:`linear_program` in one call: from two linear programs; better the more time it gets.
- :func:`exact`: the least SSE itself, for very few records or one attribute.

:func:`gap` says how far above the optimum a partition can be at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError
from microagg.kernels.bounds.exact import optimal_partition
from microagg.kernels.paths.split import split_path
from microagg.metrics.clique_partitioning import CliquePartitioning
from microagg.metrics.loss import percent, sse, sst
from microagg.metrics.program import ALLOWANCE, Program
from microagg.metrics.set_partitioning import SetPartitioning
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix

#: With more records than this and more than one attribute, :func:`exact` would take too long.
MOST_RECORDS = 15

#: From this k on :class:`LinearProgram` begins with clique partitioning, as set partitioning is slow to begin with.
CLIQUES_FIRST = 4

#: From this k on set partitioning begins only when clique partitioning has converged, not when it has become slow.
CLIQUES_TO_THE_END = 7

#: With more records times k than this, clique partitioning is left out: a round of it would take too long.
MOST_FOR_CLIQUES = 200_000


@dataclass(frozen=True)
class Bound:
    """A proven lower bound.

    Attributes
    ----------
    k : int
        The minimum group size it holds for.
    sse : float
        No partition into groups of at least k has a lower SSE; squared units of X.
    information_loss : float
        The same as 100 · SSE / SST, in percent.
    seconds : float
        The time it took.
    converged : bool
        Whether more time would not make it better.
    iterations : int
        How many steps the method took; 0 where it takes none.
    """

    k: int
    sse: float
    information_loss: float
    seconds: float
    converged: bool = True
    iterations: int = 0


def nearest_neighbor(X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> Bound:
    """Return the nearest-neighbor bound for groups of at least ``k`` records of ``X``, shape (n, d).

    See :func:`nearest_neighbor_curve`.
    """
    return nearest_neighbor_curve(X, [k], strata=strata)[0]


def nearest_neighbor_curve(X: ArrayLike, ks: Iterable[int], *, strata: Sequence[IntArray] | None = None) -> list[Bound]:
    """Return the nearest-neighbor bound for each of ``ks``, from one neighbor search.

    The SSE of a group of s records is the sum of the squared distances of its ordered pairs, divided by 2s. A record
    of the group contributes at least the sum of its s-1 smallest squared distances, over 2s; that does not fall as s
    grows, so s = k gives

        SSE ≥ 1 / (2k) · Σ over records of the sum of the k-1 smallest squared distances to other records.

    The result is lowered by a relative 1e-9, far more than rounding can amount to, so it stays a bound in floating
    point.

    Parameters
    ----------
    X : array of float, shape (n, d)
    ks : iterable of int
    strata : sequence of array of int, optional
        The positions of the records of each stratum, every record in one. No group reaches across them, so the bound
        is the sum of those of the strata, and higher than without them.

    Raises
    ------
    DataError
        If X is not finite numbers, or it or a stratum has fewer records than the largest k.
    ParameterError
        If a k is not a whole number of at least 1.
    """
    started = time.perf_counter()
    data = check_matrix(X)
    check_finite(data)
    wanted = [check_k(k) for k in ks]
    parts = [data] if strata is None else [data[rows] for rows in strata]
    for part in parts:
        check_enough_records(len(part), max(wanted, default=1), "X" if strata is None else "a stratum")
    least = [sum(found) for found in zip(*(_least_sses(part, wanted) for part in parts), strict=True)]
    total = sst(data)
    seconds = time.perf_counter() - started
    return [Bound(k, found, percent(found, total), seconds) for k, found in zip(wanted, least, strict=True)]


def _least_sses(data: FloatArray, ks: list[int]) -> list[float]:
    """Return the nearest-neighbor bound on the SSE for each of ``ks``."""
    from scipy.spatial import KDTree

    # Every record is nearest to itself, at 0. Among duplicates another one may be reported in its place, at 0 too, so
    # dropping the first of the sorted distances is right in either case.
    distances, _ = KDTree(data).query(data, k=np.arange(1, max(ks, default=1) + 1), workers=-1)
    totals = np.cumsum(np.square(distances[:, 1:]).sum(axis=0))
    return [float(totals[k - 2]) / (2 * k) * (1 - ALLOWANCE) if k > 1 else 0.0 for k in ks]


def linear_program(
    X: ArrayLike, k: int, time_limit: float = 60.0, watch: Callable[[Bound], bool] | None = None
) -> Bound:
    """Return the best bound that :class:`LinearProgram` gives within ``time_limit`` seconds.

    It is never below :func:`nearest_neighbor`, and valid whenever it is stopped. For ``watch`` and what is raised see
    there.
    """
    return LinearProgram(X, k).improve(time_limit, watch)


class LinearProgram:
    """A lower bound that rises the more time is spent on it: the best of several, two of them from linear programs.

    - The nearest-neighbor bound is there from the start.
    - Where the optimum itself is known (fewer than 2k records, one attribute, k = 1, all records equal), that is the
      bound, lowered by a relative 1e-9 for rounding, and nothing more is done.
    - Clique partitioning (:mod:`microagg.metrics.clique_partitioning`) has pairs of records as columns. It gains much
      soon, also where groups are large, but ends further from the optimum.
    - Set partitioning (:mod:`microagg.metrics.set_partitioning`) has groups as columns. It comes closer in the end, but
      is slow where groups are large.

    The programs take turns so: for k < 4, or with n · k > 200,000, there is set partitioning alone. From k = 4 on
    clique partitioning comes first: up to k = 6 until a round gains little, and once more when set partitioning has
    converged; from k = 7 on until it has converged.

    Parameters
    ----------
    X : array of float, shape (n, d)
    k : int

    Attributes
    ----------
    bound : Bound
        The best so far.

    Raises
    ------
    DataError
        If X is not finite numbers or has fewer than k records.
    ParameterError
        If k is not a whole number of at least 1.
    """

    def __init__(self, X: ArrayLike, k: int) -> None:
        started = time.perf_counter()
        data = check_matrix(X)
        check_finite(data)
        k = check_k(k)
        check_enough_records(len(data), k, "X")
        self._data, self._k, self._sst = data, k, sst(data)
        self._sets: SetPartitioning | None = None
        self._cliques: CliquePartitioning | None = None
        self._at_once = nearest_neighbor(data, k).sse
        if len(data) < 2 * k:
            self._at_once = max(self._at_once, self._sst * (1 - ALLOWANCE))
        elif data.shape[1] == 1:
            self._at_once = max(self._at_once, exact(data, k)[0] * (1 - ALLOWANCE))
        self._known = k == 1 or self._sst == 0.0 or len(data) < 2 * k or data.shape[1] == 1
        self._seconds = time.perf_counter() - started

    @property
    def bound(self) -> Bound:
        """The best bound so far."""
        programs = [program for program in (self._cliques, self._sets) if program is not None]
        best = max([self._at_once, *(program.sse for program in programs)])
        return Bound(
            self._k,
            best,
            percent(best, self._sst),
            self._seconds,
            self._known or (self._sets is not None and self._next() is None),
            sum(program.iterations for program in programs),
        )

    def _next(self) -> Program | None:
        """Return the program to go on with, begun if need be, or None if none of them can gain any more."""
        if self._known:
            return None
        k, cliques = self._k, self._cliques
        if k >= CLIQUES_FIRST and len(self._data) * k <= MOST_FOR_CLIQUES:
            if cliques is None:
                cliques = self._cliques = CliquePartitioning(self._data, k)
            if not (cliques.converged or (cliques.slow and k < CLIQUES_TO_THE_END)):
                return cliques
        if self._sets is None:
            self._sets = SetPartitioning(self._data, k)
        if not self._sets.converged:
            return self._sets
        return cliques if cliques is not None and not cliques.converged else None

    def improve(self, seconds: float = 60.0, watch: Callable[[Bound], bool] | None = None) -> Bound:
        """Spend up to ``seconds`` more on the bound, and return it.

        It goes on where it was, and ends early once nothing more is to be gained. ``watch`` is called a few times a
        second with the best bound so far and ends it by returning False.

        Raises
        ------
        ParameterError
            If ``seconds`` is not a number of at least 0.
        """
        _check_seconds(seconds)
        started = time.perf_counter()
        before = self._seconds
        until = started + seconds

        def go_on() -> bool:
            self._seconds = before + time.perf_counter() - started
            return watch is None or watch(self.bound)

        going = seconds > 0.0
        while going and (program := self._next()) is not None:
            going = program.advance(until, go_on) and go_on() and time.perf_counter() < until
        self._seconds = before + time.perf_counter() - started
        return self.bound


def exact(X: ArrayLike, k: int) -> tuple[float, IntArray]:
    """Return the least SSE of all partitions of ``X`` into groups of at least k, and the labels of one that has it.

    For up to 15 records, shape (n, d), by dynamic programming over all subsets; for one attribute and any number of
    records by dynamic programming along the sorted values (Hansen & Mukherjee 2003), as an optimal group never
    reaches across another one.

    Raises
    ------
    DataError
        If X is not finite numbers, has fewer than k records, or has more than 15 and more than one attribute.
    ParameterError
        If k is not a whole number of at least 1.
    """
    data = check_matrix(X)
    check_finite(data)
    k = check_k(k)
    n, d = data.shape
    check_enough_records(n, k, "X")
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


def gap(information_loss: float, bound: Bound | float) -> float:
    """Return how far above the optimum a partition can be at most: (IL - bound) / bound, as a share.

    Both are information losses in percent, or both SSEs; of a :class:`Bound` its information loss is taken. The
    result is 0 where nothing is lost, infinity where the bound says nothing, and never below 0.
    """
    least = bound.information_loss if isinstance(bound, Bound) else float(bound)
    if information_loss <= least:
        return 0.0
    return (information_loss - least) / least if least > 0.0 else float("inf")


def _check_seconds(seconds: object) -> None:
    if isinstance(seconds, (bool, np.bool_)) or not isinstance(seconds, (int, float, np.number)) or not seconds >= 0:
        raise ParameterError(f"the time limit must be a number of seconds, at least 0, not {seconds!r}.")


def _own(data: FloatArray) -> FloatArray:
    """Return ``data`` C-ordered and writeable: for an array of any other kind the kernels would be compiled anew."""
    return np.array(data, dtype=np.float64, order="C")
