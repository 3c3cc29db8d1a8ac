"""The roles of columns, the kinds of quasi-identifiers, what their cells stand for, and how they are encoded."""

import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, ParameterError, Schema
from microagg.columns.taxonomy import Taxonomy
from tests.cases import for_each
from tests.mixed_table import LEVELS, ZIP, mixed_frame


@pytest.fixture
def frame():
    return mixed_frame()


@pytest.fixture
def schema(frame):
    return Schema.infer(frame, ["age", "zip", "income", "sex"], taxonomies={"zip": ZIP})


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "name": ["a", "b", "c", "d"],
            "age": [20, 30, 40, 50],
            "income": [1.5, 2.5, np.nan, 4.5],
            "smoker": [True, False, True, False],
            "region": pd.Categorical(["n", "s", "n", "s"]),
            "same": [7, 7, 7, 7],
        }
    )


def test_all_numbers_without_another_role_are_quasi_identifiers(people):
    assert Schema.infer(pd.DataFrame(np.arange(6).reshape(3, 2)), 1).quasi_identifiers == (1,)
    schema = Schema.infer(people)
    assert schema == Schema(("age", "income", "same"))
    assert Schema.infer(people, confidential="income", identifiers=["name"], strata="same") == Schema(
        ("age",), ("income",), ("name",), ("same",)
    )


@pytest.mark.parametrize(
    ("roles", "error", "says"),
    [
        ({"quasi_identifiers": ["age", "wage"]}, DataError, r"no column 'wage' \(named among the quasi-identifiers\)"),
        ({"quasi_identifiers": ["age", "age"]}, ParameterError, "'age' is named twice among the quasi-identifiers"),
        (
            {"quasi_identifiers": "age", "confidential": "age"},
            ParameterError,
            "'age' is named .*: a column has one role",
        ),
        ({"quasi_identifiers": []}, ParameterError, "names no column"),
        ({"classes": ["region"]}, ParameterError, r"classes must be the name of one column, not \['region'\]"),
        ({"quasi_identifiers": "age", "classes": "age"}, ParameterError, "'age' is named as the classes and among the"),
        ({"quasi_identifiers": [["age"]]}, ParameterError, r"must hold column names, not \['age'\]"),
        ({"taxonomies": {"land": None}}, ParameterError, "a taxonomy for 'land', which is not among the quasi-ident"),
        ({"confidential": ["age", "income", "same"]}, DataError, "no numeric column to serve as quasi-identifier"),
    ],
)
def test_bad_roles_are_named(people, roles, error, says):
    with pytest.raises(error, match=says):
        Schema.infer(people, **roles)
    with pytest.raises(ParameterError, match="role must be one of 'quasi_identifiers'"):
        Schema.infer(people).columns("wage")


def test_classes_are_confidential_unless_they_are_strata(people):
    schema = Schema.infer(people, classes="same")
    assert (schema.quasi_identifiers, schema.confidential, schema.classes) == (("age", "income"), ("same",), "same")
    assert Schema.infer(people, "age", ["same", "name"], classes="same").confidential == ("same", "name")
    assert Schema.infer(people, "age", strata="region", classes="region").confidential == ()
    assert pickle.loads(pickle.dumps(schema)) == schema != Schema(("age", "income"), ("same",))


def test_class_codes_of_the_records_that_are_kept(people):
    schema = Schema.infer(people, "age", classes="region")
    assert schema.class_codes(people, np.array([False, True, True, True])).tolist() == [0, 1, 0]
    people["region"] = people["region"].where([True, False, True, False])
    assert schema.class_codes(people, np.array([True, False, True, False])).tolist() == [0, 0]
    with pytest.raises(DataError, match=r"column 'region' has no class in record 1 .*, one of 2 such records: fill in"):
        schema.class_codes(people, np.ones(4, dtype=bool))


def kinds(schema):
    return {attribute.name: attribute.kind for attribute in schema.attributes}


