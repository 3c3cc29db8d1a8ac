"""Attribute disclosure and intervals, against values by hand and plain loops."""

import statistics
from collections import Counter
from math import exp, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import homogeneity, interval_disclosure
from tests.cases import for_each


def test_diversity_by_hand():
    # Group 7: flu three times, a cold once. Group 3: HIV only. Group 5: each of three once, flu again.
    illness = ["flu", "flu", "hiv", "cold", "flu", "hiv", "flu", "cold", "hiv", "flu"]
    found = homogeneity(illness, [7, 7, 3, 7, 7, 3, 5, 5, 5, 5])
    assert found.sizes.tolist() == [4, 2, 4]
    assert found.distinct.tolist() == [2, 1, 3]
    assert found.entropies == pytest.approx([4 / 3**0.75, 1, exp(0.5 * log(2) + 0.5 * log(4))])
    assert found.largest.tolist() == [0.75, 1, 0.5]
    assert (found.distinct_l, found.entropy_l, found.alpha) == (1, 1.0, 1.0)
    assert found.homogeneous == 0.2


def test_the_salaries_of_li_li_and_venkatasubramanian():
    # Their Section 4.3: salaries 3k to 11k once each; {3k, 4k, 5k} is 0.375 away, {6k, 8k, 11k} is 0.167.
    salaries = np.array([3, 4, 5, 6, 8, 11, 7, 9, 10]) * 1000
    found = homogeneity(salaries, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert found.distances[:2] == pytest.approx([0.375, 1 / 6])
    assert found.t_closeness == pytest.approx(0.375)


def test_categories_without_an_order_are_all_as_far_apart():
    found = homogeneity(list("aabbcc"), [0, 0, 0, 1, 1, 1])
    # Shares of the first group: 2/3, 1/3, 0, of all: 1/3 each.
    assert found.distances == pytest.approx([1 / 3, 1 / 3])
    numbers = [10, 10, 20, 20, 30, 30]
    assert homogeneity(numbers, [0, 0, 0, 1, 1, 1], ordered=False).distances == pytest.approx([1 / 3, 1 / 3])
    # In order: cumulated 2/3, 1, 1 against 1/3, 2/3, 1.
    assert homogeneity(numbers, [0, 0, 0, 1, 1, 1]).distances == pytest.approx([1 / 3, 1 / 3])
    grades = pd.Categorical(list("aaabbc"), categories=list("xcba"), ordered=True)
    ranks = homogeneity([3, 3, 3, 2, 2, 1], [0, 0, 0, 1, 1, 1])
    assert homogeneity(grades, [0, 0, 0, 1, 1, 1]).distances == pytest.approx(ranks.distances)


def by_loops(values, labels):
    """Each measure from its definition, group by group."""
    whole, rows = Counter(values), []
    for label in dict.fromkeys(labels):
        group = Counter(value for value, own in zip(values, labels, strict=True) if own == label)
        size = sum(group.values())
        shares = [count / size for count in group.values()]
        apart = sum(abs(group[value] / size - whole[value] / len(values)) for value in whole) / 2
        rows.append((len(group), exp(-sum(share * log(share) for share in shares)), max(shares), apart))
    return np.array(rows).T


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), min_size=1, max_size=50))
def test_categories_are_those_of_plain_loops(records):
    values, labels = map(list, zip(*records, strict=True))
    found = homogeneity(values, labels)
    figures = [found.distinct, found.entropies, found.largest, found.distances]
    assert np.array(figures) == pytest.approx(by_loops(values, labels))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=50))
def test_ordered_distances_are_scipys_wasserstein_distance_of_ranks(records):
    values, labels = map(np.array, zip(*records, strict=True))
    ranks = np.unique(values, return_inverse=True)[1]
    most = max(ranks.max(), 1)
    expected = [wasserstein_distance(ranks[labels == own], ranks) / most for own in dict.fromkeys(labels.tolist())]
    assert homogeneity(values * 1.5 - 3, labels).distances == pytest.approx(expected, abs=1e-12)


