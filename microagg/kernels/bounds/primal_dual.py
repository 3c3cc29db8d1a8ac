"""The linear program of clique partitioning: its matrix, steps of a primal-dual hybrid gradient method, and pricing.

What the program is, is said in :mod:`microagg.optimum.clique_partitioning`:

    min c'x   such that   A x = b in the rows of records, A x ≤ b in all others,   low ≤ x ≤ 1.

Its columns are the n records and then pairs of records, its rows the n records, one for the number of groups, and then
2-partition inequalities; all entries of A are 1, -1 or 0. A dual vector y has a value for each row, of any sign for
records, otherwise at most 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.kernels.bounds.boxes import BLOCK, Blocks, greatest_of_blocks, squared_distance_to_box
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
from microagg.validation import FloatArray, IntArray

#: How far a reduced cost may be off, relative to the sum of the sizes of its terms: far more than rounding amounts to.
ROUNDING = 1e-12


class SignMatrix(NamedTuple):
    """A sparse matrix of entries 1 and -1, row by row: row i has 1 at indices[starts[i] : middles[i]], then -1."""

    starts: IntArray  # shape (m + 1,)
    middles: IntArray  # shape (m,)
    indices: IntArray  # int32, shape (starts[m],): the columns of the entries


class Graph(NamedTuple):
    """The pairs of the program; made by :func:`make_graph`."""

    keys: IntArray  # shape (p,): first · n + second of each pair, first < second, ascending
    firsts: IntArray  # shape (n + 1,): the pairs with first i are those from firsts[i] to firsts[i + 1]
    starts: IntArray  # shape (n + 1,): record i is in pairs[starts[i] : starts[i + 1]]
    partners: IntArray  # shape (2p,): the other record of each of ``pairs``
    pairs: IntArray  # shape (2p,)


@kernel
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


@kernel
def _column_of(graph: Graph, i: int, j: int) -> int:
    """Return the column of a pair, which must be there."""
    n = len(graph.firsts) - 1
    first, second = min(i, j), max(i, j)
    low, high = graph.firsts[first], graph.firsts[first + 1]
    return n + low + np.searchsorted(graph.keys[low:high], first * n + second)


@kernel
def make_matrix(graph: Graph, inequalities: IntArray) -> SignMatrix:
    """Return the matrix A of the program, shape (n + 1 + m, n + p).

    ``inequalities``, shape (m, 1 + width), are as :func:`microagg.kernels.bounds.primal_dual.violated_inequalities`
    returns them; the pairs of a center and a leaf, or of two leaves, of any of them must be in the graph.
    """
    n, m = len(graph.starts) - 1, len(inequalities)
    starts, middles = np.zeros(n + 2 + m, dtype=np.int64), np.empty(n + 1 + m, dtype=np.int64)
    for i in range(n):
        middles[i] = starts[i] + 1 + graph.starts[i + 1] - graph.starts[i]
        starts[i + 1] = middles[i]
    middles[n] = starts[n] + n
    starts[n + 1] = middles[n]
    for at in range(m):
        count = 0
        for leaf in inequalities[at, 1:]:
            count += leaf >= 0
        row = n + 1 + at
        middles[row] = starts[row] + count
        starts[row + 1] = middles[row] + 1 + count * (count - 1) // 2
    indices = np.empty(starts[n + 1 + m], dtype=np.int32)
    for i in range(n):
        indices[starts[n] + i] = i
        indices[starts[i]] = i
        place = starts[i] + 1
        for pair in graph.pairs[graph.starts[i] : graph.starts[i + 1]]:
            indices[place] = n + pair
            place += 1
    for at in range(m):
        row = n + 1 + at
        center, leaves = inequalities[at, 0], inequalities[at, 1:]
        negative = middles[row]
        indices[negative] = center
        for a in range(middles[row] - starts[row]):
            indices[starts[row] + a] = _column_of(graph, center, leaves[a])
            for b in range(a):
                negative += 1
                indices[negative] = _column_of(graph, leaves[b], leaves[a])
    return SignMatrix(starts, middles, indices)


@kernel
def transpose(matrix: SignMatrix, width: int) -> SignMatrix:
    """Return the transpose of a matrix with ``width`` columns."""
    ones, minus_ones = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for i in range(len(matrix.middles)):
        for column in matrix.indices[matrix.starts[i] : matrix.middles[i]]:
            ones[column] += 1
        for column in matrix.indices[matrix.middles[i] : matrix.starts[i + 1]]:
            minus_ones[column] += 1
    starts = np.zeros(width + 1, dtype=np.int64)
    middles = np.empty(width, dtype=np.int64)
    for column in range(width):
        middles[column] = starts[column] + ones[column]
        starts[column + 1] = middles[column] + minus_ones[column]
        # From here on, where the next entry of each column goes.
        ones[column], minus_ones[column] = starts[column], middles[column]
    indices = np.empty(starts[width], dtype=np.int32)
    for i in range(len(matrix.middles)):
        for column in matrix.indices[matrix.starts[i] : matrix.middles[i]]:
            indices[ones[column]] = i
            ones[column] += 1
        for column in matrix.indices[matrix.middles[i] : matrix.starts[i + 1]]:
            indices[minus_ones[column]] = i
            minus_ones[column] += 1
    return SignMatrix(starts, middles, indices)


@borrows
def _row_times(matrix: SignMatrix, i: int, vector: FloatArray) -> float:
    """Return the product of row i and a vector."""
    total = 0.0
    for at in range(matrix.starts[i], matrix.middles[i]):
        total += vector[matrix.indices[at]]
    for at in range(matrix.middles[i], matrix.starts[i + 1]):
        total -= vector[matrix.indices[at]]
    return total


@kernel
def row_weights(matrix: SignMatrix, scales: FloatArray) -> FloatArray:
    """Return the sum of the sizes of the entries of each row, over the scale of the row, shape (m,)."""
    return (matrix.starts[1:] - matrix.starts[:-1]) / scales


@kernel
def column_weights(transposed: SignMatrix, scales: FloatArray) -> FloatArray:
    """Return for each column the sum of the scales of the rows in which it has an entry, shape (n + p,)."""
    weights = np.empty(len(transposed.middles))
    for j in range(len(weights)):
        total = 0.0
        for at in range(transposed.starts[j], transposed.starts[j + 1]):
            total += scales[transposed.indices[at]]
        weights[j] = total
    return weights


@kernel
def power_iteration(
    matrix: SignMatrix, transposed: SignMatrix, rows: FloatArray, columns: FloatArray, vector: FloatArray
) -> float:
    """Apply one step of power iteration to ``vector``, in place; return an estimate of the norm, at most 1.

    It is that of the matrix with each entry over the root of the weights of its row and of its column.
    """
    image = np.empty(len(matrix.middles))
    for i in range(len(image)):
        image[i] = _row_times(matrix, i, vector) / rows[i]
    before, after = 0.0, 0.0
    for j in range(len(vector)):
        before += vector[j] * vector[j] * columns[j]
        vector[j] = _row_times(transposed, j, image) / columns[j]
        after += vector[j] * vector[j] * columns[j]
    vector /= np.sqrt(after)
    return (after / before) ** 0.25


@borrows
def step_primal(
    transposed: SignMatrix, columns: FloatArray, costs: FloatArray, low: FloatArray, step: float, weight: float,
    y: FloatArray, reflected: FloatArray, x: FloatArray, anchor: FloatArray, stepped: FloatArray, first: int, last: int,
) -> float:  # fmt: skip
    """Step in the columns first <= j < last of x; return the square of the step, each entry over its step size.

    ``y`` is the dual vector, all other arrays have the shape (n + p,). The step size of a column is ``step`` over its
    weight, one of ``columns``, see :func:`column_weights`. ``stepped`` receives where the step from ``x``, projected
    to low ≤ x ≤ 1, leads; ``reflected`` receives 2 · stepped - x, as far beyond ``stepped`` as x was before it; and
    ``x`` receives Halpern's weight · reflected + (1 - weight) · anchor, with ``anchor`` the point of the last restart.
    """
    total = 0.0
    for j in range(first, last):
        reduced = costs[j] - _row_times(transposed, j, y)
        there = min(max(x[j] - step / columns[j] * reduced, low[j]), 1.0)
        difference = there - x[j]
        total += difference * difference * columns[j]
        stepped[j] = there
        reflected[j] = there + difference
        x[j] = weight * reflected[j] + (1.0 - weight) * anchor[j]
    return total / step


@borrows
def step_dual(
    matrix: SignMatrix, rows: FloatArray, sides: FloatArray, equations: int, step: float, weight: float,
    reflected: FloatArray, y: FloatArray, anchor: FloatArray, stepped: FloatArray, first: int, last: int,
) -> float:  # fmt: skip
    """Step in the rows first <= i < last of y, as :func:`step_primal` does in x.

    ``sides``, shape (m,), are the right sides b, ``equations`` the number of rows, the first ones, whose dual value may
    be positive, ``reflected`` is what :func:`step_primal` has made, and the step size of a row is ``step`` over its
    weight, one of ``rows``, see :func:`row_weights`.
    """
    total = 0.0
    for i in range(first, last):
        there = y[i] + step / rows[i] * (sides[i] - _row_times(matrix, i, reflected))
        if i >= equations:
            there = min(there, 0.0)
        difference = there - y[i]
        total += difference * difference * rows[i]
        stepped[i] = there
        y[i] = weight * (there + difference) + (1.0 - weight) * anchor[i]
    return total / step


@borrows
def weighted_distance(weights: FloatArray, one: FloatArray, other: FloatArray) -> float:
    """Return the distance of two points, each difference weighted by the root of its weight."""
    total = 0.0
    for i in range(len(one)):
        total += (one[i] - other[i]) ** 2 * weights[i]
    return np.sqrt(total)


@borrows
def least_over_bounds(
    transposed: SignMatrix, costs: FloatArray, low: FloatArray, y: FloatArray, first: int, last: int
) -> tuple[float, float]:
    """Return the sum of the least of reduced cost · x over low ≤ x ≤ 1 of the columns first <= j < last, and its size.

    Reduced costs, at the dual vector y, are rounded down.
    """
    total, sizes = 0.0, 0.0
    for j in range(first, last):
        reduced = costs[j] - _row_times(transposed, j, y)
        size = costs[j]
        for at in range(transposed.starts[j], transposed.starts[j + 1]):
            size += abs(y[transposed.indices[at]])
        reduced -= ROUNDING * size
        least = reduced if reduced < 0.0 else reduced * low[j]
        total += least
        sizes += abs(least)
    return total, sizes


@kernel
def reduced_costs(transposed: SignMatrix, costs: FloatArray, y: FloatArray) -> FloatArray:
    """Return the reduced cost of each column."""
    reduced = np.empty(len(costs))
    for j in range(len(costs)):
        reduced[j] = costs[j] - _row_times(transposed, j, y)
    return reduced


@kernel
def price_pairs(
    blocks: Blocks, graph: Graph, u: FloatArray, k: int, first: int, last: int, most: int
) -> tuple[IntArray, FloatArray, float]:
    """Find pairs i < j outside the graph whose reduced cost d_ij / k - u_i - u_j, rounded down, is negative.

    ``u``, shape (n,), are the dual values of the records. For each first <= i < last the results are the ``most`` most
    negative pairs: their keys i · n + j, shape (m,), and their reduced costs, shape (m,). The third result is the sum
    of all negative reduced costs, including those of pairs beyond ``most``.
    """
    X = blocks.X
    n = len(X)
    highest = greatest_of_blocks(u)
    keys, values = np.empty(1024, dtype=np.int64), np.empty(1024)
    count = 0
    total = 0.0
    last_partner = np.full(n, -1, dtype=np.int64)
    for i in range(first, last):
        begin = count
        for at in range(graph.starts[i], graph.starts[i + 1]):
            last_partner[graph.partners[at]] = i
        for block in range(i // BLOCK, len(blocks.low)):
            # The limit is raised by the rounding error, so that no block with a negative pair is skipped.
            limit = k * (u[i] + highest[block] + ROUNDING * (abs(u[i]) + abs(highest[block])))
            limit += ROUNDING * abs(limit)
            if squared_distance_to_box(blocks, block, i) > limit:
                continue
            for j in range(max(block * BLOCK, i + 1), min(n, (block + 1) * BLOCK)):
                if last_partner[j] == i:
                    continue
                cost = squared_distance_of_rows(X, i, X, j) / k
                reduced = cost - u[i] - u[j]
                reduced -= ROUNDING * (cost + abs(u[i]) + abs(u[j]))
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


# Separation: which cutting planes a solution violates that is not of whole groups; what they are, and why no partition
# violates them, is said in :mod:`microagg.optimum.set_partitioning` and :mod:`microagg.optimum.clique_partitioning`.

#: Pairs with a smaller value in the solution are taken for 0.
LEAST_VALUE = 1e-3


@kernel
def violated_inequalities(
    graph: Graph, x: FloatArray, least: float, most: int, tries: int, width: int, first: int, last: int
) -> tuple[IntArray, FloatArray]:
    """Find 2-partition inequalities with a center first <= i < last that x violates.

    ``x``, shape (n + p,), are the values of the records and of the pairs. Each center is tried with each first leaf of
    positive value and with the ``tries`` second leaves that raise the violation most. Further leaves are added
    greedily, up to ``most`` leaves, which is at most ``width``.

    The results are the inequalities violated by more than ``least``, shape (m, 1 + width), and their violations,
    shape (m,). A row is the center, then the leaves in ascending order, padded with -1. Inequalities may repeat.
    """
    n = len(graph.starts) - 1
    inequalities, violations = np.empty((1024, 1 + width), dtype=np.int64), np.empty(1024)
    count = 0
    place = np.full(n, -1, dtype=np.int64)
    leaves = np.empty(width, dtype=np.int64)
    best, gains = np.empty(tries, dtype=np.int64), np.empty(tries)
    for center in range(first, last):
        ids, values, between = _around(graph, x, center, place)
        m = len(ids)
        further = np.empty(m)
        for a in range(m):
            n_second_leaves = _best_second_leaves(values, between, a, best, gains) if most > 1 else 0
            for start in range(max(n_second_leaves, 1)):
                leaves[0] = a
                size = 1
                violation = values[a] - x[center]
                if n_second_leaves > 0:
                    leaves[1] = best[start]
                    size = 2
                    violation += gains[start]
                    if most > 2:
                        size, violation = _grow(values, between, further, leaves, size, most, violation)
                if violation <= least:
                    continue
                if count == len(violations):
                    inequalities = np.concatenate((inequalities, np.empty_like(inequalities)))
                    violations = np.concatenate((violations, np.empty_like(violations)))
                inequalities[count] = -1
                inequalities[count, 0] = center
                ordered = np.sort(ids[leaves[:size]])
                for i in range(size):
                    inequalities[count, i + 1] = ordered[i]
                violations[count] = violation
                count += 1
    return inequalities[:count].copy(), violations[:count].copy()


@kernel
def _around(graph: Graph, x: FloatArray, center: int, place: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the m records whose pair with the center has a value in x, these, and those between them, shape (m, m)."""
    n = len(graph.starts) - 1
    m = 0
    for at in range(graph.starts[center], graph.starts[center + 1]):
        m += x[n + graph.pairs[at]] > LEAST_VALUE
    ids, values, between = np.empty(m, dtype=np.int64), np.empty(m), np.zeros((m, m))
    m = 0
    for at in range(graph.starts[center], graph.starts[center + 1]):
        value = x[n + graph.pairs[at]]
        if value > LEAST_VALUE:
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


