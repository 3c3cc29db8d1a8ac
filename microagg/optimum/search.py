"""How low a loss can get: searches for better partitions.

- :class:`Search` can be watched, stopped at any time, and continued.
- :class:`Neighborhoods` are parts of its partition, which the best partitions of their records replace.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> search = microagg.Search(data.X, k=3).improve(iterations=100)
>>> round(search.information_loss, 3)
0.118

**Parts.** A part is the groups around a record. Set partitioning (:mod:`microagg.optimum.set_partitioning`) lists the
groups that could be in a better partition of these some hundred records, or the most promising of them, and integer
programming (:mod:`microagg.optimum.branching`) puts the best one together, in seconds: that finds what takes changes of
many groups at once, where a search that moves records has long found nothing better. A part that has been solved need
not be looked at again as long as its groups hold the same records.

Which parts are worth it says the linear program for all records, without cuts, which is solved first. Its dual values
are prices of the records: no group costs less than what its members' prices add up to, and what the groups of a
partition cost beyond that adds up to its distance from the bound. Most groups of a partition that is near the optimum
cost nothing beyond it; where the others are, a better partition must differ. So the record that a part is around is
drawn with a probability proportional to what its group costs beyond its members' prices.

Sources: POPMUSIC, Taillard & Voß 2002; large neighborhood search, Shaw 1998.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.algorithms.base import Param
from microagg.algorithms.registry import make
from microagg.errors import DataError, ParameterError
from microagg.kernels.local_search.iterated import IteratedSearch
from microagg.metrics import loss
from microagg.optimum.branching import best_of
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.partition import Partition, canonical_labels, group_means
from microagg.progress import Cancelled, checkpoint
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix

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
    :class:`Neighborhoods`. An object serves one thread at a time, which may be any. It can be pickled, and goes on from
    its best partition then.

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
        self._sst = loss.sst(data)
        self._begin(data)
        self.trace: list[tuple[float, float]] = [(0.0, self.information_loss)]
        self._elapsed = 0.0
        self._offered: IntArray | None = None
        # The iterations of searches that began from other partitions.
        self._before = 0

    def _begin(self, X: FloatArray) -> None:
        """Begin to search from the best partition."""
        self._search = IteratedSearch(X, self._best, self._k, self._random_state)
        self.sse = self._settled_sse = loss.sse(self._search.X, self._best)
        self._turns: _Turns | None = None
        if Neighborhoods.fits(len(X), self._k):
            self._turns = _Turns(Neighborhoods(self._search.X, self._k, self._random_state), self.sse)

    # A pickle has the best partition, from which the search begins again; not what a program under way has found out.

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle has."""
        return self.__dict__ | {"_search": self._search.X, "_turns": None, "_before": self.iterations}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin from what a pickle has."""
        self.__dict__ |= state
        self._begin(state["_search"])

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

        Local search comes first and is no iteration. The next call goes on where this one stops.

        Parameters
        ----------
        seconds, iterations : float and int, optional
            At most so many; at least one of both, or ``watch``.
        watch : callable, optional
            Called several times a second with the information loss, in percent, and the seconds so far; False ends it.

        Raises
        ------
        ParameterError
            If ``seconds`` or ``iterations`` is no number of at least 0, or all three are None.
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
            self._elapsed = before + time.perf_counter() - begun
            if watch is not None and not watch(self.information_loss, self._elapsed):
                return False
            try:
                share = None if seconds is None else min(1.0, (self._elapsed - before) / limit)
                checkpoint("looking for a better partition", share)
            except Cancelled as error:
                cancelled.append(error)
            return not cancelled

        steps, going = self._search.run(most), True
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
        """Offer a partition, shape (n,), from any thread; if it is better, :meth:`improve` goes on from it."""
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


# --- parts that are solved --------------------------------------------------------------------------------------------

#: With larger k, parts that are solved in seconds have too few groups for anything to be gained.
MOST_K = 6

#: How many groups a part has at first, how many seconds it may take, and how often another is chosen if it is known.
FIRST_GROUPS, SECONDS, CHOICES = 25, 6.0, 20

#: For how many records at most the prices are looked for, and for how many seconds; for more, records are drawn with
#: equal probabilities.
MOST_PRICED, PRICING_SECONDS = 6_000, 30.0

#: How many groups are listed, and to which share of the reach there is a list where they would be more.
MOST_GROUPS, LESS = 20_000, 0.5

#: By which factors parts grow where all groups that count are listed and the best partition is found in a tenth of that
#: time, or in all of it, or all parts are known; and shrink where it is not found in time.
FAST_GROWTH, GROWTH, SHRINKAGE = 1.4, 1.15, 0.85

#: Less than this share of a part's SSE is no gain.
LEAST_GAIN = 1e-9


class Neighborhoods:
    """Parts of partitions of ``X``, shape (n, d), into groups of at least ``k``, and how large they should be.

    Attributes
    ----------
    exhausted : bool
        Whether all records together have been solved: there is nothing to gain.
    """

    def __init__(self, X: FloatArray, k: int, random_state: int = 0) -> None:
        self.exhausted = False
        self._X, self._k = X, k
        self._draw = np.random.default_rng(random_state)
        self._size = float(FIRST_GROUPS * k)
        # The records of the parts that have been solved.
        self._finished_parts: set[bytes] = set()
        # The program for all records while it is being solved, for how long it has been, and the prices once it has.
        self._whole: SetPartitioning | None = None
        self._spent = 0.0
        self._prices: FloatArray | None = None

    @classmethod
    def fits(cls, n: int, k: int) -> bool:
        """Return whether there is anything to gain for ``n`` records."""
        return 2 <= k <= MOST_K and n >= 2 * k

    def improve(self, labels: IntArray, until: float, go_on: Callable[[], bool]) -> float:
        """Solve one part of the partition ``labels``, shape (n,), which is changed in place if that is better.

        Return by how much the SSE has fallen. Before the first part the prices are looked for. It ends early when the
        clock (``time.perf_counter``) comes to ``until`` or ``go_on``, which is asked several times a second, says no.
        """
        ended = False

        def ask() -> bool:
            nonlocal ended
            ended = ended or not go_on()
            return not ended

        part = self._next(labels) if self._find_prices(labels, until, ask) else None
        if part is None:
            return 0.0
        started = time.perf_counter()

        part_labels = canonical_labels(labels[part])
        before = loss.sse(self._X[part], part_labels)
        whole, better = True, None
        if before > 0.0 and len(part) >= 2 * self._k:
            end = min(until, started + SECONDS)
            whole, better = _best_partition(self._X[part], part_labels, self._k, before, end, ask)
        now = time.perf_counter()
        if now >= started + SECONDS:
            self._size = max(SHRINKAGE * len(part), 4.0 * self._k)
        elif now < until and not ended:
            if whole:
                growth = FAST_GROWTH if now < started + SECONDS / 10 else GROWTH
                self._size = max(self._size, growth * len(part))
                self.exhausted = len(part) == len(labels)
            if whole or better is None:
                self._finished_parts.add(part.tobytes())
        if better is None:
            return 0.0
        labels[part] = labels.max() + 1 + better
        return before - loss.sse(self._X[part], better)

    def _find_prices(self, labels: IntArray, until: float, go_on: Callable[[], bool]) -> bool:
        """Look for the prices as long as it pays, and return whether that was finished in time."""
        if self._prices is not None or not self._size < len(self._X) <= MOST_PRICED:
            return True
        if loss.sse(self._X, labels) == 0.0:
            return True
        if self._whole is None:
            self._whole = SetPartitioning(self._X, self._k, with_cuts=False)
            self._whole.master.add_groups(self._whole.groups_of(labels))
        whole, started = self._whole, time.perf_counter()
        _solve(whole, math.inf, min(until, started + PRICING_SECONDS - self._spent), go_on)
        self._spent += time.perf_counter() - started
        if not whole.converged and self._spent < PRICING_SECONDS:
            return False
        self._prices = np.empty(len(self._X))
        self._prices[whole.places] = whole.prices.pi * whole.unit
        self._whole = None
        return True

    def _next(self, labels: IntArray) -> IntArray | None:
        """Return the records, ascending, of a part that is not known; None if there is none so large."""
        if self.exhausted:
            return None
        canonical = canonical_labels(labels)
        centers, sizes = group_means(self._X, canonical), np.bincount(canonical)
        chances = None
        if self._prices is not None:
            reduced_costs = loss.group_sse(self._X, canonical) - np.bincount(canonical, self._prices)
            beyond = np.maximum(reduced_costs, 0.0)[canonical]
            chances = beyond / beyond.sum() if beyond.sum() > 0.0 else None
        for _ in range(CHOICES):
            record = self._X[self._draw.choice(len(labels), p=chances)]
            nearest = np.argsort(np.square(centers - record).sum(axis=1), kind="stable")
            count = int(np.searchsorted(np.cumsum(sizes[nearest]), self._size)) + 1
            part = np.flatnonzero(np.isin(canonical, nearest[:count]))
            if part.tobytes() not in self._finished_parts:
                return part
        self._size *= GROWTH
        return None


def _solve(sets: SetPartitioning, least: float, until: float, go_on: Callable[[], bool]) -> bool:
    """Go on with a program until it has converged or its bound is ``least``, and return whether there was time."""
    while not sets.converged and sets.sse < least:
        if not (sets.advance(until, go_on) and go_on()):
            return False
    return True


def _best_partition(
    X: FloatArray, labels: IntArray, k: int, sse: float, until: float, go_on: Callable[[], bool]
) -> tuple[bool, IntArray | None]:
    """Return whether all partitions of ``X`` are covered, and the labels of the best if it is better than ``labels``.

    ``sse`` is the SSE of the latter. Where the groups that can be in a better one are too many for a list, only those
    that fit best are in it, and other partitions are not covered. A better partition may also be there when the time is
    over or ``go_on`` says no.
    """
    least = sse * (1 - LEAST_GAIN)
    sets = SetPartitioning(X, k, with_cuts=False)
    initial = sets.groups_of(labels)
    sets.master.add_groups(initial)
    if not _solve(sets, least, until, go_on):
        return False, None
    whole = reach = least / sets.unit - sets.bound
    listed = None
    while listed is None and reach > 0.0:
        finished, listed = sets.groups_below(reach, MOST_GROUPS, until, go_on)
        if not finished:
            return False, None
        if listed is None:
            reach *= LESS
    if listed is None:
        return True, None
    groups = np.unique(np.concatenate([listed, initial, sets.master.groups]), axis=0)
    start = initial if (initial >= 0).sum() == len(X) else None
    chosen = best_of(sets, groups, start, until, go_on)
    better = None if chosen is None or sets.sse_of(chosen) >= least else sets.labels_of(chosen)
    return reach == whole, better
