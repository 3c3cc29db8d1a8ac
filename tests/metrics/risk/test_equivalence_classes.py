"""Classes of equal records agree with plain classes, values by hand, plain counting of rows and pandas' groupby."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import equivalence_classes, uniqueness
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
