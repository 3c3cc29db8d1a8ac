"""Parts of a partition that are replaced, one after the other, by the best partitions of their records.

A part is the groups around a record. Set partitioning (:mod:`microagg.optimum.set_partitioning`) lists the groups that
could be in a better partition of these some hundred records, or the most promising of them, and integer programming
(:mod:`microagg.optimum.branching`) puts the best one together, in a second or in some: that finds what takes
changes of many groups at once, where a search that moves records has long found nothing better. A part that has been
solved need not be looked at again as long as its groups hold the same records.

Which parts are worth it says the linear program for all records, without cuts, which is solved first. Its dual values
are prices of the records: no group costs less than what its members' prices add up to, and what the groups of a
partition cost beyond that adds up to its distance from the bound. Most groups of a partition that is near the optimum
cost nothing beyond it; where the others are, a better partition must differ. So the record that a part is around is
drawn with a probability proportional to what its group costs beyond its members' prices.

Sources: POPMUSIC, Taillard & Voß 2002; large neighborhood search, Shaw 1998.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

import numpy as np

from microagg.metrics.loss import group_sse, sse
from microagg.optimum.branching import positions, recombine
from microagg.optimum.master_problem import coefficients_of, most_of
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.partition import canonical_labels, group_means
from microagg.validation import FloatArray, IntArray

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
        self._known: set[bytes] = set()
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

        own = canonical_labels(labels[part])
        before = sse(self._X[part], own)
        whole, better = True, None
        if before > 0.0 and len(part) >= 2 * self._k:
            end = min(until, started + SECONDS)
            whole, better = _best_partition(self._X[part], own, self._k, before, end, ask)
        now = time.perf_counter()
        if now >= started + SECONDS:
            self._size = max(SHRINKAGE * len(part), 4.0 * self._k)
        elif now < until and not ended:
            if whole:
                growth = FAST_GROWTH if now < started + SECONDS / 10 else GROWTH
                self._size = max(self._size, growth * len(part))
                self.exhausted = len(part) == len(labels)
            if whole or better is None:
                self._known.add(part.tobytes())
        if better is None:
            return 0.0
        labels[part] = labels.max() + 1 + better
        return before - sse(self._X[part], better)

    def _find_prices(self, labels: IntArray, until: float, go_on: Callable[[], bool]) -> bool:
        """Look for the prices as long as it pays, and return whether that was finished in time."""
        if self._prices is not None or not self._size < len(self._X) <= MOST_PRICED or sse(self._X, labels) == 0.0:
            return True
        if self._whole is None:
            self._whole = SetPartitioning(self._X, self._k, with_cuts=False)
            self._whole.master.add_groups(self._whole.groups_of(labels))
        whole, started = self._whole, time.perf_counter()
        _solve(whole, inf, min(until, started + PRICING_SECONDS - self._spent), go_on)
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
            reduced_costs = group_sse(self._X, canonical) - np.bincount(canonical, self._prices)
            beyond = np.maximum(reduced_costs, 0.0)[canonical]
            chances = beyond / beyond.sum() if beyond.sum() > 0.0 else None
        for _ in range(CHOICES):
            record = self._X[self._draw.choice(len(labels), p=chances)]
            nearest = np.argsort(np.square(centers - record).sum(axis=1), kind="stable")
            count = int(np.searchsorted(np.cumsum(sizes[nearest]), self._size)) + 1
            part = np.flatnonzero(np.isin(canonical, nearest[:count]))
            if part.tobytes() not in self._known:
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
    X: FloatArray, labels: IntArray, k: int, known: float, until: float, go_on: Callable[[], bool]
) -> tuple[bool, IntArray | None]:
    """Return whether all partitions of ``X`` are covered, and the labels of the best if it is better than ``labels``.

    ``known`` is the SSE of the latter. Where the groups that can be in a better one are too many for a list, only those
    that fit best are in it, and other partitions are not covered. A better partition may also be there when the time is
    over or ``go_on`` says no.
    """
    least = known * (1 - LEAST_GAIN)
    sets = SetPartitioning(X, k, with_cuts=False)
    own = sets.groups_of(labels)
    sets.master.add_groups(own)
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
    groups = np.unique(np.concatenate([listed, own, sets.master.groups]), axis=0)
    start = positions(own, groups) if (own >= 0).sum() == len(X) else None
    members, costs = sets.master.members_of(groups), sets.master.costs_of(groups)
    no_cuts = coefficients_of(members, [])
    chosen = recombine(members, costs, no_cuts, most_of([]), start, until, go_on)
    better = None if chosen is None or sets.sse_of(groups[chosen]) >= least else sets.labels_of(groups[chosen])
    return reach == whole, better
