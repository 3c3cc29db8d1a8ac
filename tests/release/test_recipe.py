"""A recipe reproduces its release, from the same data only; a plan holds all choices."""

import doctest
import inspect
import json

import numpy as np
import pandas as pd
import pytest

from microagg.algorithms import registry
from microagg.api import microaggregate, replay
from microagg.cli import flags
from microagg.distributed import planning as in_parts
from microagg.errors import ConstantColumnWarning, DataError, MicroaggError, ParameterError
from microagg.release import choices, plan, recipe
from microagg.release.choices import Option
from microagg.release.options import Word
from microagg.release.plan import Plan
from microagg.release.report import contents
from tests.release.common import QUASI, replayed


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"method": "v-mdav", "gamma": 0.2, "scale": "minmax"},
        {"by": "region", "statistic": "median"},
        {"by": ["region", "smoker"], "identifiers": "id", "confidential": ["illness"], "random_state": 7},
        {"missing": "drop"},
        {"weights": "score", "rounding": "file", "shuffle": 2, "missing": "drop"},
        {"polish": True, "by": "smoker"},
        {"labels": [i // 5 for i in range(60)], "method": "v-mdav"},
    ],
    ids=str,
)
def test_a_recipe_reproduces_its_release(frame, choices):
    if "missing" in choices:
        frame["age"] = frame["age"].where(frame["age"] > 20)
    frame["score"] += 1  # weights are above 0
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, **choices)
    replayed(frame, release)
    # It is for values, not for types or labels.
    other = frame.astype({"age": "Float64"}).reset_index(drop=True)
    assert replay(other, release.recipe).partition == release.partition


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


@pytest.mark.parametrize("statistic", ["mean", "generalize"])
def test_a_recipe_of_an_earlier_version_can_be_replayed(frame, statistic):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region", statistic=statistic)
    added = ("weights", "others", "rounding", "release_weights", "polish", "labels", "shuffle", "weights_sha256")
    added = (*added, "strata_values_sha256")
    old = {key: value for key, value in release.recipe.items() if key not in added}
    assert len(old) == len(release.recipe) - len(added)
    again = replay(frame, old)
    pd.testing.assert_frame_equal(again.frame, release.frame, check_exact=True)
    assert again.recipe == release.recipe


def test_a_recipe_refuses_other_data(frame):
    recipe = microaggregate(frame, k=4, quasi_identifiers=QUASI, by="region").recipe
    other = frame.copy()
    other.iloc[3, other.columns.get_loc("income")] += 1e-6
    for data, says in (
        (other, "quasi-identifiers differ from those"),
        (frame[::-1], "quasi-identifiers differ"),
        (frame.iloc[1:], "60 records, but the data have 59"),
        (frame.assign(region=["n", "s"] * 30), r"strata \('region'\)"),
        (frame.assign(region="new " + frame["region"].astype(str)), r"strata \('region'\)"),
        (frame.drop(columns="income"), "no column 'income'"),
        (frame.to_numpy(), "must be a DataFrame"),
    ):
        with pytest.raises(DataError, match=says):
            replay(data, recipe)
    zeros = pd.DataFrame({"a": [0.0, 1.0, 2.0, -0.0, 5.0, 6.0]})
    recipe = microaggregate(zeros, k=3).recipe
    assert replay(zeros.abs(), recipe).recipe == recipe


def test_a_recipe_that_comes_out_otherwise_or_is_broken_is_an_error(frame):
    recipe = microaggregate(frame, k=4, quasi_identifiers=QUASI).recipe
    changed = recipe | {"release_sha256": "0" * 64, "versions": {"microagg": "0.0.1", "numpy": "1.0"}}
    with pytest.raises(
        MicroaggError,
        match=r"made with microagg 0\.0\.1 and numpy 1\.0, this is microagg.*method 'least-loss' has changed",
    ):
        replay(frame, changed)
    with pytest.raises(ParameterError, match="has no 'k', 'input_sha256'"):
        replay(frame, {key: value for key, value in recipe.items() if key not in ("k", "input_sha256")})
    with pytest.raises(ParameterError, match=r"must be a dict .* not str"):
        replay(frame, json.dumps(recipe))


def test_replay_warns_of_constant_columns_where_it_is_called(frame):
    frame["same"] = 0.1
    with pytest.warns(ConstantColumnWarning):
        recipe = microaggregate(frame, k=4, quasi_identifiers=[*QUASI, "same"]).recipe
    with pytest.warns(ConstantColumnWarning, match="one value only .*: 'same'") as caught:
        replay(frame, recipe)
    assert caught[0].filename == __file__


PAY = ["1,234", "2,345", "3,456", "11,234", "12,345", "€13,456"]


def test_how_numbers_are_written_is_asked_where_nothing_shows_it():
    frame = pd.DataFrame({"pay": PAY})
    with pytest.raises(DataError, match=r"whether .1,234. is 1234 or 1\.234"):
        microaggregate(frame, k=3, numbers="pay")
    with pytest.raises(ParameterError, match=r"must be one of '1,234.5', '1.234,5'"):
        microaggregate(frame, k=3, numbers={"pay": ","})
    # One record may show it for all: the recipe tells what was found.
    release = microaggregate(pd.DataFrame({"pay": [*PAY, "0,5"]}), k=3, numbers=["pay"])
    assert release.recipe["numbers"] == [["pay", "1.234,5"]]
    assert release.frame["pay"].sum() == pytest.approx(1.234 + 2.345 + 3.456 + 11.234 + 12.345 + 13.456 + 0.5)


