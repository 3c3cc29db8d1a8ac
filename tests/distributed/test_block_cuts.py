"""Cuts: who is in which block, and that ties, categories and few records do not break them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microagg.columns.records import Attribute
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.block_cuts import EVEN, Cuts

REGIONS = Taxonomy.from_nested(
    {"*": {"north": ["n1", "n2", "n3"], "south": ["s1", "s2"], "west": ["w1", "w2", "w3"], "east": ["e1", "e2"]}}
)


def numeric(d):
    return tuple(Attribute(f"x{j}") for j in range(d))


def sizes(cuts, values):
    return np.bincount(cuts.assign(values), minlength=cuts.n_blocks)


@settings(max_examples=40)
@given(arrays(float, (60, 2), elements=st.integers(-3, 3).map(float)), st.integers(1, 9))
def test_every_record_has_one_block_and_equal_records_the_same(X, n_blocks):
    cuts = Cuts.learn(X, numeric(2), n_blocks)
    blocks = cuts.assign(X)
    assert cuts.n_blocks <= n_blocks
    counts = np.bincount(blocks, minlength=cuts.n_blocks)
    assert len(counts) == cuts.n_blocks
    assert counts.min() > 0
    block_of = {}
    for row, block in zip(X.tolist(), blocks.tolist(), strict=True):
        assert block_of.setdefault(tuple(row), block) == block


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 5, 8, 13, 64])
def test_blocks_have_about_as_many_records(n_blocks):
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(20_000, 4)))
    cuts = Cuts.learn(X[:4_000], numeric(4), n_blocks)
    assert cuts.n_blocks == n_blocks
    on_sample = sizes(cuts, X[:4_000]) / (4_000 / n_blocks)
    assert on_sample.min() >= 1 / EVEN
    assert on_sample.max() <= EVEN
    on_all = sizes(cuts, X) / (20_000 / n_blocks)
    assert 0.4 < on_all.min() <= on_all.max() < 2.0


def test_by_hand():
    # Along the second attribute there are three pairs of neighbors: 0, 0 | 8, 9 | 20, 21.
    X = np.array([[5.0, 0.0], [1.0, 0.0], [6.0, 8.0], [2.0, 9.0], [3.0, 20.0], [9.0, 21.0]])
    cuts = Cuts.learn(X, numeric(2), 3)
    assert [(cut.attribute, cut.at_most) for cut in cuts.cuts] == [(1, 4.0), (1, 14.5)]
    assert cuts.assign(X).tolist() == [0, 0, 1, 1, 2, 2]
    assert cuts.assign(np.array([[0.0, 4.0], [0.0, 4.1], [0.0, 14.6]])).tolist() == [0, 1, 2]


def test_neighboring_numbers_are_told_apart_and_equal_ones_are_not():
    X = np.array([[1.0], [1.0], [np.nextafter(1.0, 2.0)], [np.nextafter(1.0, 2.0)]])
    assert Cuts.learn(X, numeric(1), 2).assign(X).tolist() == [0, 0, 1, 1]
    cuts = Cuts.learn(np.ones((50, 2)), numeric(2), 16)
    assert (cuts.n_blocks, cuts.assign(np.array([[7.0, -1.0]])).tolist()) == (1, [0])


@pytest.mark.parametrize("seed", range(4))
def test_cuts_pass_between_clusters(seed):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 9.0], [8.0, 9.0, 0.0]])
    cluster = rng.choice(3, size=3_000, p=[0.3, 0.4, 0.3])
    X = centers[cluster] + rng.normal(scale=0.5, size=(3_000, 3))
    # The median of every attribute is within a cluster.
    cuts = Cuts.learn(X, numeric(3), 2)
    blocks = cuts.assign(X)
    assert cuts.n_blocks == 2
    assert sum(len(set(blocks[cluster == c].tolist())) for c in range(3)) == 3


def test_nominal_cuts_keep_whats_below_a_node_together():
    rng = np.random.default_rng(7)
    attributes = (Attribute("region", "nominal", taxonomy=REGIONS),)
    values = rng.choice(REGIONS.leaves, size=(900, 1)).astype(float)
    cuts = Cuts.learn(values, attributes, 4)
    block_of = {REGIONS.names[leaf]: int(cuts.assign(np.array([[leaf]], dtype=float))[0]) for leaf in REGIONS.leaves}
    for region in ("north", "south", "west", "east"):
        assert len({block for name, block in block_of.items() if name[0] == region[0]}) == 1
    assert len(set(block_of.values())) == cuts.n_blocks == 4


@pytest.mark.parametrize(
    ("counts", "least", "expected"),
    [
        ([9, 9, 9, 9], 5, [0, 1, 2, 3]),
        ([9, 2, 9, 9], 5, [0, 0, 1, 2]),  # with its sibling
        ([2, 2, 9, 8], 5, [0, 0, 1, 0]),  # four are too few still: with the smallest on the other side
        ([3, 2, 9, 8], 5, [0, 0, 1, 2]),
        ([0, 0, 0, 9], 5, [0, 0, 0, 0]),
        ([1, 1, 1, 1], 5, [0, 0, 0, 0]),
        ([5, 5, 5, 0], 1, [0, 1, 2, 2]),
    ],
)
def test_small_blocks_are_joined(counts, least, expected):
    cuts = Cuts.learn(np.arange(8.0)[:, np.newaxis], numeric(1), 4)  # in a row, two and two below the first cut
    assert cuts.joined(np.array(counts), least).tolist() == expected


@pytest.fixture(scope="module")
def thirteen():
    return Cuts.learn(np.random.default_rng(1).normal(size=(260, 3)), numeric(3), 13)


@given(st.lists(st.integers(0, 40), min_size=13, max_size=13), st.integers(1, 60))
def test_joined_blocks_have_the_least(thirteen, counts, least):
    numbers = thirteen.joined(np.array(counts), least)
    together = np.bincount(numbers, weights=counts)
    assert together.min() >= least or len(together) == 1
    _, firsts = np.unique(numbers, return_index=True)
    assert (np.diff(firsts) > 0).all()  # numbered as they begin
    if min(counts) >= least:
        assert numbers.tolist() == list(range(13))


# What a cut costs, against counting it anew for each cut.

TREE = Taxonomy.from_nested({"*": {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3", "b4"], "c": ["c1", "c2"]}})


def bits(share):
    return -share * np.log2(share) - (1 - share) * np.log2(1 - share)


def nearest(distances, count):
    """Return the positions of the nearest of each record, shape (n, count)."""
    return np.array([[j for j in np.argsort(row, kind="stable") if j != i][:count] for i, row in enumerate(distances)])


def cost(near, inside):
    """Return the cost of the first cut for each bit, by the definition."""
    together = (inside[near] == inside[:, np.newaxis]).sum(axis=1)
    count = near.shape[1]
    return (1.0 + ((count + 1) / (together + 1) - 1).sum()) / bits(inside.mean())


@pytest.mark.parametrize("seed", range(3))
def test_the_first_cut_of_numbers_is_the_cheapest(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(240, 3)) * [1.0, 2.0, 0.5], 2)
    X = np.unique(X, axis=0)
    distances = np.square(X[:, np.newaxis] - X).sum(axis=2)
    (cut,) = Cuts.learn(X, numeric(3), 2).cuts
    near = nearest(distances, 2)
    cheapest = cost(near, X[:, cut.attribute] <= cut.at_most)
    every = []
    for j in range(3):
        values = np.unique(X[:, j])
        for low, high in itertools.pairwise(values):
            inside = X[:, j] <= (low + high) / 2
            if 1 / 3 <= inside.mean() <= 2 / 3:  # an average block has half: from 1 / 1.5 of it
                every.append(cost(near, inside))
    assert cheapest == pytest.approx(min(every))


def test_the_first_cut_of_categories_is_the_cheapest():
    rng = np.random.default_rng(1)
    values = np.column_stack([rng.choice(TREE.leaves, size=200), rng.integers(0, 40, size=200)]).astype(float)
    values = np.unique(values, axis=0)
    attributes = [Attribute("c", "nominal", taxonomy=TREE), Attribute("x")]
    span = np.ptp(values[:, 1])
    lineages = [set(TREE.ancestors(int(leaf))) for leaf in values[:, 0]]
    heights = np.array([[min(TREE.heights[node] for node in one & other) for other in lineages] for one in lineages])
    distances = heights + np.abs(values[:, 1, np.newaxis] - values[:, 1]) / span
    (cut,) = Cuts.learn(values, attributes, 2).cuts
    near, every = nearest(distances, 1), {}
    for node in range(1, len(TREE.names)):
        parent = TREE.parents[node]
        alone = {leaf for leaf in TREE.leaves if node in TREE.ancestors(leaf)}
        siblings = [other for other in TREE.children[parent] if other <= node]
        before = {leaf for leaf in TREE.leaves if any(other in TREE.ancestors(leaf) for other in siblings)}
        for leaves in (alone, before):
            every[tuple(sorted(leaves))] = np.isin(values[:, 0], list(leaves))
    for threshold in np.unique(values[:, 1])[:-1] + 0.5:
        every[float(threshold)] = values[:, 1] <= threshold
    costs = {key: cost(near, inside) for key, inside in every.items() if 1 / 3 <= inside.mean() <= 2 / 3}
    assert cost(near, cut.holds(values)) == pytest.approx(min(costs.values()))
