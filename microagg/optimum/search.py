"""Searches for better partitions.

- :class:`Search` can be watched, stopped at any time, and continued.
- :class:`Neighborhoods` solves parts of its partition to optimality.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> search = microagg.Search(data.X, k=3).improve(iterations=100)
>>> round(search.information_loss, 3)
0.118

**Parts.** A part is the groups around a record drawn at random. Set partitioning
(:mod:`microagg.optimum.set_partitioning`) lists the groups that could be in a better partition of these some hundred
records, or the most promising of them. Integer programming (:mod:`microagg.optimum.branching`) combines them into the
best partition, in seconds. This finds changes of many groups at once, when a search that moves records has stopped
improving. A solved part is not solved again as long as its groups have the same records.

Sources: POPMUSIC, Taillard & Voß 2002; large neighborhood search, Shaw 1998.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.algorithms.base import Param
from microagg.algorithms.registry import make
from microagg.errors import DataError, ParameterError
from microagg.kernels.local_search.iterated import IteratedSearch
from microagg.metrics import loss
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.partition import Partition, canonical_labels, group_means
from microagg.progress import Cancelled, checkpoint
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix

#: Called with the best information loss, in percent, and the seconds of search; returns False to stop.
Watch = Callable[[float, float], bool]

_SECONDS = Param("seconds", "float", (0.0, None), 0.0, "How long to search.")
_ITERATIONS = Param("iterations", "int", (0, None), 0, "How many iterations to do.")
_RANDOM_STATE = Param("random_state", "int", (0, None), 0, "The seed.")

# For k up to 6, solving parts of the partition alternates with ruin and recreate. Parts get the share _PARTS_SHARE of
# the time, but only _SMALL_SHARE if the recent rate of ruin and recreate is higher than theirs and than _MIN_FAST_RATE,
# as a share of the SSE in a second. The first part counts as _FIRST_SECONDS.
_PARTS_SHARE, _SMALL_SHARE = 0.75, 0.1
_MIN_FAST_RATE = 1e-4
_FIRST_SECONDS = 1.0

# Number of recent rounds and parts.
_RECENT = 5


class Search:
    """A search for better partitions, with the best one so far.

    Local search comes first, then ruin and recreate, see :mod:`microagg.algorithms.local_search`. For k up to
    6 and without a number of iterations, it alternates with solving parts of the partition to optimality, see
    :class:`Neighborhoods`. An object serves one thread at a time.

    Parameters
    ----------
    X : array of float, shape (n, d)
        The records, scaled for comparison.
    k : int
        Minimum number of records in a group.
    labels : array of int, shape (n,), optional
        The initial partition; by default that of MDAV*.
    random_state : int, default 0
        The seed. The same seed and the same numbers of iterations give the same partition.

    Raises
    ------
    ParameterError
        If ``k`` or ``random_state`` is not a whole number, or too low.
    DataError
        If ``X`` is not a table of finite numbers or has fewer than ``k`` records, or if ``labels`` are not a partition
        of it into groups of at least ``k``.

    Attributes
    ----------
    sse : float
        SSE of the best partition so far.
    trace : list of (float, float)
        Seconds of search and information loss, at the start and after each improvement.
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
        self._sst = loss.sst(data)
        self._search = IteratedSearch(data, self._best, self._k, self._random_state)
        self.sse = self._settled_sse = loss.sse(self._search.X, self._best)
        self._turns: _Turns | None = None
        if Neighborhoods.fits(len(data), self._k):
            self._turns = _Turns(Neighborhoods(self._search.X, self._k, self._random_state), self.sse)
        self.trace: list[tuple[float, float]] = [(0.0, self.information_loss)]
        self._elapsed = 0.0
        self._offered: IntArray | None = None
        # The iterations of searches from other initial partitions.
        self._before = 0

    @property
    def labels(self) -> IntArray:
        """Labels of the best partition so far, shape (n,), numbered in order of first appearance, read-only."""
        return Partition(self._best, self._k).labels

    @property
    def information_loss(self) -> float:
        """The information loss of the best partition so far, in percent."""
        return loss.percent(self.sse, self._sst)

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""
        return self._before + self._search.iterations

    def improve(self, seconds: float | None = None, iterations: int | None = None, watch: Watch | None = None) -> Self:
        """Continue the search within a time or a number of iterations.

        Local search comes first and does not count as an iteration.

        Parameters
        ----------
        seconds, iterations : float and int, optional
            Maximum seconds and iterations. One of the two, or ``watch``, is required.
        watch : callable, optional
            Called several times a second with the information loss, in percent, and the seconds so far. False stops.

        Returns
        -------
        Search
            The object itself.

        Raises
        ------
        ParameterError
            If ``seconds`` or ``iterations`` is not a number of at least 0, or all three are None.
        DataError
            If an offered partition has another number of records, or groups of fewer than k.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. The best partition stays.
        """
        limit = math.inf if seconds is None else _SECONDS.check(seconds)
        max_iterations = None if iterations is None else _ITERATIONS.check(iterations)
        if seconds is None and max_iterations is None and watch is None:
            raise ParameterError("say when the search is to end: pass seconds, iterations or watch.")
        started, spent_before = time.perf_counter(), self._elapsed
        last_iteration = math.inf if max_iterations is None else self.iterations + max_iterations
        cancelled: list[Cancelled] = []

        def go_on() -> bool:
            self._elapsed = spent_before + time.perf_counter() - started
            if watch is not None and not watch(self.information_loss, self._elapsed):
                return False
            try:
                share = None if seconds is None else min(1.0, (self._elapsed - spent_before) / limit)
                checkpoint("looking for a better partition", share)
            except Cancelled as error:
                cancelled.append(error)
            return not cancelled

        steps, goes_on = self._search.run(max_iterations), True
        try:
            while goes_on and self._elapsed - spent_before < limit:
                goes_on = next(steps, None) is not None
                self._elapsed = spent_before + time.perf_counter() - started
                if goes_on:
                    self._record_best()
                if self._offered is not None:
                    steps.close()
                    self.take_over()
                    steps = self._search.run(None if max_iterations is None else int(last_iteration) - self.iterations)
                elif goes_on and max_iterations is None and self._search.between_rounds and self._turns is not None:
                    gain = self._turns.take(self._search.labels, self.sse, self._elapsed, started + limit, go_on)
                    self._search.gain += gain
                    self._record_best()
                goes_on = goes_on and go_on()
        finally:
            steps.close()
            self._elapsed = spent_before + time.perf_counter() - started
        if cancelled:
            raise cancelled[0]
        return self

    def offer(self, labels: IntArray) -> None:
        """Offer a partition, from any thread. :meth:`improve` continues from it if it is better.

        Parameters
        ----------
        labels : array of int, shape (n,)
            Groups of at least k records; :meth:`improve` checks this.
        """
        self._offered = labels

    def take_over(self) -> None:
        """Take over an offered partition if it is better, while :meth:`improve` is not running."""
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

    def _record_best(self) -> None:
        """Store the best partition of the search."""
        # A copy: another thread may read it during the search.
        self._best = self._search.labels.copy()
        if self._search.iterations == 0:
            self._settled_sse = loss.sse(self._search.X, self._best)
        self.sse = self._settled_sse - self._search.gain
        if self.information_loss < self.trace[-1][1]:
            self.trace.append((self._elapsed, self.information_loss))


