"""Values become what a recoding says, one by one or by ranges, in every kind of column, and nothing else changes."""

import json

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_integer_dtype

from microagg import DataError, ParameterError, Schema, microaggregate, replay
from microagg.columns.recodes import (
    check_recodes,
    compose,
    extreme_recodings,
    interval_recodings,
    intervals,
    meant,
    recoded,
)
from microagg.columns.records import categories, without_codes
from microagg.columns.taxonomy import category, category_counts
from microagg.columns.values import ColumnValues
from microagg.release.plan import Plan
from microagg.tables import read_file
from microagg.validation import widened

SEX = {"f": "female", "F ": "female", "m": "male", "M": "male"}


def one(values, changes, **said):
    frame = pd.DataFrame({"a": values, "b": range(len(values))})
    before = frame.copy()
    result = recoded(frame, check_recodes({"a": changes}), said)[0]
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_series_equal(result["b"], frame["b"])
    return result["a"]


def naive(value, changes):
    """What a number becomes, range by range."""
    if category(value) in changes:
        return changes[category(value)]
    for key, new in changes.items():
        if key[0] == "[":
            low, high = key[1:-1].split(", ")
            holds = float(low) <= value < float(high) if key[-1] == ")" else float(low) <= value <= float(high)
        elif key[0] == ">":
            holds = value >= float(key[2:])
        elif key[0] == "<":
            holds = value < float(key[1:])
        else:
            holds = False  # a value
        if holds:
            return new
    return category(value)


@pytest.mark.parametrize("dtype", ["str", object, "category"])
def test_spellings_become_one(dtype):
    values = pd.Series(["f", "F ", "female", None, "m", "M"], dtype=dtype)
    result = one(values, SEX)
    assert result.dropna().tolist() == ["female", "female", "female", "male", "male"]
    assert result.isna().tolist() == [False, False, False, True, False, False]
    assert str(result.dtype) == ("category" if dtype == "category" else "str")
    if dtype == "category":
        assert sorted(result.cat.categories) == ["female", "male"]


def test_a_value_may_become_missing():
    assert one(["a", "?", "b"], {"?": None}).isna().tolist() == [False, True, False]
    result = one([1, 999, 3], {999: None})
    assert result.isna().tolist() == [False, True, False]
    assert is_integer_dtype(result.dtype)
    assert one([1, 999, 3], {999: np.nan}).isna().tolist() == [False, True, False]
    assert one([1.5, -999.0], {"-999.0": None, "1.50": 2}).fillna(0).tolist() == [2.0, 0.0]


@pytest.mark.parametrize("day", ["1900-01-01 00:00:00", "1900-01-01"])
@pytest.mark.parametrize(("new", "kind"), [(None, "M"), ("1950-01-01", "M"), ("1950-02-30", "T"), ("early", "T")])
def test_days_are_named_with_or_without_their_time(day, new, kind):
    days = one(pd.to_datetime(["1900-01-01", "2001-02-03"]), {day: new})
    texts = [new, "2001-02-03" if kind == "M" else "2001-02-03 00:00:00"]
    assert (days.dt.strftime("%Y-%m-%d") if kind == "M" else days).fillna("").tolist() == [texts[0] or "", texts[1]]
    assert (days.dtype.kind == "M") == (kind == "M")


@pytest.mark.parametrize(
    ("changes", "levels"),
    [
        ({"none": "mid"}, ["low", "mid", "high"]),
        ({"high": "low"}, ["none", "low", "mid"]),
        ({"low": "some", "mid": "some"}, ["none", "some", "high"]),
        ({"none": None}, ["low", "mid", "high"]),
    ],
)
def test_an_order_stays_when_categories_become_one(changes, levels):
    column = pd.Categorical(["low", "none", "high", "mid"], ["none", "low", "mid", "high"], ordered=True)
    assert one(column, changes).cat.categories.tolist() == levels
    assert meant(pd.Series(column), changes).cat.categories.tolist() == levels


def test_numbers_above_and_below_are_coded_and_keep_their_type():
    result = one(np.array([1, 50, 2000]), {">1000": 1000, "<10": 10})
    assert (result.tolist(), result.dtype) == ([10, 50, 1000], np.int64)
    assert one(np.array([1, 50, 2000]), {">1000": 1000.5}).tolist() == [1.0, 50.0, 1000.5]
    narrow = one(np.array([1.5, 2000], dtype=np.float32), {">1000": 1000})
    assert (narrow.tolist(), narrow.dtype) == ([1.5, 1000.0], np.float32)
    large = 2**62 + 1  # no float is
    assert one([large, 5], {"<10": 10, f">{large}": 0}).tolist() == [large, 10]
    assert one(pd.array([large, None], dtype="Int64"), {f"[{large}, {large + 1})": 0}).fillna(1).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("dtype", "changes", "values", "result"),
    [
        ("int8", {"5": "1000"}, [1, 1000], "int64"),
        ("int8", {">=3": "200"}, [1, 200], "int64"),
        ("uint8", {"5": "-1"}, [1, -1], "int64"),
        ("int8", {"5": "6"}, [1, 6], "int8"),
        ("uint64", {"1": str(2**63)}, [2**63, 5], "uint64"),
        ("int64", {"5": str(2**53 + 1)}, [1, 2**53 + 1], "int64"),
        ("float32", {"5": "0.1"}, [1, np.float32(0.1)], "float32"),
        ("float32", {"5": str(2**24 + 1)}, [1, 2**24 + 1], "float64"),
        ("float32", {"5": "1e300"}, [1, 1e300], "float64"),
        ("float32", {"5": "9.100000381469727"}, [1, np.float32(9.1)], "float32"),
    ],
)
def test_a_type_that_is_too_narrow_for_the_new_values_gives_way(dtype, changes, values, result):
    recoded_column = one(np.array([1, 5], dtype=dtype), changes)
    assert (recoded_column.tolist(), recoded_column.dtype) == (values, result)
    if dtype == "int8":
        with pytest.raises(ParameterError, match="after recoding, more than an integer of 64 bits holds"):
            one(np.array([1, 5], dtype=dtype), {"5": "1e30"})


