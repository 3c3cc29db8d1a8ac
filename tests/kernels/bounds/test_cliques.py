"""Missing pairs and violated inequalities of clique partitioning, against all there are."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial import KDTree

from microagg.kernels.bounds.boxes import make_blocks
from microagg.kernels.bounds.cliques import make_graph, price_pairs, violated_inequalities
from microagg.optimum.clique_partitioning import _crowded_clusters, _make_matrix


@pytest.mark.parametrize("d", [1, 3])
def test_pairs_outside_the_program_are_found_among_many_blocks(d):
    rng = np.random.default_rng(1)
    n, k = 500, 4
    X = rng.normal(size=(n, d))
    X = X[KDTree(X).indices]
    first, second = np.triu_indices(n, 1)
    distances = np.square(X[first] - X[second]).sum(axis=1)
    known = (distances < np.quantile(distances, 0.1)) & (rng.random(len(first)) < 0.8)
    graph = make_graph((first * n + second)[known], n)
    # Along a line and with the same u everywhere, what boxes rule out is tight.
    u = rng.exponential(np.quantile(distances, 0.1) / k, size=n) if d > 1 else np.full(n, distances.mean() / k)
    clusters, w = rng.random((3, n)) < 0.2, -rng.random(3) * u.mean()
    arguments = make_blocks(X), graph, u, clusters, w, -w @ clusters, k, 100, 300
    keys, total = price_pairs(*arguments, 1000)
    expected = distances / k - u[first] - u[second] + w @ (clusters[:, first] != clusters[:, second])
    wanted = (expected < 0) & (first >= 100) & (first < 300) & ~known
    assert set(keys) == set((first * n + second)[wanted])
    assert total == pytest.approx(expected[wanted].sum())
    some, same = price_pairs(*arguments, 2)
    assert same == total
    for i in range(100, 300):  # the most negative ones
        of_record = wanted & (first == i)
        assert set(some[some // n == i] % n) == set(second[of_record][np.argsort(expected[of_record])[:2]])


def test_a_pair_is_found_though_its_box_is_only_just_near_enough():
    """On a line the nearest record of a box lies on its edge."""
    n, k, u = 640, 4, 0.005
    X = np.sort(np.random.default_rng(2).random((n, 1)), axis=0)
    graph = make_graph(np.empty(0, dtype=np.int64), n)
    no_clusters = np.empty((0, n), dtype=bool), np.empty(0), np.zeros(n)
    keys, _ = price_pairs(make_blocks(X), graph, np.full(n, u), *no_clusters, k, 0, n, n)
    first, second = np.triu_indices(n, 1)
    wanted = np.square(X[first] - X[second]).sum(axis=1) / k < 2 * u
    assert set(keys) == set((first * n + second)[wanted])


def complete_graph(n):
    first, second = np.triu_indices(n, 1)
    return first, second, make_graph(first * n + second, n)


def test_partitions_violate_no_inequality():
    for seed in range(30):
        n, k = 14, 3
        labels = np.random.default_rng(seed).permutation(np.arange(n) // k % (n // k))
        sizes = np.bincount(labels)[labels]
        first, second, graph = complete_graph(n)
        x = np.append(k / sizes, np.where(labels[first] == labels[second], k / sizes[first], 0.0))
        inequalities, _ = violated_inequalities(graph, x, 1e-9, 5, 5, 0, n)
        assert len(inequalities) == 0
        assert len(_crowded_clusters(first * n + second, x, n, k, set())) == 0


def test_crowded_clusters_have_more_groups_than_there_can_be():
    """Two clusters of 5 and 7, in which pairs have the values of groups of 3 drawn at random."""
    n, k = 12, 3
    first, second, _ = complete_graph(n)
    is_alike = (first < 5) == (second < 5)
    x = np.append(np.ones(n), np.where(is_alike, np.where(first < 5, 2 / 4, 2 / 6), 0.0))
    clusters = _crowded_clusters(first * n + second, x, n, k, set())
    assert [np.flatnonzero(cluster).tolist() for cluster in clusters] == [[*range(5)], [*range(5, 12)]]
    assert len(_crowded_clusters(first * n + second, x, n, k, {clusters[0].tobytes()})) == 1


def test_violated_inequalities_are_violated_by_as_much():
    rng = np.random.default_rng(0)
    n = 12
    first, second, graph = complete_graph(n)
    x = np.append(np.full(n, 0.8), rng.random(len(first)) * (rng.random(len(first)) < 0.5))
    inequalities, violations = violated_inequalities(graph, x, 0.01, 4, 5, 0, n)
    assert set((inequalities[:, 1:] >= 0).sum(axis=1)) == {2, 3, 4}
    left = _make_matrix(first * n + second, np.ones((1, n), dtype=bool), inequalities, n) @ x
    assert left[n + 1 :] == pytest.approx(violations)
    # None with two leaves is more violated than the most violated one that was found.
    Z = np.zeros((n, n))
    Z[first, second] = Z[second, first] = x[n:]
    _, violations = violated_inequalities(graph, x, 0.01, 2, 5, 0, n)
    ends = [(i, a, b) for i in range(n) for a, b in combinations(set(range(n)) - {i}, 2)]
    most = max(Z[i, a] + Z[i, b] - Z[a, b] - x[i] for i, a, b in ends)
    assert violations.max() == pytest.approx(most)
