"""Programs that make a release again, run from the file."""

import ast
import json

import numpy as np
import pandas as pd
import pytest

from microagg import datasets
from microagg.api import microaggregate
from microagg.errors import ParameterError
from microagg.release.recipe import script
from microagg.tables import read_file, read_table
from tests.release.common import QUASI

ODD = 'it\'s "odd",\nreally'
ZIP = {"*": {f"{a}**": [f"{a}{b}" for b in range(10, 22)] for a in (10, 11)}}


def run(text, folder, monkeypatch):
    """Run a program in ``folder``, and return what it leaves behind."""
    monkeypatch.chdir(folder)
    names = {}
    exec(compile(text, "script.py", "exec"), names)
    return names


def names_of(text):
    """Return the arguments by name of the call that makes the release, in their order."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if getattr(node.func, "attr", "") == "microaggregate")
    return [keyword.arg for keyword in call.keywords]


@pytest.fixture
def people(tmp_path):
    """A file with a comma for the decimal point, and what is read from it."""
    rng = np.random.default_rng(5)
    n = 40
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), ODD: rng.normal(0, 1, n).round(2)})
    frame["school"] = rng.choice(["9th", "10th", "none"], n)
    frame["zip"] = rng.choice([f"{a}{b}" for a in (10, 11) for b in range(10, 22)], n)
    frame = frame.assign(region=["n", "s"] * 20, w=rng.integers(1, 5, n), illness=rng.choice(["flu", "=none"], n))
    path = tmp_path / "the people's.csv"
    frame.to_csv(path, sep=";", decimal=",", index=False)
    return path, read_table(path, decimal=",")


NUMBERS = {"method": "v-mdav", "gamma": 0.3, "quasi_identifiers": ["age", ODD], "polish": True, "scale": "minmax"}
WEIGHTS = {"weights": "w", "rounding": "file", "shuffle": 0, "release_weights": "drop", "others": "illness"}
MIXED = {"method": "mdav-generic-mixed", "quasi_identifiers": ["age", ODD, "school", "zip"], "taxonomies": {"zip": ZIP}}
MIXED |= {"ordinal": {"school": ["none", "9th", "10th"]}, "by": "region", "identifiers": "w", "classes": "illness"}
MIXED |= {"statistic": "generalize", "categories": "set"}


@pytest.mark.parametrize(
    ("choices", "shown"),
    [
        ({}, "method_params"),
        (NUMBERS, "scale polish method_params"),
        (WEIGHTS, "weights others rounding release_weights shuffle method_params"),
        (MIXED, "confidential identifiers by statistic taxonomies ordinal classes categories"),
    ],
    ids=["default", "method", "weights", "categories"],
)
def test_a_program_makes_the_same_release(people, tmp_path, monkeypatch, capsys, choices, shown):
    path, frame = people
    release = microaggregate(frame, k=3, **choices)
    text = release.script(path.name, reading={"decimal": ",", "delimiter": None})
    assert text == script(json.loads(json.dumps(release.recipe)), path.name, reading={"decimal": ","})
    assert names_of(text) == ["k", "method", "quasi_identifiers", *shown.split()]
    assert all(len(line) <= 120 for line in text.splitlines())
    names = run(text, tmp_path, monkeypatch)
    pd.testing.assert_frame_equal(names["release"].frame, release.frame, check_exact=True)
    assert names["release"].recipe == release.recipe
    written = release.export("kept.csv", like=read_file(path, decimal=","))[0]
    assert (tmp_path / "the people's_protected.csv").read_bytes() == written
    assert written.startswith(path.read_bytes()[:4])
    assert capsys.readouterr().out == release.report.summary() + "\n"


def test_a_program_with_given_groups_replays_the_recipe(people, tmp_path, monkeypatch):
    path, frame = people
    release = microaggregate(frame, k=4, labels=np.arange(40) // 4, shuffle=3)
    recipe_file = tmp_path / 'the "recipe".json'
    recipe_file.write_text(json.dumps(release.recipe), encoding="utf-8")
    text = release.script(path, reading={"decimal": ","}, recipe_file=recipe_file, out="kept.csv")
    assert "microaggregate" not in text
    names = run(text, tmp_path, monkeypatch)
    pd.testing.assert_frame_equal(names["release"].frame, release.frame, check_exact=True)
    written = release.export("kept.csv", like=read_file(path, decimal=","))[0]
    assert (tmp_path / "kept.csv").read_bytes() == written
    assert "Path('data_recipe.json')" in release.script("in/data.parquet")


def test_a_program_loads_a_data_set_and_writes_another_kind_of_file(tmp_path, monkeypatch):
    data = datasets.load("simu", seed=4)
    release = microaggregate(data.frame, k=5, quasi_identifiers=data.quasi_identifiers)
    text = release.script(dataset="simu", seed=4, out="simu.parquet")
    names = run(text, tmp_path, monkeypatch)
    pd.testing.assert_frame_equal(names["release"].frame, release.frame, check_exact=True)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "simu.parquet"), release.frame, check_exact=True)


def test_wrong_arguments_are_named(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    with pytest.raises(ParameterError, match="no argument 'sep'"):
        release.script("a.csv", reading={"sep": ";"})
    for both in ({}, {"file": "a.csv", "dataset": "adult"}):
        with pytest.raises(ParameterError, match="name one"):
            release.script(**both)
    with pytest.raises(ParameterError, match="the recipe has no 'k'"):
        script({key: value for key, value in release.recipe.items() if key != "k"}, "a.csv")