class _Turns:
    """Solves parts of a partition between the rounds of ruin and recreate, as long as that pays."""

    def __init__(self, parts: Neighborhoods, sse: float) -> None:
        self._parts = parts
        # Seconds and gains of SSE of the recent rounds and parts.
        self._of_rounds: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self._of_parts: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self._on_part, self._on_rounds = _FIRST_SECONDS, 0.0
        # Seconds of search and SSE after the last turn.
        self._at, self._sse = 0.0, sse

    def take(self, labels: IntArray, sse: float, elapsed: float, until: float, go_on: Callable[[], bool]) -> float:
        """Solve a part of a partition after a round if it is due, and return the gain.

        ``elapsed`` are the seconds of search so far. For the other parameters see :meth:`Neighborhoods.improve`.
        """
        self._of_rounds.append((elapsed - self._at, self._sse - sse))
        self._on_rounds += elapsed - self._at
        rounds, parts = _rate(self._of_rounds), _rate(self._of_parts)
        share = _SMALL_SHARE if rounds > max(parts, _MIN_FAST_RATE * sse) else _PARTS_SHARE
        gain = 0.0
        if not self._parts.exhausted and self._on_rounds >= self._on_part * (1 - share) / share:
            started = time.perf_counter()
            gain = self._parts.improve(labels, until, go_on)
            self._on_part, self._on_rounds = time.perf_counter() - started, 0.0
            self._of_parts.append((self._on_part, gain))
            elapsed += self._on_part
        self._at, self._sse = elapsed, sse - gain
        return gain


def _rate(course: deque[tuple[float, float]]) -> float:
    """Gain per second. A negative gain, from rounding, counts as 0."""
    gain = sum(gain for _, gain in course)
    return gain / sum(seconds for seconds, _ in course) if gain > 0.0 else 0.0


# --- parts that are solved --------------------------------------------------------------------------------------------

#: With larger k, parts that take seconds have too few groups for a gain.
MOST_K = 6

#: Number of groups of the first part, maximum seconds for a part, and maximum number of draws of a new part.
FIRST_GROUPS, SECONDS, MAX_DRAWS = 25, 6.0, 20

#: Maximum number of listed groups, and the factor by which the reach shrinks if there are more.
MOST_GROUPS, REACH_FACTOR = 20_000, 0.5

