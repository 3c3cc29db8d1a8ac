"""What the cells of quasi-identifiers stand for: missing values, numbers held as text, and dates."""

from __future__ import annotations

import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, ParameterError, Schema
from tests.cases import for_each


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": ["34", " 3.5 ", "n/a", "-999.0"],
            "born": ["31.12.2001", "1900-01-01", None, "1.3.2000"],
            "rank": pd.Categorical(["low", "?", "high", "low"], categories=["?", "low", "high"], ordered=True),
            "job": ["a", "b", "n/a", "a"],
            "rooms": [1, -999, 3, 4],
            "note": list("wxyz"),
        },
        index=[5, 5, 1, 0],
    )


@pytest.fixture
def schema(frame):
    return Schema.infer(
        frame,
        ["age", "born", "rank", "job", "rooms"],
        dates=["born"],
        numbers="age",
        missing_codes={"age": ["n/a", -999], "born": date(1900, 1, 1), "rank": "?", "job": ("n/a",), "rooms": [-999]},
    )


# ---- What columns are ------------------------------------------------------------------------------------------------


def test_schemas_hold_dates_numbers_and_codes_in_one_form(schema):
    assert schema.dates == {"born": "day"}
    assert schema.numbers == {"age": None}
    assert schema.missing_codes["age"] == ("n/a", "-999")
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert hash(pickle.loads(pickle.dumps(schema))) == hash(schema)
    assert Schema(("a",), dates="a") == Schema(("a",), dates={"a": "day"}) != Schema(("a",), dates={"a": "year"})
    assert Schema(("a",), missing_codes={"a": [-1.0, "-1"]}) == Schema(("a",), missing_codes={"a": "-1"})


def test_quasi_identifiers_of_a_type_of_dates_are_dates(frame):
    frame["when"] = pd.date_range("2000-01-01", periods=4)
    frame["day"] = [date(2000, 1, 1), None, date(2000, 1, 3), date(2000, 1, 4)]
    schema = Schema.infer(frame, ["when", "day", "rooms"])
    assert schema.dates == {"when": "day", "day": "day"}
    assert schema.encode(frame)[:, 0].tolist() == [10957, 10958, 10959, 10960]
    assert Schema.infer(frame, "when", dates={"when": "year"}).dates == {"when": "year"}
    assert Schema.infer(frame, "when", taxonomies={"when": None}).dates == {}
    # Unless they are named, they are no quasi-identifiers.
    assert Schema.infer(frame).quasi_identifiers == ("rooms",)
    assert Schema.infer(frame, dates="when", numbers="rooms").quasi_identifiers == ("rooms", "when")
    with pytest.raises(DataError, match="column 'when' has times with a time zone"):
        Schema.infer(frame.assign(when=frame["when"].dt.tz_localize("UTC")), "when")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"dates": "note"}, "there is a unit of dates for 'note', which is not among the quasi-identifiers"),
        ({"dates": {"age": "month"}}, "the unit of the dates of 'age' must be one of 'day', 'year', 'day d/m',"),
        ({"numbers": {"age": "1 234"}}, "how the numbers of 'age' are written must be one of '1,234.5', '1.234,5',"),
        ({"numbers": {"job": "1,234.5"}}, "there is an entry among the numbers for 'job', which is not among the"),
        ({"missing_codes": {"job": ["?"]}}, "there is a code for missing values for 'job', which is not among the qu"),
        ({"missing_codes": ["age"]}, "missing_codes must map column names to codes, not be ['age']"),
        ({"missing_codes": {"age": [None]}}, "the missing codes of column 'age' hold a missing value"),
        ({"dates": "age", "numbers": "age"}, "column 'age' has a unit of dates and an entry among the numbers: give"),
        ({"dates": "age", "ordinal": {"age": ["1"]}}, "column 'age' has an order and a unit of dates: give one"),
    ],
)
def test_bad_kinds_are_named(frame, given, says):
    with pytest.raises(ParameterError) as alone:
        Schema(("age",), **given)
    assert says in str(alone.value)
    with pytest.raises((ParameterError, DataError)):
        Schema.infer(frame, "age", **given)


# ---- Reading ---------------------------------------------------------------------------------------------------------


