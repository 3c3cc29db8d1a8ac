"""What generalization costs: by hand, as published, and by plain loops."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, ParameterError, Schema
from microagg.columns.taxonomy import Taxonomy
from microagg.metrics import generalization
from tests import naive_mixed
from tests.algorithms import test_mixed as mixed
from tests.cases import for_each

#: Six patients; the domain of age is 60 - 20 = 40.
PATIENTS = pd.DataFrame(
    {
        "age": [40, 60, 20, 30, 50, 35],
        "zip": [41076, 41075, 41095, 41099, 41075, 41095],
        "income": ["middle", "high", "low", "low", "low", "middle"],
        "disease": ["flu", "flu", "flu", "cancer", "cancer", "cancer"],
    }
)
ZIP = Taxonomy.from_text("*\n  4107*\n    41075\n    41076\n  4109*\n    41095\n    41099\n")
# By hand:        age            zip                     income           sum    IL
#   40, 60:  20/40 = 1/2    4107*: 1/2    middle..high: 1/2   3/2   * 2 = 3
#   20, 30:  10/40 = 1/4    4109*: 1/2    low:          0     3/4   * 2 = 3/2
#   50, 35:  15/40 = 3/8    *:     1      low..middle:  1/2   15/8  * 2 = 15/4
# Total-IL = 33/4, of at most 6 * 3.
PAIRS = [0, 0, 1, 1, 2, 2]


@pytest.fixture
def schema():
    levels = {"income": ["low", "middle", "high"]}
    return Schema.infer(PATIENTS, ["age", "zip", "income"], taxonomies={"zip": ZIP}, ordinal=levels)


def test_a_table_worked_out_on_paper(schema):
    assert generalization.group_information_loss(schema.records(PATIENTS), PAIRS).tolist() == [3.0, 1.5, 3.75]
    assert generalization.total_information_loss(schema.records(PATIENTS), PAIRS) == 8.25
    # Age: (1/2 + 1/4 + 3/8) / 3; zip: (1/2 + 1/2 + 1) / 3; income: (1/2 + 0 + 1/2) / 3.
    assert generalization.attribute_information_loss(schema.records(PATIENTS), PAIRS) == pytest.approx(
        [3 / 8, 2 / 3, 1 / 3]
    )
    extents = generalization.extents(schema.records(PATIENTS), PAIRS)
    assert extents.sizes.tolist() == [2, 2, 2]
    assert extents.low[:, 0].tolist() == [40, 20, 35]
    assert extents.high[:, 0].tolist() == [60, 30, 50]
    assert [ZIP.names[int(node)] for node in extents.low[:, 1]] == ["4107*", "4109*", "*"]
    assert extents.low[:, 1].tolist() == extents.high[:, 1].tolist()
    assert extents.low[:, 2].tolist() == [1, 0, 0]
    assert extents.high[:, 2].tolist() == [2, 0, 1]
    assert extents.shares.tolist() == [[0.5, 0.5, 0.5], [0.25, 0.5, 0.0], [0.375, 1.0, 0.5]]


def test_a_summary_with_discernibility_worked_out_on_paper(schema):
    summary = generalization.summary(schema.records(PATIENTS), PAIRS, 2, PATIENTS["disease"])
    assert summary.total_information_loss == 8.25
    assert summary.information_loss == pytest.approx(100 * 8.25 / 18)
    # Three groups of 2 * 2 pairs; only in the second there are two diseases.
    assert summary.discernibility == 12
    assert summary.average_class_size == 1.0
    assert summary.classification == pytest.approx(1 / 6)
    assert generalization.summary(schema.records(PATIENTS), PAIRS, 2).classification is None
    # The numbering of groups does not matter.
    assert generalization.group_information_loss(schema.records(PATIENTS), [7, 7, -1, -1, 3, 3]).tolist() == [
        3.0,
        1.5,
        3.75,
    ]
    labels = [0] * 5 + [1] * 3 + [2] * 2
    assert generalization.discernibility(labels) == 25 + 9 + 4
    assert generalization.average_class_size(labels) == pytest.approx(10 / 3)
    with pytest.raises(ParameterError, match="k must be at least 1, not 0"):
        generalization.average_class_size(labels, 0)


def test_classification_worked_out_by_hand():
    # a, a, b, b, c: three are not a (or not b); a, a, a: none; c, b: one.
    labels = [0] * 5 + [1] * 3 + [2] * 2
    classes = list("aabbcaaacb")
    assert generalization.classification(labels, classes) == pytest.approx(4 / 10)
    assert generalization.classification(range(10), classes) == 0.0
    # Of all ten, five are a.
    assert generalization.classification([3] * 10, classes) == pytest.approx(0.5)
    for bad in (classes[1:], [[one] for one in classes], "a"):
        with pytest.raises(DataError, match="one class label for each of 10 records, not of shape"):
            generalization.classification(labels, bad)


@for_each("family", mixed.FAMILIES)
def test_extents_against_a_plain_loop(family):
    for n in (1, 2, 17, 50):
        records, rng = mixed.generate(family, n)
        labels = rng.integers(0, max(2, n // 4), n)
        found = generalization.extents(records, labels)
        expected = naive_mixed.extents(records, labels.tolist())
        assert found.sizes.tolist() == [size for size, *_ in expected]
        assert found.low.tolist() == [low for _, low, _, _ in expected]
        assert found.high.tolist() == [high for _, _, high, _ in expected]
        assert found.shares.tolist() == [shares for *_, shares in expected]
        total = generalization.total_information_loss(records, labels)
        assert total == pytest.approx(naive_mixed.total_loss(records, labels.tolist()))
        assert generalization.group_information_loss(records, labels).sum() == pytest.approx(total)
        assert n * generalization.attribute_information_loss(records, labels).sum() == pytest.approx(total)


@given(drawn=mixed.small_tables(), data=st.data())
def test_total_information_loss_is_within_its_bounds_and_falls_with_every_split(drawn, data):
    records, _, _ = drawn
    n = len(records)
    coarse = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    halves = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    fine = [2 * group + half for group, half in zip(coarse, halves, strict=True)]
    losses = [generalization.total_information_loss(records, labels) for labels in (range(n), fine, coarse, [0] * n)]
    assert losses[0] == 0.0
    assert sorted(losses) == pytest.approx(losses)
    assert losses[-1] <= n * records.d * (1 + 1e-12)


def test_distances_of_categories_are_those_of_example_1_of_byun():
    pairs = [("India", "USA", 1.0), ("India", "Iran", 2 / 3), ("Mexico", "Canada", 2 / 3), ("India", "Japan", 1 / 3)]
    for one, other, distance in pairs:
        records = mixed.table([mixed.nominal(mixed.COUNTRY)], [[mixed.COUNTRY.node(one), mixed.COUNTRY.node(other)]])
        assert generalization.total_information_loss(records, [0, 0]) == pytest.approx(2 * distance)


def test_one_group_that_spans_everything_loses_all_there_is():
    nodes = [mixed.COUNTRY.node(country) for country in ("USA", "Japan", "Japan")]
    records = mixed.table([mixed.NUMERIC, mixed.nominal(mixed.COUNTRY), mixed.DEGREES], [[3, -5, 0], nodes, [1, 3, 0]])
    assert generalization.total_information_loss(records, [0, 0, 0]) == 9.0
    assert generalization.summary(records, [0, 0, 0], 3).information_loss == 100.0
    # Values that are all the same, and a domain of one number, level or category, cost nothing.
    same = mixed.table([mixed.NUMERIC, mixed.nominal(mixed.ONE_VALUE), mixed.ONE_LEVEL], [[3, 3], [1, 1], [0, 0]])
    assert generalization.total_information_loss(same, [0, 0]) == 0.0


def test_measures_name_what_is_wrong(schema):
    with pytest.raises(DataError, match="6 records, but labels for 5"):
        generalization.total_information_loss(schema.records(PATIENTS), PAIRS[1:])
    with pytest.raises(DataError, match="labels must be whole numbers"):
        generalization.total_information_loss(schema.records(PATIENTS), [0.5] * 6)
    with pytest.raises(ParameterError, match="records must be Records, not"):
        generalization.summary(PATIENTS, [0] * 6, k=3)
    with pytest.raises(ParameterError, match="k must be at least 1, not 0"):
        generalization.least_discernibility(6, 0)
