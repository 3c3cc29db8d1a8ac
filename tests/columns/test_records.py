"""Records of mixed attributes, and what is done about their missing values before they are grouped."""

import statistics
from collections import Counter
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, ParameterError, Schema
from microagg.columns.records import Attribute, Filled, Records, class_codes
from microagg.columns.taxonomy import Taxonomy
from tests.cases import for_each
from tests.mixed_table import MARITAL_TEXT

JOBS = Taxonomy.from_nested({"*": {"office": ["clerk", "manager"], "field": ["miner"]}})
LEVELS = ("low", "middle", "high")
NAMES = ["age", "born", "school", "job"]


def test_domains_and_trees():
    tree = Taxonomy.from_text(MARITAL_TEXT)
    attributes = (
        Attribute("age"),
        Attribute("income", "ordinal", levels=("low", "middle", "high")),
        Attribute("status", "nominal", taxonomy=tree),
        Attribute("sex", "nominal", taxonomy=Taxonomy.flat("fm")),
        Attribute("same"),
        Attribute("all", "ordinal", levels=("one",)),
    )
    # Nobody has the lowest income or was married abroad: that makes no domain smaller.
    values = np.array([[20.5, 1, 2, 1, -3, 0], [60, 2, 6, 2, -3, 0], [30, 1, 5, 1, -3, 0]])
    records = Records(attributes, values)
    assert records.domains.tolist() == [39.5, 2, 2, 1, 0, 0]
    assert records.nominal.tolist() == [False, False, True, True, False, False]
    parents, heights = records.trees
    assert parents.shape == heights.shape == (6, 7)
    assert parents[2].tolist() == [-1, 0, 1, 1, 0, 4, 4]
    assert parents[3].tolist() == [-1, 0, 0, -1, -1, -1, -1]
    assert heights[2].tolist() == [1, 0.5, 0, 0, 0.5, 0, 0]
    assert heights[3].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert (parents[[0, 1, 4, 5]] == -1).all()


def test_a_part_of_a_file_keeps_the_domains_of_the_file():
    whole = Records.of_numbers(np.array([[0.0, 5], [10, 5], [4, 9]]))
    part = whole.take(np.array([2, 0]))
    assert part.values.tolist() == [[4, 9], [0, 5]]
    assert part.domains.tolist() == whole.domains.tolist() == [10, 4]
    assert part.take(np.array([1])).domains.tolist() == [10, 4]
    assert part.attributes == whole.attributes


def test_records_need_a_column_for_each_attribute():
    with pytest.raises(DataError, match=r"one column of values for each of 2 attributes .* not values of shape"):
        Records((Attribute("a"), Attribute("b")), np.zeros((3, 1)))
    with pytest.raises(DataError, match="for each of 0 attributes"):
        Records((), np.zeros((3, 0)))


def test_class_codes_number_classes_in_order_of_first_appearance():
    assert class_codes(["b", "a", "b"], 3).tolist() == [0, 1, 0]
    assert class_codes(pd.Series([2, 1, 2], dtype="category"), 3).tolist() == [0, 1, 0]
    assert class_codes([1, 1.0, True, "1"], 4).tolist() == [0, 0, 0, 1]
    with pytest.raises(DataError, match="one class for each of 3 records, not classes of shape"):
        class_codes(["a", "b"], 3)
    with pytest.raises(DataError, match=r"record 1 .* has no class"):
        class_codes(["a", None, "b"], 3)
    with pytest.raises(DataError, match="column 'income' holds values that cannot be told apart"):
        class_codes(pd.Series([[1], [2]]), 2, "income")


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [20.0, np.nan, 30.0, 50.0, np.nan],
            "born": pd.to_datetime(["2000-01-01", "2000-01-02", None, "2000-01-05", "2000-01-09"]),
            "school": ["low", None, "high", "middle", "low"],
            "job": ["miner", "clerk", None, "clerk", "miner"],
            "note": [None, "x", None, "y", "z"],
        },
        index=[3, 3, 1, 0, 0],
    )


@pytest.fixture
def schema(frame):
    return Schema.infer(frame, NAMES, taxonomies={"job": JOBS}, ordinal={"school": LEVELS})


