"""A few figures of each column, whatever numbers it holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microagg.columns import bin_edges, summary
from tests.cases import for_each

EXTREME = {
    "whole numbers from 2^53": np.arange(30) + 2**53,
    "constant, far from 0": np.full(5, 1e17),
    "adjacent floats": np.array([1.0, np.nextafter(1.0, 2.0)]),
    "all that floats span": np.array([-1e308, 0.0, 1e308, 1.7e308]),
    "nanoseconds": np.int64(1_700_000_000_000_000_000) + np.arange(40) * 1_000,
    "the smallest": np.array([0.0, 5e-324, 1e-323]),
    "minus zero": np.array([-0.0, 0.0]),
    "infinite among others": np.array([-np.inf, 1.0, 3.0, np.inf]),
}


@for_each("values", EXTREME.values())
def test_every_finite_number_is_counted_and_the_figures_are_finite(values):
    [found] = summary(pd.DataFrame({"a": values})).to_dict("records")
    finite = values[np.isfinite(values.astype(float))].astype(float)
    assert sum(found["distribution"]) == len(finite)
    assert found["least"] == finite.min()
    assert found["greatest"] == finite.max()
    assert found["mean"] == pytest.approx((finite / 1e3).sum() / len(finite) * 1e3)


def test_the_mean_of_numbers_whose_sum_is_beyond_all_floats():
    assert summary(pd.DataFrame({"a": [1e308, 1e308, 1.3e308]}))["mean"].item() == pytest.approx(1.1e308)


@example(values=[1.7976931348623157e308], most=2)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30), st.integers(2, 40))
def test_edges_ascend_and_cover_all_values(values, most):
    edges = bin_edges(np.array(values), most)
    assert (edges[:-1] < edges[1:]).all()
    assert edges[0] <= min(values)
    assert edges[-1] >= max(values)
    assert len(edges) - 1 <= most


def test_bins_are_equally_wide():
    assert bin_edges(np.array([0.0, 0.5, 1.0, 2.0]), 4).tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert bin_edges(np.array([1.0, 8.0]), 4).tolist() == [0.5, 2.5, 4.5, 6.5, 8.5]
    assert bin_edges(np.array([0.25]), 4).tolist() == [-0.25, 0.25, 0.75]
