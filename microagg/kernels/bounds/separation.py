"""Separation: which cutting planes a solution violates that is not of whole groups.

Those of set partitioning are subset-row cuts, those of clique partitioning 2-partition inequalities; what they are, and
why no partition violates them, is said in :mod:`microagg.metrics.set_partitioning` and
:mod:`microagg.metrics.clique_partitioning`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from microagg.kernels.bounds.primal_dual import Graph
from microagg.validation import FloatArray, IntArray

#: Pairs with a smaller value in the solution are taken for 0.
LEAST_VALUE = 1e-3


@njit(cache=True, nogil=True)
def violated_triples(
    groups: IntArray, values: FloatArray, starts: IntArray, rows: IntArray, least: float
) -> tuple[IntArray, FloatArray]:
    """Return triples whose subset-row cut is violated: the groups with two or three of them add up to more than 1.

    ``groups``, shape (m, 2k - 1), are filled up with -1; ``values``, shape (m,), are theirs in the solution, where
    those of the groups of each record add up to 1. The groups of record x are rows[starts[x] : starts[x + 1]]. Returned
    are the triples, shape (t, 3), whose cut is violated by more than ``least``, and by how much, shape (t,). Records
    ascend within a triple; the same triple may occur up to three times.
    """
    n = len(starts) - 1
    triples, violations = [(0, 0, 0)], [0.0]
    seen = np.full(n, -1, dtype=np.int64)
    partners = np.empty(n, dtype=np.int64)
    members_met = np.zeros(len(values), dtype=np.int64)
    for a in range(n):
        count = 0
        for at in range(starts[a], starts[a + 1]):
            for b in groups[rows[at]]:
                if b >= 0 and b != a and seen[b] != a:
                    seen[b] = a
                    partners[count] = b
                    count += 1
        for first in range(count):
            b = partners[first]
            for second in range(first):
                c = partners[second]
                total = -1.0
                for x in (a, b, c):
                    for at in range(starts[x], starts[x + 1]):
                        row = rows[at]
                        # A group counts when its second record of the triple is met, and not again at the third.
                        if members_met[row] == 1:
                            total += values[row]
                        members_met[row] += 1
                for x in (a, b, c):
                    for at in range(starts[x], starts[x + 1]):
                        members_met[rows[at]] = 0
                if total > least:
                    triples.append((min(a, b, c), a + b + c - min(a, b, c) - max(a, b, c), max(a, b, c)))
                    violations.append(total)
    return np.array(triples)[1:], np.array(violations)[1:]


@njit(cache=True, nogil=True)
def violated_inequalities(
    graph: Graph, x: FloatArray, least: float, most: int, tries: int, width: int, first: int, last: int
) -> tuple[IntArray, FloatArray]:
    """Find 2-partition inequalities with a center first <= i < last that x violates.

    ``x``, shape (n + p,), are the values of the records and of the pairs. For each center and each first leaf with a
    positive value in x, the ``tries`` second leaves that raise the violation most are tried; to each, further leaves
    are added greedily, up to ``most`` leaves, which is at most ``width``.

    Returned are the inequalities violated by more than ``least``, shape (m, 1 + width), each the center and then the
    leaves, ascending and filled up with -1, and by how much, shape (m,); the same inequality may occur repeatedly.
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
            found = _best_second_leaves(values, between, a, best, gains) if most > 1 else 0
            for start in range(max(found, 1)):
                leaves[0] = a
                size = 1
                violation = values[a] - x[center]
                if found > 0:
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


@njit(cache=True, nogil=True)
def _around(graph: Graph, x: FloatArray, center: int, place: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the m records whose pair with the center has a value in x, these values, and those between the records.

    The shapes are (m,), (m,) and (m, m).
    """
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


@njit(cache=True, nogil=True)
def _best_second_leaves(values: FloatArray, between: FloatArray, a: int, best: IntArray, gains: FloatArray) -> int:
    """Find the second leaves that raise the violation most if the first is a; return how many raise it."""
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
