"""Lower bounds on the SSE of all partitions into groups of at least k, whatever the method.

- :func:`nearest_neighbor`: from nearest neighbors, for any number of records; :func:`nearest_mixed_neighbor_curve` for
  mixed attributes.
- :class:`LinearProgram`, or :func:`linear_program` in one call: from linear programs; more time raises it.
- :func:`exact`: the minimum SSE itself, for very few records or one attribute.

:func:`gap` is the maximum distance of a partition from the optimum.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError, names_arguments
from microagg.kernels.paths import optimal_partition, split_path
from microagg.metrics.loss import percent, sse, sst
from microagg.optimum.nearest_neighbors import (
    Bound,
    lowered,
    nearest_mixed_neighbor_curve,
    nearest_neighbor,
    nearest_neighbor_curve,
    nearest_neighbor_sse,
)
from microagg.optimum.program import ALLOWANCE, Program
from microagg.partition import Partition, canonical_labels
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

if TYPE_CHECKING:
    from microagg.optimum.branching import Branching, Proof
    from microagg.optimum.clique_partitioning import CliquePartitioning
    from microagg.optimum.set_partitioning import SetPartitioning

__all__ = [
    "Bound",
    "LinearProgram",
    "exact",
    "gap",
    "linear_program",
    "nearest_mixed_neighbor_curve",
    "nearest_neighbor",
    "nearest_neighbor_curve",
    "nearest_neighbor_sse",
]

#: A partition whose SSE is above a bound by at most this share reaches it: the difference is rounding.
CLOSED = 2e-7
#: With more records than this and more than one attribute, :func:`exact` would take too long.
MOST_RECORDS = 15
#: From this k on :class:`LinearProgram` begins with clique partitioning, as set partitioning starts slowly.
CLIQUES_FIRST = 4
#: From this k on set partitioning begins only when clique partitioning has converged, not when it has become slow.
CLIQUES_TO_THE_END = 7
#: Maximum of records times k for clique partitioning, beyond which a round of it would take too long.
MOST_FOR_CLIQUES = 500_000
#: Maximum number of records for set partitioning, beyond which even its first solution would take too long.
MOST_FOR_SETS = 50_000


@names_arguments
def linear_program(
    X: ArrayLike, k: int, time_limit: float = 60.0, watch: Callable[[Bound], bool] | None = None
) -> Bound:
    """Best bound of :class:`LinearProgram` within ``time_limit`` seconds, never below :func:`nearest_neighbor`.

    Parameters
    ----------
    X, k
        As for :class:`LinearProgram`.
    time_limit, watch
        As ``seconds`` and ``watch`` of :meth:`LinearProgram.improve`.

    Returns
    -------
    Bound
        Valid whenever it stops.

    Raises
    ------
    DataError, ParameterError, Cancelled
        As :class:`LinearProgram` and :meth:`LinearProgram.improve`.
    """
    return LinearProgram(X, k).improve(time_limit, watch)


class LinearProgram:
    """A lower bound that rises with time: the best of several, most of them from linear programs.

    - The nearest-neighbor bound comes first.
    - The optimum itself, lowered by a relative 1e-9 for rounding, is the bound if it is fast to compute: with fewer
      than 2k records, one attribute, k = 1, or if each record has k - 1 equal ones. Then no program runs.
    - Clique partitioning (:mod:`microagg.optimum.clique_partitioning`), whose columns are pairs of records, gains much
      early, even with large groups, but ends further from the optimum. It comes first from k = 4 on with n · k up to
      500,000: up to k = 6 until a round gains little, from k = 7 on until it has converged.
    - Set partitioning (:mod:`microagg.optimum.set_partitioning`), whose columns are groups, ends closer to the optimum,
      but is slow with large groups. It needs at most 50,000 records.
    - Branch and bound (:mod:`microagg.optimum.branching`) follows converged set partitioning. It ends when the bound
      equals the SSE of a partition, an optimum, or when too many groups count for a list. It also finds better
      partitions, and offered ones help it.

    Parameters
    ----------
    X : array of float, shape (n, d)
    k : int
    threads : int, optional
        Number of threads in which set partitioning searches for groups; by default one for each core.

    Raises
    ------
    DataError, ParameterError
        If X is not finite numbers or has fewer than k records; if k or threads is not a whole number of at least 1.
    """

    def __init__(self, X: ArrayLike, k: int, threads: int | None = None) -> None:
        started = time.perf_counter()
        self._threads = None if threads is None else check_whole("threads", threads, 1)
        data = check_matrix(X)
        check_finite(data)
        k = check_k(k)
        check_enough_records(len(data), k, "X")
        self._data, self._k, self._sst = _shift_to_zero(data), k, sst(data)
        self._rounding = _rounding_error(self._data, k)
        self._cliques: CliquePartitioning | None = None
        self._sets: SetPartitioning | None = None
        self._tree: Branching | None = None
        self._offered: IntArray | None = None
        optimum = known_optimum(data, k)
        self._first_sse = max(nearest_neighbor(data, k).sse, optimum or 0.0)
        # If each record has k - 1 equal ones, the minimum loss is 0.
        equal = self._first_sse == 0.0 and np.unique(data, axis=0, return_counts=True)[1].min() >= k
        # An optimum that may be mere rounding does not count.
        certain = optimum is not None and self._rounding <= CLOSED / 4 * math.sqrt(optimum)
        self._is_optimal = k == 1 or equal or certain
        self._done = False
        self._seconds = time.perf_counter() - started

    @property
    def bound(self) -> Bound:
        """The best bound so far."""
        last_program = self._sets if self._tree is None else self._tree
        programs = [program for program in (self._cliques, last_program) if program is not None]
        proven = [lowered(program.sse, self._rounding) for program in programs]
        # A bound above the SSE of a partition is wrong.
        highest = (1 + CLOSED) * self.best_known_sse
        sse = max([self._first_sse, *(each for each in proven if math.isfinite(each) and each <= highest)])
        gap_is_closed = self._tree is not None and gap(self.best_known_sse, sse) <= CLOSED
        tree_has_converged = self._tree is not None and self._tree.converged
        return Bound(
            k=self._k,
            sse=sse,
            information_loss=percent(sse, self._sst),
            seconds=self._seconds,
            converged=self._is_optimal or self._done or tree_has_converged,
            iterations=sum(program.iterations for program in programs),
            optimal=self._is_optimal or gap_is_closed,
        )

    @property
    def labels(self) -> IntArray | None:
        """Labels of the best partition of branch and bound, shape (n,), or None without one."""
        return None if self._tree is None else self._tree.labels

    @property
    def best_known_sse(self) -> float:
        """SSE of that partition, infinite without one."""
        return np.inf if self._tree is None else self._tree.least

    @property
    def proof(self) -> Proof | None:
        """Proof of the bound, with the best known partition, or None without one."""
        return None if self._tree is None else self._tree.proof

    def offer(self, labels: IntArray) -> None:
        """Offer a partition to :meth:`improve`, from any thread.

        Parameters
        ----------
        labels : array of int, shape (n,)
            Groups of at least k records.

        Raises
        ------
        DataError
            If a group has fewer than k records, or there is not one label for each record.
        """
        offered = Partition(labels, self._k).labels
        check_matrix(self._data, len(offered))
        self._offered = offered

    def _next(self) -> Program | Branching | None:
        """Next program to run, or None if no program can raise the bound."""
        from microagg.optimum.branching import Branching
        from microagg.optimum.clique_partitioning import CliquePartitioning
        from microagg.optimum.set_partitioning import SetPartitioning

        k, n, cliques = self._k, len(self._data), self._cliques
        with_cliques = k >= CLIQUES_FIRST and n * k <= MOST_FOR_CLIQUES
        if self._tree is None and with_cliques:
            if cliques is None:
                self._cliques = cliques = CliquePartitioning(self._data, k)
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
            # The first partition: the best one along the line of the largest variance.
            data = _contiguous(self._data - self._data.mean(axis=0))
            projections = data @ np.linalg.svd(data, full_matrices=False)[2][0]
            self._tree.offer(split_path(data, np.argsort(projections, kind="stable"), k))
        offered, self._offered = self._offered, None
        if offered is not None:
            self._tree.offer(offered)
        return None if self._tree.converged else self._tree

    def improve(self, seconds: float = 60.0, watch: Callable[[Bound], bool] | None = None) -> Bound:
        """Raise the bound, from where the last call stopped.

        Parameters
        ----------
        seconds : float
            Maximum seconds. It ends early if no program can raise the bound.
        watch : callable, optional
            Called several times a second with the best bound so far. False stops.

        Raises
        ------
        ParameterError
            If ``seconds`` is not a number of at least 0.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. The bound stays.
        """
        check_seconds(seconds)
        started, spent_before = time.perf_counter(), self._seconds
        until = started + seconds
        cancelled: list[Cancelled] = []

        def go_on() -> bool:
            self._seconds = spent_before + time.perf_counter() - started
            if watch is not None and not watch(self.bound):
                return False
            try:
                checkpoint("raising the lower bound", min(1.0, (self._seconds - spent_before) / seconds))
            except Cancelled as error:  # programs stop in an orderly way, so that another call can continue
                cancelled.append(error)
            return not cancelled

        goes_on = seconds > 0.0 and not self._is_optimal
        while goes_on:
            program = self._next()
            self._done = program is None
            goes_on = program is not None and program.advance(until, go_on) and go_on() and time.perf_counter() < until
        self._seconds = spent_before + time.perf_counter() - started
        if cancelled:
            raise cancelled[0]
        return self.bound


@names_arguments
def exact(X: ArrayLike, k: int) -> tuple[float, IntArray]:
    """Minimum SSE of all partitions into groups of at least k records, and an optimal partition.

    For up to 15 records, dynamic programming runs over all subsets. For one attribute and any number of records, it
    runs along the sorted values, because optimal groups are intervals.

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
    data = _shift_to_zero(data)
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
    """Minimum SSE, lowered for rounding, if it is fast to compute for any number of records, or None.

    It is fast with fewer than 2k records, which form one group, and with one attribute. For errors see :func:`exact`.
    """
    data = check_matrix(X)
    is_fast = len(data) < 2 * check_k(k) or data.shape[1] == 1
    return lowered(exact(data, k)[0] * (1 - ALLOWANCE), _rounding_error(data, k)) if is_fast else None


