"""What blocks and parts are put together from: correlations of merged moments, messages, plans, and counted classes."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.distributed.block_moments import Moments
from microagg.distributed.planning import _batches
from microagg.distributed.reading import _numbered
from microagg.metrics.utility.correlations import changes_between, correlation_changes


def test_changes_of_correlations_are_those_of_the_records():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    X[:, 2] = 7.0
    replaced = X + rng.normal(scale=0.4, size=X.shape)
    replaced[:, 2] = 7.0
    found = changes_between(Moments.of(X).correlations(), Moments.of(replaced).correlations())
    expected = correlation_changes(X, replaced)
    np.testing.assert_allclose(found.attributes, expected.attributes, atol=1e-12)
    assert np.isnan(found.attributes[2])
    assert (found.largest, found.mean) == pytest.approx((expected.largest, expected.mean))
    assert found.pair == expected.pair
    alone = changes_between(np.ones((1, 1)), np.ones((1, 1)))
    assert (alone.largest, alone.mean, alone.pair) == (None, None, None)


@pytest.mark.parametrize(
    ("message", "numbered"),
    [
        (
            "column 'a' has NaN in record 3 (counting from 0), one of 2 such",
            "column 'a' has NaN in record 1003 (counting from 0), one of 2 such",
        ),
        ("column 'a' is not numeric (record 0 holds 'x')", "column 'a' is not numeric (record 1000 holds 'x')"),
        ("column 'record 5' has 1e300 in record 7: its", "column 'record 5' has 1e300 in record 1007: its"),
        ("column 'a' is 'record 5'", "column 'a' is 'record 5'"),
    ],
)
def test_records_are_counted_in_the_whole_file(message, numbered):
    assert _numbered(message, 1_000) == numbered


def test_tasks_have_blocks_that_follow_each_other():
    assert _batches(np.full(128, 10)) == tuple((first, first + 2) for first in range(0, 128, 2))
    assert _batches(np.array([5, 5, 5])) == ((0, 1), (1, 2), (2, 3))
    sizes = np.array([1_000_000, 600_000, 600_000, 10, 10] + [1_000] * 100_000)
    spans = _batches(sizes)
    assert [first for first, _ in spans[1:]] == [stop for _, stop in spans[:-1]]
    assert (spans[0][0], spans[-1][1]) == (0, len(sizes))
    assert max(int(sizes[first:stop].sum()) for first, stop in spans if stop > first + 1) <= 1 << 20
