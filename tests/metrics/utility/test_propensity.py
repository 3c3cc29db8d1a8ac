"""Propensity scores against closed forms."""

import sys

import numpy as np
import pandas as pd
import pytest

from microagg import DataError
from microagg.metrics import utility
from tests.cases import for_each

RNG = np.random.default_rng(6)
X = RNG.normal(size=(400, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
RELEASED = X[X[:, 0].argsort()].reshape(50, 8, 2).mean(axis=1).repeat(8, axis=0)[X[:, 0].argsort().argsort()]


def test_of_categories_the_probability_is_the_share_of_released_records_in_each():
    before, after = (pd.DataFrame({"town": ["a"] * a + ["b"] * b}) for a, b in ((30, 10), (20, 20)))
    found = utility.propensity(before, after)
    squares = 50 * (20 / 50 - 0.5) ** 2 + 30 * (20 / 30 - 0.5) ** 2
    assert found.pmse == pytest.approx(squares / 80, rel=1e-4)
    assert found.share == pytest.approx(squares / 80 / 0.25, rel=1e-4)
    assert found.n == 40


def test_the_model_is_that_of_newtons_method():
    table = np.vstack([X, RELEASED])
    one, other = table.T
    A = np.column_stack([np.ones(800), one, other, one**2, other**2, one * other])
    y = np.repeat([0.0, 1.0], 400)
    beta = np.zeros(6)
    for _ in range(30):
        p = 1 / (1 + np.exp(-A @ beta))
        beta += np.linalg.solve((A.T * (p * (1 - p))) @ A, A.T @ (y - p))
    found = utility.propensity(X, RELEASED)
    assert found.pmse == pytest.approx(np.mean((p - 0.5) ** 2), rel=1e-3)


def test_it_is_0_of_equal_tables_and_a_quarter_of_those_that_share_nothing():
    assert utility.propensity(X, X).pmse == pytest.approx(0.0, abs=1e-12)
    assert utility.propensity(X, X[::-1]).pmse == pytest.approx(0.0, abs=1e-12)
    apart = utility.propensity(X, X + 100)
    assert apart.pmse == pytest.approx(0.25, abs=1e-3)
    assert apart.share == pytest.approx(1.0, abs=4e-3)


def test_neither_units_nor_an_offset_nor_a_constant_change_it():
    value = utility.propensity(X, RELEASED).pmse
    assert utility.propensity(X * [1000, 0.001], RELEASED * [1000, 0.001]).pmse == pytest.approx(value, rel=1e-3)
    before, after = np.round(X * 1000), np.round(RELEASED * 1000)
    far = utility.propensity(before + 1e8, after + 1e8).pmse
    assert far == pytest.approx(utility.propensity(before, after).pmse, rel=1e-9)
    same = np.full((400, 1), 0.1)
    assert utility.propensity(np.hstack([X, same]), np.hstack([RELEASED, same])).pmse == value


def test_of_more_records_a_sample_is_compared_and_said(monkeypatch):
    monkeypatch.setattr(sys.modules["microagg.metrics.utility.propensity"], "SAMPLE_COMPARED", 200)
    found = utility.propensity(X, RELEASED, random_state=3)
    assert found.n == 200
    assert found == utility.propensity(X, RELEASED, random_state=3)
    assert found.pmse != utility.propensity(X, RELEASED, random_state=4).pmse
    # The same records of both: nothing can be told apart where nothing is changed.
    assert utility.propensity(X, X).pmse == pytest.approx(0.0, abs=1e-12)


@for_each(
    ("before", "after", "message"),
    [
        ([[1.0]], [[1.0]], "no attribute varies"),
        (X[:9], RELEASED[:9], "9 records are too few .* 4 terms"),
        (np.zeros((2, 1001)), np.zeros((2, 1001)), "1,001 attributes are too many"),
        ([1.0, np.nan], [1.0, 2.0], "in the originals: attribute 0 has NaN"),
        (X, RELEASED[1:], "the same attributes of the same records"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(before, after, message):
    with pytest.raises(DataError, match=message):
        utility.propensity(before, after)
