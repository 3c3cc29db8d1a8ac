"""A search for a better partition that can be watched, stopped at any time, and continued.

>>> import microagg
>>> data = microagg.datasets.load("toy")
>>> search = microagg.Search(data.X, k=3).improve(iterations=100)
>>> round(search.information_loss, 3)
0.118
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.base import Param
from microagg.errors import DataError, ParameterError
from microagg.kernels.local_search.descent import about_mean
from microagg.kernels.local_search.regions import improving_labels
from microagg.kernels.local_search.ruin_recreate import Recombination
from microagg.kernels.neighbors.knn_graph import find_neighbors
from microagg.metrics import loss
from microagg.partition import Partition, canonical_labels
from microagg.progress import checkpoint
from microagg.registry import make
from microagg.validation import IntArray, check_enough_records, check_finite, check_k, check_matrix

#: Called with the information loss of the best partition so far, in percent, and the seconds of search so far; returns
#: False to stop.
Watch = Callable[[float, float], bool]

_SECONDS = Param("seconds", "float", (0.0, None), 0.0, "How long to search.")
_ITERATIONS = Param("iterations", "int", (0, None), 0, "How many iterations to do.")
_RANDOM_STATE = Param("random_state", "int", (0, None), 0, "The seed.")


class Search:
    """The best partition of some records that has been found so far, and the search that goes on from it.

    The search is local search and then iterated local search, see :mod:`microagg.algorithms.iterated_local_search`.
    An object serves one thread at a time, which may be any.

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
        self._X = about_mean(data)
        self._sst = loss.sst(data)
        self.sse = loss.sse(self._X, self._best)
        self.trace: list[tuple[float, float]] = [(0.0, self.information_loss)]
        self._elapsed = 0.0
        self._settled_sse = self.sse
        self._neighbors: IntArray = np.empty((len(data), 0), dtype=np.int64)
        self._local: Generator[bool] | None = None
        self._recombination: Recombination | None = None

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
        return self._recombination.iterations if self._recombination else 0

    def improve(self, seconds: float | None = None, iterations: int | None = None, watch: Watch | None = None) -> Self:
        """Search on for so many seconds and so many iterations at the most, and return the object itself.

        Local search comes first, and is not counted among the iterations. ``watch`` is called every few tenths of a
        second. The search goes on where the last one stopped, for whatever reason it did.

        Raises
        ------
        ParameterError
            If ``seconds`` or ``iterations`` is no number of at least 0, or nothing is given that could end the search.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled. The best partition so far is kept.
        """
        limit = math.inf if seconds is None else _SECONDS.check(seconds)
        most = None if iterations is None else _ITERATIONS.check(iterations)
        if seconds is None and most is None and watch is None:
            raise ParameterError("say when the search is to end: pass seconds, iterations or watch.")
        begun, before = time.perf_counter(), self._elapsed
        steps = self._steps(most)
        try:
            while self._elapsed - before < limit:
                going = next(steps, None) is not None
                self._elapsed = before + time.perf_counter() - begun
                self._enter_trace()
                share = None if seconds is None else min(1.0, (self._elapsed - before) / limit)
                if not going or (watch is not None and not watch(self.information_loss, self._elapsed)):
                    break
                checkpoint("looking for a better partition", share)
        finally:
            steps.close()
            self._elapsed = before + time.perf_counter() - begun
        return self

    def _enter_trace(self) -> None:
        if self.information_loss < self.trace[-1][1]:
            self.trace.append((self._elapsed, self.information_loss))

    def _steps(self, iterations: int | None) -> Generator[bool]:
        """Go on with the search, and yield every few tenths of a second, the best partition taken in."""
        if self._local is None:
            self._local = self._search_locally()
        # Not "yield from": what was begun must not be closed with this generator, but go on in the next.
        for _ in self._local:
            yield True
        if self._recombination is None:
            self._recombination = Recombination(self._X, self._best, self._k, self._neighbors, self._random_state)
            self._settled_sse = self.sse
        with closing(self._recombination.search(iterations)) as search:
            for _ in search:
                self._best = self._recombination.labels.copy()
                self.sse = self._settled_sse - self._recombination.fallen
                yield True

    def _search_locally(self) -> Generator[bool]:
        labels = np.array(self._best)
        for _ in improving_labels(self._X, labels, self._k):
            self._best = canonical_labels(labels)
            self.sse = loss.sse(self._X, self._best)
            yield True
        self._neighbors = find_neighbors(self._X, self._k)
