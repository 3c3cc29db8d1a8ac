"""A search for a better partition that can be watched, stopped at any time, and continued.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> search = microagg.Search(data.X, k=3).improve(iterations=100)
>>> round(search.information_loss, 3)
0.118
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Self

from numpy.typing import ArrayLike

from microagg.algorithms.base import Param
from microagg.algorithms.registry import make
from microagg.errors import DataError, ParameterError
from microagg.kernels.local_search.iterated import IteratedSearch
from microagg.metrics import loss
from microagg.optimum.neighborhoods import Neighborhoods
from microagg.partition import Partition
from microagg.progress import Cancelled, checkpoint
from microagg.validation import IntArray, check_enough_records, check_finite, check_k, check_matrix

#: Called with the information loss of the best partition so far, in percent, and the seconds of search so far; returns
#: False to stop.
Watch = Callable[[float, float], bool]

_SECONDS = Param("seconds", "float", (0.0, None), 0.0, "How long to search.")
_ITERATIONS = Param("iterations", "int", (0, None), 0, "How many iterations to do.")
_RANDOM_STATE = Param("random_state", "int", (0, None), 0, "The seed.")

# For k up to 6 parts of the partition are solved in turn with ruin and recreate. They get three quarters of the time,
# but little where of late it has gained more in a second than they have, and more than so much of the SSE. Before the
# first, a second is thought to have been spent on them.
_USUALLY, _LESS = 0.75, 0.1
_MUCH = 1e-4
_AT_FIRST = 1.0

# Of late: in so many rounds and parts.
_LATE = 5


class Search:
    """The best partition of some records that has been found so far, and the search that goes on from it.

    The search is local search and then ruin and recreate, see :mod:`microagg.algorithms.iterated_local_search`; for k
    up to 6, where no number of iterations is given, in turn with solving parts of the partition to optimality, see
    :mod:`microagg.optimum.neighborhoods`. An object serves one thread at a time, which may be any.

    Parameters
    ----------
    X : array of float, shape (n, d)
        The records, as they are to be compared: scaling is the caller's business.
    k : int
        The least number of records in a group.
    labels : array of int, shape (n,), optional
        The partition to begin with; by default that of MDAV*.
    random_state : int, default 0
        The seed. The same seed and the same numbers of iterations give the same partition.

    Raises
    ------
    ParameterError
        If ``k`` or ``random_state`` is not a whole number, or too low.
    DataError
        If ``X`` is not a table of finite numbers, has fewer than ``k`` records, or ``labels`` are not those of a
        partition of it into groups of at least ``k``.

    Attributes
    ----------
    sse : float
        The sum of squared distances to the groups' centroids of the best partition so far.
    trace : list of (float, float)
        The seconds of search so far and the information loss then, at the beginning and after each improvement seen.
    """

    def __init__(self, X: ArrayLike, k: int, labels: ArrayLike | None = None, random_state: int = 0) -> None:
        self._k = check_k(k)
        self._random_state = _RANDOM_STATE.check(random_state)
        data = check_matrix(X)
        check_finite(data)
        check_enough_records(len(data), self._k, "X")
        if labels is None:
            labels = make("mdav-star", self._k).fit(data).labels_
        self._best: IntArray = Partition(labels, self._k).labels
        if len(self._best) != len(data):
            raise DataError(f"X has {len(data)} records, but there are labels for {len(self._best)}.")
        self._search = IteratedSearch(data, self._best, self._k, self._random_state)
        self._sst = loss.sst(data)
        self.sse = self._settled_sse = loss.sse(self._search.X, self._best)
        self.trace: list[tuple[float, float]] = [(0.0, self.information_loss)]
        self._turns: _Turns | None = None
        if Neighborhoods.fits(len(data), self._k):
            self._turns = _Turns(Neighborhoods(self._search.X, self._k, self._random_state), self.sse)
        self._elapsed = 0.0
        self._offered: IntArray | None = None
        # The iterations of searches that began from other partitions.
        self._before = 0

    @property
    def labels(self) -> IntArray:
        """The best partition so far, shape (n,), groups numbered in order of first appearance; read-only."""
        return Partition(self._best, self._k).labels

    @property
    def information_loss(self) -> float:
        """The information loss of the best partition so far, in percent."""
        return loss.percent(self.sse, self._sst)

    @property
    def iterations(self) -> int:
        """How many iterations have been done."""
        return self._before + self._search.iterations

    def improve(self, seconds: float | None = None, iterations: int | None = None, watch: Watch | None = None) -> Self:
        """Search on within a time or a number of iterations, and return the object itself.

        Local search comes first, and is not counted among the iterations. The search goes on where the last call
        stopped, for whatever reason it did.

        Parameters
        ----------
        seconds, iterations : float and int, optional
            At most so many; at least one of both, or ``watch``.
        watch : callable, optional
            Called every few tenths of a second with the information loss, in percent, and the seconds of search so
            far; ends the search by returning False.

        Returns
        -------
        Search

        Raises
        ------
        ParameterError
            If ``seconds`` or ``iterations`` is no number of at least 0, or nothing is given that could end the search.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. The best partition so far is kept.
        """
        limit = math.inf if seconds is None else _SECONDS.check(seconds)
        most = None if iterations is None else _ITERATIONS.check(iterations)
        if seconds is None and most is None and watch is None:
            raise ParameterError("say when the search is to end: pass seconds, iterations or watch.")
        begun, before = time.perf_counter(), self._elapsed
        last = math.inf if most is None else self.iterations + most
        cancelled: list[Cancelled] = []

        def go_on() -> bool:
            """Say how far the search is, and tell whether to go on with it."""
            self._elapsed = before + time.perf_counter() - begun
            share = None if seconds is None else min(1.0, (self._elapsed - before) / limit)
            if watch is not None and not watch(self.information_loss, self._elapsed):
                return False
            try:
                checkpoint("looking for a better partition", share)
            except Cancelled as error:
                cancelled.append(error)
            return not cancelled

        steps = self._search.run(most)
        going = True
        try:
            while going and self._elapsed - before < limit:
                going = next(steps, None) is not None
                self._elapsed = before + time.perf_counter() - begun
                if going:
                    self._note()
                if self._offered is not None:
                    steps.close()
                    self.take_over()
                    steps = self._search.run(None if most is None else int(last) - self.iterations)
                elif going and most is None and self._search.between_rounds and self._turns is not None:
                    gain = self._turns.take(self._search.labels, self.sse, self._elapsed, begun + limit, go_on)
                    self._search.gain += gain
                    self._note()
                going = going and go_on()
        finally:
            steps.close()
            self._elapsed = before + time.perf_counter() - begun
        if cancelled:
            raise cancelled[0]
        return self

    def offer(self, labels: IntArray) -> None:
        """Offer a partition, from any thread; if it is better, :meth:`improve` goes on from it.

        Parameters
        ----------
        labels : array of int, shape (n,)
        """
        self._offered = labels

    def take_over(self) -> None:
        """Take over what has been offered, if it is better; not while :meth:`improve` is running."""
        offered, self._offered = self._offered, None
        if offered is None:
            return
        labels = Partition(offered, self._k).labels
        sse = loss.sse(self._search.X, labels)
        if sse >= self.sse:
            return
        self._before += self._search.iterations
        self._search = IteratedSearch(self._search.X, labels, self._k, self._random_state)
        self._best, self.sse, self._settled_sse = labels, sse, sse
        self.trace.append((self._elapsed, self.information_loss))

    def _note(self) -> None:
        """Note the best partition that the search has found so far."""
        # A copy, which another thread may read while the search goes on.
        self._best = self._search.labels.copy()
        if self._search.iterations == 0:
            self._settled_sse = loss.sse(self._search.X, self._best)
        self.sse = self._settled_sse - self._search.gain
        if self.information_loss < self.trace[-1][1]:
            self.trace.append((self._elapsed, self.information_loss))


class _Turns:
    """Parts of a partition, solved between the rounds of ruin and recreate so often as it pays."""

    def __init__(self, parts: Neighborhoods, sse: float) -> None:
        self._parts = parts
        # The seconds that rounds and parts took, and by how much they lowered the SSE.
        self._of_rounds: deque[tuple[float, float]] = deque(maxlen=_LATE)
        self._of_parts: deque[tuple[float, float]] = deque(maxlen=_LATE)
        self._on_part, self._on_rounds = _AT_FIRST, 0.0
        # The seconds of search, and the SSE, after the last turn.
        self._at, self._sse = 0.0, sse

    def take(self, labels: IntArray, sse: float, elapsed: float, until: float, go_on: Callable[[], bool]) -> float:
        """Solve a part of a partition if it is time to, after a round has ended, and return the gain.

        ``elapsed`` are the seconds of search so far; for all else see :meth:`Neighborhoods.improve`.
        """
        self._of_rounds.append((elapsed - self._at, self._sse - sse))
        self._on_rounds += elapsed - self._at
        rounds, parts = _rate(self._of_rounds), _rate(self._of_parts)
        share = _LESS if rounds > max(parts, _MUCH * sse) else _USUALLY
        gain = 0.0
        if not self._parts.exhausted and self._on_rounds >= self._on_part * (1 - share) / share:
            begun = time.perf_counter()
            gain = self._parts.improve(labels, until, go_on)
            self._on_part, self._on_rounds = time.perf_counter() - begun, 0.0
            self._of_parts.append((self._on_part, gain))
            elapsed += self._on_part
        self._at, self._sse = elapsed, sse - gain
        return gain


def _rate(course: deque[tuple[float, float]]) -> float:
    """Return the gain in a second; rounding is none."""
    gain = sum(gain for _, gain in course)
    return gain / sum(seconds for seconds, _ in course) if gain > 0.0 else 0.0
