"""Loss and bounds against plain definitions and brute force, and their invariances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, ParameterError, metrics
from tests import naive


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(40, 4))


@pytest.fixture
def labels():
    return np.random.default_rng(2).integers(0, 6, size=40)


def test_sse_is_its_definition(X, labels):
    assert metrics.sse(X, labels) == pytest.approx(naive.sse(X, labels))


def test_parts_add_up(X, labels):
    assert metrics.record_sse(X, labels).sum() == pytest.approx(metrics.sse(X, labels))
    assert metrics.group_sse(X, labels).sum() == pytest.approx(metrics.sse(X, labels))
    assert len(metrics.group_sse(X, labels)) == len(set(labels))


def test_one_group_loses_everything_and_singletons_nothing(X):
    assert metrics.information_loss(X, np.zeros(40, dtype=int)) == 100.0
    assert metrics.information_loss(X, np.arange(40)) == pytest.approx(0.0)
    assert metrics.sst(X) == pytest.approx(metrics.sse(X, np.zeros(40, dtype=int)))


def test_equal_records_lose_nothing():
    assert metrics.information_loss(np.full((5, 2), 3.3), [0, 0, 0, 1, 1]) == 0.0


@pytest.mark.parametrize("measure", [metrics.sse, metrics.information_loss])
def test_invariances(measure, X, labels):
    value = measure(X, labels)
    order = np.random.default_rng(3).permutation(40)
    assert measure(X[order], labels[order]) == pytest.approx(value)
    assert measure(X, 10 - labels) == pytest.approx(value)
    assert measure(X + 1e8, labels) == pytest.approx(value, rel=1e-6)
    assert measure(X.tolist(), labels.tolist()) == pytest.approx(value)


def test_one_attribute_may_be_one_dimensional():
    assert metrics.sse([1, 2, 3, 10], [0, 0, 0, 1]) == pytest.approx(2.0)


@pytest.mark.parametrize(
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


def partitions(n, k):
    """Yield the labels of every partition of n records into groups of k..2k-1; larger ones are never needed."""

    def extend(labels, free):
        if not free:
            yield labels.copy()
            return
        first, rest = free[0], free[1:]
        for size in range(k, min(2 * k - 1, len(free)) + 1):
            for others in itertools.combinations(rest, size - 1):
                group = labels.max() + 1
                labels[[first, *others]] = group
                yield from extend(labels, [record for record in rest if record not in others])
                labels[[first, *others]] = -1

    yield from extend(np.full(n, -1), list(range(n)))


@given(
    st.integers(2, 3),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=6, max_size=8),
)
def test_no_partition_beats_the_bound(k, records):
    X = np.array(records, dtype=float)
    optimum = min(metrics.sse(X, labels) for labels in partitions(len(X), k))
    assert metrics.bounds.nearest_neighbor(X, k).sse <= optimum


def test_bound_counts_a_record_out_by_index_not_by_distance():
    """Identical records are neighbors at distance 0; the record itself is not one of them."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [5.0]])
    # With k = 3: nearest two squared distances are 0+0 thrice, 0+1 twice, 16+16 once.
    assert metrics.bounds.nearest_neighbor(X, 3).sse == pytest.approx((2 * 1 + 32) / 6)


def test_bound_is_its_definition(X):
    d2 = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(d2, np.inf)
    smallest = np.sort(d2, axis=1)
    for bound in metrics.bounds.nearest_neighbor_curve(X, [5, 2, 1, 40]):
        expected = smallest[:, : bound.k - 1].sum() / (2 * bound.k)
        assert bound.sse == pytest.approx(expected)
        assert bound.sse <= expected
        assert bound.information_loss == pytest.approx(100 * expected / metrics.sst(X))


def test_bound_refuses_what_cannot_be():
    with pytest.raises(DataError, match=r"only 3 records .* fewer than k=4"):
        metrics.bounds.nearest_neighbor(np.zeros((3, 1)), 4)
    with pytest.raises(ParameterError, match="k must be at least 1"):
        metrics.bounds.nearest_neighbor(np.zeros((3, 1)), 0)
    with pytest.raises(DataError, match="NaN"):
        metrics.bounds.nearest_neighbor([[np.nan], [1.0]], 1)
