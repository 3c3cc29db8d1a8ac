"""Records of numeric, ordinal and nominal attributes together: distances of unassigned ones, and exchange among groups.

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
from numpy.typing import NDArray

from microagg.columns.records import KINDS, Records
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import ALIVE, BLOCK, EXTENT, add_exactly, position_of_largest
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


@borrows
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


@borrows
def remove(pool: MixedPool, position: int) -> None:
    """Take the record at ``position`` out of the pool."""
    pool.blanks[position] = np.nan
    pool.sums[position] = np.nan
    pool.positions[pool.records[position]] = -1
    pool.counts[ALIVE] -= 1


@kernel
def point_at(pool: MixedPool, position: int) -> FloatArray:
    """Return the numbers, ranks and nodes of the record at ``position``, shape (d,)."""
    return pool.points[pool.records[position]]


@borrows
def relate(table: FloatArray, heights: FloatArray, parents: IntArray, node: int) -> None:
    """Set ``table`` to the heights of the lowest common ancestors of ``node`` and each node of a taxonomy."""
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


@borrows
def extent(pool: MixedPool | Groups, low: FloatArray, high: FloatArray) -> float:
    """Return the sum of the shares of a set with the extents ``low`` and ``high``, shape (d,)."""
    total = 0.0
    for j in range(len(low)):
        if pool.nominal[j]:
            total += pool.heights[j, int(low[j])]
        elif pool.domains[j] > 0.0:
            total += (high[j] - low[j]) / pool.domains[j]
    return total


@borrows
def measure_from(pool: MixedPool, point: FloatArray) -> None:
    """Set ``pool.sums`` to the distances from ``point`` (numbers, ranks and nodes, shape (d,)), and ``pool.tables``."""
    d = len(pool.domains)
    for j in range(d):
        if pool.nominal[j]:
            relate(pool.tables[j], pool.heights[j], pool.parents[j], int(point[j]))
    extent = pool.counts[EXTENT]
    for start in range(0, extent, BLOCK):
        stop = min(start + BLOCK, extent)
        sums = pool.sums[start:stop]
        for i in range(stop - start):
            sums[i] = pool.blanks[start + i]
        for j in range(d):
            if pool.nominal[j]:
                nodes, table = pool.nodes[j, start:stop], pool.tables[j]
                for i in range(len(sums)):
                    sums[i] += table[nodes[i]]
            elif pool.domains[j] > 0.0:
                numbers, value, domain = pool.numbers[j, start:stop], point[j], pool.domains[j]
                for i in range(len(sums)):
                    sums[i] += abs(numbers[i] - value) / domain


@borrows
def farthest(pool: MixedPool) -> int:
    """Return the position of the largest of ``pool.sums``; -1 if no record is left."""
    return position_of_largest(pool.sums, pool.counts[EXTENT], -1)


# The central record of those that are unassigned: what MDAV begins with where attributes are mixed.

# The positions of kinds of attributes.
_NUMERIC, _ORDINAL = KINDS.index("numeric"), KINDS.index("ordinal")


class Unassigned(NamedTuple):
    """The statistics of the unassigned records that give their central one; made by :func:`make_unassigned`."""

    kinds: IntArray  # shape (d,): the position of each attribute's kind in :data:`microagg.columns.records.KINDS`
    # shape (2, d): the sum of each numeric attribute, and below it what rounding has left of it: see
    # :class:`microagg.kernels.neighbors.brute_force.Pool`
    totals: FloatArray
    frequencies: IntArray  # shape (d, m): how many records have each rank or node
    labels: IntArray  # shape (n,): the group of each record, -1 while unassigned
    number: IntArray  # shape (1,): how many groups there are


def make_unassigned(records: Records) -> Unassigned:
    """Return all of ``records`` as unassigned."""
    kinds = np.array([KINDS.index(attribute.kind) for attribute in records.attributes])
    most = int(records.values[:, kinds != _NUMERIC].max(initial=0)) + 1
    unassigned = Unassigned(
        kinds,
        np.zeros((2, records.d)),
        np.zeros((records.d, most), dtype=np.int64),
        np.full(records.n, -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )
    _count_all(unassigned, np.array(records.values, dtype=np.float64, order="C"))
    return unassigned


@borrows
def _count(unassigned: Unassigned, point: FloatArray, times: int) -> None:
    """Count the record ``point``, shape (d,), in (``times`` = 1) or out (-1)."""
    for j in range(len(point)):
        if unassigned.kinds[j] == _NUMERIC:
            add_exactly(unassigned.totals, j, times * point[j])
        else:
            unassigned.frequencies[j, int(point[j])] += times


@borrows
def _count_all(unassigned: Unassigned, points: FloatArray) -> None:
    for point in points:
        _count(unassigned, point, 1)


@borrows
def _lower_median(frequencies: IntArray, count: int) -> int:
    """Return the lower median of ``count`` ranks, given how often each occurs."""
    rank = 0
    up_to = frequencies[0]
    while up_to <= (count - 1) // 2:
        rank += 1
        up_to += frequencies[rank]
    return rank


@kernel
def central_record(unassigned: Unassigned, count: int) -> FloatArray:
    """Return the central record of the ``count`` unassigned ones, shape (d,)."""
    center = np.empty(len(unassigned.kinds))
    for j in range(len(center)):
        frequencies = unassigned.frequencies[j]
        if unassigned.kinds[j] == _NUMERIC:
            center[j] = (unassigned.totals[0, j] + unassigned.totals[1, j]) / count
        elif unassigned.kinds[j] == _ORDINAL:
            center[j] = _lower_median(frequencies, count)
        else:
            center[j] = np.argmax(frequencies)  # the first of equal ones
    return center


@kernel
def form(unassigned: Unassigned, pool: MixedPool, members: IntArray) -> None:
    """Move the records at the positions ``members`` into a new group."""
    group = unassigned.number[0]
    unassigned.number[0] += 1
    for position in members:
        _count(unassigned, point_at(pool, position), -1)
        unassigned.labels[pool.records[position]] = group
        remove(pool, position)


# The sums, over records of mixed attributes, of the distances to the nearest, the second nearest, … other record.


def own_scratch(pool: MixedPool) -> MixedPool:
    """Return a pool of the same records that another thread can measure in."""
    return pool._replace(sums=np.empty_like(pool.sums), tables=np.empty_like(pool.tables))


@borrows
def _enter(nearest: FloatArray, distance: float) -> None:
    """Put a distance below the last of ``nearest``, ascending, in its place; the last one drops out."""
    i = len(nearest) - 1
    while i > 0 and nearest[i - 1] > distance:
        nearest[i] = nearest[i - 1]
        i -= 1
    nearest[i] = distance


@kernel
def sums_of_nearest(pool: MixedPool, most: int, start: int, stop: int) -> FloatArray:
    """Return the sums over the records from ``start`` to ``stop`` of the distances to the 1st to ``most``-th nearest.

    No record has left the pool, which has more than ``most``.
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


