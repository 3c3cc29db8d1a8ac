"""Tables of many kinds, what a pass over all their records answers, and what a k-d tree of them has to know."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from microagg.kernels.neighbors.kd_tree import FAN, LEAF, NO_INDEX, leaf_of, make_tree, with_landmarks


def with_outliers(n, d, rng):
    X = rng.normal(size=(n, d))
    X[rng.choice(n, 3)] *= 1e18
    return X


def clustered(n, d, rng):
    return rng.normal(scale=50, size=(6, d))[rng.integers(0, 6, n)] + rng.normal(size=(n, d))


def mostly_one(n, d, rng):
    return np.where(rng.random((n, 1)) < 0.9, 0.1, rng.normal(size=(n, d)))


def on_a_sphere(n, d, rng):
    X = rng.normal(size=(n, d))
    return X / np.sqrt(np.square(X).sum(axis=1, keepdims=True))


# Each takes the number of records, the number of attributes and a random generator.
FAMILIES = {
    "uniform": lambda n, d, rng: rng.random((n, d)),
    # Almost all distances tie, and most records have twins.
    "grid": lambda n, d, rng: rng.integers(0, 4, (n, d)),
    "corners": lambda n, d, rng: rng.integers(0, 2, (n, d)) * 2 - 1,
    "evenly-spaced": lambda n, d, rng: np.column_stack([rng.permutation(n) for _ in range(d)]),
    "mostly-one": mostly_one,
    "all-equal": lambda n, d, rng: np.full((n, d), 0.1),
    "constant-but-one": lambda n, d, rng: np.column_stack([np.full((n, d - 1), -3.0), rng.normal(size=n)]),
    "heavy-tailed": lambda n, d, rng: rng.lognormal(sigma=3, size=(n, d)),
    "clustered": clustered,
    "on-a-sphere": on_a_sphere,
    "far-from-origin": lambda n, d, rng: 1e8 + rng.normal(size=(n, d)),
    "with-outliers": with_outliers,
    "unequal-scales": lambda n, d, rng: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d),
}


def generate(family, n, d):
    # The seed names the case, not the order of the tests: a failure can be reproduced alone.
    rng = np.random.default_rng([n, d, *family.encode()])
    return np.ascontiguousarray(FAMILIES[family](n, d, rng), dtype=float), rng


def squared(X, point):
    """Return the squared distances of all records to a point, added attribute by attribute."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        difference = X[:, j] - point[j]
        total += difference * difference
    return total


def first(values, records, most):
    """Return the records with the smallest values, ties by index."""
    records = np.sort(np.asarray(records, dtype=np.int64))
    return records[np.argsort(values[records], kind="stable")][:most].tolist()


def exact_centroid(X, records):
    return np.array([math.fsum(column) / len(records) for column in X[records].T])


def from_outside(X):
    """Return the records by their distance from the centroid of all, farthest first."""
    return np.array(first(-squared(X, exact_centroid(X, np.arange(len(X)))), np.arange(len(X)), len(X)))


def orders_to_leave_in(X, rng):
    """Yield orders in which records may leave: at random, from the outside inwards, and neighbors together."""
    yield rng.permutation(len(X))
    yield from_outside(X)
    yield np.argsort(squared(X, X[0]), kind="stable")


def found(count, query):
    return query.records[:count].tolist()


def tree_of(X, threads=1):
    return make_tree(np.ascontiguousarray(X.T), exact_centroid(X, np.arange(len(X))), threads)


def tree_with_landmarks(tree, landmarks):
    with ThreadPoolExecutor(2) as executor:
        return with_landmarks(tree, landmarks, executor)


def below(tree, node):
    """Return the records left below a node, by its leaves."""
    while 2 * node >= len(tree.ends) > node:
        start = tree.ends[node, 0]
        return tree.records[start : start + tree.left[node]].tolist()
    return below(tree, 2 * node) + below(tree, 2 * node + 1)


def assert_sound(tree, X, alive):
    """Every node knows exactly the records left below it, and every record is where its slot says."""
    n = len(X)
    assert sorted(below(tree, 1)) == alive.tolist()
    assert sorted(tree.records.tolist()) == list(range(n))
    gone = np.setdiff1d(np.arange(n), alive)
    assert (tree.slots[gone] == -1).all()
    assert (tree.records[tree.slots[alive]] == alive).all()
    reach = np.stack([squared(X, landmark) for landmark in tree.landmarks])
    for node in range(1, len(tree.ends)):
        members = below(tree, node)
        assert tree.left[node] == len(members)
        low, high = tree.boxes[node // FAN, :, :, node % FAN]
        if members:
            assert np.array_equal(low, X[members].min(axis=0))
            assert np.array_equal(high, X[members].max(axis=0))
            assert tree.lowest[node] == min(members)
            assert (tree.reach[:, node] >= reach[:, members].max(axis=1)).all()
        else:
            assert (low == np.inf).all()
            assert (high == -np.inf).all()
            assert tree.lowest[node] == NO_INDEX
        start, stop = tree.ends[node]
        if 2 * node < len(tree.ends):
            assert tree.ends[2 * node, 0] == start
            assert tree.ends[2 * node, 1] == tree.ends[2 * node + 1, 0]
            assert tree.ends[2 * node + 1, 1] == stop
        else:
            assert stop - start <= LEAF
            leaf = tree.coordinates[node - len(tree.coordinates)]
            assert np.array_equal(leaf[:, : len(members)].T, X[members])
            assert all(leaf_of(tree, slot) == node for slot in range(start, stop))
