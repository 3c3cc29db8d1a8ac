"""Records that are totals of others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, datasets
from microagg.columns import totals
from tests.cases import for_each


def table(last, n=6, **columns):
    """Return a table of regions and persons with ``last`` as its last record."""
    frame = pd.DataFrame({"region": [f"R{i}" for i in range(n)], "persons": range(10, 10 + n), "rate": [1.5] * n})
    return pd.concat([frame.assign(**columns), pd.DataFrame([last])], ignore_index=True)


@for_each("word", ["Total", " TOTAL: ", "sum", "Summe", "Insgesamt", "gesamt", "Grand total", "Total général", "Suma"])
def test_the_last_record_that_says_so(word):
    assert totals(table({"region": word, "persons": 1, "rate": 1.0})) == [6]


@for_each(
    ("last", "found"),
    [
        ({"region": None, "persons": 10 + 11 + 12 + 13 + 14 + 15, "rate": np.nan}, [6]),
        ({"region": "R", "persons": 75, "rate": 9.0}, [6]),
        ({"region": "R", "persons": 75, "rate": 1.5}, [6]),  # one of two columns
        ({"region": "R", "persons": 74, "rate": 9.0}, [6]),
        ({"region": "R", "persons": 74, "rate": 1.5}, []),
        ({"region": "Totalenergies", "persons": 16, "rate": 1.5}, []),
    ],
)
def test_the_last_record_whose_numbers_are_sums(last, found):
    assert totals(table(last)) == found


def test_one_sum_among_many_numbers_is_chance():
    last = {"region": "R", "persons": 75, "rate": 1.5, "age": 40}
    assert totals(table(last, age=30)) == []
    assert totals(table({**last, "age": np.nan}, age=30)) == [6]


def test_sums_are_counted_in_all_of_many_columns():
    numbers = np.random.default_rng(2).random((8, 700))
    sums = np.where(np.arange(700) % 2 == 0, numbers.sum(axis=0), 0.5)  # in half of them
    frame = pd.DataFrame(np.vstack([numbers, sums]), columns=[f"c{j}" for j in range(700)])
    assert totals(frame) == [8]
    assert totals(frame.assign(c698=0.5)) == []
    assert totals(frame.assign(c698=[*numbers[:, 698], np.nan])) == []
    assert totals(frame.assign(c699=[*numbers[:, 699], np.nan], c698=0.5)) == []
    assert totals(frame.assign(c699=[*numbers[:, 699], np.nan])) == [8]


def test_few_numbers_make_no_sum():
    # 1 + 2 = 3 in three records, and 2 + 3 = 5 of persons most of whom have none.
    assert totals(pd.DataFrame({"a": [1, 2, 3]})) == []
    assert totals(pd.DataFrame({"a": [*[0] * 50, 2, 3, 5]})) == []
    assert totals(pd.DataFrame({"a": [-1, 1, 1, 1, 1, 1, 4]})) == []
    assert totals(pd.DataFrame({"a": [1, 1, 1, 1, 1, 5]})) == [5]
    assert totals(pd.DataFrame({"a": [0.1] * 10 + [1.0]})) == [10]  # but for the rounding of floats


def test_numbers_as_text_are_added_up_too():
    frame = pd.DataFrame({"pay": ["€1,000", "€1,001.50", "€1", "€2", "€3", "€2,007.50"]})
    assert totals(frame) == [5]
    assert totals(pd.DataFrame({"id": [*map(str, range(20)), "Total"], "a": range(21)})) == [20]


def test_totals_in_between_are_named_in_the_first_column():
    frame = pd.DataFrame({"region": [f"R{i}" for i in range(40)], "kind": ["part"] * 40, "x": range(40)})
    frame.loc[[9, 39], "region"] = "Subtotal"
    assert totals(frame) == [9, 39]
    # In other columns, or in many records, it is a category.
    assert totals(frame.assign(region="R", kind=["total", "part"] * 20)) == []
    assert totals(frame.assign(region=["total", "part"] * 20)) == []
    assert totals(frame.assign(region="R", kind=[*["total"] * 2, *["part"] * 37, "total"])) == []


@for_each("dtype", ["category", "str", "string", object])
def test_totals_in_columns_of_any_type(dtype):
    region = pd.Series([*(f"R{i}" for i in range(8)), None, "Total"], dtype=dtype)
    assert totals(pd.DataFrame({"region": region, "x": range(10)})) == [9]
    assert totals(pd.DataFrame({"x": range(10), "region": region})) == [9]
    others = {
        "when": pd.date_range("2020", periods=7),
        "wait": pd.to_timedelta(range(7), unit="D"),
        "day": pd.period_range("2020", periods=7),
        "range": pd.interval_range(0, 7),
        "whole": pd.array([1, 1, 1, 1, 1, None, 5], dtype="Int64"),
    }
    assert totals(pd.DataFrame(others)) == [6]


def test_files_without_totals():
    for name in ("wine", "simc"):
        assert totals(datasets.load(name).frame) == []
    assert totals(datasets.make_survey()) == []
    for frame in (pd.DataFrame(), pd.DataFrame({"a": ["Total"]}), pd.DataFrame(index=range(3))):
        assert totals(frame) == []
    with pytest.raises(DataError, match="must be a DataFrame"):
        totals([1, 2])


CELLS = st.one_of(
    st.none(), st.integers(-9, 9), st.floats(), st.sampled_from(["Total", "1,5", "x"]), st.lists(st.none())
)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=8))
def test_any_file_can_be_asked(rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    before = frame.copy()
    found = totals(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert set(found) <= set(range(len(frame)))


@given(st.lists(st.integers(1, 1000), min_size=5, max_size=30), st.integers(1, 50))
def test_a_total_is_found_and_another_number_not(numbers, off):
    assert totals(pd.DataFrame({"a": [*numbers, sum(numbers)]})) == [len(numbers)]
    assert totals(pd.DataFrame({"a": [*numbers, sum(numbers) + off]})) == []