#: Growth of parts after a complete solution in a tenth of the time, and in all of it or if all drawn parts are solved;
#: and their shrinkage after a part that was not solved in time.
FAST_GROWTH, GROWTH, SHRINKAGE = 1.4, 1.15, 0.85

#: A gain of less than this share of a part's SSE is rounding.
MIN_GAIN = 1e-9


class Neighborhoods:
    """Parts of partitions of ``X``, shape (n, d), into groups of at least ``k``, with an adaptive size.

    Attributes
    ----------
    exhausted : bool
        Whether all records together have been solved.
    """

    def __init__(self, X: FloatArray, k: int, random_state: int = 0) -> None:
        self.exhausted = False
        self._X, self._k = X, k
        self._draw = np.random.default_rng(random_state)
        self._size = float(FIRST_GROUPS * k)
        # The records of solved parts.
        self._finished_parts: set[bytes] = set()

    @classmethod
    def fits(cls, n: int, k: int) -> bool:
        """Whether parts of ``n`` records can gain anything."""
        return 2 <= k <= MOST_K and n >= 2 * k

    def improve(self, labels: IntArray, until: float, go_on: Callable[[], bool]) -> float:
        """Solve one part of the partition ``labels``, shape (n,), in place, and return the gain of SSE.

        It stops early at ``until`` (``time.perf_counter``) or when ``go_on``, called several times a second, returns
        False.
        """
        has_ended = False

        def ask() -> bool:
            nonlocal has_ended
            has_ended = has_ended or not go_on()
            return not has_ended

        part = self._draw_part(labels)
        if part is None:
            return 0.0
        started = time.perf_counter()

        part_labels = canonical_labels(labels[part])
        sse_before = loss.sse(self._X[part], part_labels)
        covers_all, better = True, None
        if sse_before > 0.0 and len(part) >= 2 * self._k:
            end = min(until, started + SECONDS)
            covers_all, better = _best_partition(self._X[part], part_labels, self._k, sse_before, end, ask)
        now = time.perf_counter()
        if now >= started + SECONDS:
            self._size = max(SHRINKAGE * len(part), 4.0 * self._k)
        elif now < until and not has_ended:
            if covers_all:
                growth = FAST_GROWTH if now < started + SECONDS / 10 else GROWTH
                self._size = max(self._size, growth * len(part))
                self.exhausted = len(part) == len(labels)
            if covers_all or better is None:
                self._finished_parts.add(part.tobytes())
        if better is None:
            return 0.0
        labels[part] = labels.max() + 1 + better
        return sse_before - loss.sse(self._X[part], better)

    def _draw_part(self, labels: IntArray) -> IntArray | None:
        """Draw an unsolved part, and return its records, ascending, or None without one of this size."""
        if self.exhausted:
            return None
        canonical = canonical_labels(labels)
        centers, sizes = group_means(self._X, canonical), np.bincount(canonical)
        for _ in range(MAX_DRAWS):
            record = self._X[self._draw.integers(len(labels))]
            nearest = np.argsort(np.square(centers - record).sum(axis=1), kind="stable")
            n_groups = int(np.searchsorted(np.cumsum(sizes[nearest]), self._size)) + 1
            part = np.flatnonzero(np.isin(canonical, nearest[:n_groups]))
            if part.tobytes() not in self._finished_parts:
                return part
        self._size *= GROWTH
        return None


def _best_partition(
    X: FloatArray, labels: IntArray, k: int, sse: float, until: float, go_on: Callable[[], bool]
) -> tuple[bool, IntArray | None]:
    """Search for a better partition of ``X`` than ``labels``, whose SSE is ``sse``.

    Returns whether the search covers all partitions, and the labels of the best if it is better. If too many groups can
    be in a better partition, only the best of them are listed, and the search does not cover all partitions. A better
    partition may come even if the search stops early.
    """
    target_sse = sse * (1 - MIN_GAIN)
    sets = SetPartitioning(X, k, with_cuts=False)
    initial = sets.groups_from(labels)
    sets.master.add_groups(initial)
    while not sets.converged and sets.sse < target_sse:
        if not (sets.advance(until, go_on) and go_on()):
            return False, None
    full_reach = target_sse / sets.unit - sets.bound
    reach = full_reach
    listed = None
    while listed is None and reach > 0.0:
        finished, listed = sets.groups_below(reach, MOST_GROUPS, until, go_on)
        if not finished:
            return False, None
        if listed is None:
            reach *= REACH_FACTOR
    if listed is None:
        return True, None
    groups = np.unique(np.concatenate([listed, initial, sets.master.groups]), axis=0)
    start = initial if (initial >= 0).sum() == len(X) else None
    best = sets.master.recombine(groups, start, until, go_on)
    better = None if best is None or sets.partition_sse(best) >= target_sse else sets.labels_from(best)
    return reach == full_reach, better
