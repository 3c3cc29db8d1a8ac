"""Findings: each code and level on files small enough to count by hand, and Adult counted in another way."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.api import microaggregate
from microagg.columns.schema import Schema
from microagg.errors import ParameterError
from microagg.metrics.risk.equivalence_classes import numbered
from microagg.release import Finding, column_counts
from microagg.release.checks import CHECKS, find
from microagg.release.findings import File
from microagg.tables import read_file
from tests.cases import for_each


def findings(released, *, k=2, code=None, original=None, n_dropped=0, shuffled=False, quasi_identifiers="q", **roles):
    """Return what is found of a release whose quasi-identifier is q, by default all of it."""
    names = tuple(quasi_identifiers)
    schema = Schema(names, **roles)
    original = released if original is None else original
    classes = numbered(released, (*schema.quasi_identifiers, *schema.strata))
    found = find(File(released, original, schema, k, classes, n_dropped, shuffled))
    places = [list(CHECKS).index(finding.code) for finding in found]
    assert places == sorted(places)
    assert all(finding.level in CHECKS[finding.code].levels.split() for finding in found)
    return [finding for finding in found if code in (None, finding.code)]


def levels(found):
    return [(finding.level, finding.columns) for finding in found]


def only(found):
    assert len(found) == 1
    return found[0]


def test_a_column_with_one_released_value_is_a_warning():
    original = pd.DataFrame({"q": list("aabb")})
    assert levels(findings(original.assign(q="*"), original=original, code="one-value")) == [("warn", ("q",))]
    assert not findings(original, code="one-value")


def test_outliers_are_at_most_a_hundredth_without_which_the_range_is_a_fifth():
    values = np.r_[np.arange(300.0), 1495.0, 1496.0, -3.0]
    of = column_counts.outliers
    none = (0, -np.inf, np.inf)
    assert of(pd.Series(values)) == (3, 0.0, 299.0)
    assert of(pd.Series(np.r_[np.arange(300.0), 1496.0, 1497.0])) == (2, 0.0, 299.0)
    assert of(pd.Series(np.r_[np.arange(300.0), 1480.0])) == none
    assert of(pd.Series(np.r_[np.arange(300.0), [2000.0] * 4])) == none
    assert of(pd.Series(np.r_[np.zeros(300), 2000.0])) == none
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.r_[np.arange(300), 3000], "D"))
    assert of(days).records == of(days.astype("date32[pyarrow]")).records == 1
    assert of(days.astype(str)) == of(pd.Series([True] * 300)) == of(pd.Series([1.0, np.inf] * 200)) == none
    original = pd.DataFrame({"q": values, "w": values[::-1]})
    warn = only(findings(original.assign(q=1.0), original=original, code="outliers"))
    assert (warn.level, warn.columns) == ("warn", ("q",))
    assert "3 records" in warn.text


def test_a_clean_release_has_nothing_but_ok():
    released = pd.DataFrame({"q": [1.0] * 4 + [2.0] * 4, "ill": list("abababab")})
    found = findings(released, k=4, confidential=("ill",), identifiers=("id",), shuffled=True)
    codes = ["identifiers", "undecided", "k", "identifying", "determines", "homogeneity", "order"]
    assert [finding.code for finding in found] == codes
    assert {finding.level for finding in found} == {"ok"}
    with pytest.raises(ParameterError, match="level must be one of 'stop', 'warn', 'ok'"):
        Finding("bad", "k", (), "")


FOUR = pd.DataFrame({"q": [1.0] * 4})
LOOSE = FOUR.assign(a=0, b=0, c=0, d=0, s=0, w=0)
LOOSE_ROLES = {"confidential": ("c",), "others": ("d",), "strata": ("s",), "weights": "w"}
TWELVE = pd.DataFrame({"q": [1.0] * 12, "c": np.repeat(range(4), 3), "each": range(12)})
NAMED = FOUR.set_axis(pd.Index(list("wxyz"), name="person"))
NAMED_TWICE = FOUR.set_axis(pd.MultiIndex.from_product([[0, 1], list("ab")], names=[None, "person"]))


@for_each(
    ("code", "released", "how", "expected"),
    [
        ("identifiers", FOUR, {"identifiers": ("id", "name")}, [("ok", ("id", "name"))]),
        ("identifiers", FOUR, {}, []),  # nothing was looked at
        ("identifiers", FOUR.assign(id=1), {"identifiers": ("id", "name")}, [("stop", ("id",))]),
        ("undecided", LOOSE, LOOSE_ROLES, [("stop", ("a", "b"))]),
        ("undecided", LOOSE.drop(columns=["a", "b"]), LOOSE_ROLES, [("ok", ())]),
        ("index", FOUR.set_axis(list("wxyz")), {}, []),
        ("index", FOUR.rename_axis("row"), {}, []),
        ("index", NAMED, {}, [("stop", ("person",))]),
        ("index", NAMED, {"shuffled": 0}, []),
        ("index", NAMED_TWICE, {}, [("stop", ("person",))]),
        # What is rare depends on k; with k of 1 values that one record has alone are.
        ("identifying", TWELVE, {"k": 3, "confidential": ("c",), "strata": ("each",)}, [("ok", ())]),
        ("identifying", TWELVE, {"k": 4, "confidential": ("c",), "strata": ("each",)}, [("warn", ("c",))]),
        ("identifying", TWELVE[["q", "c"]], {"k": 1, "confidential": ("c",)}, [("ok", ())]),
        ("identifying", TWELVE[["q", "each"]], {"k": 1, "confidential": ("each",)}, [("warn", ("each",))]),
        ("identifying", FOUR.assign(same="x", none=np.nan), {}, [("ok", ())]),
        ("identifying", FOUR.assign(same="x", none=np.nan), {"others": ("same", "none")}, [("ok", ())]),
        ("identifying", TWELVE[["q"]].assign(w=np.arange(12) / 7), {"weights": "w"}, [("stop", ("w",))]),
        ("weights", TWELVE.assign(w=np.arange(12) / 7), {"weights": "w"}, []),
        ("weights", FOUR, {}, []),
        ("weights", FOUR, {"weights": "w"}, [("ok", ("w",))]),
        ("gaps", FOUR, {}, []),
        ("k", FOUR.assign(s=list("aabb")), {"k": 3, "strata": ("s",)}, [("stop", ())]),
        ("order", FOUR, {}, [("warn", ())]),
        ("order", FOUR, {"shuffled": True}, [("ok", ())]),
        ("order", FOUR, {"shuffled": 2**64}, [("ok", ())]),
        ("order", FOUR, {"shuffled": 2**64 - 1}, [("warn", ())]),
        ("order", FOUR, {"shuffled": 0}, [("warn", ())]),
    ],
)
def test_the_level_and_columns_of_a_check(code, released, how, expected):
    assert levels(findings(released, code=code, **how)) == expected


def test_columns_without_a_role_count_for_k():
    released = pd.DataFrame({"q": [1.0] * 4 + [2.0] * 4, "same": 0, "two": list("aabbccdd"), "odd": list("xxxyzzzz")})
    released["gap"] = None
    # "odd" divides the first class into 3 and 1; "two" all of them into pairs.
    stop = only(findings(released, k=3, code="k"))
    assert levels([stop]) == [("stop", ("two", "odd"))]
    assert "8 of 8 records (2 unique)" in stop.text
    ok = only(findings(released.drop(columns=["two", "odd"]), k=3, code="k"))
    assert ok.level == "ok"
    assert "'same', 'gap'" in ok.text
    # What is declared to be something else is not counted here.
    assert levels(findings(released, k=3, code="k", confidential=("two",), others=("odd",))) == [("ok", ())]
    together = pd.DataFrame({"q": [1.0] * 8, "a": list("xxxxyyyy"), "b": list("xxyyxxyy")})
    assert levels(findings(together, k=3, code="k")) == [("stop", ("a", "b"))]
    assert "8 of 8 records (0 unique)" in only(findings(together[["q", "a"]], k=5, code="k")).text


@given(
    st.lists(st.tuples(*[st.sampled_from([0, 1, 2])] * 2, *[st.sampled_from([None, "a", "b"])] * 2), min_size=1),
    st.integers(1, 4),
)
def test_k_stops_if_and_only_if_a_plain_count_does(rows, k):
    released = pd.DataFrame(rows, columns=["q", "r", "s", "loose"])
    found = only(findings(released, k=k, code="k", quasi_identifiers="qr", strata=("s",)))
    sizes = Counter(rows)
    assert (found.level == "stop") == (min(sizes.values()) < k)
    if found.level == "stop" and "loose" in found.columns:
        few = [size for size in sizes.values() if size < k]
        assert f"finds {sum(few)} of {len(rows)} record" in found.text
        assert f"({few.count(1)} unique)" in found.text


def test_nearly_unique_columns():
    released = pd.DataFrame({"q": [1.0] * 10, "number": range(10), "few": [1, 2, *[3] * 8], "one": [1, *[3] * 9]})
    released["gaps"] = [1, 2, *[None] * 8]
    for role in ({"others": ("number", "few", "one", "gaps")}, {}):
        stop = findings(released, code="identifying", **role)[0]
        assert levels([stop]) == [("stop", ("number", "few", "gaps"))]
        # A fifth of the records counts; of those that have a value, not of all.
        for name, distinct, records, share in (("number", 10, 10, 100), ("few", 3, 10, 20), ("gaps", 2, 2, 100)):
            assert f"'{name}' has {distinct} distinct values in {records} records ({share} %" in stop.text
    warn = only(findings(released, code="identifying", confidential=("number", "few", "one", "gaps")))
    assert levels([warn]) == [("warn", ("number", "few", "gaps"))]


@pytest.mark.parametrize("role", ["others", "confidential"])
def test_kinds_of_missing_values_are_values(tmp_path, role):
    frame = pd.DataFrame({"q": [1.0, 2.0] * 6, "c": [*range(90, 96), *[1.0] * 6]})
    pyreadstat.write_sav(frame, path := tmp_path / "in.sav", missing_ranges={"c": [{"lo": 90, "hi": 99}]})
    original = read_file(path).frame
    released = original.copy()
    released.attrs = {}
    finding = only(findings(released, original=original, code="identifying", **{role: ("c",)}))
    assert (finding.level, finding.columns) == ("stop" if role == "others" else "warn", ("c",))


@pytest.mark.parametrize("role", ["confidential", "others", None])
def test_columns_that_determine_a_quasi_identifier(role):
    original = pd.DataFrame({"q": ["none", "school", "degree"] * 8, "r": list("aabb") * 6})
    original = original.assign(years=[0, 9, 14] * 8, town=[1, 2, 3, 4, 5, 6] * 4, x=[1, 2] * 12)
    released = original.assign(q="*", r="*")
    how = {"original": original, "code": "determines", "quasi_identifiers": "qr"}
    found = findings(released, **how, **({} if role is None else {role: ("years", "town", "x")}))
    assert levels(found) == [("stop", ("years", "q")), ("stop", ("town", "q"))]
    assert levels(findings(released.drop(columns=["years", "town"]), **how)) == [("ok", ())]
    # Strata are released anyway, gaps hide nothing, and one column may determine two.
    assert levels(findings(released.drop(columns=["years"]), **how, strata=("town",))) == [("ok", ())]
    original["years"] = original["years"].replace(0, 5).where(original.index > 5)
    original["r"] = original["q"].map({"none": "x", "school": "y", "degree": "x"})
    stop = only(findings(released.drop(columns=["town", "x"]), **how, confidential=("years",)))
    assert stop.columns == ("years", "q", "r")


@pytest.mark.parametrize("role", ["confidential", "others", None])
def test_columns_that_are_computed_from_a_quasi_identifier(role):
    gross = np.random.default_rng(0).permutation(40) * 100.0
    original = pd.DataFrame({"q": gross, "net": 0.6 * gross + 7, "debt": -(gross**3), "x": np.roll(gross, 1)})
    roles = {} if role is None else {role: ("net", "debt", "x")}
    found = findings(original.assign(q=0.0), original=original, code="determines", **roles)
    assert levels(found) == [("stop", ("net", "q")), ("stop", ("debt", "q"))]


def test_a_birth_date_tells_the_year_of_birth_and_the_year_a_date_released_by_it():
    days = pd.Series(pd.date_range("1950-01-01", periods=40, freq="200D").astype("datetime64[s]"))
    born, left = (
        findings(
            pd.DataFrame({"q": 1960, "born": days}),
            original=pd.DataFrame({"q": days.dt.year, "born": days}),
            confidential=("born",),
            code="determines",
        ),
        findings(
            pd.DataFrame({"q": 1960, "year": days.dt.year}),
            original=pd.DataFrame({"q": days, "year": days.dt.year}),
            confidential=("year",),
            dates={"q": "year"},
            code="determines",
        ),
    )
    assert levels(born) == [("stop", ("born", "q"))]
    assert levels(left) == [("stop", ("year", "q"))]


def test_homogeneous_classes():
    released = pd.DataFrame({"q": [1.0] * 3 + [2.0] * 2 + [3.0] * 2 + [4.0] * 3})
    released["ill"] = ["flu", "flu", "flu", "flu", "cold", "cold", "cold", None, None, None]
    released["pay"] = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]
    released["country"] = "here"
    warn, ok = findings(released, code="homogeneity", confidential=("ill", "pay", "country"))
    assert levels([warn, ok]) == [("warn", ("ill",)), ("ok", ("pay",))]
    # Nobody learns a value of the fourth class, for it has none.
    assert "2 of 4 classes (5 records), most often 'flu' (3 records)" in warn.text
    divided = findings(released.assign(s=list("aaabaabaab")), code="homogeneity", confidential=("pay",), strata=("s",))
    assert levels(divided) == [("warn", ("pay",))]
    # A file writes -0.0 in another way, but it is no other value.
    debt = released.assign(debt=[0.0, -0.0, 0.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 2.0])
    assert "1 of 4 classes (3 records)" in only(findings(debt, code="homogeneity", confidential=("debt",))).text
    same = only(findings(released, code="homogeneity", confidential=("country",)))
    assert levels([same]) == [("ok", ("country",))]
    assert levels(findings(released, code="homogeneity")) == [("warn", ())]


def test_records_left_out():
    released = pd.DataFrame({"q": [1.0] * 198})
    few = only(findings(released, code="gaps", n_dropped=1))
    assert few.level == "ok"
    assert "1 record of 199 (0.503 %)" in few.text
    many = only(findings(released, code="gaps", n_dropped=2))
    assert many.level == "warn"
    assert "2 records of 200 (1 %)" in many.text


def places(n=300):
    """Return codes of places, each of one of three cities, and ages, which go with none."""
    rng = np.random.default_rng(3)
    code = rng.choice(["04103", "04110", "20095", "20097", "80331"], n)
    city = pd.Series(code).str[:2].map({"04": "Leipzig", "20": "Hamburg", "80": "Munich"})
    return pd.DataFrame({"code": code, "city": city, "age": rng.integers(20, 60, n)})


def test_records_that_can_hardly_be_true():
    original = places()
    released = original.copy()
    released.loc[[5, 77, 101], "code"] = "04110"
    released.loc[[5, 77, 101], "city"] = "Hamburg"
    released.loc[9, ["code", "city"]] = "80331", "Leipzig"
    # Neither a mean nor a range nor what stands for a gap is a value of the original, so nothing is known of it.
    released.loc[20:30, "city"] = "{Hamburg, Leipzig}"
    released["age"] = 35.5
    roles = {"quasi_identifiers": ("code", "city", "age"), "original": original, "code": "impossible"}
    warn = only(findings(released, **roles))
    assert levels([warn]) == [("warn", ("code", "city"))]
    assert warn.text.startswith("4 of 300 records")
    assert "'code' with 'city' (4, such as '04110' with 'Hamburg')" in warn.text
    ok = only(findings(original, **roles))
    assert levels([ok]) == [("ok", ())]
    assert "'code' determines 'city'" in ok.text
    assert not findings(released, **roles | {"quasi_identifiers": ("code", "age")})


def test_a_file_of_any_types_has_findings(frame):
    frame["list"] = [[i % 2] for i in range(60)]
    frame["span"] = pd.interval_range(0, 60)
    frame["complex"] = np.arange(60) * 1j
    frame[3] = pd.to_timedelta(range(60), unit="h")
    frame[("a", 1)] = [i // 30 if i % 7 else "x" for i in range(60)]
    found = {finding.code: finding for finding in microaggregate(frame, k=4, quasi_identifiers=["age"]).findings}
    assert found["identifying"].columns == ("id", "income", "height", "when", "span", "complex", 3)
    assert ("a", 1) in found["undecided"].columns
    assert "list" in found["k"].columns


def test_a_release_has_its_findings_of_which_some_are_accepted(frame):
    frame.loc[frame.index[:3], "income"] = np.nan
    roles = {"quasi_identifiers": ["age", "income"], "confidential": "illness", "identifiers": "id", "missing": "drop"}
    release = microaggregate(frame, k=4, others=["height", "region"], **roles)
    assert release.findings == release.report.findings
    schema = Schema(("age", "income"), confidential=("illness",), identifiers=("id",), others=("height", "region"))
    classes = numbered(release.frame, schema.quasi_identifiers)
    file = File(release.frame, frame.iloc[3:], schema, 4, classes, n_dropped=3, predicted=())
    assert release.findings == find(file)
    known = {finding.code: finding for finding in release.findings}
    assert known["undecided"].columns == ("smoker", "score", "when")
    assert "3 records of 60 (5 %)" in known["gaps"].text
    written = json.loads(json.dumps(release.report.to_dict(), allow_nan=False))
    assert [one["code"] for one in written["findings"]] == [finding.code for finding in release.findings]
    assert written["accepted"] == []

    accepted = release.accept("order", "undecided", reason="the registry has checked it.")
    assert accepted.report.accepted == (known["undecided"], known["order"])
    assert release.report.accepted == ()
    *others, last = accepted.findings
    assert tuple(others) == release.findings
    assert (last.level, last.code, last.columns) == ("warn", "accepted", known["undecided"].columns)
    assert "undecided, order: the registry has checked it." in last.text
    assert last in accepted.report.warnings
    assert known["order"] not in accepted.report.warnings
    assert accepted.frame is release.frame
    summary = accepted.report.summary()
    assert known["order"].text in summary
    assert summary.endswith("the registry has checked it.")
    more = accepted.accept("gaps", "order", reason="few").report
    assert more.accepted == (known["undecided"], known["gaps"], known["order"])
    assert more.reason == "the registry has checked it.; few"
    assert more.to_dict()["accepted"][1]["code"] == "gaps"
    for codes, reason, says in (
        (["order"], " \n", "a reason is needed"),
        (["order", "identifiers", "nonsense"], "none", "'identifiers', 'nonsense'.* 'undecided'"),
        ([], "none", "no code was given: .*'undecided', .*'order'"),
    ):
        with pytest.raises(ParameterError, match=says):
            release.accept(*codes, reason=reason)
