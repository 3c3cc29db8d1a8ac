"""Attribute disclosure and records at risk, against values by hand and plain loops."""

from __future__ import annotations

import statistics
from collections import Counter
from functools import partial
from math import exp, inf, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation, wasserstein_distance

from microagg import metrics
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import (
    homogeneity,
    interval_disclosure,
    leaving_out,
    outlyingness,
    record_linkage,
    records_at_risk,
)
from microagg.partition import group_means
from tests.cases import for_each


def test_diversity_by_hand():
    # Group 7: flu three times, a cold once. Group 3: HIV only. Group 5: each of three once, flu again.
    illness = ["flu", "flu", "hiv", "cold", "flu", "hiv", "flu", "cold", "hiv", "flu"]
    found = homogeneity(illness, [7, 7, 3, 7, 7, 3, 5, 5, 5, 5])
    assert found.sizes.tolist() == [4, 2, 4]
    assert found.distinct.tolist() == [2, 1, 3]
    assert found.entropies == pytest.approx([4 / 3**0.75, 1, exp(0.5 * log(2) + 0.5 * log(4))])
    assert found.ratios.tolist() == [3, inf, 1]
    assert found.largest.tolist() == [0.75, 1, 0.5]
    assert (found.distinct_l, found.entropy_l, found.recursive_c, found.alpha) == (1, 1.0, inf, 1.0)
    assert found.homogeneous == 0.2
    assert (found.above(0.4), found.above(0.5), found.above(0.75), found.above(1)) == (1.0, 0.6, 0.2, 0.0)
    # Of the third group's 2, 1, 1 the third and what is rarer is 1.
    assert homogeneity(illness, [7, 7, 3, 7, 7, 3, 5, 5, 5, 5], recursive_l=3).ratios.tolist() == [inf, inf, 2]


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
    assert homogeneity(grades, [0, 0, 0, 1, 1, 1]).distances == pytest.approx(
        homogeneity([3, 3, 3, 2, 2, 1], [0, 0, 0, 1, 1, 1]).distances
    )


def by_loops(values, labels):
    """Each measure from its definition, group by group."""
    whole, rows = Counter(values), []
    for label in dict.fromkeys(labels):
        group = Counter(value for value, own in zip(values, labels, strict=True) if own == label)
        size = sum(group.values())
        shares = [count / size for count in group.values()]
        ranked = sorted(group.values(), reverse=True)
        apart = sum(abs(group[value] / size - whole[value] / len(values)) for value in whole) / 2
        rows.append(
            (
                len(group),
                exp(-sum(share * log(share) for share in shares)),
                ranked[0] / sum(ranked[1:]) if len(ranked) > 1 else inf,
                max(shares),
                apart,
            )
        )
    return np.array(rows).T


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), min_size=1, max_size=50))
def test_categories_are_those_of_plain_loops(records):
    values, labels = map(list, zip(*records, strict=True))
    found = homogeneity(values, labels)
    figures = [found.distinct, found.entropies, found.ratios, found.largest, found.distances]
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


def test_a_share_of_the_ranks_is_not_cut_by_rounding():
    # 0.29 · 100 is 28.999999999999996 to a computer: 29 ranks.
    y = np.arange(100.0)
    for value, share in ((79.0, 1.0), (79.5, 0.99)):
        assert interval_disclosure(np.where(y == 50, value, y), y, 0.29).share == share


def test_attributes_are_counted_apart_and_together():
    X = np.array([[0.0, 0], [2, 2], [4, 4], [6, 6]])
    released = np.array([[0.0, 9], [2, 2], [13, 13], [6, 6]])
    found = interval_disclosure(X, released, 0.1, by="sd")
    assert found.attributes.tolist() == [0.75, 0.5]
    assert found.share == 0.625
    assert found.all_attributes == 0.5


def ranks_by_loops(x, y, width):
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
    assert interval_disclosure(x, y, width).share == pytest.approx(ranks_by_loops(x.tolist(), y.tolist(), width))


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=30), st.floats(0.01, 3))
def test_deviations_are_those_of_a_plain_loop(pairs, width):
    x, y = np.array(pairs, dtype=float).T
    reach = width * statistics.pstdev(x.tolist())
    # Where rounding decides, it may be either.
    least = sum(abs(a - b) <= reach * (1 - 1e-9) - 1e-12 for a, b in pairs) / len(pairs)
    most = sum(abs(a - b) <= reach * (1 + 1e-9) + 1e-12 for a, b in pairs) / len(pairs)
    assert least <= interval_disclosure(x, y, width, by="sd").share <= most


@pytest.mark.parametrize("by", ["rank", "sd"])
def test_values_that_do_not_differ_are_disclosed(by):
    found = interval_disclosure(np.full((3, 2), 7.0), np.full((3, 2), 7.0), 0.1, by=by)
    assert (found.share, found.all_attributes) == (1.0, 1.0)
    assert interval_disclosure([[7.0]], [[7.0]], 0.1, by=by).share == 1.0


def test_outlyingness_by_hand():
    # The median is 3, the absolute deviations 2, 1, 0, 1, 97 have the median 1.
    assert outlyingness([1.0, 2, 3, 4, 100])[:, 0] == pytest.approx(np.array([2, 1, 0, 1, 97]) / 1.482602218505602)
    # The median absolute deviation is 0, the mean one 2.
    assert outlyingness([5.0, 5, 5, 13])[:, 0] == pytest.approx([0, 0, 0, 4 / 1.2533141373155])
    assert outlyingness(np.full((3, 2), 7.0)).tolist() == [[0, 0]] * 3
    assert outlyingness([[3.0]]).tolist() == [[0]]


