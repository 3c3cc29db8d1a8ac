"""Strata at one k: a search and a lower bound for each stratum, in one object for all records.

Groups stay within strata, so a partition of all records is one of each stratum, and losses and bounds add up.
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

# Seconds of a turn of each stratum.
_TURN = 0.25


def _in_turns(strata: Sequence[Any], seconds: float, improve: Callable[[Any, float], bool]) -> None:
    """Improve the strata in turns for at most ``seconds``, until ``improve`` returns False or no stratum has work."""
    end = time.monotonic() + seconds
    share = min(_TURN, seconds / len(strata))
    while (began := time.monotonic()) < end:
        for part in strata:
            if not improve(part, max(min(share, end - time.monotonic()), 0.0)):
                return
        if time.monotonic() - began < share / 2:  # no stratum used its time
            return


class StrataSearch:
    """The best known partition, from a search in each stratum, whose records are at ``parts``.

    ``max_loss`` is the loss of 100 %: the SST of all records, or the maximum of Total-IL.
    """

    def __init__(self, parts: Sequence[IntArray], searches: Sequence[Any], k: int, max_loss: float) -> None:
        self._parts, self._searches, self._k, self._max_loss = parts, searches, k, max_loss

    @property
    def labels(self) -> IntArray:
        """Labels of all records, shape (n,)."""
        partitions = [Partition(search.labels, self._k) for search in self._searches]
        return join_strata(list(zip(self._parts, partitions, strict=True)), self._k).labels

    @property
    def sse(self) -> float:
        """The SSE, or Total-IL."""
        return sum(search.sse for search in self._searches)

    @property
    def information_loss(self) -> float:
        """The loss in percent."""
        return percent(self.sse, self._max_loss)

    def offer(self, labels: IntArray) -> None:
        """Offer a partition within the strata, shape (n,), to the search of each."""
        for rows, part in zip(self._parts, self._searches, strict=True):
            part.offer(Partition(labels[rows], self._k).labels)

    def take_over(self) -> None:
        """Take over offered partitions, while :meth:`improve` is not running."""
        for search in self._searches:
            search.take_over()

    def improve(self, seconds: float, watch: Callable[[float, float], bool]) -> None:
        """Search for ``seconds``, or until ``watch(loss in percent, seconds so far)`` returns False."""
        began, going = time.monotonic(), True

        def note(*_: float) -> bool:
            nonlocal going
            going = watch(self.information_loss, time.monotonic() - began)
            return going

        def improve(part: Any, share: float) -> bool:
            part.improve(share, watch=note)
            return going

        _in_turns(self._searches, seconds, improve)


class StrataBound:
    """Lower bound for partitions within the strata: the sum of the strata's bounds. For ``max_loss`` see above."""

    labels = proof = None  # there are none for all strata together
    least = math.inf

    def __init__(self, parts: Sequence[IntArray], programs: Sequence[Any], k: int, max_loss: float) -> None:
        self._parts, self._programs, self._k, self._max_loss = parts, programs, k, max_loss

    @property
    def bound(self) -> Bound:
        """The best proven lower bound."""
        bounds = [program.bound for program in self._programs]
        sse = sum(bound.sse for bound in bounds)
        return Bound(
            self._k,
            sse,
            percent(sse, self._max_loss),
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
        """Prove for ``seconds``, or until ``watch(bound)`` returns False."""
        going = True

        def note(_: Bound) -> bool:
            nonlocal going
            going = watch(self.bound)
            return going

        def improve(part: Any, share: float) -> bool:
            part.improve(share, note)
            return going

        _in_turns(self._programs, seconds, improve)
