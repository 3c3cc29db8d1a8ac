"""How far from the optimum: a better partition searched from above and a floor proven from below, at the same time.

>>> import microagg
>>> from microagg.optimum.certificate import Certificate
>>> data = microagg.datasets.load("toy")
>>> own = Certificate(data.X, k=3).narrow(seconds=5)
>>> own.closed, round(own.found[-1][1], 3)
(True, 0.118)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.metrics.loss import percent, sst
from microagg.optimum.bounds import CLOSED, Bound, LinearProgram, check_seconds, gap, known_optimum
from microagg.optimum.enumerated import Proof
from microagg.optimum.lagrangian_decomposition import LagrangianDecomposition
from microagg.optimum.master_problem import violated
from microagg.optimum.mixed import MixedFloor, MixedSearch
from microagg.optimum.problem import Problem
from microagg.optimum.program import ALL_BUT_ONE
from microagg.optimum.search import Search
from microagg.optimum.strata import FloorWithin, SearchWithin
from microagg.progress import checkpoint
from microagg.validation import IntArray, check_k

#: Called with the certificate and the seconds that are left; returns False to stop.
Watch = Callable[["Certificate", float], bool]

#: What one turn works on: the partition, or the floor.
Side = Literal["search", "floor"]

# How long a search takes that is to compile it, in seconds: a part of it at least.
_MOMENT = 0.01

# A relative step of at most this is rounding.
_STEP = 1e-12


class Certificate:
    """The best partition found and the best floor proven at one k, which further time narrows.

    Several threads may call :meth:`narrow`, of which each waits for the one before; others may read meanwhile. For
    parameters and errors see :class:`microagg.optimum.search.Search`. ``X`` may be Records of mixed attributes, whose
    loss is Total-IL, see :mod:`microagg.optimum.mixed`. With ``strata``, the positions of the records of each, no group
    reaches across two of them, see :mod:`microagg.optimum.strata`. It can be pickled, and goes on from what was known.
    """

    def __init__(
        self,
        X: ArrayLike | Records,
        k: int,
        labels: ArrayLike | None = None,
        strata: Sequence[IntArray] | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._search: Search | MixedSearch | SearchWithin
        self._program: LinearProgram | MixedFloor | FloorWithin
        if strata is None:
            self._search, self._program = _search_and_program(X, k, labels)
        else:
            data = X if isinstance(X, Records) else np.asarray(X, dtype=np.float64)
            labels_by_stratum = [None if labels is None else np.asarray(labels)[rows] for rows in strata]
            parts = [data.take(rows) if isinstance(data, Records) else data[rows] for rows in strata]
            both = [
                _search_and_program(part, k, part_labels)
                for part, part_labels in zip(parts, labels_by_stratum, strict=True)
            ]
            most = float(data.n * data.d) if isinstance(data, Records) else sst(data)
            self._search = SearchWithin(strata, [search for search, _ in both], k, most)
            self._program = FloorWithin(strata, [program for _, program in both], k, most)
        self.k = self._program.bound.k
        self._offered_sse = float("inf")
        self.seconds = 0.0  # spent so far
        # At the beginning and after each step the seconds spent, and the information loss in percent of the best
        # partition found, and of the floor proven, by then. The least possible lies between the last of both.
        self.found = [(0.0, self._search.information_loss)]
        self.proven = [(0.0, self._program.bound.information_loss)]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle has."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin from what a pickle has."""
        self.__dict__ |= state
        self._lock = threading.Lock()

    @property
    def labels(self) -> IntArray:
        """The best partition found, shape (n,), groups numbered in order of first appearance; read-only."""
        return self._search.labels

    @property
    def bound(self) -> Bound:
        """The best floor proven."""
        bound = self._program.bound
        return replace(bound, optimal=bound.optimal or self.closed)

    @property
    def proof(self) -> Proof | None:
        """What anybody can check the floor by, see :class:`.enumerated.Proof`; None if there is nothing such."""
        return self._program.proof

    @property
    def gap(self) -> float:
        """How far above the optimum the partition is at most, as a share; see :func:`microagg.optimum.bounds.gap`."""
        return gap(self.found[-1][1], self.proven[-1][1])

    @property
    def closed(self) -> bool:
        """Whether found and proven meet, to within rounding: the partition is an optimum."""
        return is_closed(self.found[-1][1], self.proven[-1][1])

    @property
    def course(self) -> list[tuple[float, float, float]]:
        """The seconds spent, the loss found and the floor proven by then, in percent, after each step and now."""
        losses, proven = list(self.found), list(self.proven)
        times = sorted({seconds for seconds, _ in (*losses, *proven)} | {self.seconds})

        def last(steps: list[tuple[float, float]], until: float) -> float:
            return [value for seconds, value in steps if seconds <= until][-1]

        return [(time, last(losses, time), last(proven, time)) for time in times]

    def offer(self, labels: IntArray) -> None:
        """Offer a partition into groups of at least k, shape (n,); if it is better, :meth:`narrow` goes on from it."""
        self._search.offer(labels)

    def begin_near(self, others: Iterable[Certificate]) -> None:
        """Let the floor begin with what that of the nearest k among ``others``, of the same records, has reached."""
        programs = [(abs(other.k - self.k), other._program) for other in others]
        reached = [(far, near.reached) for far, near in programs if isinstance(near, LinearProgram) and near.reached]
        if isinstance(self._program, LinearProgram):
            _, self._program.near = min(reached, key=lambda pair: pair[0], default=(0, None))

    def narrow(self, seconds: float, watch: Watch | None = None, side: Side | None = None) -> Self:
        """Search and prove for at most ``seconds`` more, or until both meet, and return the object itself.

        With a ``side`` it does one of both only, in the calling thread. ``watch`` is called a few times a second, from
        either of two threads but never from both at once.

        Raises
        ------
        ParameterError
            If ``seconds`` is no number of at least 0.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. What is known by then is kept.
        """
        check_seconds(seconds)
        # Work that has been cancelled goes on until its next checkpoint, and may have been asked for again by then.
        with self._lock:
            self._narrow(seconds, watch, side)
        return self

    def _exchange(self) -> None:
        """Let the search and the program each know the better partition of the other."""
        if self._program.least < self._search.sse * (1 - _STEP):
            labels = self._program.labels
            if labels is not None:
                self._search.offer(labels)
        elif self._search.sse < self._offered_sse * (1 - _STEP):
            self._offered_sse = self._search.sse
            self._program.offer(self._search.labels)

    def _narrow(self, seconds: float, watch: Watch | None, side: Side | None) -> None:
        before, started = self.seconds, time.monotonic()
        lock, stopped = threading.Lock(), threading.Event()

        def note(trace: list[tuple[float, float]], value: float) -> bool:
            with lock:
                self.seconds = before + time.monotonic() - started
                step = value - trace[-1][1] if trace is self.proven else trace[-1][1] - value
                if step > _STEP * value:
                    trace.append((self.seconds, value))
                left = max(before + seconds - self.seconds, 0.0)
                if self.closed or (watch is not None and not stopped.is_set() and not watch(self, left)):
                    stopped.set()
            return not stopped.is_set()

        def prove() -> None:
            self._program.improve(seconds, lambda bound: note(self.proven, bound.information_loss))

        def see(loss: float, _: float) -> bool:
            self._exchange()
            return note(self.found, loss)

        def search() -> None:
            self._search.improve(seconds, watch=see)

        try:
            if side is not None:
                (search if side == "search" else prove)()
                return
            with ThreadPoolExecutor(1, thread_name_prefix="floor") as thread:
                below = thread.submit(prove)
                # Whichever of both fails ends the other, too.
                below.add_done_callback(lambda done: stopped.set() if done.exception() else None)
                try:
                    search()
                except BaseException:
                    stopped.set()
                    raise
                below.result()
        finally:
            self._exchange()
            self._search.take_over()
            note(self.found, self._search.information_loss)
            note(self.proven, self.bound.information_loss)


