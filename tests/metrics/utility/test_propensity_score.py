"""The propensity-score MSE: by hand where the model is a table of shares, and against Newton's method in numpy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError
from microagg.metrics import utility
from tests.cases import for_each

RNG = np.random.default_rng(6)
X = RNG.normal(size=(400, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
RELEASED = X[X[:, 0].argsort()].reshape(50, 8, 2).mean(axis=1).repeat(8, axis=0)[X[:, 0].argsort().argsort()]


def test_of_categories_the_probability_is_the_share_of_released_records_in_each():
    before = pd.DataFrame({"town": ["a"] * 30 + ["b"] * 10})
    after = pd.DataFrame({"town": ["a"] * 20 + ["b"] * 20})
    found = utility.propensity(before, after)
    # 20 of 50 and 20 of 30.
    pmse = (50 * (0.4 - 0.5) ** 2 + 30 * (2 / 3 - 0.5) ** 2) / 80
    assert found.pmse == pytest.approx(pmse, rel=1e-4)
    assert found.share == pytest.approx(4 * pmse, rel=1e-4)
    assert found.ratio == pytest.approx(pmse / (1 / 80 * 0.125), rel=1e-4)
    assert (found.n, found.n_released, found.terms, found.products) == (40, 40, 1, False)


def test_of_tables_of_different_length_the_most_is_less_than_a_quarter():
    before = pd.DataFrame({"town": ["a"] * 60 + ["b"] * 20})
    after = pd.DataFrame({"town": ["a"] * 5 + ["b"] * 15})
    found = utility.propensity(before, after)
    # A share of 1/5 is released: of a 5 of 65, of b 15 of 35.
    pmse = (65 * (5 / 65 - 0.2) ** 2 + 35 * (15 / 35 - 0.2) ** 2) / 100
    assert found.pmse == pytest.approx(pmse, rel=1e-4)
    assert found.share == pytest.approx(pmse / 0.16, rel=1e-4)
    assert found.ratio == pytest.approx(pmse / (1 / 100 * 0.8**2 * 0.2), rel=1e-4)


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
    assert (found.terms, found.products) == (5, True)
    assert found.pmse == pytest.approx(np.mean((p - 0.5) ** 2), rel=1e-3)
    assert found.ratio == pytest.approx(found.pmse / (5 / 800 / 8))


def test_it_is_0_of_equal_tables_and_a_quarter_of_those_that_share_nothing():
    assert utility.propensity(X, X).pmse == pytest.approx(0.0, abs=1e-12)
    assert utility.propensity(X, X[::-1]).pmse == pytest.approx(0.0, abs=1e-12)
    apart = utility.propensity(X, X + 100)
    assert apart.pmse == pytest.approx(0.25, abs=1e-3)
    assert apart.share == pytest.approx(1.0, abs=4e-3)


def test_the_ratio_of_records_of_another_sample_is_about_2():
    # Of random labels the expected pMSE is (terms / N) c (1 − c): twice that of a model fitted to the originals.
    ratios = [utility.propensity(RNG.normal(size=(500, 5)), RNG.normal(size=(500, 5))).ratio for _ in range(20)]
    assert np.mean(ratios) == pytest.approx(2.0, rel=0.15)


def test_neither_units_nor_an_offset_nor_a_constant_change_it():
    value = utility.propensity(X, RELEASED).pmse
    assert utility.propensity(X * [1000, 0.001], RELEASED * [1000, 0.001]).pmse == pytest.approx(value, rel=1e-3)
    before, after = np.round(X * 1000), np.round(RELEASED * 1000)
    far = utility.propensity(before + 1e8, after + 1e8).pmse
    assert far == pytest.approx(utility.propensity(before, after).pmse, rel=1e-9)
    same = np.full((400, 1), 0.1)
    assert utility.propensity(np.hstack([X, same]), np.hstack([RELEASED, same])).pmse == value


def test_of_more_records_a_sample_is_compared_and_said():
    found = utility.propensity(X, RELEASED, sample=200, random_state=3)
    assert (found.n, found.n_released) == (200, 200)
    assert found == utility.propensity(X, RELEASED, sample=200, random_state=3)
    assert found.pmse != utility.propensity(X, RELEASED, sample=200, random_state=4).pmse
    # The same records of both: nothing can be told apart where nothing is changed.
    assert utility.propensity(X, X, sample=200).pmse == pytest.approx(0.0, abs=1e-12)
    uneven = utility.propensity(X, RELEASED[:300], sample=250)
    assert (uneven.n, uneven.n_released) == (250, 250)


def test_products_are_terms_of_few_attributes_only_and_squares_of_more_than_two_values():
    wide = RNG.normal(size=(800, 11))
    assert utility.propensity(wide, wide).terms == 22
    assert utility.propensity(wide[:, :10], wide[:, :10]).terms == 65
    assert utility.propensity(wide[:300, :10], wide[:300, :10]).terms == 20
    parts = np.repeat([0.0, 1.0], [30, 70])
    assert utility.propensity(parts, parts).terms == 1
    towns = pd.DataFrame({"town": [f"t{i % 30}" for i in range(300)], "x": RNG.normal(size=300)})
    assert utility.propensity(towns, towns).terms == 22


@for_each(
    ("before", "after", "message"),
    [
        ([[1.0]], [[1.0]], "no attribute varies"),
        ([1.0, 1.0], [1.0, 1.0], "no attribute varies"),
        (X[:9], RELEASED[:9], "9 records are too few to tell originals and release apart by 4 terms, which takes 20"),
        (np.zeros((2, 1001)), np.zeros((2, 1001)), "1,001 attributes are too many .* at most 1,000"),
        ([1.0, np.nan], [1.0, 2.0], "in the originals: attribute 0 has NaN"),
        ([[1.0, 2.0]], [[1.0]], "pass the same attributes of both"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(before, after, message):
    with pytest.raises(DataError, match=message):
        utility.propensity(before, after)


@for_each("given", [{"sample": 0}, {"sample": 1.5}, {"random_state": -1}, {"random_state": None}])
def test_what_a_sample_is_drawn_by_must_be_whole_numbers(given):
    with pytest.raises(ParameterError, match=f"{next(iter(given))} must be a whole number of at least"):
        utility.propensity(X, RELEASED, **given)


def test_one_value_changed_in_all_records_is_told():
    found = utility.propensity(np.full(50, 3.0), np.full(50, 4.0))
    assert found.share == pytest.approx(1.0, abs=1e-3)
