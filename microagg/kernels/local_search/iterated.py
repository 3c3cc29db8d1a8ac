"""Iterated local search: local search, and from there round after round of ruin and recreate.

This is the one search behind :class:`microagg.Search`, the algorithms ``local-search`` and ``iterated-local-search``,
and methods that are polished.

Sources: iterated local search, Lourenço, Martin & Stützle 2003; see also :mod:`.moves` and :mod:`.ruin_recreate`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise, repeat

import numpy as np

from microagg.kernels.local_search.descent import Pace, budget_for, descend
from microagg.kernels.local_search.regions import descend_by_regions, divide, neighbors_within, records_of
from microagg.kernels.local_search.ruin_recreate import Annealing, anneal, make_annealing
from microagg.kernels.local_search.state import centered, make_state
from microagg.kernels.neighbors.knn_graph import find_neighbors
from microagg.kernels.threads import THREADS
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: The local search of more records than this goes region by region.
MOST_AT_ONCE = 20_000

#: The temperature at the beginning of a round, see :func:`~.ruin_recreate.anneal`, as a share of a group's mean SSE.
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

    Attributes
    ----------
    X : array of float, shape (n, d)
        The records about their mean.
    labels : array of int, shape (n,)
        The best partition so far, under any numbering; changed in place.
    gain : float
        By how much the iterations have lowered its SSE since local search ended.
    iterations : int
        How many have been done.
    between_rounds : bool
        Whether a round has ended and the next not begun: only then may others change ``labels``, and add to ``gain``.
    """

    def __init__(self, X: FloatArray, labels: IntArray, k: int, random_state: int = 0) -> None:
        self.X = centered(X)
        self.labels = canonical_labels(labels)
        self.gain = 0.0
        self.iterations = 0
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
        self,
        pool: ThreadPoolExecutor,
        regions: list[IntArray],
        totals: list[int],
        temperature: float,
        draw: np.random.Generator,
    ) -> Iterator[None]:
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
    X: FloatArray, labels: IntArray, k: int, effort: int = 0, seconds: float = 0.0, random_state: int = 0
) -> IntArray:
    """Return the labels of a partition of ``X``, shape (n, d), improved by local search and then by iterations.

    The SSE is never above that of ``labels``, any numbering of groups of at least ``k`` records each. There are
    ``effort`` iterations for each group, fewer if they take more than ``seconds``, unless these are 0.
    """
    search = IteratedSearch(X, labels, k, random_state)
    for progress in search.settle():
        checkpoint(*progress)
    end = time.perf_counter() + seconds if seconds > 0.0 else math.inf
    for progress in search.iterate(effort * (int(search.labels.max()) + 1)):
        checkpoint(*progress)
        if time.perf_counter() > end:
            break
    return canonical_labels(search.labels)