def test_recipes_hold_the_names_of_plain_numbers_only_as_they_always_did():
    frame = pd.DataFrame({"pay": ["1.5", "2.5", " 3.5 ", "4e0", "5", "6"], 7: range(6)})
    recipe = microaggregate(frame, k=3, numbers=["pay", 7]).recipe
    assert recipe["numbers"] == ["pay", 7]
    assert replay(frame, recipe).recipe == recipe
    assert microaggregate(frame, k=3, numbers={"pay": None, 7: None}).recipe == recipe
    # What programs read alike stays as it was read before commas were.
    frame["pay"] = ["1.234", "2.345", "3.456", "4.567", "5.678", "6.789"]
    assert microaggregate(frame, k=6, numbers="pay").frame["pay"].tolist() == pytest.approx([4.0115] * 6)


PEOPLE = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64], "zip": [1, 2, 3, 4, 5, 6], "illness": list("abcabc")})
HUE = Option(
    "hue",
    Word(("red", "blue")),
    default="red",
    help="The color of the paper.\nIt changes no value.",
    before="red",
    not_in_parts="leave it out, and paint the files",
)


@pytest.fixture
def hue(monkeypatch):
    """Declare one more option, in the one place where options are declared."""
    declared = choices.OPTIONS
    options = (*declared, HUE)
    for module in (choices, recipe, flags, in_parts, contents):
        assert module.OPTIONS is declared
        monkeypatch.setattr(module, "OPTIONS", options)


def test_an_option_that_is_declared_is_checked_recorded_and_replayed(hue):
    with pytest.raises(ParameterError, match="hue"):
        microaggregate(PEOPLE, k=3, hue="green")
    release = microaggregate(PEOPLE, k=3, confidential="illness", hue="blue")
    assert release.recipe["hue"] == "blue"
    replayed(PEOPLE, release)
    old = {key: value for key, value in release.recipe.items() if key != "hue"}
    assert replay(PEOPLE, old).recipe["hue"] == "red"
    with pytest.raises(ParameterError, match="'hue'"):
        replay(PEOPLE, release.recipe | {"hue": "green"})


def test_an_option_that_is_declared_stands_in_program_and_shell(hue):
    release = microaggregate(PEOPLE, k=3, confidential="illness", hue="blue")
    assert "hue='blue'" in release.script("people.csv")
    assert "hue=" not in microaggregate(PEOPLE, k=3, hue="red").script("people.csv")
    [flag] = [flag for flag in flags.option_flags() if flag.name == "hue"]
    assert (flag.type.choices, flag.help) == (("blue", "red"), "The color of the paper. Default: 'red'.")


def test_an_option_that_is_declared_is_refused_in_parts_or_identifies_the_job(hue, tmp_path):
    with pytest.raises(ParameterError, match="hue is not available with engine='dask': leave it out"):
        microaggregate(tmp_path / "people.parquet", k=3, hue="blue", engine="dask", out=tmp_path / "out")
    chosen = Plan.of(PEOPLE, k=3, hue="blue")
    assert recipe.written(chosen)["hue"] == "blue"


def test_every_keyword_is_declared_once():
    keywords = list(inspect.signature(microaggregate).parameters)
    apart = {"frame", "k", "method", "method_params", "engine", "out", "client", "block_size", "against", "params"}
    offered = [own for own in choices.OPTIONS if not own.deprecated]
    names = [own.name for own in offered]
    assert [name for name in keywords if name not in apart] == names
    assert len(set(names)) == len(names)
    told = inspect.getdoc(microaggregate)
    for own in offered:
        assert told.count(f"\n{own.name} : ") == 1
        assert inspect.signature(microaggregate).parameters[own.name].default == own.default


def test_a_plan_says_what_follows_from_the_file_and_can_be_written_and_run():
    drawn = Plan.of(PEOPLE, k=3, method="dba-1", confidential="illness")
    assert (drawn.k, drawn.method, drawn.quasi_identifiers, drawn.by) == (3, "dba-1", ["age", "zip"], [])
    again = Plan.from_json(drawn.to_json())
    assert again.to_json() == drawn.to_json()
    direct = microaggregate(PEOPLE, k=3, method="dba-1", confidential="illness")
    pd.testing.assert_frame_equal(again.run(PEOPLE).frame, direct.frame)
    assert again.run(PEOPLE).recipe == direct.recipe
    assert doctest.testmod(plan).failed == 0
    with pytest.raises(AttributeError, match="no option 'nonsense'"):
        _ = drawn.nonsense
    named = Plan.of(PEOPLE, k=3, numbers=["age"])
    assert json.loads(named.to_json())["numbers"] == ["age"]
    assert Plan.from_json(named.to_json()).to_json() == named.to_json()


def test_a_plan_is_checked_against_the_file():
    with pytest.raises(DataError, match="nobody"):
        Plan.of(PEOPLE, k=3, quasi_identifiers=["nobody"])
    with pytest.raises(ParameterError, match="scale"):
        Plan.of(PEOPLE, k=3, scale="log")
    with pytest.raises(ParameterError, match="does not say yet what the columns are"):
        Plan.checked(k=3).to_json()
    unknown = '{"versions": {"a": NaN}}'
    for text, says in (("{", "no JSON"), (3, "no JSON"), ("[]", "must be a dict"), (unknown, "has no")):
        with pytest.raises(ParameterError, match=says):
            Plan.from_json(text)
    with pytest.raises(ParameterError, match="the recipe has no"):
        Plan.of(PEOPLE, k=3).replay(PEOPLE, {})
    with pytest.raises(TypeError, match=r"Plan.of\(\) missing 1 required keyword-only argument: 'k'"):
        Plan.of(PEOPLE)
