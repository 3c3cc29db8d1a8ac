"""A release keeps what it promises: k from the released frame, everything else unchanged, and a recipe to repeat it."""

from __future__ import annotations

import json
import pickle
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import registry
from microagg.base import Info, Microaggregator, Param
from microagg.errors import ConstantColumnWarning, DataError, MicroaggError, ParameterError
from microagg.metrics import bounds, information_loss, sse, sst
from microagg.preprocessing import Scaling, standardize
from microagg.release import Release, microaggregate, replay

QUASI = ["age", "income", "height"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    n = 60
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "illness": rng.choice(["flu", "none"], n),
            "income": rng.lognormal(10, 1, n).round(2),
            "region": pd.Categorical(rng.choice(["n", "s"], n), categories=["n", "s", "unused"]),
            "smoker": rng.random(n) < 0.5,
            "height": rng.normal(170, 10, n).astype(np.float32),
            "score": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "when": pd.date_range("2020-01-01", periods=n),
        },
        index=rng.permutation(n) + 100,
    )


def smallest_class(frame, columns):
    """Return the size of the smallest set of rows that are equal in columns, by plain counting."""
    return min(Counter(frame[columns].itertuples(index=False, name=None)).values())


# ---- What changes and what does not ----------------------------------------------------------------------------------


def test_only_quasi_identifiers_change(frame):
    before = frame.copy(deep=True)
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, confidential="illness", identifiers="id")
    pd.testing.assert_frame_equal(frame, before)
    out = release.frame
    assert list(out.columns) == [name for name in frame.columns if name != "id"]
    pd.testing.assert_index_equal(out.index, frame.index)
    others = [name for name in out.columns if name not in QUASI]
    pd.testing.assert_frame_equal(out[others], frame[others])
    assert (out[QUASI].dtypes == np.float64).all()
    assert len(release.partition) == len(out)


@pytest.mark.parametrize("method", ["mdav", "mdav-star", "v-mdav"])
@pytest.mark.parametrize("scale", ["zscore", "minmax", "none"])
def test_values_are_the_means_of_their_groups(frame, method, scale):
    release = microaggregate(frame, k=4, method=method, scale=scale, quasi_identifiers=QUASI)
    raw = frame[QUASI].to_numpy(float)
    for members in release.partition.groups():
        assert len(members) >= 4
        np.testing.assert_allclose(release.frame[QUASI].iloc[members], [raw[members].mean(axis=0)] * len(members))
        assert len({row.tobytes() for row in release.frame[QUASI].to_numpy()[members]}) == 1
    np.testing.assert_allclose(release.frame[QUASI], release.partition.centroids(raw)[release.partition.labels])


@pytest.mark.parametrize("k", [3, 4])
def test_values_are_the_medians_of_their_groups(frame, k):
    release = microaggregate(frame, k=k, quasi_identifiers=QUASI, statistic="median")
    raw = frame[QUASI].to_numpy(float)
    for members in release.partition.groups():
        expected = np.median(raw[members], axis=0)
        np.testing.assert_allclose(release.frame[QUASI].iloc[members], [expected] * len(members))
    assert release.partition == microaggregate(frame, k=k, quasi_identifiers=QUASI).partition


def test_means_of_whole_numbers_are_not_off_by_rounding():
    frame = pd.DataFrame({"a": [1, 2, 3, 101, 102, 103, 99_999, 100_000, 100_001]})
    assert microaggregate(frame, k=3).frame["a"].unique().tolist() == [2.0, 102.0, 100_000.0]


def test_groups_of_equal_records_are_released_as_they_were():
    frame = pd.DataFrame({"a": [0.1] * 7 + [1e8 + 0.1] * 7, "b": [0.3] * 7 + [0.7] * 7})
    release = microaggregate(frame, k=7)
    pd.testing.assert_frame_equal(release.frame, frame)
    assert release.report.loss.sse == 0.0


def test_the_default_is_all_numbers_at_k_of_one(frame):
    release = microaggregate(frame, k=1, method="mdav")
    assert release.recipe["quasi_identifiers"] == ["age", "income", "height", "score"]
    np.testing.assert_allclose(release.frame["income"], frame["income"])
    assert release.report.loss.information_loss == 0.0
    assert release.report.risk.realized_k == 1


