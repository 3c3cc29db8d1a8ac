"""Cutting planes are found where they are violated, by as much as they are, and never for a partition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from microagg.kernels.bounds.primal_dual import make_graph, make_matrix, violated_inequalities, violated_triples
from tests.instances import dense


def complete_graph(n):
    first, second = np.triu_indices(n, 1)
    return first, second, make_graph(first * n + second, n)


def test_all_violated_triples_are_found():
    rng = np.random.default_rng(0)
    n, k = 6, 2
    count = 0
    for _ in range(30):
        groups = [np.sort(rng.permutation(n)[: rng.integers(k, 2 * k)]) for _ in range(8)]
        padded = np.array([[*[-1] * (2 * k - 1 - len(group)), *group] for group in groups])
        of_record = [[row for row, group in enumerate(groups) if record in group] for record in range(n)]
        starts = np.cumsum([0, *map(len, of_record)])
        values = rng.random(len(groups))
        values /= max(values[rows].sum() for rows in of_record)
        rows = np.array([row for rows in of_record for row in rows])
        triples, violations = violated_triples(padded, values, starts, rows, 0.02)
        expected = {}
        for triple in combinations(range(n), 3):
            violation = values[[np.isin(group, triple).sum() >= 2 for group in groups]].sum() - 1
            if violation > 0.02:
                expected[triple] = pytest.approx(violation)
        assert dict(zip(map(tuple, triples.tolist()), violations, strict=True)) == expected
        count += len(expected)
    assert count > 10


def test_partitions_violate_no_inequality():
    for seed in range(30):
        n, k = 14, 3
        labels = np.random.default_rng(seed).permutation(np.arange(n) // k % (n // k))
        sizes = np.bincount(labels)[labels]
        first, second, graph = complete_graph(n)
        x = np.append(k / sizes, np.where(labels[first] == labels[second], k / sizes[first], 0.0))
        inequalities, _ = violated_inequalities(graph, x, 1e-9, 5, 4, 5, 0, n)
        assert len(inequalities) == 0


def test_violated_inequalities_are_violated_by_as_much():
    rng = np.random.default_rng(0)
    n = 12
    first, second, graph = complete_graph(n)
    x = np.append(np.full(n, 0.8), rng.random(len(first)) * (rng.random(len(first)) < 0.5))
    inequalities, violations = violated_inequalities(graph, x, 0.01, 4, 3, 5, 0, n)
    assert set((inequalities[:, 1:] >= 0).sum(axis=1)) == {2, 3, 4}
    left = dense(make_matrix(graph, inequalities), len(x)) @ x
    assert left[n + 1 :] == pytest.approx(violations)
    # None with two leaves is more violated than the most violated one that was found.
    Z = np.zeros((n, n))
    Z[first, second] = Z[second, first] = x[n:]
    _, violations = violated_inequalities(graph, x, 0.01, 2, 3, 5, 0, n)
    ends = [(i, a, b) for i in range(n) for a, b in combinations(set(range(n)) - {i}, 2)]
    most = max(Z[i, a] + Z[i, b] - Z[a, b] - x[i] for i, a, b in ends)
    assert violations.max() == pytest.approx(most)
