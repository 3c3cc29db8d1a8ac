"""The unassigned records, and what is nearest and farthest among them, by a pass over them all.

A pool holds its records column by column, so that a pass over one attribute is contiguous. A record that leaves is only
blanked: its first attribute becomes NaN, so every distance to it is NaN and loses each comparison. Now and then
:func:`tidy` closes the gaps. Records keep their order throughout, so the lowest position is the lowest record index,
which is how all ties are broken. A pass takes time O(nd); for many records see :mod:`.kd_tree`.

Distances are squared Euclidean, their terms added attribute by attribute in order: the same two records have bitwise
the same distance in every kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.validation import FloatArray, IntArray

# Positions of Pool.counts.
EXTENT = 0  # positions in use, blanked ones included
ALIVE = 1  # records still unassigned

# Records handled at a time, so that their partial distances stay in the first-level cache.
BLOCK = 1024

# Terms of squared distances added between two checkpoints: some tenths of a second.
TERMS_AT_A_TIME = 200_000_000


class Pool(NamedTuple):
    """Unassigned records; made by :func:`make_pool`."""

    columns: FloatArray  # shape (d, n): one row per attribute, one position per record
    records: IntArray  # shape (n,): the record index at each position, ascending
    positions: IntArray  # shape (n,): the position of each record index, -1 once it has left
    distances: FloatArray  # shape (n,): squared distances from the point that was measured from last, by position
    # shape (2, d): the coordinate sums of the unassigned records, and below each the error that rounding has left in
    # it: together so exact that they do not depend on the order in which records left
    totals: FloatArray
    counts: IntArray  # shape (2,): see EXTENT and ALIVE


@borrows
def add_exactly(totals: FloatArray, j: int, value: float) -> None:
    """Add ``value`` to sum j, and what rounding loses to its error (Knuth's TwoSum, then renormalized)."""
    high = totals[0, j]
    rough = high + value
    added = rough - high
    lost = (high - (rough - added)) + (value - added) + totals[1, j]
    totals[0, j] = rough + lost
    totals[1, j] = lost - (totals[0, j] - rough)


def make_pool(X: FloatArray) -> Pool:
    """Return a pool of all records of ``X``, shape (n, d)."""
    return pool_of(X, np.arange(len(X)))


@kernel
def pool_of(X: FloatArray, records: IntArray) -> Pool:
    """Return a pool of some ``records``, ascending, of ``X``, shape (n, d)."""
    n, d = len(records), X.shape[1]
    columns = np.empty((d, n))
    totals = np.zeros((2, d))
    positions = np.full(len(X), -1, dtype=np.int64)
    for i in range(n):
        positions[records[i]] = i
        for j in range(d):
            columns[j, i] = X[records[i], j]
            add_exactly(totals, j, columns[j, i])
    counts = np.full(2, n, dtype=np.int64)
    return Pool(columns, records.copy(), positions, np.empty(n), totals, counts)


@borrows
def tidy(pool: Pool) -> None:
    """Close the gaps if at least an eighth of the positions are blanked; positions change, ``distances`` are lost."""
    extent, alive = pool.counts[EXTENT], pool.counts[ALIVE]
    if 8 * (extent - alive) < extent:
        return
    d = len(pool.columns)
    to = 0
    for position in range(extent):
        if np.isnan(pool.columns[0, position]):
            continue
        if to != position:
            for j in range(d):
                pool.columns[j, to] = pool.columns[j, position]
            pool.records[to] = pool.records[position]
            pool.positions[pool.records[to]] = to
        to += 1
    pool.counts[EXTENT] = alive


@borrows
def remove(pool: Pool, position: int) -> None:
    """Take the record at ``position`` out of the pool."""
    for j in range(len(pool.columns)):
        add_exactly(pool.totals, j, -pool.columns[j, position])
    pool.columns[0, position] = np.nan
    pool.distances[position] = np.nan
    pool.positions[pool.records[position]] = -1
    pool.counts[ALIVE] -= 1


@kernel
def centroid(pool: Pool) -> FloatArray:
    """Return the centroid of the unassigned records, shape (d,): their sums, correctly rounded, over their number."""
    center = np.empty(len(pool.columns))
    for j in range(len(center)):
        center[j] = (pool.totals[0, j] + pool.totals[1, j]) / pool.counts[ALIVE]
    return center


@kernel
def point_at(pool: Pool, position: int) -> FloatArray:
    """Return the attributes of the record at ``position``, shape (d,)."""
    point = np.empty(len(pool.columns))
    for j in range(len(point)):
        point[j] = pool.columns[j, position]
    return point


def passes_at_a_time(n: int, d: int) -> int:
    """Return how many passes over ``n`` records with ``d`` attributes are made between two checkpoints."""
    return max(1, TERMS_AT_A_TIME // (n * d))


@borrows
def squared_distance(one: FloatArray, other: FloatArray) -> float:
    """Return the squared distance of two points, shape (d,)."""
    distance = 0.0
    for j in range(len(one)):
        difference = one[j] - other[j]
        distance += difference * difference
    return distance


@borrows
def squared_distance_of_rows(X: FloatArray, i: int, Y: FloatArray, j: int) -> float:
    """Return the squared distance between row ``i`` of ``X`` and row ``j`` of ``Y``."""
    distance = 0.0
    for column in range(X.shape[1]):
        difference = X[i, column] - Y[j, column]
        distance += difference * difference
    return distance


def squared_lengths(differences: FloatArray) -> FloatArray:
    """Return the squared length of each row, the squared distance if it is the difference of two points."""
    total = np.zeros(len(differences))
    for column in differences.T:
        total += column * column
    return total


@borrows
def squared_distances(columns: FloatArray, start: int, stop: int, point: FloatArray, out: FloatArray) -> None:
    """Write the squared distances of ``columns[:, start:stop]`` (columns: shape (d, n)) to ``point`` into ``out``."""
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        block = out[low:high]
        block[:] = 0.0
        for j in range(len(columns)):
            column = columns[j, low:high]
            value = point[j]
            for i in range(len(block)):
                difference = column[i] - value
                block[i] += difference * difference


@borrows
def measure_from(pool: Pool, point: FloatArray) -> None:
    """Set ``pool.distances`` to the squared distances from ``point``, shape (d,)."""
    squared_distances(pool.columns, 0, pool.counts[EXTENT], point, pool.distances)


@borrows
def farthest(pool: Pool, excluded: int = -1) -> int:
    """Return the position of the largest of ``pool.distances`` except at ``excluded``; -1 if there is no other."""
    return position_of_largest(pool.distances, pool.counts[EXTENT], excluded)


@borrows
def position_of_largest(values: FloatArray, stop: int, excluded: int) -> int:
    """Return the first position of the largest of ``values[:stop]``, none negative, but ``excluded`` and NaN; or -1."""
    best = -1
    largest = -1.0
    for position in range(stop):
        if values[position] > largest and position != excluded:
            largest = values[position]
            best = position
    return best


def farthest_from_mean_first(pool: Pool) -> IntArray:
    """Return all records, the farthest from their centroid first, ties by index; sets ``pool.distances``."""
    measure_from(pool, centroid(pool))
    # A stable sort keeps the order of the records among equals.
    return np.argsort(-pool.distances, kind="stable")


@kernel
def nearest(values: FloatArray, stop: int, count: int) -> IntArray:
    """Positions of the ``count`` smallest of ``values[:stop]``, or all, by (value, position); NaN is skipped."""
    nearest_positions = np.empty(count, dtype=np.int64)
    ranked = np.empty(count)
    filled = 0
    for position in range(stop):
        value = values[position]
        if filled < count:
            if np.isnan(value):
                continue
            filled += 1
        elif count == 0 or not value < ranked[count - 1]:
            continue
        slot = filled - 1
        while slot > 0 and ranked[slot - 1] > value:
            ranked[slot] = ranked[slot - 1]
            nearest_positions[slot] = nearest_positions[slot - 1]
            slot -= 1
        ranked[slot] = value
        nearest_positions[slot] = position
    return nearest_positions[:filled]


@kernel
def order_of(values: FloatArray) -> IntArray:
    """Return the positions by ascending ``values``, ties by position: by Shell's sort, which compiles soon."""
    order = np.arange(len(values))
    gap = 1
    while gap < len(order):
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for i in range(gap, len(order)):
            moved = order[i]
            place = i
            while place >= gap:
                other = order[place - gap]
                if values[other] < values[moved] or (values[other] == values[moved] and other < moved):
                    break
                order[place] = other
                place -= gap
            order[place] = moved
    return order


@borrows
def sort_few(values: FloatArray | IntArray) -> None:
    """Sort ``values`` in place, by insertion: for few of them; what numpy does takes a second to compile."""
    for i in range(1, len(values)):
        value, place = values[i], i
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@borrows
def position_of_least(values: FloatArray, stop: int) -> int:
    """Return the first position of the smallest of ``values[:stop]``; NaN is skipped; -1 if there is no other value."""
    best = -1
    least = np.inf
    for position in range(stop):
        value = values[position]
        if value < least or (best < 0 and not np.isnan(value)):
            least = value
            best = position
    return best


@kernel
def members_around(pool: Pool, seed: int, k: int) -> IntArray:
    """Return the positions of ``seed`` and its k-1 nearest records, nearest first; sets ``pool.distances`` from it."""
    measure_from(pool, point_at(pool, seed))
    return nearest_to_seed(pool, seed, k)


@kernel
def nearest_to_seed(pool: Pool, seed: int, k: int) -> IntArray:
    """Like :func:`members_around`, but ``pool.distances`` must already be the distances from ``seed``."""
    seed_distance = pool.distances[seed]
    pool.distances[seed] = np.nan
    members = np.empty(k, dtype=np.int64)
    members[0] = seed
    others = nearest(pool.distances, pool.counts[EXTENT], k - 1)
    for i in range(k - 1):
        members[i + 1] = others[i]
    pool.distances[seed] = seed_distance
    return members


# The two unassigned records farthest apart, for MD, M-d and others. Each record keeps the distance to the farthest that
# it knew, its reach: an upper bound, as records only leave. Only those of the largest reach are measured again. Time
# O(n²d) for the first distances and O(nd) for each one measured again.


@borrows
def farthest_pair(X: FloatArray, pool: Pool, reach: FloatArray, partner: IntArray, most: int) -> tuple[int, int, int]:
    """Return the two unassigned records farthest apart, lower index first, and how many records were measured.

    ``reach`` are squared, upper bounds at first, -1 for records that have left; ``partner`` are the records that far
    away, -1 at first. Once ``most`` records were measured, it returns -1 for both.
    """
    for measured in range(most):
        # Of equal bounds the one of the lowest index is taken, and measured, first.
        record = np.argmax(reach)
        if partner[record] >= 0 and pool.positions[partner[record]] >= 0:
            return record, partner[record], measured
        measure_from(pool, X[record])
        position = farthest(pool, pool.positions[record])
        partner[record] = pool.records[position]
        reach[record] = pool.distances[position]
    return -1, -1, most
