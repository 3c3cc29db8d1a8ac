"""Dividing many records into regions of neighboring groups, each of which is searched by itself.

Groups are divided by random planes. The records of a region know their nearest within it only, so the time of a search
grows no faster than the number of records. It is done once more with other planes, so that what was a border lies
within. Regions are searched on all cores; what is found does not depend on the number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np
from numba import njit

from microagg.kernels.local_search.descent import CHECKPOINT_SECONDS, budget_for, descend
from microagg.kernels.local_search.state import centered, make_state
from microagg.kernels.neighbors.knn_graph import find_neighbors
from microagg.kernels.threads import THREADS
from microagg.partition import canonical_labels, group_means
from microagg.validation import FloatArray, IntArray

#: How many records a region has, at most.
MOST_IN_REGION = 25_000

#: How often the records are divided.
ROUNDS = 2


def divide(
    centers: FloatArray, sizes: IntArray, draw: np.random.Generator, *, most: int, fewest: int = 1
) -> list[IntArray]:
    """Divide groups by random planes into regions, at least two, and return the groups of each.

    ``centers``, shape (g, d), are the groups' centroids. Regions of more than ``most`` records are divided, unless they
    have fewer groups than ``fewest``.
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
    """Return the records of each of ``regions``, ascending, and the first label that is free for each.

    ``labels``, shape (n,), are renumbered to these, so that a region can be given other groups by itself.
    """
    region = np.empty(int(labels.max()) + 1, dtype=np.int64)
    for i, groups in enumerate(regions):
        region[groups] = i
    of_record = region[labels]
    parts = np.split(np.argsort(of_record, kind="stable"), np.cumsum(np.bincount(of_record))[:-1])
    firsts = [0, *np.cumsum([len(part) // k for part in parts[:-1]]).tolist()]
    for part, first in zip(parts, firsts, strict=True):
        labels[part] = first + canonical_labels(labels[part])
    return parts, firsts


@njit(cache=True, nogil=True)
def neighbors_within(neighbors: IntArray, records: IntArray) -> IntArray:
    """Return the ``neighbors`` of ``records``, numbered as these; the record itself for one that is not among them."""
    place = np.full(len(neighbors), -1)
    for i in range(len(records)):
        place[records[i]] = i
    within = np.empty((len(records), neighbors.shape[1]), dtype=np.int64)
    for i in range(len(records)):
        for j in range(neighbors.shape[1]):
            other = place[neighbors[records[i], j]]
            within[i, j] = other if other >= 0 else i
    return within


def descend_by_regions(X: FloatArray, labels: IntArray, k: int) -> Generator[tuple[str, float]]:
    """Improve a partition of ``X``, shape (n, d), in place, region by region; arguments as for ``make_state``.

    Yield every few tenths of a second, where ``labels`` are those of a partition, what is being done and which share of
    it is done.
    """
    for number in range(ROUNDS):
        for share in _descend_once(X, labels, k, np.random.default_rng(number)):
            yield "moving records", (number + share) / ROUNDS


def _descend_once(X: FloatArray, labels: IntArray, k: int, draw: np.random.Generator) -> Generator[float]:
    """Divide the records into regions, improve each, and yield the share of the regions that are done."""
    labels[:] = canonical_labels(labels)
    regions = divide(group_means(X, labels), np.bincount(labels), draw, most=MOST_IN_REGION)
    parts, firsts = records_of(regions, labels, k)
    budget = budget_for(len(X), k)
    stop = threading.Event()

    def improve(part: IntArray) -> IntArray:
        own = centered(X[part])
        state = make_state(own, canonical_labels(labels[part]), k, find_neighbors(own, k))
        for _ in descend(state, k, max(1, budget * len(part) // len(X))):
            if stop.is_set():
                break
        return canonical_labels(state.labels)

    with ThreadPoolExecutor(THREADS, thread_name_prefix="microagg-regions") as pool:
        try:
            running: dict[Future[IntArray], int] = {pool.submit(improve, part): i for i, part in enumerate(parts)}
            while running:
                done, _ = wait(running, CHECKPOINT_SECONDS, FIRST_COMPLETED)
                for future in done:
                    i = running.pop(future)
                    labels[parts[i]] = firsts[i] + future.result()
                yield 1.0 - len(running) / len(parts)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
