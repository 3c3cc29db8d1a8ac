"""Classes of equal records, and the risks that follow from them, by hand and by plain counting."""

from collections import Counter
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import equivalence_classes, individual_risk, uniqueness
from microagg.metrics.risk.equivalence_classes import SmallClasses
from tests.cases import for_each

columns = (
    st.integers(1, 3)
    .flatmap(lambda d: st.lists(st.tuples(*[st.integers(-1, 3)] * d), min_size=1, max_size=30))
    .map(lambda rows: np.array(rows, dtype=np.int64))
)


@for_each(
    ("values", "codes"),
    [
        (["b", "a", "b", None], [0, 1, 0, -1]),
        ([0.0, -0.0, np.nan, 0.0], [0, 1, -1, 0]),
        (pd.array([-0.0, None, -0.0, 0.0], dtype="Float64"), [0, -1, 0, 1]),
        ([2.0, np.nan, 2.0, 0.0], [0, -1, 0, 1]),
        (pd.Categorical(["x", None, "x", "y"], categories=["unused", "y", "x"]), [0, -1, 0, 1]),
        (pd.array([5, None, 5, 7], dtype="Int64"), [0, -1, 0, 1]),
        (pd.to_datetime(["2020-01-01", None, "2020-01-01", "2021-01-01"]), [0, -1, 0, 1]),
        ([[1, 2], None, [1, 2], {"a": 1}], [0, -1, 0, 1]),
        ([None, None, None, None], [-1, -1, -1, -1]),
    ],
)
def test_values_are_numbered_in_the_order_of_appearance(values, codes):
    assert equivalence_classes.coded(pd.Series(values, index=[7, 7, 8, 9])).tolist() == codes


@given(columns)
def test_combinations_are_those_of_the_rows(rows):
    numbers = equivalence_classes.combined(*rows.T)
    pairs = set(zip(map(tuple, rows.tolist()), numbers.tolist(), strict=True))
    assert len(pairs) == len(set(map(tuple, rows.tolist()))) == len(set(numbers.tolist())) == numbers.max() + 1


@given(columns, st.integers(1, 5))
def test_records_below_k_are_counted(rows, k):
    sizes = Counter(map(tuple, rows.tolist())).values()
    expected = SmallClasses(min(sizes), sum(size for size in sizes if size < k), sum(size == 1 for size in sizes))
    assert equivalence_classes.small_classes(equivalence_classes.combined(*rows.T), k) == expected


@for_each("values", [[1, True, 1], [1, 1.0, 1], [1, "1", 1], [0.0, -0.0, 0.0], [(), "()", ()]])
def test_values_that_a_file_has_otherwise_are_different(values):
    series = pd.Series(values, dtype=None if isinstance(values[0], float) else object)
    assert equivalence_classes.coded(series).tolist() == [0, 1, 0]


TOWNS = pd.DataFrame(
    {
        "town": ["a", "a", "a", "b", "b", None],
        "age": [30.0, 30.0, 40.0, 30.0, 30.0, np.nan],
        "sex": ["f", "m", "f", "f", "f", "f"],
    }
)


def test_by_hand():
    found = uniqueness(TOWNS, ["town", "age"])
    assert (found.n_records, found.n_classes, found.n_unique) == (6, 4, 2)
    assert found.sizes.tolist() == [2, 1, 2, 1]
    assert found.share == pytest.approx(1 / 3)
    assert found.max_reidentification == 1.0
    assert uniqueness(TOWNS, ["age"]).sizes.tolist() == [4, 1, 1]
    assert uniqueness(TOWNS, "sex").max_reidentification == 1.0


@for_each(
    ("frame", "columns", "error", "says"),
    [
        (TOWNS, ["city"], DataError, "no column 'city'"),
        (TOWNS, [], ParameterError, "columns is empty"),
        (TOWNS.head(0), ["town"], DataError, "no records"),
        (np.eye(2), [0], DataError, "must be a DataFrame"),
    ],
)
def test_what_cannot_be_counted_is_named(frame, columns, error, says):
    with pytest.raises(error, match=says):
        uniqueness(frame, columns)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.booleans()), min_size=1, max_size=40))
def test_it_is_what_plain_counting_of_rows_says(rows):
    found = uniqueness(pd.DataFrame(rows, columns=["x", "y", "z"]), ["x", "y", "z"])
    sizes = Counter(rows)
    assert sorted(found.sizes) == sorted(sizes.values())
    assert found.n_unique == sum(size == 1 for size in sizes.values())
    assert found.max_reidentification == 1 / min(sizes.values())


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
