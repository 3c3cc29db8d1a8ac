"""Optimal partitions by dynamic programming: a path of records cut into groups, or all subsets of a few records."""

from __future__ import annotations

import numpy as np

from microagg.kernels.compiled import kernel
from microagg.kernels.grouping.groups import members_by_group
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool, order_of
from microagg.partition import canonical_labels
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# A cut must be better by more than rounding to replace one found before.
BETTER = 1.0 - 1e-12


@kernel
def split_path(X: FloatArray, order: IntArray, k: int) -> IntArray:
    """Return the labels of the best partition of ``X``, shape (n, d), into contiguous pieces of a path.

    ``order`` has the n record indices as they stand on the path, n >= k. Pieces have k to 2k-1 records: a longer one
    could be cut without loss. best[j] is the least SSE of the first j records, over the beginnings i of the last piece:
    best[j] = min best[i] + SSE(i..j-1), which grows by m / (m + 1) · ‖x - centroid‖² as a piece of m takes in the next
    record. Among equals (up to a relative 1e-12) the longest last piece is kept. Time O(nkd).

    For one attribute and sorted records this is the optimum (Hansen & Mukherjee 2003); for several it is the
    multivariate version (Domingo-Ferrer et al. 2006), with the incremental SSE of Mortazavi et al. 2013.
    """
    n, d = X.shape
    best = np.full(n + 1, np.inf)
    start = np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    center = np.empty(d)
    for i in range(n - k + 1):
        if np.isinf(best[i]):
            continue
        sse = 0.0
        for m in range(min(2 * k - 1, n - i)):
            record = order[i + m]
            distance = 0.0
            for j in range(d):
                difference = X[record, j] - center[j] if m > 0 else 0.0
                distance += difference * difference
                center[j] = center[j] + difference / (m + 1) if m > 0 else X[record, j]
            sse += m / (m + 1) * distance
            if m + 1 >= k and best[i] + sse < best[i + m + 1] * BETTER:
                best[i + m + 1] = best[i] + sse
                start[i + m + 1] = i
    labels = np.empty(n, dtype=np.int64)
    stop = n
    group = 0
    while stop > 0:
        labels[order[start[stop] : stop]] = group
        group += 1
        stop = start[stop]
    return labels


# Orders in which records stand on a path, for :func:`microagg.kernels.paths.split_path` to cut.


def by_value(values: FloatArray) -> IntArray:
    """Return the record indices by ascending ``values``, shape (n,), ties by record index."""
    return np.argsort(values, kind="stable")


def sums(X: FloatArray) -> FloatArray:
    """Return the sum of each record's attributes, added in order, shape (n,)."""
    result = X[:, 0].copy()
    for j in range(1, X.shape[1]):
        result += X[:, j]
    return result


def first_component_scores(X: FloatArray) -> FloatArray:
    """Return the records' scores on the first principal component, shape (n,), the largest of either sign positive."""
    together = np.zeros(len(X), dtype=np.int64)

    def total(values: FloatArray) -> float:
        """Sum in the order of the records, which is not that of numpy's sum."""
        return float(np.bincount(together, weights=values)[0])

    deviations = [column - total(column) / len(X) for column in X.T]
    scatter = np.array([[total(one * other) for other in deviations] for one in deviations])
    direction = np.linalg.eigh(scatter)[1][:, -1]
    scores = np.zeros(len(X))
    for deviation, share in zip(deviations, direction, strict=True):
        scores += deviation * share
    # The direction of a component is determined only up to its sign, so the largest score decides.
    return scores if scores[np.argmax(np.abs(scores))] >= 0 else -scores


@kernel
def along_line(X: FloatArray) -> IntArray:
    """Return the records of ``X``, shape (m, d), by their projections on a line; time O(md).

    It runs from the record farthest from the centroid to the one farthest from that.
    """
    m, d = X.shape
    ends = np.zeros((2, d))
    for i in range(m):
        for j in range(d):
            ends[0, j] += X[i, j] / m
    for _ in range(2):
        farthest, most = 0, -1.0
        for i in range(m):
            distance = 0.0
            for j in range(d):
                difference = X[i, j] - ends[0, j]
                distance += difference * difference
            # By more than rounding, so that the first of equals wins.
            if distance > most * (1.0 + 1e-12):
                most = distance
                farthest = i
        ends[1] = ends[0]
        ends[0] = X[farthest]
    projections = np.zeros(m)
    for i in range(m):
        for j in range(d):
            projections[i] += (X[i, j] - ends[0, j]) * (ends[1, j] - ends[0, j])
    return order_of(projections)


@kernel
def _append_nearest(X: FloatArray, pool: Pool, order: IntArray, start: int, stop: int) -> None:
    """Fill ``order[start:stop]``, each time with the record of the pool nearest to the one before, which leaves it."""
    for place in range(start, stop):
        brute_force.tidy(pool)
        brute_force.measure_from(pool, X[order[place - 1]])
        position = brute_force.nearest(pool.distances, pool.counts[EXTENT], 1)[0]
        order[place] = pool.records[position]
        brute_force.remove(pool, position)