@pytest.mark.parametrize("dtype", ["float32", "Float32", "category"])
def test_the_text_of_a_number_of_32_bits_is_its_shortest(dtype):
    values = pd.Series(np.array([0.1, 0.2, 3.4e38], dtype=np.float32), dtype=dtype)
    assert list(map(category, widened(one(values, {"0.1": "5"})))) == ["5", "0.2", category(3.4e38)]
    assert one(values, {"<=0.1": "low"}).tolist() == ["low", "0.2", category(3.4e38)]
    assert categories(values)[:2] == list(category_counts(values))[:2] == ["0.1", "0.2"]
    assert ColumnValues(values).values(np.array([True, False, False])) == (0.1,)
    assert without_codes(values, {"0.1"}).isna().tolist() == [True, False, False]
    frame = pd.DataFrame({"a": values.where([True, False, False])})
    filled = Schema.infer(frame, "a", taxonomies={"a": None}).fill(frame, "category").frame["a"]
    assert category(filled[0]) == "0.1" or dtype == "category"
    if dtype != "category":
        assert Schema.infer(frame, "a").fill(frame, "impute").filled[0].value == 0.1


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "float64"])
def test_a_fraction_among_whole_numbers_and_missing_ones(dtype):
    result = one(pd.array([1, 0, None], dtype=dtype), {">=1": "0.5"}, numbers=["a"])
    assert result.fillna(-1).tolist() == [0.5, 0.0, -1.0]


def test_a_decimal_comma_declared_for_numbers_is_an_error():
    frame = pd.DataFrame({"a": [1.234, 2.0], "b": [1, 2]})
    with pytest.raises(DataError, match="column 'a' holds numbers that were read with a decimal point"):
        microaggregate(frame, k=2, numbers={"a": "1.234,5"})
    assert recoded(frame, None, {"numbers": {"b": "1.234,5"}})[0] is frame


def test_a_number_of_too_many_digits_beside_fractions_is_an_error():
    with pytest.raises(ParameterError, match=f"'a' has {2**53 + 1} beside fractions after recoding"):
        one([2**53 + 1, 5], {"5": "0.5"})


def test_text_that_reads_as_numbers_has_ranges_too():
    read = {"numbers": {"a": "1.234,5"}, "missing_codes": {"a": "k. A."}}
    result = one(["1.234,5", "7", "k. A.", "< 5"], {">1000": 1000, "< 5": "2.5"}, **read)
    assert result.fillna(-1).tolist() == [1000.0, 7.0, -1.0, 2.5]
    assert one(["1", "7000"], {">1000": "1000"}).tolist() == [1.0, 1000.0]
    with pytest.raises(DataError, match="column 'a' has 'x' in record 1"):
        one(["1", "x"], {">1000": "1000"})
    assert one([">1000", "7"], {">1000": "many"}).tolist() == ["many", "7"]


def test_intervals_are_ordered_as_their_numbers():
    ages = pd.Series([5, 100, 41, 17, np.nan])
    result = one(ages, {"[0, 18)": "<18", "[18, 65)": "18–64", ">=65": "65+"})
    assert (list(result.cat.categories), result.cat.ordered) == (["<18", "18–64", "65+"], True)
    assert list(one(ages, {">=65": "65+"}).cat.categories) == ["5", "17", "41", "65+"]
    mixed = one(ages, {"[0, 18)": "odd", "[100, 100]": "odd", "41": "41"})
    assert mixed.dtype == "str"
    assert mixed.dropna().tolist() == ["odd", "odd", "41", "odd"]


def test_drawn_numbers_become_what_a_plain_loop_says():
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.integers(0, 40, 30) / rng.choice([1, 4])
        limits = sorted(set(rng.integers(0, 45, 4).tolist()))
        changes = intervals(values, limits)
        if rng.random() < 0.5:
            changes = {category(values[0]): "own"} | changes
        if rng.random() < 0.3:  # another order: the first range counts
            changes = dict(reversed(list(changes.items()))) | {"[0, 20]": "0 to 20"}
        result = one(values, changes)
        assert list(map(category, result.astype(object))) == [naive(value, changes) for value in values.tolist()]


