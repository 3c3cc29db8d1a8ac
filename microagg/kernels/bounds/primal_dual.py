"""Steps of a first-order method for the linear program of clique partitioning, and which rows it still lacks.

What the program is, is said in :mod:`microagg.metrics.clique_partitioning`. Its columns are the n records and then
pairs of records, its rows the n records, one for the number of groups, and then stars; all its entries are 1, -1 or 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.bounds.boxes import BLOCK, Blocks
from microagg.validation import FloatArray, IntArray

#: How far a reduced cost may be off, relative to the sum of the sizes of its terms: far more than rounding amounts to.
ROUNDING = 1e-12


class Lines(NamedTuple):
    """The rows or the columns of a matrix: line i has 1 at indices[starts[i] : middles[i]], and -1 from there on.

    Attributes
    ----------
    starts : array of int, shape (m + 1,)
    middles : array of int, shape (m,)
    indices : array of int32, shape (starts[m],)
    """

    starts: IntArray
    middles: IntArray
    indices: IntArray


class Graph(NamedTuple):
    """The pairs of the program; made by :func:`make_graph`.

    Attributes
    ----------
    keys : array of int, shape (p,)
        first · n + second of each pair, first < second, ascending.
    firsts : array of int, shape (n + 1,)
        The pairs with first i are those from firsts[i] to firsts[i + 1].
    starts : array of int, shape (n + 1,)
    partners, pairs : arrays of int, shape (2p,)
        Record i is in pairs[starts[i] : starts[i + 1]], with these partners.
    """

    keys: IntArray
    firsts: IntArray
    starts: IntArray
    partners: IntArray
    pairs: IntArray


@njit(cache=True, nogil=True)
def make_graph(keys: IntArray, n: int) -> Graph:
    """Return the pairs with these keys, ascending, of n records."""
    p = len(keys)
    firsts, starts = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    for key in keys:
        firsts[key // n + 1] += 1
        starts[key // n + 1] += 1
        starts[key % n + 1] += 1
    firsts, starts = np.cumsum(firsts), np.cumsum(starts)
    partners, pairs = np.empty(2 * p, dtype=np.int64), np.empty(2 * p, dtype=np.int64)
    ends = starts[:-1].copy()
    for pair in range(p):
        i, j = keys[pair] // n, keys[pair] % n
        partners[ends[i]], pairs[ends[i]] = j, pair
        partners[ends[j]], pairs[ends[j]] = i, pair
        ends[i] += 1
        ends[j] += 1
    return Graph(keys, firsts, starts, partners, pairs)


@njit(cache=True, nogil=True)
def _column_of(graph: Graph, i: int, j: int) -> int:
    """Return the column of a pair, which must be there."""
    n = len(graph.firsts) - 1
    first, second = min(i, j), max(i, j)
    low, high = graph.firsts[first], graph.firsts[first + 1]
    return n + low + np.searchsorted(graph.keys[low:high], first * n + second)


@njit(cache=True, nogil=True)
def make_rows(graph: Graph, stars: IntArray) -> Lines:
    """Return the rows of the program; all pairs of the ``stars``, see :func:`violated_stars`, must be in the graph."""
    n, m = len(graph.starts) - 1, len(stars)
    starts, middles = np.zeros(n + 2 + m, dtype=np.int64), np.empty(n + 1 + m, dtype=np.int64)
    for i in range(n):
        middles[i] = starts[i] + 1 + graph.starts[i + 1] - graph.starts[i]
        starts[i + 1] = middles[i]
    middles[n] = starts[n] + n
    starts[n + 1] = middles[n]
    for at in range(m):
        arms = 0
        for member in stars[at, 1:]:
            arms += member >= 0
        row = n + 1 + at
        middles[row] = starts[row] + arms
        starts[row + 1] = middles[row] + 1 + arms * (arms - 1) // 2
    indices = np.empty(starts[n + 1 + m], dtype=np.int32)
    for i in range(n):
        indices[starts[n] + i] = i
        indices[starts[i]] = i
        indices[starts[i] + 1 : middles[i]] = n + graph.pairs[graph.starts[i] : graph.starts[i + 1]]
    for at in range(m):
        row = n + 1 + at
        center = stars[at, 0]
        behind = middles[row]
        indices[behind] = center
        for a in range(middles[row] - starts[row]):
            indices[starts[row] + a] = _column_of(graph, center, stars[at, a + 1])
            for b in range(a):
                behind += 1
                indices[behind] = _column_of(graph, stars[at, b + 1], stars[at, a + 1])
    return Lines(starts, middles, indices)


@njit(cache=True, nogil=True)
def turn(lines: Lines, count: int) -> Lines:
    """Return the other lines of the same matrix: its ``count`` columns for its rows."""
    above, below = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for i in range(len(lines.middles)):
        for column in lines.indices[lines.starts[i] : lines.middles[i]]:
            above[column] += 1
        for column in lines.indices[lines.middles[i] : lines.starts[i + 1]]:
            below[column] += 1
    starts = np.zeros(count + 1, dtype=np.int64)
    starts[1:] = np.cumsum(above + below)
    middles = starts[:-1] + above
    indices = np.empty(starts[count], dtype=np.int32)
    above[:], below[:] = starts[:-1], middles
    for i in range(len(lines.middles)):
        for column in lines.indices[lines.starts[i] : lines.middles[i]]:
            indices[above[column]] = i
            above[column] += 1
        for column in lines.indices[lines.middles[i] : lines.starts[i + 1]]:
            indices[below[column]] = i
            below[column] += 1
    return Lines(starts, middles, indices)


@njit(cache=True, nogil=True)
def _times(lines: Lines, line: int, values: FloatArray) -> float:
    """Return the product of a line and a vector."""
    total = 0.0
    for at in range(lines.starts[line], lines.middles[line]):
        total += values[lines.indices[at]]
    for at in range(lines.middles[line], lines.starts[line + 1]):
        total -= values[lines.indices[at]]
    return total


@njit(cache=True, nogil=True)
def stretch(rows: Lines, columns: Lines, vector: FloatArray) -> float:
    """Do a step of power iteration on ``vector``; return how far the matrix, scaled as the steps are, stretches it."""
    image = np.empty(len(rows.middles))
    for i in range(len(image)):
        image[i] = _times(rows, i, vector) / (rows.starts[i + 1] - rows.starts[i])
    before, after = 0.0, 0.0
    for j in range(len(vector)):
        degree = columns.starts[j + 1] - columns.starts[j]
        before += vector[j] * vector[j] * degree
        vector[j] = _times(columns, j, image) / degree
        after += vector[j] * vector[j] * degree
    vector /= np.sqrt(after)
    return (after / before) ** 0.25


@njit(cache=True, nogil=True)
def step_columns(
    columns: Lines, costs: FloatArray, low: FloatArray, step: float, share: float, prices: FloatArray,
    beyond: FloatArray, x: FloatArray, anchor: FloatArray, moved: FloatArray, first: int, last: int,
) -> float:  # fmt: skip
    """Move the columns first <= j < last against their reduced costs; return the square of the way gone.

    ``moved`` receives where that leads, ``beyond`` what lies as far again behind it, and ``x`` what lies between that
    and the ``anchor``, at ``share``.
    """
    way = 0.0
    for j in range(first, last):
        degree = columns.starts[j + 1] - columns.starts[j]
        reduced = costs[j] - _times(columns, j, prices)
        there = min(max(x[j] - step / degree * reduced, low[j]), 1.0)
        difference = there - x[j]
        way += difference * difference * degree
        moved[j] = there
        beyond[j] = there + difference
        x[j] = share * beyond[j] + (1.0 - share) * anchor[j]
    return way / step


@njit(cache=True, nogil=True)
def step_rows(
    rows: Lines, sides: FloatArray, equations: int, step: float, share: float, beyond: FloatArray, y: FloatArray,
    anchor: FloatArray, moved: FloatArray, first: int, last: int,
) -> float:  # fmt: skip
    """Move the prices of the rows first <= i < last likewise; only those of the first ``equations`` may be positive."""
    way = 0.0
    for i in range(first, last):
        length = rows.starts[i + 1] - rows.starts[i]
        there = y[i] + step / length * (sides[i] - _times(rows, i, beyond))
        if i >= equations:
            there = min(there, 0.0)
        difference = there - y[i]
        way += difference * difference * length
        moved[i] = there
        y[i] = share * (there + difference) + (1.0 - share) * anchor[i]
    return way / step


@njit(cache=True, nogil=True)
def way_from(lines: Lines, there: FloatArray, anchor: FloatArray) -> float:
    """Return the distance of two points, in the scale of the steps."""
    total = 0.0
    for i in range(len(there)):
        total += (there[i] - anchor[i]) ** 2 * (lines.starts[i + 1] - lines.starts[i])
    return np.sqrt(total)


@njit(cache=True, nogil=True)
def least_of_columns(
    columns: Lines, costs: FloatArray, low: FloatArray, prices: FloatArray, first: int, last: int
) -> tuple[float, float]:
    """Return what the columns first <= j < last contribute to the bound of ``prices``, and the sum of the sizes.

    That is the least of reduced cost · x over low <= x <= 1, the reduced cost rounded down.
    """
    total, sizes = 0.0, 0.0
    for j in range(first, last):
        reduced = costs[j] - _times(columns, j, prices)
        size = costs[j]
        for at in range(columns.starts[j], columns.starts[j + 1]):
            size += abs(prices[columns.indices[at]])
        reduced -= ROUNDING * size
        least = reduced if reduced < 0.0 else reduced * low[j]
        total += least
        sizes += abs(least)
    return total, sizes


@njit(cache=True, nogil=True)
def reduced_costs(columns: Lines, costs: FloatArray, prices: FloatArray) -> FloatArray:
    """Return the reduced cost of each column."""
    reduced = np.empty(len(costs))
    for j in range(len(costs)):
        reduced[j] = costs[j] - _times(columns, j, prices)
    return reduced


@njit(cache=True, nogil=True)
def cheap_pairs(
    blocks: Blocks, graph: Graph, prices: FloatArray, k: int, first: int, last: int, most: int
) -> tuple[IntArray, FloatArray, float]:
    """Find pairs outside the graph with a negative reduced cost d / k - price - price, rounded down.

    Those of which the record with the lower number is in first <= i < last, and of these the most negative ``most`` of
    each record are returned.

    Returns
    -------
    keys : array of int, shape (m,)
    reduced : array of float, shape (m,)
    total : float
        The sum of all negative reduced costs, also those of pairs that are not returned.
    """
    X = blocks.X
    n, d = X.shape
    highest = np.empty(len(blocks.low))
    for block in range(len(highest)):
        highest[block] = prices[block * BLOCK : min(n, (block + 1) * BLOCK)].max()
    keys, values = np.empty(1024, dtype=np.int64), np.empty(1024)
    count = 0
    total = 0.0
    known = np.full(n, -1, dtype=np.int64)
    for i in range(first, last):
        begin = count
        for at in range(graph.starts[i], graph.starts[i + 1]):
            known[graph.partners[at]] = i
        for block in range(i // BLOCK, len(blocks.low)):
            # A little more than the limit, so that rounding can pass over nothing.
            limit = k * (prices[i] + highest[block] + ROUNDING * (abs(prices[i]) + abs(highest[block])))
            limit += ROUNDING * abs(limit)
            gap = 0.0
            for a in range(d):
                beside = max(max(blocks.low[block, a] - X[i, a], X[i, a] - blocks.high[block, a]), 0.0)
                gap += beside * beside
            if gap > limit:
                continue
            for j in range(max(block * BLOCK, i + 1), min(n, (block + 1) * BLOCK)):
                if known[j] == i:
                    continue
                distance = 0.0
                for a in range(d):
                    difference = X[i, a] - X[j, a]
                    distance += difference * difference
                distance /= k
                reduced = distance - prices[i] - prices[j]
                reduced -= ROUNDING * (distance + abs(prices[i]) + abs(prices[j]))
                if reduced >= 0.0:
                    continue
                total += reduced
                at = count
                if count - begin == most:
                    at -= 1
                    if reduced >= values[at]:
                        continue
                else:
                    count += 1
                    if count > len(keys):
                        keys = np.concatenate((keys, np.empty_like(keys)))
                        values = np.concatenate((values, np.empty_like(values)))
                while at > begin and values[at - 1] > reduced:
                    keys[at], values[at] = keys[at - 1], values[at - 1]
                    at -= 1
                keys[at], values[at] = i * n + j, reduced
    return keys[:count].copy(), values[:count].copy(), total


@njit(cache=True, nogil=True)
def violated_stars(
    graph: Graph, x: FloatArray, least: float, most: int, tries: int, width: int, first: int, last: int
) -> tuple[IntArray, FloatArray]:
    """Find stars around the records first <= i < last that x violates.

    A star is grown from each pair that x holds, greedily; and so that there are others, from the ``tries`` best
    first continuations.

    Parameters
    ----------
    graph : Graph
    x : array of float, shape (n + p,)
        The value of each record and each pair.
    least : float
        The violation from which on a star is returned.
    most : int
        How many arms a star may have.
    tries : int
    width : int
        How many arms there is room for.

    Returns
    -------
    stars : array of int, shape (m, 1 + width)
        The center and the other records, these ascending and filled up with -1; the same star may occur repeatedly.
    violations : array of float, shape (m,)
    """
    n = len(graph.starts) - 1
    stars, violations = np.empty((1024, 1 + width), dtype=np.int64), np.empty(1024)
    count = 0
    place = np.full(n, -1, dtype=np.int64)
    arms = np.empty(width, dtype=np.int64)
    best, gains = np.empty(tries, dtype=np.int64), np.empty(tries)
    for center in range(first, last):
        ids, values, between = _around(graph, x, center, place)
        m = len(ids)
        rest = np.empty(m)
        for a in range(m):
            found = _best_partners(values, between, a, best, gains) if most > 1 else 0
            for start in range(max(found, 1)):
                arms[0] = a
                size = 1
                violation = values[a] - x[center]
                if found > 0:
                    arms[1] = best[start]
                    size = 2
                    violation += gains[start]
                    if most > 2:
                        size, violation = _grow(values, between, rest, arms, size, most, violation)
                if violation <= least:
                    continue
                if count == len(violations):
                    stars = np.concatenate((stars, np.empty_like(stars)))
                    violations = np.concatenate((violations, np.empty_like(violations)))
                stars[count] = -1
                stars[count, 0] = center
                stars[count, 1 : size + 1] = np.sort(ids[arms[:size]])
                violations[count] = violation
                count += 1
    return stars[:count].copy(), violations[:count].copy()


@njit(cache=True, nogil=True)
def _around(graph: Graph, x: FloatArray, center: int, place: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the partners that x gives a record, with the values of their pairs and of those between them."""
    n = len(graph.starts) - 1
    m = 0
    for at in range(graph.starts[center], graph.starts[center + 1]):
        m += x[n + graph.pairs[at]] > 1e-3
    ids, values, between = np.empty(m, dtype=np.int64), np.empty(m), np.zeros((m, m))
    m = 0
    for at in range(graph.starts[center], graph.starts[center + 1]):
        value = x[n + graph.pairs[at]]
        if value > 1e-3:
            ids[m], values[m] = graph.partners[at], value
            place[graph.partners[at]] = m
            m += 1
    for a in range(m):
        for at in range(graph.starts[ids[a]], graph.starts[ids[a] + 1]):
            b = place[graph.partners[at]]
            if b >= 0:
                between[a, b] = x[n + graph.pairs[at]]
    for a in range(m):
        place[ids[a]] = -1
    return ids, values, between


