"""What replaces a group of numbers, ordered categories and others is what the documentation says it is."""

import csv
import io
import json
import warnings
from collections import Counter
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg.release.report.report
from microagg import DataError, MicroaggError, ParameterError, Schema
from microagg.algorithms.base import Param
from microagg.api import microaggregate, replay
from microagg.errors import ConstantColumnWarning
from microagg.optimum.formatting import percent
from microagg.partition import Partition
from microagg.release.recoding import recode
from microagg.tables import to_csv
from tests import naive_mixed
from tests.cases import for_each
from tests.release.common import Blocks, replayed, use

STATUS = {"*": {"Married": ["civil", "abroad"], "Single": ["never", "divorced", "widowed"]}}
ZIP = {"*": {"10**": ["1010", "1020"], "47**": ["4710", "4720"]}}
SCHOOL = ["9th", "10th", "HS-grad", "Bachelors"]
QUASI = ["age", "school", "status", "zip"]
KINDS = {"taxonomies": {"status": STATUS, "zip": ZIP}, "ordinal": {"school": SCHOOL}}


class InOrder(Blocks):
    """Groups the records k by k in their order, or those of each class k by k."""

    info = replace(Blocks.info, key="in-order", title="In order", mixed=True)
    params = (Param("within_classes", "bool", (), False, "Whether groups stay within classes.", needs_classes=True),)

    def _partition(self, records, k, *, within_classes, classes):
        SEEN.append((records, classes))
        order = np.argsort(classes, kind="stable") if within_classes else np.arange(len(records))
        labels = np.empty(len(records), dtype=int)
        labels[order] = super()._partition(records, k)
        return labels


#: What the method was given.
SEEN: list = []


@pytest.fixture(autouse=True)
def method(monkeypatch):
    import_module("microagg.algorithms.method")  # whose variants are those of all algorithms but this one
    SEEN.clear()
    use(monkeypatch, InOrder)


@pytest.fixture
def people():
    """Two groups in order, of three and of four records."""
    frame = pd.DataFrame({"age": [17, 23, 20, 40, 41, 45, 44]}, index=list("aabcdef"))
    frame["school"] = ["10th", "9th", "HS-grad", "Bachelors", "HS-grad", "Bachelors", "HS-grad"]
    frame["status"] = ["divorced", "widowed", "divorced", "abroad", "widowed", "abroad", "widowed"]
    frame["zip"] = [1010, 1010, 1010, 4720, 4710, 4710, 4720]
    frame["income"] = ["low", "high", "low", "low", "low", "high", "high"]
    return frame


def release_of(frame, **choices):
    return microaggregate(
        frame, **{"k": 3, "method": "in-order", "quasi_identifiers": QUASI, "confidential": "income"} | KINDS | choices
    )


def by_group(release, column):
    """Return the values of the first and of the second group, each of which is the same in all of it."""
    values = release.frame[column].tolist()
    assert values == [values[0]] * 3 + [values[3]] * 4
    return values[0], values[3]


def test_mean_and_median_by_hand(people):
    before = people.copy(deep=True)
    mean, median = release_of(people), release_of(people, statistic="median")
    assert by_group(mean, "age") == (20.0, 42.5)
    assert by_group(median, "age") == (20.0, 42.5)
    for release in (mean, median):
        # 9th, 10th, HS-grad: the middle one; HS-grad twice and Bachelors twice: the lower of the two in the middle.
        assert by_group(release, "school") == ("10th", "HS-grad")
        # Two abroad and two widowed: the first in the taxonomy.
        assert by_group(release, "status") == ("divorced", "abroad")
        assert by_group(release, "zip") == (1010, 4710)
        pd.testing.assert_series_equal(release.frame["income"], people["income"])
        pd.testing.assert_index_equal(release.frame.index, people.index)
        assert list(release.frame) == list(people)
    people.loc["f", "age"] = 90
    assert by_group(release_of(people), "age") == (20.0, 54.0)
    assert by_group(release_of(people, statistic="median"), "age") == (20.0, 43.0)
    people.loc["f", "age"] = 44
    pd.testing.assert_frame_equal(people, before)


