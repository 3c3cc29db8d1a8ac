"""Releases in parts hold what those in memory hold, whatever the parts, the blocks and the number of workers."""

import json
from functools import reduce

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from distributed import Client

import microagg
from microagg.columns.records import Attribute, Records
from microagg.columns.scaling import standardize
from microagg.distributed.block_cuts import Cuts
from microagg.distributed.passes import block_seed
from microagg.distributed.planning import Moments
from microagg.errors import ConstantColumnWarning, DataError, ParameterError
from microagg.partition import group_means
from microagg.tables import read_file
from tests.distributed.conftest import parquet, workers_here

pytestmark = pytest.mark.usefixtures("small_parts")

NUMBERS = ["age", "height", "income", "debt"]
ROLES = {"quasi_identifiers": NUMBERS, "identifiers": "name", "confidential": "illness"}


def release(file, client, out, **choices):
    return microagg.microaggregate(file, engine="dask", client=client, out=out, **choices)


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def whole(folder):
    """Return the table of a folder, as each of its files is read by the package."""
    return pd.concat([read_file(path).frame for path in sorted(folder.iterdir())], ignore_index=True)


def exported(result, tmp_path):
    """Return what a release in memory is, written and read again."""
    data, _ = result.export("memory.parquet")
    path = tmp_path / "memory.parquet"
    path.write_bytes(data)
    return read_file(path).frame


def test_values_are_recoded_as_in_memory(people, client, tmp_path):
    """Of text, categories of pandas, whole numbers and others; quasi-identifiers, strata and confidential columns."""
    frame = people.head(600)[["age", "income", "region", "job", "illness"]].astype({"region": "category"})
    frame["land"] = "here"  # one value only, of which the report tells
    recode = {
        "age": {">80": 80, "<20": 20},
        "income": {">60000": 60000},
        "region": {"west": "south"},
        "job": {"judge": "clerk", "smith": None},
        "illness": {"c": "b", "b": "c"},
    }
    names = ["age", "income", "job", "land"]
    roles = {"quasi_identifiers": names, "by": "region", "confidential": "illness", "missing": "drop"}
    how = {"k": 3, "method": "mdav-generic-mixed", "statistic": "generalize", "recode": recode, **roles}
    file = parquet(frame, tmp_path / "a.parquet", 150)
    result = release(file, client, tmp_path / "out", **how, block_size=600)
    with pytest.warns(ConstantColumnWarning):
        expected = microagg.microaggregate(frame, **how)
    in_memory = exported(expected, tmp_path).astype({"region": "str"})  # in parts, categories are their values
    pd.testing.assert_frame_equal(whole(tmp_path / "out"), in_memory)
    assert set(in_memory["region"]) == {"north", "south"}
    assert result.recipe["recode"] == expected.recipe["recode"]
    assert result.report.constant_columns == expected.report.constant_columns == ("land",)
    again = microagg.replay(file, result.recipe, out=tmp_path / "again", client=client)
    assert bytes_of(again.path) == bytes_of(result.path)
    with pytest.raises(ParameterError, match="recode makes categories of numbers in 'age', which"):
        release(file, client, tmp_path / "no", **how | {"recode": {"age": {">=65": "old"}}}, block_size=600)
    with pytest.raises(DataError, match=r"the recoded values of 'age' do not fit its type int64"):
        release(file, client, tmp_path / "no", **how | {"recode": {"age": {">65": 65.5}}}, block_size=600)


