"""How far from the optimum: a better partition searched from above and a floor proven from below, at the same time.

>>> import microagg
>>> from microagg.certificate import Certificate
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
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.metrics.bounds import Bound, LinearProgram, gap
from microagg.problem import Problem
from microagg.search import Search
from microagg.validation import IntArray

#: Called with the certificate and the seconds that are left; returns False to stop.
Watch = Callable[["Certificate", float], bool]

# A relative gap of at most this is rounding, and so is a relative step of at most the second.
_CLOSED, _STEP = 1e-6, 1e-12


class Certificate:
    """The best partition found and the best floor proven at one k, which further time narrows.

    One thread at a time may call :meth:`narrow`; others may read meanwhile.

    Parameters
    ----------
    X : array of float, shape (n, d)
        The records, as they are to be compared: scaling is the caller's business.
    k : int
        The least number of records in a group.
    labels : array of int, shape (n,), optional
        The partition to begin with; by default that of MDAV*.

    Raises
    ------
    ParameterError, DataError
        As :class:`microagg.search.Search`.

    Attributes
    ----------
    k : int
    seconds : float
        The time spent so far.
    found, proven : list of (float, float)
        The seconds spent, and the information loss in percent of the best partition found, and of the floor proven, by
        then: at the beginning and after each step. The least loss that there can be lies between the last of both.
    """

    def __init__(self, X: ArrayLike, k: int, labels: ArrayLike | None = None) -> None:
        self._search = Search(X, k, labels)
        self._program = LinearProgram(X, k)
        self.k = self._program.bound.k
        self.seconds = 0.0
        self.found = [(0.0, self._search.information_loss)]
        self.proven = [(0.0, self._program.bound.information_loss)]

    @property
    def labels(self) -> IntArray:
        """The best partition found, shape (n,), groups numbered in order of first appearance; read-only."""
        return self._search.labels

    @property
    def bound(self) -> Bound:
        """The best floor proven."""
        return self._program.bound

    @property
    def gap(self) -> float:
        """How far above the optimum the partition is at most, as a share; see :func:`microagg.metrics.gap`."""
        return gap(self.found[-1][1], self.proven[-1][1])

    @property
    def closed(self) -> bool:
        """Whether found and proven meet, to within rounding: the partition is an optimum."""
        return is_closed(self.found[-1][1], self.proven[-1][1])

    def narrow(self, seconds: float, watch: Watch | None = None) -> Self:
        """Search and prove for at most ``seconds`` more, or until both meet, and return the object itself.

        ``watch`` is called a few times a second, from either of two threads but never from both at once.

        Raises
        ------
        ParameterError
            If ``seconds`` is no number of at least 0.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. What is known by then is kept.
        """
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

        try:
            with ThreadPoolExecutor(1, thread_name_prefix="floor") as thread:
                below = thread.submit(prove)
                # Whichever of both fails ends the other, too.
                below.add_done_callback(lambda done: stopped.set() if done.exception() else None)
                try:
                    self._search.improve(seconds, watch=lambda loss, _: note(self.found, loss))
                except BaseException:
                    stopped.set()
                    raise
                below.result()
        finally:
            note(self.found, self._search.information_loss)
            note(self.proven, self.bound.information_loss)
        return self


def is_closed(information_loss: float, floor: float) -> bool:
    """Return whether a partition's loss meets a proven floor, both in percent, to within rounding."""
    return gap(information_loss, floor) <= _CLOSED


def floors(problem: Problem, ks: Sequence[int]) -> list[Bound]:
    """Return for each of ``ks`` the floor that is known at once; none for records of mixed attributes.

    It is the nearest-neighbor bound or, with one attribute or too few records for two groups, the optimum itself.

    Raises
    ------
    DataError
        If there are fewer records than a k, in all or in a stratum.
    ParameterError
        If a k is not a whole number of at least 1.
    """
    bounds = problem.floor(ks)
    if not bounds or problem.parts is not None:
        return bounds
    n, d = problem.data.shape
    return [LinearProgram(problem.data, own.k).bound if d == 1 or n < 2 * own.k else own for own in bounds]


def raised(bounds: Iterable[Bound], proven: Iterable[Bound]) -> list[Bound]:
    """Return ``bounds``, each replaced by the highest of those ``proven`` for its k or a smaller one that is higher.

    Groups of at least 5 records are groups of at least 3, too: what is proven for a k holds for every larger one.
    """
    further = list(proven)
    return [
        replace(max([own, *(other for other in further if other.k <= own.k)], key=lambda bound: bound.sse), k=own.k)
        for own in bounds
    ]


@cache
def prepare() -> None:
    """Compile what a search and a floor need, or load it where an earlier process left it on disk."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    for k in (3, 10):
        Search(X, k).improve(iterations=5)
        LinearProgram(X, k).improve(1.0)
