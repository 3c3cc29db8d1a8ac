"""Records of mixed attributes at one k: a partition that loses less and less, and a floor on Total-IL that rises.

Both have what :class:`microagg.optimum.certificate.Certificate` asks of a search and of a floor; losses are Total-IL.

**Search.** A part is the groups around a random record, those whose records are nearest to it on average. Their records
are moved, exchanged, and taken apart and put together anew, see :mod:`microagg.kernels.local_search.mixed_search`, with
another seed each time and for some tenths of a second; what lowers the loss stays.

**Floor.** The nearest-neighbor bound first; then closures raise it record by record, see
:mod:`microagg.optimum.closures`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from microagg.algorithms.registry import make
from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.local_search import mixed_search
from microagg.metrics.generalization import total_information_loss
from microagg.optimum.closures import Closures
from microagg.optimum.nearest_neighbors import Bound, NearestMixedNeighbors
from microagg.optimum.problem import Problem
from microagg.optimum.program import ALLOWANCE
from microagg.partition import Partition, canonical_labels
from microagg.progress import Cancelled, checkpoint, watched
from microagg.validation import IntArray, check_k

# A part has so many groups at most, and is searched for about so long.
_GROUPS = 40
_SECONDS = 0.2

# A gain of less than this share of what is lost is rounding.
_ROUNDING = 1e-12


class MixedSearch:
    """The best partition of mixed ``records`` found so far; begun by ``labels``, or by a quick search for them.

    Raises as :class:`microagg.optimum.search.Search`.
    """

    def __init__(self, records: Records, k: int, labels: ArrayLike | None = None) -> None:
        self._records, self._k = records, check_k(k)
        Problem.of(records).check_sizes(self._k)
        if labels is None:
            labels = make("least-loss", self._k, effort="quick").fit(records).labels_
        self.labels: IntArray = Partition(labels, self._k).labels
        self.sse = total_information_loss(records, self.labels)  # Total-IL, without unit
        self._pool = mixed.make_pool(records)
        self._round, self._iterations = 0, 1_000

    @property
    def information_loss(self) -> float:
        """Total-IL in percent of the most that it can be."""
        return 100.0 * self.sse / (self._records.n * self._records.d)

    def offer(self, labels: IntArray) -> None:
        """Go on from a partition into groups of at least k, shape (n,), if it loses less."""
        loss = total_information_loss(self._records, labels)
        if loss < self.sse * (1 - _ROUNDING):
            self.labels, self.sse = Partition(labels, self._k).labels, loss

    def take_over(self) -> None:
        """Nothing is under way between two rounds."""

    def improve(self, seconds: float, watch: Callable[[float, float], bool]) -> None:
        """Search for so long, or until ``watch``, called with the loss in percent and the seconds, says to stop."""
        started = time.monotonic()
        while (spent := time.monotonic() - started) < seconds and watch(self.information_loss, spent):
            checkpoint("searching for a better partition", spent / seconds)
            self._improve_part()

    def _improve_part(self) -> None:
        draw = np.random.default_rng([self._k, self._round])
        self._round += 1
        mixed.measure_from(self._pool, self._records.values[draw.integers(self._records.n)])
        sizes = np.bincount(self.labels)
        nearest = np.argsort(np.bincount(self.labels, self._pool.sums) / sizes, kind="stable")[:_GROUPS]
        rows = np.flatnonzero(np.isin(self.labels, nearest))
        began = time.monotonic()
        part, old = self._records.take(rows), self.labels[rows]
        new = mixed_search.improve(part, old, self._k, self._iterations, 2 * _SECONDS, self._round)
        taken = max(time.monotonic() - began, 1e-3)
        self._iterations = int(max(min(self._iterations * _SECONDS / taken, 2.0 * self._iterations), 10))
        if total_information_loss(part, new) < total_information_loss(part, old) * (1 - _ROUNDING):
            labels = self.labels.copy()
            labels[rows] = len(sizes) + new
            self.offer(canonical_labels(labels))


class MixedFloor:
    """What no partition of mixed ``records`` into groups of at least ``k`` loses less than, as far as is proven."""

    labels = proof = None  # it finds no partition, and nothing that the checker of proofs reads

    def __init__(self, records: Records, k: int) -> None:
        self._rising = NearestMixedNeighbors(records, k)
        self._k = self._rising.k
        self.least = float("inf")  # the Total-IL of the best partition offered
        self._most = records.n * records.d
        # One group, or groups of one, lose what the nearest neighbors say.
        self._closures = Closures(records, self._k) if records.n >= 2 * self._k > 2 else None
        self._counted, self._gain, self._seconds = 0, 0.0, 0.0

    @property
    def bound(self) -> Bound:
        """The best floor proven: the nearest neighbors' and what closures add to it, of the records counted so far."""
        bound = self._rising.bounds([self._k])[0]
        least = bound.sse + self._gain * (1 - ALLOWANCE)
        whole = bound.converged and (self._closures is None or self._counted == len(self._closures.counts))
        seconds = bound.seconds + self._seconds
        return Bound(self._k, least, 100.0 * least / self._most, seconds, converged=whole)

    def offer(self, labels: IntArray) -> None:
        """Take note of a better partition, which this floor has no use for."""

    def improve(self, seconds: float, watch: Callable[[Bound], bool]) -> None:
        """Prove for so long, or until ``watch``, called with the floor, says to stop."""
        end = time.monotonic() + seconds
        try:
            with watched(lambda *_: watch(self.bound) and time.monotonic() < end):
                self._rising.improve()
        except Cancelled:
            return
        told = -math.inf
        while self._closures is not None and self._counted < len(self._closures.counts):
            now = time.monotonic()
            if now >= end or (now > told + _SECONDS and not watch(self.bound)):
                break
            told = now if now > told + _SECONDS else told
            self._gain += float(self._closures.counts[self._counted]) * self._closures.gain(self._counted)
            self._counted += 1
            self._seconds += time.monotonic() - now
        watch(self.bound)
