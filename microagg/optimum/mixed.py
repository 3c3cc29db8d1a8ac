"""Records of mixed attributes at one k: a search for better partitions, and a rising lower bound on Total-IL.

Both have the methods that :class:`microagg.optimum.certificate.Certificate` calls. Losses are Total-IL.

**Search.** A part is the groups whose records are nearest, on average, to a random record. Local search with ruin and
recreate, :mod:`microagg.kernels.local_search.mixed_search`, improves it for some tenths of a second, with another seed
each time.

**Lower bound.** The nearest-neighbor bound first; then :mod:`microagg.optimum.closures` raise it record by record.
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
from microagg.optimum.nearest_neighbors import Bound, nearest_mixed_neighbor_curve
from microagg.optimum.problem import Problem
from microagg.optimum.program import ALLOWANCE
from microagg.partition import Partition, canonical_labels
from microagg.progress import Cancelled, checkpoint, watched
from microagg.validation import IntArray, check_enough_records, check_k

# Maximum number of groups of a part, and seconds of search for one.
_MAX_GROUPS = 40
_SECONDS = 0.2

# A gain of less than this share of the loss is rounding.
_ROUNDING = 1e-12


class MixedSearch:
    """The best known partition of mixed ``records``, at first ``labels`` or the result of a quick search.

    For errors see :class:`microagg.optimum.search.Search`.
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
        """Total-IL in percent of its maximum."""
        return 100.0 * self.sse / (self._records.n * self._records.d)

    def offer(self, labels: IntArray) -> None:
        """Continue from a partition into groups of at least k, shape (n,), if its loss is lower."""
        loss = total_information_loss(self._records, labels)
        if loss < self.sse * (1 - _ROUNDING):
            self.labels, self.sse = Partition(labels, self._k).labels, loss

    def take_over(self) -> None:
        """Do nothing: :meth:`offer` takes effect at once."""

    def improve(self, seconds: float, watch: Callable[[float, float], bool]) -> None:
        """Search for ``seconds``, or until ``watch(loss in percent, seconds so far)`` returns False."""
        started = time.monotonic()
        while (spent := time.monotonic() - started) < seconds and watch(self.information_loss, spent):
            checkpoint("searching for a better partition", spent / seconds)
            self._improve_part()

    def _improve_part(self) -> None:
        draw = np.random.default_rng([self._k, self._round])
        self._round += 1
        mixed.measure_from(self._pool, self._records.values[draw.integers(self._records.n)])
        sizes = np.bincount(self.labels)
        nearest_groups = np.argsort(np.bincount(self.labels, self._pool.sums) / sizes, kind="stable")[:_MAX_GROUPS]
        rows = np.flatnonzero(np.isin(self.labels, nearest_groups))
        started = time.monotonic()
        part, part_labels = self._records.take(rows), self.labels[rows]
        improved_labels = mixed_search.improve(part, part_labels, self._k, self._iterations, 2 * _SECONDS, self._round)
        elapsed = max(time.monotonic() - started, 1e-3)
        self._iterations = int(max(min(self._iterations * _SECONDS / elapsed, 2.0 * self._iterations), 10))
        if total_information_loss(part, improved_labels) < total_information_loss(part, part_labels) * (1 - _ROUNDING):
            labels = self.labels.copy()
            labels[rows] = len(sizes) + improved_labels
            self.offer(canonical_labels(labels))


class MixedBound:
    """Lower bound on Total-IL of partitions of mixed ``records`` into groups of at least ``k``."""

    labels = proof = None  # it finds no partition and no proof for the checker

    def __init__(self, records: Records, k: int) -> None:
        self._records, self._k = records, check_k(k)
        check_enough_records(records.n, self._k, "X")
        self._nearest = Bound(self._k, 0.0, 0.0, 0.0, converged=False)
        self.least = float("inf")  # the Total-IL of the best partition offered
        self._max_loss = records.n * records.d
        # For one group, and for groups of one, the nearest-neighbor bound is the loss itself.
        self._closures = Closures(records, self._k) if records.n >= 2 * self._k > 2 else None
        self._n_counted, self._gain, self._seconds = 0, 0.0, 0.0

    @property
    def bound(self) -> Bound:
        """The best proven lower bound: the nearest-neighbor bound plus the gains of the closures counted so far."""
        loss = self._nearest.sse + self._gain * (1 - ALLOWANCE)
        has_all = self._closures is None or self._n_counted == len(self._closures.counts)
        is_complete, seconds = self._nearest.converged and has_all, self._nearest.seconds + self._seconds
        return Bound(self._k, loss, 100.0 * loss / self._max_loss, seconds, converged=is_complete)

    def offer(self, labels: IntArray) -> None:
        """Do nothing: partitions do not help this bound."""

    def improve(self, seconds: float, watch: Callable[[Bound], bool]) -> None:
        """Prove for ``seconds``, or until ``watch(bound)`` returns False.

        The nearest-neighbor bound comes first and may take longer.
        """
        end = time.monotonic() + seconds
        if not self._nearest.converged:
            try:
                with watched(lambda *_: watch(self.bound)):
                    [self._nearest] = nearest_mixed_neighbor_curve(self._records, [self._k])
            except Cancelled:
                return
        last_call = -math.inf
        while self._closures is not None and self._n_counted < len(self._closures.counts):
            now = time.monotonic()
            if now >= end or (now > last_call + _SECONDS and not watch(self.bound)):
                break
            last_call = now if now > last_call + _SECONDS else last_call
            self._gain += float(self._closures.counts[self._n_counted]) * self._closures.gain(self._n_counted)
            self._n_counted += 1
            self._seconds += time.monotonic() - now
        watch(self.bound)