@borrows
def _best_second_leaves(values: FloatArray, between: FloatArray, a: int, best: IntArray, gains: FloatArray) -> int:
    """Find the second leaves that raise the violation most if the first leaf is a; return their number."""
    n_leaves = 0
    for b in range(len(values)):
        gain = values[b] - between[a, b]
        if b == a or gain <= 0.0:
            continue
        at = n_leaves
        if n_leaves == len(best):
            at -= 1
            if gain <= gains[at]:
                continue
        else:
            n_leaves += 1
        while at > 0 and gains[at - 1] < gain:
            best[at], gains[at] = best[at - 1], gains[at - 1]
            at -= 1
        best[at], gains[at] = b, gain
    return n_leaves


@borrows
def _grow(
    values: FloatArray, between: FloatArray, gains: FloatArray, leaves: IntArray, size: int, most: int, violation: float
) -> tuple[int, float]:
    """Add the leaf that raises the violation most while any does; return the number of leaves and the violation."""
    m = len(values)
    for b in range(m):
        gains[b] = values[b]
        for at in range(size):
            gains[b] -= between[leaves[at], b] if leaves[at] != b else np.inf
    while size < most:
        b = int(np.argmax(gains))
        if gains[b] <= 1e-9:
            break
        leaves[size] = b
        size += 1
        violation += gains[b]
        for c in range(m):
            gains[c] -= between[b, c]
        gains[b] = -np.inf
    return size, violation