def _search_and_program(
    X: ArrayLike | Records, k: int, labels: ArrayLike | None
) -> tuple[Search, LinearProgram] | tuple[MixedSearch, MixedFloor]:
    """Return what searches for a better partition and what proves a floor."""
    if isinstance(X, Records):
        return MixedSearch(X, k, labels), MixedFloor(X, k)
    # The search has a core for itself: most of the time it narrows the gap more than the floor does.
    return Search(X, k, labels), LinearProgram(X, k, threads=ALL_BUT_ONE)


def is_closed(information_loss: float, floor: float) -> bool:
    """Return whether a partition's loss meets a proven floor, both in percent, to within rounding."""
    # A floor above the loss of a known partition is wrong, and proves nothing.
    return gap(information_loss, floor) <= CLOSED and gap(floor, information_loss) <= CLOSED


class Floors:
    """The floors that are known soon, each for one k, which rise until they are whole.

    They are the nearest-neighbor bounds, see :mod:`microagg.optimum.nearest_neighbors`; or, with one numeric attribute
    or too few records for two groups, the optimum itself. For records of mixed attributes they are bounds on Total-IL.
    Several threads may call :meth:`improve`, of which each waits for the one before; others may read meanwhile.

    Raises
    ------
    DataError
        If there are fewer records than a k, in all or in a stratum.
    ParameterError
        If a k is not a whole number of at least 1.
    """

    def __init__(self, problem: Problem, ks: Iterable[int]) -> None:
        self.ks = tuple(sorted({check_k(k) for k in ks}))
        self._rising = problem.rising_floor(max(self.ks, default=1))
        self._data = problem.data
        self._lock = threading.Lock()
        # The k whose optimum is known soon, and the optima that have been computed.
        self._soon: list[int] = []
        self._optima: dict[int, Bound] = {}
        # With mixed attributes the bounds know what one group loses, and no optimum beyond that is known soon.
        if problem.parts is None and not isinstance(problem.data, Records):
            n, d = problem.data.shape
            self._soon = [k for k in self.ks if d == 1 or n < 2 * k]

    @property
    def share(self) -> float:
        """Which share of the work has been done, 0 to 1."""
        # Optima take about as long as finding neighbors in one attribute, and no time where there is one group.
        return (self._rising.share + len(self._optima)) / (1 + len(self._soon))

    def covers(self, ks: Iterable[int]) -> bool:
        """Return whether :meth:`improve` leaves nothing undone for ``ks``, which may lie between :attr:`ks`."""
        exact = bool(self._soon)
        return all(k in self.ks or (k <= max(self.ks, default=0) and not exact) for k in ks)

    def bounds(self, ks: Iterable[int]) -> list[Bound]:
        """Return what is proven so far for each of ``ks``, none of them above the largest asked for at first."""
        rising = self._rising.bounds(ks)
        return [max(bound, self._optima.get(bound.k, bound), key=lambda bound: bound.sse) for bound in rising]

    def improve(self) -> Self:
        """Do all that has not been done yet, and return the object itself; what is cancelled can be gone on with."""
        # Work that has been cancelled goes on until its next checkpoint, and may have been asked for again by then.
        with self._lock:
            self._rising.improve()
            for k in (k for k in self._soon if k not in self._optima):
                checkpoint(f"finding the optimum at k = {k}", self.share)
                started = time.perf_counter()
                least = known_optimum(self._data, k) or 0.0
                il = percent(least, sst(self._data))
                self._optima[k] = Bound(k, least, il, time.perf_counter() - started)
        return self


