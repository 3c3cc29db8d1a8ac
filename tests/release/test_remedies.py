"""Remedies lose what a release made after their change loses."""

import numpy as np
import pandas as pd
import pytest

from microagg.api import microaggregate
from microagg.columns.recodes import intervals
from microagg.errors import DataError, ParameterError
from microagg.release import Change, try_remedies, without_outliers
from tests.release.common import QUASI


@pytest.fixture
def codes():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 80)})
    frame["zip"] = [f"{a}{b}{c}0" for a, b, c in rng.integers([1, 0, 0], [3, 5, 10], (80, 3))]
    return frame.assign(sex=rng.choice(["m", "f"], 80), ill=rng.choice(["flu", "cold"], 80))


def test_each_quasi_identifier_is_left_out_in_turn(frame):
    roles = {"confidential": "illness", "identifiers": "id", "others": ["smoker", "score", "when", "region"]}
    found = list(try_remedies(frame, k=4, quasi_identifiers=QUASI, **roles))
    assert [remedy.change for remedy in found] == [None, *(Change(name) for name in QUASI)]
    whole = microaggregate(frame, k=4, quasi_identifiers=QUASI, **roles).report.loss.information_loss
    assert found[0].loss == whole
    before = microaggregate(frame, k=4, quasi_identifiers=QUASI, **roles).report.loss.attributes
    for remedy in found[1:]:
        left = [name for name in QUASI if name != remedy.change.column]
        after = microaggregate(frame, k=4, quasi_identifiers=left).report.loss
        # On the z-score scale the IL of all is the mean of theirs.
        assert remedy.loss == pytest.approx(after.information_loss)
        assert remedy.unchanged == pytest.approx(np.mean([before[name] for name in left]))
        assert remedy.loss < remedy.unchanged
        assert f"{remedy.change.column!r} {remedy.loss:.3g} % instead of {remedy.unchanged:.3g} %" in remedy.sentence
    with pytest.raises(ParameterError, match="sample must be a whole number of at least k=4"):
        next(try_remedies(frame, k=4, sample=3, quasi_identifiers=QUASI))


def cut(codes, length, column="zip"):
    values = codes[column].dropna().unique()
    return Change(column, {value: value[:length] + "*" * (len(value) - length) for value in values})


def test_a_change_is_applied_to_the_choices(codes):
    choices = {"quasi_identifiers": ["age", "zip", "sex"], "identifiers": "ill", "ordinal": {"age": ["1"]}}
    choices |= {"taxonomies": {"sex": None, "zip": {"*": ["1"]}}, "numbers": {"sex": "1,234.5", "age": None}}
    roles = {"quasi_identifiers": ["age", "zip"], "identifiers": ["ill", "sex"]}
    kinds = {"taxonomies": {"zip": {"*": ["1"]}}, "numbers": {"age": None}, "ordinal": {"age": ["1"]}}
    assert Change("sex").applied(choices) == roles | kinds
    assert choices["identifiers"] == "ill"
    coarser = cut(codes, 2)
    taxonomies = {"sex": None, "zip": None}
    assert coarser.applied(choices) == choices | {"recode": {"zip": coarser.recoding}, "taxonomies": taxonomies}
    assert choices["taxonomies"]["zip"] == {"*": ["1"]}


def test_codes_are_cut_where_that_makes_fewer_of_them(codes):
    choices = {"method": "mondrian", "quasi_identifiers": ["age", "zip", "sex"], "confidential": "ill"}
    found = list(try_remedies(codes, k=5, **choices))
    # The last digit is always 0.
    tens = Change("age", intervals(codes["age"].to_numpy(), range(10, 100, 10)))
    changes = [Change(name) for name in choices["quasi_identifiers"]] + [tens, cut(codes, 2), cut(codes, 1)]
    assert [remedy.change for remedy in found] == [None, *changes]
    for remedy in found[1:]:
        generalization = microaggregate(codes, k=5, **remedy.change.applied(choices)).report.generalization
        lost = generalization.attributes
        assert remedy.total == generalization.information_loss
        others = [name for name in choices["quasi_identifiers"] if name != remedy.change.column]
        assert remedy.loss == pytest.approx(np.mean([lost[name] for name in others]))
    order = {"zip": sorted(codes["zip"].unique())}
    found = list(try_remedies(codes, k=5, method="mondrian", quasi_identifiers=["zip", "sex"], ordinal=order))
    assert [remedy.change for remedy in found] == [None, Change("zip"), Change("sex")]