def imputed(values, **choices):
    """Return what the gaps of one column are filled with, in the frame, and as it is reported."""
    frame = pd.DataFrame({"a": values})
    whole = Schema.infer(frame, "a", **choices).fill(frame, "impute")
    rows = frame["a"].isna().to_numpy()
    (value,) = set(whole.frame["a"][rows])
    (one,) = whole.filled
    assert one.n == rows.sum()
    return value, one.value


def test_every_kind_of_gap_is_filled(frame, schema):
    whole = schema.fill(frame, "impute")
    # The median of 20, 30 and 50; the lower of 2 and 5 January; the lower of low, low, middle, high; of two clerks and
    # two miners the first in the taxonomy.
    assert whole.filled == (
        Filled("age", 2, "median", 30),
        Filled("born", 1, "median", date(2000, 1, 2)),
        Filled("school", 1, "median", "low"),
        Filled("job", 1, "most frequent", "clerk"),
    )
    assert whole.frame["age"].tolist() == [20, 30, 30, 50, 30]
    assert whole.frame["job"].tolist() == ["miner", "clerk", "clerk", "clerk", "miner"]
    # Other columns keep their gaps, and the file is as it was.
    pd.testing.assert_series_equal(whole.frame["note"], frame["note"])
    assert frame["age"].isna().sum() == 2
    np.testing.assert_array_equal(whole.values, schema.encode(whole.frame))


def test_columns_are_treated_by_themselves(frame, schema):
    whole = schema.fill(frame, {"age": "drop", "born": "impute", "school": "drop", "job": "category"})
    assert whole.retained.tolist() == [True, False, True, True, False]
    # Of 1 and 5 January: those of the records that are left out have no part in it.
    assert whole.filled == (Filled("born", 1, "median", date(2000, 1, 1)), Filled("job", 1, "category", "missing"))
    assert not np.isnan(whole.values[whole.retained]).any()
    # A gap in a record that is left out is none.
    without = schema.fill(frame, {"age": "drop", "born": "drop", "school": "impute", "job": "drop"})
    assert without.filled == ()
    assert without.retained.tolist() == [True, False, False, True, False]


@for_each(
    ("values", "value"),
    [
        ([1, 2, None], 1),
        ([1.5, 2.0, None], 1.75),
        (pd.array([5, 9, None], dtype="Int8"), 5),
        (pd.array([True, False, True, None], dtype="boolean"), True),
        (np.array([0.1, 0.2, np.nan], dtype=np.float32), np.float32(0.1) / 2 + np.float32(0.2) / 2),
    ],
)
def test_numbers_get_their_median_in_their_own_type(values, value):
    result, shown = imputed(values)
    assert result == np.float32(shown) == value
    assert type(shown) is (int if value == int(value) else float)
    frame = pd.DataFrame({"a": values})
    assert Schema(("a",)).fill(frame, "impute").frame["a"].dtype == frame["a"].dtype


def test_a_column_without_values_cannot_be_imputed():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]})
    with pytest.raises(DataError, match="column 'a' has no value in any record that could be released"):
        Schema(("a", "b")).records(frame, {"a": "impute", "b": "drop"})


def test_gaps_become_a_leaf_below_the_root(frame, schema):
    missing = {"job": "category", "age": "drop", "born": "impute", "school": "drop"}
    whole = schema.fill(frame, missing)
    taxonomy = whole.taxonomies["job"]
    assert taxonomy.values == ("clerk", "manager", "miner", "missing")
    assert taxonomy.height == 2
    assert Taxonomy.from_nested(taxonomy.to_nested()) == taxonomy
    assert whole.frame["job"].tolist() == ["miner", "clerk", "missing", "clerk", "miner"]
    # The other leaves have the numbers that they had.
    assert whole.values[:, 3].tolist() == [JOBS.node("miner"), 2, taxonomy.node("missing"), 2, JOBS.node("miner")]
    assert schema.records(frame, missing).attributes[3].taxonomy == taxonomy
    # With that taxonomy, as a recipe has it, the same comes out again.
    again = Schema(NAMES, taxonomies=whole.taxonomies, ordinal=schema.ordinal, dates="born").fill(frame, missing)
    assert again.taxonomies == whole.taxonomies
    np.testing.assert_array_equal(again.values, whole.values)


