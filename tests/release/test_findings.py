"""Findings: each code and level on files small enough to count by hand, and Adult counted in another way."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg
from microagg.api import microaggregate
from microagg.columns.schema import Schema
from microagg.errors import ParameterError
from microagg.release import Finding, counting
from microagg.release.findings import find
from tests.conftest import load_benchmark

CODES = [
    "identifiers",
    "undecided",
    "index",
    "k",
    "identifying",
    "determines",
    "predicted",
    "homogeneity",
    "impossible",
    "weights",
    "outliers",
    "gaps",
    "order",
]


def findings(released, *, k=2, code=None, original=None, n_dropped=0, shuffled=False, quasi_identifiers="q", **roles):
    """Return what is found of a release whose quasi-identifier is q, by default all of it."""
    names = tuple(quasi_identifiers)
    schema = Schema(names, **roles)
    original = released if original is None else original
    found = find(released, original, schema, k, n_dropped=n_dropped, shuffled=shuffled)
    places = [CODES.index(finding.code) for finding in found]
    assert places == sorted(places)
    return [finding for finding in found if code in (None, finding.code)]


def levels(found):
    return [(finding.level, finding.columns) for finding in found]


def only(found):
    assert len(found) == 1
    return found[0]


def test_outliers_are_at_most_a_hundredth_without_which_the_range_is_a_fifth():
    values = np.r_[np.arange(300.0), 1495.0, 1496.0, -3.0]
    of = partial(counting.outliers, most=0.01, spread=5.0)
    none = (0, -np.inf, np.inf)
    assert of(pd.Series(values)) == (3, 0.0, 299.0)
    assert of(pd.Series(np.r_[np.arange(300.0), 1496.0, 1497.0])) == (2, 0.0, 299.0)
    assert of(pd.Series(np.r_[np.arange(300.0), 1480.0])) == none
    assert of(pd.Series(np.r_[np.arange(300.0), [2000.0] * 4])) == none
    assert of(pd.Series(np.r_[np.zeros(300), 2000.0])) == none
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.r_[np.arange(300), 3000], "D"))
    assert of(days).records == 1
    assert of(days.astype(str)) == of(pd.Series([True] * 300)) == of(pd.Series([1.0, np.inf] * 200)) == none
    original = pd.DataFrame({"q": values, "w": values[::-1]})
    text = "without 3 records the range of 'q' would be at most 20 % of what it is"
    warn = only(findings(original.assign(q=1.0), original=original, code="outliers"))
    assert (warn.level, warn.columns) == ("warn", ("q",))
    assert text in warn.text


def test_a_clean_release_has_nothing_but_ok():
    released = pd.DataFrame({"q": [1.0] * 4 + [2.0] * 4, "ill": list("abababab")})
    found = findings(released, k=4, confidential=("ill",), identifiers=("id",), shuffled=True)
    assert [finding.code for finding in found] == [
        "identifiers",
        "undecided",
        "k",
        "identifying",
        "determines",
        "homogeneity",
        "order",
    ]
    assert {finding.level for finding in found} == {"ok"}
    assert all(finding.text.endswith(".") for finding in found)


def test_levels_are_three():
    with pytest.raises(ParameterError, match="level must be one of 'stop', 'warn', 'ok', not 'bad'"):
        Finding("bad", "k", (), "")


def test_identifiers():
    released = pd.DataFrame({"q": [1.0] * 4})
    left_out = only(findings(released, code="identifiers", identifiers=("id", "name")))
    assert levels([left_out]) == [("ok", ("id", "name"))]
    assert not findings(released, code="identifiers")  # nothing was looked at
    kept = only(findings(released.assign(id=1), code="identifiers", identifiers=("id", "name")))
    assert levels([kept]) == [("stop", ("id",))]


def test_undecided():
    released = pd.DataFrame({"q": [1.0] * 4, "a": 0, "b": 0, "c": 0, "d": 0, "s": 0, "w": 0})
    roles = {"confidential": ("c",), "others": ("d",), "strata": ("s",), "weights": "w"}
    assert levels(findings(released, code="undecided", **roles)) == [("stop", ("a", "b"))]
    assert levels(findings(released.drop(columns=["a", "b"]), code="undecided", **roles)) == [("ok", ())]


def test_index_that_files_get():
    released = pd.DataFrame({"q": [1.0] * 4})
    assert not findings(released.set_axis(list("wxyz")), code="index")
    assert not findings(released.rename_axis("row"), code="index")
    named = released.set_axis(pd.Index(list("wxyz"), name="person"))
    assert levels(findings(named, code="index")) == [("stop", ("person",))]
    two = released.set_axis(pd.MultiIndex.from_product([[0, 1], list("ab")], names=[None, "person"]))
    assert "'person'" in only(findings(two, code="index")).text


# ---- k ---------------------------------------------------------------------------------------------------------------


def test_k_is_that_of_the_release():
    released = pd.DataFrame({"q": [1.0] * 3 + [2.0] * 4})
    ok = only(findings(released, k=3, code="k"))
    assert (
        ok.text
        == "Each combination of quasi-identifiers is shared by at least 3 records, counted on the release (k = 3)."
    )
    below = only(findings(released, k=4, code="k"))
    assert levels([below]) == [("stop", ())]
    assert "3 of 7 records (0 unique) share their quasi-identifiers with fewer than k = 4" in below.text


def test_k_of_one_is_no_protection():
    released = pd.DataFrame({"q": [1, 2, 3, 3, 4, 4], "s": list("aaaabb"), "loose": list("xxxxxy")})
    warn = only(findings(released[["q"]], k=1, code="k"))
    assert levels([warn]) == [("warn", ())]
    assert warn.text.startswith("2 of 6 records are alone with their quasi-identifiers")
    warn = only(findings(released, k=1, code="k", strata=("s",)))
    assert levels([warn]) == [("warn", ("loose",))]
    assert warn.text.startswith("4 of 6 records are alone with their quasi-identifiers and strata, with 'loose' too,")
    assert levels(findings(released[["q"]].iloc[2:], k=1, code="k")) == [("ok", ())]


def test_columns_without_a_role_count_for_k():
    released = pd.DataFrame(
        {"q": [1.0] * 4 + [2.0] * 4, "same": 0, "two": list("aabbccdd"), "odd": list("xxxyzzzz"), "gap": [None] * 8}
    )
    # "odd" divides the first class into 3 and 1; "two" all of them into pairs.
    stop = only(findings(released, k=3, code="k"))
    assert levels([stop]) == [("stop", ("two", "odd"))]
    assert "finds 8 of 8 records (2 unique) in classes of fewer than k = 3" in stop.text
    assert "(otherwise each class has at least 4)." in stop.text
    assert "Each alone: 'two' 8 (0 unique) and 'odd' 1 (1 unique)." in stop.text
    ok = only(findings(released.drop(columns=["two", "odd"]), k=3, code="k"))
    assert ok.level == "ok"
    assert "and" not in ok.text
    assert "with 'same', 'gap' too, is shared by at least 4 records" in ok.text
    # What is declared to be something else is not counted here.
    assert levels(findings(released, k=3, code="k", confidential=("two",), others=("odd",))) == [("ok", ())]


def test_columns_that_only_together_divide_a_class():
    released = pd.DataFrame({"q": [1.0] * 8, "a": list("xxxxyyyy"), "b": list("xxyyxxyy")})
    stop = only(findings(released, k=3, code="k"))
    assert levels([stop]) == [("stop", ("a", "b"))]
    assert "None of them does so alone." in stop.text
    one = only(findings(released[["q", "a"]], k=5, code="k"))
    assert "finds 8 of 8 records (0 unique)" in one.text
    assert "(otherwise each class has at least 8). Leave out 'a'" in one.text


def test_strata_count_for_k():
    released = pd.DataFrame({"q": [1.0] * 4, "s": list("aabb")})
    assert levels(findings(released, k=3, code="k", strata=("s",))) == [("stop", ())]
    assert (
        "quasi-identifiers and strata is shared by at least 2" in only(findings(released, code="k", strata=("s",))).text
    )


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


# ---- Columns left as they are ----------------------------------------------------------------------------------------


def test_nearly_unique_columns():
    released = pd.DataFrame({"q": [1.0] * 10, "number": range(10), "few": [1, 2, *[3] * 8], "one": [1, *[3] * 9]})
    released["gaps"] = [1, 2, *[None] * 8]
    text = "'number' has 10 distinct values in 10 records, 100 % of them with one that fewer than 2 share"
    for role in ({"others": ("number", "few", "one", "gaps")}, {}):
        stop = findings(released, code="identifying", **role)[0]
        assert levels([stop]) == [("stop", ("number", "few", "gaps"))]
        assert text in stop.text
        # A fifth of the records counts; of those that have a value, not of all.
        assert "'few' has 3 distinct values in 10 records, 20 % of them" in stop.text
        assert "'gaps' has 2 distinct values in 2 records, 100 % of them" in stop.text
    warn = only(findings(released, code="identifying", confidential=("number", "few", "one", "gaps")))
    assert levels([warn]) == [("warn", ("number", "few", "gaps"))]


def test_what_is_rare_depends_on_k():
    released = pd.DataFrame({"q": [1.0] * 12, "c": np.repeat(range(4), 3)})
    assert levels(findings(released, k=3, code="identifying", confidential=("c",))) == [("ok", ())]
    assert levels(findings(released, k=4, code="identifying", confidential=("c",))) == [("warn", ("c",))]
    # With k of 1 values that one record has alone are rare.
    assert levels(findings(released, k=1, code="identifying", confidential=("c",))) == [("ok", ())]
    released["c"] = range(12)
    assert levels(findings(released, k=1, code="identifying", confidential=("c",))) == [("warn", ("c",))]


def test_missing_and_constant_columns_identify_nobody():
    released = pd.DataFrame({"q": [1.0] * 4, "same": ["x"] * 4, "none": [np.nan] * 4})
    assert levels(findings(released, code="identifying")) == [("ok", ())]
    assert levels(findings(released, code="identifying", others=("same", "none"))) == [("ok", ())]


def test_many_columns_are_named_and_three_described():
    released = pd.DataFrame({"q": [1.0] * 6, **dict.fromkeys("abcde", range(6))})
    stop = only(findings(released, code="identifying"))
    assert stop.columns == tuple("abcde")
    assert stop.text.count("distinct values") == 3
    assert "and likewise 'd', 'e'" in stop.text


def test_other_columns_may_divide_classes():
    released = pd.DataFrame({"q": [1.0] * 6 + [2.0] * 6, "o": [1, 1, 1, 2, 2, 2] * 2, "w": [5] * 12, "id": range(12)})
    stop, warn = findings(released, k=4, code="identifying", others=("o", "id"), weights="w")
    assert levels([stop, warn]) == [("stop", ("id",)), ("warn", ("o",))]
    assert "who knows 'o' besides the quasi-identifiers finds 12 of 12 records (0 unique)" in warn.text
    assert levels(findings(released.drop(columns="id"), k=3, code="identifying", others=("o",))) == [("ok", ())]


def test_weights_kept_identify():
    released = pd.DataFrame({"q": [1.0] * 10, "w": np.arange(10) / 7})
    assert levels(findings(released, code="identifying", weights="w")) == [("stop", ("w",))]
    assert not findings(released, code="weights", weights="w")


def test_weights_of_classes_are_fine():
    released = pd.DataFrame({"q": [1.0] * 2 + [2.0] * 2 + [3.0] * 2, "w": [0.5, 0.5, 0.7, 0.7, 0.9, 0.9]})
    original = pd.DataFrame({"q": [1, 2, 3, 4, 5, 6], "w": range(6)})
    found = findings(released, original=original, weights="w")
    assert levels([f for f in found if f.code == "weights"]) == [("ok", ("w",))]
    assert levels([f for f in found if f.code == "identifying"]) == [("ok", ())]
    assert "one value for each class" in only([f for f in found if f.code == "weights"]).text
    # As they were they determine a quasi-identifier; as they are released they do not.
    assert levels([f for f in found if f.code == "determines"]) == [("ok", ())]
    dropped = only(findings(released[["q"]], code="weights", weights="w"))
    assert dropped == Finding("ok", "weights", ("w",), "The weights 'w' are left out.")
    assert not findings(released[["q"]], code="weights")


@pytest.mark.parametrize("role", ["confidential", "others", None])
def test_columns_that_determine_a_quasi_identifier(role):
    schooling = ["none", "school", "degree"] * 8
    original = pd.DataFrame(
        {
            "q": schooling,
            "r": list("aabb") * 6,
            "years": [0, 9, 14] * 8,
            "town": [1, 2, 3, 4, 5, 6] * 4,
            "x": [1, 2] * 12,
        }
    )
    released = original.assign(q="*", r="*")
    names = ("years", "town", "x")
    roles = {} if role is None else {role: names}
    found = findings(released, original=original, code="determines", quasi_identifiers="qr", **roles)
    assert levels(found) == [("stop", ("years", "q")), ("stop", ("town", "q"))]
    assert found[0].text.startswith("'years' determines 'q' (one to one): ")
    assert found[1].text.startswith("'town' determines 'q': ")
    left_out = findings(
        released.drop(columns=["years", "town"]), original=original, code="determines", quasi_identifiers="qr"
    )
    assert levels(left_out) == [("ok", ())]


def test_one_column_may_determine_two():
    original = pd.DataFrame({"q": [1, 2, 3] * 8, "r": list("xyx") * 8, "code": [7, 8, 9] * 8})
    stop = only(findings(original.assign(q=0, r=0), original=original, code="determines", quasi_identifiers="qr"))
    assert stop.columns == ("code", "q", "r")
    assert stop.text.startswith("'code' determines 'q' (one to one) and 'r': ")


def test_strata_may_determine_a_quasi_identifier():
    original = pd.DataFrame({"q": [1, 2] * 20, "s": list("ab") * 20})
    assert levels(findings(original, original=original, code="determines", strata=("s",))) == [("ok", ())]


def test_gaps_of_a_column_do_not_hide_what_it_determines():
    original = pd.DataFrame({"q": [1, 2, 3, 3] * 10, "c": ["a", "b", "c", None] * 10})
    stop = only(findings(original.assign(q=0), original=original, code="determines", confidential=("c",)))
    assert "(one to one)" in stop.text


@pytest.mark.parametrize("role", ["confidential", "others", None])
def test_columns_that_are_computed_from_a_quasi_identifier(role):
    gross = np.random.default_rng(0).permutation(40) * 100.0
    original = pd.DataFrame({"q": gross, "net": 0.6 * gross + 7, "debt": -(gross**3), "x": np.roll(gross, 1)})
    roles = {} if role is None else {role: ("net", "debt", "x")}
    found = findings(original.assign(q=0.0), original=original, code="determines", **roles)
    assert levels(found) == [("stop", ("net", "q")), ("stop", ("debt", "q"))]
    assert found[0].text.startswith("'net' puts the records in the order of 'q' (or its reverse)")


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
    assert left[0].text.startswith("'year' determines 'q' (one to one)")


# ---- Classes ---------------------------------------------------------------------------------------------------------


def test_homogeneous_classes():
    released = pd.DataFrame({"q": [1.0] * 3 + [2.0] * 2 + [3.0] * 2 + [4.0] * 3})
    released["ill"] = ["flu", "flu", "flu", "flu", "cold", "cold", "cold", None, None, None]
    released["pay"] = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]
    released["country"] = "here"
    warn, ok = findings(released, code="homogeneity", confidential=("ill", "pay", "country"))
    assert levels([warn, ok]) == [("warn", ("ill",)), ("ok", ("pay",))]
    # Nobody learns a value of the fourth class, for it has none.
    says = "'ill' is the same for everyone in 2 of 4 classes (5 records), most often 'flu' (3 records)"
    assert warn.text.startswith(says)
    divided = findings(released.assign(s=list("aaabaabaab")), code="homogeneity", confidential=("pay",), strata=("s",))
    assert levels(divided) == [("warn", ("pay",))]
    same = only(findings(released, code="homogeneity", confidential=("country",)))
    assert levels([same]) == [("ok", ("country",))]
    assert levels(findings(released, code="homogeneity")) == [("warn", ())]


def test_records_left_out():
    released = pd.DataFrame({"q": [1.0] * 198})
    assert not findings(released, code="gaps")
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
    assert warn.text.startswith("4 of 300 records have two values that never occur together")
    assert "'code' with 'city' (4, such as '04110' with 'Hamburg')" in warn.text
    ok = only(findings(original, **roles))
    assert levels([ok]) == [("ok", ())]
    assert "In the original 'code' determines 'city'; no released record" in ok.text
    assert not findings(released, **roles | {"quasi_identifiers": ("code", "age")})


@pytest.mark.parametrize("statistic", ["mean", "generalize"])
def test_releases_count_what_can_hardly_be_true(statistic):
    frame = places()
    frame.loc[:1, "city"] = None
    tree = {"quasi_identifiers": list(frame), "ordinal": {"code": sorted(frame["code"].unique())}}
    release = microaggregate(frame, k=7, method="mdav-generic-mixed", statistic=statistic, missing="category", **tree)
    found = [finding for finding in release.findings if finding.code == "impossible"]
    pairs = set(zip(frame["code"], frame["city"].fillna("missing"), strict=True))
    values = set(frame["code"]), {"missing", *frame["city"].dropna()}
    together = zip(release.frame["code"], release.frame["city"], strict=True)
    broken = sum(pair not in pairs and pair[0] in values[0] and pair[1] in values[1] for pair in together)
    assert [finding.level for finding in found] == ["warn" if broken else "ok"]
    assert not broken or f"{broken} of 300 records have two values" in found[0].text


def test_many_columns_are_compared_in_bounded_time(monkeypatch):
    frame = pd.DataFrame({f"c{i}": np.arange(400) // (5 + i % 3) for i in range(200)})
    compared = []
    determined = counting.determined
    monkeypatch.setattr(
        counting, "determined", lambda one, others: compared.append(len(others)) or determined(one, others)
    )
    counting.dependent({name: frame[name].to_numpy() for name in frame})
    assert len(compared) <= 60
    assert max(compared) <= 59


def test_order():
    released = pd.DataFrame({"q": [1.0] * 4})
    assert only(findings(released, code="order")).level == "warn"
    for shuffled, level in ((True, "ok"), (2**64, "ok"), (2**64 - 1, "warn"), (1, "warn"), (0, "warn")):
        assert only(findings(released, code="order", shuffled=shuffled)).level == level


# ---- Releases --------------------------------------------------------------------------------------------------------


def test_a_release_has_its_findings(frame):
    frame.loc[frame.index[:3], "income"] = np.nan
    roles = {"quasi_identifiers": ["age", "income"], "confidential": "illness", "identifiers": "id", "missing": "drop"}
    release = microaggregate(frame, k=4, others=["height", "region"], **roles)
    assert isinstance(release.findings[0], microagg.Finding)
    assert release.findings == release.report.findings
    schema = Schema(("age", "income"), confidential=("illness",), identifiers=("id",), others=("height", "region"))
    assert release.findings == find(release.frame, frame.iloc[3:], schema, 4, n_dropped=3, predicted=())
    known = {finding.code: finding for finding in release.findings}
    assert known["undecided"].columns == ("smoker", "score", "when")
    assert "3 records of 60 (5 %)" in known["gaps"].text
    written = json.loads(json.dumps(release.report.to_dict(), allow_nan=False))
    assert [one["code"] for one in written["findings"]] == [finding.code for finding in release.findings]
    assert written["findings"][1]["columns"] == ["smoker", "score", "when"]
    assert written["accepted"] == []


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


def test_findings_are_accepted(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=["age"])
    known = {finding.code: finding for finding in release.findings}
    accepted = release.accept("order", "undecided", reason="the registry has checked it.")
    assert accepted.report.accepted == (known["undecided"], known["order"])
    assert release.report.accepted == ()
    *others, last = accepted.findings
    assert tuple(others) == release.findings
    says = "Released in spite of undecided, order: the registry has checked it."
    assert last == Finding("warn", "accepted", known["undecided"].columns, says)
    assert last in accepted.report.warnings
    assert known["order"] not in accepted.report.warnings
    assert accepted.frame is release.frame
    lines = accepted.report.summary().splitlines()
    assert f"Released in spite of: {known['order'].text}" in lines
    assert lines[-1] == "The reason given: the registry has checked it."
    assert "in spite" not in release.report.summary()
    more = accepted.accept("k", "order", reason="k is 4").report
    assert more.accepted == (known["undecided"], known["k"], known["order"])
    assert more.reason == "the registry has checked it.; k is 4"
    assert more.to_dict()["accepted"][1]["code"] == "k"


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_accepting_needs_a_reason(frame, reason):
    release = microaggregate(frame, k=4, quasi_identifiers=["age"])
    with pytest.raises(ParameterError, match="a reason is needed for accepting a finding"):
        release.accept("order", reason=reason)


def test_only_stops_and_warnings_can_be_accepted(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=["age"])
    with pytest.raises(
        ParameterError, match="there is no stop or warning 'identifiers', 'nonsense': the codes are 'und"
    ):
        release.accept("order", "identifiers", "nonsense", reason="none")
    with pytest.raises(
        ParameterError, match="no code was given: the codes are 'undecided', 'k', 'identifying', 'homogeneity', 'order'"
    ):
        release.accept(reason="none")


# ---- Adult -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult():
    frame = load_benchmark("adult").frame.dropna().reset_index(drop=True)
    assert len(frame) == 30_162
    return frame


def released_adult(frame):
    """Return Adult with its quasi-identifiers coarse enough for classes of 3, by plain means."""
    released = frame.assign(age=np.where(frame["age"] < 40, "[17, 39]", "[40, 90]"), education="*", race="*")
    return released[["age", "education", "race", "sex", "fnlwgt", "education-num", "hours-per-week", "income"]]


def adult_findings(frame, **roles):
    released = released_adult(frame)
    schema = Schema(("age", "education", "race", "sex"), confidential=("income",), **roles)
    return released, {finding.code: finding for finding in reversed(find(released, frame, schema, 3))}


@pytest.mark.parametrize("as_others", [True, False])
def test_adult_with_its_weights_and_years_of_schooling(adult, as_others):
    loose = ("fnlwgt", "education-num", "hours-per-week")
    _, found = adult_findings(adult, **({"others": loose} if as_others else {}))
    assert levels([found["identifying"]]) == [("stop", ("fnlwgt",))]
    sizes = adult["fnlwgt"].map(adult["fnlwgt"].value_counts())
    share = f"{100 * (sizes < 3).mean():.3g}"
    assert f"'fnlwgt' has 20,263 distinct values in 30,162 records, {share} % of them" in found["identifying"].text
    assert levels([found["determines"]]) == [("stop", ("education-num", "education"))]
    assert "'education-num' determines 'education' (one to one)" in found["determines"].text
    assert found["k"].level == ("ok" if as_others else "stop")


def test_adult_is_counted_as_pandas_counts_it(adult):
    released, found = adult_findings(adult)
    keys, loose = ["age", "education", "race", "sex"], ["fnlwgt", "education-num", "hours-per-week"]

    def below(columns):
        sizes = released.groupby(columns)[columns[0]].transform("size")
        return f"{(sizes < 3).sum():,}", f"({(sizes == 1).sum():,} unique)"

    records, unique = below(keys + loose)
    assert f"finds {records} of 30,162 records {unique} in classes" in found["k"].text
    assert found["k"].columns == ("fnlwgt", "hours-per-week")
    for name in found["k"].columns:
        assert f"{name!r} {' '.join(below([*keys, name]))}" in found["k"].text
    assert below([*keys, "education-num"])[0] == "0"


def test_adult_in_classes_of_one_income(adult):
    schema = Schema(("age", "workclass"), confidential=("income",), strata=("native-country",))
    released = adult[["age", "workclass", "native-country", "income"]]
    warn = next(one for one in find(released, adult, schema, 1) if one.code == "homogeneity")
    groups = released.groupby(["age", "workclass", "native-country"])["income"].agg(["nunique", "size", "first"])
    alike = groups[groups["nunique"] == 1]
    low = alike.loc[alike["first"] == "<=50K", "size"].sum()
    assert warn.text.startswith(
        f"'income' is the same for everyone in {len(alike):,} of {len(groups):,} classes "
        f"({alike['size'].sum():,} records), most often '<=50K' ({low:,} records)"
    )
