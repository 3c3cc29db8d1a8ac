"""Taking a few neighboring groups apart, putting them together otherwise, and keeping what is better.

One iteration: a random record's group and some groups near to it are chosen, and their records are given new groups in
one of two ways:

- path: they are put in the order of a walk, to the nearest record each time, from a random one of them, and cut
  optimally;
- regrow: a random one of them forms a group with its k-1 nearest, again and again; what is left joins the group that
  grows least.

Then the local search of :mod:`.local_search` is run from these records. If the SSE has not fallen in the end, nor risen
by a little (see :func:`iterate`), the partition stays; otherwise all is undone. An iteration takes time in proportion
to what it changes, whatever the number of records.

Random numbers come from SplitMix64 (Steele, Lea & Flood 2014), so a seed gives the same partition everywhere.

Sources: ruin and recreate, Schrimpf et al. 2000; iterated local search, Lourenço, Martin & Stützle 2003; the
path is that of NPN-MHM, Domingo-Ferrer et al. 2006.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.kernels.local_search.descent import (
    Pace,
    State,
    about_mean,
    begin,
    forget_queue,
    gain_of,
    is_few,
    make_state,
    members_of,
    order_of,
    regroup,
    repair,
    rows_of,
    undo,
)
from microagg.kernels.local_search.regions import divide, improving_labels, records_of
from microagg.kernels.neighbors.knn_graph import find_neighbors
from microagg.kernels.paths.split import split_path
from microagg.kernels.threads import THREADS
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: At most so many groups are taken apart in one iteration.
_MOST_GROUPS = 5

#: What an SSE may rise in one iteration, on average, at the beginning of a round, as a share of a group's mean SSE.
_HEAT = 0.02

#: Iterations for each group in the first round; twice as many in the next, and so on up to the most.
_FIRST_ROUND = 2
_LAST_ROUND = 64

#: A region has this many groups at least, and not many more records than these.
_LEAST_GROUPS = 24
_MOST_RECORDS = 4_000

#: The local search of one iteration ends after looking at so many records, whatever comes of it.
_LOOKS = 5_000

Seed = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def _draw(seed: Seed) -> int:
    """Return the next random number of 53 bits."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(11))


@njit(cache=True, nogil=True)
def draw_below(seed: Seed, most: int) -> int:
    """Return a random whole number from 0 to ``most`` - 1."""
    return _draw(seed) % most


@njit(cache=True, nogil=True)
def draw_share(seed: Seed) -> float:
    """Return a random number from 0 up to, but not including, 1."""
    return _draw(seed) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _groups_around(state: State, record: int, most: int, seed: Seed) -> IntArray:
    """Return up to ``most`` groups: that of a record, and those of random ones of the records nearest to it."""
    groups = np.empty(most, dtype=np.int64)
    groups[0] = state.labels[record]
    count = 1
    neighbors = state.neighbors
    center = record
    for _ in range(4 * most):
        if count == most or neighbors.shape[1] == 0:
            break
        if is_few(state):
            other = draw_below(seed, len(state.labels))
        else:
            other = neighbors[center, draw_below(seed, neighbors.shape[1])]
        group = state.labels[other]
        for i in range(count):
            if groups[i] == group:
                break
        else:
            groups[count] = group
            count += 1
        # Groups of many records hold all the neighbors of their inner ones: go on from another of them.
        center = other
    return groups[:count]


@njit(cache=True, nogil=True)
def _records_of(state: State, groups: IntArray) -> IntArray:
    """Return the records of some groups, ascending."""
    count = 0
    for group in groups:
        count += state.sizes[group]
    records = np.empty(count, dtype=np.int64)
    start = 0
    for group in groups:
        members = members_of(state, group)
        records[start : start + len(members)] = members
        start += len(members)
    return records[order_of(records)]


@njit(cache=True, nogil=True)
def _walk(rows: FloatArray, start: int) -> IntArray:
    """Return the records of ``rows`` in the order of a walk from ``start`` to the nearest one not yet visited."""
    m, d = rows.shape
    order = np.arange(m)
    order[0], order[start] = start, 0
    for i in range(m - 1):
        best, least = i + 1, np.inf
        for other in range(i + 1, m):
            distance = 0.0
            for j in range(d):
                difference = rows[order[other], j] - rows[order[i], j]
                distance += difference * difference
            if distance < least:
                best, least = other, distance
        order[i + 1], order[best] = order[best], order[i + 1]
    return order