# Exchange among groups: for each record in turn, the best of these changes is made if it gains more than rounding makes
# of nothing: it moves to another group, if its own keeps at least k records; or it is exchanged for a record of one of
# the ``WIDTH`` groups whose extent, widened by it, is the least. Ties go to moves, then to the lower number.
#
# Total-IL is the sum over the groups of size times extent, see :mod:`microagg.metrics.generalization`. What a group
# spans without each of its records is kept: most are at no end of a range, and nothing is gained by taking them out. An
# exchange gains at most what taking both records out would, so few are computed. For a record that is O(g·d + WIDTH·s)
# operations, g being the number and s the size of the groups, and O(WIDTH·s·d) for the few that are at an end.

#: With the records of so many groups a record may be exchanged.
WIDTH = 8

# A change must gain this share of what the two groups lose; less than the second may be rounding.
_LEAST_GAIN, _SLACK = 1e-9, 1e-12


class Groups(NamedTuple):
    """Records in groups; made by :func:`make_groups`."""

    points: FloatArray  # shape (n, d): numbers, ranks and nodes
    nominal: NDArray[np.bool_]  # shape (d,)
    domains: FloatArray  # shape (d,)
    parents: IntArray  # shape (d, m): see :attr:`microagg.columns.records.Records.trees`
    heights: FloatArray  # shape (d, m): likewise
    labels: IntArray  # shape (n,): the group of each record
    sizes: IntArray  # shape (g,)
    first: IntArray  # shape (g,): a record of each group
    following: IntArray  # shape (n,): the record of the same group after each, -1 after the last
    low: FloatArray  # shape (g, d): the smallest number or rank, or the node of the lowest common ancestor
    high: FloatArray  # shape (g, d): the largest, or the same node
    extents: FloatArray  # shape (g,): the sum of the shares