def test_kinds_are_inferred_from_the_columns(frame):
    schema = Schema.infer(frame, ["age", "zip", "sex", "income", "status", "smoker"])
    expected = ("numeric", "numeric", "nominal", "ordinal", "nominal", "numeric")
    assert tuple(kinds(schema).values()) == expected
    assert not schema.is_numeric
    assert schema.ordinal == {"income": LEVELS}
    # Values are sorted, so that the order of the records does not matter.
    assert schema.taxonomies["status"] == Taxonomy.flat(["abroad", "civil", "never"])
    assert schema.taxonomies["sex"] == Taxonomy.flat(["f", "m"])
    assert Schema.infer(frame.iloc[::-1], list(schema.quasi_identifiers)) == schema


def test_unnamed_quasi_identifiers_are_numbers_and_what_has_a_taxonomy_or_an_order(frame):
    schema = Schema.infer(frame, confidential="age", taxonomies={"status": None}, ordinal={"sex": ["m", "f"]})
    assert kinds(schema) == {"zip": "numeric", "sex": "ordinal", "status": "nominal"}


def test_a_numeric_column_with_a_taxonomy_is_nominal(frame):
    schema = Schema.infer(frame, "zip", taxonomies={"zip": ZIP})
    assert kinds(schema) == {"zip": "nominal"}
    expected = [ZIP.node(value) for value in ("41076", "41099", "41075", "41076")]
    for dtype in (int, float, str, "Int64", "category"):
        assert schema.records(frame.astype({"zip": dtype})).values[:, 0].tolist() == expected
    flat = Schema.infer(frame, "zip", taxonomies={"zip": None})
    assert flat.taxonomies["zip"] == Taxonomy.flat([41075, 41076, 41099])


def test_records_hold_numbers_ranks_and_nodes(frame, schema):
    records = schema.records(frame)
    assert records.attributes == schema.attributes
    zips = [ZIP.node(value) for value in (41076, 41099, 41075, 41076)]
    assert records.values.T.tolist() == [[20, 30, 40, 60], zips, [2, 0, 1, 0], [1, 2, 2, 1]]
    # Nothing but the quasi-identifiers is looked at.
    np.testing.assert_array_equal(schema.records(frame[["sex", "income", "zip", "age"]]).values, records.values)


@pytest.mark.parametrize(("column", "absent"), [("age", np.nan), ("zip", np.nan), ("income", np.nan), ("sex", None)])
def test_missing_values_are_an_error_or_dropped(frame, schema, column, absent):
    whole = schema.records(frame).values
    # Of a repeated index, loc would set two records.
    frame = frame.astype({"age": float, "zip": float})
    frame.iloc[2, frame.columns.get_loc(column)] = absent
    with pytest.raises(DataError, match=rf"column '{column}' has NaN \(a missing value\) in record 2"):
        schema.records(frame)
    records = schema.records(frame, missing="drop")
    np.testing.assert_array_equal(records.values, whole[[0, 1, 3]])


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("zip", 99999, "column 'zip', record 2 (counting from 0): the taxonomy has no value '99999'"),
        ("income", "huge", "column 'income' has 'huge' in record 2 (counting from 0), which is not in its order"),
        ("age", "old", "column 'age' is not numeric (record 2 holds 'old')"),
        ("age", np.inf, "column 'age' has infinity in record 2"),
    ],
)
def test_unknown_values_are_named_with_column_and_record(frame, schema, column, value, says):
    frame = frame.astype(object)
    frame.iloc[2, frame.columns.get_loc(column)] = value
    frame = frame.astype({"age": object if value == "old" else float})
    with pytest.raises(DataError) as error:
        schema.records(frame, missing="drop")
    assert says in str(error.value)