@njit(cache=True, nogil=True)
def _regrown(rows: FloatArray, k: int, number: int, seed: Seed) -> IntArray:
    """Return labels of ``number`` groups of ``rows``, each of k records around a random one, and the others added."""
    m, d = rows.shape
    labels = np.full(m, -1)
    centers = np.zeros((number, d))
    sizes = np.zeros(number)
    left = np.arange(m)
    distances = np.empty(m)
    for group in range(number):
        chosen = left[draw_below(seed, len(left))]
        for i in range(len(left)):
            distance = 0.0
            for j in range(d):
                difference = rows[left[i], j] - rows[chosen, j]
                distance += difference * difference
            distances[i] = distance
        order = order_of(distances[: len(left)])
        for i in order[:k]:
            labels[left[i]] = group
            for j in range(d):
                centers[group, j] += rows[left[i], j] / k
        sizes[group] = k
        left = left[order[k:]]
    for record in left:
        best, least = 0, np.inf
        for group in range(number):
            distance = 0.0
            for j in range(d):
                difference = rows[record, j] - centers[group, j]
                distance += difference * difference
            growth = sizes[group] / (sizes[group] + 1.0) * distance
            if growth < least:
                best, least = group, growth
        labels[record] = best
        for j in range(d):
            centers[best, j] += (rows[record, j] - centers[best, j]) / (sizes[best] + 1.0)
        sizes[best] += 1.0
    return labels


@njit(cache=True, nogil=True)
def _shake(state: State, k: int, seed: Seed) -> None:
    """Give the records of a few neighboring groups new groups at random."""
    record = draw_below(seed, len(state.labels))
    groups = _groups_around(state, record, 2 + draw_below(seed, _MOST_GROUPS - 1), seed)
    records = _records_of(state, groups)
    rows = rows_of(state.X, records)
    if draw_below(seed, 2) == 0:
        labels = split_path(rows, _walk(rows, draw_below(seed, len(rows))), k)
    else:
        labels = _regrown(rows, k, _number_of_groups(len(records), len(groups), k, seed), seed)
    regroup(state, records, labels)


@njit(cache=True, nogil=True)
def _number_of_groups(records: int, groups: int, k: int, seed: Seed) -> int:
    """Return into how many groups to divide ``records`` records of ``groups`` groups: now and then one fewer."""
    most = records // k
    number = groups + draw_below(seed, most - groups + 1)
    return number - 1 if number > 1 and draw_below(seed, 4) == 0 else number


class Walk(NamedTuple):
    """Where a search is; made by :func:`make_walk`.

    Attributes
    ----------
    state : State
        The partition that is being changed.
    best : array of int, shape (n,)
        The labels of the best partition so far.
    fallen : array of float, shape (2,)
        By how much the SSE of the partition, and of the best one, is below that at the beginning.
    seed : array of uint64, shape (1,)
        The generator of random numbers.
    """

    state: State
    best: IntArray
    fallen: FloatArray
    seed: Seed


@njit(cache=True, nogil=True)
def make_walk(X: FloatArray, labels: IntArray, k: int, neighbors: IntArray, seed: Seed) -> Walk:
    """Return a search that begins with a partition; arguments as for :func:`~.local_search.make_state`."""
    return Walk(make_state(X, labels, k, neighbors), labels.copy(), np.zeros(2), seed)


@njit(cache=True, nogil=True)
def iterate(walk: Walk, k: int, first: int, last: int, total: int, heat: float) -> None:
    """Do the iterations from ``first`` to ``last`` - 1 of a round of ``total``.

    The SSE may rise in an iteration by a random number from the exponential distribution, whose mean goes from ``heat``
    at the beginning of the round down to 0 at its end.
    """
    state = walk.state
    for i in range(first, last):
        begin(state)
        _shake(state, k, walk.seed)
        settled = repair(state, k, _LOOKS)
        gain, least = gain_of(state)
        allowed = -heat * (1.0 - i / total) * np.log(1.0 - draw_share(walk.seed))
        if not settled or gain < least - allowed:
            forget_queue(state)
            undo(state)
            continue
        walk.fallen[0] += gain
        if walk.fallen[0] > walk.fallen[1] + least:
            walk.fallen[1] = walk.fallen[0]
            walk.best[:] = state.labels


# --- the search over rounds ------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _neighbors_within(neighbors: IntArray, records: IntArray) -> IntArray:
    """Return the ``neighbors`` of ``records``, numbered as these; a record itself for one that is not among them."""
    place = np.full(len(neighbors), -1)
    for i in range(len(records)):
        place[records[i]] = i
    within = np.empty((len(records), neighbors.shape[1]), dtype=np.int64)
    for i in range(len(records)):
        for j in range(neighbors.shape[1]):
            other = place[neighbors[records[i], j]]
            within[i, j] = other if other >= 0 else i
    return within