def test_outlyingness_is_that_of_scipys_deviations():
    X = np.random.default_rng(0).lognormal(size=(200, 3))
    expected = np.abs(X - np.median(X, axis=0)) / median_abs_deviation(X, scale="normal")
    assert outlyingness(X) == pytest.approx(expected)


X = np.array([[0.0, 0], [1, 0], [2, 1], [9, 0], [1, 40], [2, 44]])
LABELS = np.array([0, 0, 0, 0, 1, 1])
WIDTHS = [0, -0.1, np.nan, np.inf, 1.5, True, "wide"]
RELEASED = group_means(X, LABELS)[LABELS]


def test_those_linked_most_surely_come_first_and_the_farthest_of_these():
    found = records_at_risk(X, RELEASED)
    assert found.probability.tolist() == [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    assert found.rows.tolist() == [5, 4, 3, 0, 1, 2]
    assert found.attributes.tolist() == [1, 1, 0, 0, 0, 0]
    assert found.outlyingness == pytest.approx(outlyingness(X).max(axis=1)[found.rows])


def test_by_outlyingness_alone():
    found = records_at_risk(X, RELEASED, by="outlyingness", most=2)
    assert found.rows.tolist() == [5, 4]
    moved = RELEASED.copy()
    moved[5] = [9.0, 9.0]
    assert records_at_risk(X, moved, by="outlyingness", most=1).rows.tolist() == [5]
    assert records_at_risk(X, moved, most=1).rows.tolist() != [5]


def test_of_a_sample_only_its_records_are_ranked():
    linkage = record_linkage(X, RELEASED, sample=3, random_state=1)
    found = records_at_risk(X, RELEASED, linkage=linkage)
    assert sorted(found.rows) == linkage.rows.tolist()
    assert dict(zip(found.rows, found.probability, strict=True)) == dict(
        zip(linkage.rows, linkage.probability, strict=True)
    )


def test_leaving_out_by_hand():
    # Squared distances 4, 0, 4 and 1, 1 of an SSE of 10; without the first the mean is 3, and 1 + 1 are left.
    found = leaving_out([0.0, 2, 4, 9, 11], [0, 0, 0, 1, 1], [0])
    assert found.n == 1
    assert found.sse_share == pytest.approx(40)
    assert found.before == pytest.approx(100 * 10 / metrics.sst([0.0, 2, 4, 9, 11]))
    assert found.after == pytest.approx(100 * 4 / metrics.sst([2.0, 4, 9, 11]))
    assert found.smallest_group == 2
    # A whole group left out is no group of none.
    assert leaving_out([0.0, 2, 4, 9, 11], [0, 0, 0, 1, 1], [4, 3]).smallest_group == 3
    assert leaving_out([0.0, 2, 4, 9, 11], [0, 0, 0, 1, 1], []).after == pytest.approx(found.before)
    found = leaving_out([5.0, 5, 5], [0, 0, 0], [1])
    assert (found.sse_share, found.before, found.after) == (0.0, 0.0, 0.0)


FIVE = [np.arange(5.0), [0, 0, 0, 1, 1]]


@for_each(
    ("measure", "arguments", "error", "says"),
    [
        (homogeneity, [pd.Series([1.0, np.nan], name="pay"), [0, 0]], DataError, "'pay' has no value in record 1"),
        (homogeneity, [[None, "a"], [0, 0]], DataError, "'confidential' has no value in record 0"),
        (homogeneity, [[1, 2, 3], [0, 0]], DataError, "3 confidential values, but labels for 2"),
        (homogeneity, [np.eye(2), [0, 0]], DataError, r"shape \(2, 2\)"),
        (homogeneity, [[1, 2], [0.5, 1]], DataError, "labels must be whole numbers"),
        (partial(homogeneity, recursive_l=1), [[1, 2], [0, 0]], ParameterError, "recursive_l must be"),
        (homogeneity([1, 2], [0, 0]).above, [2], ParameterError, "alpha must be from 0 to 1, not 2"),
        *((interval_disclosure, [[1.0, 2.0], [1.0, 2.0], width], ParameterError, "width must be") for width in WIDTHS),
        (partial(interval_disclosure, by="range"), [[1.0], [1.0], 0.1], ParameterError, "by must be one of"),
        (interval_disclosure, [[1.0], [np.nan], 0.1], DataError, "in the release: attribute 0 has NaN"),
        (leaving_out, [*FIVE, [5]], ParameterError, "rows must be from 0 to 4"),
        (leaving_out, [*FIVE, [-1]], ParameterError, "not from -1 to -1"),
        (leaving_out, [*FIVE, [1, 1]], ParameterError, "a record twice"),
        (leaving_out, [*FIVE, range(5)], ParameterError, "all records"),
        (leaving_out, [*FIVE, [0.5]], ParameterError, "positions of records"),
        (leaving_out, [*FIVE, [[1]]], ParameterError, "positions of records"),
        (leaving_out, [[1.0, 2, 3], [0, 0], [0]], DataError, "labels for 2"),
        (partial(records_at_risk, by="size"), [X, RELEASED], ParameterError, "by must be one of"),
        (partial(records_at_risk, most=0), [X, RELEASED], ParameterError, "most must be a whole number"),
        (records_at_risk, [X, RELEASED[:2]], DataError, "the same attributes of the same records"),
        (outlyingness, [[np.nan, 1.0]], DataError, "attribute 0 has NaN"),
    ],
)
def test_what_cannot_be_measured_is_named(measure, arguments, error, says):
    with pytest.raises(error, match=says):
        measure(*arguments)