@names_arguments
def gap(information_loss: float, bound: Bound | float) -> float:
    """Gap of a partition to a lower bound, as a share: loss / lower bound - 1.

    Parameters
    ----------
    information_loss : float
        In percent, or an SSE.
    bound : Bound or float
        In the same unit. Of a :class:`Bound`, its information loss counts.

    Returns
    -------
    float
        0 without a loss or with a loss below the bound; infinity if the bound is 0.
    """
    lower_bound = bound.information_loss if isinstance(bound, Bound) else float(bound)
    if information_loss <= lower_bound:
        return 0.0
    return (information_loss - lower_bound) / lower_bound if lower_bound > 0.0 else float("inf")


def check_seconds(seconds: object) -> None:
    """Raise :class:`ParameterError` unless ``seconds`` is a number of at least 0."""
    if isinstance(seconds, (bool, np.bool_)) or not isinstance(seconds, (int, float, np.number)) or not seconds >= 0:
        raise ParameterError(f"the time limit must be a number of seconds, at least 0, not {seconds!r}.")


def _shift_to_zero(data: FloatArray) -> FloatArray:
    """Subtract the minimum of each attribute, so that a large common offset costs no precision."""
    return np.asarray(data - data.min(axis=0))


def _rounding_error(data: FloatArray, k: int) -> float:
    """Maximum rounding error of the root of a computed SSE, in the units of ``data``, shape (n, d).

    The root is the length of the vector of all differences from centroids. Values lie between 0 and the range of their
    attribute. A running mean of fewer than 2k values is off by at most 2k roundings of that range. The choice of the
    partition by such SSEs adds as much again, and the shift to 0 adds one rounding.
    """
    ranges = data.max(axis=0) - data.min(axis=0)
    return float((4 * k + 2) * np.finfo(float).eps / 2 * np.sqrt(len(data)) * np.linalg.norm(ranges))


def _contiguous(data: FloatArray) -> FloatArray:
    """Copy of ``data``, C-ordered and writeable: for any other array the kernels would be compiled anew."""
    return np.array(data, dtype=np.float64, order="C")
