"""Groups that are polished, given or within strata, and records in random order."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from microagg.api import microaggregate, replay
from microagg.columns.scaling import standardize
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.metrics import sse
from microagg.partition import Partition
from microagg.release.plan import Plan
from microagg.studies import experiment
from tests.release.common import QUASI, replayed, smallest_class


def test_polishing_stays_within_strata(frame):
    Z = standardize(frame[QUASI])
    how = {"k": 4, "quasi_identifiers": QUASI, "by": "region"}
    plain, polished = (microaggregate(frame, **how, polish=polish) for polish in (False, True))
    for region in "ns":
        rows = np.flatnonzero(frame["region"] == region)
        part = experiment.Problem.of(Z[rows]).polish(Partition(plain.partition.labels[rows], 4))
        assert Partition(polished.partition.labels[rows], 4) == part
    assert polished.partition.n_groups == sum(stratum.n_groups for stratum in polished.report.risk.strata)


def test_a_method_for_categories_is_polished_by_the_loss_of_what_there_is(frame):
    choices = {"k": 4, "method": "mdav-generic-mixed", "quasi_identifiers": QUASI, "statistic": "generalize"}
    plain, polished = (microaggregate(frame, **choices, polish=polish) for polish in (False, True))
    Z = standardize(frame[QUASI])
    assert sse(Z, polished.partition.labels) < sse(Z, plain.partition.labels)
    choices |= {"quasi_identifiers": ["age", "illness"], "method": "mondrian"}
    plain, polished = (microaggregate(frame, **choices, polish=polish) for polish in (False, True))
    assert polished.report.generalization.information_loss < plain.report.generalization.information_loss
    with pytest.raises(ParameterError, match="polish must be True or False, not 1"):
        microaggregate(frame, **choices, polish=1)


def test_given_groups_take_the_place_of_the_methods():
    frame = pd.DataFrame({"a": [1.0, 10.0, 3.0, 20.0]})
    release = microaggregate(frame, k=2, labels=[7, -1, 7, -1])
    assert release.frame["a"].tolist() == [2.0, 15.0, 2.0, 15.0]
    assert release.partition.labels.tolist() == release.recipe["labels"] == [0, 1, 0, 1]
    assert (release.recipe["method"], release.recipe["params"]) == (None, {})
    assert repr(release).startswith("Release(4 records, 2 groups given, k=2")


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 0, 1], "labels for 3 records, but 5 are released"),
        ([0, 0, 9, 0, 0], "label 9 has 1 record, fewer than k=2"),
        ([0, 0, 1, 1, 1], "label 0 has records of the strata s='x' and s='y'"),
        ([0.0] * 5, "labels must be whole numbers, not float64"),
        ([[0] * 5], "labels must be a 1-D array"),
        ([], "labels must be a 1-D array"),
    ],
    ids=str,
)
def test_bad_labels_are_named(labels, says):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "s": list("xyxxy")})
    with pytest.raises(DataError, match=says):
        microaggregate(frame, k=2, quasi_identifiers="a", by="s", labels=labels)


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("statistic", ["mean", "generalize"])
def test_records_in_random_order(frame, seed, statistic):
    choices = {"k": 4, "quasi_identifiers": QUASI, "by": "region", "statistic": statistic}
    plain, shuffled = microaggregate(frame, **choices), microaggregate(frame, **choices, shuffle=seed)
    order = np.random.default_rng(seed).permutation(60)
    pd.testing.assert_frame_equal(shuffled.frame, plain.frame.iloc[order].reset_index(drop=True))
    assert list(shuffled.frame.index) == list(range(60))
    assert shuffled.partition == Partition(plain.partition.labels[order], 4)
    assert shuffled.recipe["shuffle"] == seed
    assert shuffled.recipe["release_sha256"] != plain.recipe["release_sha256"]
    assert (shuffled.report.loss, shuffled.report.risk) == (plain.report.loss, plain.report.risk)
    replayed(frame, shuffled)


@pytest.mark.parametrize("seed", [-1, 1.5, "yes", np.random.SeedSequence([1, 2])])
def test_what_shuffles_is_true_or_a_seed(frame, seed):
    with pytest.raises(ParameterError, match="shuffle must be True"):
        microaggregate(frame, k=4, quasi_identifiers=QUASI, shuffle=seed)


def test_a_seed_is_recorded_only_if_it_is_asked_for(frame, tmp_path):
    choices = {"k": 4, "quasi_identifiers": QUASI, "method": "mdav", "others": ["region", "smoker", "illness"]}
    bits = np.random.SeedSequence().entropy
    hidden = np.random.SeedSequence(bits)
    releases = [microaggregate(frame, **choices, shuffle=shuffle) for shuffle in (True, hidden, hidden)]
    orders = [tuple(release.frame["id"]) for release in releases]
    assert orders[0] != orders[1] == orders[2] == tuple(frame["id"].iloc[np.random.default_rng(bits).permutation(60)])
    for release in releases:
        plan = Plan.of(frame, **choices, shuffle=hidden).to_json()
        written = [release.recipe, release.to_dict(), release.script("a.csv"), plan]
        assert str(bits) not in f"{written} {release!r}"
        assert bits.to_bytes(16, "little").rstrip(b"\0") not in pickle.dumps(release)
        assert release.recipe["shuffle"] is True
        assert "shuffle=True" in release.script("a.csv")
        again = replay(frame, json.loads(json.dumps(release.recipe)))
        assert again.recipe == release.recipe
        assert "in another order" in again.report.summary()
        assert tuple(again.frame["id"]) not in orders
        pd.testing.assert_frame_equal(*(own.frame.sort_values("id", ignore_index=True) for own in (release, again)))
    recorded = microaggregate(frame, **choices, shuffle="recorded")
    assert recorded.recipe["shuffle"] >= 2**64
    assert "The recipe holds its seed" in recorded.report.summary()
    pd.testing.assert_frame_equal(replay(frame, recorded.recipe).frame, recorded.frame)
    changed = frame.assign(age=frame["age"] + 1)
    with pytest.raises(DataError, match="differ"):
        replay(changed, releases[0].recipe)
    with pytest.raises(MicroaggError, match="otherwise than recorded"):
        replay(frame, releases[0].recipe | {"statistic": "median"})


def test_groups_stay_within_strata(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, by=["region", "smoker"])
    strata = frame[["region", "smoker"]].astype(str).agg("/".join, axis=1).to_numpy()
    for members in release.partition.groups():
        assert len(set(strata[members])) == 1
    pd.testing.assert_series_equal(release.frame["region"], frame["region"].cat.remove_unused_categories())
    for _, part in release.frame.groupby(["region", "smoker"], observed=True):
        assert smallest_class(part, QUASI) >= 4
    described = release.report.risk.strata
    assert sum(stratum.n_records for stratum in described) == 60
    assert sum(stratum.n_groups for stratum in described) == release.partition.n_groups
    assert {stratum.values for stratum in described} == set(zip(frame["region"], frame["smoker"], strict=True))
    assert min(stratum.realized_k for stratum in described) == release.report.risk.realized_k
    assert release.report.risk.realized_k == smallest_class(release.frame, [*QUASI, "region", "smoker"])


def test_a_search_for_seconds_is_replayed_by_the_iterations_of_its_recipe(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region", effort=1)
    recipe = replayed(frame, release)
    assert recipe["params"]["effort"] == "usual"
    assert recipe["params"]["iterations"] > 0


def test_two_strata_with_the_same_centroid_do_not_vouch_for_each_other():
    # Equal quasi-identifiers in both strata: the classes count per stratum.
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0] * 2, "s": list("xxxyyy")})
    risk = microaggregate(frame, k=3, by="s").report.risk
    assert (risk.realized_k, risk.n_classes) == (3, 2)
    numeric = microaggregate(frame.assign(s=[1, 1, 1, 2, 2, 2]), k=3, by="s")
    assert numeric.recipe["quasi_identifiers"] == ["a"]
    assert numeric.frame["s"].tolist() == [1, 1, 1, 2, 2, 2]


def test_small_strata_are_refused(frame):
    frame["region"] = ["s"] * 58 + ["n", "n"]
    with pytest.raises(DataError, match=r"stratum region='n' has only 2 records, fewer than k=3"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region")
    frame["region"] = ["s"] * 59 + ["n"]
    one = frame.assign(smoker=frame["smoker"].iloc[0])
    with pytest.raises(DataError, match=r"stratum region='n', smoker=(True|False) has only 1 record, "):
        microaggregate(one, k=2, quasi_identifiers=QUASI, by=["region", "smoker"])
    frame["region"] = ["s"] * 56 + ["n"] * 4
    frame.iloc[57:59, frame.columns.get_loc("income")] = np.nan
    with pytest.raises(DataError, match=r"region='n' \(after leaving out 2 incomplete records\) has only 2"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region", missing="drop")


def test_missing_strata_are_an_error_of_their_own(frame):
    frame["region"] = frame["region"].where(np.arange(60) % 20 != 5)
    with pytest.raises(DataError, match=r"column 'region' has no value in record 5 .*one of 3 such records"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region", missing="drop")
    # A record that is left out anyway needs no stratum.
    frame["income"] = frame["income"].where(frame["region"].notna())
    assert microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region", missing="drop").report.n_dropped == 3


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0), (1, "1")], ids=["1/True", "1/1.0", "0.0/-0.0", "1/text"]
)
def test_equal_strata_that_files_write_differently_are_two(one, other):
    # Grouped together, their records would have fewer than k equals in the file.
    values = [one, other] if isinstance(one, float) else np.array([one, other], dtype=object)
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "s": np.tile(values, 3)})
    release = microaggregate(frame, k=3, by="s")
    assert release.partition.labels.tolist() == [0, 1] * 3
    assert smallest_class(release.frame.astype(str), ["a", "s"]) == 3
    assert [str(stratum.values[0]) for stratum in release.report.risk.strata] == [str(one), str(other)]
    with pytest.raises(DataError, match=rf"stratum s={other!r} has only 2 records"):
        microaggregate(frame.iloc[:5], k=3, by="s")