@njit(cache=True, nogil=True)
def _best_partners(values: FloatArray, between: FloatArray, a: int, best: IntArray, gains: FloatArray) -> int:
    """Find the second arms that add most to the violation of a star with arm a; return how many add anything."""
    found = 0
    for b in range(len(values)):
        gain = values[b] - between[a, b]
        if b == a or gain <= 0.0:
            continue
        at = found
        if found == len(best):
            at -= 1
            if gain <= gains[at]:
                continue
        else:
            found += 1
        while at > 0 and gains[at - 1] < gain:
            best[at], gains[at] = best[at - 1], gains[at - 1]
            at -= 1
        best[at], gains[at] = b, gain
    return found


@njit(cache=True, nogil=True)
def _grow(
    values: FloatArray, between: FloatArray, rest: FloatArray, arms: IntArray, size: int, most: int, violation: float
) -> tuple[int, float]:
    """Add the arms that add most to the violation, as long as any do; return the size and violation of the star."""
    m = len(values)
    for b in range(m):
        rest[b] = values[b]
        for at in range(size):
            rest[b] -= between[arms[at], b] if arms[at] != b else np.inf
    while size < most:
        b = int(np.argmax(rest))
        if rest[b] <= 1e-9:
            break
        arms[size] = b
        size += 1
        violation += rest[b]
        for c in range(m):
            rest[c] -= between[b, c]
        rest[b] = -np.inf
    return size, violation
