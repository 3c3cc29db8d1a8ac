"""Local search of any number of records: of many, region by region, on all cores.

Few records are one region. Many are divided into regions of neighboring groups by random planes, each of which is
searched by itself, on a thread of its own; then once more with other planes, so that what was a border lies within. The
records of a region know their nearest within it only, so the time grows no faster than the number of records. What is
found does not depend on the number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from microagg.kernels.local_search.descent import about_mean, budget_for, improving, make_state
from microagg.kernels.neighbors.knn_graph import find_neighbors
from microagg.kernels.threads import THREADS
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: More records than this are searched region by region.
MOST_AT_ONCE = 20_000

#: How many records a region has, at most.
MOST_IN_REGION = 25_000

#: How often many records are divided.
ROUNDS = 2

# Seconds after which somebody who waits may stop it.
_BREATH = 0.3


def divide(
    centers: FloatArray, sizes: IntArray, draw: np.random.Generator, *, most: int, fewest: int = 1
) -> list[IntArray]:
    """Divide groups by random planes into regions, at least two, and return the groups of each.

    Parameters
    ----------
    centers : array of float, shape (g, d)
        The groups' centroids.
    sizes : array of int, shape (g,)
    draw : Generator
        Random numbers.
    most : int
        Regions of more records are divided, ...
    fewest : int
        ... unless they have fewer groups than this.
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


def improving_labels(X: FloatArray, labels: IntArray, k: int) -> Generator[tuple[str, float | None]]:
    """Improve a partition by local search in place, and yield every few tenths of a second what is being done.

    What is yielded is a message and, where it is known, the share done; ``labels`` are those of a partition then.

    Parameters
    ----------
    X : array of float, shape (n, d)
        The records about their mean.
    labels : array of int, shape (n,)
        Canonical; of groups of at least ``k``.
    """
    if len(X) > MOST_AT_ONCE:
        for number in range(ROUNDS):
            for share in _improving_regions(X, labels, k, np.random.default_rng(number)):
                yield "moving records", (number + share) / ROUNDS
        return
    state = make_state(X, labels, k, find_neighbors(X, k))
    for said in improving(state, k, budget_for(len(X), k)):
        labels[:] = state.labels
        yield said


def _improving_regions(X: FloatArray, labels: IntArray, k: int, draw: np.random.Generator) -> Generator[float]:
    """Divide the records into regions, improve each, and yield the share of the regions that are done."""
    labels[:] = canonical_labels(labels)
    regions = divide(group_means(X, labels), np.bincount(labels), draw, most=MOST_IN_REGION)
    parts, firsts = records_of(regions, labels, k)
    budget = budget_for(len(X), k)
    stop = threading.Event()

    def improve(part: IntArray) -> IntArray:
        own = about_mean(X[part])
        state = make_state(own, canonical_labels(labels[part]), k, find_neighbors(own, k))
        for _ in improving(state, k, max(1, budget * len(part) // len(X))):
            if stop.is_set():
                break
        return canonical_labels(state.labels)

    with ThreadPoolExecutor(THREADS, thread_name_prefix="microagg-regions") as pool:
        try:
            running: dict[Future[IntArray], int] = {pool.submit(improve, part): i for i, part in enumerate(parts)}
            while running:
                done, _ = wait(running, _BREATH, FIRST_COMPLETED)
                for future in done:
                    i = running.pop(future)
                    labels[parts[i]] = firsts[i] + future.result()
                yield 1.0 - len(running) / len(parts)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def locally_best(X: FloatArray, labels: IntArray, k: int) -> IntArray:
    """Return the labels of a partition of ``X``, shape (n, d), improved by local search.

    The SSE is never above that of ``labels``, any numbering of groups of at least ``k`` records each.
    """
    better = canonical_labels(labels)
    for message, share in improving_labels(about_mean(X), better, k):
        checkpoint(message, share)
    return canonical_labels(better)
