"""Certificates: a search for better partitions and a proof of a lower bound, at one k.

>>> import microagg
>>> from microagg.optimum.certificate import Certificate
>>> data = microagg.datasets.load("toy")
>>> certificate = Certificate(data.X, k=3).narrow(seconds=5)
>>> certificate.closed, round(certificate.losses[-1][1], 3)
(True, 0.118)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.metrics.loss import percent, sst
from microagg.optimum.bounds import CLOSED, Bound, LinearProgram, check_seconds, gap, known_optimum
from microagg.optimum.branching import Proof
from microagg.optimum.master_problem import find_violated_cuts
from microagg.optimum.mixed import MixedBound, MixedSearch
from microagg.optimum.problem import Problem
from microagg.optimum.program import ALL_BUT_ONE
from microagg.optimum.search import Search
from microagg.progress import checkpoint
from microagg.validation import IntArray, check_k, renamed

#: Called with the certificate and the remaining seconds; returns False to stop.
Watch = Callable[["Certificate", float], bool]

# Seconds of a search that only compiles it.
_COMPILING_SECONDS = 0.01

# A relative gain of at most this is rounding.
_ROUNDING = 1e-12


class Certificate:
    """The best known partition and the best proven lower bound at one k, whose gap narrows with time.

    Several threads may call :meth:`narrow`, one after the other; other threads may read at any time. For parameters and
    errors see :class:`microagg.optimum.search.Search`. ``X`` may be Records of mixed attributes, whose loss is
    Total-IL, see :mod:`microagg.optimum.mixed`.
    """

    def __init__(self, X: ArrayLike | Records, k: int, labels: ArrayLike | None = None) -> None:
        self._lock = threading.Lock()
        self._search: Search | MixedSearch
        self._program: LinearProgram | MixedBound
        if isinstance(X, Records):
            self._search, self._program = MixedSearch(X, k, labels), MixedBound(X, k)
        else:
            # The search has a core for itself: usually it narrows the gap more than the lower bound does.
            self._search, self._program = Search(X, k, labels), LinearProgram(X, k, threads=ALL_BUT_ONE)
        self.k = self._program.bound.k
        self._offered_sse = float("inf")
        self.seconds = 0.0  # of search and proof so far
        # The seconds spent, and then the information loss of the best known partition and the lower bound, in percent,
        # at the start and after each gain. The minimum loss lies between the last two.
        self.losses = [(0.0, self._search.information_loss)]
        self.lower_bounds = [(0.0, self._program.bound.information_loss)]

    found = renamed("found", "losses")
    proven = renamed("proven", "lower_bounds")

    @property
    def labels(self) -> IntArray:
        """Labels of the best known partition, shape (n,), numbered in order of first appearance, read-only."""
        return self._search.labels

    @property
    def bound(self) -> Bound:
        """The best proven lower bound."""
        bound = self._program.bound
        return replace(bound, optimal=bound.optimal or self.closed)

    @property
    def proof(self) -> Proof | None:
        """Proof of the lower bound, see :class:`.branching.Proof`, or None without one."""
        return self._program.proof

    @property
    def gap(self) -> float:
        """Gap of the partition to the lower bound, as a share, see :func:`microagg.optimum.bounds.gap`."""
        return gap(self.losses[-1][1], self.lower_bounds[-1][1])

    @property
    def closed(self) -> bool:
        """Whether the partition is an optimum: its loss equals the lower bound, to within rounding."""
        return is_closed(self.losses[-1][1], self.lower_bounds[-1][1])

    def offer(self, labels: IntArray) -> None:
        """Offer a partition into groups of at least k, shape (n,), to :meth:`narrow`."""
        self._search.offer(labels)

    def narrow(self, seconds: float, watch: Watch | None = None) -> Self:
        """Search and prove until the time is up or the gap is closed; results of earlier calls stay.

        Parameters
        ----------
        seconds : float
            Maximum seconds.
        watch : callable, optional
            Called several times a second, from either of two threads but never from both at once, with this object and
            the remaining seconds. False stops.

        Returns
        -------
        Certificate
            The object itself.

        Raises
        ------
        ParameterError
            If ``seconds`` is not a number of at least 0.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. Results stay.
        """
        check_seconds(seconds)
        # Cancelled work runs until its next checkpoint; a new call may come before that.
        with self._lock:
            self._narrow(seconds, watch)
        return self

    def _exchange(self) -> None:
        """Offer the better partition of the search to the program, or the other way round."""
        if self._program.best_known_sse < self._search.sse * (1 - _ROUNDING):
            labels = self._program.labels
            if labels is not None:
                self._search.offer(labels)
        elif self._search.sse < self._offered_sse * (1 - _ROUNDING):
            self._offered_sse = self._search.sse
            self._program.offer(self._search.labels)

    def _narrow(self, seconds: float, watch: Watch | None) -> None:
        """Do the work of :meth:`narrow`, which holds the lock."""
        spent_before, started = self.seconds, time.monotonic()
        lock, stopped = threading.Lock(), threading.Event()

        def note(trace: list[tuple[float, float]], value: float) -> bool:
            with lock:
                self.seconds = spent_before + time.monotonic() - started
                gain = value - trace[-1][1] if trace is self.lower_bounds else trace[-1][1] - value
                if gain > _ROUNDING * value:
                    trace.append((self.seconds, value))
                seconds_left = max(spent_before + seconds - self.seconds, 0.0)
                if self.closed or (watch is not None and not stopped.is_set() and not watch(self, seconds_left)):
                    stopped.set()
            return not stopped.is_set()

        def prove() -> None:
            self._program.improve(seconds, lambda bound: note(self.lower_bounds, bound.information_loss))

        def note_search(loss: float, _: float) -> bool:
            self._exchange()
            return note(self.losses, loss)

        def search() -> None:
            self._search.improve(seconds, watch=note_search)

        try:
            with ThreadPoolExecutor(1, thread_name_prefix="bound") as thread:
                proving = thread.submit(prove)
                # If one of them fails, the other ends, too.
                proving.add_done_callback(lambda done: stopped.set() if done.exception() else None)
                try:
                    search()
                except BaseException:
                    stopped.set()
                    raise
                proving.result()
        finally:
            self._exchange()
            self._search.take_over()
            note(self.losses, self._search.information_loss)
            note(self.lower_bounds, self.bound.information_loss)


def is_closed(information_loss: float, floor: float) -> bool:
    """Whether a partition's loss equals a proven lower bound, both in percent, to within rounding."""
    # A lower bound above the loss of a partition is wrong, and proves nothing.
    return gap(information_loss, floor) <= CLOSED and gap(floor, information_loss) <= CLOSED


