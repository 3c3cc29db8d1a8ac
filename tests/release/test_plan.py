"""One plan of a release: each option is declared once, and found wherever options matter."""

from __future__ import annotations

import doctest
import inspect
import json

import pandas as pd
import pytest

from microagg import DataError, ParameterError, microaggregate, replay
from microagg.cli import flags
from microagg.distributed import planning as in_parts
from microagg.release import choices, plan, recipe
from microagg.release.choices import Option
from microagg.release.options import Word
from microagg.release.plan import Plan
from microagg.release.report import contents
from tests.release.common import replayed

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
    for module in (choices, recipe, flags, in_parts, contents, plan):
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
    for text, says in (
        ("{", "no JSON"),
        (3, "no JSON"),
        ("[]", "must be a dict"),
        ('{"versions": {"a": NaN}}', "has no"),
    ):
        with pytest.raises(ParameterError, match=says):
            Plan.from_json(text)
    with pytest.raises(TypeError, match=r"Plan.of\(\) missing 1 required keyword-only argument: 'k'"):
        Plan.of(PEOPLE)