def test_booleans_become_shares_if_named(frame):
    out = microaggregate(frame, k=5, quasi_identifiers=["smoker", "age"]).frame
    assert out["smoker"].dtype == np.float64
    assert out["smoker"].between(0, 1).all()


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "Int16", "float32", "uint8"])
def test_every_number_type_becomes_float64(dtype):
    frame = pd.DataFrame({"a": pd.Series([1, 2, 3, 11, 12, 13], dtype=dtype)})
    out = microaggregate(frame, k=3).frame["a"]
    assert out.dtype == np.float64
    assert out.tolist() == [2.0, 2.0, 2.0, 12.0, 12.0, 12.0]
    assert frame["a"].dtype == dtype


@pytest.mark.parametrize(
    "index",
    [
        [7] * 60,
        pd.MultiIndex.from_product([range(6), list("abcdefghij")], names=["age", "region"]),
        pd.Index([None] * 30 + ["x"] * 30),
        pd.date_range("2020", periods=60, name="income"),
    ],
    ids=["duplicates", "multi", "missing", "name of a column"],
)
def test_any_index_is_kept(frame, index):
    expected = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region").frame.reset_index(drop=True)
    other = frame.set_axis(index)
    release = microaggregate(other, k=4, quasi_identifiers=QUASI, by="region")
    pd.testing.assert_index_equal(release.frame.index, other.index)
    pd.testing.assert_frame_equal(release.frame.reset_index(drop=True), expected)


def test_changing_the_release_does_not_reach_the_input(frame):
    before = frame.copy(deep=True)
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    release.frame.loc[:, "age"] = 0.0
    release.frame.loc[:, "smoker"] = True
    release.frame["illness"] = "none"
    pd.testing.assert_frame_equal(frame, before)


def test_columns_called_by_numbers_and_many_of_them():
    X = np.random.default_rng(2).normal(size=(30, 150))
    release = microaggregate(pd.DataFrame(X), k=5)
    assert release.recipe["quasi_identifiers"] == list(range(150))
    assert json.loads(json.dumps(release.recipe)) == release.recipe


# ---- Strata ----------------------------------------------------------------------------------------------------------


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
        alone = registry.make("mdav-star", k=4).fit(Z[rows]).labels_
        assert pd.crosstab(release.partition.labels[rows], alone).gt(0).to_numpy().sum() == alone.max() + 1


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
    with pytest.raises(DataError, match=r"stratum region='n' has only 2 records .*fewer than k=3"):
        microaggregate(frame, k=3, quasi_identifiers=QUASI, by="region")
    frame["region"] = ["s"] * 59 + ["n"]
    with pytest.raises(DataError, match=r"stratum region='n', smoker=(True|False) has only 1 record "):
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


# ---- Missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "Float64"])
def test_missing_values_are_refused_or_dropped(frame, dtype):
    frame["income"] = frame["income"].where(~np.isin(np.arange(60), [4, 17])).astype(dtype)
    with pytest.raises(DataError, match=r"column 'income' has NaN .*in record 4 .*one of 2"):
        microaggregate(frame, k=4, quasi_identifiers=QUASI)
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, missing="drop")
    kept = frame.drop(index=frame.index[[4, 17]])
    pd.testing.assert_frame_equal(release.frame, microaggregate(kept, k=4, quasi_identifiers=QUASI).frame)
    assert len(release.partition) == len(release.frame) == release.report.n_records == 58
    assert release.report.n_dropped == 2
    assert release.report.dropped == tuple(frame.index[[4, 17]])
    assert "2 records with a missing quasi-identifier were left out." in release.report.summary()
    with pytest.raises(DataError, match="infinity"):
        microaggregate(frame.assign(income=np.inf), k=4, quasi_identifiers=QUASI, missing="drop")


def test_missing_values_elsewhere_are_kept(frame):
    frame.iloc[3, frame.columns.get_loc("illness")] = None
    frame.iloc[5, frame.columns.get_loc("score")] = pd.NA
    out = microaggregate(frame, k=4, quasi_identifiers=QUASI).frame
    pd.testing.assert_frame_equal(out[["illness", "score"]], frame[["illness", "score"]])