def test_cells_become_what_they_stand_for(frame, schema):
    read = schema.read(frame)
    np.testing.assert_array_equal(read["age"], [34.0, 3.5, np.nan, np.nan])
    assert read["born"].tolist() == [pd.Timestamp("2001-12-31"), pd.NaT, pd.NaT, pd.Timestamp("2000-03-01")]
    assert read["rank"].isna().tolist() == [False, True, False, False]
    assert list(read["rank"].cat.categories) == ["low", "high"]
    assert read["job"].isna().tolist() == [False, False, True, False]
    # Whole numbers beside a gap are still whole.
    assert read["rooms"].dtype == "Int64"
    assert read["rooms"].tolist() == [1, pd.NA, 3, 4]
    expected = [[34, 11687, 0, 1, 1], [3.5, np.nan, np.nan, 2, np.nan], [np.nan, np.nan, 1, np.nan, 3]]
    np.testing.assert_array_equal(schema.encode(frame)[:3], expected)
    np.testing.assert_array_equal(schema.encode(frame)[3], [np.nan, 11017, 0, 1, 4])


def test_reading_changes_neither_the_frame_nor_what_was_read(frame, schema):
    before = frame.copy(deep=True)
    read = schema.read(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert schema.read(read) is read
    pd.testing.assert_index_equal(read.index, frame.index)
    # Without anything to be read, it is the frame itself.
    assert Schema(("rooms",)).read(frame) is frame
    with pytest.raises(DataError, match="there is no column 'job'"):
        schema.read(frame.drop(columns="job"))


def test_how_numbers_are_written_is_found_without_the_codes():
    frame = pd.DataFrame({"a": ["1,234", "0,5", "1.5", "< 5"]})
    schema = Schema.infer(frame, "a", numbers="a", missing_codes={"a": ["1.5", "< 5"]})
    assert schema.numbers == {"a": "1.234,5"}
    np.testing.assert_array_equal(schema.encode(frame)[:, 0], [1.234, 0.5, np.nan, np.nan])
    # A schema that is made without a file looks at the file that it reads.
    assert Schema(("a",), numbers="a").read(frame[:2])["a"].tolist() == [1.234, 0.5]
    with pytest.raises(
        DataError, match=r"column 'a' has '1.5', with a decimal point or a comma between thousands, and"
    ):
        Schema.infer(frame, "a", numbers="a", missing_codes={"a": "< 5"})


@for_each("dtype", ["int16", "uint8", "int64", "Int64", "float32", "Float64", "str", object, "category"])
def test_codes_are_found_whatever_the_type(dtype):
    frame = pd.DataFrame({"a": pd.Series([9, 2, 9, 3]).astype(dtype)})
    for code in (9, 9.0, "9"):
        schema = Schema(("a",), missing_codes={"a": code})
        read = schema.read(frame)
        assert read["a"].isna().tolist() == [True, False, True, False]
        assert schema.read(read) is read
    other = Schema(("a",), missing_codes={"a": [" 9", "8", 99]})
    assert other.read(frame) is frame


@for_each("code", ["1900-01-01", "1900-01-01 00:00:00", date(1900, 1, 1), pd.Timestamp("1900-01-01")])
@for_each("values", [["1900-01-01", "1.1.1900"], [pd.Timestamp("1900-01-01 10:00"), date(1900, 1, 1)]])
def test_codes_of_dates_are_compared_by_the_day(code, values):
    frame = pd.DataFrame({"a": pd.Series([*values, "2000-01-01"], dtype=object)})
    schema = Schema(("a",), dates="a", missing_codes={"a": code})
    read = schema.read(frame)
    assert read["a"].isna().tolist() == [True, True, False]
    assert schema.read(read) is read


def test_codes_do_not_show_the_order_of_days_and_months():
    frame = pd.DataFrame({"a": ["99/99/9999", "31/12/2001", "1/2/2001"]})
    schema = Schema(("a",), dates="a", missing_codes={"a": "99/99/9999"})
    np.testing.assert_array_equal(schema.encode(frame)[:, 0], [np.nan, 11687, 11354])  # 1 February: 11323 + 31


@given(
    st.lists(st.sampled_from(["1", "1.0", " 1", "-999", "-999.0", "x", "2.50", None]), max_size=6),
    st.sets(st.sampled_from(["1", "-999", "x", 1, -999.0, 2.5])),
)
def test_reading_twice_is_reading_once(values, codes):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    codes |= {"x"}
    schema = Schema(("a",), numbers="a", missing_codes={"a": codes})
    read = schema.read(frame)
    pd.testing.assert_frame_equal(schema.read(read), read)
    wanted = {float(code) for code in codes if code != "x"}
    expected = [np.nan if v in (None, "x") or float(v) in wanted else float(v) for v in values]
    np.testing.assert_array_equal(schema.encode(frame)[:, 0], expected)
