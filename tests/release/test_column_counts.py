"""Counting equal records agrees with plain column_counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from microagg.metrics.risk import equivalence_classes
from microagg.release import column_counts
from microagg.release.column_counts import Uniform


def test_uniform_classes():
    classes = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4])
    codes = np.array([5, 5, 5, 6, 6, 6, 5, 5, 5, -1, -1])
    # Classes 0 and 3 have 5 only, class 2 has 6 only; class 4 has no value.
    assert column_counts.uniform(classes, codes) == Uniform(3, 7, 5, 5)
    assert column_counts.uniform(np.array([0, 1, 0, 1]), np.array([5, 6, 6, 5])) is None
    # A missing value hides nothing, but is one itself where there is only one other.
    assert column_counts.uniform(np.array([0, 0, 0, 1, 1]), np.array([1, 1, -1, 0, 1])) == Uniform(1, 2, 1, 2)
    assert column_counts.uniform(np.array([0, 0]), np.array([-1, 0])) is None


def codes_of(values):
    return equivalence_classes.coded(pd.Series(values))


def determines(column, target):
    return column_counts.determined(codes_of(column), {"target": codes_of(target)}) == ["target"]


def test_one_record_in_a_hundred_may_disagree():
    column, target = ["a", "b"] * 100, [1, 2] * 100
    assert determines(column, [9, 9, *target[2:]])
    assert not determines(column, [9, 9, 9, *target[3:]])


def test_agreement_by_chance_is_not_enough():
    # Each value of the column has two records; by chance two records agree on a coin in half of all cases.
    pairs = [value for value in range(10) for _ in (1, 2)]
    assert 0.5**6 > column_counts.CHANCE > 0.5**7
    assert not determines(pairs[:12], [1, 1, 2, 2] * 3)
    assert determines(pairs[:16], [1, 1, 2, 2] * 4)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 4), st.integers(0, 3))
def test_determined_is_what_its_definition_says(column, many, astray):
    column = column * many
    target = [9] * astray + [value % 3 for value in column[astray:]]
    rows = list(zip(column, target, strict=False))
    target = target[: len(column)]
    frequent = Counter(column)
    compared = [(c, t) for c, t in rows if frequent[c] > 1]
    groups = defaultdict(Counter)
    for c, t in compared:
        groups[c][t] += 1
    m = len(compared)
    agreeing = sum(max(group.values()) for group in groups.values())
    shares = [count / m for count in Counter(t for _, t in compared).values()]
    expected = (
        m > 0
        and 2 * m >= len(rows)
        and agreeing >= 0.99 * m
        and max(shares) < 0.95
        and sum(share**2 for share in shares) ** (m - len(groups)) <= 0.01 * (1 + 1e-9)
    )
    assert determines(column, target) == expected


def in_order(values, target):
    return column_counts.in_order(np.array(values, dtype=float), {"target": np.array(target, dtype=float)}) == [
        "target"
    ]


def test_a_column_computed_from_another_has_its_order():
    assert in_order([3, 1, 2, 6, 5, 4], [30, 10, 20, 60, 50, 40])
    assert in_order([3, 1, 2, 6, 5, 4], [-30, -10, -20, -60, -50, -40])
    assert not in_order([3, 1, 2, 6, 5, 4], [30, 10, 20, 60, 40, 50])
    # Equal values of the column must be equal in the target: ages by tens do not tell ages.
    assert not in_order([1, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7])
    assert not in_order([1, 1, 2, 3, 4, 5, 6], [7, 6, 5, 4, 3, 2, 1])
    assert in_order([1, 2, 3, 4, 5, 6, 7, np.inf, np.nan], [1, 1, 1, 4, 5, 6, 7, 8, 0])


def test_an_order_by_chance_is_not_enough():
    # Of 5! = 120 orders two are counted, more than one in a hundred; of 6! = 720 two are less.
    assert not in_order(range(5), range(5))
    assert in_order(range(6), range(6))
    # Of the places of two among eight there are 28.
    assert not in_order(range(8), [0] * 6 + [1] * 2)
    assert not in_order(range(100), [0] * 95 + [1] * 5)
    assert not in_order([np.nan] * 9, range(9))


def test_one_record_in_a_hundred_may_be_out_of_order():
    target = np.arange(102)
    target[[3, 4]] = target[[4, 3]]
    assert in_order(range(102), target)
    target[[8, 9]] = target[[9, 8]]
    assert not in_order(range(102), target)


def test_numbers_and_dates_are_measured():
    for other in (["a", "1"], [True], [[1]], [1 + 1j], ["01/02/2003"], [pd.Timedelta(days=1)]):
        assert column_counts.measured(pd.Series(other)) is None
    days = pd.Series(pd.to_datetime(["1970-01-02", None]))
    for column, expected in (
        (["1.5", None], 1.5),
        (["2.1.1970", None], 1.0),
        ([date(1970, 1, 3), None], 2.0),
        (pd.array([1, None], "Int64"), 1.0),
        (days, 86_400e6),
        (days.dt.tz_localize("UTC"), 86_400e6),
    ):
        np.testing.assert_array_equal(column_counts.measured(pd.Series(column)), [expected, np.nan])