def test_too_few_records_after_dropping():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0]})
    with pytest.raises(DataError, match=r"the data \(after leaving out 1 incomplete record\) has only 2 records"):
        microaggregate(frame, k=3, missing="drop")
    with pytest.raises(DataError, match="only 0 records"):
        microaggregate(pd.DataFrame({"a": []}, dtype=float), k=3)


# ---- The report ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["zscore", "minmax", "none"])
def test_loss_is_that_of_the_partition(frame, scale):
    release = microaggregate(frame, k=4, scale=scale, quasi_identifiers=QUASI)
    raw = frame[QUASI].to_numpy(float)
    Z = Scaling.fit(raw, scale).transform(raw)
    lost = release.report.loss
    assert lost.sse == pytest.approx(sse(Z, release.partition.labels), rel=1e-9)
    assert lost.sst == pytest.approx(sst(Z))
    assert lost.information_loss == pytest.approx(100 * lost.sse / lost.sst)
    assert lost.lower_bound == pytest.approx(bounds.nearest_neighbor(Z, 4).information_loss)
    assert 0 < lost.lower_bound < lost.information_loss
    for j, name in enumerate(QUASI):
        assert lost.attributes[name] == pytest.approx(information_loss(Z[:, j], release.partition.labels))


def test_medians_cost_more_than_means(frame):
    mean, median = (
        microaggregate(frame, k=5, quasi_identifiers=QUASI, statistic=statistic).report.loss
        for statistic in ("mean", "median")
    )
    assert median.sse > mean.sse
    assert median.sst == mean.sst
    Z = standardize(frame[QUASI])
    out = microaggregate(frame, k=5, quasi_identifiers=QUASI, statistic="median").frame
    raw = frame[QUASI].to_numpy(float)
    replaced = (out[QUASI].to_numpy() - raw.mean(axis=0)) / raw.std(axis=0)
    assert median.sse == pytest.approx(np.square(Z - replaced).sum())


def test_strata_have_a_bound_of_their_own(frame):
    free = microaggregate(frame, k=4, quasi_identifiers=QUASI).report.loss
    bound = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region").report.loss
    assert free.lower_bound < bound.lower_bound < bound.information_loss