def test_unknown_values_are_found_when_kinds_are_inferred(frame):
    with pytest.raises(DataError, match=r"column 'zip', record 1 \(counting from 0\): .*no value '41099'"):
        Schema.infer(frame, taxonomies={"zip": {"*": [41075, 41076]}})
    with pytest.raises(DataError, match=r"column 'income' has 'high' in record 0 .* not in its order 'low', 'middle'"):
        Schema.infer(frame, ["income"], ordinal={"income": ["low", "middle"]})


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"ordinal": {"age": []}}, DataError, "the order of column 'age' is empty"),
        ({"ordinal": {"age": ["20", 30, 20]}}, DataError, "the order of column 'age' has the category '20' twice"),
        ({"taxonomies": {"age": {}}}, DataError, "the taxonomy of column 'age': a taxonomy must be a mapping with exa"),
        ({"taxonomies": {"age": 5}}, ParameterError, "the taxonomy of column 'age': a taxonomy must be a Taxonomy, a"),
        ({"taxonomies": {"age": "absent.txt"}}, DataError, "the taxonomy of column 'age': the taxonomy 'absent.txt' c"),
        ({"dates": "note"}, ParameterError, "there is a unit of dates for 'note', which is not among the quasi-ident"),
        ({"dates": {"age": "month"}}, ParameterError, "the unit of the dates of 'age' must be one of 'day', 'year',"),
        ({"numbers": {"age": "1 234"}}, ParameterError, "how the numbers of 'age' are written must be one of"),
        ({"missing_codes": ["age"]}, ParameterError, "missing_codes must map column names to codes, not be ['age']"),
        ({"missing_codes": {"age": [None]}}, ParameterError, "the missing codes of column 'age' hold a missing value"),
        ({"dates": "age", "numbers": "age"}, ParameterError, "column 'age' has a unit of dates and an entry among the"),
    ],
)
def test_bad_kinds_are_named(frame, given, error, says):
    with pytest.raises(error) as alone:
        Schema(("age",), **given)
    assert says in str(alone.value)
    with pytest.raises((ParameterError, DataError)):
        Schema.infer(frame, "age", **given)


def test_columns_that_are_neither_numbers_nor_categories_are_refused(frame):
    frame["mixed"] = ["a", 1, "b", 2]
    with pytest.raises(DataError, match=r"column 'mixed' is not numeric \(record 0 holds 'a'\)"):
        Schema.infer(frame, ["mixed"])
    # With a taxonomy it does not matter how they are stored.
    assert kinds(Schema.infer(frame, "mixed", taxonomies={"mixed": None})) == {"mixed": "nominal"}


@pytest.fixture
def messy():
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
def messy_schema(messy):
    return Schema.infer(
        messy,
        ["age", "born", "rank", "job", "rooms"],
        dates=["born"],
        numbers="age",
        missing_codes={"age": ["n/a", -999], "born": date(1900, 1, 1), "rank": "?", "job": ("n/a",), "rooms": [-999]},
    )


def test_schemas_hold_dates_numbers_and_codes_in_one_form(messy_schema):
    assert messy_schema.dates == {"born": "day"}
    assert messy_schema.missing_codes["age"] == ("n/a", "-999")
    assert pickle.loads(pickle.dumps(messy_schema)) == messy_schema
    assert Schema(("a",), dates="a") == Schema(("a",), dates={"a": "day"}) != Schema(("a",), dates={"a": "year"})
    assert Schema(("a",), missing_codes={"a": [-1.0, "-1"]}) == Schema(("a",), missing_codes={"a": "-1"})


def test_quasi_identifiers_of_a_type_of_dates_are_dates(messy):
    messy["when"] = pd.date_range("2000-01-01", periods=4)
    messy["day"] = [date(2000, 1, 1), None, date(2000, 1, 3), date(2000, 1, 4)]
    schema = Schema.infer(messy, ["when", "day", "rooms"])
    assert schema.dates == {"when": "day", "day": "day"}
    assert schema.encode(messy)[:, 0].tolist() == [10957, 10958, 10959, 10960]
    assert Schema.infer(messy, "when", taxonomies={"when": None}).dates == {}
    # Unless they are named, they are no quasi-identifiers.
    assert Schema.infer(messy).quasi_identifiers == ("rooms",)
    with pytest.raises(DataError, match="column 'when' has times with a time zone"):
        Schema.infer(messy.assign(when=messy["when"].dt.tz_localize("UTC")), "when")


