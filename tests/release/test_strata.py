"""Groups stay within strata."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from microagg.algorithms import registry
from microagg.api import microaggregate, replay
from microagg.columns.scaling import standardize
from microagg.errors import DataError
from tests.release.common import QUASI, smallest_class


def test_groups_stay_within_strata(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, by=["region", "smoker"])
    strata = frame[["region", "smoker"]].astype(str).agg("/".join, axis=1).to_numpy()
    for members in release.partition.groups():
        assert len(set(strata[members])) == 1
    pd.testing.assert_series_equal(release.frame["region"], frame["region"])
    for _, part in release.frame.groupby(["region", "smoker"], observed=True):
        assert smallest_class(part, QUASI) >= 4
    described = release.report.risk.strata
    assert sum(stratum.n_records for stratum in described) == 60
    assert sum(stratum.n_groups for stratum in described) == release.partition.n_groups
    assert {stratum.values for stratum in described} == set(zip(frame["region"], frame["smoker"], strict=True))
    assert min(stratum.realized_k for stratum in described) == release.report.risk.realized_k
    assert release.report.risk.realized_k == smallest_class(release.frame, [*QUASI, "region", "smoker"])


def test_strata_are_partitioned_on_a_common_scale(frame):
    Z = standardize(frame[QUASI])
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region")
    for region in "ns":
        rows = np.flatnonzero(frame["region"] == region)
        alone = registry.make("least-loss", k=4).fit(Z[rows]).labels_
        assert pd.crosstab(release.partition.labels[rows], alone).gt(0).to_numpy().sum() == alone.max() + 1


def test_a_search_for_seconds_is_replayed_by_the_iterations_of_its_recipe(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region", effort=1)
    recipe = json.loads(json.dumps(release.recipe))
    assert recipe["params"]["effort"] == "usual"
    assert recipe["params"]["iterations"] > 0
    again = replay(frame, recipe)
    pd.testing.assert_frame_equal(again.frame, release.frame)
    assert again.recipe == release.recipe


def test_numeric_strata_are_not_quasi_identifiers(frame):
    frame = frame[["age", "income", "score"]].assign(score=np.arange(60) % 3)
    release = microaggregate(frame, k=4, by="score")
    assert release.recipe["quasi_identifiers"] == ["age", "income"]
    pd.testing.assert_series_equal(release.frame["score"], frame["score"])


def test_two_strata_with_the_same_centroid_do_not_vouch_for_each_other():
    # Equal quasi-identifiers in both strata: the classes count per stratum.
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0] * 2, "s": list("xxxyyy")})
    risk = microaggregate(frame, k=3, by="s").report.risk
    assert (risk.realized_k, risk.n_classes) == (3, 2)


def test_small_strata_are_refused(frame):
    frame["region"] = ["s"] * 58 + ["n", "n"]
    with pytest.raises(DataError, match=r"stratum region='n' has only 2 records, fewer than k=3"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region")
    frame["region"] = ["s"] * 59 + ["n"]
    with pytest.raises(DataError, match=r"stratum region='n', smoker=(True|False) has only 1 record, "):
        microaggregate(
            frame.assign(smoker=frame["smoker"].iloc[0]), k=2, quasi_identifiers=QUASI, by=["region", "smoker"]
        )


def test_strata_that_dropping_makes_small_are_refused(frame):
    frame["region"] = ["s"] * 56 + ["n"] * 4
    frame.iloc[57:59, frame.columns.get_loc("income")] = np.nan
    with pytest.raises(DataError, match=r"stratum region='n' \(after leaving out 2 incomplete records\) has only 2"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region", missing="drop")


def test_missing_strata_are_an_error_of_their_own(frame):
    frame["region"] = frame["region"].where(np.arange(60) % 20 != 5)
    with pytest.raises(DataError, match=r"column 'region' has no value in record 5 .*one of 3 such records"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region", missing="drop")
    # A record that is left out anyway needs no stratum.
    frame["income"] = frame["income"].where(frame["region"].notna())
    assert microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region", missing="drop").report.n_dropped == 3


def test_strata_that_cannot_be_compared_are_refused(frame):
    frame["region"] = [[i % 2] for i in range(60)]
    with pytest.raises(DataError, match="strata columns 'region' hold values that cannot be told apart"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region")


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