def make_groups(records: Records, labels: IntArray) -> Groups:
    """Return ``records`` in the groups ``labels``, shape (n,), numbered from 0 without a gap."""
    parents, heights = records.trees
    n, d, g = records.n, records.d, int(labels.max()) + 1
    groups = Groups(
        np.array(records.values, dtype=np.float64, order="C"),
        records.nominal.copy(),
        records.domains.copy(),
        parents.copy(),
        heights.copy(),
        np.array(labels, dtype=np.int64),
        np.bincount(labels, minlength=g).astype(np.int64),
        np.full(g, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.empty((g, d)),
        np.empty((g, d)),
        np.empty(g),
    )
    fill(groups)
    return groups


class Rests(NamedTuple):
    """What the group of each record spans without it; of no meaning for a record that is alone."""

    low: FloatArray  # shape (n, d), as in :class:`Groups`
    high: FloatArray  # shape (n, d)
    extents: FloatArray  # shape (n,)


@kernel
def fill(groups: Groups) -> None:
    """Link the records of each group, and compute what it spans."""
    for x in range(len(groups.labels) - 1, -1, -1):
        group = groups.labels[x]
        groups.following[x] = groups.first[group]
        groups.first[group] = x
    for group in range(len(groups.sizes)):
        renew(groups, group)


@borrows
def renew(groups: Groups, group: int) -> None:
    """Compute the extents of a group whose records have changed."""
    low, high = groups.low[group], groups.high[group]
    y = groups.first[group]
    copy_to(low, groups.points[y])
    copy_to(high, groups.points[y])
    while y >= 0:
        widen(groups, low, high, y)
        y = groups.following[y]
    groups.extents[group] = extent(groups, low, high)


@borrows
def _common(groups: Groups | MixedPool, j: int, one: int, other: int) -> int:
    """Return the lowest common ancestor of two nodes of attribute ``j``."""
    # A parent comes before its children: the higher number of two different nodes is no ancestor of the other.
    while one != other:
        if one > other:
            one = groups.parents[j, one]
        else:
            other = groups.parents[j, other]
    return one


@borrows
def widen(groups: Groups | MixedPool, low: FloatArray, high: FloatArray, x: int) -> None:
    """Widen the extents ``low`` and ``high``, shape (d,), by record ``x``."""
    for j in range(len(low)):
        value = groups.points[x, j]
        if groups.nominal[j]:
            low[j] = high[j] = _common(groups, j, int(low[j]), int(value))
        else:
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)


@borrows
def extent_with(groups: Groups | MixedPool, low: FloatArray, high: FloatArray, x: int) -> float:
    """Return the sum of the shares of a set with these extents, shape (d,), and record ``x``."""
    total = 0.0
    for j in range(len(low)):
        value = groups.points[x, j]
        if groups.nominal[j]:
            total += groups.heights[j, _common(groups, j, int(low[j]), int(value))]
        elif groups.domains[j] > 0.0:
            total += (max(high[j], value) - min(low[j], value)) / groups.domains[j]
    return total


@borrows
def widen_each(groups: Groups, lows: FloatArray, highs: FloatArray, x: int, table: FloatArray, out: FloatArray) -> None:
    """Write :func:`extent_with` of each group and record ``x`` to ``out``; ``lows``, ``highs`` have a column per group.

    The compiler makes vectors of loops over groups; ``table`` is work space.
    """
    for group in range(len(out)):
        out[group] = 0.0
    for j in range(len(lows)):
        value, low, high, domain = groups.points[x, j], lows[j], highs[j], groups.domains[j]
        if groups.nominal[j] and len(out) > len(table):
            relate(table, groups.heights[j], groups.parents[j], int(value))
            for group in range(len(out)):
                out[group] += table[np.uint32(low[group])]
        elif groups.nominal[j]:
            for group in range(len(out)):
                out[group] += groups.heights[j, _common(groups, j, int(low[group]), int(value))]
        elif domain > 0.0:
            for group in range(len(out)):
                out[group] += (max(high[group], value) - min(low[group], value)) / domain


@borrows
def copy_to(target: FloatArray | IntArray, values: FloatArray | IntArray) -> None:
    """Copy ``values``: in a loop, as numba compiles the text of an error for the assignment of an array."""
    for j in range(len(target)):
        target[j] = values[j]


