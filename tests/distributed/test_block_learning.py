"""What a cut costs, against counting it anew for each cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from microagg.columns.records import Attribute
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.block_learning import Cut, learn

TREE = Taxonomy.from_nested({"*": {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3", "b4"], "c": ["c1", "c2"]}})


def bits(share):
    return -share * np.log2(share) - (1 - share) * np.log2(1 - share)


def nearest(distances, count):
    """Return the positions of the nearest of each record, shape (n, count)."""
    return np.array([[j for j in np.argsort(row, kind="stable") if j != i][:count] for i, row in enumerate(distances)])


def cost(near, inside):
    """Return the cost of the first cut for each bit, by the definition."""
    kept = (inside[near] == inside[:, np.newaxis]).sum(axis=1)
    count = near.shape[1]
    return (1.0 + ((count + 1) / (kept + 1) - 1).sum()) / bits(inside.mean())


@pytest.mark.parametrize("seed", range(3))
def test_the_first_cut_of_numbers_is_the_cheapest(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(240, 3)) * [1.0, 2.0, 0.5], 2)
    X = np.unique(X, axis=0)
    distances = np.square(X[:, np.newaxis] - X).sum(axis=2)
    (cut,) = learn(X, [Attribute(j) for j in range(3)], 2, 1)
    near = nearest(distances, 2)
    found = cost(near, X[:, cut.attribute] <= cut.at_most)
    every = []
    for j in range(3):
        values = np.unique(X[:, j])
        for low, high in itertools.pairwise(values):
            inside = X[:, j] <= (low + high) / 2
            if 1 / 3 <= inside.mean() <= 2 / 3:  # an average block has half: from 1 / 1.5 of it
                every.append(cost(near, inside))
    assert found == pytest.approx(min(every))


def test_the_first_cut_of_categories_is_the_cheapest():
    rng = np.random.default_rng(1)
    values = np.column_stack([rng.choice(TREE.leaves, size=200), rng.integers(0, 40, size=200)]).astype(float)
    values = np.unique(values, axis=0)
    attributes = [Attribute("c", "nominal", taxonomy=TREE), Attribute("x")]
    span = np.ptp(values[:, 1])
    heights = np.array([[TREE.heights[TREE.join(int(a), int(b))] for b in values[:, 0]] for a in values[:, 0]])
    distances = heights + np.abs(values[:, 1, np.newaxis] - values[:, 1]) / span
    (cut,) = learn(values, attributes, 2, 1)
    near, every = nearest(distances, 1), {}
    for node in range(1, len(TREE.names)):
        parent = TREE.parents[node]
        alone = {leaf for leaf in TREE.leaves if node in TREE.ancestors(leaf)}
        before = {
            leaf for leaf in TREE.leaves if any(n in TREE.ancestors(leaf) for n in TREE.children[parent] if n <= node)
        }
        for leaves in (alone, before):
            every[tuple(sorted(leaves))] = np.isin(values[:, 0], list(leaves))
    for threshold in np.unique(values[:, 1])[:-1] + 0.5:
        every[float(threshold)] = values[:, 1] <= threshold
    costs = {key: cost(near, inside) for key, inside in every.items() if 1 / 3 <= inside.mean() <= 2 / 3}
    assert cost(near, cut.holds(values)) == pytest.approx(min(costs.values()))


def test_a_gap_is_cut_in_its_middle():
    assert learn(np.array([[0.0], [1.0], [10.0], [11.0]]), [Attribute("x")], 2, 1) == [Cut(0, 5.5, (), -1, -2)]


def test_only_neighbors_that_other_cuts_separate_count():
    # Along 0 there are pairs on both sides of 5.5, which the other cuts have kept together; that of 9 and 10 they have
    # not, and it is the one that must not be separated again.
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [17.0], [18.0], [19.0]])
    (cut,) = learn(X, [Attribute("x")], 2, 1, lambda values: (values[:, 0] > 9.5).astype(np.int64))
    assert not 9.0 <= cut.at_most < 10.0
    (cut,) = learn(X, [Attribute("x")], 2, 1, lambda values: np.zeros(len(values), dtype=np.int64))
    assert cut.at_most == 9.5  # nothing is lost: it is halved