@pytest.mark.parametrize("method", ["mdav-star", "tfrp-2", "k-member"])
def test_each_block_is_partitioned_by_itself(numbers, numbers_file, client, tmp_path, method):
    seed = {"random_state": 7} if method == "k-member" else {}
    result = release(numbers_file, client, tmp_path / "out", k=4, method=method, block_size=2_500, **ROLES, **seed)
    X = numbers[NUMBERS].to_numpy()
    moments = reduce(Moments.merge, (Moments.of(X[start : start + 3_000]) for start in range(0, len(X), 3_000)))
    Z = moments.scaling("zscore").transform(X)
    np.testing.assert_allclose(Z, standardize(X), atol=1e-13)
    attributes = tuple(Attribute(name) for name in NUMBERS)
    cuts = Cuts.learn(Z, attributes, 8)
    blocks = cuts.assign(Z)
    assert cuts.n_blocks == 8
    expected = np.empty_like(Z)
    for block in range(8):
        rows = np.flatnonzero(blocks == block)
        params = seed | {"random_state": block_seed(7, block)} if seed else {}
        data = Records(attributes, X[rows], np.ptp(X, axis=0)) if method == "k-member" else Z[rows]
        labels = microagg.make(method, k=4, **params).fit_predict(data)
        expected[rows] = group_means(numbers.iloc[rows][NUMBERS], labels)[labels]
    np.testing.assert_array_equal(whole(tmp_path / "out")[NUMBERS], expected)
    lost = np.square(Z - (expected - X.mean(axis=0)) / X.std(axis=0)).sum()
    assert result.report.loss.sse == pytest.approx(lost, rel=1e-9)


@pytest.mark.parametrize("number", [1, 4])
def test_the_number_of_workers_changes_no_byte(numbers_file, client, tmp_path, number):
    choices = {"k": 5, "method": "mdav", "block_size": 2_000, **ROLES}
    two = release(numbers_file, client, tmp_path / "two", **choices)
    with workers_here(number) as cluster, Client(cluster, set_as_default=False) as others:
        other = release(numbers_file, others, tmp_path / "other", **choices)
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "other")
    assert len(bytes_of(tmp_path / "two")) == 7
    # The name of the release is in what is said of its files.
    assert two.report.findings[1:] == other.report.findings[1:]
    for part in ("loss", "risk", "utility"):
        assert getattr(two.report, part) == getattr(other.report, part)
    assert two.recipe == other.recipe


KINDS = {
    "quasi_identifiers": ["age", "income", "job", "school", "born"],
    "ordinal": {"school": ["none", "some", "all"]},
    "confidential": "illness",
    "others": "weight",
}


@pytest.mark.parametrize(
    "choices",
    [
        KINDS | {"by": "region", "method": "mdav-generic-mixed"},
        KINDS | {"by": "region", "method": "mondrian", "statistic": "generalize"},
        KINDS
        | {"others": "region", "method": "mondrian", "missing": "drop", "rounding": "file"}
        | {"quasi_identifiers": ["age", "income", "job", "school", "weight"]},
        {"quasi_identifiers": ["age", "born"], "dates": {"born": "year"}, "by": ["region", "school"]}
        | {"others": ["income", "job", "illness", "weight"], "rounding": "file", "polish": True},
        {"quasi_identifiers": ["age", "income"], "statistic": "median", "scale": "minmax", "rounding": "file"}
        | {"others": ["region", "job", "school", "born", "illness", "weight"], "by": None},
        {"quasi_identifiers": ["age", "income", "born"], "statistic": "generalize", "by": "region"}
        | {"others": ["job", "school", "illness", "weight"], "scale": "none"},
        {"quasi_identifiers": ["age", "income"], "others": ["job", "school", "born", "illness"], "method": "mdav"}
        | {"identifiers": ["region", "weight"]},
    ],
    ids=["mixed", "generalize", "drop", "dates", "median", "ranges", "numbers"],
)
def test_every_choice_is_what_memory_makes_of_each_stratum(people, people_file, client, tmp_path, choices):
    # A method that rounding on the way to a worker does not lead elsewhere, as it may a search.
    choices = {"method": "mdav-star"} | choices
    result = release(people_file, client, tmp_path / "out", k=5, block_size=len(people), **choices)
    expected = microagg.microaggregate(people, k=5, **choices)
    pd.testing.assert_frame_equal(whole(tmp_path / "out"), exported(expected, tmp_path))
    ours, other = result.report, expected.report
    assert ours.risk == other.risk
    assert (ours.n_dropped, ours.rounding, ours.polished) == (other.n_dropped, other.rounding, other.polished)
    assert not (tmp_path / "out.working").exists()
    for part in ("loss", "generalization", "utility"):
        one, another = getattr(ours, part), getattr(other, part)
        assert (one is None) == (another is None)
        if part == "utility" and one is not None:
            assert one.correlation_change == pytest.approx(another.correlation_change, rel=1e-9)
            for changes in zip(one.attributes, another.attributes, strict=True):
                numbers, others = ([*vars(of).values()][1:] for of in changes)
                assert numbers == pytest.approx(others, rel=1e-9, abs=1e-12)
        elif one is not None:
            # The floor is not known where there are categories, too, and classes have no part in blocks.
            names = [name for name, value in vars(one).items() if value is not None]
            assert {*vars(another)} - {*names} <= {"lower_bound", "classification"}
            for name in names:
                assert getattr(one, name) == pytest.approx(getattr(another, name), rel=1e-9, abs=1e-12), name