def floors(problem: Problem, ks: Sequence[int]) -> list[Bound]:
    """Return the floor that is known soon for each k, in this order; see :class:`Floors`, also for errors."""
    return Floors(problem, ks).improve().bounds(ks)


def raised(bounds: Iterable[Bound], proven: Iterable[Bound]) -> list[Bound]:
    """Return ``bounds``, each replaced by the highest of those ``proven`` for its k or a smaller one that is higher.

    Groups of at least 5 records are groups of at least 3, too: what is proven for a k holds for every larger one.
    """
    further = list(proven)
    return [
        replace(max([bound, *(other for other in further if other.k <= bound.k)], key=attrgetter("sse")), k=bound.k)
        for bound in bounds
    ]


@cache
def prepare() -> None:
    """Compile what a search and a floor of numbers need, or load it where an earlier process left it on disk."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    for k in (3, 10):
        Search(X, k).improve(iterations=5)
        LinearProgram(X, k).improve(1.0)
    LagrangianDecomposition(X, 3).advance(time.perf_counter() + 60.0, lambda: True)
    violated(np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]]), np.full(3, 0.5), 4, 1, 0)


@cache
def prepare_mixed() -> None:
    """Compile what a search and a floor of mixed attributes need, or load it likewise."""
    records = Records.of_numbers(np.random.default_rng(0).normal(size=(24, 3)))
    MixedSearch(records, 3).improve(_MOMENT, lambda *_: True)
    MixedFloor(records, 3).improve(60.0, lambda _: True)
