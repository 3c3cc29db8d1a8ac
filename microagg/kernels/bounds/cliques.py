"""Compiled parts of clique partitioning: missing pairs, and violated 2-partition inequalities.

Both are defined in :mod:`microagg.optimum.clique_partitioning`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.bounds.boxes import BLOCK, Blocks, greatest_of_blocks, squared_distance_to_box
from microagg.kernels.compiled import kernel
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
from microagg.validation import FloatArray, IntArray

#: Maximum rounding error of a reduced cost, as a share of the sum of the sizes of its terms: far more than it can be.
ROUNDING = 1e-12

# Pairs with a smaller value in the solution count as 0.
_MIN_VALUE = 1e-3


class Graph(NamedTuple):
    """The pairs of the program, by record."""

    starts: IntArray  # shape (n + 1,): record i is in pairs[starts[i] : starts[i + 1]]
    partners: IntArray  # shape (2p,): the other record of each of ``pairs``
    pairs: IntArray  # shape (2p,): their positions among all pairs


def make_graph(keys: IntArray, n: int) -> Graph:
    """Graph of p pairs of n records. The key of i < j is i · n + j."""
    records = np.concatenate([keys // n, keys % n])
    order = np.argsort(records, kind="stable")
    starts = np.searchsorted(records[order], np.arange(n + 1))
    return Graph(starts, np.concatenate([keys % n, keys // n])[order], order % max(len(keys), 1))


@kernel
def price_pairs(
    blocks: Blocks, graph: Graph, u: FloatArray, clusters: NDArray[np.bool_], w: FloatArray, charges: FloatArray,
    k: int, first: int, last: int, most: int,
) -> tuple[IntArray, float]:  # fmt: skip
    """Find pairs i < j outside the graph whose reduced cost, rounded down, is negative.

    It is d_ij / k - u_i - u_j + Σ w over the clusters with one of the two. ``u``, shape (n,), are the dual values of
    the records, ``w``, shape (c,), at most 0, those of the clusters, shape (c, n), and ``charges``, shape (n,), -Σ w
    over those of each record. The results are the keys i · n + j of the ``most`` most negative pairs of each
    first <= i < last, and the sum of all negative reduced costs, also of other pairs.
    """
    X, n = blocks.X, len(blocks.X)
    # At first as if the two had no cluster in common.
    raised, sizes = u + charges, np.abs(u) + charges
    highest, largest = greatest_of_blocks(raised), greatest_of_blocks(sizes)
    keys, count, total = np.empty((last - first) * most, dtype=np.int64), 0, 0.0
    near, values = np.empty(n, dtype=np.int64), np.empty(n)
    last_partner = np.full(n, -1, dtype=np.int64)
    for i in range(first, last):
        for at in range(graph.starts[i], graph.starts[i + 1]):
            last_partner[graph.partners[at]] = i
        m = 0
        for block in range(i // BLOCK, len(blocks.low)):
            # The limit is raised by the rounding error, so that no block with a negative pair is skipped.
            limit = k * (raised[i] + highest[block] + ROUNDING * (sizes[i] + largest[block]))
            limit += ROUNDING * abs(limit)
            if squared_distance_to_box(blocks, block, i) > limit:
                continue
            for j in range(max(block * BLOCK, i + 1), min(n, (block + 1) * BLOCK)):
                cost = squared_distance_of_rows(X, i, X, j) / k
                reduced = cost - raised[i] - raised[j] - ROUNDING * (cost + sizes[i] + sizes[j])
                if reduced < 0.0 and last_partner[j] != i:
                    for cluster in range(len(w)):
                        if clusters[cluster, i] and clusters[cluster, j]:
                            reduced -= 2.0 * w[cluster]
                    if reduced >= 0.0:
                        continue
                    near[m], values[m] = j, reduced
                    m += 1
                    total += reduced
        for t in np.argsort(values[:m])[:most]:
            keys[count] = i * n + near[t]
            count += 1
    return keys[:count].copy(), total


@kernel
def violated_inequalities(
    graph: Graph, x: FloatArray, least: float, most: int, width: int, first: int, last: int
) -> tuple[IntArray, FloatArray]:
    """Find 2-partition inequalities with a center first <= i < last that x violates.

    ``x``, shape (n + p,), are the values of the records and of the pairs. Each center is tried with each first leaf of
    positive value. Further leaves, up to ``most`` in all, are those that raise the violation most, one after the other.

    The results are the inequalities violated by more than ``least``, shape (m, 1 + width), and their violations,
    shape (m,). A row is the center, then the leaves in ascending order, padded with -1. Inequalities may repeat.
    """
    n = len(graph.starts) - 1
    inequalities, violations = np.empty((1024, 1 + width), dtype=np.int64), np.empty(1024)
    count = 0
    place = np.full(n, -1, dtype=np.int64)
    leaves = np.empty(width, dtype=np.int64)
    for center in range(first, last):
        ids, values, between = _around(graph, x, center, place)
        for a in range(len(ids)):
            leaves[0], size = a, 1
            violation = values[a] - x[center]
            gains = values - between[a]
            gains[a] = -np.inf
            while size < most:
                b = int(np.argmax(gains))
                if gains[b] <= 1e-9:
                    break
                leaves[size] = b
                size += 1
                violation += gains[b]
                gains -= between[b]
                gains[b] = -np.inf
            if violation <= least:
                continue
            if count == len(violations):
                inequalities = np.concatenate((inequalities, np.empty_like(inequalities)))
                violations = np.concatenate((violations, np.empty_like(violations)))
            inequalities[count] = -1
            inequalities[count, 0] = center
            inequalities[count, 1 : size + 1] = np.sort(ids[leaves[:size]])
            violations[count] = violation
            count += 1
    return inequalities[:count].copy(), violations[:count].copy()


@kernel
def _around(graph: Graph, x: FloatArray, center: int, place: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the m records whose pair with the center has a value in x, these, and those between them, shape (m, m)."""
    n = len(graph.starts) - 1
    m = 0
    for at in range(graph.starts[center], graph.starts[center + 1]):
        m += x[n + graph.pairs[at]] > _MIN_VALUE
    ids, values, between = np.empty(m, dtype=np.int64), np.empty(m), np.zeros((m, m))
    m = 0
    for at in range(graph.starts[center], graph.starts[center + 1]):
        value = x[n + graph.pairs[at]]
        if value > _MIN_VALUE:
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