@for_each(
    ("values", "ordered"),
    [
        (pd.Series([3, 1, 2, 1], dtype="Int64"), [2, 0, 1, 0]),
        (pd.to_datetime(["2022-01-01", "2020-01-01", "2021-06-01", "2020-01-01"]), [2, 0, 1, 0]),
        (pd.Series([3.5, 1, 2, 1], index=[9, 9, 9, 9]), [2, 0, 1, 0]),
        (pd.Series([True, False, True, True]), None),
        (pd.Series(["c", "a", "b", "a"]), None),
        (pd.Series(["c", "a", "b", "a"], dtype="category"), None),
        (np.array(["c", 1, 2.0, 1], dtype=object), None),
    ],
)
def test_numbers_dates_and_ordered_categories_have_an_order(values, ordered):
    labels = [0, 0, 1, 1]
    expected = homogeneity(list(values) if ordered is None else ordered, labels, ordered=ordered is not None)
    assert homogeneity(values, labels).distances == pytest.approx(expected.distances)
    if ordered is None:
        with pytest.raises(ParameterError, match="values without an order"):
            homogeneity(values, labels, ordered=True)


def test_one_value_or_one_group_says_nothing_that_was_not_known():
    same = homogeneity([4.0, 4.0, 4.0], [0, 1, 1])
    assert (same.homogeneous, same.t_closeness, same.alpha, same.distinct_l) == (1.0, 0.0, 1.0, 1)
    whole = homogeneity([4.0, 5.0, 9.0], [2, 2, 2])
    assert (whole.homogeneous, whole.t_closeness, whole.distinct_l) == (0.0, pytest.approx(0.0), 3)
    assert homogeneity([1], [0]).homogeneous == 1.0


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=30), st.floats(0.01, 3))
def test_deviations_are_those_of_a_plain_loop(pairs, width):
    x, y = np.array(pairs, dtype=float).T
    reach = width * statistics.pstdev(x.tolist())
    # Where rounding decides, it may be either.
    least = sum(abs(a - b) <= reach * (1 - 1e-9) - 1e-12 for a, b in pairs) / len(pairs)
    most = sum(abs(a - b) <= reach * (1 + 1e-9) + 1e-12 for a, b in pairs) / len(pairs)
    assert least <= interval_disclosure(x, y, width)[0] <= most


def test_attributes_are_counted_apart_and_values_that_do_not_differ_are_disclosed():
    X = np.array([[0.0, 0], [2, 2], [4, 4], [6, 6]])
    released = np.array([[0.0, 9], [2, 2], [13, 13], [6, 6]])
    assert interval_disclosure(X, released, 0.1).tolist() == [0.75, 0.5]
    assert interval_disclosure(np.full((3, 2), 7.0), np.full((3, 2), 7.0), 0.1).tolist() == [1.0, 1.0]


@for_each(
    ("measure", "arguments", "error", "says"),
    [
        (homogeneity, [pd.Series([1.0, np.nan], name="pay"), [0, 0]], DataError, "'pay' has no value in record 1"),
        (homogeneity, [[None, "a"], [0, 0]], DataError, "'confidential' has no value in record 0"),
        (homogeneity, [[1, 2, 3], [0, 0]], DataError, "3 confidential values, but labels for 2"),
        (homogeneity, [np.eye(2), [0, 0]], DataError, r"shape \(2, 2\)"),
        (homogeneity, [[1, 2], [0.5, 1]], DataError, "labels must be whole numbers"),
        (interval_disclosure, [[1.0, 2.0], [1.0, 2.0], 0], ParameterError, "width must be a number above 0, not 0"),
        (interval_disclosure, [[1.0, 2.0], [1.0, 2.0], np.inf], ParameterError, "width must be"),
        (interval_disclosure, [[1.0], [np.nan], 0.1], DataError, "in the release: attribute 0 has NaN"),
    ],
)
def test_what_cannot_be_measured_is_named(measure, arguments, error, says):
    with pytest.raises(error, match=says):
        measure(*arguments)
