"""IL1s: by hand, and against a plain double loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from microagg import DataError
from microagg.metrics import utility
from tests.cases import for_each

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3)) * [1.0, 20.0, 0.01] + [0.0, 5.0, -7.0]
RELEASED = X.reshape(8, 5, 3).mean(axis=1).repeat(5, axis=0)


def test_it_is_that_of_a_few_records_by_hand():
    # Standard deviations are 2 and 1; the changes are 1, 1, 0, 0 and 0, 0, 0, 4.
    before = np.array([[0.0, 1.0], [0.0, 1.0], [4.0, 3.0], [4.0, 3.0]])
    after = np.array([[1.0, 1.0], [-1.0, 1.0], [4.0, 3.0], [4.0, 7.0]])
    found = utility.il1s(before, after)
    assert found.attributes == pytest.approx([2 / 4 / (2 * math.sqrt(2)), 4 / 4 / math.sqrt(2)])
    assert found.value == pytest.approx((0.25 + 1) / (2 * math.sqrt(2)))


def test_nothing_changed_is_0_and_one_group_of_all_is_at_most_1_over_the_root_of_2():
    assert utility.il1s(X, X).value == 0.0
    halves = np.array([0.0, 1.0] * 5)
    assert utility.il1s(halves, np.full(10, 0.5)).value == pytest.approx(1 / math.sqrt(2))
    assert utility.il1s(X, np.tile(X.mean(axis=0), (40, 1))).value < 1 / math.sqrt(2)


def test_more_of_the_same_records_or_attributes_do_not_change_it():
    value = utility.il1s(X, RELEASED).value
    assert utility.il1s(np.tile(X, (2, 1)), np.tile(RELEASED, (2, 1))).value == pytest.approx(value)
    assert utility.il1s(np.tile(X, (1, 2)), np.tile(RELEASED, (1, 2))).value == pytest.approx(value)
    whole = RNG.integers(0, 1000, size=(40, 2)).astype(float)
    released = whole + RNG.integers(-3, 4, size=(40, 2))
    assert utility.il1s(whole + 1e8, released + 1e8).value == utility.il1s(whole, released).value
    same = np.full((40, 1), 0.1)
    assert utility.il1s(np.hstack([X, same]), np.hstack([RELEASED, same])).value == pytest.approx(value)


def test_what_holds_one_value_loses_nothing():
    found = utility.il1s([[0.1, 1.0], [0.1, 3.0]], [[0.1 * (1 + 1e-15), 2.0], [0.1, 2.0]])
    assert found.attributes[0] == 0.0
    assert found.attributes == pytest.approx([0, 1 / math.sqrt(2)])
    assert found.value == pytest.approx(1 / math.sqrt(2))
    assert utility.il1s([[5.0]], [[5.0]]).value == 0.0


@for_each(
    ("before", "after", "message"),
    [
        ([[1.0, 2.0]], [[1.0]], r"shape \(1, 2\), the release has \(1, 1\)"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "of the same records, in the same order"),
        ([1.0, np.nan], [1.0, 2.0], "in the originals: attribute 0 has NaN"),
        ([1.0, 2.0], [1.0, np.inf], "in the release: attribute 0 has infinity"),
        (["a", "b"], [1.0, 2.0], "numbers only"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "no records"),
        ([[1.0, 5.0], [2.0, 5.0]], [[1.0, 5.0], [2.0, 6.0]], "attribute 1 holds one value only"),
    ],
)
def test_what_cannot_be_measured_is_refused(before, after, message):
    with pytest.raises(DataError, match=message):
        utility.il1s(before, after)
