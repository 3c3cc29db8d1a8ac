"""What a release changes and what it does not, and that it is k-anonymous whatever the file and the choices."""

import numpy as np
import pandas as pd
import pytest

from microagg.algorithms import registry
from microagg.algorithms.base import Info
from microagg.api import microaggregate
from microagg.columns.scaling import standardize
from microagg.errors import DataError, ParameterError
from tests.release.common import QUASI, Blocks, replayed, use


def test_only_quasi_identifiers_change(frame):
    before = frame.copy(deep=True)
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, confidential="illness", identifiers="id")
    pd.testing.assert_frame_equal(frame, before)
    out = release.frame
    assert list(out.columns) == [name for name in frame.columns if name != "id"]
    pd.testing.assert_index_equal(out.index, frame.index)
    others = [name for name in out.columns if name not in QUASI]
    region = frame["region"].cat.remove_unused_categories()
    pd.testing.assert_frame_equal(out[others], frame[others].assign(region=region))
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
    assert repr(release).startswith("Release(60 records, ")
    with pytest.raises(AttributeError):
        release.frame = frame


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
    with pytest.raises(DataError, match="infinity"):
        microaggregate(frame.assign(income=np.inf), k=4, quasi_identifiers=QUASI, missing="drop")


class Shuffled(Blocks):
    info = Info(**(vars(Blocks.info) | {"key": "shuffled", "deterministic": False}))

    def __init__(self, k=3, *, random_state=None):
        super().__init__(k)
        self.random_state = random_state

    def _partition(self, X, k, **parameters):
        return np.random.default_rng(self.random_state).permutation(super()._partition(X, k))


@pytest.mark.parametrize("method", ["shuffled", "rimhm"])
@pytest.mark.parametrize("seed", [None, 0, 42])
def test_seeds_reach_the_method_and_the_recipe(frame, monkeypatch, method, seed):
    use(monkeypatch, Shuffled)
    release = microaggregate(frame, k=4, method=method, quasi_identifiers=QUASI, random_state=seed)
    used = release.recipe["random_state"]
    assert used == seed if seed is not None else isinstance(used, int)
    expected = registry.ALGORITHMS[method](k=4, random_state=used).fit(standardize(frame[QUASI])).partition_
    assert release.partition == expected
    replayed(frame, release)


@pytest.mark.parametrize(
    ("choices", "error", "says"),
    [
        ({"k": 0}, ParameterError, "k must be at least 1"),
        ({"k": 2.5}, ParameterError, "k must be a whole number"),
        ({"k": 61}, DataError, "60 records.* k=61"),
        ({"method": "mdavstar"}, ParameterError, "'mdavstar'.* mdav-star"),
        ({"gamma": 1}, ParameterError, "'gamma'"),
        ({"method": "v-mdav", "gamma": -1.0}, ParameterError, "gamma must be"),
        ({"scale": "robust"}, ParameterError, "scale must be one of"),
        ({"statistic": "mode"}, ParameterError, "statistic must be one of 'mean', 'median', 'generalize'"),
        ({"missing": "ignore"}, ParameterError, "missing must be one of"),
        ({"random_state": "lucky"}, ParameterError, "random_state must be"),
        ({"random_state": -1}, ParameterError, "-1"),
        ({"random_state": True}, ParameterError, "random_state must be"),
        ({"quasi_identifiers": ["age", "illness"], "method": "mdav"}, ParameterError, "MDAV .*'illness'"),
        ({"quasi_identifiers": "wage"}, DataError, "no column 'wage'"),
        ({"by": "land"}, DataError, r"no column 'land' \(.* strata"),
        ({"by": "age", "quasi_identifiers": ["age"]}, ParameterError, "quasi-identifiers and among the strata"),
        ({"by": "illness", "identifiers": "illness"}, ParameterError, "identifiers and among the strata"),
    ],
    ids=str,
)
def test_bad_choices_are_named(frame, choices, error, says):
    with pytest.raises(error, match=says):
        microaggregate(frame, **{"k": 3, **choices})


@pytest.mark.parametrize("data", [np.eye(4), [[1, 2], [3, 4]], None, pd.Series([1, 2, 3])], ids=type)
def test_anything_but_a_frame_is_refused(data):
    with pytest.raises(DataError, match=f"must be a DataFrame .*, not .*{type(data).__name__}: "):
        microaggregate(data, k=2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (True, "name True is neither text"),
        (pd.Timestamp("2020-01-01"), "name Timestamp.* rename it"),
        ((1, 2), r"name \(1, 2\) is neither text"),
        ("a\ud800", r"'a\\ud800' holds half a character"),
    ],
)
@pytest.mark.parametrize("role", ["quasi_identifiers", "identifiers", "by"])
def test_names_that_no_recipe_or_file_can_hold_are_refused(name, message, role):
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0], 1: [1, 1, 1]})
    frame.columns = pd.Index(["a", name], dtype=object, tupleize_cols=False)
    roles = {"quasi_identifiers": ["a"]} | {role: [name]}
    with pytest.raises(DataError, match=message):
        microaggregate(frame, k=3, **roles)


@pytest.mark.parametrize("missing", ["drop", "impute"])
def test_categories_that_only_left_out_or_replaced_records_have_are_not_in_the_release(missing):
    scale = pd.CategoricalDtype(["low", "mid", "high", "never used"], ordered=True)
    people = pd.DataFrame(
        {
            "age": [30, 31, 32, 33, 34, np.nan],
            "job": pd.Categorical(["clerk"] * 4 + ["queen"] + ["clerk"]),
            "name": pd.Categorical(["a", "a", "b", "b", "a", "Smith"]),
            "risk": pd.Series(["low", "mid", "mid", "mid", "low", "high"], dtype=scale),
        }
    )
    made = microaggregate(
        people, k=5, method="k-member", quasi_identifiers=["age", "job"], confidential=["name", "risk"], missing=missing
    ).frame
    assert made["job"].cat.categories.tolist() == ["clerk"]
    assert ("Smith" in made["name"].cat.categories) == (missing == "impute")
    assert made["risk"].cat.categories.tolist() == ["low", "mid", *["high"] * (missing == "impute"), "never used"]
    assert people["name"].cat.categories.tolist() == ["Smith", "a", "b"]


def test_parameters_of_a_method_may_be_called_like_an_argument():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "w": rng.integers(1, 5, 60)})
    own = {"weights": "squared", "shuffle": 0.4}
    chosen = {"k": 4, "quasi_identifiers": ["a", "b"], "weights": "w", "shuffle": 7, "method": "rimhm"}
    release = microaggregate(frame, **chosen, method_params=own, rounds=9)
    assert release.recipe["params"] | own | {"rounds": 9} == release.recipe["params"]
    assert (release.recipe["weights"], release.recipe["shuffle"]) == ("w", 7)
    plain = microaggregate(frame, k=4, quasi_identifiers=["a", "b"], others="w", method="rimhm", method_params=own)
    expected = registry.make("rimhm", k=4, **own).fit(standardize(frame[["a", "b"]].to_numpy())).labels_
    assert plain.partition.labels.tolist() == expected.tolist()
    replayed(frame, release)
    with pytest.raises(ParameterError, match="'rounds' is given twice"):
        microaggregate(frame, **chosen, method_params={"rounds": 3}, rounds=9)
    with pytest.raises(ParameterError, match="method_params must be a mapping"):
        microaggregate(frame, **chosen, method_params=["rounds"])
    with pytest.raises(ParameterError, match="no parameter 'nothing'"):
        microaggregate(frame, **chosen, method_params={"nothing": 3})