def test_files_in_a_folder_are_one_table(numbers, numbers_file, client, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(len(numbers)), 4)):
        parquet(numbers.iloc[rows], folder / f"part-{i}.parquet", 10_000)
    choices = {"k": 5, "method": "mdav", "block_size": 5_000, **ROLES}
    in_folder = release(folder, client, tmp_path / "one", **choices)
    release(numbers_file, client, tmp_path / "other", **choices)
    pd.testing.assert_frame_equal(whole(tmp_path / "one"), whole(tmp_path / "other"), rtol=1e-12)
    assert in_folder.frame.columns.tolist() == [*NUMBERS, "illness"]


def test_what_is_released_is_k_anonymous_within_blocks_of_categories(people, people_file, client, tmp_path):
    how = {"k": 3, "method": "mondrian", "block_size": 700, "by": "region"}
    result = release(people_file, client, tmp_path / "out", **KINDS, **how)
    actual = whole(tmp_path / "out")
    sizes = actual.groupby([*KINDS["quasi_identifiers"], "region"], observed=True).size()
    assert sizes.min() == result.report.risk.realized_k >= 3
    assert result.report.risk.n_classes == len(sizes)
    for stratum in result.report.risk.strata:
        of_stratum = sizes.xs(stratum.values[0], level="region")
        assert (stratum.n_records, stratum.realized_k) == (of_stratum.sum(), of_stratum.min())
    pd.testing.assert_series_equal(actual["illness"], people["illness"])
    assert set(actual["job"]) <= set(people["job"])


def test_a_recipe_makes_the_same_files_again(people, people_file, client, tmp_path):
    choices = KINDS | {"by": "region", "method": "mondrian", "k": 4, "block_size": 900}
    result = release(people_file, client, tmp_path / "one", **choices)
    recipe = json.loads(json.dumps(result.recipe))
    again = microagg.replay(people_file, recipe, out=tmp_path / "two", client=client)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert again.recipe == result.recipe
    changed = parquet(people.assign(age=people["age"] + 1), tmp_path / "changed.parquet", 1_000)
    with pytest.raises(DataError, match="SHA-256 is another"):
        microagg.replay(changed, recipe, out=tmp_path / "three", client=client)
    assert not (tmp_path / "three").exists()
    with pytest.raises(ParameterError, match="out must be the path"):
        microagg.replay(people_file, recipe, client=client)