@kernel
def leave_each_out(groups: Groups, group: int, rests: Rests) -> None:
    """Compute what a group of several records spans without each of them."""
    members = np.empty(groups.sizes[group], dtype=np.int64)
    y = groups.first[group]
    for i in range(len(members)):
        members[i] = y
        y = groups.following[y]
    # What the records before each span, joined with what those after it span.
    low, high = groups.points[members[0]].copy(), groups.points[members[0]].copy()
    for y in members[1:]:
        copy_to(rests.low[y], low)
        copy_to(rests.high[y], high)
        widen(groups, low, high, y)
    copy_to(low, groups.points[members[-1]])
    copy_to(high, low)
    for y in members[-2::-1]:
        if y == members[0]:
            copy_to(rests.low[y], low)
            copy_to(rests.high[y], high)
        for j in range(len(low)):
            if groups.nominal[j]:
                node = _common(groups, j, int(rests.low[y, j]), int(low[j]))
                rests.low[y, j] = rests.high[y, j] = node
            else:
                rests.low[y, j] = min(rests.low[y, j], low[j])
                rests.high[y, j] = max(rests.high[y, j], high[j])
        widen(groups, low, high, y)
    for y in members:
        rests.extents[y] = extent(groups, rests.low[y], rests.high[y])


@borrows
def transfer(groups: Groups, x: int, group: int) -> None:
    """Move record ``x`` to ``group``; extents are not updated."""
    old_group = groups.labels[x]
    if groups.first[old_group] == x:
        groups.first[old_group] = groups.following[x]
    else:
        y = groups.first[old_group]
        while groups.following[y] != x:
            y = groups.following[y]
        groups.following[y] = groups.following[x]
    groups.following[x] = groups.first[group]
    groups.first[group] = x
    groups.sizes[old_group] -= 1
    groups.sizes[group] += 1
    groups.labels[x] = group


@kernel
def improve(groups: Groups, k: int, start: int, stop: int, width: int) -> int:
    """Make the best change of each record start <= x < stop; return the number of changes."""
    n, d = groups.points.shape
    g = len(groups.sizes)
    lows, highs, table = groups.low.T.copy(), groups.high.T.copy(), np.empty(groups.heights.shape[1])
    widened, near, nearest = np.empty(g), np.empty(width, dtype=np.int64), np.empty(width)
    rests = Rests(np.empty((n, d)), np.empty((n, d)), np.empty(n))
    for group in range(g):
        if groups.sizes[group] > 1:
            leave_each_out(groups, group, rests)
    changes = 0
    for x in range(start, stop):
        group_of_x = groups.labels[x]
        size = groups.sizes[group_of_x]
        if size < 2 or groups.extents[group_of_x] == 0.0:
            continue  # alone, or in a group without loss: other records try exchanges with x
        loss, freed = size * groups.extents[group_of_x], size * (groups.extents[group_of_x] - rests.extents[x])
        best, target, partner = 0.0, -1, -1
        widen_each(groups, lows, highs, x, table, widened)
        widened[group_of_x] = np.inf
        for group in range(g if size > k else 0):
            before = groups.sizes[group] * groups.extents[group]
            gain = loss + before - (size - 1) * rests.extents[x] - (groups.sizes[group] + 1) * widened[group]
            if gain > best and gain > _LEAST_GAIN * (loss + before):
                best, target, partner = gain, group, -1
        # The groups that x would widen least, ascending.
        nearest[:] = np.inf
        for group in range(g):
            if widened[group] < nearest[width - 1]:
                i = width - 1
                while i > 0 and widened[group] < nearest[i - 1]:
                    near[i], nearest[i] = near[i - 1], nearest[i - 1]
                    i -= 1
                near[i], nearest[i] = group, widened[group]
        for group in near[: min(width, g - 1)]:
            other = groups.sizes[group]
            if other < 2:
                continue
            before = other * groups.extents[group]
            slack = _SLACK * (loss + before)
            y = groups.first[group]
            while y >= 0:
                # Upper bound: the gain of both groups if the record that joins widens neither.
                if freed + other * (groups.extents[group] - rests.extents[y]) > max(slack, best - slack):
                    gain = loss + before - size * extent_with(groups, rests.low[x], rests.high[x], y)
                    # The loss of the other group is not negative: often it need not be computed.
                    if gain > best:
                        gain -= other * extent_with(groups, rests.low[y], rests.high[y], x)
                        if gain > best and gain > _LEAST_GAIN * (loss + before):
                            best, target, partner = gain, group, y
                y = groups.following[y]
        if target >= 0:
            transfer(groups, x, target)
            if partner >= 0:
                transfer(groups, partner, group_of_x)
            for group in (group_of_x, target):
                renew(groups, group)
                copy_to(lows[:, group], groups.low[group])
                copy_to(highs[:, group], groups.high[group])
                if groups.sizes[group] > 1:
                    leave_each_out(groups, group, rests)
            changes += 1
    return changes