def test_cells_become_what_they_stand_for(messy, messy_schema):
    read = messy_schema.read(messy)
    np.testing.assert_array_equal(read["age"], [34.0, 3.5, np.nan, np.nan])
    assert read["born"].tolist() == [pd.Timestamp("2001-12-31"), pd.NaT, pd.NaT, pd.Timestamp("2000-03-01")]
    assert read["rank"].isna().tolist() == [False, True, False, False]
    assert list(read["rank"].cat.categories) == ["low", "high"]
    assert read["job"].isna().tolist() == [False, False, True, False]
    # Whole numbers beside a gap are still whole.
    assert read["rooms"].dtype == "Int64"
    assert read["rooms"].tolist() == [1, pd.NA, 3, 4]
    np.testing.assert_array_equal(messy_schema.encode(messy)[1], [3.5, np.nan, np.nan, 2, np.nan])
    np.testing.assert_array_equal(messy_schema.encode(messy)[3], [np.nan, 11017, 0, 1, 4])


def test_reading_changes_neither_the_frame_nor_what_was_read(messy, messy_schema):
    before = messy.copy(deep=True)
    read = messy_schema.read(messy)
    pd.testing.assert_frame_equal(messy, before)
    assert messy_schema.read(read) is read
    pd.testing.assert_index_equal(read.index, messy.index)
    # Without anything to be read, it is the frame itself.
    assert Schema(("rooms",)).read(messy) is messy
    with pytest.raises(DataError, match="there is no column 'job'"):
        messy_schema.read(messy.drop(columns="job"))


def test_how_numbers_are_written_is_found_without_the_codes():
    frame = pd.DataFrame({"a": ["1,234", "0,5", "1.5", "< 5"]})
    schema = Schema.infer(frame, "a", numbers="a", missing_codes={"a": ["1.5", "< 5"]})
    assert schema.numbers == {"a": "1.234,5"}
    np.testing.assert_array_equal(schema.encode(frame)[:, 0], [1.234, 0.5, np.nan, np.nan])
    # A schema that is made without a file looks at the file that it reads.
    assert Schema(("a",), numbers="a").read(frame[:2])["a"].tolist() == [1.234, 0.5]


@for_each("dtype", ["int16", "uint8", "Int64", "Sparse[int64]", "float32", "Float64", "str", object, "category"])
def test_codes_are_found_whatever_the_type(dtype):
    frame = pd.DataFrame({"a": pd.Series([9, 2, 9, 3]).astype(dtype)})
    assert not isinstance(Schema(("a",)).read(frame)["a"].dtype, pd.SparseDtype)  # to which nothing can be assigned
    are_numbers = dtype not in ("str", object, "category")
    for code in (9, 9.0, "9", *["9.0", "9e0"] * are_numbers):
        schema = Schema(("a",), missing_codes={"a": code})
        read = schema.read(frame)
        assert read["a"].isna().tolist() == [True, False, True, False]
        assert schema.read(read) is read


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


def test_infer_warns_of_marks_of_suppressed_cells_where_nothing_is_declared():
    frame = pd.DataFrame({"age": range(30), "income": [*map(str, range(100, 127)), "*", "*", "*"]})
    for quasi_identifiers in (["age"], ["age", "income"]):
        with pytest.warns(UserWarning, match=r"column 'income' would hold numbers but for '\*'.*missing_codes"):
            Schema.infer(frame, quasi_identifiers)
    # Warnings are errors: these declare what the column is.
    Schema.infer(frame, ["age"], "income")
    Schema.infer(frame, ["age", "income"], taxonomies={"income": None})
    schema = Schema.infer(frame, ["age", "income"], numbers=["income"], missing_codes={"income": "*"})
    assert schema.read(frame)["income"].isna().sum() == 3