def test_findings_say_what_was_not_counted(numbers_file, client, tmp_path):
    choices = {"k": 5, "quasi_identifiers": NUMBERS, "identifiers": "name", "block_size": 5_000, "method": "mdav"}
    result = release(numbers_file, client, tmp_path / "out", **choices)
    levels = {finding.code: (finding.level, finding.columns) for finding in result.findings}
    assert levels["undecided"] == ("stop", ("illness",))
    assert levels["unchecked"] == ("warn", ("illness",))
    assert levels["identifiers"] == ("ok", ("name",))
    assert levels["bytes"] == ("ok", ())
    accepted = result.accept("undecided", reason="it is known")
    assert accepted.report.accepted == (result.findings[2],)
    assert "illness" in pq.read_schema(tmp_path / "out" / "part-00000.parquet").names
    assert "name" not in pq.read_schema(tmp_path / "out" / "part-00000.parquet").names
    result.to_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["recipe"]["engine"] == "dask"


def test_an_error_names_the_record_of_the_whole_file(people, client, tmp_path):
    broken = people.assign(age=people["age"].astype(float))
    broken.loc[4_321, "age"] = np.nan
    broken.loc[5_999, "age"] = np.nan
    file = parquet(broken, tmp_path / "broken.parquet", 1_000)
    with pytest.raises(DataError, match=r"in row group 4 of 'broken.parquet': column 'age' has NaN .* in record 4321 "):
        release(file, client, tmp_path / "out", k=3, quasi_identifiers="age")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"labels": [1, 2]}, "labels is not available with engine='dask': leave it out"),
        ({"method": "least-loss", "effort": 3.0}, "effort in seconds is not available"),
        ({"missing": {"age": "category"}}, "missing='category' is not available"),
        ({"diversity": {"illness": 2}}, "diversity is not available with engine='dask': take engine='memory'"),
        ({"block_size": 5}, "block_size must be a whole number of at least twice k"),
        ({"block_size": 2.5}, "block_size must be a whole number"),
        ({"quasi_identifiers": "agee"}, "there is no column 'agee'"),
        ({"client": 7}, "client must be a client of Dask"),
        ({"out": None}, "out must be the path of a folder"),
        ({"out": "nowhere/at/all"}, "there is no folder"),
        ({"k": 7_000, "block_size": 20_000}, "fewer than k=7000"),
        ({"by": "weight"}, "belongs to no stratum"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(people_file, client, tmp_path, choices, message):
    arguments = {"k": 3, "quasi_identifiers": ["age"], "out": tmp_path / "out", "client": client} | choices
    with pytest.raises((DataError, ParameterError), match=message) as caught:
        microagg.microaggregate(people_file, engine="dask", **arguments)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.working").exists()


def test_what_is_no_table_in_parts_is_refused(people, people_file, client, tmp_path):
    def refused(data, message, **more):
        with pytest.raises((DataError, ParameterError), match=message):
            release(data, client, tmp_path / "out", k=3, **({"quasi_identifiers": "age"} | more))

    refused(people, "takes the path of Parquet files, not DataFrame: write the table")
    refused(tmp_path / "nothing.parquet", "there is no file")
    (tmp_path / "a.csv").write_text("age\n1\n")
    refused(tmp_path / "a.csv", "no Parquet file, which can be read in parts")
    (tmp_path / "b.parquet").write_text("age")
    refused(tmp_path / "b.parquet", "cannot be read as Parquet")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "has no Parquet files")
    folder = tmp_path / "two"
    folder.mkdir()
    parquet(people, folder / "a.parquet", 9_999)
    parquet(people.assign(age=people["age"].astype(float)), folder / "b.parquet", 9_999)
    refused(folder, "column 'age' is of the type double in 'b.parquet', but int64 in 'a.parquet'")
    (tmp_path / "out").mkdir()
    refused(people_file, "out' already exists")


def test_what_is_for_parts_only_is_refused_in_memory(people):
    with pytest.raises(ParameterError, match="block_size is for engine='dask'"):
        microagg.microaggregate(people, k=3, quasi_identifiers="age", block_size=5)
    with pytest.raises(ParameterError, match="engine must be"):
        microagg.microaggregate(people, k=3, quasi_identifiers="age", engine="spark")
