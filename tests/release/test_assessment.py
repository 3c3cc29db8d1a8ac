"""Risk and utility of a release, by hand on six persons, and what can go wrong."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_datetime64_any_dtype

from microagg import DataError, microaggregate, replay
from microagg.metrics import risk
from microagg.metrics.loss import information_loss
from microagg.release import assessment as module
from microagg.release import distribution
from tests.conftest import load_benchmark

PEOPLE = pd.DataFrame({"age": [30, 32, 34, 60, 60, 66], "town": list("aabccc")})
PEOPLE["illness"] = ["flu", "flu", "flu", "cold", "flu", "cough"]
PEOPLE["shoe"] = [40, 41, 42, 43, 43, 45]
LABELS = [0, 0, 0, 1, 1, 1]


def assessed(frame=PEOPLE, **options):
    given = {"k": 3, "labels": LABELS, "quasi_identifiers": ["age", "town"], "confidential": "illness"} | options
    return microaggregate(frame, **given).assess()


def figure(found, key, attribute=None):
    [own] = [own for own in found.of(key) if own.attribute == attribute]
    return own


def test_the_nearest_released_age_is_their_own_for_all_so_one_in_three_is_found():
    found = figure(assessed(), "record_linkage")
    assert found.before == pytest.approx(5 / 6)  # two records have the same age
    assert found.n is None
    assert found.sentence.count("33.3 %") == 2


def test_what_classes_say_of_the_illness():
    found = assessed()
    uniform = figure(found, "homogeneous", "illness")
    # All of the first class have the flu; of the original classes only the two of 60 differ.
    assert (uniform.before, uniform.after) == (pytest.approx(4 / 6), pytest.approx(1 / 2))
    assert "'illness' with certainty for 3 of 6 records (50 %); in the original file, for 66.7 %." in uniform.sentence
    near = figure(found, "t_closeness", "illness")
    # Shares of all: flu 4/6, cold 1/6, cough 1/6; of the first class flu 1, of the second 1/3 each.
    assert near.after == pytest.approx(1 / 3)
    assert figure(found, "alpha", "illness").after == 1


def test_a_confidential_column_with_one_value_is_no_secret_and_missing_values_are_not_learned():
    frame = PEOPLE.assign(same="x", gaps=["flu", None, None, None, "cold", "cold"])
    found = assessed(frame, confidential=["same", "gaps"])
    # Of the three who have a value all are in classes where one only is known.
    assert [(own.attribute, own.after) for own in found.of("homogeneous")] == [("gaps", 1)]


def test_numbers_and_categories_attribute_by_attribute():
    found = assessed()
    table = found.attributes.set_index("attribute")
    ages, released = PEOPLE["age"].to_numpy(float), np.array([32.0] * 3 + [62.0] * 3)
    assert table.loc["age", "sd_ratio"] == pytest.approx(released.std() / ages.std())
    assert np.isnan(table.loc["town", "sd_ratio"])
    # Town b became a: shares of 2/6, 1/6 and 3/6 become 3/6, 0 and 3/6.
    assert table.loc["town", "hellinger"] == pytest.approx(np.sqrt(1 - np.sqrt(2 * 3) / 6 - 3 / 6))
    assert found.attributes["lost"].is_monotonic_decreasing
    assert figure(found, "information_loss").after == pytest.approx(information_loss(ages[:, None], LABELS))


def test_a_shuffled_release_and_one_of_ranges_are_compared_with_their_own_records():
    kept, shuffled = assessed(), assessed(shuffle=5)
    for own, other in zip(kept.figures, shuffled.figures, strict=True):
        assert own.measure == other.measure
        assert own.after == pytest.approx(other.after)
    ranges = assessed(statistic="generalize")
    # The middles 32 and 63 of the ranges are nearest to the same records as the means are.
    assert figure(ranges, "record_linkage").after == pytest.approx(1 / 3)
    assert not ranges.of("information_loss")
    assert ranges.of("total_information_loss")
    tiny = assessed(PEOPLE.assign(age=PEOPLE["age"] * 1e-300), statistic="generalize")
    assert tiny.of("total_information_loss")
    assert not tiny.of("variance_change")


def test_categories_alone_have_distances_and_no_moments():
    found = assessed(quasi_identifiers=["town"], taxonomies={"town": {"anywhere": ["a", "b", "c"]}})
    # Released are a for the first three and c for the others, so b is as far from all six.
    linked = figure(found, "record_linkage")
    assert linked.after == pytest.approx((2 / 3 + 1 / 6 + 3 / 3) / 6)
    assert linked.before == pytest.approx(3 / 6)
    assert not found.of("variance_change")
    assert figure(found, "uniqueness").after == 0
    assert found.of("hellinger")


def test_the_original_is_kept_neither_in_a_pickle_nor_in_a_copy():
    release = microaggregate(PEOPLE, k=3, labels=LABELS, quasi_identifiers="age", identifiers="illness")
    for other in (pickle.loads(pickle.dumps(release)), copy.copy(release), copy.deepcopy(release)):
        with pytest.raises(DataError, match=r"make it again by microagg\.replay"):
            other.assess()
    assert b"cough" in pickle.dumps(PEOPLE)
    assert b"cough" not in pickle.dumps(release)
    assert replay(PEOPLE, release.recipe).assess().figures == release.assess().figures
    # Who accepts a finding can still assess; all of it is JSON.
    found = release.accept("order", reason="a test").assess()
    assert len(found.figures) == len(found.summary().splitlines())
    assert (*found.part("risk"), *found.part("utility")) == found.figures
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [own["measure"] for own in read["figures"]] == [own.measure.key for own in found.figures]


def test_of_very_many_columns_those_that_lose_most_are_compared_and_it_is_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_COMPARED", 3)
    release = microaggregate(load_benchmark("wine").frame, k=5)
    found = release.assess()
    compared = found.attributes.dropna(subset=["hellinger"])
    assert len(found.attributes) == 14
    assert len(compared) == 3
    assert compared["attribute"].tolist() == found.attributes["attribute"].tolist()[:3]
    assert any("the 3 with the highest loss were compared one by one" in note for note in found.notes)


def test_weights_that_stand_for_persons_lower_the_risk_and_others_say_nothing_of_it():
    frame = PEOPLE.assign(weight=[2.0, 4.0, 4.0, 10.0, 10.0, 10.0], share=[0.1, 0.2, 0.3, 0.1, 0.1, 0.2])
    found = figure(assessed(frame, weights="weight"), "individual_risk")
    known = ["age", "town"]
    assert found.before == pytest.approx(risk.individual_risk(PEOPLE[known], known, frame["weight"]).share)
    # A record alone for two persons has, of a population of two, the risk that both are counted: -p ln p / (1 - p).
    alone = -0.5 * np.log(0.5) / 0.5
    assert risk.individual_risk(PEOPLE[known], known, frame["weight"]).risk[0] == pytest.approx(alone)
    assert found.after < found.before
    assert not assessed(frame, weights="share").of("individual_risk")


def test_whole_numbers_are_counted_one_by_one_and_ranges_spread_over_them():
    before, after = pd.Series([1, 2, 4, 6, 6]), pd.Series(["[1, 4]"] * 3 + ["6", "6"])
    counts = distribution(before, after, np.array([0, 0, 0, 1, 1]))
    assert counts.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert counts["before"].tolist() == [1, 1, 0, 1, 0, 2]
    assert counts["released"].to_numpy() == pytest.approx([0.75, 0.75, 0.75, 0.75, 0, 2])


@pytest.mark.parametrize(
    "values",
    [[2.0**53 + i for i in range(0, 60, 2)], [1e17] * 3, [1.0, np.nextafter(1.0, 2.0)], [-1e140, 1e140], [0.0, 5e-324]],
    ids=["beyond all halves", "constant", "adjacent", "huge", "the smallest"],
)
def test_every_record_is_counted_whatever_the_numbers(values):
    before = pd.Series(values)
    after = pd.Series([before.iloc[0]] * len(before))
    counts = distribution(before, after, np.zeros(len(before), dtype=int))
    assert counts.sum().tolist() == [len(values), len(values)]
    assert counts["released"].max() == len(values)  # all are released as one value
    ranges = distribution(before, pd.Series(["a range"] * len(before)), np.zeros(len(before), dtype=int))
    assert ranges.sum().to_numpy() == pytest.approx([len(values), len(values)])


def test_dates_are_counted_by_month_or_year():
    labels = np.zeros(3, dtype=int)
    before = pd.Series(pd.to_datetime(["2001-01-05", "2001-01-31", "2001-03-01"]))
    after = pd.Series(pd.to_datetime(["2001-02-01"] * 3))
    counts = distribution(before, after, labels)
    assert counts.index.strftime("%Y-%m-%d").tolist() == ["2001-01-01", "2001-02-01", "2001-03-01"]
    assert counts.to_numpy().tolist() == [[2, 0], [0, 3], [1, 0]]
    years = distribution(before + pd.to_timedelta([0, 0, 2000], unit="D"), after, labels)
    assert years.index.year.tolist() == [2001, 2006]
    assert distribution(before, pd.Series([2001] * 3), labels).index.tolist() == [2001]
    ranges = distribution(before, pd.Series(["[2001-01-05, 2001-03-01]"] * 3), labels)
    assert is_datetime64_any_dtype(ranges.index)
    assert ranges.sum().to_numpy() == pytest.approx([3, 3])
    assert ranges["released"].min() > 0
