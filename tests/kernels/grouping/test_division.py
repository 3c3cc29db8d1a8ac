"""Groups dissolved and split, and forests cut into trees, against the definitions in plain Python."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.csgraph import minimum_spanning_tree as scipys_tree
from scipy.spatial.distance import pdist, squareform

from microagg.kernels.bases import tfrp_1
from microagg.kernels.grouping.division import (
    cut_longest_edges,
    dissolve_groups,
    divide_at_hubs,
    minimum_spanning_tree,
    roots,
)
from tests import naive
from tests.cases import for_each

TABLES = {
    "gaussian": lambda rng: rng.normal(size=(60, 3)),
    "clustered": lambda rng: np.repeat(rng.normal(size=(12, 2)), 5, axis=0) + rng.normal(size=(60, 2)) / 50,
    "grid": lambda rng: rng.integers(0, 5, (60, 2)).astype(float),
    "equal": lambda rng: np.full((60, 2), 0.1),
}


def random_groups(rng, n, k):
    """Return labels, without a gap, of about n / 2k groups that have nothing to do with the records."""
    number = n // (2 * k)
    return rng.permutation(np.concatenate([np.repeat(np.arange(number), k), rng.integers(0, number, n - number * k)]))


def cases():
    for table, make in TABLES.items():
        for k in (1, 2, 4):
            rng = np.random.default_rng([k, *table.encode()])
            X = make(rng)
            for labels in (tfrp_1(X, k), random_groups(rng, len(X), k)):
                for most in (3 * k, 4 * k - 1, len(X)):
                    yield X, labels, most


def plain(X, labels, order, most):
    """Return what the oracle's decompose gives."""
    X = X.tolist()
    groups = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
    numbers = naive.by_falling_sse(X, groups) if order == "sse" else reversed(range(len(groups)))
    return naive.labels_of(naive.decompose(X, groups, numbers, most))


@pytest.mark.parametrize("order", ["sse", "reverse"])
def test_dissolving_agrees_with_the_plain_version(order):
    dissolved = 0
    for X, labels, most in cases():
        before = labels.copy()
        got = dissolve_groups(X, labels, order, most)
        assert np.array_equal(labels, before)
        assert naive.canonical(got.tolist()) == plain(X, labels, order, most)
        dissolved += len(np.unique(labels)) - len(np.unique(got))
    assert dissolved > 50  # or nothing has been tested


def test_dissolving_sends_each_record_to_the_nearest_group_with_room():
    # Group 1 straddles the others: 2 goes to the zeros, 98 to the hundreds, which are full at 3.
    X = np.array([0, 0, 2, 98, 100, 100, 100], dtype=float)[:, np.newaxis]
    labels = np.array([0, 0, 1, 1, 2, 2, 2])
    assert dissolve_groups(X, labels, "sse", 4).tolist() == [0, 0, 0, 2, 2, 2, 2]
    # With no room for 98 there, both would go to the zeros, at a greater SSE than before: nothing happens.
    assert dissolve_groups(X, labels, "sse", 3).tolist() == labels.tolist()


def test_dissolving_leaves_alone_what_would_stay_equal_or_has_nowhere_to_go():
    X = np.zeros((6, 1))
    labels = np.array([0, 0, 1, 1, 2, 2])
    assert dissolve_groups(X, labels, "sse", 6).tolist() == labels.tolist()
    assert dissolve_groups(np.arange(6.0)[:, np.newaxis], np.zeros(6, dtype=np.int64), "sse", 6).tolist() == [0] * 6


def random_forest(n, rng, trees=1):
    """Return parents of so many random trees, their indices in no particular order."""
    names = rng.permutation(n)
    parents = np.full(n, -1, dtype=np.int64)
    for place in range(trees, n):
        # Some attach far up, which makes hubs, and some to the last one, which makes paths.
        parents[names[place]] = names[place - 1 if rng.random() < 0.4 else rng.integers(0, min(place, 4))]
    return parents


def components(parents):
    """Return the records of each tree, by another program's search."""
    children = np.flatnonzero(parents >= 0)
    n = len(parents)
    graph = coo_array((np.ones(len(children)), (children, parents[children])), shape=(n, n))
    number, labels = connected_components(graph, directed=False)
    return [np.flatnonzero(labels == label) for label in range(number)]