def test_two_recodings_composed_are_one_after_the_other():
    rng = np.random.default_rng(0)

    def draw():
        keys = [[f"{low}", f"[{low}, {low + 4})", f">={low}", f"<{low}"] for low in rng.integers(0, 10, 3)]
        return {rng.choice(each): rng.choice([None, "3", "7", "11"]) for each in keys}

    for _ in range(200):
        first, then, values = draw(), draw(), np.arange(0, 10, 0.5)
        one_by_one = one(one(values, first), then)
        pd.testing.assert_series_equal(one(values, compose(first, then)), one_by_one, check_dtype=False)


def test_intervals_cover_all_values_and_are_named():
    named = {"<18": "<18", "[18, 40)": "18–39", "[40, 50)": "40–49", ">=50": "50+"}
    assert intervals(np.array([3.0, 44, 90]), [40, 18, 50]) == named
    assert intervals(np.array([1.5, 2.5]), [1, 2, 3]) == {"[1, 2)": "1 to <2", "[2, 3)": "2 to <3"}
    assert intervals(np.array([1.0, 2.0]), [1, 2, 3]) == {"[1, 2)": "1", "[2, 3)": "2"}


def test_suggestions_fit_any_finite_numbers():
    rng = np.random.default_rng(5)
    huge = rng.uniform(-1, 1, 60) * 1.7e308
    for values in (huge, rng.uniform(0, 1e-6, 60), np.ones(60), np.arange(3.0), np.empty(0)):
        assert not interval_recodings(values)
    for values in (rng.lognormal(3, 2, 500), rng.integers(-50, 40, 90).astype(float), rng.random(30)):
        for words, effect, recoding in [*interval_recodings(values), *extreme_recodings(values, 5)]:
            result = one(values, recoding)
            assert not result.isna().any(), words
            if "instead of" in effect:
                assert effect == f"{result.nunique()} values instead of {len(np.unique(values)):,}"
            else:
                assert result.value_counts()[[result.min(), result.max()]].min() >= 5
                assert int(effect.split()[0]) == (result != values).sum()
    assert not extreme_recodings(np.repeat([1.0, 2.0], 5), 5)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["a"], "recode must map columns to recodings"),
        ({"a": "f"}, "recode of 'a' must map values to what they become"),
        ({"a": {None: "x"}}, "maps a missing value"),
        ({"a": {"x": ["y"]}}, r"has \['y'\] for a new value: give text, a number, or None"),
    ],
)
def test_what_is_no_recoding_is_refused(given, says):
    with pytest.raises(ParameterError, match=says):
        check_recodes(given)


@pytest.fixture
def patients():
    rng = np.random.default_rng(1)
    sex = rng.choice(["f", "F ", "female", "m", "M"], 60)
    ills = rng.choice(["flu", "Flu", "cold"], 60)
    pay = rng.lognormal(7, 1, 60).round(2)
    return pd.DataFrame({"sex": sex, "age": rng.integers(18, 97, 60), "pay": pay, "ill": ills})


RECODE = {"sex": SEX, "pay": {">3000": 3000, "<300": 300}, "ill": {"Flu": "flu"}}
ROLES = {"quasi_identifiers": ["sex", "age", "pay"], "confidential": "ill"}


def test_a_release_holds_the_new_values_and_replays(patients, tmp_path):
    release = microaggregate(patients, k=4, statistic="generalize", recode=RECODE, **ROLES)
    data, finding = release.export("protected.csv")
    assert finding.level == "ok"
    text = data.decode()
    assert "Flu" not in text
    assert "F " not in text
    assert set(release.frame["ill"]) == {"flu", "cold"}
    ends = release.frame["pay"].str.strip("[]").str.split(", ").explode().astype(float)
    assert (ends.min(), ends.max()) == (300, 3000)
    assert patients["pay"].max() > 3000
    again = replay(patients, json.loads(json.dumps(release.recipe)))
    assert again.export("protected.csv")[0] == data
    plan = Plan.from_json(Plan.of(patients, k=4, statistic="generalize", recode=RECODE, **ROLES).to_json())
    assert plan.run(patients).export("protected.csv")[0] == data
    patients.to_csv(tmp_path / "p.csv", index=False)
    exec(compile(release.script(tmp_path / "p.csv", out=tmp_path / "out.csv"), "script", "exec"), {})
    like = read_file(tmp_path / "p.csv")
    assert (tmp_path / "out.csv").read_bytes() == release.export("out.csv", like=like)[0]


def test_numbers_that_become_categories_are_not_left_unprotected(patients):
    with pytest.raises(ParameterError, match="recode makes categories of the numbers of 'age'"):
        microaggregate(patients, k=4, recode={"age": {"[0, 50)": "young"}})
    with pytest.raises(DataError, match="there is no column 'agee'"):
        microaggregate(patients, k=4, recode={"agee": {"[0, 50)": "young"}})