def test_risk_is_counted_on_the_release(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    risk = release.report.risk
    assert risk.realized_k == smallest_class(release.frame, QUASI) >= 4
    assert risk.max_reidentification_probability == 1 / risk.realized_k
    assert (risk.n_groups, risk.largest_group) == (release.partition.n_groups, release.partition.sizes.max())
    assert risk.n_classes == len(release.frame[QUASI].drop_duplicates())
    assert risk.n_shared == 60


def test_groups_with_one_centroid_are_one_class(monkeypatch):
    use(monkeypatch, Blocks)
    frame = pd.DataFrame({"a": [1.0, 5.0, 2.0, 4.0]})
    risk = microaggregate(frame, k=2, method="blocks").report.risk
    assert (risk.n_groups, risk.n_classes, risk.realized_k) == (2, 1, 4)


def test_a_release_below_k_is_withheld(frame, monkeypatch):
    monkeypatch.setattr(
        "microagg.recoding.group_values", lambda X, partition, statistic: X.values[: partition.n_groups]
    )
    monkeypatch.setattr("microagg.release.Partition", lambda labels, k: Always(len(labels)))
    with pytest.raises(RuntimeError, match="class of 1 records, fewer than k=4"):
        microaggregate(frame, k=4, quasi_identifiers=QUASI)


class Always:
    """Stands for a broken partition: every record a group of its own."""

    def __init__(self, n):
        self.labels, self.sizes, self.n_groups = np.arange(n), np.ones(n, dtype=int), n


def test_utility_compares_before_and_after(frame):
    release = microaggregate(frame, k=6, quasi_identifiers=QUASI)
    utility = release.report.utility
    before, after = frame[QUASI].astype(float), release.frame[QUASI]
    change = (after.corr() - before.corr()).abs().to_numpy()
    for j, attribute in enumerate(utility.attributes):
        assert attribute.name == QUASI[j]
        assert attribute.mean_before == pytest.approx(before.iloc[:, j].mean())
        assert attribute.mean_after == pytest.approx(attribute.mean_before)
        assert attribute.sd_before == pytest.approx(before.iloc[:, j].std(ddof=0))
        assert attribute.sd_after == pytest.approx(after.iloc[:, j].std(ddof=0))
        assert attribute.correlation_change == pytest.approx(change[j].max())
    assert utility.correlation_change == pytest.approx(change.max())
    one, other = (QUASI.index(name) for name in utility.correlation_pair)
    assert change[one, other] == pytest.approx(change.max())


def test_undefined_correlations_are_not_compared(frame):
    assert microaggregate(frame, k=4, quasi_identifiers="age").report.utility.correlation_change is None
    # One group of all: after it no attribute varies.
    whole = microaggregate(frame, k=60, quasi_identifiers=QUASI).report
    assert whole.utility.correlation_change is whole.utility.correlation_pair is None
    assert whole.loss.information_loss == pytest.approx(100.0)
    assert whole.loss.information_loss <= 100.0
    assert "100 %" in whole.summary()


def test_constant_columns_are_fine_and_named(frame):
    plain = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    frame["same"] = 0.1
    with pytest.warns(ConstantColumnWarning, match="column 'same' holds one value only") as caught:
        release = microaggregate(frame, k=4, quasi_identifiers=[*QUASI, "same"])
    assert caught[0].filename == __file__
    assert release.partition == plain.partition
    assert (release.frame["same"] == 0.1).all()
    report = release.report
    assert report.constant_columns == ("same",)
    assert report.loss.information_loss == pytest.approx(plain.report.loss.information_loss)
    assert report.loss.attributes["same"] == 0.0
    same = report.utility.attributes[-1]
    assert (same.mean_before, same.mean_after, same.sd_before, same.sd_after) == (0.1, 0.1, 0.0, 0.0)
    assert same.correlation_change is None
    assert "'same'" in report.summary()


@pytest.mark.parametrize("scale", ["zscore", "minmax", "none"])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_nothing_can_be_lost_where_all_records_are_equal(scale, statistic):
    frame = pd.DataFrame({"a": [0.1] * 7, "b": [1e8 + 0.7] * 7})
    with pytest.warns(ConstantColumnWarning, match="columns 'a', 'b' hold one value only"):
        release = microaggregate(frame, k=3, scale=scale, statistic=statistic)
    lost = release.report.loss
    assert lost.information_loss == lost.lower_bound == lost.sse == 0.0
    assert lost.attributes == {"a": 0.0, "b": 0.0}
    pd.testing.assert_frame_equal(release.frame, frame)
    assert release.report.risk.realized_k == 7
    json.dumps(release.report.to_dict(), allow_nan=False)


@pytest.mark.parametrize("shift", [1e8, -1e8])
@pytest.mark.parametrize("scale", ["zscore", "minmax"])
def test_a_common_offset_changes_nothing(scale, shift):
    frame = pd.DataFrame(np.random.default_rng(3).integers(0, 1000, size=(80, 3)), columns=list("abc"))
    plain, shifted = (microaggregate(f, k=4, scale=scale) for f in (frame, frame + int(shift)))
    assert shifted.partition == plain.partition
    assert shifted.report.loss.information_loss == pytest.approx(plain.report.loss.information_loss, rel=1e-6)
    assert shifted.report.loss.sst == plain.report.loss.sst
    assert shifted.report.utility.correlation_change == pytest.approx(plain.report.utility.correlation_change, abs=1e-6)
    for before, after in zip(plain.report.utility.attributes, shifted.report.utility.attributes, strict=True):
        assert after.sd_before == before.sd_before


def test_report_exports(frame):
    frame["income"] = frame["income"].where(np.arange(60) != 4)
    release = microaggregate(
        frame, k=4, quasi_identifiers=QUASI, confidential="illness", by=["region", "smoker"], missing="drop"
    )
    report = release.report
    figures = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert figures["loss"]["information_loss"] == report.loss.information_loss
    assert figures["loss"]["attributes"]["age"] == report.loss.attributes["age"]
    assert figures["risk"]["strata"][0]["n_records"] == report.risk.strata[0].n_records
    assert figures["dropped"] == [int(frame.index[4])]
    table = report.to_frame()
    assert list(table.columns) == ["part", "measure", "attribute", "value"]
    assert not table.isna().any(axis=None)
    value = table.set_index(["part", "measure", "attribute"])["value"]
    assert value.index.is_unique
    assert value["loss", "information_loss", ""] == report.loss.information_loss
    assert value["utility", "sd_after", "age"] == report.utility.attributes[0].sd_after
    assert value["risk", "realized_k", ""] == report.risk.realized_k


def test_summary_says_what_matters(frame):
    text = microaggregate(frame, k=4, quasi_identifiers=QUASI, confidential="illness", by="region").report.summary()
    assert "60 records in " in text
    assert "within each stratum" in text
    assert "IL = 100 · SSE / SST" in text
    assert "no partition into groups of at least 4 within these strata loses less than" in text
    assert "without having been declared confidential: 'id', 'smoker', 'score', 'when'" in text
    assert all(line.endswith(".") for line in text.splitlines())


def test_release_is_shown_briefly_and_pickles(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    assert repr(release).startswith("Release(60 records, ")
    assert "by mdav-star, k=4, realized k=4, IL=" in repr(release)
    again = pickle.loads(pickle.dumps(release))
    pd.testing.assert_frame_equal(again.frame, release.frame)
    assert again.partition == release.partition
    assert again.report == release.report
    with pytest.raises(AttributeError):
        release.frame = frame


# ---- The recipe ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"method": "v-mdav", "gamma": 0.2, "scale": "minmax"},
        {"by": "region", "statistic": "median"},
        {"by": ["region", "smoker"], "identifiers": "id", "confidential": ["illness"], "random_state": 7},
        {"missing": "drop"},
    ],
    ids=str,
)
def test_a_recipe_reproduces_its_release(frame, choices):
    if "missing" in choices:
        frame["age"] = frame["age"].where(frame["age"] > 20)
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, **choices)
    recipe = json.loads(json.dumps(release.recipe, allow_nan=False))
    assert recipe == release.recipe
    again = replay(frame, recipe)
    pd.testing.assert_frame_equal(again.frame, release.frame, check_exact=True)
    assert again.partition == release.partition
    assert again.report == release.report
    assert again.recipe == release.recipe