@for_each("d", [1, 2, 7])
@for_each("n", [1, 2, 3, 50, 300])
def test_minimum_spanning_tree_is_that_of_scipy(n, d):
    X = np.random.default_rng([n, d]).normal(size=(n, d))
    parents, lengths = minimum_spanning_tree(X)
    expected = scipys_tree(squareform(pdist(X))).tocoo()
    children = np.flatnonzero(parents >= 0)
    ours, theirs = (np.sort(ends, axis=0).T.tolist() for ends in ([children, parents[children]], expected.coords))
    assert sorted(ours) == sorted(theirs)
    assert np.count_nonzero(parents < 0) == 1
    assert np.allclose(lengths[children], np.square(X[children] - X[parents[children]]).sum(axis=1), rtol=1e-14)
    assert np.isinf(lengths[parents < 0]).all()


def cut_one_at_a_time(parents, lengths, k, most):
    """Return the parents after the longest edge that may go has gone, again and again, from the definition."""
    parents = parents.copy()
    while True:
        may_go = []
        for tree in components(parents):
            for child in tree[parents[tree] >= 0] if len(tree) > most else []:
                without = parents.copy()
                without[child] = -1
                sizes = [len(part) for part in components(without) if part[0] in tree]
                if min(sizes) >= k:
                    ends = sorted((int(child), int(parents[child])))
                    may_go.append((-lengths[child], ends, child))
        if not may_go:
            return parents
        parents[min(may_go)[2]] = -1


@for_each("seed", range(30))
def test_one_pass_cuts_as_one_at_a_time_does(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    k = int(rng.integers(1, 5))
    most = 2 * k - 1 + int(rng.integers(0, 4))
    parents = random_forest(n, rng, trees=int(rng.integers(1, 3)))
    lengths = np.where(parents < 0, np.inf, rng.integers(0, 4, n).astype(float))
    expected = cut_one_at_a_time(parents, lengths, k, most)
    cut_longest_edges(parents, lengths, k, most)
    assert np.array_equal(parents, expected)
    assert np.array_equal(np.isinf(lengths), parents < 0)


@for_each("k", [1, 2, 3, 4, 5, 6, 10])
def test_trees_without_an_edge_to_cut_are_divided_at_their_hubs(k):
    most = max(2 * k - 1, 3 * k - 5)
    divided = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(k, 8 * k + 20))
        parents = random_forest(n, rng)
        cut_longest_edges(parents, rng.random(n), k, most)
        before = [tree.tolist() for tree in components(parents)]
        divide_at_hubs(parents, k, most)
        after = [tree.tolist() for tree in components(parents)]
        assert sorted(record for tree in after for record in tree) == list(range(n))
        assert all(k <= len(tree) <= most for tree in after)
        # Nothing else is touched, and nothing is connected that was not.
        assert all(tree in after for tree in before if len(tree) <= most)
        assert all(any(set(tree) <= set(whole) for whole in before) for tree in after)
        divided += len(after) > len(before)
    assert divided > 10 or k == 1


def test_star_is_divided_along_its_points():
    # Each time the first two points go with the hub, and the others hang from the first of them, the next hub.
    parents = np.array([-1, 0, 0, 0, 0, 0, 0, 0])
    divide_at_hubs(parents, 3, 5)
    assert roots(parents).tolist() == [0, 0, 0, 3, 3, 3, 3, 3]
    # From another root it is the same star.
    parents = np.array([5, 0, 0, 0, 0, -1, 0, 0])
    divide_at_hubs(parents, 3, 5)
    assert [tree.tolist() for tree in components(parents)] == [[0, 1, 2], [3, 4, 5, 6, 7]]


def test_hub_goes_where_it_is_needed():
    # Branches of 3, 3, 3, 2 around record 0, k = 5, at most 10: 6 are collected and 5 left, so 0 stays with 1 to 6.
    parents = np.array([-1, 0, 1, 1, 0, 4, 4, 0, 7, 7, 0, 10])
    divide_at_hubs(parents, 5, 10)
    assert [tree.tolist() for tree in components(parents)] == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11]]
    # Branches of 3, 3, 3, 1: only 4 are left, and 0 goes with them.
    parents = np.array([-1, 0, 1, 1, 0, 4, 4, 0, 7, 7, 0])
    divide_at_hubs(parents, 5, 10)
    assert [tree.tolist() for tree in components(parents)] == [[0, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6]]
