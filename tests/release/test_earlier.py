"""An earlier release of the same persons: what whoever holds both can tell, counted beside a naive oracle."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError, microaggregate
from microagg.release import compare_with, read_earlier
from microagg.release.measures import Joint
from tests.cases import for_each

ROLES = {"quasi_identifiers": ["age", "income"], "confidential": "illness", "others": ["region", "person"]}


def drawn(seed, n=120):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    age[rng.random(n) < 0.05] = np.nan
    frame = pd.DataFrame({"age": age, "income": rng.lognormal(10, 1, n).round(2)})
    frame["illness"] = rng.choice(list("abcdef"), n)
    return frame.assign(region=rng.choice(["north", "south"], n), person=rng.permutation(n) + 1000)


def released(frame, k, **choices):
    return microaggregate(frame, k=k, **{"method": "mdav", "missing": "drop", **ROLES, **choices})


def oracle(earlier, now, k, columns=("age", "income"), person="person"):
    """Count joint classes by a join on the persons' numbers and pandas' groupby, from the two released frames alone."""
    both = []
    for name, frame in (("then", earlier), ("now", now)):
        keys = frame[list(columns)].astype(str).agg("|".join, axis=1)
        both.append(pd.DataFrame({"person": frame[person], name: keys}))
    table = both[0].merge(both[1], on="person", how="outer").fillna("absent")
    left = table.groupby(["then", "now"])["person"].transform("size")
    earlier_size = table.groupby("then")["person"].transform("size").where(table["then"] != "absent", np.inf)
    narrowed = (left < k) & (left < earlier_size)
    return Joint(len(table), int(left.min()), int(narrowed.sum()), int((narrowed & (left == 1)).sum()))


def of(release):
    [finding] = [finding for finding in release.findings if finding.code == "releases"]
    return release.report.joint, finding


@for_each("seed", range(2))
@for_each(
    "choices",
    [
        {},
        {"missing": {"age": "impute"}},
        {"statistic": "generalize", "rounding": "none"},
        {"method": "v-mdav", "statistic": "median", "shuffle": True},
        {"by": "region", "others": ["person"]},
    ],
)
def test_recipe_and_file_agree_with_the_oracle(seed, choices):
    frame = drawn(seed)
    columns = ["age", "income", "region"] if "by" in choices else ["age", "income"]
    earlier, now = released(frame, 5, **choices), released(frame, 7, shuffle=seed or None)
    expected = oracle(earlier.frame, now.frame, 7, columns)
    assert expected.narrowed > 0
    for form in (earlier, json.loads(json.dumps(earlier.recipe)), earlier.frame):
        joint, finding = of(compare_with(now, form))
        assert joint == expected
        assert finding.level == "stop"
    # One number for each person matches the records in any order.
    assert of(compare_with(now, earlier.frame.sample(frac=1, random_state=seed)))[0] == expected


def test_six_hundred_persons_twice():
    frame = drawn(1, n=600).fillna(40.0)
    earlier = released(frame, 5)
    now = released(frame, 7, against=earlier.recipe)
    joint, finding = of(now)
    assert joint == oracle(earlier.frame, now.frame, 7)
    assert (joint.smallest, finding.level) == (1, "stop")
    assert joint.narrowed > 300
    assert joint.alone > 60
    assert f"{joint.narrowed:,} of 600" in finding.text
    # The maximum never stands alone, wherever it is printed.
    assert now.report.of_releases in now.report.summary()
    assert now.report.of_releases in now.to_dict(assessment=None)["promise"]["risk"]
    figures = now.assess().of("max_reidentification")
    assert [figure.after for figure in figures] == [pytest.approx(1 / 7), 1.0]
    assert now.report.to_dict()["joint"] == dataclasses.asdict(joint)
    assert "joint" not in earlier.report.to_dict()
    accepted = now.accept("releases", reason="the earlier file was withdrawn")
    assert finding in accepted.report.accepted
    assert now.recipe == released(frame, 7).recipe
    assert now.frame.equals(released(frame, 7).frame)


def test_the_same_groups_and_whole_classes_of_the_earlier_release_are_safe():
    frame = drawn(2).fillna(40.0)
    earlier = released(frame, 5)
    again = released(frame, 5, labels=earlier.partition.labels, against=earlier)
    assert of(again)[1].level == "ok"
    # Pairs of the earlier groups are larger than 7, and tell nothing that the earlier release does not.
    labels = np.minimum(earlier.partition.labels // 2, earlier.partition.n_groups // 2 - 1)
    joint, finding = of(released(frame, 7, labels=labels, against=earlier.frame))
    assert (finding.level, joint.narrowed, joint.smallest) == ("ok", 0, 5)
    # But of what is new, they tell it with the probability of the earlier classes.
    joint, finding = of(released(frame, 7, labels=labels, against=earlier.frame.drop(columns="illness")))
    assert (finding.level, finding.columns, joint.smallest) == ("warn", ("illness",), 5)


def test_of_two_earlier_releases_the_worse_counts():
    frame = drawn(2).fillna(40.0)
    same, other = released(frame, 5), released(frame, 5, method="v-mdav")
    for earlier in ([same, other], [other, same]):
        now = released(frame, 5)
        for each in earlier:
            now = compare_with(now, each)
        assert now.report.joint == of(compare_with(same, other))[0]
        assert now.report.highest_risk == 1 / now.report.joint.smallest > 1 / 5
        assert sorted(each.level for each in now.findings if each.code == "releases") == ["ok", "stop"]


def test_a_value_that_only_both_files_together_reveal_is_a_warning():
    """Two by two squares of three persons: rows and columns are diverse, and one square is not."""
    frame = pd.DataFrame({"age": np.repeat([20.0, 60.0], 6), "income": np.tile(np.repeat([1.0, 9.0], 3), 2)})
    frame["illness"] = [*"aaa", *"abc", *"bca", *"cab"]
    roles = {"quasi_identifiers": ["age", "income"], "confidential": "illness", "diversity": {"illness": 2}}
    rows, columns = (frame[name].rank(method="dense").astype(int) for name in ("age", "income"))
    earlier, now = (microaggregate(frame, k=3, method="mdav", labels=labels, **roles) for labels in (rows, columns))
    joint, finding = of(compare_with(now, earlier))
    assert (joint.narrowed, joint.smallest) == (0, 3)
    assert (finding.level, finding.columns) == ("warn", ("illness",))
    assert "both files together reveal more of it than each" in finding.text
    assert of(compare_with(now, now))[1].level == "ok"


def test_quasi_identifiers_of_either_release_count_in_both():
    frame = drawn(3).fillna(40.0)
    earlier = released(frame, 5, quasi_identifiers=["age"], others=["income", "region", "person"])
    now = released(frame, 5)
    for form in (earlier, earlier.frame):
        # In the earlier release incomes are as they were, and others may know them now.
        joint, _ = of(compare_with(now, form))
        assert joint == oracle(earlier.frame, now.frame, 5)
        assert joint.smallest == 1
    for form in (now, now.frame):
        assert of(compare_with(earlier, form))[0] == oracle(now.frame, earlier.frame, 5)


def test_dates_in_a_text_file_are_those_of_the_original():
    frame = drawn(3).fillna(40.0)
    frame["seen"] = pd.Timestamp("2020-02-28") + pd.to_timedelta(np.arange(len(frame)) // 2, "D")
    earlier, now = (released(frame, 5, others=["region", "person", "seen"], method=each) for each in ("mdav", "v-mdav"))
    file = read_earlier(earlier.export("earlier.csv")[0], "earlier.csv")
    assert of(compare_with(now, file))[0] == oracle(earlier.frame, now.frame, 5)


def test_a_file_whose_order_and_values_do_not_tell_each_record_is_refused():
    frame = drawn(4, n=300).fillna(40.0).drop(columns="person")
    frame["bonus"] = np.random.default_rng(4).integers(0, 400, 300)
    roles = {"others": ["region", "bonus"]}
    earlier, now = released(frame, 5, **roles), released(frame, 5, method="v-mdav", **roles)
    assert of(compare_with(now, earlier.frame))[0] == of(compare_with(now, earlier))[0]
    with pytest.raises(DataError, match="which record is which"):
        compare_with(now, earlier.frame.sample(frac=1, random_state=0))


def test_values_that_were_recoded_are_compared_with_the_original_file():
    frame = drawn(6).fillna(40.0)
    earlier = released(frame, 5)
    now = released(frame, 7, recode={"age": {">=80": 80.0}, "illness": {"a": "b"}})
    for form in (earlier, earlier.frame):
        assert of(compare_with(now, form))[0] == oracle(earlier.frame, now.frame, 7)


def refusals():
    frame = drawn(7).fillna(40.0)
    file = released(frame, 5).frame
    shuffled = file.sample(frac=1, random_state=0)
    swapped = file.assign(person=np.roll(file["person"], 1)).sample(frac=1, random_state=0)
    other = released(frame.assign(age=frame["age"] + 1), 5).recipe
    yield file[["age", "income"]], "Name the recipe"
    yield shuffled[["age", "income", "illness"]], "'illness'"
    yield file[["age", "income"]].assign(illness="a"), "Name the recipe"
    yield file.assign(score=np.arange(len(file))), "'score'"
    yield swapped, "which record is which"
    yield other, "quasi-identifiers differ"
    yield {"k": 5}, "the recipe has no"
    yield {"engine": "dask"}, "made in parts"
    yield "nothing.json", "nothing.json"
    yield "nothing.csv", "nothing.csv"
    yield 3, "the earlier release must be a recipe, .*, not int"


@for_each("case", range(11))
def test_what_cannot_be_compared_is_refused(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    earlier, says = list(refusals())[case]
    with pytest.raises((DataError, ParameterError), match=says):
        released(drawn(7).fillna(40.0), 7, against=earlier)


def test_a_file_in_parts_or_a_copy_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="engine='memory'"):
        microaggregate("people.parquet", k=5, engine="dask", against={})
    release = released(drawn(7), 5)
    with pytest.raises(DataError, match="original is not kept"):
        compare_with(replace(release, _prepared=None), release)
    path = tmp_path / "people.csv"
    path.write_bytes(release.export("people.csv")[0])
    assert of(compare_with(release, path))[0] == of(compare_with(release, read_earlier(path.read_bytes(), "a.csv")))[0]
