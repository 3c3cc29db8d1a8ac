"""The roles of columns, the kinds of quasi-identifiers and how they are encoded."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError, Schema
from microagg.columns.taxonomy import Taxonomy
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


# ---- Roles -----------------------------------------------------------------------------------------------------------


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
        ({"strata": ["land"]}, DataError, "no column 'land' .*strata"),
        ({"quasi_identifiers": ["age", "age"]}, ParameterError, "'age' is named twice among the quasi-identifiers"),
        ({"quasi_identifiers": ["age"], "confidential": ["age"]}, ParameterError, "'age' is named among the"),
        ({"quasi_identifiers": []}, ParameterError, "names no column"),
        ({"classes": "land"}, DataError, r"no column 'land' \(named as the classes\)"),
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


def test_classes_are_confidential_unless_they_are_strata(people):
    schema = Schema.infer(people, classes="same")
    assert (schema.quasi_identifiers, schema.confidential, schema.classes) == (("age", "income"), ("same",), "same")
    assert schema == Schema(("age", "income"), ("same",), classes="same")
    assert Schema.infer(people, "age", ["same", "name"], classes="same").confidential == ("same", "name")
    assert Schema.infer(people, "age", strata="region", classes="region").confidential == ()
    assert pickle.loads(pickle.dumps(schema)) == schema != Schema(("age", "income"), ("same",))


def test_class_codes_of_the_records_that_are_kept(people):
    schema = Schema.infer(people, "age", classes="region")
    assert schema.class_codes(people, np.array([False, True, True, True])).tolist() == [0, 1, 0]
    assert Schema.infer(people).class_codes(people, np.ones(4, dtype=bool)) is None
    people["region"] = people["region"].where([True, False, True, False])
    assert schema.class_codes(people, np.array([True, False, True, False])).tolist() == [0, 0]
    with pytest.raises(DataError, match=r"column 'region' has no class in record 1 .*, one of 2 such records: fill in"):
        schema.class_codes(people, np.ones(4, dtype=bool))


# ---- Kinds -----------------------------------------------------------------------------------------------------------


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
    assert kinds(Schema.infer(frame)) == {"age": "numeric", "zip": "numeric"}


def test_a_numeric_column_with_a_taxonomy_is_nominal(frame):
    schema = Schema.infer(frame, "zip", taxonomies={"zip": ZIP})
    assert kinds(schema) == {"zip": "nominal"}
    assert schema.taxonomies["zip"] is ZIP
    expected = [ZIP.node(value) for value in ("41076", "41099", "41075", "41076")]
    for dtype in (int, float, str, "Int64", "category"):
        assert schema.records(frame.astype({"zip": dtype})).values[:, 0].tolist() == expected
    flat = Schema.infer(frame, "zip", taxonomies={"zip": None})
    assert flat.taxonomies["zip"] == Taxonomy.flat([41075, 41076, 41099])


# ---- Encoding --------------------------------------------------------------------------------------------------------


def test_records_hold_numbers_ranks_and_nodes(frame, schema):
    records = schema.records(frame)
    assert records.attributes == schema.attributes
    assert [attribute.name for attribute in records.attributes] == ["age", "zip", "income", "sex"]
    zips = [ZIP.node(value) for value in (41076, 41099, 41075, 41076)]
    assert records.values[:, 0].tolist() == [20, 30, 40, 60]
    assert records.values[:, 1].tolist() == zips
    assert records.values[:, 2].tolist() == [2, 0, 1, 0]
    assert records.values[:, 3].tolist() == [1, 2, 2, 1]
    assert records.domains.tolist() == [40, 2, 2, 1]
    # Nothing but the quasi-identifiers is looked at.
    np.testing.assert_array_equal(schema.records(frame[["sex", "income", "zip", "age"]]).values, records.values)


# ---- Missing and unknown values --------------------------------------------------------------------------------------


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
    # Kinds are inferred all the same.
    again = Schema.infer(frame, ["age", "zip", "income", "sex"], taxonomies={"zip": ZIP})
    assert again == schema


def test_infinity_is_refused(frame, schema):
    frame["age"] = [1.0, 2.0, np.inf, 4.0]
    for missing in ("error", "drop"):
        with pytest.raises(DataError, match="column 'age' has infinity in record 2"):
            schema.records(frame, missing)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("zip", 99999, "column 'zip', record 2 (counting from 0): the taxonomy has no value '99999'"),
        ("zip", 41075.5, "no value '41075.5': it has '41075', '41076', '41095', '41099'; add it."),
        ("sex", "x", "column 'sex', record 2 (counting from 0): the taxonomy has no value 'x': it has 'f', 'm'; add"),
        ("income", "huge", "column 'income' has 'huge' in record 2 (counting from 0), which is not in its order"),
        ("age", "old", "column 'age' is not numeric (record 2 holds 'old')"),
    ],
)
def test_unknown_values_are_named_with_column_and_record(frame, schema, column, value, says):
    frame = frame.astype(object)
    frame.iloc[2, frame.columns.get_loc(column)] = value
    frame = frame.astype({name: float for name in ("age",) if name != column})
    with pytest.raises(DataError) as error:
        schema.records(frame)
    assert says in str(error.value)


def test_unknown_values_are_found_when_kinds_are_inferred(frame):
    with pytest.raises(DataError, match=r"column 'zip', record 1 \(counting from 0\): .*no value '41099'"):
        Schema.infer(frame, taxonomies={"zip": {"*": [41075, 41076]}})
    with pytest.raises(DataError, match=r"column 'income' has 'high' in record 0 .* not in its order 'low', 'middle'"):
        Schema.infer(frame, ["income"], ordinal={"income": ["low", "middle"]})
    # A column without a value has no kind but that of its type.
    with pytest.raises(DataError, match="the taxonomy of column 'status': a taxonomy needs a root and at least one"):
        Schema.infer(frame.assign(status=pd.Categorical([None] * 4)), "status")


# ---- Schemas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"taxonomies": {"zip": ZIP}}, ParameterError, "a taxonomy for 'zip', which is not among the"),
        ({"ordinal": {"age": []}}, DataError, "the order of column 'age' is empty"),
        ({"ordinal": {"age": ["20", 30, 20]}}, DataError, "the order of column 'age' has the category '20' twice"),
        ({"ordinal": {"age": "low"}}, ParameterError, "the order of column 'age' must be its categories from the lowe"),
        ({"taxonomies": {"age": {}}}, DataError, "the taxonomy of column 'age': a taxonomy must be a mapping with exa"),
        ({"taxonomies": {"age": 5}}, ParameterError, "the taxonomy of column 'age': a taxonomy must be a Taxonomy, a"),
        ({"taxonomies": {"age": "absent.txt"}}, DataError, "the taxonomy of column 'age': the taxonomy 'absent.txt' c"),
    ],
)
def test_bad_taxonomies_and_orders_are_named(frame, given, error, says):
    with pytest.raises(error) as from_frame:
        Schema.infer(frame, "age", **given)
    with pytest.raises(error) as alone:
        Schema(("age",), **given)
    assert says in str(from_frame.value)
    assert says in str(alone.value)


def test_columns_that_are_neither_numbers_nor_categories_are_refused(frame):
    frame["mixed"] = ["a", 1, "b", 2]
    with pytest.raises(DataError, match=r"column 'mixed' is not numeric \(record 0 holds 'a'\)"):
        Schema.infer(frame, ["mixed"])
    # With a taxonomy it does not matter how they are stored.
    assert kinds(Schema.infer(frame, "mixed", taxonomies={"mixed": None})) == {"mixed": "nominal"}


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