def nearest_point_next(X: FloatArray) -> IntArray:
    """Return the path from one end of the diameter, the lower index, each time to the nearest record left; O(n²d)."""
    n, d = X.shape
    pool = brute_force.make_pool(X)
    brute_force.measure_from(pool, brute_force.centroid(pool))
    radii = np.sqrt(pool.distances)
    # No distance is more than the sum of both records' distances from the centroid; 1e-9 covers rounding.
    reach = np.square(radii + radii.max()) * (1.0 + 1e-9)
    order = np.empty(n, dtype=np.int64)
    order[0] = brute_force.farthest_pair(X, pool, reach, np.full(n, -1), n + 1)[0]
    brute_force.remove(pool, order[0])
    place = 1
    while place < n:
        checkpoint("ordering the records", place / n)
        stop = min(n, place + brute_force.passes_at_a_time(pool.counts[ALIVE], d))
        _append_nearest(X, pool, order, place, stop)
        place = stop
    return order


def through_groups(X: FloatArray, labels: IntArray) -> IntArray:
    """Return a path through all records of ``X``, shape (n, d), on which each group is contiguous; time O(n²d/k).

    How it is laid is step 2 of :mod:`microagg.algorithms.path_mhm`. A single group stands by index.
    """
    n, d = X.shape
    labels = canonical_labels(labels)
    members, begins = members_by_group(labels, int(labels.max()) + 1)
    if len(begins) == 2:
        return members
    totals = np.column_stack([np.bincount(labels, weights=column) for column in X.T])  # in the order of the records
    centers = totals / np.diff(begins)[:, np.newaxis]
    order = np.empty(n, dtype=np.int64)
    pool = brute_force.make_pool(centers)
    everything = brute_force.make_pool(X)
    brute_force.measure_from(everything, brute_force.centroid(everything))
    group = previous = int(labels[brute_force.farthest(everything)])
    filled = 0
    while filled < n:
        checkpoint("laying a path through the groups", filled / n)
        # As many records as passes over the groups left.
        stop = min(n, filled + brute_force.passes_at_a_time(max(pool.counts[ALIVE], 1), d))
        filled, group, previous = _append_groups(
            X, members, begins, centers, pool, order, filled, stop, group, previous
        )
    return order


@kernel
def _append_groups(
    X: FloatArray, members: IntArray, begins: IntArray, centers: FloatArray, pool: Pool, order: IntArray, filled: int,
    stop: int, group: int, previous: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Append groups to ``order``, ``group`` first, until ``stop`` records or more are on it.

    ``pool`` has the centroids of the other groups. Return how many records are on it, the next group and the last one.
    """
    to_group = np.empty(len(centers))
    while filled < stop:
        brute_force.remove(pool, pool.positions[group])
        group_records = members[begins[group] : begins[group + 1]]
        if pool.counts[ALIVE] > 0:
            brute_force.tidy(pool)
            extent = pool.counts[EXTENT]
            to_group[:extent] = np.inf
            for record in group_records:
                brute_force.measure_from(pool, X[record])
                for position in range(extent):
                    if pool.distances[position] < to_group[position]:
                        to_group[position] = pool.distances[position]
            following = pool.records[np.argmin(to_group[:extent])]
            center, sign = centers[following], -1.0
        else:
            following = group
            center, sign = centers[previous], 1.0
        distances = np.empty(len(group_records))
        for i in range(len(group_records)):
            distances[i] = sign * brute_force.squared_distance(X[group_records[i]], center)
        for rank in brute_force.nearest(distances, len(group_records), len(group_records)):
            order[filled] = group_records[rank]
            filled += 1
        previous = group
        group = following
    return filled, group, previous


# The optimal partition of a few records.


@kernel
def subset_sse(X: FloatArray) -> FloatArray:
    """Return the SSE of every subset of the records ``X``, shape (n, d): bit i of its index stands for record i."""
    n, d = X.shape
    sse = np.zeros(1 << n)
    center = np.empty(d)
    for subset in range(1, 1 << n):
        center[:] = 0.0
        size = 0
        for i in range(n):
            if subset >> i & 1:
                size += 1
                for j in range(d):
                    # A mean that moves by fractions of differences loses nothing to a large common offset.
                    center[j] += (X[i, j] - center[j]) / size
        for i in range(n):
            if subset >> i & 1:
                for j in range(d):
                    difference = X[i, j] - center[j]
                    sse[subset] += difference * difference
    return sse


@kernel
def optimal_partition(X: FloatArray, k: int) -> IntArray:
    """Return the labels of the partition of ``X``, shape (n, d), into groups of at least k with the least SSE.

    best[rest] is the least SSE of the groups formed so far, where ``rest`` is the set of the records left. The next
    group holds the first record left, so that groups come in one order only, and has k to 2k-1 records: a larger one
    could be split without loss. Time O(3^n), memory O(2^n).
    """
    n = len(X)
    sse = subset_sse(X)
    best = np.full(1 << n, np.inf)
    group_before = np.zeros(1 << n, dtype=np.int64)
    best[-1] = 0.0
    for rest in range((1 << n) - 1, 0, -1):
        if np.isinf(best[rest]):
            continue
        first = rest & -rest
        others = rest ^ first
        part = others
        while True:
            group = part | first
            size = 0
            left = group
            while left:
                left &= left - 1
                size += 1
            if k <= size < 2 * k and best[rest] + sse[group] < best[rest ^ group]:
                best[rest ^ group] = best[rest] + sse[group]
                group_before[rest ^ group] = group
            if part == 0:
                break
            part = (part - 1) & others
    labels = np.empty(n, dtype=np.int64)
    rest = number = 0
    while rest != (1 << n) - 1:
        group = group_before[rest]
        for i in range(n):
            if group >> i & 1:
                labels[i] = number
        rest |= group
        number += 1
    return labels