class Floors:
    """Fast lower bounds for each k up to the largest of ``ks``.

    They are the nearest-neighbor bounds; with one numeric attribute or too few records for two groups, those for ``ks``
    are the optimum itself. For records of mixed attributes they bound Total-IL. Several threads may call
    :meth:`improve`, one after the other; other threads may read at any time. For errors see :meth:`.Problem.floor`.
    """

    def __init__(self, problem: Problem, ks: Iterable[int]) -> None:
        self.ks = tuple(sorted({check_k(k) for k in ks}))
        self._most = max(self.ks, default=1)
        problem.check_sizes(self._most)
        self._problem, self._lock = problem, threading.Lock()
        self._bounds: dict[int, Bound] = {}  # all of them once they are complete
        # Each k whose optimum is fast to compute.
        self._soon: list[int] = []
        # With mixed attributes the bounds include the loss of one group, and no other optimum is fast.
        if problem.parts is None and not isinstance(problem.data, Records):
            n, d = problem.data.shape
            self._soon = [k for k in self.ks if d == 1 or n < 2 * k]

    @property
    def complete(self) -> bool:
        """Whether the bounds have been computed. Until then they are 0."""
        return bool(self._bounds)

    def covers(self, ks: Iterable[int]) -> bool:
        """Whether :meth:`improve` computes the bounds for ``ks``, which may lie between :attr:`ks`."""
        return all(k in self.ks or (k <= self._most and not self._soon) for k in ks)

    def bounds(self, ks: Iterable[int]) -> list[Bound]:
        """Bounds for each of ``ks``, none above the largest of :attr:`ks`."""
        return [self._bounds.get(k, Bound(k, 0.0, 0.0, 0.0, converged=False)) for k in ks]

    def improve(self) -> Self:
        """Compute all bounds, and return the object itself."""
        # Cancelled work runs until its next checkpoint; a new call may come before that.
        with self._lock:
            if self.complete:
                return self
            proven = {bound.k: bound for bound in self._problem.floor(range(1, self._most + 1))}
            for k in self._soon:
                checkpoint(f"finding the optimum at k = {k}")
                started, data = time.perf_counter(), self._problem.data
                optimum = known_optimum(data, k) or 0.0
                bound = Bound(k, optimum, percent(optimum, sst(data)), time.perf_counter() - started)
                proven[k] = max(proven[k], bound, key=attrgetter("sse"))
            self._bounds = proven
        return self


def raise_bounds(bounds: Iterable[Bound], proven: Iterable[Bound]) -> list[Bound]:
    """Raise each of ``bounds`` to the highest of ``proven`` for its k or a smaller one.

    Groups of at least 5 records are groups of at least 3, too: a bound for a k holds for every larger one.
    """
    candidates = list(proven)
    return [
        replace(max([bound, *(other for other in candidates if other.k <= bound.k)], key=attrgetter("sse")), k=bound.k)
        for bound in bounds
    ]


@cache
def prepare() -> None:
    """Compile, or load from the cache, the kernels of a search and of a lower bound for numbers."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    for k in (3, 10):
        Search(X, k).improve(iterations=5)
        LinearProgram(X, k).improve(1.0)
    find_violated_cuts(np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]]), np.full(3, 0.5), 4, 1, 0)


@cache
def prepare_mixed() -> None:
    """Like :func:`prepare`, but for mixed attributes."""
    records = Records.of_numbers(np.random.default_rng(0).normal(size=(24, 3)))
    MixedSearch(records, 3).improve(_COMPILING_SECONDS, lambda *_: True)
    MixedBound(records, 3).improve(60.0, lambda _: True)