def test_generalize_by_hand(people):
    release = release_of(people, statistic="generalize")
    assert by_group(release, "age") == ("[17, 23]", "[40, 45]")
    assert by_group(release, "school") == ("[9th, HS-grad]", "[HS-grad, Bachelors]")
    assert by_group(release, "status") == ("Single", "*")
    assert by_group(release, "zip") == ("1010", "47**")
    assert release.report.risk.realized_k == 3
    sets = release_of(people, statistic="generalize", categories="set")
    assert by_group(sets, "status") == ("{divorced, widowed}", "{abroad, widowed}")
    assert by_group(sets, "zip") == ("1010", "{4710, 4720}")
    for column in ("age", "school"):
        pd.testing.assert_series_equal(sets.frame[column], release.frame[column])
    assert sets.report.generalization == release.report.generalization


def test_categories_keep_their_type(people):
    people["school"] = pd.Categorical(people["school"], categories=SCHOOL, ordered=True)
    people["member"] = [True, True, False, True, False, False, True]
    people["code"] = pd.array([3, 3, 4, 4, 4, 3, 3], dtype="Int64")
    flat = dict.fromkeys(("member", "code"))
    out = release_of(people, quasi_identifiers=[*QUASI, "member", "code"], taxonomies=KINDS["taxonomies"] | flat).frame
    for column in ("status", "zip", "member", "code"):
        assert out[column].dtype == people[column].dtype
    # Of the categories, those that nobody has any more are not told.
    assert out["school"].cat.categories.tolist() == [level for level in SCHOOL if level in set(out["school"])]
    assert out["school"].cat.ordered
    # False and True, 3 and 4 are equally frequent in the second group: the first by name.
    assert out["member"].tolist() == [True] * 3 + [False] * 4
    assert out["code"].tolist() == [3] * 7
    assert out["age"].dtype == np.float64


@for_each(
    ("values", "dtype", "text"),
    [
        ([17, 23], "int64", "[17, 23]"),
        ([17.0, 23.0], "float64", "[17, 23]"),
        ([17, 17], "Int16", "17"),
        ([-3, 2], "int8", "[-3, 2]"),
        ([-3.5, -3.5], "float64", "-3.5"),
        ([0.1, 1 / 3], "float64", "[0.1, 0.3333333333333333]"),
        ([0.1, 0.25], "float32", "[0.1, 0.25]"),
        ([0.1, 0.1], "Float32", "0.1"),
        ([-0.0, -0.0], "float64", "0"),
        ([0.0, -0.0, 0.0], "float64", "0"),
        ([1e16, 2.5e-7], "float64", "[2.5e-07, 1e+16]"),
        ([2**53, 2**53 + 1], "int64", "[9007199254740992, 9007199254740993]"),
        ([2**64 - 1, 5], "uint64", "[5, 18446744073709551615]"),
        ([True, False], "bool", "[0, 1]"),
        ([True, True], "boolean", "1"),
    ],
)
def test_numbers_are_written_with_the_digits_they_have(values, dtype, text):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    records = Schema.infer(frame, "a").records(frame)
    column = recode(frame, records, Partition([0] * len(values), 2), "generalize").columns[0]
    assert column.tolist() == [text] * len(values)


def test_figures_by_hand(people):
    report = release_of(people, statistic="generalize", classes="income").report
    common = report.generalization
    # Ages span 28, schools three steps, both trees have height 2; the groups have three and four records.
    shares = {
        "age": (3 * 6 / 28 + 4 * 5 / 28) / 7,
        "school": (3 * 2 / 3 + 4 * 1 / 3) / 7,
        "status": (3 * 0.5 + 4 * 1.0) / 7,
        "zip": (3 * 0.0 + 4 * 0.5) / 7,
    }
    assert common.attributes == pytest.approx({name: 100 * share for name, share in shares.items()})
    assert common.total_information_loss == pytest.approx(7 * sum(shares.values()))
    assert common.information_loss == pytest.approx(100 * sum(shares.values()) / 4)
    assert common.discernibility == 3**2 + 4**2
    assert common.average_class_size == pytest.approx(7 / 2 / 3)
    # One of three, and two of four, are not of the most frequent class.
    assert common.classification == pytest.approx(3 / 7)
    assert common.changed == {}
    assert report.loss is report.utility is None
    without = release_of(people, quasi_identifiers=QUASI[1:]).report
    assert without.loss is without.utility is None
    assert set(without.generalization.attributes) == set(QUASI[1:])


