"""The one search behind :class:`microagg.Search`, the algorithms of local search, and methods that are polished.

Local search, of many records region by region, and from there round after round of ruin and recreate. In an iteration
a random record's group and some near to it are taken apart, and their records get new groups in one of two ways:

- path: they are put in the order of a path, to the nearest record each time, from a random one, which is cut optimally;
- growing: a random one of them forms a group with its k-1 nearest, again and again; what is left joins the group that
  grows least.

Then local search repairs these groups and those around them, see :func:`.descent.repair`. If the SSE has not fallen in
the end, nor risen by a little, all is undone. By how much it may rise is drawn as in simulated annealing. An iteration
takes time in proportion to what it changes, whatever the number of records.

Random numbers come from SplitMix64 (Steele, Lea & Flood 2014), so a seed gives the same partition everywhere.

Sources: iterated local search, Lourenço, Martin & Stützle 2003; ruin and recreate, Schrimpf et al. 2000; simulated
annealing, Kirkpatrick, Gelatt & Vecchi 1983; the path is that of NPN-MHM, Domingo-Ferrer et al. 2006.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import accumulate, pairwise, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.local_search.descent import CHECKPOINT_SECONDS, Pace, budget_for, descend, has_few_groups, repair
from microagg.kernels.local_search.state import (
    State,
    begin,
    centered,
    clear_queue,
    gain_of,
    make_state,
    members_of,
    regroup,
    undo,
)
from microagg.kernels.neighbors.brute_force import order_of, squared_distance_of_rows
from microagg.kernels.neighbors.neighbor_lists import find_neighbors
from microagg.kernels.paths import split_path
from microagg.kernels.running import THREADS
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: How many groups are taken apart in one iteration, at most.
_MOST_GROUPS = 5

#: An iteration is undone if it takes more than this many examined records to repair.
_MOST_EXAMINED = 5_000

#: The generator of random numbers: one number, in an array because it changes.
Seed = NDArray[np.uint64]


@borrows
def _draw(seed: Seed) -> int:
    """Return the next random number of 53 bits."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(11))


@borrows
def draw_below(seed: Seed, most: int) -> int:
    """Return a random whole number from 0 to ``most`` - 1."""
    return _draw(seed) % most


@kernel
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
        if has_few_groups(state):
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
        # All neighbors of a record deep inside a large group are in this group: go on from one of them.
        center = other
    return groups[:count]


@kernel
def _records_of(state: State, groups: IntArray) -> IntArray:
    """Return the records of some groups, ascending."""
    count = 0
    for group in groups:
        count += state.sizes[group]
    records = np.empty(count, dtype=np.int64)
    filled = 0
    for group in groups:
        for record in members_of(state, group):
            records[filled] = record
            filled += 1
    return records[order_of(records)]


@kernel
def _nearest_next(rows: FloatArray, start: int) -> IntArray:
    """Return the records of ``rows`` as a path from ``start``, each time to the nearest one not yet on it."""
    m = len(rows)
    order = np.arange(m)
    order[0], order[start] = start, 0
    for i in range(m - 1):
        best, least = i + 1, np.inf
        for other in range(i + 1, m):
            distance = squared_distance_of_rows(rows, order[other], rows, order[i])
            if distance < least:
                best, least = other, distance
        order[i + 1], order[best] = order[best], order[i + 1]
    return order


@kernel
def _grown(rows: FloatArray, k: int, number: int, seed: Seed) -> IntArray:
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
            distances[i] = squared_distance_of_rows(rows, left[i], rows, chosen)
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
            growth = sizes[group] / (sizes[group] + 1.0) * squared_distance_of_rows(rows, record, centers, group)
            if growth < least:
                best, least = group, growth
        labels[record] = best
        for j in range(d):
            centers[best, j] += (rows[record, j] - centers[best, j]) / (sizes[best] + 1.0)
        sizes[best] += 1.0
    return labels