def _at_most(end: int | None, done: int, totals: list[int]) -> list[int]:
    """Return ``totals``, reduced in proportion if they would lead from ``done`` beyond ``end``."""
    planned = sum(totals)
    if end is None or done + planned <= end:
        return totals
    return [stop - start for start, stop in pairwise([0, *(t * (end - done) // planned for t in accumulate(totals))])]


class Recombination:
    """An endless search for better partitions, round by round.

    In each round the groups are divided into regions by random planes, and each region is searched by itself, on a
    thread of its own. Where there are few groups, all are searched twice instead, and the better result is kept. What
    is found depends on the seed and on the number of iterations, not on the number of threads.

    Attributes
    ----------
    labels : array of int, shape (n,)
        The best partition so far.
    fallen : float
        By how much its SSE is below that at the beginning.
    iterations : int
        How many have been done.
    """

    def __init__(self, X: FloatArray, labels: IntArray, k: int, neighbors: IntArray, random_state: int) -> None:
        self.labels = canonical_labels(labels)
        self.fallen = 0.0
        self.iterations = 0
        self._X, self._k, self._neighbors = X, k, neighbors
        self._random_state = random_state
        self._rounds = 0

    def search(self, iterations: int | None = None) -> Generator[None]:
        """Search, for so many iterations or endlessly, and yield every few tenths of a second.

        Then ``labels`` are the best partition so far, and the search may be given up.
        """
        end = None if iterations is None else self.iterations + iterations
        with ThreadPoolExecutor(THREADS) as pool:
            while (end is None or self.iterations < end) and self._k > 1 and self.labels.max() > 0:
                yield from self._round(pool, end)

    def _round(self, pool: ThreadPoolExecutor, end: int | None) -> Iterator[None]:
        """Do one round, of fewer iterations if ``end`` is near."""
        self.labels = canonical_labels(self.labels)
        n_groups = int(self.labels.max()) + 1
        centers = group_means(self._X, self.labels)
        heat = _HEAT * float(np.square(self._X - centers[self.labels]).sum()) / n_groups
        draw = np.random.default_rng([self._random_state, self._rounds])
        per_group = min(_FIRST_ROUND * 2**self._rounds, _LAST_ROUND)
        self._rounds += 1
        if n_groups < 2 * _LEAST_GROUPS:
            totals = _at_most(end, self.iterations, [per_group * n_groups] * 2)
            everything = np.arange(len(self._X))
            walks = [self._walk(everything, draw) for _ in range(2)]
            yield from self._run(pool, [everything] * 2, walks, totals, [0, 0], heat)
            return
        sizes = np.bincount(self.labels)
        regions = divide(centers, sizes, draw, most=_MOST_RECORDS, fewest=_LEAST_GROUPS)
        totals = _at_most(end, self.iterations, [per_group * len(groups) for groups in regions])
        parts, firsts = records_of(regions, self.labels, self._k)
        for start in range(0, len(parts), THREADS):
            batch = slice(start, start + THREADS)
            walks = [self._walk(part, draw) for part in parts[batch]]
            yield from self._run(pool, parts[batch], walks, totals[batch], firsts[batch], heat)

    def _walk(self, records: IntArray, draw: np.random.Generator) -> Walk:
        """Return a search among ``records``, those of whole groups."""
        seed = draw.integers(0, 2**63, 1, dtype=np.uint64)
        labels = canonical_labels(self.labels[records])
        return make_walk(self._X[records], labels, self._k, _neighbors_within(self._neighbors, records), seed)

    def _run(
        self,
        pool: ThreadPoolExecutor,
        parts: list[IntArray],
        walks: list[Walk],
        totals: list[int],
        firsts: list[int],
        heat: float,
    ) -> Iterator[None]:
        """Run ``walks`` side by side, each through a round of ``totals`` iterations, and take over what they find.

        ``parts`` are their records, ``firsts`` the lowest labels of theirs.
        """
        before = self.fallen
        twins = parts[0] is parts[-1] and len(parts) > 1
        done = 0
        pace = Pace(100)
        while done < max(totals):
            stops = [min(done + pace.work, total) for total in totals]

            def go_on(walk: Walk, stop: int, total: int, done: int = done) -> None:
                iterate(walk, self._k, done, stop, total, heat)

            list(pool.map(go_on, walks, stops, totals))
            self.iterations += sum(max(0, stop - done) for stop in stops)
            done += pace.work
            fallen = [float(walk.fallen[1]) for walk in walks]
            if twins:
                best = int(np.argmax(fallen))
                self.labels[:] = walks[best].best
                self.fallen = before + fallen[best]
            else:
                for part, walk, first in zip(parts, walks, firsts, strict=True):
                    self.labels[part] = first + walk.best
                self.fallen = before + sum(fallen)
            pace.adapt()
            yield


def iterated(X: FloatArray, labels: IntArray, k: int, effort: int, seconds: float, random_state: int) -> IntArray:
    """Return the labels of a partition of ``X``, shape (n, d), improved by local search and then by iterations.

    There are ``effort`` iterations for each group, fewer if that takes more than ``seconds``, unless these are 0.
    """
    centered = about_mean(X)
    better = canonical_labels(labels)
    for message, share in improving_labels(centered, better, k):
        checkpoint(message, share)
    search = Recombination(centered, better, k, find_neighbors(centered, k), random_state)
    iterations = effort * (int(search.labels.max()) + 1)
    end = time.perf_counter() + seconds if seconds > 0.0 else np.inf
    for _ in search.search(iterations):
        checkpoint("taking groups apart", min(1.0, search.iterations / iterations))
        if time.perf_counter() > end:
            break
    return canonical_labels(search.labels)
