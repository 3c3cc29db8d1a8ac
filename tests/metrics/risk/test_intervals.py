"""Interval disclosure against values by hand and plain loops over sorted lists."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import interval_disclosure
from tests.cases import for_each


def test_ranks_by_hand():
    # Ranked: 1, 1, 6, 6, 6. One rank (0.2 · 5) on each side of 1 reaches from 1 to 6, of 6 from 1 to 6.
    found = interval_disclosure([0.0, 2, 5, 6, 7], [1.0, 1, 6, 6, 6], 0.2)
    assert found.attributes == pytest.approx([3 / 5])
    # Less than a rank: the interval is the value itself, and one record was released as it is.
    assert interval_disclosure([0.0, 2, 5, 6, 7], [1.0, 1, 6, 6, 6], 0.19).share == pytest.approx(1 / 5)


def test_deviations_by_hand():
    # The standard deviation of 0, 2, 4, 6 is √5; the released values are off by 1, 1, 1, 3.
    X, released = [0.0, 2, 4, 6], [1.0, 1, 5, 3]
    assert interval_disclosure(X, released, 1 / np.sqrt(5) + 1e-9, by="sd").share == 0.75
    assert interval_disclosure(X, released, 1 / np.sqrt(5) - 1e-9, by="sd").share == 0.0
    assert interval_disclosure(X, released, 3, by="sd").share == 1.0


def test_attributes_are_counted_apart_and_together():
    X = np.array([[0.0, 0], [2, 2], [4, 4], [6, 6]])
    released = np.array([[0.0, 9], [2, 2], [13, 13], [6, 6]])
    found = interval_disclosure(X, released, 0.1, by="sd")
    assert found.attributes.tolist() == [0.75, 0.5]
    assert found.share == 0.625
    assert found.all_attributes == 0.5


def by_loops(x, y, width):
    """For each record, the ranks that its released value has, and all values with a rank near one of these."""
    ranked = sorted(y)
    inside = 0
    for original, value in zip(x, y, strict=True):
        own = [rank for rank, other in enumerate(ranked) if other == value]
        near = [other for rank, other in enumerate(ranked) if any(abs(rank - at) <= width * len(y) for at in own)]
        inside += min(near) <= original <= max(near)
    return inside / len(y)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.sampled_from([0.01, 0.1, 0.25, 0.5, 1.0]),
)
def test_ranks_are_those_of_plain_loops(pairs, width):
    x, y = np.array(pairs, dtype=float).T
    assert interval_disclosure(x, y, width).share == pytest.approx(by_loops(x.tolist(), y.tolist(), width))


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=30), st.floats(0.01, 3))
def test_deviations_are_those_of_a_plain_loop(pairs, width):
    x, y = np.array(pairs, dtype=float).T
    reach = width * statistics.pstdev(x.tolist())
    # Where rounding decides, it may be either.
    least = sum(abs(a - b) <= reach * (1 - 1e-9) - 1e-12 for a, b in pairs) / len(pairs)
    most = sum(abs(a - b) <= reach * (1 + 1e-9) + 1e-12 for a, b in pairs) / len(pairs)
    assert least <= interval_disclosure(x, y, width, by="sd").share <= most


def test_a_share_of_the_ranks_is_not_cut_by_rounding():
    # 0.29 · 100 is 28.999999999999996 to a computer: 29 ranks.
    y = np.arange(100.0)
    x = y.copy()
    x[50] = 79.0
    assert interval_disclosure(x, y, 0.29).share == 1.0
    x[50] = 79.5
    assert interval_disclosure(x, y, 0.29).share == 0.99


@pytest.mark.parametrize("by", ["rank", "sd"])
def test_values_that_do_not_differ_are_disclosed(by):
    found = interval_disclosure(np.full((3, 2), 7.0), np.full((3, 2), 7.0), 0.1, by=by)
    assert (found.share, found.all_attributes) == (1.0, 1.0)
    assert interval_disclosure([[7.0]], [[7.0]], 0.1, by=by).share == 1.0


@for_each("width", [0, -0.1, np.nan, np.inf, 1.5, True, "wide"])
def test_widths_out_of_their_bounds(width):
    with pytest.raises(ParameterError, match="width must be"):
        interval_disclosure([1.0, 2.0], [1.0, 2.0], width)


def test_what_cannot_be_measured_is_named():
    with pytest.raises(ParameterError, match="by must be one of 'rank', 'sd', not 'range'"):
        interval_disclosure([1.0], [1.0], 0.1, by="range")
    with pytest.raises(DataError, match="in the release: attribute 0 has NaN"):
        interval_disclosure([1.0], [np.nan], 0.1)
