"""Individual risks of records of a sample, against closed forms and the negative binomial distribution."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import individual_risk
from tests.cases import for_each

FRAME = pd.DataFrame({"sex": list("fmmffff"), "town": list("abbaaaa")})


def test_risk_of_small_classes_by_their_closed_form():
    # As sdcMicro has them: of one p/(1−p)·ln(1/p), of two p/(1−p) − (p/(1−p))²·ln(1/p).
    frame = pd.DataFrame({"x": [1, 2, 2]})
    found = individual_risk(frame, ["x"], [50, 30, 70])
    odds = 0.02 / 0.98
    assert found.risk == pytest.approx([odds * log(50)] + [odds - odds**2 * log(50)] * 2)
    assert found.expected == pytest.approx(sum(found.risk))
    assert found.share == pytest.approx(found.expected / 3)
    # Of a census it is one in the size of the class.
    assert individual_risk(FRAME, ["sex"], np.ones(7)).risk == pytest.approx([1 / 5, 1 / 2, 1 / 2] + [1 / 5] * 4)


@for_each("f", [1, 3, 19, 20, 21, 100, 5000])
@for_each("weight", [1.5, 30])
def test_risk_of_classes_of_any_size(f, weight):
    unseen = np.arange(400_000)
    expected = (nbinom.pmf(unseen, f, 1 / weight) / (unseen + f)).sum()
    found = individual_risk(pd.DataFrame({"x": np.zeros(f)}), ["x"], np.full(f, weight))
    assert found.risk == pytest.approx(np.full(f, expected))


def test_risk_of_large_classes_is_about_one_in_their_size_in_the_population():
    frame = pd.DataFrame({"x": np.zeros(100_000)})
    assert individual_risk(frame, ["x"], np.full(100_000, 20.0)).risk[0] == pytest.approx(1 / 2_000_000, rel=1e-4)


@for_each(
    ("weights", "says"),
    [
        ([1, 1, 0.5, 1, 1, 1, 1], "record 2 .* is 0.5"),
        ([np.nan] * 7, "record 0 .* is nan"),
        ([1, 2], r"7 records, not of shape \(2,\)"),
        (list("abcdefg"), "weights must be numbers"),
    ],
)
def test_wrong_weights_are_named(weights, says):
    with pytest.raises(DataError, match=says):
        individual_risk(FRAME, ["sex"], weights)
    with pytest.raises(ParameterError, match="columns is empty"):
        individual_risk(FRAME, [], np.ones(7))
