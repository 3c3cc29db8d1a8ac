"""Unassigned records of numeric, ordinal and nominal attributes together, and their distances from a record.

The extents of a set of records are, for each attribute, its smallest and its largest number or rank, or the node of
the lowest common ancestor of its categories. An attribute's share is the size of that range over that of the domain, or
the height of that node over that of the taxonomy. The distance of two records is the sum of the shares of the two as a
set (Byun, Kamra, Bertino & Li, Definitions 2 to 5), so one kernel serves distances and the loss of generalized groups.

Shares are differences of raw values over the domain, added attribute by attribute in order: equal records have bitwise
equal sums in every kernel, and wider extents never have a smaller sum. An attribute whose domain is 0 adds nothing.

As in :mod:`microagg.kernels.neighbors.brute_force` values are held column by column, a record that leaves is only
blanked, and records keep their order, so that the lowest position is the lowest record index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.kernels.neighbors.brute_force import ALIVE, BLOCK, EXTENT, position_of_largest
from microagg.validation import FloatArray, IntArray

NodeArray = NDArray[np.uint32]

# Shares added between two checkpoints: some tenths of a second.
TERMS_AT_A_TIME = 100_000_000


class MixedPool(NamedTuple):
    """Unassigned records; made by :func:`make_pool`."""

    points: FloatArray  # shape (n, d): the numbers, ranks and nodes of each record, by record index
    # shape (d, n): one row per attribute, one position per record: its number or rank; 0 for a nominal attribute
    numbers: FloatArray
    # shape (d, n): the node of the taxonomy; 0 for other attributes. Unsigned, as negative ones would cost a check
    nodes: NodeArray
    blanks: FloatArray  # shape (n,): 0 at each position, NaN once its record has left: sums start from it
    records: IntArray  # shape (n,): the record index at each position, ascending
    positions: IntArray  # shape (n,): the position of each record index, -1 once it has left
    # shape (n,): the sums of shares from the point that was measured from last, by position; NaN for blanked records
    sums: FloatArray
    # shape (d, m): the share that each node has together with the node that :func:`relate` was asked for last
    tables: FloatArray
    nominal: NDArray[np.bool_]  # shape (d,)
    domains: FloatArray  # shape (d,)
    parents: IntArray  # shape (d, m): see :attr:`microagg.columns.records.Records.trees`
    heights: FloatArray  # shape (d, m): likewise
    counts: IntArray  # shape (2,): see EXTENT and ALIVE in :mod:`microagg.kernels.neighbors.brute_force`


def make_pool(records: Records) -> MixedPool:
    """Return a pool of all of ``records``."""
    n = records.n
    parents, heights = records.trees
    columns = records.values.T
    nominal = records.nominal[:, np.newaxis]
    # Arrays of its own, which can be written: to a kernel a read-only array is another type.
    return MixedPool(
        np.array(records.values, dtype=np.float64, order="C"),
        np.ascontiguousarray(np.where(nominal, 0.0, columns)),
        np.ascontiguousarray(np.where(nominal, columns, 0.0).astype(np.uint32)),
        np.zeros(n),
        np.arange(n),
        np.arange(n),
        np.empty(n),
        np.zeros(heights.shape),
        records.nominal.copy(),
        records.domains.copy(),
        parents.copy(),
        heights.copy(),
        np.full(2, n, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def tidy(pool: MixedPool) -> None:
    """Close the gaps if at least an eighth of the positions are blanked; positions change, ``sums`` move along."""
    extent, alive = pool.counts[EXTENT], pool.counts[ALIVE]
    if 8 * (extent - alive) < extent:
        return
    d = len(pool.numbers)
    to = 0
    for position in range(extent):
        if np.isnan(pool.blanks[position]):
            continue
        if to != position:
            for j in range(d):
                pool.numbers[j, to] = pool.numbers[j, position]
                pool.nodes[j, to] = pool.nodes[j, position]
            pool.blanks[to] = 0.0
            pool.sums[to] = pool.sums[position]
            pool.records[to] = pool.records[position]
            pool.positions[pool.records[to]] = to
        to += 1
    pool.counts[EXTENT] = alive


@njit(cache=True, nogil=True)
def remove(pool: MixedPool, position: int) -> None:
    """Take the record at ``position`` out of the pool."""
    pool.blanks[position] = np.nan
    pool.sums[position] = np.nan
    pool.positions[pool.records[position]] = -1
    pool.counts[ALIVE] -= 1


@njit(cache=True, nogil=True)
def point_at(pool: MixedPool, position: int) -> FloatArray:
    """Return the numbers, ranks and nodes of the record at ``position``, shape (d,)."""
    return pool.points[pool.records[position]]


@njit(cache=True, nogil=True)
def relate(pool: MixedPool, j: int, node: int) -> None:
    """Set ``pool.tables[j]`` to the heights of the lowest common ancestors of ``node`` and each node."""
    table, heights, parents = pool.tables[j], pool.heights[j], pool.parents[j]
    table[:] = -1.0
    while node >= 0:
        table[node] = heights[node]
        node = parents[node]
    # Parents come before their children; what follows the tree is padding, without a parent.
    for node in range(1, len(table)):
        if parents[node] < 0:
            break
        if table[node] < 0.0:
            table[node] = table[parents[node]]


@njit(cache=True, nogil=True)
def ancestor_of_height(pool: MixedPool, j: int, node: int, height: float) -> int:
    """Return ``node``, or the node above it, that has ``height``."""
    while pool.heights[j, node] < height:
        node = pool.parents[j, node]
    return node


@njit(cache=True, nogil=True)
def _add_ranges(sums: FloatArray, column: FloatArray, low: float, high: float, domain: float) -> None:
    for i in range(len(sums)):
        value = column[i]
        top = value if value > high else high
        bottom = value if value < low else low
        sums[i] += (top - bottom) / domain


@njit(cache=True, nogil=True)
def _add_heights(sums: FloatArray, nodes: NodeArray, table: FloatArray) -> None:
    for i in range(len(sums)):
        sums[i] += table[nodes[i]]


@njit(cache=True, nogil=True)
def measure_from(pool: MixedPool, point: FloatArray) -> None:
    """Set ``pool.sums`` to the distances from ``point`` (numbers, ranks and nodes, shape (d,)), and ``pool.tables``."""
    d = len(pool.domains)
    for j in range(d):
        if pool.nominal[j]:
            relate(pool, j, int(point[j]))
    extent = pool.counts[EXTENT]
    for start in range(0, extent, BLOCK):
        stop = min(start + BLOCK, extent)
        sums = pool.sums[start:stop]
        for i in range(stop - start):
            sums[i] = pool.blanks[start + i]
        for j in range(d):
            if pool.nominal[j]:
                _add_heights(sums, pool.nodes[j, start:stop], pool.tables[j])
            elif pool.domains[j] > 0.0:
                _add_ranges(sums, pool.numbers[j, start:stop], point[j], point[j], pool.domains[j])


@njit(cache=True, nogil=True)
def farthest(pool: MixedPool, excluded: int = -1) -> int:
    """Return the position of the largest of ``pool.sums`` except at ``excluded``; -1 if there is no other."""
    return position_of_largest(pool.sums, pool.counts[EXTENT], excluded)


# The sums, over records of mixed attributes, of the distances to the nearest, the second nearest, … other record.


def own_scratch(pool: MixedPool) -> MixedPool:
    """Return a pool of the same records that another thread can measure in."""
    return pool._replace(sums=np.empty_like(pool.sums), tables=np.empty_like(pool.tables))


@njit(cache=True, nogil=True)
def _enter(nearest: FloatArray, distance: float) -> None:
    """Put a distance below the last of ``nearest``, ascending, in its place; the last one drops out."""
    i = len(nearest) - 1
    while i > 0 and nearest[i - 1] > distance:
        nearest[i] = nearest[i - 1]
        i -= 1
    nearest[i] = distance


@njit(cache=True, nogil=True)
def sums_of_nearest(pool: MixedPool, most: int, start: int, stop: int) -> FloatArray:
    """Return the sums over the records from ``start`` to before ``stop``, shape (most,).

    The first is that of the distances to the nearest other record, the last that to the ``most``-th nearest; ``most``
    is at least 1 and less than the number of records. No record has left the pool.
    """
    total = np.zeros(most)
    nearest = np.empty(most)
    for record in range(start, stop):
        measure_from(pool, pool.points[record])
        pool.sums[record] = np.inf
        nearest[:] = np.inf
        for distance in pool.sums:
            if distance < nearest[-1]:
                _enter(nearest, distance)
        total += nearest
    return total