def test_a_recipe_tells_all_choices(frame):
    import microagg

    release = microaggregate(frame, k=np.int64(4), method="v-mdav", random_state=np.int64(3), by="region")
    recipe = release.recipe
    assert recipe["versions"] == {"microagg": microagg.__version__, "numpy": np.__version__}
    gamma = next(param for param in registry.ALGORITHMS["v-mdav"].params if param.name == "gamma")
    assert recipe["params"]["gamma"] == gamma.default
    assert (recipe["method"], recipe["k"], recipe["random_state"], recipe["n"]) == ("v-mdav", 4, 3, 60)
    assert recipe["by"] == ["region"]
    assert len(recipe["input_sha256"]) == 64
    json.dumps(recipe)


def test_a_recipe_refuses_other_data(frame):
    recipe = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region").recipe
    other = frame.copy()
    other.iloc[3, other.columns.get_loc("income")] += 1e-6
    with pytest.raises(DataError, match=r"quasi-identifiers differ .*SHA-256"):
        replay(other, recipe)
    with pytest.raises(DataError, match="quasi-identifiers differ"):
        replay(frame[::-1], recipe)
    with pytest.raises(DataError, match="for 60 records, but the data have 59"):
        replay(frame.iloc[1:], recipe)
    with pytest.raises(DataError, match=r"strata \('region'\) divide the records otherwise"):
        replay(frame.assign(region=["n", "s"] * 30), recipe)
    with pytest.raises(DataError, match="no column 'income'"):
        replay(frame.drop(columns="income"), recipe)
    with pytest.raises(DataError, match="pandas DataFrame"):
        replay(frame.to_numpy(), recipe)