def test_extremes_and_rare_values_are_tried_on_what_was_recoded(codes):
    codes["job"] = ["a", "b", "c", "C", *["d"] * 40, *["e"] * 36]
    choices = {"method": "mondrian", "quasi_identifiers": ["age", "job"], "statistic": "generalize", "k": 3}
    remedies = try_remedies(codes, recode={"job": {"C": "c"}}, **choices)
    found = {remedy.sentence.split(" made ")[0] for remedy in remedies}
    low = np.sort(codes["age"])[2]
    assert "with 'job' by the 3 values of fewer than 3 records" in found
    assert any(remedy.startswith("with 'age' by numbers below") for remedy in found)
    [coded] = [r for r in try_remedies(codes, **choices) if f"numbers below {low} made" in r.sentence]
    whole = microaggregate(codes, **coded.change.applied(choices))
    assert coded.total == whole.report.generalization.information_loss
    assert whole.frame["age"].str.strip("[]").str.split(", ").explode().astype(int).min() == low


def test_a_sample_has_strata_of_k_and_no_gaps(frame):
    frame["town"] = ["a"] * 40 + ["b"] * 12 + ["c"] * 8
    frame.loc[frame.index[:10], "age"] = np.nan
    choices = {"quasi_identifiers": ["age", "height"], "by": "town", "missing": "drop"}
    choices |= {"confidential": "ill", "diversity": {"ill": 2}}
    frame["ill"] = [*"ab"] * 30
    found = list(try_remedies(frame, k=5, sample=20, **choices))
    assert found == list(try_remedies(frame, k=5, sample=20, **choices))
    assert all(remedy.sentence.endswith(" of 60 records") for remedy in found)
    sampled = int(found[0].sentence.split("tried on ")[1].split(" of ")[0])
    assert 5 <= sampled < 20
    with pytest.raises(DataError, match="the sample to try remedies on"):
        list(try_remedies(frame, k=18, sample=20, **choices))


@pytest.mark.parametrize(
    ("far", "words", "left"),
    [
        ([999.0, 1000.5], "above 49", 2),
        ([-700.0], "below 0", 1),
        ([-700.0, 900.0, 900.0], "below 0 or above 49", 3),
        ([60.0], "", 0),
    ],
)
def test_outliers_are_left_out_by_having_their_values_missing(far, words, left):
    ages = np.r_[np.arange(400.0) % 50, far]
    frame = pd.DataFrame({"age": ages, "rent": np.arange(len(ages)) % 97}).sample(frac=1, random_state=0)
    found = without_outliers(frame["age"].to_numpy())
    if not left:
        assert found is None
        return
    assert (found.words, found.effect) == (words, "1 record" if left == 1 else f"{left} records")
    asked = {"k": 3, "method": "mdav", "recode": {"age": found.recoding}, "missing": {"age": "drop"}}
    release = microaggregate(frame, **asked)
    assert set(release.report.dropped) == set(frame.index[~frame["age"].between(0, 49)])
    assert "outliers" not in {finding.code for finding in release.report.findings}


def test_how_numbers_are_written_is_seen_in_the_whole_file():
    # One record of 500 shows that the comma is a decimal mark, and a sample does not have it.
    pay = [f"{1 + i % 9},{100 + i}" for i in range(499)] + ["0,5"]
    frame = pd.DataFrame({"pay": pay, "age": range(500)})
    found = list(try_remedies(frame, k=3, sample=10, quasi_identifiers=["pay", "age"], numbers="pay"))
    assert [remedy.change for remedy in found] == [None, Change("pay"), Change("age")]
    sampled = frame.iloc[np.sort(np.random.default_rng(0).permutation(500)[:10])]
    assert "0,5" not in set(sampled["pay"])
    numbers = pd.DataFrame({"pay": sampled["pay"].str.replace(",", ".").astype(float), "age": sampled["age"]})
    assert found[0].loss == microaggregate(numbers, k=3).report.loss.information_loss


def test_groups_are_formed_anew_where_labels_are_given(codes):
    given = {"k": 4, "quasi_identifiers": ["age", "zip"], "sample": 40}
    [before, *found] = try_remedies(codes, labels=np.arange(80) // 5, **given)
    assert [before, *found] == list(try_remedies(codes, **given))
