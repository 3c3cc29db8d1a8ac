"""Changes of moments: by hand, and against numpy's and pandas' own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from microagg import DataError
from microagg.metrics import utility

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4))
RELEASED = X.reshape(12, 5, 4).mean(axis=1).repeat(5, axis=0) + np.array([0.0, 0.3, 0.0, 0.0])


def test_moments_are_those_of_numpy():
    found = utility.moments(X, RELEASED)
    sd = X.std(axis=0)
    assert found.means == pytest.approx((RELEASED.mean(axis=0) - X.mean(axis=0)) / sd)
    assert found.variances == pytest.approx(RELEASED.var(axis=0) / X.var(axis=0))
    for j in range(4):
        one, other = sorted(X[:, j]), sorted(RELEASED[:, j])
        at = [max(math.ceil(60 * level - 1e-9) - 1, 0) for level in utility.LEVELS]
        assert found.quantiles[j] == pytest.approx([(other[i] - one[i]) / sd[j] for i in at])
    change = np.abs(np.corrcoef(RELEASED.T) - np.corrcoef(X.T))
    upper = change[np.triu_indices(4, 1)]
    assert found.correlations.mean == pytest.approx(upper.mean())
    assert found.correlation_change == found.correlations.largest == pytest.approx(upper.max())
    assert change[found.correlations.pair] == pytest.approx(upper.max())
    one, other = (np.sort(np.linalg.eigvals(np.corrcoef(table.T)).real)[::-1] for table in (X, RELEASED))
    assert found.eigenvalue_change == pytest.approx(np.mean(np.abs(one - other) / one))
    assert found.notes == ()


def test_a_weight_of_2_is_a_record_that_is_there_twice():
    weights = np.tile([1.0, 2.0], 30)
    rows = np.concatenate([np.arange(60), np.arange(1, 60, 2)])
    weighted, twice = utility.moments(X, RELEASED, weights), utility.moments(X[rows], RELEASED[rows])
    assert weighted.means == pytest.approx(twice.means)
    assert weighted.variances == pytest.approx(twice.variances)
    assert weighted.quantiles == pytest.approx(twice.quantiles)
    assert weighted.correlations.attributes == pytest.approx(twice.correlations.attributes)
    assert weighted.eigenvalue_change == pytest.approx(twice.eigenvalue_change)
    assert weighted.means != pytest.approx(utility.moments(X, RELEASED).means)


def test_an_offset_and_the_file_twice_change_nothing():
    whole = RNG.integers(0, 500, size=(50, 3)).astype(float)
    released = whole + RNG.integers(-4, 5, size=(50, 3))
    plain = utility.moments(whole, released)
    for found in (
        utility.moments(whole + 1e8, released + 1e8),
        utility.moments(np.tile(whole, (2, 1)), np.tile(released, (2, 1))),
    ):
        assert found.means == pytest.approx(plain.means, rel=1e-12)
        assert found.variances == pytest.approx(plain.variances, rel=1e-12)
        assert found.quantiles == pytest.approx(plain.quantiles, rel=1e-12)
        assert found.correlation_change == pytest.approx(plain.correlation_change, rel=1e-9)
        assert found.eigenvalue_change == pytest.approx(plain.eigenvalue_change, rel=1e-9)


def test_constant_attributes_have_no_part_in_it():
    same = np.full((60, 1), 0.1)
    found = utility.moments(np.hstack([X, same]), np.hstack([RELEASED, same]))
    assert found.means[4] == 0.0
    assert np.isnan(found.variances[4])
    assert np.isnan(found.correlations.attributes[4])
    assert found.variance_change == utility.moments(X, RELEASED).variance_change
    assert found.eigenvalue_change == pytest.approx(utility.moments(X, RELEASED).eigenvalue_change)
    assert "1 of 5 attributes" in found.notes[0]


def test_one_group_of_all_and_one_record():
    found = utility.moments(X, np.tile(X.mean(axis=0), (60, 1)))
    assert found.variances == pytest.approx(np.zeros(4))
    assert found.variance_change == pytest.approx(1.0)
    assert found.correlation_change is found.eigenvalue_change is None
    assert len(found.notes) == 1
    one = utility.moments([[1.0, 2.0]], [[1.0, 2.0]])
    assert (one.mean_change, one.variance_change, one.quantile_change, one.eigenvalue_change) == (0.0, 0.0, 0.0, None)


def test_eigenvalues_that_are_0_are_left_out():
    # The third is the sum of the first two: one eigenvalue is 0, and what remains of it by rounding means nothing.
    before, after = (np.column_stack([table[:, :2], table[:, 0] + table[:, 1]]) for table in (X, RELEASED))
    found = utility.moments(before, after)
    one, other = (np.linalg.eigvalsh(np.corrcoef(table.T))[:0:-1] for table in (before, after))
    assert found.eigenvalue_change == pytest.approx(np.mean(np.abs(one - other) / one))
    assert "1 of 3 eigenvalues" in found.notes[0]


def test_of_very_many_attributes_eigenvalues_are_not_computed():
    wide = RNG.normal(size=(20, 1_030))
    found = utility.moments(wide, -wide[:, ::-1])
    assert found.eigenvalue_change is None
    assert "1,030 attributes" in found.notes[0]
    change = np.abs(np.corrcoef(wide[:, ::-1].T) - np.corrcoef(wide.T))[np.triu_indices(1_030, 1)]
    assert found.correlations.mean == pytest.approx(change.mean())
    assert found.correlations.largest == pytest.approx(change.max())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"3 records, but weights of shape \(2,\)"),
        ([1.0, 0.0, 2.0], "record 1 .* has the weight 0"),
        ([1.0, np.nan, 2.0], "column 'weights' has NaN"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        utility.moments([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], weights)