def test_a_recipe_is_for_values_not_for_types_or_labels(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    other = frame.astype({"age": "Float64"}).reset_index(drop=True)
    assert replay(other, release.recipe).partition == release.partition


def test_a_recipe_does_not_tell_zeros_apart():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, -0.0, 5.0, 6.0]})
    recipe = microaggregate(frame, k=3).recipe
    assert replay(frame.abs(), recipe).recipe == recipe


def test_a_recipe_that_comes_out_otherwise_is_an_error(frame):
    recipe = microaggregate(frame, k=4, quasi_identifiers=QUASI).recipe
    changed = recipe | {"release_sha256": "0" * 64, "versions": {"microagg": "0.0.1", "numpy": "1.0"}}
    with pytest.raises(MicroaggError, match=r"made with microagg 0\.0\.1 and numpy 1\.0, this is microagg"):
        replay(frame, changed)


def test_a_broken_recipe_is_named(frame):
    recipe = microaggregate(frame, k=4, quasi_identifiers=QUASI).recipe
    with pytest.raises(ParameterError, match="the recipe has no 'k', 'input_sha256'"):
        replay(frame, {key: value for key, value in recipe.items() if key not in ("k", "input_sha256")})
    with pytest.raises(ParameterError, match=r"must be a dict such as Release.recipe, not str"):
        replay(frame, json.dumps(recipe))


# ---- Seeds -----------------------------------------------------------------------------------------------------------


class Blocks(Microaggregator):
    """Groups the records k by k in their order."""

    info = Info(
        key="blocks",
        title="Blocks",
        family="test",
        summary="",
        year=2000,
        reference="",
        sizes="variable",
        complexity="O(n)",
    )

    def _partition(self, X, k, **parameters):
        return np.minimum(np.arange(len(X)) // k, len(X) // k - 1)


class Shuffled(Blocks):
    """The same in a random order."""

    info = Info(**(vars(Blocks.info) | {"key": "shuffled", "deterministic": False}))

    def __init__(self, k=3, *, random_state=None):
        super().__init__(k)
        self.random_state = random_state

    def _partition(self, X, k, **parameters):
        return np.random.default_rng(self.random_state).permutation(super()._partition(X, k))


class Declared(Shuffled):
    """The same with the seed as a declared parameter."""

    info = Info(**(vars(Shuffled.info) | {"key": "declared"}))
    params = (Param("random_state", "int", (0, None), 1, "The seed."),)

    def __init__(self, k=3, *, random_state=1):
        super().__init__(k, random_state=random_state)


def use(monkeypatch, *classes):
    monkeypatch.setattr(registry, "ALGORITHMS", {**registry.ALGORITHMS, **{cls.info.key: cls for cls in classes}})


@pytest.mark.parametrize("method", ["shuffled", "declared"])
@pytest.mark.parametrize("seed", [None, 0, 42])
def test_seeds_reach_the_method_and_the_recipe(frame, monkeypatch, method, seed):
    use(monkeypatch, Shuffled, Declared)
    release = microaggregate(frame, k=4, method=method, quasi_identifiers=QUASI, random_state=seed)
    used = release.recipe["random_state"]
    assert used == seed if seed is not None else isinstance(used, int)
    expected = registry.ALGORITHMS[method](k=4, random_state=used).fit(standardize(frame[QUASI])).partition_
    assert release.partition == expected
    assert replay(frame, json.loads(json.dumps(release.recipe))).partition == release.partition


def test_deterministic_methods_only_record_the_seed(frame):
    with_seed, without = (microaggregate(frame, k=4, quasi_identifiers=QUASI, random_state=seed) for seed in (5, None))
    assert with_seed.partition == without.partition
    assert (with_seed.recipe["random_state"], without.recipe["random_state"]) == (5, None)


# ---- Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "error", "says"),
    [
        ({"k": 0}, ParameterError, "k must be at least 1"),
        ({"k": 2.5}, ParameterError, "k must be a whole number"),
        ({"k": 61}, DataError, "only 60 records .*fewer than k=61"),
        ({"method": "mdavstar"}, ParameterError, "no algorithm 'mdavstar': did you mean mdav-star"),
        ({"gamma": 1}, ParameterError, "no parameter 'gamma'"),
        ({"method": "v-mdav", "gamma": -1.0}, ParameterError, "gamma must be"),
        ({"scale": "robust"}, ParameterError, "scale must be one of"),
        ({"statistic": "mode"}, ParameterError, "statistic must be one of 'mean', 'median', 'generalize', not 'mode'"),
        ({"missing": "impute"}, ParameterError, "missing must be one of"),
        ({"random_state": "lucky"}, ParameterError, "random_state must be a whole number"),
        ({"random_state": -1}, ParameterError, "at least 0 or None, not -1"),
        ({"random_state": True}, ParameterError, "random_state must be"),
        ({"quasi_identifiers": ["age", "illness"]}, ParameterError, "works on numbers, but column 'illness' holds cat"),
        ({"quasi_identifiers": ["age", "when"]}, DataError, "column 'when' is not numeric"),
        ({"quasi_identifiers": "wage"}, DataError, "no column 'wage'"),
        ({"by": "land"}, DataError, r"no column 'land' \(named among the strata\)"),
        (
            {"by": "age", "quasi_identifiers": ["age"]},
            ParameterError,
            "among the quasi-identifiers and among the strata",
        ),
        ({"by": "illness", "identifiers": "illness"}, ParameterError, "identifiers and among the strata"),
    ],
    ids=str,
)
def test_bad_choices_are_named(frame, choices, error, says):
    with pytest.raises(error, match=says):
        microaggregate(frame, **{"k": 3, **choices})


