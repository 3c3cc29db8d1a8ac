"""Which records and groups lose most, against values by hand and plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import metrics
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy

TOWNS = Taxonomy.flat(["a", "b", "c", "d"])


def records(towns, sizes):
    codes = [dict(zip(TOWNS.values, TOWNS.leaves, strict=True))[town] for town in towns]
    attributes = (Attribute("town", "nominal", taxonomy=TOWNS), Attribute("size"))
    return Records(attributes, np.column_stack([codes, np.array(sizes, dtype=float)]))


def test_the_records_of_numbers_that_lose_most_lie_furthest_from_their_means():
    # The means are (2, 0) and (10, 4): squared distances 4, 0, 4 and 1 + 16 twice.
    X = np.array([[0.0, 0], [2, 0], [4, 0], [9, 0], [11, 8]])
    labels = [7, 7, 7, 3, 3]
    assert metrics.record_shares(X, labels) == pytest.approx(100 * np.array([4, 0, 4, 17, 17]) / 42)
    found = metrics.records_losing_most(X, labels, most=3)
    assert found.records.tolist() == [3, 4, 0]
    assert found.attributes.tolist() == [1, 1, 0]
    assert found.shares == pytest.approx(100 * np.array([17, 17, 4]) / 42)


def test_of_each_group_of_categories_the_record_furthest_from_the_others_is_named():
    # In the first group the third record is the odd one, in the second the fourth.
    found = metrics.groups_losing_most(records("aabacccd", [1, 2, 30, 3, 90, 91, 92, 100]), [0] * 4 + [1] * 4)
    # Shares: 1 + 29 / 99 and 1 + 10 / 99, times four records each.
    assert found.records.tolist() == [2, 7]
    assert found.shares == pytest.approx(100 * np.array([128, 109]) / 237)
    assert found.attributes.tolist() == [0, 0]


def test_groups_that_agree_on_categories_lose_by_their_numbers():
    found = metrics.groups_losing_most(records("aaabbb", [0, 4, 5, 90, 91, 100]), [0, 0, 0, 1, 1, 1], most=1)
    assert found.records.tolist() == [5]
    assert found.attributes.tolist() == [1]
    assert found.shares == pytest.approx([100 * 10 / 15])


def test_the_furthest_record_is_that_of_a_plain_double_loop():
    rng = np.random.default_rng(5)
    data = records(rng.choice(list("abcd"), 60), rng.normal(size=60))
    labels = rng.integers(0, 4, 60)
    size = np.ptp(data.values[:, 1])
    furthest = set()
    for group in range(4):
        rows = np.flatnonzero(labels == group)
        sums = [sum((x[0] != y[0]) + abs(x[1] - y[1]) / size for y in data.values[rows]) for x in data.values[rows]]
        furthest.add(int(rows[int(np.argmax(sums))]))
    assert set(metrics.groups_losing_most(data, labels).records.tolist()) == furthest


def test_many_attributes_count_alike():
    rng = np.random.default_rng(6)
    towns = {j for j in range(600) if j % 7 == 3}
    attributes = tuple(
        Attribute(f"a{j}", "nominal", taxonomy=TOWNS) if j in towns else Attribute(f"a{j}") for j in range(600)
    )
    values = np.column_stack([rng.choice(TOWNS.leaves, 9) if j in towns else rng.normal(size=9) for j in range(600)])
    values[:, 1] = 5.0  # of no extent
    data = Records(attributes, values.astype(float))
    sizes = np.ptp(values, axis=0)

    def distance(x, y):
        return sum(float(x[j] != y[j]) if j in towns else abs(x[j] - y[j]) / (sizes[j] or 1) for j in range(600))

    sums = [sum(distance(x, y) for y in values) for x in values]
    assert metrics.groups_losing_most(data, [0] * 9).records.tolist() == [int(np.argmax(sums))]
    # Only the last attribute differs, beyond those that are computed first.
    values[:, :-1] = 0.0
    values[:, sorted(towns)] = TOWNS.leaves[0]
    values[:, -1] = [3, 1, 2, 9, 4, 0, 5, 6, 7]
    assert metrics.groups_losing_most(Records(attributes, values), [0] * 9).records.tolist() == [3]


def test_equal_records_lose_nothing():
    assert metrics.record_shares(np.ones((4, 2)), [0, 0, 1, 1]).tolist() == [0, 0, 0, 0]
    same = records("aaaa", [1, 1, 1, 1])
    assert metrics.record_shares(same, [0, 0, 1, 1]).tolist() == [0, 0, 0, 0]
    assert metrics.groups_losing_most(same, [0, 0, 1, 1]).shares.tolist() == [0, 0]


def test_shares_of_categories_add_up_to_what_the_groups_lose():
    data = records("aabacccd", [1, 2, 30, 3, 90, 91, 92, 100])
    shares = metrics.record_shares(data, [0] * 4 + [1] * 4)
    assert shares.sum() == pytest.approx(100)
    assert shares[:4].sum() == pytest.approx(metrics.groups_losing_most(data, [0] * 4 + [1] * 4).shares[0])


def test_shares_of_attributes_of_numbers_by_hand():
    X = np.array([[0.0, 0], [2, 0], [4, 0], [9, 0], [11, 8]])
    assert metrics.attribute_shares(X, [7, 7, 7, 3, 3]) == pytest.approx([100 * 10 / 42, 100 * 32 / 42])


def test_shares_of_attributes_of_categories_by_hand():
    data = records("aabacccd", [1, 2, 30, 3, 90, 91, 92, 100])
    # Both groups lose the town whole, and 29 and 10 of 99 of the size.
    assert metrics.attribute_shares(data, [0] * 4 + [1] * 4) == pytest.approx([100 * 198 / 237, 100 * 39 / 237])


def test_the_groups_that_lose_most_come_first():
    assert metrics.cumulated(np.array([20.0, 50, 0, 30])).tolist() == [50, 80, 100, 100]


def test_where_nothing_is_lost_all_shares_are_0():
    assert metrics.attribute_shares(np.zeros((4, 2)), [0, 0, 1, 1]).tolist() == [0, 0]
