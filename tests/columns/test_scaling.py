"""Scales against their definitions and their numerical pitfalls."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microagg.columns.scaling import SCALES, Scaling, standardize
from microagg.errors import ConstantColumnWarning, DataError, ParameterError
from tests.cases import for_each


def scale(X, method):
    return Scaling.fit(X, method).transform(X)


@pytest.fixture(name="X")
def numbers():
    return np.random.default_rng(1).integers(-1000, 1000, size=(50, 3)).astype(float)


def test_standardize_against_exact_arithmetic():
    column = [0.1, 0.7, 1e8 + 0.3, 5.0]
    exact = [Fraction(x) for x in column]
    mean = sum(exact) / 4
    sd = float(sum((x - mean) ** 2 for x in exact) / 4) ** 0.5
    np.testing.assert_allclose(standardize(column)[:, 0], [float(x - mean) / sd for x in exact], rtol=1e-15)


@given(arrays(float, (20, 3), elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 6))))
def test_standardize_gives_mean_0_and_variance_1_or_0(X):
    constant = X.max(axis=0) == X.min(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        Z = standardize(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(np.square(Z).mean(axis=0), np.where(constant, 0.0, 1.0), rtol=1e-12)
    assert (Z[:, constant] == 0.0).all()


@pytest.mark.parametrize("method", ["zscore", "minmax"])
@pytest.mark.parametrize("shift", [1e8, -1e8, 2.0**50])
def test_a_common_offset_changes_nothing_at_all(X, method, shift):
    np.testing.assert_array_equal(scale(X + shift, method), scale(X, method))


@pytest.mark.parametrize("method", ["zscore", "minmax"])
def test_constant_columns_become_0(method):
    # The mean of 0.1 over these is not 0.1: a variance computed about it is not 0.
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0), np.full(7, 1e8 + 0.1)])
    scaled = scale(X, method)
    assert (scaled[:, [0, 2]] == 0.0).all()
    assert np.ptp(scaled[:, 1]) > 0
    # Whatever else is put on the scale.
    assert (Scaling.fit(X, method).transform(X + 2)[:, [0, 2]] == 0.0).all()
    nearly_constant = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert np.ptp(scale(nearly_constant, method)) >= 1


def test_constant_columns_are_named():
    with pytest.warns(ConstantColumnWarning, match="^attribute 0 and attribute 2 hold one value only: they become 0"):
        standardize([[1, 2, 3], [1, 5, 3]])
    with pytest.warns(ConstantColumnWarning, match="^column 'b' holds one value only: it becomes 0") as caught:
        standardize(pd.DataFrame({"a": [1, 2], "b": [3, 3]}))
    assert caught[0].filename == __file__


def test_scaling_applies_to_other_values(X):
    for method in SCALES:
        scaling = Scaling.fit(X, method)
        np.testing.assert_array_equal(scaling.transform(X[:5]), scale(X, method)[:5])


@for_each(
    ("X", "says"),
    [
        ([[1.0, 2.0], [1.5, np.nan]], "attribute 1 has NaN .* in record 1"),
        (pd.DataFrame({"a": [1, 2], "b": [1.0, np.nan]}), "column 'b' has NaN"),
        (pd.DataFrame({"a": [1, 2], "t": ["x", "y"]}), "column 't' is not numeric .*'x'"),
        ([["a"], ["b"]], "numbers only"),
        (np.empty((0, 2)), "no records"),
        (pd.DataFrame(index=[0, 1]), "table of n records"),
        ([[0.0], [1e-200]], "attribute 0 has a range of 1e-200: .* smaller units"),
        ([[0.0], [1e200]], "larger units"),
    ],
)
def test_bad_data_are_named(X, says):
    with pytest.raises(DataError, match=says):
        standardize(X)


def test_bad_scales_are_named(X):
    with pytest.raises(ParameterError, match=r"scale must be one of 'zscore', 'minmax', 'none', not \['zscore'\]"):
        scale(X, ["zscore"])
