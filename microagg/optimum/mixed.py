"""Records of mixed attributes at one k: a search for better partitions, and a rising lower bound on Total-IL.

Both have the methods that :class:`microagg.optimum.certificate.Certificate` calls. Losses are Total-IL.

**Search.** A part is the groups whose records are nearest, on average, to a random record. Local search with ruin and
recreate, :mod:`microagg.kernels.local_search.mixed_search`, improves it for some tenths of a second, with another seed
each time.

**Lower bound.** The nearest-neighbor bound first; then closures raise it record by record. Total-IL is the sum over the
records of the extent of the record's group, see :mod:`microagg.metrics.generalization`. A group with a record r lies in
its closure: in each numeric or ordinal attribute a range that contains r's value, in each nominal one all categories
below an ancestor of r's. Let c(r) be the minimum extent of such a closure with at least k records of the file, r among
them. Then

    Total-IL ≥ Σ over records of c(r).

This is never below the nearest-neighbor bound of :mod:`microagg.optimum.nearest_neighbors`: in a closure of k records
at least one other is as far from r as r's (k-1)-th nearest record.

Branch and bound finds c(r). It chooses, attribute by attribute and nominal ones first, the ancestor or the two ends of
the range. The bound of a node is the extent chosen so far plus the (k-1)-th smallest distance from r, in the open
attributes, among the records still inside. A search that becomes too long returns the minimum of the bounds of its open
nodes and of the extents found, which is at most c(r).

Extents are sums of d shares, each rounded by a relative 1e-15 or so, and the sum over n records by n times that:
lowered by a relative 1e-9, the result is a bound in floating point, too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms.registry import make
from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.compiled import kernel
from microagg.kernels.local_search import mixed_search
from microagg.metrics.generalization import total_information_loss
from microagg.optimum.nearest_neighbors import Bound, nearest_mixed_neighbor_curve
from microagg.optimum.problem import Problem
from microagg.optimum.program import ALLOWANCE
from microagg.partition import Partition, canonical_labels
from microagg.progress import Cancelled, checkpoint, watched
from microagg.validation import FloatArray, IntArray, check_enough_records, check_k

# Maximum number of groups of a part, and seconds of search for one.
_MAX_GROUPS = 40
_SECONDS = 0.2

# A gain of less than this share of the loss is rounding.
_ROUNDING = 1e-12

# Maximum numbers of nodes of a search, and of nodes that wait.
_MAX_NODES, _MAX_WAITING = 3_000, 20_000

# Records farther than the narrowest known closure by this share are in no narrower one, even with rounding.
_MARGIN = 1e-9


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


@kernel
def _min_extent(
    shares: FloatArray, above: NDArray[np.bool_], numeric: NDArray[np.bool_], n_others: int, least: float
) -> float:
    """Lower bound on the extents of closures around a record with ``n_others`` others, of which one is ``least``.

    ``shares``, shape (n, d), are those of the record with each other one, and ``above`` is whether that one is larger.
    """
    n, d = shares.shape
    # Of each waiting node: the extents below and above the record, the number of chosen attributes, and their sum.
    down, up = np.empty((_MAX_WAITING, d)), np.empty((_MAX_WAITING, d))
    chosen, fixed, bounds = np.zeros(_MAX_WAITING, np.int64), np.zeros(_MAX_WAITING), np.zeros(_MAX_WAITING)
    n_waiting, nodes = 1, 0
    open_distances, inside_records = np.empty(n), np.empty(n, np.int64)
    while n_waiting > 0:
        n_waiting -= 1
        if bounds[n_waiting] >= least:
            continue
        nodes += 1
        if nodes > _MAX_NODES:
            return float(min(least, bounds[: n_waiting + 1].min()))
        j, extent, below, beyond = chosen[n_waiting], fixed[n_waiting], down[n_waiting].copy(), up[n_waiting].copy()
        m = 0
        for x in range(n):
            inside, distance = True, 0.0
            for q in range(d):
                if q < j:
                    inside = inside and shares[x, q] <= (beyond[q] if above[x, q] else below[q])
                else:
                    distance += shares[x, q]
            if inside and extent + distance < least:
                open_distances[m], inside_records[m] = distance, x
                m += 1
        if m < n_others:
            continue
        bound = extent + np.partition(open_distances[:m], n_others - 1)[n_others - 1]
        if bound >= least:
            continue
        if j == d:
            least = extent
            continue
        attribute_shares, is_above = shares[inside_records[:m], j], above[inside_records[:m], j]
        # A common ancestor has one height; a range has two ends.
        ends = np.unique(attribute_shares if not numeric[j] else np.append(attribute_shares[is_above], 0.0))
        starts = np.unique(np.append(attribute_shares[~is_above], 0.0)) if numeric[j] else np.zeros(1)
        for p in range(len(ends) - 1, -1, -1):
            for q in range(len(starts) - 1, -1, -1):
                wider = extent + ends[p] + starts[q]
                if wider >= least:
                    continue
                if n_waiting == _MAX_WAITING:
                    return float(min(least, bound, bounds.min()))
                down[n_waiting], up[n_waiting] = below, beyond
                up[n_waiting, j] = ends[p]
                down[n_waiting, j] = starts[q] if numeric[j] else ends[p]
                chosen[n_waiting], fixed[n_waiting], bounds[n_waiting] = j + 1, wider, max(bound, wider)
                n_waiting += 1
    return least


class Closures:
    """The minimum extents of closures of k ≥ 2 of the ``records``, record by record."""

    def __init__(self, records: Records, k: int) -> None:
        self._k, self._domains = k, records.domains
        # Equal records have the same closures. In random order, large gains are not all last.
        values, counts = np.unique(records.values, axis=0, return_counts=True)
        order = np.random.default_rng(0).permutation(len(counts))
        self._values, self.counts = values[order], counts[order]
        self._pool = mixed.make_pool(records)
        self._order = np.argsort(~records.nominal, kind="stable")
        self._numeric = ~records.nominal[self._order]
        self._all = np.array(records.values)

    def gain(self, i: int) -> float:
        """Lower bound on c(r) minus the (k-1)-th smallest distance, for each of ``counts[i]`` equal records."""
        record, k = self._values[i], self._k
        shares, above = np.zeros_like(self._all), self._all > record
        for j, domain in enumerate(self._domains):
            if self._pool.nominal[j]:
                pool = self._pool
                mixed.relate(pool.tables[j], pool.heights[j], pool.parents[j], int(record[j]))
                shares[:, j] = self._pool.tables[j][self._all[:, j].astype(np.int64)]
            elif domain > 0.0:
                shares[:, j] = np.abs(self._all[:, j] - record[j]) / domain
        above[:, self._pool.nominal] = False
        shares, above = shares[:, self._order], above[:, self._order]
        distances = shares.sum(axis=1)
        near = np.argpartition(distances, k - 1)[:k]
        larger = np.where(above[near], shares[near], 0.0).max(axis=0)
        smaller = np.where(above[near], 0.0, shares[near]).max(axis=0)
        extent, nearest = float((larger + smaller).sum()), float(distances[near].max())
        inside = distances <= extent * (1 + _MARGIN)
        # The record itself counts as one of the k, at distance 0.
        return max(_min_extent(shares[inside], above[inside], self._numeric, k, extent) - nearest, 0.0)


class MixedBound:
    """Lower bound on Total-IL of partitions of mixed ``records`` into groups of at least ``k``."""

    labels = proof = None  # it finds no partition and no proof for the checker

    def __init__(self, records: Records, k: int) -> None:
        self._records, self._k = records, check_k(k)
        check_enough_records(records.n, self._k, "X")
        self._nearest = Bound(self._k, 0.0, 0.0, 0.0, converged=False)
        self.best_known_sse = math.inf  # as no partition is known
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
