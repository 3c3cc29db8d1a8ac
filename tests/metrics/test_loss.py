"""Loss and overlap against plain definitions, and which records and groups lose most."""

import numpy as np
import pytest

from microagg import DataError, metrics
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from tests import naive
from tests.cases import for_each


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(40, 4))


@pytest.fixture
def labels():
    return np.random.default_rng(2).integers(0, 6, size=40)


def test_sse_is_its_definition(X, labels):
    assert metrics.sse(X, labels) == pytest.approx(naive.sse(X, labels))
    assert metrics.record_sse(X, labels).sum() == pytest.approx(metrics.sse(X, labels))


def test_the_least_and_the_most_whatever_rounding_does(X):
    assert metrics.information_loss(X, np.zeros(40, dtype=int)) == 100.0
    assert metrics.information_loss(X, np.arange(40)) == pytest.approx(0.0)
    assert metrics.information_loss(np.full((5, 2), 3.3), [0, 0, 0, 1, 1]) == 0.0
    assert metrics.sst(X) == pytest.approx(metrics.sse(X, np.zeros(40, dtype=int)))
    assert metrics.loss.percent(1.0 + 1e-12, 1.0) == 100.0
    assert metrics.sst([[1e16], [1e16 + 2]]) == 2.0
    assert metrics.sse([1, 2, 3, 10], [0, 0, 0, 1]) == pytest.approx(2.0)


@pytest.mark.parametrize("measure", [metrics.sse, metrics.information_loss])
def test_invariances(measure, X, labels):
    value = measure(X, labels)
    order = np.random.default_rng(3).permutation(40)
    assert measure(X[order], labels[order]) == pytest.approx(value)
    assert measure(X, 10 - labels) == pytest.approx(value)
    assert measure(X + 1e8, labels) == pytest.approx(value, rel=1e-6)
    assert measure(X.tolist(), labels.tolist()) == pytest.approx(value)


@for_each(
    ("X", "labels", "says"),
    [
        ([[1.0], [np.nan]], [0, 0], "NaN"),
        ([[1.0], [2.0]], [0, 0, 0], "2 records, but there are labels for 3"),
        ([["a"], ["b"]], [0, 0], "numbers only"),
        ([[1.0], [2.0]], [0.5, 0.5], "whole numbers"),
        (np.zeros((2, 2, 2)), [0, 0], "table of n records"),
    ],
)
def test_bad_input_is_named(X, labels, says):
    with pytest.raises(DataError, match=says):
        metrics.information_loss(X, labels)


@for_each("seed", range(5))
def test_agreement_is_that_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    one = np.r_[np.arange(6), rng.integers(0, 6, 12)]
    other = np.where(np.arange(18) < 16, one, 5 - one)  # at most two records in other groups
    members = [[set(np.flatnonzero(labels == group)) for group in range(6)] for labels in (one, other)]
    alike = [members[0][a] == members[1][b] for a, b in zip(one, other, strict=True)]
    assert metrics.grouped_alike(one, 5 - other).tolist() == alike
    assert 0 < sum(alike) < len(alike)


def test_partitions_of_different_records_are_refused():
    with pytest.raises(DataError, match="of 2 records, the other of 3"):
        metrics.grouped_alike([0, 0], [0, 0, 1])


TOWNS = Taxonomy.flat(["a", "b", "c", "d"])


def records(towns, sizes):
    codes = [dict(zip(TOWNS.values, TOWNS.leaves, strict=True))[town] for town in towns]
    attributes = (Attribute("town", "nominal", taxonomy=TOWNS), Attribute("size"))
    return Records(attributes, np.column_stack([codes, np.array(sizes, dtype=float)]))


def test_the_records_of_numbers_that_lose_most_lie_furthest_from_their_means():
    # The means are (2, 0) and (10, 4): squared distances 4, 0, 4 and 1 + 16 twice.
    X = np.array([[0.0, 0], [2, 0], [4, 0], [9, 0], [11, 8]])
    labels = [7, 7, 7, 3, 3]
    assert metrics.record_shares(X, labels) == pytest.approx(100 * np.array([4, 0, 4, 17, 17]) / 42)
    found = metrics.records_losing_most(X, labels, most=3)
    assert found.records.tolist() == [3, 4, 0]
    assert found.attributes.tolist() == [1, 1, 0]
    assert found.shares == pytest.approx(100 * np.array([17, 17, 4]) / 42)
    assert not metrics.records_losing_most(X[:, 0].tolist(), labels).attributes.any()
    assert metrics.attribute_shares(X, labels) == pytest.approx([100 * 10 / 42, 100 * 32 / 42])
    assert metrics.cumulated(np.array([20.0, 50, 0, 30])).tolist() == [50, 80, 100, 100]


def test_groups_of_categories_that_lose_most():
    data, labels = records("aabacccd", [1, 2, 30, 3, 90, 91, 92, 100]), [0] * 4 + [1] * 4
    found = metrics.groups_losing_most(data, labels)
    # Shares: 1 + 29 / 99 and 1 + 10 / 99, times four records each.
    assert found.records.tolist() == [0, 4]
    assert found.shares == pytest.approx(100 * np.array([128, 109]) / 237)
    assert found.attributes.tolist() == [0, 0]
    shares = metrics.record_shares(data, labels)
    assert shares.sum() == pytest.approx(100)
    assert shares[:4].sum() == pytest.approx(found.shares[0])
    # Both groups lose the town whole, and 29 and 10 of 99 of the size.
    assert metrics.attribute_shares(data, labels) == pytest.approx([100 * 198 / 237, 100 * 39 / 237])
    # Groups that agree on categories lose by their numbers.
    found = metrics.groups_losing_most(records("aaabbb", [0, 4, 5, 90, 91, 100]), [0, 0, 0, 1, 1, 1], most=1)
    assert (found.records.tolist(), found.attributes.tolist()) == ([3], [1])
    assert found.shares == pytest.approx([100 * 10 / 15])


@pytest.mark.parametrize("shares", [metrics.record_shares, metrics.attribute_shares])
def test_shares_of_missing_values_are_refused(shares):
    with pytest.raises(DataError, match="NaN"):
        shares(np.array([[1.0], [np.nan]]), [0, 0])


def test_equal_records_lose_nothing():
    assert metrics.record_shares(np.ones((4, 2)), [0, 0, 1, 1]).tolist() == [0, 0, 0, 0]
    assert metrics.attribute_shares(np.zeros((4, 2)), [0, 0, 1, 1]).tolist() == [0, 0]
    same = records("aaaa", [1, 1, 1, 1])
    assert metrics.record_shares(same, [0, 0, 1, 1]).tolist() == [0, 0, 0, 0]
    assert metrics.groups_losing_most(same, [0, 0, 1, 1]).shares.tolist() == [0, 0]