@pytest.mark.parametrize(("statistic", "by"), [("mean", None), ("generalize", None), ("generalize", "region")])
def test_the_floor_of_total_il_is_that_of_the_nearest_others(people, monkeypatch, statistic, by):
    frame = pd.concat([people] * 2, ignore_index=True).assign(region=list("nnnnnnnsssssss"))
    frame["age"] += np.arange(14)
    release = release_of(frame, statistic=statistic, by=by)
    records, common = Schema.infer(frame, QUASI, **KINDS).records(frame), release.report.generalization
    table = naive_mixed.Table(records)
    parts = [range(14)] if by is None else [range(7), range(7, 14)]
    second = [sorted(table.distance(i, j) for j in part if j != i)[3 - 2] for part in parts for i in part]
    assert common.lower_bound == pytest.approx(100 * sum(second) / (14 * len(QUASI)))
    assert 0.0 < common.lower_bound < common.information_loss
    assert common.gap == pytest.approx(common.information_loss / common.lower_bound - 1)
    assert f" is {percent(common.lower_bound)}" in release.report.summary()
    assert percent(common.lower_bound) in release.report.summary()
    assert percent(common.lower_bound) in " ".join(release.report.loss_sentences())
    # It takes the square of the number of records: many have none, and nothing is said of it.
    monkeypatch.setattr(microagg.release.measures, "_MOST_PROVEN", 13)
    report = release_of(frame, statistic=statistic, by=by).report
    assert report.generalization.lower_bound is report.generalization.gap is None
    assert report.generalization == replace(common, lower_bound=None)


METHODS = ("in-order", "k-member", "mondrian", "mdav-generic-mixed")


def test_a_recipe_refuses_other_categories_and_classes(people):
    recipe = release_of(people, classes="income").recipe
    for name, value, says in (
        ("status", "civil", "quasi-identifiers differ"),
        ("status", "elsewhere", "column 'status', record 0 .*'elsewhere'"),
        ("income", "high", r"classes \('income'\) differ"),
    ):
        with pytest.raises(DataError, match=says):
            replay(people.assign(**{name: [value, *people[name][1:]]}), recipe)
    with pytest.raises(ParameterError, match="has no 'taxonomies', 'classes_sha256'"):
        replay(people, {key: recipe[key] for key in recipe if key not in ("taxonomies", "classes_sha256")})


@pytest.mark.parametrize("statistic", ["median", "generalize"])
def test_what_is_released_has_a_digest(people, monkeypatch, statistic):
    recipe = release_of(people, statistic=statistic).recipe
    broken = recode

    def other(*arguments, **choices):
        result = broken(*arguments, **choices)
        if result.values is not None:
            result.values[result.values[:, 2] == result.values[0, 2], 2] += 1.0
        result.columns[2][result.columns[2] == result.columns[2].iloc[0]] = "civil"
        return result

    monkeypatch.setattr("microagg.release.plan.recode", other)
    with pytest.raises(MicroaggError, match="comes out otherwise than recorded"):
        replay(people, recipe)