@kernel
def ruin_and_recreate(state: State, k: int, seed: Seed) -> None:
    """Give the records of a few neighboring groups new groups at random."""
    record = draw_below(seed, len(state.labels))
    groups = _groups_around(state, record, 2 + draw_below(seed, _MOST_GROUPS - 1), seed)
    records = _records_of(state, groups)
    rows = state.X[records]
    if draw_below(seed, 2) == 0:
        labels = split_path(rows, _nearest_next(rows, draw_below(seed, len(rows))), k)
    else:
        # As many groups as before or more, and now and then one fewer.
        number = len(groups) + draw_below(seed, len(records) // k - len(groups) + 1)
        if number > 1 and draw_below(seed, 4) == 0:
            number -= 1
        labels = _grown(rows, k, number, seed)
    regroup(state, records, labels)


class Annealing(NamedTuple):
    """A partition that iterations change, and the best one so far; made by :func:`make_annealing`."""

    state: State  # the partition that is being changed
    best: IntArray  # shape (n,): the labels of the best partition so far
    # shape (2,): by how much the SSE of the partition, and of the best one, is below that at the beginning
    gains: FloatArray
    seed: Seed  # shape (1,): the generator of random numbers


def make_annealing(X: FloatArray, labels: IntArray, k: int, neighbors: IntArray, seed: Seed) -> Annealing:
    """Return what :func:`anneal` begins with; arguments as for :func:`~.state.make_state`."""
    return Annealing(make_state(X, labels, k, neighbors), labels.copy(), np.zeros(2), seed)


@kernel
def anneal(annealing: Annealing, k: int, first: int, last: int, total: int, temperature: float) -> None:
    """Do the iterations from ``first`` to ``last`` - 1 of a round of ``total``.

    A rise of the SSE is kept with the probability exp(-rise / mean), as in simulated annealing. The mean goes from
    ``temperature``, in squared units of X, at the beginning of the round down to 0 at its end.
    """
    state, gains = annealing.state, annealing.gains
    for i in range(first, last):
        begin(state)
        ruin_and_recreate(state, k, annealing.seed)
        settled = repair(state, k, _MOST_EXAMINED)
        gain, least = gain_of(state)
        allowed = -temperature * (1.0 - i / total) * np.log(1.0 - _draw(annealing.seed) / 9007199254740992.0)
        if not settled or gain < least - allowed:
            clear_queue(state)
            undo(state)
            continue
        gains[0] += gain
        if gains[0] > gains[1] + least:
            gains[1] = gains[0]
            for record in range(len(state.labels)):
                annealing.best[record] = state.labels[record]


# Many records are divided by random planes into regions of neighboring groups, each of which is searched by itself, on
# all cores. The records of a region know their nearest within it only, so the time grows no faster than their number.
# It is done once more with other planes, so that what was a border lies within.

#: How many records a region has, at most.
MOST_IN_REGION = 25_000

#: How often the records are divided.
ROUNDS = 2


def divide(
    centers: FloatArray, sizes: IntArray, draw: np.random.Generator, *, most: int, fewest: int = 1
) -> list[IntArray]:
    """Divide groups by random planes into regions, at least two, and return the groups of each.

    Regions of more than ``most`` records are divided, unless they have fewer groups than ``fewest``; ``centers`` are
    the centroids, shape (g, d).
    """
    regions = []
    todo = [np.arange(len(sizes))]
    while todo:
        groups = todo.pop()
        few = len(groups) < fewest or sizes[groups].sum() <= most
        if few and len(groups) < len(sizes):
            regions.append(groups)
            continue
        one, other = draw.choice(groups, 2, replace=False)
        order = groups[np.argsort(centers[groups] @ (centers[one] - centers[other]), kind="stable")]
        # Not always in the middle: the borders of the regions are elsewhere each time.
        cut = round(len(order) * draw.uniform(0.4, 0.6))
        todo += [order[:cut], order[cut:]]
    return regions


def records_of(regions: list[IntArray], labels: IntArray, k: int) -> tuple[list[IntArray], list[int]]:
    """Return the records of each of ``regions``, ascending, and the first label free for each, as ``labels`` become."""
    region = np.empty(int(labels.max()) + 1, dtype=np.int64)
    for i, groups in enumerate(regions):
        region[groups] = i
    of_record = region[labels]
    parts = np.split(np.argsort(of_record, kind="stable"), np.cumsum(np.bincount(of_record))[:-1])
    firsts = [0, *np.cumsum([len(part) // k for part in parts[:-1]]).tolist()]
    for part, first in zip(parts, firsts, strict=True):
        labels[part] = first + canonical_labels(labels[part])
    return parts, firsts


def neighbors_within(neighbors: IntArray, records: IntArray) -> IntArray:
    """Positions in ``records`` of their ``neighbors``; a neighbor outside is replaced by the record itself."""
    place = np.full(len(neighbors), -1)
    place[records] = positions = np.arange(len(records))
    within = place[neighbors[records]]
    return np.where(within >= 0, within, positions[:, np.newaxis])


def descend_by_regions(X: FloatArray, labels: IntArray, k: int) -> Generator[tuple[str, float]]:
    """Improve a partition of ``X``, shape (n, d), region by region, in place; yield as :func:`~.descent.descend`."""
    budget = budget_for(len(X), k)

    def improve(part: IntArray, stop: threading.Event) -> IntArray:
        points = centered(X[part])
        state = make_state(points, canonical_labels(labels[part]), k, find_neighbors(points, k))
        for _ in descend(state, k, max(1, budget * len(part) // len(X))):
            if stop.is_set():
                break
        return canonical_labels(state.labels)

    for number in range(ROUNDS):
        labels[:] = canonical_labels(labels)
        draw = np.random.default_rng(number)
        regions = divide(group_means(X, labels), np.bincount(labels), draw, most=MOST_IN_REGION)
        parts, firsts = records_of(regions, labels, k)
        for share in search_regions(labels, parts, firsts, [partial(improve, part) for part in parts]):
            yield "moving records", (number + share) / ROUNDS


def search_regions(
    labels: IntArray, parts: list[IntArray], firsts: list[int], searches: list[Callable[[threading.Event], IntArray]]
) -> Generator[float]:
    """Search the regions of :func:`records_of` side by side, change ``labels``, and yield the share that is finished.

    A search returns labels from 0; it ends early once the event is set, which happens when this is closed.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="microagg-regions") as pool:
        try:
            running: dict[Future[IntArray], int] = {pool.submit(search, stop): i for i, search in enumerate(searches)}
            while running:
                done, _ = wait(running, CHECKPOINT_SECONDS, FIRST_COMPLETED)
                for future in done:
                    i = running.pop(future)
                    labels[parts[i]] = firsts[i] + future.result()
                yield 1.0 - len(running) / len(parts)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


# Iterated local search.

#: The local search of more records than this goes region by region.
MOST_AT_ONCE = 20_000

#: The temperature at the beginning of a round, see :func:`anneal`, as a share of a group's mean SSE.
_TEMPERATURE = 0.02

#: Iterations for each group in the first round; twice as many in the next, and so on up to the most.
_FIRST_ROUND = 2
_LAST_ROUND = 64

#: A region of a round has this many groups at least, and not many more records than these.
_LEAST_GROUPS = 24
_MOST_RECORDS = 4_000

#: What a search is doing, and which share of it is done, where that is known.
Progress = tuple[str, float | None]


def _limited(totals: list[int], most: float) -> list[int]:
    """Return the iterations ``totals``, reduced in proportion if they are more than ``most`` together."""
    planned = sum(totals)
    if planned <= most:
        return totals
    return [stop - start for start, stop in pairwise([0, *(t * int(most) // planned for t in accumulate(totals))])]


class IteratedSearch:
    """The best partition of some records that has been found so far, and the search that goes on from it.

    In each round of ruin and recreate the groups are divided into regions by random planes, and each region is searched
    by itself, on a thread of its own. Where there are few groups, all are searched twice instead, and the better result
    is kept. What is found depends on the seed and on the numbers of iterations, not on the number of threads.

    It begins with ``labels``, any numbering of groups of at least ``k`` records each of ``X``, shape (n, d).
    """

    def __init__(self, X: FloatArray, labels: IntArray, k: int, random_state: int = 0) -> None:
        self.X = centered(X)  #: the records about their mean
        self.labels = canonical_labels(labels)  #: the best partition so far, under any numbering; changed in place
        self.gain = 0.0  #: by how much the iterations have lowered its SSE since local search ended
        self.iterations = 0  #: how many have been done
        #: Whether a round has ended and the next not begun: only then may others change ``labels``, ``gain``.
        self.between_rounds = False
        self._k = k
        self._random_state = random_state
        self._rounds = 0
        self._neighbors: IntArray | None = None
        self._local: Generator[Progress] | None = None

    # The generators below yield every few tenths of a second, where ``labels`` are those of a partition. There they may
    # be closed; a new one goes on with the search.

    def run(self, iterations: int | None = None) -> Generator[Progress]:
        """Go on with local search, to its end, and then with ``iterations``, or endlessly."""
        yield from self.settle()
        yield from self.iterate(iterations)

    def settle(self) -> Generator[Progress]:
        """Go on with local search, to its end."""
        if self._local is None:
            if len(self.X) > MOST_AT_ONCE:
                self._local = descend_by_regions(self.X, self.labels, self._k)
            else:
                # Found before local search begins: this may be cancelled, and then begun again.
                self._local = self._descend(self._find_neighbors())
        # Not "yield from", which would close local search together with this generator.
        for progress in self._local:  # noqa: UP028
            yield progress
        self.labels = canonical_labels(self.labels)

    def iterate(self, iterations: int | None = None) -> Generator[Progress]:
        """Go on with ruin and recreate, for ``iterations`` or endlessly, once local search has ended."""
        begun = self.iterations
        end = math.inf if iterations is None else begun + iterations
        with ThreadPoolExecutor(THREADS) as pool:
            while self.iterations < end and self._k > 1 and self.labels.max() > 0:
                for ended in self._round(pool, end - self.iterations):
                    self.between_rounds = ended
                    yield "taking groups apart", None if iterations is None else (self.iterations - begun) / iterations

    def _find_neighbors(self) -> IntArray:
        if self._neighbors is None:
            self._neighbors = find_neighbors(self.X, self._k)
        return self._neighbors

    def _descend(self, neighbors: IntArray) -> Generator[Progress]:
        """Improve all records together by local search."""
        state = make_state(self.X, self.labels, self._k, neighbors)
        for progress in descend(state, self._k, budget_for(len(self.X), self._k)):
            self.labels[:] = state.labels
            yield progress

    def _round(self, pool: ThreadPoolExecutor, most: float) -> Iterator[bool]:
        """Do one round, of ``most`` iterations at most, and yield whether it has ended."""
        self._find_neighbors()
        self.labels = canonical_labels(self.labels)
        n_groups = int(self.labels.max()) + 1
        centers = group_means(self.X, self.labels)
        temperature = _TEMPERATURE * float(np.square(self.X - centers[self.labels]).sum()) / n_groups
        draw = np.random.default_rng([self._random_state, self._rounds])
        per_group = min(_FIRST_ROUND * 2**self._rounds, _LAST_ROUND)
        self._rounds += 1
        if n_groups < 2 * _LEAST_GROUPS:
            totals = _limited([per_group * n_groups] * 2, most)
            steps = self._search_twice(pool, totals, temperature, draw)
        else:
            regions = divide(centers, np.bincount(self.labels), draw, most=_MOST_RECORDS, fewest=_LEAST_GROUPS)
            totals = _limited([per_group * len(groups) for groups in regions], most)
            steps = self._search_regions(pool, regions, totals, temperature, draw)
        for _ in steps:
            yield False
        yield True

    def _search_twice(
        self, pool: ThreadPoolExecutor, totals: list[int], temperature: float, draw: np.random.Generator
    ) -> Iterator[None]:
        """Search all records twice side by side, and take over the better result."""
        everything = np.arange(len(self.X))
        searches = [self._begin(everything, draw) for _ in range(2)]
        gain = self.gain
        for _ in self._anneal(pool, searches, totals, temperature):
            best = max(searches, key=lambda search: search.gains[1])
            self.labels[:] = best.best
            self.gain = gain + float(best.gains[1])
            yield

    def _search_regions(
        self, pool: ThreadPoolExecutor, regions: list[IntArray], totals: list[int], temperature: float,
        draw: np.random.Generator,
    ) -> Iterator[None]:  # fmt: skip
        """Search ``regions``, each given by its groups, side by side on all threads, and take over all results."""
        parts, firsts = records_of(regions, self.labels, self._k)
        for start in range(0, len(parts), THREADS):
            batch = slice(start, start + THREADS)
            searches = [self._begin(part, draw) for part in parts[batch]]
            gain = self.gain
            for _ in self._anneal(pool, searches, totals[batch], temperature):
                for part, first, search in zip(parts[batch], firsts[batch], searches, strict=True):
                    self.labels[part] = first + search.best
                self.gain = gain + sum(float(search.gains[1]) for search in searches)
                yield

    def _begin(self, records: IntArray, draw: np.random.Generator) -> Annealing:
        """Return a search among ``records``, those of whole groups."""
        seed = draw.integers(0, 2**63, 1, dtype=np.uint64)
        labels = canonical_labels(self.labels[records])
        neighbors = neighbors_within(self._find_neighbors(), records)
        return make_annealing(self.X[records], labels, self._k, neighbors, seed)

    def _anneal(
        self, pool: ThreadPoolExecutor, searches: list[Annealing], totals: list[int], temperature: float
    ) -> Iterator[None]:
        """Let ``searches`` run side by side, each through a round of ``totals`` iterations."""
        done = 0
        pace = Pace(100)
        while done < max(totals):
            stops = [min(done + pace.work, total) for total in totals]
            list(pool.map(anneal, searches, repeat(self._k), repeat(done), stops, totals, repeat(temperature)))
            self.iterations += sum(max(0, stop - done) for stop in stops)
            done += pace.work
            pace.adapt()
            yield


def improve(
    X: FloatArray,
    labels: IntArray,
    k: int,
    effort: int = 0,
    most: int | None = None,
    seconds: float = 0.0,
    random_state: int = 0,
) -> IntArray:
    """Return the labels of a partition of ``X``, shape (n, d), improved by local search and then by iterations.

    The SSE is never above that of ``labels``, groups of at least ``k`` records each. There are ``effort`` iterations
    for each group, ``most`` in all at most, fewer if they take more than ``seconds``, unless these are 0.
    """
    search = IteratedSearch(X, labels, k, random_state)
    for progress in search.settle():
        checkpoint(*progress)
    end = time.perf_counter() + seconds if seconds > 0.0 else math.inf
    iterations = effort * (int(search.labels.max()) + 1)
    for progress in search.iterate(iterations if most is None else min(iterations, most)):
        checkpoint(*progress)
        if time.perf_counter() > end:
            break
    return canonical_labels(search.labels)