@pytest.mark.parametrize("data", [np.eye(4), [[1, 2], [3, 4]], None, pd.Series([1, 2, 3])], ids=type)
def test_anything_but_a_frame_is_refused(data):
    with pytest.raises(DataError, match=f"must be a pandas DataFrame, not {type(data).__name__}"):
        microaggregate(data, k=2)


def test_a_column_name_that_no_recipe_can_hold():
    frame = pd.DataFrame({pd.Timestamp("2020-01-01"): [1, 2, 3]})
    with pytest.raises(DataError, match=r"column name Timestamp.* rename it"):
        microaggregate(frame, k=3)


# ---- Any frame -------------------------------------------------------------------------------------------------------


@given(st.data())
def test_any_release_is_k_anonymous(data):
    n = data.draw(st.integers(1, 25), label="n")
    k = data.draw(st.integers(1, n), label="k")
    # Small whole numbers make ties, duplicates and constant columns; the floats make everything else.
    number = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e9, 1e9).map(lambda x: round(x, 3)))
    frame = pd.DataFrame(
        {name: data.draw(st.lists(number, min_size=n, max_size=n), label=name) for name in "ab"}
        | {"stratum": data.draw(st.lists(st.sampled_from("xy"), min_size=n, max_size=n)), "rest": range(n)}
    )
    method = data.draw(st.sampled_from(["mdav", "mdav-star", "v-mdav"]), label="method")
    by = "stratum" if frame["stratum"].value_counts().min() >= k and data.draw(st.booleans(), label="by") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        release = microaggregate(
            frame,
            k=k,
            method=method,
            quasi_identifiers=["a", "b"],
            by=by,
            statistic=data.draw(st.sampled_from(["mean", "median"]), label="statistic"),
            scale=data.draw(st.sampled_from(["zscore", "minmax", "none"]), label="scale"),
        )
    assert isinstance(release, Release)
    out, report = release.frame, release.report
    keys = ["a", "b", *([by] if by else [])]
    assert report.risk.realized_k == smallest_class(out, keys) >= k
    pd.testing.assert_frame_equal(out[["stratum", "rest"]], frame[["stratum", "rest"]])
    for name in "ab":
        assert frame[name].min() <= out[name].min() <= out[name].max() <= frame[name].max()
    assert report.loss.lower_bound <= report.loss.information_loss * (1 + 1e-9)
    json.dumps([report.to_dict(), release.recipe], allow_nan=False)