@pytest.mark.parametrize(
    ("choices", "error", "says"),
    [
        ({"method": "mdav-star"}, ParameterError, r"'school', 'status', 'zip': .*k-member.*in-order"),
        ({"method": "mdav", "quasi_identifiers": QUASI[2:], "ordinal": None}, ParameterError, "'status', 'zip'"),
        ({"categories": "list"}, ParameterError, "categories must be one of 'ancestor', 'set'"),
        ({"taxonomies": ["status"]}, ParameterError, "taxonomies must map column names"),
        ({"ordinal": "school"}, ParameterError, "ordinal must map column names"),
        ({"classes": "wealth"}, DataError, r"no column 'wealth' \(.*the classes"),
        ({"classes": ["income"]}, ParameterError, r"name of one column, not \['income'\]"),
        ({"classes": "zip"}, ParameterError, "'zip' .* the classes and among the quasi-identifiers"),
        ({"classes": "income", "confidential": None, "identifiers": "income"}, ParameterError, "among the identifiers"),
        ({"taxonomies": {"status": {"*": ["civil"]}, "zip": ZIP}}, DataError, "column 'status', record 0 "),
        ({"ordinal": {"school": SCHOOL[1:]}}, DataError, "column 'school' has '9th' in record 1"),
        ({"ordinal": {"school": [*SCHOOL, "\ud800"]}}, DataError, r"'school' has the category '\\ud800'"),
        ({"taxonomies": {"income": None}}, ParameterError, "'income', which is not among the quasi"),
    ],
    ids=str,
)
def test_bad_choices_are_named(people, choices, error, says):
    with pytest.raises(error, match=says):
        release_of(people, **choices)


# Names of categories may be any text that a taxonomy can hold; few of them make ties and groups of equal records.
WORDS = st.one_of(
    st.sampled_from(["a", "b", "*x", "[1, 2]", "{a, b}", "-1", "=1", "nan", "None", "True", " b", "1.0", "ä"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3).filter(lambda word: word.strip()),
)


@given(st.data())
def test_any_release_is_k_anonymous_in_its_file(data):
    n = data.draw(st.integers(1, 20), label="n")
    k = data.draw(st.integers(1, n), label="k")
    words = [word for word in data.draw(st.lists(WORDS, min_size=1, max_size=5, unique=True)) if word != "*"] or ["a"]
    number = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e9, 1e9).map(lambda x: round(x, 3)))
    frame = pd.DataFrame(
        {
            "number": data.draw(st.lists(number, min_size=n, max_size=n)),
            "rank": data.draw(st.lists(st.sampled_from(words), min_size=n, max_size=n)),
            "kind": data.draw(st.lists(st.sampled_from([*words, 1, 2]), min_size=n, max_size=n)),
            "stratum": data.draw(st.lists(st.sampled_from("xy"), min_size=n, max_size=n)),
        }
    )
    names = data.draw(st.permutations(["number", "rank", "kind"]), label="names")[: data.draw(st.integers(1, 3))]
    by = "stratum" if frame["stratum"].value_counts().min() >= k and data.draw(st.booleans(), label="by") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        release = microaggregate(
            frame,
            k=k,
            method=data.draw(st.sampled_from(METHODS), label="method"),
            quasi_identifiers=names,
            taxonomies={"kind": None} if "kind" in names else None,
            ordinal={"rank": words} if "rank" in names else None,
            by=by,
            statistic=data.draw(st.sampled_from(["mean", "median", "generalize"]), label="statistic"),
            categories=data.draw(st.sampled_from(["ancestor", "set"]), label="categories"),
        )
    keys = [*names, *([by] if by else [])]
    rows = csv.DictReader(io.StringIO(to_csv(release.frame), newline=""))
    assert min(Counter(tuple(row[key] for key in keys) for row in rows).values()) >= k
    assert release.report.risk.realized_k >= k
    others = [name for name in frame if name not in names]
    pd.testing.assert_frame_equal(release.frame[others], frame[others])
    if release.report.loss is not None:
        assert release.report.loss.lower_bound <= release.report.loss.information_loss * (1 + 1e-9)
    if (common := release.report.generalization) is not None:
        assert 0.0 <= common.lower_bound <= common.information_loss * (1 + 1e-9)
    json.dumps(release.report.to_dict(), allow_nan=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        replayed(frame, release)
