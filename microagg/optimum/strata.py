"""Records within strata at one k: a search and a floor for each stratum, as one of all records.

No group reaches across strata, so a partition of all records is one of each stratum, and losses and floors add up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from microagg.metrics.loss import percent
from microagg.optimum.nearest_neighbors import Bound
from microagg.partition import Partition, join_strata
from microagg.validation import IntArray

# How many seconds each stratum has, one after the other, again and again, where there is time for that.
_TURN = 0.25


def _in_turns(strata: Sequence[Any], seconds: float, improve: Callable[[Any, float], bool]) -> None:
    """Improve one stratum after the other for at most ``seconds``, until one says to stop or nothing is left to do."""
    end = time.monotonic() + seconds
    share = min(_TURN, seconds / len(strata))
    while (began := time.monotonic()) < end:
        for part in strata:
            if not improve(part, max(min(share, end - time.monotonic()), 0.0)):
                return
        if time.monotonic() - began < share / 2:  # none of them took its time
            return


class SearchWithin:
    """The best partition found, made of a search for each stratum, whose records are at ``parts``.

    ``most`` is what 100 % of the loss are: the SST of all records, or the most that Total-IL can be.
    """

    def __init__(self, parts: Sequence[IntArray], searches: Sequence[Any], k: int, most: float) -> None:
        self._parts, self._searches, self._k, self._most = parts, searches, k, most

    @property
    def labels(self) -> IntArray:
        """The labels of all records, shape (n,)."""
        partitions = [Partition(search.labels, self._k) for search in self._searches]
        return join_strata(list(zip(self._parts, partitions, strict=True)), self._k).labels

    @property
    def sse(self) -> float:
        """The SSE, or Total-IL."""
        return sum(search.sse for search in self._searches)

    @property
    def information_loss(self) -> float:
        """The loss in percent."""
        return percent(self.sse, self._most)

    def offer(self, labels: IntArray) -> None:
        """Offer a partition within the strata, shape (n,): each of them takes it where it is better."""
        for rows, part in zip(self._parts, self._searches, strict=True):
            part.offer(Partition(labels[rows], self._k).labels)

    def take_over(self) -> None:
        """Take over what has been offered; not while :meth:`improve` is running."""
        for search in self._searches:
            search.take_over()

    def improve(self, seconds: float, watch: Callable[[float, float], bool]) -> None:
        """Search for so long, or until ``watch``, called with the loss in percent and the seconds, says to stop."""
        began, going = time.monotonic(), True

        def see(*_: float) -> bool:
            nonlocal going
            going = watch(self.information_loss, time.monotonic() - began)
            return going

        def improve(part: Any, share: float) -> bool:
            part.improve(share, watch=see)
            return going

        _in_turns(self._searches, seconds, improve)


class FloorWithin:
    """What no partition within the strata loses less than: the sum of a floor of each; ``most`` as above."""

    labels = proof = None  # those of single strata are not put together
    least = math.inf

    def __init__(self, parts: Sequence[IntArray], programs: Sequence[Any], k: int, most: float) -> None:
        self._parts, self._programs, self._k, self._most = parts, programs, k, most

    @property
    def bound(self) -> Bound:
        """The best floor proven."""
        bounds = [program.bound for program in self._programs]
        sse = sum(bound.sse for bound in bounds)
        return Bound(
            self._k,
            sse,
            percent(sse, self._most),
            sum(bound.seconds for bound in bounds),
            all(bound.converged for bound in bounds),
            sum(bound.iterations for bound in bounds),
            all(bound.optimal for bound in bounds),
        )

    def offer(self, labels: IntArray) -> None:
        """Offer a partition within the strata, shape (n,), to the programs of each."""
        for rows, part in zip(self._parts, self._programs, strict=True):
            part.offer(Partition(labels[rows], self._k).labels)

    def improve(self, seconds: float, watch: Callable[[Bound], bool]) -> None:
        """Prove for so long, or until ``watch``, called with the floor, says to stop."""
        going = True

        def see(_: Bound) -> bool:
            nonlocal going
            going = watch(self.bound)
            return going

        def improve(part: Any, share: float) -> bool:
            part.improve(share, see)
            return going

        _in_turns(self._programs, seconds, improve)
