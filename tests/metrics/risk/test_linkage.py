"""Record linkage against values by hand and against all pairs of distances in plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import progress
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import record_linkage
from microagg.partition import group_means
from tests.cases import for_each


def by_all_pairs(X, released):
    """The definition: n x n distances, each record's row of them compared with its own."""
    found = []
    for i, x in enumerate(X):
        distances = np.sqrt(np.square(released - x).sum(axis=1))
        nearest = np.flatnonzero(distances <= distances.min() + 1e-9 * (1.0 + distances.min()))
        found.append(1.0 / len(nearest) if i in nearest else 0.0)
    return np.array(found)


def microaggregated(X, k, seed=0):
    """Groups of k along a random direction: bad ones, so that many records are nearer to another group."""
    order = np.argsort(X @ np.random.default_rng(seed).normal(size=X.shape[1]))
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, max(len(X) // k - 1, 0))
    return group_means(X, labels)[labels]


def test_by_hand():
    # Means 1, 1, 6, 6, 6: 0, 2 and 5, 6, 7 are nearest to their own.
    found = record_linkage([0.0, 2, 5, 6, 7], [1.0, 1, 6, 6, 6])
    assert found.probability == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])
    assert found.share == pytest.approx((1 + 1) / 5)
    assert found.n == 5
    assert found.rows.tolist() == [0, 1, 2, 3, 4]
    # 4 belongs to the mean 1 and is nearer to 6; 3.5 is as near to 1 as to 6, where two records and three are.
    found = record_linkage([-2.0, 4, 3.5, 6, 7], [1.0, 1, 6, 6, 6])
    assert found.probability == pytest.approx([1 / 2, 0, 1 / 5, 1 / 3, 1 / 3])
    # A file released as it is is linked except for equal records.
    X = np.array([[0.0, 1], [0, 1], [5, 5], [9, 2]])
    assert record_linkage(X, X).probability == pytest.approx([0.5, 0.5, 1, 1])


@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_it_is_what_all_pairs_of_distances_say(n, d, k, whole, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(float) if whole else rng.normal(size=(n, d))
    released = microaggregated(X, k, seed)
    assert record_linkage(X, released).probability == pytest.approx(by_all_pairs(X, released))


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_many_records_whatever_their_offset(offset):
    X = np.random.default_rng(3).normal(size=(1500, 4)) + offset
    released = microaggregated(X, 2)
    found = record_linkage(X, released)
    assert found.probability == pytest.approx(by_all_pairs(X - offset, released - offset))
    assert 0.0 < found.share < 0.5


def test_ties_are_found_among_all_records():
    # Each is in the middle of a square of four released records, except at two sides of the grid.
    released = np.array([[x, y] for x in range(24) for y in range(24)], dtype=float)
    found = record_linkage(released + 0.5, released)
    inside = (released < 23).sum(axis=1)
    assert found.probability == pytest.approx(np.array([1.0, 0.5, 0.25])[inside])


def test_records_that_cannot_be_told_apart_are_linked_by_chance():
    assert record_linkage(np.ones((4, 2)), np.ones((4, 2))).share == 0.25
    assert record_linkage([[1.0, 2.0]], [[1.0, 2.0]]).share == 1.0


def test_a_sample_is_looked_up_in_the_whole_release():
    X = np.random.default_rng(1).normal(size=(500, 2))
    released = microaggregated(X, 3)
    whole = record_linkage(X, released)
    found = record_linkage(X, released, sample=50, random_state=4)
    assert found.n == len(found.rows) == len(set(found.rows)) == 50
    assert found.probability.tolist() == whole.probability[found.rows].tolist()
    assert found.share == pytest.approx(whole.probability[found.rows].mean())
    assert record_linkage(X, released, sample=50, random_state=5).rows.tolist() != found.rows.tolist()
    assert record_linkage(X, released, sample=501).n == 500
    draws = [record_linkage(X, released, sample=50, random_state=seed).share for seed in range(60)]
    assert np.mean(draws) == pytest.approx(whole.share, abs=4 * np.std(draws) / np.sqrt(60))


def test_it_can_be_cancelled():
    X = np.random.default_rng(1).normal(size=(50, 2))
    with progress.watched(lambda message, share: False), pytest.raises(progress.Cancelled):
        record_linkage(X, X)


@for_each(
    ("X", "released", "parameters", "error", "says"),
    [
        ([[1.0], [np.nan]], [[1.0], [2.0]], {}, DataError, "in the originals: attribute 0 has NaN"),
        ([[1.0], [2.0]], [[1.0], [np.inf]], {}, DataError, "in the release: attribute 0 has infinity"),
        ([[1.0], [2.0]], [[1.0]], {}, DataError, r"shape \(2, 1\), the release has \(1, 1\)"),
        (np.empty((0, 2)), np.empty((0, 2)), {}, DataError, "no records"),
        ([["a"]], [[1.0]], {}, DataError, "numbers only"),
        (np.eye(2), np.eye(2), {"sample": 0}, ParameterError, "sample must be"),
        (np.eye(2), np.eye(2), {"sample": 1, "random_state": -1}, ParameterError, "random_state must be"),
    ],
)
def test_what_cannot_be_linked_is_named(X, released, parameters, error, says):
    with pytest.raises(error, match=says):
        record_linkage(X, released, **parameters)