@for_each(
    ("values", "filled"),
    [
        (["a", None], ["a", "missing"]),
        (pd.Categorical(["a", None], categories=["a", "missing"]), ["a", "missing"]),
        ([1067.0, np.nan], ["1067", "missing"]),
        (pd.Categorical([1067, None]), [1067, "missing"]),
        (pd.to_datetime(["2001-02-03", None]), ["2001-02-03 00:00:00", "missing"]),
    ],
)
def test_columns_of_any_type_hold_the_category_of_gaps(values, filled):
    frame = pd.DataFrame({"a": values})
    schema = Schema.infer(frame, "a", taxonomies={"a": None})
    whole = schema.fill(frame, "category")
    assert whole.frame["a"].tolist() == filled
    assert whole.filled == (Filled("a", 1, "category", "missing"),)
    assert Schema(("a",), taxonomies=whole.taxonomies).encode(whole.frame).tolist() == whole.values.tolist()


@for_each(
    "tree",
    [None, {"missing": ["a", "b"]}, {"*": {"missing": ["a"], "x": ["b"]}}, {"*": {"x": ["missing", "a"], "y": ["b"]}}],
)
def test_a_category_of_that_name_is_not_taken_for_gaps(tree):
    frame = pd.DataFrame({"a": ["a", None, "missing" if tree is None else "b"]})
    schema = Schema.infer(frame, "a", taxonomies={"a": tree})
    with pytest.raises(ParameterError, match="of column 'a' cannot become the category 'missing', for it has one of t"):
        schema.records(frame, "category")
    assert len(schema.records(frame, "drop")) == 2


@for_each(
    ("missing", "says"),
    [
        (None, "missing must be one of 'error', 'drop', 'category', 'impute', not None"),
        ({"age": "mean"}, "missing of column 'age' must be one of 'error', 'drop', 'category', 'impute', not 'mean'"),
        ({"note": "drop"}, "the gaps of 'note', which is not among the quasi-identifiers"),
        *(
            ({column: "category"}, f"the gaps of column '{column}' cannot be a category .* it holds {what}: choose")
            for column, what in (("age", "numbers"), ("born", "dates"), ("school", "ordered categories"))
        ),
    ],
)
def test_bad_treatments_are_named(frame, schema, missing, says):
    with pytest.raises(ParameterError, match=says):
        schema.records(frame, missing)


@given(st.data())
def test_filled_values_are_those_of_plain_counting(data):
    n = data.draw(st.integers(1, 9), label="n")

    def column(values):
        return data.draw(st.lists(st.one_of(st.none(), values), min_size=n, max_size=n).filter(any))

    whole, halves = column(st.integers(1, 9)), column(st.integers(1, 9).map(lambda x: x + 0.5))
    letters, levels = column(st.sampled_from("abc")), column(st.sampled_from(LEVELS))
    frame = pd.DataFrame({"whole": whole, "halves": halves, "letters": letters, "levels": levels})
    frame = frame.astype({"whole": float, "halves": float, "letters": object, "levels": object})
    names = list(frame.columns)
    schema = Schema.infer(frame, names, taxonomies={"letters": Taxonomy.flat("cab")}, ordinal={"levels": LEVELS})
    result = {one.column: (one.n, one.value) for one in schema.fill(frame, "impute").filled}
    counts = Counter(value for value in letters if value)
    expected = {
        "whole": statistics.median_low(value for value in whole if value),
        "halves": statistics.median(value for value in halves if value),
        "letters": max("cab", key=lambda letter: counts[letter]),
        "levels": LEVELS[statistics.median_low(LEVELS.index(value) for value in levels if value)],
    }
    gaps = {name: values.count(None) for name, values in zip(names, (whole, halves, letters, levels), strict=True)}
    assert result == {name: (gaps[name], value) for name, value in expected.items() if gaps[name]}
