"""Standard deviations and changes of correlations against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.metrics.utility.columns import correlation_changes, correlations, means_and_deviations

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4))
RELEASED = X.reshape(12, 5, 4).mean(axis=1).repeat(5, axis=0) + np.array([0.0, 0.3, 0.0, 0.0])


def test_correlations_and_their_changes_are_those_of_numpy():
    found = correlation_changes(X, RELEASED)
    assert correlations(X, RELEASED) == (pytest.approx(np.corrcoef(X.T)), pytest.approx(np.corrcoef(RELEASED.T)))
    change = np.abs(np.corrcoef(RELEASED.T) - np.corrcoef(X.T))
    assert found.largest == pytest.approx(change.max())
    assert change[found.pair] == pytest.approx(change.max())
    assert found.attributes == pytest.approx(change.max(axis=1))
    assert means_and_deviations(X)[1] == pytest.approx(X.std(axis=0))


def test_a_weight_of_2_is_a_record_that_is_there_twice():
    weights = np.tile([1.0, 2.0], 30)
    rows = np.concatenate([np.arange(60), np.arange(1, 60, 2)])
    weighted, twice = correlation_changes(X, RELEASED, weights), correlation_changes(X[rows], RELEASED[rows])
    assert weighted.attributes == pytest.approx(twice.attributes)
    assert weighted.largest != pytest.approx(correlation_changes(X, RELEASED).largest)
    for one, other in zip(means_and_deviations(X, weights)[:2], means_and_deviations(X[rows])[:2], strict=True):
        assert one == pytest.approx(other)


def test_an_offset_changes_nothing_and_constant_attributes_have_no_correlation():
    whole = RNG.integers(0, 500, size=(50, 3)).astype(float)
    released = whole + RNG.integers(-4, 5, size=(50, 3))
    largest = correlation_changes(whole, released).largest
    assert correlation_changes(whole + 1e8, released + 1e8).largest == pytest.approx(largest, rel=1e-9)
    same = np.full((50, 1), 0.1)
    found = correlation_changes(np.hstack([whole, same]), np.hstack([released, same]))
    assert np.isnan(found.attributes[3])
    assert found.largest == pytest.approx(largest)
    means = np.tile(whole.mean(axis=0), (50, 1))
    assert correlation_changes(whole, means).largest is None
