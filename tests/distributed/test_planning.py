"""Moments of parts against those of all records, taken by numpy; the blocks that tasks work on, and their messages."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns.scaling import SCALES, Scaling
from microagg.distributed.passes import _shift_record_number, block_seed
from microagg.distributed.planning import Moments, _batches
from microagg.errors import DataError
from microagg.metrics import sst


def merged(X, ends):
    """Return the moments of X from those of the parts that end at ``ends``."""
    return reduce(Moments.merge, [Moments.of(part) for part in np.split(X, sorted(ends))])


@pytest.fixture(name="X")
def skewed():
    rng = np.random.default_rng(2)
    X = np.exp(rng.normal(size=(200, 3)))
    X[:, 2] += 3 * X[:, 0] - 1e4
    return X


@given(st.lists(st.integers(0, 200), max_size=8))
def test_any_parts_merge_to_the_whole(ends):
    X = np.random.default_rng(0).normal(size=(200, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + [0, 5, -9, 1e5]
    moments = merged(X, ends)
    assert moments.n == 200
    np.testing.assert_array_equal(moments.least, X.min(axis=0))
    np.testing.assert_array_equal(moments.greatest, X.max(axis=0))
    np.testing.assert_allclose(moments.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.comoments, 200 * np.cov(X.T, bias=True), rtol=1e-9)
    np.testing.assert_allclose(moments.correlations(), np.corrcoef(X.T), rtol=1e-9)


@pytest.mark.parametrize("method", SCALES)
@pytest.mark.parametrize("parts", [1, 2, 7, 200])
def test_scaling_is_that_of_all_records(X, method, parts):
    moments = merged(X, np.linspace(0, 200, parts + 1)[1:-1].astype(int))
    expected = Scaling.fit(X, method)
    scaling = moments.scaling(method)
    assert (scaling.method, scaling.constant) == (method, expected.constant)
    np.testing.assert_array_equal(scaling.low, expected.low)
    np.testing.assert_allclose(scaling.center, expected.center, rtol=1e-13)
    np.testing.assert_allclose(scaling.spread, expected.spread, rtol=1e-13)
    np.testing.assert_allclose(scaling.transform(X), expected.transform(X), rtol=1e-12, atol=1e-12)
    assert moments.sst(scaling).sum() == pytest.approx(sst(expected.transform(X)), rel=1e-12)


def test_constant_columns_stay_constant():
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0), np.full(9, 1e8 + 0.1)])
    moments = merged(X, [2, 5, 7])
    scaling = moments.scaling("zscore")
    assert scaling.constant == (0, 2)
    assert (scaling.transform(X)[:, [0, 2]] == 0.0).all()
    assert moments.sst(scaling).sum() == pytest.approx(9.0)
    assert np.isnan(moments.correlations()[[0, 2]]).all()
    ones = Moments.of(np.zeros((3, 1))).merge(Moments.of(np.ones((1, 1))))
    assert ones.scaling("zscore").constant == ()  # though it is constant in each part


def test_parts_without_records():
    none, some = Moments.of(np.empty((0, 2))), Moments.of(np.array([[1.0, 2.0], [4.0, 0.0]]))
    assert none.merge(some) is some
    assert some.merge(none) is some
    with pytest.raises(DataError, match="there are no records to scale"):
        none.merge(none).scaling("zscore")


def test_tasks_have_blocks_that_follow_each_other():
    assert _batches(np.full(128, 10)) == tuple((first, first + 2) for first in range(0, 128, 2))
    assert _batches(np.array([5, 5, 5])) == ((0, 1), (1, 2), (2, 3))
    sizes = np.array([1_000_000, 600_000, 600_000, 10, 10] + [1_000] * 100_000)
    spans = _batches(sizes)
    assert [first for first, _ in spans[1:]] == [stop for _, stop in spans[:-1]]
    assert (spans[0][0], spans[-1][1]) == (0, len(sizes))
    assert max(int(sizes[first:stop].sum()) for first, stop in spans if stop > first + 1) <= 1 << 20


@pytest.mark.parametrize(
    ("message", "numbered"),
    [
        (
            "'a' has NaN in record 3 (counting from 0), one of 2",
            "'a' has NaN in record 1003 (counting from 0), one of 2",
        ),
        ("'a' is not numeric (record 0 holds 'x')", "'a' is not numeric (record 1000 holds 'x')"),
        ("'record 5' has 1e300 in record 7: its", "'record 5' has 1e300 in record 1007: its"),
        ("column 'a' is 'record 5'", "column 'a' is 'record 5'"),
    ],
)
def test_records_are_counted_in_the_whole_file(message, numbered):
    assert _shift_record_number(message, 1_000) == numbered


def test_seeds_differ_by_seed_and_block_and_stay():
    seeds = {block_seed(seed, block) for seed in range(20) for block in range(50)}
    assert len(seeds) == 1000
    assert min(seeds) >= 0
    assert block_seed(0, 0) == 2968811710  # a release is made again from its recipe: it must not change
